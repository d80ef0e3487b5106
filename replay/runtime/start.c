/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of record and replay in a rank.
 *
 * Owns nothing; state.c has the library's functions. The loader's constructor finds these; the
 * calls that start a job open the file of the rank, in the folder that the launcher has named, and
 * map the memory that the ranks share. Invariants: without TOMBOLO_REPLAY_AREA every call here is
 * the library's; the thread that starts the job is the ordered one.
 */
#define _GNU_SOURCE
#include "replay/runtime/rpl.h"

#include <tombolo/check_hook.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The library's calls. in library: where to look. */
static void find_in(void *library) {
#define RPL_OTHER(name)                                              \
 {                                                                   \
  void *const at = dlsym(library, #name);                            \
  memcpy(&rpl_real.name, &at, sizeof at); /* no cast between them */ \
 }
#define RPL_POINT(n, ret, name, ...) RPL_OTHER(name)
#include "replay/runtime/points.def"
#undef RPL_POINT
#undef RPL_OTHER
}

__attribute__((constructor)) static void find(void) {
  find_in(RTLD_NEXT);
}

/* Python loads the library later, with a module, and for that module alone. Locks have no order
 * there: those of the program are the interpreter's. */
static void find_late(void) {
  if (rpl_real.gexx_client_init) return;
  rpl.python = true;
  void *const library = dlopen("libtombolo.so.0", RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (library) find_in(library);
}

static bool map_area(const char *path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  void *const at = mmap(NULL, rpl_area_bytes(rpl.ranks), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (at == MAP_FAILED) return false;
  rpl.area = at;
  if (rpl.area->magic != RPL_MAGIC || rpl.area->ranks != rpl.ranks) return false;
  __atomic_fetch_add(&rpl.area->attached, 1, __ATOMIC_RELAXED);
  return true;
}

/* The rank ends in good order. */
static void end(void) {
  rpl_is_inside(true);
  if (rpl.mode == RPL_RECORDS) {
    rpl_threads_end();
    rpl_locks_close();
    rpl_sends_close();
    rpl_takes_close();
    rpl_log_close(&rpl_first.log);
    rpl.mode = RPL_OFF;
  }
  if (rpl.mode == RPL_REPLAYS && rpl_own == &rpl_first) (void)rpl_cut_pass();
  if (rpl.mode == RPL_REPLAYS && !rpl_log_next_of(&rpl_first)) rpl.mode = RPL_OFF;
}

/* The files of the orders of threads. */
static bool open_orders(void) {
  return rpl_sends_open() && rpl_takes_open() && (rpl.python || rpl_locks_open());
}

/* The files of the rank, and its mode. in record, replay: the folders, at most one; NULL: none. */
static void open_files(const char *record, const char *replay) {
  errno = 0;
  rpl.folder = record ? record : replay;
  const bool whole = (!record || rpl_log_create()) && (!replay || rpl_log_open());
  rpl.mode = record ? RPL_RECORDS : replay ? RPL_REPLAYS : RPL_CHAOS;
  if (whole && open_orders()) return;
  rpl.mode = RPL_OFF;
  fprintf(stderr, "tombolo: rank %u: nothing is %s: the file of the rank in %s cannot be %s: %s\n",
          rpl.rank, record ? "recorded" : "replayed", record ? record : replay,
          record ? "written" : "read", errno ? strerror(errno) : "it is damaged");
  rpl_real.gasnet_exit(1);
}

static void start(void) {
  const char *const record = gasnet_getenv("TOMBOLO_RECORD");
  const char *const replay = gasnet_getenv("TOMBOLO_REPLAY");
  const char *const chaos = gasnet_getenv("TOMBOLO_CHAOS");
  const char *const area = gasnet_getenv("TOMBOLO_REPLAY_AREA");
  if (rpl.mode != RPL_OFF || !area) return;
  rpl.rank = gex_System_QueryJobRank();
  rpl.ranks = gex_System_QueryJobSize();
  rpl_first.left = true;
  if (!map_area(area)) {
    fprintf(stderr, "tombolo: rank %u: %s cannot be mapped\n", rpl.rank, area);
    rpl_real.gasnet_exit(1);
  }
  open_files(record, replay);
  if (chaos) rpl_chaos_start(chaos);
  rpl_threads_start();
  gexx_gate_set(rpl_gate);
  atexit(end);
}

int gexx_client_init(const struct gexx_client_args *init) {
  find_late();
  const int rc = rpl_real.gexx_client_init(init);
  if (rc == GASNET_OK) start();
  return rc;
}

int gexx_client_join(const struct gexx_client_args *init) {
  find_late();
  const int rc = rpl_real.gexx_client_join(init);
  if (rc == GASNET_OK) start();
  return rc;
}

int gexx_legacy_init(const struct gexx_client_mode *mode, int *argc, char ***argv) {
  find_late();
  const int rc = rpl_real.gexx_legacy_init(mode, argc, argv);
  if (rc == GASNET_OK) start();
  return rc;
}

void gasnet_exit(int exitcode) {
  if (rpl.area) rpl_flush();
  if (rpl.area) end();
  rpl_real.gasnet_exit(exitcode);
  abort(); /* not reached */
}
