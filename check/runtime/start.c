/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of a check in a rank.
 *
 * Owns nothing; state.c has the library's functions. The loader's constructor finds these; the
 * calls that start a job map the area that the launcher has made; the end of the process looks for
 * leaks. Invariants: without TOMBOLO_CHECK_AREA every call here is the library's.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include <tombolo/check_hook.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEQ 1 /* of gexx_client_mode.thread_mode */

/* The library's calls. in library: where to look. */
static void find_in(void *library) {
#define CHK_CALL(name)                                               \
 {                                                                   \
  void *const at = dlsym(library, #name);                            \
  memcpy(&chk_real.name, &at, sizeof at); /* no cast between them */ \
 }
#include "check/runtime/calls.def"
#undef CHK_CALL
}

__attribute__((constructor)) static void find(void) {
  find_in(RTLD_NEXT);
}

/* Python loads the library later, with a module, and for that module alone. */
void chk_find_late(void) {
  if (chk_real.gexx_client_init) return;
  void *const library = dlopen("libtombolo.so.0", RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (library) find_in(library);
}

static bool map(const char *path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  struct chk_area head;
  if (fd < 0 || pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
      head.magic != CHK_MAGIC || head.ranks < gex_System_QueryJobSize()) {
    if (fd >= 0) close(fd);
    return false;
  }
  void *const at =
      mmap(NULL, head.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  chk.area = at;
  chk.cells = chk_at(chk.area, chk.area->where_shadow);
  chk.rests = chk_at(chk.area, chk.area->where_rest);
  chk.origins = chk_at(chk.area, chk.area->where_origin);
  chk_owner_begins();
  __atomic_fetch_add(&chk.area->attached, 1, __ATOMIC_RELAXED);
  return true;
}

/* The end: all that is not entered yet, and leaks. */
static void finish(void) {
  if (!chk.area) return;
  chk_enter();
  if (chk.leaks) {
    chk.leaks = false;
    chk_pending_leaks();
    chk_barrier_leak();
    chk_prepared_leaks();
    chk_objects_leaks();
  }
  chk_exit();
}

/* Whether a run-time library of coarrays is loaded. */
static bool has_coarrays(void) {
  static const char *const functions[] = {"_gfortran_caf_init", "tombolo_prif_init",
                                          "_QMprifPprif_init"};
  bool found = false;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    found = found || dlsym(RTLD_DEFAULT, functions[i]);
  return found;
}

/* Whether a run-time library is loaded whose language keeps the order of a rank's accesses to one
 * place, so that the library does. */
static bool keeps_order(void) {
  return has_coarrays() || dlsym(RTLD_DEFAULT, "upcr_barrier");
}

/* Whether this is a UPC program that does not say which accesses are strict. */
static bool hides_strict(void) {
  return dlsym(RTLD_DEFAULT, "upcr_barrier") && !tombolo_check_watch.files;
}

/* The clocks of which one word says enough: of jobs that have a past, see past.c. */
static const uint64_t *plain_clocks(void) {
  static const uint64_t none[256];
  return chk.ranks > CHK_PAST_RANKS ? none : chk.clock;
}

/* Maps the area, once a job has started. */
static void start(const struct gexx_client_mode *mode) {
  const char *const what = gasnet_getenv("TOMBOLO_CHECK");
  const char *const path = gasnet_getenv("TOMBOLO_CHECK_AREA");
  if (chk.area || !what || !path) return;
  chk.rank = gex_System_QueryJobRank();
  chk.ranks = gex_System_QueryJobSize();
  chk.clock = calloc(chk.ranks < 256 ? 256 : chk.ranks, sizeof *chk.clock);
  chk.heard = calloc(chk.ranks, sizeof *chk.heard);
  chk.floors = calloc(chk.ranks, sizeof *chk.floors);
  chk.floor_clocks = calloc(chk.ranks, sizeof *chk.floor_clocks);
  chk.met_clocks = calloc(chk.ranks, sizeof *chk.met_clocks);
  if (!chk.clock || !chk.heard || !chk.floors || !chk.floor_clocks || !chk.met_clocks ||
      !map(path)) {
    fprintf(stderr, "tombolo: rank %u: nothing is checked: %s cannot be mapped\n", chk.rank, path);
    return;
  }
  chk.clock[chk.rank] = 1;
  chk.changed = true;
  chk.gives = CHK_GIVES_ANEW;
  if (!chk.plain) chk.plain = plain_clocks();
  chk.races = strstr(what, "races") != NULL;
  chk.leaks = strstr(what, "leaks") != NULL;
  chk.one_thread = mode->thread_mode == SEQ;
  chk.in_order = keeps_order();
  chk.waits_itself = has_coarrays();
  chk.all_strict = hides_strict();
  chk.message_site = chk_site("message", NULL);
  if (chk.races && tombolo_check_watch.refused)
    __atomic_fetch_add(&chk.area->refused, 1, __ATOMIC_RELAXED);
  chk_queues_start();
  chk_local_start();
  gexx_check_handlers(chk_handler);
  if (chk.each_thread) gexx_gate_set(chk_gate);
  atexit(finish);
}

int gexx_client_init(const struct gexx_client_args *init) {
  chk_find_late();
  const int rc = chk_real.gexx_client_init(init);
  if (rc == GASNET_OK) start(&init->mode);
  return rc;
}

int gexx_client_join(const struct gexx_client_args *init) {
  chk_find_late();
  const int rc = chk_real.gexx_client_join(init);
  if (rc == GASNET_OK) start(&init->mode);
  if (rc == GASNET_OK && init->tm_p) chk_team_made(*init->tm_p);
  return rc;
}

int gexx_legacy_init(const struct gexx_client_mode *mode, int *argc, char ***argv) {
  chk_find_late();
  const int rc = chk_real.gexx_legacy_init(mode, argc, argv);
  if (rc == GASNET_OK) start(mode);
  return rc;
}

int gexx_Trace_Follow(const struct gexx_waitinfo *statement) {
  chk.statement = statement;
  return chk_real.gexx_Trace_Follow(statement);
}

void gasnet_exit(int exitcode) {
  finish();
  chk_real.gasnet_exit(exitcode);
  abort(); /* not reached */
}
