/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases of a program that runs the one its first argument names: CASE(name) { ... } lists itself.
 *
 * Owns: the section `cases`. Included by tests/check and tests/replay, by one source a program.
 * Calls: nothing of the library. Invariants: no code runs before main, as the checker's compiler
 * instruments these programs.
 */
#ifndef TMBTEST_CASES_H
#define TMBTEST_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct case_entry {
  const char *name;
  void (*run)(void);
};

extern const struct case_entry __start_cases[], __stop_cases[]; /* from the linker */

#define CASE(name)                                            \
 static void name(void);                                      \
 static const struct case_entry name##_entry                  \
     __attribute__((section("cases"), used)) = {#name, name}; \
 static void name(void)

/* Runs the case of argv[1], if there is one; a name of no case ends the program with code 2. */
static inline void case_run(int argc, char **argv) {
  if (argc < 2) return;
  for (const struct case_entry *c = __start_cases; c < __stop_cases; c++) {
    if (strcmp(c->name, argv[1])) continue;
    c->run();
    return;
  }
  fprintf(stderr, "no case is called %s\n", argv[1]);
  exit(2);
}

#endif
