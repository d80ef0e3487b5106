/* SPDX-License-Identifier: BSD-3-Clause */
/* FT's command line: what can be asked for, and the parser (argp).
 * Parsed by every rank alike after the job has started, because a rank that left alone would end
 * the others; only rank 0 prints. Values are checked for form here and against the job in main.c.
 */
#ifndef FT_OPTIONS_H
#define FT_OPTIONS_H

#include "exchange.h"

#include <stdbool.h>

enum ft_verdict { FT_GO, FT_DONE, FT_USAGE };

#define FT_ALL_SCHEDULES (-1)

struct ft_options {
  char class;       /* letter as given, 0 if missing */
  int ty, tz;       /* 0: choose */
  int schedule;     /* index in ft_schedules, or FT_ALL_SCHEDULES */
  int iterations;   /* 0: as published */
  const char *plot; /* NULL: none */
  const char *json; /* NULL: none; "-": standard output */
  bool measure;     /* FFTW_MEASURE instead of FFTW_ESTIMATE */
  bool warmup;      /* one untimed iteration first */
  bool bound;       /* measure the exchange alone, and say what is the least time */
  bool quiet;
  bool inject_error; /* flip one value, to see the verification fail */
};

/* Parses argv. speak: this rank prints help and complaints. FT_DONE: only help was wanted. */
enum ft_verdict ft_options_parse(struct ft_options *options, int argc, char **argv, bool speak);

/* The most memory that a schedule which is asked for needs beside what all need. */
enum ft_extra ft_options_extra(const struct ft_options *options);

#endif
