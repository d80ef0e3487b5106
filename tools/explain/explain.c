/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo explain`: meaning of a message with a number.
 *
 * Owns: nothing global. Called by main.c. Calls: nothing of the library but its log. Invariants:
 * the table is src/base/messages/messages.def, from which the library numbers its messages; a row
 * belongs to the family of its number divided by 100. Where advice.def has a row for a number, that
 * row's cause, remedy and example are printed, else those of the family.
 */
#define _GNU_SOURCE
#include "tool.h"

#include "base/log.h"

#include <argp.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_VERSION = 256, OPT_LIST, FAMILY_NUMBERS = 100, WIDTH = 78 };

/* The remedy for a message, or for all messages of a family. */
struct advice {
  unsigned number;
  const char *title, *cause, *remedy, *example;
};

struct row {
  unsigned number;
  enum {
    ROW_WHOLE,
    ROW_PART,
    ROW_OLD
  } kind; /* the whole message, a part of some, none of this version */
  const char *text;
};

#define TMB_MESSAGE(number, text)      {number, ROW_WHOLE, text},
#define TMB_MESSAGE_PART(number, text) {number, ROW_PART, text},
#define TMB_MESSAGE_CODE(number, text) {number, ROW_WHOLE, text},
#define TMB_MESSAGE_OLD(number, text)  {number, ROW_OLD, text},
#define TMB_MESSAGES(family, files, title, cause, remedy, example)
static const struct row rows[] = {
#include "base/messages/messages.def"
};
#undef TMB_MESSAGE
#undef TMB_MESSAGE_PART
#undef TMB_MESSAGE_CODE
#undef TMB_MESSAGE_OLD
#undef TMB_MESSAGES

#define TMB_MESSAGE(number, text)
#define TMB_MESSAGE_PART(number, text)
#define TMB_MESSAGE_CODE(number, text)
#define TMB_MESSAGE_OLD(number, text)
#define TMB_MESSAGES(family, files, title, cause, remedy, example) \
 {family, title, cause, remedy, example},
static const struct advice families[] = {
#include "base/messages/messages.def"
};

#define TMB_ADVICE(number, cause, remedy, example) {number, NULL, cause, remedy, example},
static const struct advice single[] = {
#include "base/messages/advice.def"
};

#define ROWS     (sizeof rows / sizeof *rows)
#define FAMILIES (sizeof families / sizeof *families)
#define SINGLE   (sizeof single / sizeof *single)

struct arguments {
  int list;
  const char *number;
};

static const struct advice *find(const struct advice *list, size_t count, unsigned number) {
  for (size_t i = 0; i < count; i++)
    if (list[i].number == number) return &list[i];
  return NULL;
}

/* Prints a text in lines of at most WIDTH characters, each behind an indent. */
static void print_wrapped(const char *indent, const char *text) {
  size_t column = 0;
  for (const char *p = text; *p;) {
    const size_t word = strcspn(p, " ");
    if (column && column + 1 + word > WIDTH) column = 0, putchar('\n');
    if (column)
      putchar(' ');
    else
      fputs(indent, stdout);
    column += (column ? 1 : strlen(indent)) + word;
    fwrite(p, 1, word, stdout);
    p += word + strspn(p + word, " ");
  }
  putchar('\n');
}

/* A row as a person reads it: "..." for each conversion, and around a part of a message. */
static void readable(const struct row *row, char *to, size_t bytes) {
  size_t used = 0;
  const int part = row->kind == ROW_PART;
  if (part) used = (size_t)snprintf(to, bytes, *row->text == ':' ? "..." : "... ");
  for (const char *p = row->text; *p && used + 8 < bytes; p++) {
    if (*p != '%' || p[1] == '%') {
      p += *p == '%';
      to[used++] = *p;
      continue;
    }
    p += strcspn(p + 1, "diuoxXfFeEgGcspm") + 1;
    memcpy(to + used, "...", 3);
    used += 3;
  }
  snprintf(to + used, bytes - used, "%s", part ? " ..." : "");
}

static int explain_number(unsigned number) {
  const struct advice *family = find(families, FAMILIES, number / FAMILY_NUMBERS);
  const struct advice *own = find(single, SINGLE, number), *advice = own ? own : family;
  int found = 0;
  for (size_t i = 0; i < ROWS; i++) {
    char text[1024];
    if (rows[i].number != number) continue;
    readable(&rows[i], text, sizeof text);
    if (!found) printf("TMB-%04u: %s\n\n", number, family ? family->title : "");
    print_wrapped("    ", text);
    if (rows[i].kind == ROW_OLD) puts("    (no message of this version any more)");
    found = 1;
  }
  if (!found || !family) {
    tmb_print("explain: there is no message TMB-%04u; 'tombolo explain --list' shows all", number);
    return TOOL_EXIT_FAILED;
  }
  puts("\nCause");
  print_wrapped("    ", advice->cause);
  puts("What to do");
  print_wrapped("    ", advice->remedy);
  printf("Example\n    %s\n", advice->example);
  return 0;
}

static void list_all(void) {
  for (size_t i = 0; i < ROWS; i++) {
    char text[1024];
    readable(&rows[i], text, sizeof text);
    printf("TMB-%04u  %s\n", rows[i].number, text);
  }
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct arguments *a = state->input;
  switch (key) {
  case OPT_LIST: a->list = 1; return 0;
  case OPT_VERSION: puts(tool_version()); exit(0);
  case ARGP_KEY_ARG:
    if (a->number) argp_usage(state);
    a->number = arg;
    return 0;
  case ARGP_KEY_END:
    if (!a->number && !a->list) argp_usage(state);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

int tool_explain_main(int argc, char **argv) {
  static const struct argp_option options[] = {
      {"list", OPT_LIST, NULL, 0, "Show all messages with their numbers", 0},
      {"version", OPT_VERSION, NULL, 0, "Print program version", -1},
      {0},
  };
  static const struct argp argp = {
      options,
      parse,
      "NUMBER",
      "Say what a message with a number means: cause, what to do, and an example.\v"
      "NUMBER is what a message shows at its end, as TMB-0103 or 103.",
      NULL,
      NULL,
      NULL,
  };
  struct arguments a = {0};
  if (tool_parse(&argp, argc, argv, 0, &a)) return TOOL_EXIT_USAGE;
  if (a.list) list_all();
  if (!a.number) return 0;
  const char *digits = a.number + strcspn(a.number, "0123456789");
  char *end = NULL;
  const unsigned long number = strtoul(digits, &end, 10);
  if (!isdigit((unsigned char)*digits) || strspn(end, "]") != strlen(end) || number > 9999) {
    tmb_print("explain: %s is no number of a message; give it as TMB-0103", a.number);
    return TOOL_EXIT_USAGE;
  }
  return explain_number((unsigned)number);
}
