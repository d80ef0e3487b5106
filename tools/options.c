/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Typing mistakes of users: names of commands and of long options, with the nearest that there is.
 *
 * Owns: nothing. Called by main.c and by subcommands, in the place of argp_parse. Calls: argp, the
 * edit distance of base/fmt.
 * Invariants: only mistakes that argp would refuse are refused here, so that each option goes on to
 * be known by a beginning of its name; arguments behind `--` are the program's.
 */
#include "tool.h"

#include "base/fmt.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLIPS_MAX = 2, SHORT_BYTES = 4, NAME_BYTES = 64 };

const char *tool_nearest(const char *text, const char *(*name)(const void *, int),
                         const void *names) {
  const char *found = NULL;
  unsigned least = (strlen(text) <= SHORT_BYTES ? 1 : SLIPS_MAX) + 1;
  for (int i = 0;; i++) {
    const char *n = name(names, i);
    if (!n) return found;
    const unsigned slips = *n ? tmb_fmt_edit_distance(text, n) : least;
    if (slips >= least || slips >= strlen(n)) continue;
    least = slips;
    found = n;
  }
}

static bool is_last(const struct argp_option *o) {
  return !o->name && !o->key && !o->doc && !o->group;
}

static const char *name_of(const void *options, int i) {
  const struct argp_option *o = (const struct argp_option *)options + i;
  return is_last(o) ? NULL : o->name ? o->name : "";
}

/* The option that a long name, or a beginning of it, may mean; NULL if there is none. */
static const struct argp_option *find(const struct argp_option *options, const char *name) {
  static const char *const own[] = {"help", "usage"};
  static const struct argp_option known;
  const size_t bytes = strlen(name);
  for (size_t i = 0; i < 2; i++)
    if (strncmp(own[i], name, bytes) == 0) return &known;
  for (const struct argp_option *o = options; o && !is_last(o); o++)
    if (o->name && strncmp(o->name, name, bytes) == 0) return o;
  return NULL;
}

/* Whether the argument of a word like "-n" or "-vn" is the next word. */
static bool short_takes_next(const struct argp_option *options, const char *word) {
  for (const char *c = word + 1; *c; c++)
    for (const struct argp_option *o = options; o && !is_last(o); o++)
      if (o->key == *c && o->arg) return !c[1];
  return false;
}

/* Refuses a long option that does not exist, where one of a similar name does. */
static void check_long(const struct argp *parser, char **argv, const char *name) {
  const char *nearest = tool_nearest(name, name_of, parser->options);
  if (tmb_fmt_edit_distance(name, "help") == 1) nearest = "help"; /* argp's, so in no table */
  if (!nearest) return;
  fprintf(stderr, "%s: there is no option --%s; did you mean --%s?\n", argv[0], name, nearest);
  exit(TOOL_EXIT_USAGE);
}

error_t tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input) {
  argp_err_exit_status = TOOL_EXIT_USAGE;
  for (int i = 1; i < argc; i++) {
    char name[NAME_BYTES];
    const char *word = argv[i];
    if (word[0] != '-' || !word[1]) {
      if (flags & ARGP_IN_ORDER) break;
      continue;
    }
    if (strcmp(word, "--") == 0) break;
    if (word[1] != '-') {
      i += short_takes_next(parser->options, word);
      continue;
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const struct argp_option *o = find(parser->options, name);
    if (!o) check_long(parser, argv, name);
    if (o && o->arg && !(o->flags & OPTION_ARG_OPTIONAL)) i += !strchr(word, '=');
  }
  return argp_parse(parser, argc, argv, flags, NULL, input);
}
