/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last step of `tombolo upcc`: it links, and puts the linker's words into those of UPC.
 *
 * Called by upcc_build.c. Calls: the C compiler as a process. Invariants: the linker's messages are
 * printed, but for names that only the translator's C has; its output is kept in a file without a
 * name until it has ended.
 */
#define _GNU_SOURCE
#include "base/log.h"
#include "upcc/upcc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The name that the translator gives the program's main. */
#define MAIN "upcr_user_main"

/* The linker names objects by their files, most of which are removed when its message is read. */
static void name_objects(const struct upcc *u, const char *const *objects) {
  for (size_t i = 0; i < u->sources.count; i++)
    tmb_print("upcc: %s is the object of %s", objects[i], u->sources.words[i]);
}

/* Findings in the lines of the linker. */
struct seen {
  bool no_main, other_form;
  size_t printed; /* lines, but for that of the compiler that the linker has failed */
};

/* Print a line with the program's name of main. */
static void print_line(const char *line) {
  const char *at;
  while ((at = strstr(line, MAIN)) != NULL) {
    fprintf(stderr, "%.*smain", (int)(at - line), line);
    line = at + strlen(MAIN);
  }
  fputs(line, stderr);
}

/* One line of the linker: it is printed, unless it speaks of the library's own objects. */
static void tell_line(struct seen *t, const char *line) {
  const bool undefined = strstr(line, "undefined") != NULL;
  if (strstr(line, "/crt.o: in function") || strstr(line, "/crt_extern.o: in function")) return;
  if (undefined && strstr(line, MAIN)) {
    t->no_main = true;
  } else if (undefined && strstr(line, "upcr_pointers_")) {
    t->other_form = true;
  } else if (!strstr(line, "ld returned") || t->printed) {
    print_line(line);
    t->printed++;
  }
}

/* Print the linker's messages from a file, and their meaning. */
static void tell(const struct upcc *u, FILE *from, bool failed) {
  struct seen t = {0};
  char *line = NULL;
  size_t room = 0;
  rewind(from);
  while (getline(&line, &room, from) >= 0) tell_line(&t, line);
  free(line);
  if (failed && t.no_main)
    tmb_print("upcc: no UPC source or object of the program has a function main; where main is C "
              "or C++, link with -extern-main; to compile without linking, use -c");
  if (failed && t.other_form)
    tmb_print("upcc: some objects were compiled %s --pointers=wide, and this command links %s it; "
              "all sources and the link need the same",
              u->wide ? "without" : "with", u->wide ? "with" : "without");
}

/* Run the linker with its messages in a file; without one, they go where they come from. */
static int run_linker(const struct upcc *u, struct upcc_list *l) {
  FILE *const messages = u->only_show ? NULL : tmpfile();
  const int before = messages ? dup(STDERR_FILENO) : -1;
  if (before >= 0) dup2(fileno(messages), STDERR_FILENO);
  const int code = upcc_run(u, l);
  if (before >= 0) {
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    tell(u, messages, code != 0);
  }
  if (messages) fclose(messages);
  return code;
}

/* The objects that announce the shared objects: of a program, one whose main is C, a library. */
static void add_start_objects(const struct upcc *u, struct upcc_list *l) {
  const char *start = u->extern_main ? "/crt_extern.o" : "/crt.o";
  for (size_t i = 0; i < u->link.count; i++)
    if (u->link.words[i] && !strcmp(u->link.words[i], "-shared")) start = "/crt_shared.o";
  upcc_add(l, tool_format(u->support, start, ""));
  if (strcmp(start, "/crt_shared.o") != 0)
    upcc_add(l, tool_format(u->support, "/crt_tentative.o", ""));
}

int upcc_link(const struct upcc *u, const char *const *objects) {
  struct upcc_list l = {0};
  size_t next = 0;
  upcc_add(&l, u->compiler);
  for (size_t i = 0; i < u->link.count; i++)
    upcc_add(&l, u->link.words[i] ? u->link.words[i] : objects[next++]);
  upcc_add(&l, "-o");
  upcc_add(&l, u->output ? u->output : "a.out");
  add_start_objects(u, &l);
  upcc_add(&l, tool_format("-L", u->libraries, ""));
  upcc_add(&l, tool_format("-Wl,-rpath,", u->libraries, ""));
  upcc_add(&l, u->wide ? "-ltombolo-upc-wide" : "-ltombolo-upc");
  upcc_add(&l, "-ltombolo");
  upcc_add(&l, "-lm");
  if (u->check) {
    upcc_add(&l, "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset");
    upcc_add(&l, tool_format(u->libraries, "/tombolo/check/libtsan.a", ""));
  }
  const int code = run_linker(u, &l);
  if (code && u->sources.count > 1) name_objects(u, objects);
  return code;
}
