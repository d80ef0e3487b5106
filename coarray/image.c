/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Images: their numbers, and how a program ends.
 *
 * Owns: the words by which images learn that others have ended. Called by compiled programs. Calls:
 * signals, gasnet_exit. Invariants: normal termination (STOP, END PROGRAM) waits until every image
 * has come to it, since others may still use this image's coarrays; error termination ends all
 * images at once. exit() with a code other than 0 is error termination: libgfortran calls it after
 * each error that it reports.
 */
#include "data/pending.h"
#include "inside.h"
#include "sync/control.h"
#include "sync/wait.h"

#include <gasnet_tools.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

CAF_EXPORT void CAF(init)(int *argc, char ***argv);
CAF_EXPORT void CAF(finalize)(void);
CAF_EXPORT int CAF(image_status)(int image, void *team);
CAF_EXPORT void CAF(failed_images)(struct caf_desc *array, void *team, int *kind);
CAF_EXPORT void CAF(stopped_images)(struct caf_desc *array, void *team, int *kind);
CAF_EXPORT __attribute__((noreturn)) void CAF(fail_image)(void);
CAF_EXPORT __attribute__((noreturn)) void CAF(stop_numeric)(int code, bool quiet);
CAF_EXPORT __attribute__((noreturn)) void CAF(stop_str)(const char *text, size_t len, bool quiet);
CAF_EXPORT __attribute__((noreturn)) void CAF(error_stop)(int code, bool quiet);
CAF_EXPORT
__attribute__((noreturn)) void CAF(error_stop_str)(const char *text, size_t len, bool quiet);
CAF_EXPORT void CAF(random_init)(bool repeatable, bool image_distinct);
/* Of libgfortran, which the program links; weak, so that this library does not need it. */
extern void _gfortran_random_seed_i4(void *size, struct caf_desc *put, struct caf_desc *get)
    __attribute__((weak));

/* ---- start and end */

/* Time until an image that has come to its end has ended for the others. Images mostly end
 * together, and a program may look for stopped images just before: it is not to find those that
 * are a little ahead of it. */
enum { GRACE_US = 100000 };

/* exit() before any end of the program; not that of a process which the program has forked. */
static void on_exit_of(int status, void *pid) {
  if (getpid() != (pid_t)(intptr_t)pid || caf.ending) return;
  if (status) caf_error_stop(status);
  caf_leave(status);
}

/* Coarrays have their initial values, which constructors give them before the program begins, on
 * every image before any image may read them. */
void caf_enter(int *argc, char ***argv) {
  const bool first = !caf.began;
  caf_start(argc, argv);
  gex_Event_Wait(gex_Coll_BarrierNB(caf.tm, 0));
  caf.began = true;
  caf_serve_start();
  if (first) (void)on_exit(on_exit_of, (void *)(intptr_t)getpid());
}

void CAF(init)(int *argc, char ***argv) {
  caf_enter(argc, argv);
}

/* Whether an image has come to its end, which others may not know yet. */
static bool is_at_end(uint32_t rank) {
  struct caf_shared *there = (struct caf_shared *)caf.shared_addr[rank];
  uint64_t at_end = 0;
  gex_RMA_GetBlocking(caf.tm, &at_end, rank, &there->at_end, sizeof at_end, 0);
  return at_end != 0;
}

static int all_have_arrived(void *arg) {
  (void)arg;
  return __atomic_load_n(&caf.shared->arrived, __ATOMIC_ACQUIRE) >= caf.size;
}

/* Whether every other image has come to its end, or is lost before it. */
static bool everybody_arrived(void) {
  if (all_have_arrived(NULL)) return true;
  if (caf.lost_count == 0) return false;
  for (uint32_t r = 0; r < caf.size; r++)
    if (!caf.lost[r] && !is_at_end(r)) return false;
  return true;
}

/* Adds to a counter of an image. */
static void add_there(uint32_t rank, uint64_t *counter, uint64_t value) {
  gexx_RMA_PutSignalBlocking(caf.tm, rank, NULL, NULL, 0, GEX_EVENT_NOW, counter, GEXX_SIG_ADD,
                             value, 0);
}

/* Announce the end of this image: all images count it. */
static void arrive(void) {
  __atomic_store_n(&caf.shared->at_end, 1, __ATOMIC_RELEASE);
  for (uint32_t r = 0; r < caf.size; r++)
    if (!caf.lost[r]) add_there(r, &((struct caf_shared *)caf.shared_addr[r])->arrived, 1);
}

/* Waits for the others, for a short time. Returns whether all have arrived. */
static bool all_arrive_soon(void) {
  const gasnett_tick_t begin = gasnett_ticks_now();
  bool all;
  for (;;) {
    all = everybody_arrived();
    const uint64_t us = gasnett_ticks_to_us(gasnett_ticks_now() - begin);
    if (all || us >= GRACE_US) break;
    (void)caf_poll_until(GEX_EVENT_NO_OP, all_have_arrived, NULL, GRACE_US - us);
  }
  return all;
}

/* From now on this image has ended for the others: waits for it end. */
static void announce_end(void) {
  __atomic_store_n(&caf.shared->state, CAF_STAT_STOPPED, __ATOMIC_RELEASE);
  for (uint32_t r = 0; r < caf.size; r++) {
    struct caf_shared *there = (struct caf_shared *)caf.shared_addr[r];
    if (caf.lost[r]) continue;
    add_there(r, &there->word[caf.rank], CAF_LOSS);
    add_there(r, &there->ended, 1);
  }
}

/* Notifies the one image that has not ended, where it is one, that no other is left: it may wait
 * for a post. Returns whether nobody has to be notified any more. */
static bool notify_last(void) {
  uint32_t last = caf.rank, running = 0;
  if (caf_ended() + caf.lost_count + 1 < caf.size) return false;
  for (uint32_t r = 0; r < caf.size; r++) {
    if (caf_state_of(r)) continue;
    last = r;
    running++;
  }
  if (running == 1) gex_AM_RequestShort0(caf.tm, last, CAF_H_ALONE, 0);
  return running < 2;
}

static void end_image(void) {
  enum { SOON = 10 }; /* waits in which most others end */
  if (caf.ending) return;
  caf.ending = true;
  caf_flush_all();
  caf_complete();
  caf.statement.call = "its end, for the other images";
  caf.statement.caller = NULL;
  caf_show_begin(&(struct caf_shown){
      .needs = GEXX_WAIT_ANY, .peer = GEX_RANK_INVALID, .event = GEX_EVENT_INVALID});
  arrive();
  if (!all_arrive_soon()) announce_end();
  bool notified = false;
  for (uint32_t i = 0; !everybody_arrived(); i++) {
    (void)caf_poll_until(GEX_EVENT_NO_OP, all_have_arrived, NULL,
                         notified ? CAF_LOOK_LATER_US : CAF_LOOK_US);
    if (!notified && i > SOON) notified = notify_last();
  }
  caf_show_end();
}

/* Whether the library follows exit() to the end of this rank. */
static bool exit_is_caught(void) {
  return gasnett_getenv_yesno_withdefault(
      "GASNET_CATCH_EXIT", gasnett_getenv_yesno_withdefault("TOMBOLO_CATCH_EXIT", 1));
}

void caf_leave(int code) {
  (void)caf_go_inside(); /* to its end */
  end_image();
  if (!exit_is_caught()) gasnet_exit(code);
}

/* The C library runs the program's handlers, and libgfortran closes its units. */
void caf_stop(int code) {
  caf_leave(code);
  exit(code);
}

/* Before the program returns from main. */
void CAF(finalize)(void) {
  caf_leave(0);
}

void CAF(stop_numeric)(int code, bool quiet) {
  if (!quiet) fprintf(stderr, "STOP %d\n", code);
  caf_stop(code);
}

void CAF(stop_str)(const char *text, size_t len, bool quiet) {
  if (!quiet && text && len) caf_print("STOP ", text, len);
  caf_stop(0);
}

void CAF(error_stop)(int code, bool quiet) {
  if (!quiet) fprintf(stderr, "ERROR STOP %d\n", code);
  caf_error_stop(code);
}

void CAF(error_stop_str)(const char *text, size_t len, bool quiet) {
  if (!quiet) caf_print("ERROR STOP ", text, len);
  caf_error_stop(1);
}

/* Messages of this image, above all the ends of barriers that are complete for it, get time to
 * arrive: others would find the barrier cut short by a failure that came after it. A failed
 * image is no error of the job, unless the end of one ends all. */
void caf_fail_image(void) {
  enum { LINGER_US = 20000 };
  (void)caf_go_inside();
  caf_flush_all();
  (void)gexx_Event_WaitUntil(GEX_EVENT_NO_OP, NULL, NULL, LINGER_US);
  const bool ends_all = caf.size > 1 && gexx_Job_QueryFailurePolicy() != GEXX_FAILURE_REPORT;
  _exit(ends_all ? 1 : 0);
}

void CAF(fail_image)(void) {
  caf_fail_image();
}

/* ---- queries */

/* Whether an intrinsic names no team: by NULL, or by -1 of gfortran up to 14. */
static inline bool is_current(const void *team_p) {
  return !team_p || (int32_t)(intptr_t)team_p == -1;
}

/* The team that an intrinsic names, by the address of its variable. */
static const struct caf_team *team_at(void *team_p) {
  const struct caf_status none = {0};
  if (is_current(team_p)) return caf.team;
  const struct caf_team *team = *(struct caf_team **)team_p;
  if (!caf_team_formed(team))
    caf_fail(&none, CAF_STAT_ERROR,
             "IMAGE_STATUS, FAILED_IMAGES or STOPPED_IMAGES: the team was not formed by FORM TEAM "
             "[TMB-2079]");
  return team;
}

/* Polls, which reports lost images, and serves: a loop may wait for the end of an image that waits
 * for this one. */
static void hear(void) {
  gasnet_AMPoll();
  caf_serve();
}

/* An image that the team does not have is none that goes on. */
static __attribute__((noinline)) int image_status(int image, void *team_p) {
  CAF_INSIDE;
  const struct caf_team *team = team_at(team_p);
  hear();
  if (image < 1 || (uint32_t)image > team->size) return CAF_STAT_STOPPED;
  return caf_state_of(team->jobrank[image - 1]);
}

int CAF(image_status)(int image, void *team_p) {
  if (is_current(team_p) && (uint32_t)image - 1 < caf.team->size && caf_all_run()) return 0;
  return image_status(image, team_p);
}

static void store_kind(char *at, int kind, int value) {
  switch (kind) {
  case 1: *(int8_t *)at = (int8_t)value; break;
  case 2: *(int16_t *)(void *)at = (int16_t)value; break;
  case 8: *(int64_t *)(void *)at = value; break;
  default: *(int32_t *)(void *)at = value;
  }
}

/* Finds the images of a team in a state. Returns their numbers, malloc'ed, or NULL: there is none.
 */
static __attribute__((noinline)) char *find_images(void *team_p, int bytes, int state,
                                                   ptrdiff_t *count) {
  CAF_INSIDE;
  const struct caf_team *team = team_at(team_p);
  char *list = NULL;
  hear();
  for (uint32_t i = 0; i < team->size; i++) {
    if (caf_state_of(team->jobrank[i]) != state) continue;
    if (!list) list = malloc((size_t)team->size * (size_t)bytes);
    if (!list) break;
    store_kind(list + (*count)++ * bytes, bytes, (int)i + 1);
  }
  return list;
}

/* Images of a team in a state; the compiler frees the array, where there is one. */
static void list_images(struct caf_desc *array, void *team_p, const int *kind, int state) {
  const int bytes = kind ? *kind : 4;
  ptrdiff_t count = 0;
  array->base =
      is_current(team_p) && caf_all_run() ? NULL : find_images(team_p, bytes, state, &count);
  array->offset = 0;
  array->dtype.elem_len = (size_t)bytes;
  array->dtype.rank = 1;
  array->dtype.type = CAF_INTEGER;
  array->span = bytes;
  array->dim[0] = (struct caf_dim){.stride = 1, .lb = 0, .ub = count - 1};
}

void CAF(failed_images)(struct caf_desc *array, void *team, int *kind) {
  list_images(array, team, kind, CAF_STAT_FAILED);
}

void CAF(stopped_images)(struct caf_desc *array, void *team, int *kind) {
  list_images(array, team, kind, CAF_STAT_STOPPED);
}

/* ---- random numbers */

/* Bytes of the seed of image `number`: splitmix64 (G. Steele and others,
 * doi 10.1145/2714064.2660195). */
static void fill_seed(uint32_t *seed, size_t words, uint64_t start) {
  for (size_t i = 0; i < words; i++) {
    uint64_t z = (start += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    seed[i] = (uint32_t)(z ^ (z >> 31));
  }
}

/* Sends the value of the first image that is not lost to all of the team. */
static uint64_t caf_common(uint64_t mine) {
  uint64_t *all = calloc(caf.team->size, sizeof *all), value = mine;
  if (!all) return mine;
  CAF_STATEMENT("RANDOM_INIT");
  (void)caf_share(caf.team, mine | 1, all);
  for (uint32_t i = caf.team->size; i-- > 0;)
    if (all[i]) value = all[i];
  free(all);
  return value;
}

void CAF(random_init)(bool repeatable, bool image_distinct) {
  CAF_INSIDE;
  uint32_t seed[64];
  int32_t words = 0;
  if (!_gfortran_random_seed_i4) return;
  _gfortran_random_seed_i4(&words, NULL, NULL);
  if (words <= 0 || words > 64) return;
  uint64_t start = 0x746f6d626f6c6f;
  if (!repeatable && getrandom(&start, sizeof start, 0) != sizeof start)
    start ^= (uint64_t)getpid();
  if (!repeatable && !image_distinct) start = caf_common(start);
  if (image_distinct) start += (uint64_t)caf.rank << 32;
  fill_seed(seed, (size_t)words, start);
  struct caf_desc put = {.base = seed,
                         .dtype = {.elem_len = 4, .rank = 1, .type = CAF_INTEGER},
                         .span = 4,
                         .dim = {{.stride = 1, .lb = 0, .ub = words - 1}}};
  _gfortran_random_seed_i4(NULL, &put, NULL);
}
