/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of programs that flang -fcoarray has compiled.
 *
 * Owns: how this image ends. Called by programs, by exit(), and by program.c, which is part of the
 * program. Calls: prif/life. Invariants: flang 22 prints the stop code, closes its units and calls
 * exit(); the handler that prif_init has registered then ends the image as the statement says. When
 * program.c is not linked, or the program calls exit(), the status decides: 0 is a normal end.
 */
#include "flang/ends.h"

#include "flang/calls.h"
#include "life/life.h"

#include <stdlib.h>

FLANG_EXPORT void tombolo_prif_flang_ends(enum prif_flang_end how, bool quiet, const int32_t *code,
                                          const char *text, size_t len);
FLANG_EXPORT void tombolo_prif_flang_flush(void (*flush)(void));
FLANG_EXPORT void FLANG_NAME(init)(int32_t *stat);
FLANG_EXPORT void FLANG_NAME(fail_image)(void);
FLANG_EXPORT void FLANG_NAME(register_stop_callback)(prif_stop_callback *const *callback);
FLANG_EXPORT void FLANG_NAME(stop)(const bool *quiet, const int32_t *code, const char *text,
                                   size_t len);
FLANG_EXPORT void FLANG_NAME(error_stop)(const bool *quiet, const int32_t *code, const char *text,
                                         size_t len);

static enum prif_flang_end ending = PRIF_FLANG_RUNS;

void tombolo_prif_flang_ends(enum prif_flang_end how, bool quiet, const int32_t *code,
                             const char *text, size_t len) {
  const struct prif_stop_code stop = {how == PRIF_FLANG_ERROR, quiet, code, text, len};
  if (ending != PRIF_FLANG_RUNS) return;
  ending = how;
  if (how != PRIF_FLANG_FAILS) prif_run_callbacks(&stop);
}

void tombolo_prif_flang_flush(void (*flush)(void)) {
  caf_flush_by(flush);
}

/* Units are closed: nothing here may use flang's input and output. */
static void on_exit_of(int status, void *arg) {
  (void)arg;
  caf_flush_by(NULL);
  if (!caf.began || caf.ending) return;
  if (ending == PRIF_FLANG_FAILS) caf_fail_image();
  if (ending == PRIF_FLANG_ERROR || (ending == PRIF_FLANG_RUNS && status != 0))
    caf_error_stop(status);
  caf_leave(status);
}

void FLANG_NAME(init)(int32_t *stat) {
  static bool registered;
  PRIF(init)(stat);
  if (!registered) (void)on_exit(on_exit_of, NULL);
  registered = true;
}

void FLANG_NAME(register_stop_callback)(prif_stop_callback *const *callback) {
  prif_settle();
  if (*callback) prif_add_callback(*callback);
}

/* flang 23 calls these three from its run-time library. */
void FLANG_NAME(fail_image)(void) {
  PRIF(fail_image)();
}

static struct prif_stop_code stop_code(bool is_error, const bool *quiet, const int32_t *code,
                                       const char *text, size_t len) {
  return (struct prif_stop_code){is_error, quiet && *quiet, code, text, text ? len : 0};
}

void FLANG_NAME(stop)(const bool *quiet, const int32_t *code, const char *text, size_t len) {
  const struct prif_stop_code stop = stop_code(false, quiet, code, text, len);
  prif_stop_now(&stop);
}

void FLANG_NAME(error_stop)(const bool *quiet, const int32_t *code, const char *text, size_t len) {
  const struct prif_stop_code stop = stop_code(true, quiet, code, text, len);
  prif_error_stop_now(&stop);
}
