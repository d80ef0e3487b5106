/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The help of a benchmark that takes at most a number.
 *
 * Owns nothing. Called at the start of main, before the library starts, so that help and refusals
 * need no job. Calls libc only. Invariant: returns only for arguments that the benchmark takes.
 */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints the usage for --help, and refuses with exit code 2 an argument that is no positive number
 * or too large. in text: of the help; most: how many arguments are taken, 0 or 1. Returns the
 * number, 0: none. */
static inline int usage_number(int argc, char **argv, const char *text, int most) {
  char *end = "";
  const char *word = argc > 1 ? argv[1] : NULL;
  const long number = word ? strtol(word, &end, 10) : 0;
  if (word && (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "-?"))) {
    puts(text);
    exit(0);
  }
  if (argc - 1 <= most && (!word || (*word && !*end && number > 0 && number < 1000000)))
    return (int)number;
  fprintf(stderr, "%s: argument %s is not known\n%s\n", argv[0], argv[argc - 1], text);
  exit(2);
}

#endif
