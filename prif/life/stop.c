/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * End: prif_stop, prif_error_stop, prif_fail_image, and the callbacks that run before.
 *
 * Owns: the address of the function that runs the program's callbacks; the module keeps the list;
 * and a list of those that flang's calls have registered. Called by programs and by prif/flang.
 * Calls: the end of coarray/. Invariants: the callbacks run once, while the library still works;
 * none of these functions returns. A stop code goes to the unit OUTPUT_UNIT, that of an error stop
 * to ERROR_UNIT.
 */
#include "life/life.h"

#include <stdio.h>
#include <stdlib.h>

static prif_stop_runner *runner;

void PRIF(set_stop_runner)(prif_stop_runner *run) {
  runner = run;
}

static struct callback {
  prif_stop_callback *call;
  struct callback *next;
} * callbacks; /* the last registered first */

void prif_add_callback(prif_stop_callback *call) {
  struct callback *const entry = malloc(sizeof *entry);
  if (!entry) {
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_OUT_OF_MEMORY,
              "prif_register_stop_callback: out of memory for a list entry [TMB-0001]");
    return;
  }
  *entry = (struct callback){call, callbacks};
  callbacks = entry;
}

void prif_run_callbacks(const struct prif_stop_code *stop) {
  prif_stop_runner *const run = runner;
  runner = NULL; /* a callback that stops again does not run the others again */
  if (run) run(stop->is_error, stop->quiet, stop->code, stop->text, stop->len);
  while (callbacks) {
    struct callback *const entry = callbacks;
    callbacks = entry->next;
    entry->call(&stop->is_error, &stop->quiet, stop->code, stop->text, stop->len);
    free(entry);
  }
}

/* Behind the program's own output. */
static void print_code(const struct prif_stop_code *stop) {
  FILE *const to = stop->is_error ? stderr : stdout;
  const char *const what = stop->is_error ? "ERROR STOP" : "STOP";
  if (stop->quiet || (!stop->text && !stop->code)) return;
  caf_flush_all();
  if (stop->text && stop->is_error)
    caf_print("ERROR STOP ", stop->text, stop->len);
  else if (stop->text)
    fprintf(to, "%s %.*s\n", what, (int)stop->len, stop->text);
  else
    fprintf(to, "%s %d\n", what, (int)*stop->code);
}

void prif_stop_now(const struct prif_stop_code *stop) {
  prif_settle();
  prif_run_callbacks(stop);
  print_code(stop);
  caf_stop(stop->code ? *stop->code : 0);
}

void prif_error_stop_now(const struct prif_stop_code *stop) {
  prif_settle();
  prif_run_callbacks(stop);
  print_code(stop);
  caf_error_stop(stop->code ? *stop->code : 1);
}

static struct prif_stop_code stop_code(bool is_error, const bool *quiet, const int32_t *code,
                                       const struct prif_desc *text) {
  return (struct prif_stop_code){.is_error = is_error,
                                 .quiet = quiet && *quiet,
                                 .code = code,
                                 .text = text ? text->base : NULL,
                                 .len = text ? text->elem_len : 0};
}

void PRIF(stop)(const bool *quiet, const int32_t *stop_code_int,
                const struct prif_desc *stop_code_char) {
  const struct prif_stop_code stop = stop_code(false, quiet, stop_code_int, stop_code_char);
  prif_stop_now(&stop);
}

void PRIF(error_stop)(const bool *quiet, const int32_t *stop_code_int,
                      const struct prif_desc *stop_code_char) {
  const struct prif_stop_code stop = stop_code(true, quiet, stop_code_int, stop_code_char);
  prif_error_stop_now(&stop);
}

void PRIF(fail_image)(void) {
  PRIF_STATEMENT("prif_fail_image");
  caf_fail_image();
}
