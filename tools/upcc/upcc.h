/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upcc.h: common declarations of the parts of `tombolo upcc`.
 *
 * Included by upcc.c (arguments), upcc_build.c (the steps) and upcc_link.c. Invariants: lists
 * end with NULL; in `link`, NULL entries before the end stand for the objects of `sources`, in
 * order.
 */
#ifndef TOMBOLO_TOOLS_UPCC_H
#define TOMBOLO_TOOLS_UPCC_H

#include "tool.h"

#include <stdbool.h>
#include <stddef.h>

enum upcc_stop {
  UPCC_PREPROCESSED,
  UPCC_TRANSLATED,
  UPCC_ASSEMBLER,
  UPCC_OBJECT,
  UPCC_PROGRAM,
};

struct upcc_list {
  const char **words;
  size_t count, room;
};

struct upcc {
  enum upcc_stop stop;
  const char *compiler, *output;
  size_t files; /* sources, objects and libraries that are named as such */
  long threads; /* 0: known at run time */
  bool keep, only_show, verbose, extern_main, all_upc;
  bool all_preprocessed; /* the sources are output of -E, whatever their names */
  bool wide;             /* pointers-to-shared of 128 bits */
  bool check;            /* loads and stores are named, see check/client */
  bool berkeley;         /* the macros of that compiler are defined */
  struct upcc_list preprocess, compile, link, sources;
  const char *libraries;
  char *upc1, *headers, *support; /* files and folders of the installation, as the one above */
  char *temporary;                /* folder */
};

void upcc_add(struct upcc_list *l, const char *word);
void upcc_add_list(struct upcc_list *to, const struct upcc_list *from);

/* Where the translator, headers and libraries lie; false with a message. */
bool upcc_find_folders(struct upcc *u);
/* Runs a command, or shows it. Returns its exit code. */
int upcc_run(const struct upcc *u, struct upcc_list *l);
/* Links. in objects: of the sources, in order. Returns the exit code. */
int upcc_link(const struct upcc *u, const char *const *objects);
/* Runs the steps. Returns the exit code. */
int upcc_build(struct upcc *u);

#endif
