/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo upcrun`: starts UPC programs with the options of older launchers.
 *
 * Owns: nothing. Called by main.c. Calls: `tombolo run`. Invariants: options that have no meaning
 * here are accepted; without -n a program that was compiled for a fixed number of threads gets that
 * number, which upc1 writes into it as a text.
 */
#define _GNU_SOURCE
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "Usage: tombolo upcrun [OPTIONS] PROGRAM [ARGUMENTS]\n\n"
    "Starts a UPC program as 'tombolo run' does.\n\n"
    "  -n N, -np N     number of threads (default: N of a program compiled with -T N)\n"
    "  -t, -show       print the command instead of running it\n"
    "  -v              print what the launcher and the library do\n"
    "  -bind-threads   bind each thread to processors of its own\n"
    "  -version, -h    print the version, this text\n\n"
    "Other options of older launchers (-q, -N, -c, -p, -shared-heap, ...) are accepted and "
    "ignored.\n"
    "The environment variable UPCRUN_FLAGS holds options that come before these.\n\n"
    "Example: tombolo upcrun -n 4 ./hello\n";

struct upcrun {
  const char *threads;
  bool show, verbose, bind;
};

/* Options without meaning that take the next argument as their value. */
static const char *const valued[] = {"-N",           "-nodes",
                                     "-c",           "-cpus-per-node",
                                     "-p",           "-pthreads",
                                     "-shared-heap", "-heap-offset",
                                     "-pshm-width",  "-shared-heap-max",
                                     "-tracefile",   "-network",
                                     "-conf",        NULL};

static bool among(const char *s, const char *const *list) {
  for (; *list; list++)
    if (!strcmp(s, *list)) return true;
  return false;
}

/* Options that ask for a text only; whether it was one. */
static bool answer(const char *s) {
  if (!strcmp(s, "-h") || !strcmp(s, "-help"))
    fputs(usage, stdout);
  else if (!strcmp(s, "-version") || !strcmp(s, "-V"))
    puts(tool_version());
  else
    return false;
  return true;
}

/* One option. Returns how many arguments it was, 0 when the command is done. */
static int read_option(struct upcrun *u, const char *s, const char *next) {
  static const char *const numbers[] = {"-n", "-np", "-threads", NULL};
  static const char *const talks[] = {"-v", "-vv", NULL};
  static const char *const shows[] = {"-t", "-show", NULL};
  if (s[0] == '-' && s[1] == '-') s++;
  if (among(s, numbers)) {
    u->threads = next ? next : "";
    return 2;
  }
  if (!strncmp(s, "-n=", 3) || !strncmp(s, "-np=", 4)) u->threads = strchr(s, '=') + 1;
  if (s[1] == 'n' && strspn(s + 2, "0123456789") == strlen(s + 2) && s[2]) u->threads = s + 2;
  if (among(s, shows)) u->show = true;
  if (among(s, talks)) u->verbose = true;
  if (!strcmp(s, "-bind-threads")) u->bind = true;
  if (answer(s)) return 0;
  return among(s, valued) ? 2 : 1;
}

/* The number of threads that a program was compiled for, as text; empty: any. */
static const char *compiled_threads(const char *program) {
  static char number[16];
  static const char mark[] = "$UpcThreads: ";
  const int fd = open(program, O_RDONLY | O_CLOEXEC);
  struct stat st;
  number[0] = '\0';
  if (fd < 0) return number;
  if (fstat(fd, &st) == 0 && st.st_size > 0) {
    const size_t size = (size_t)st.st_size;
    char *text = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text != MAP_FAILED) {
      const char *at = memmem(text, size, mark, sizeof mark - 1);
      const size_t left = at ? (size_t)(text + size - at) - (sizeof mark - 1) : 0;
      for (size_t i = 0; i < left && i + 1 < sizeof number; i++) {
        const char c = at[sizeof mark - 1 + i];
        if (c < '0' || c > '9') break;
        number[i] = c;
        number[i + 1] = '\0';
      }
      munmap(text, size);
    }
  }
  close(fd);
  return number;
}

/* Starts the command of `rest`, with its arguments. */
static int start(const struct upcrun *u, char **rest, int count) {
  static char name[] = "tombolo run", n[] = "-n", v[] = "-v", bind[] = "--bind", end[] = "--";
  const char *threads = u->threads ? u->threads : compiled_threads(rest[0]);
  if (!*threads) {
    tmb_print("upcrun: the number of threads is not known; give -n N, or compile '%s' with -T N",
              rest[0]);
    return TOOL_EXIT_USAGE;
  }
  char **argv = calloc((size_t)count + 8, sizeof *argv), *number = strdup(threads);
  if (!argv || !number) {
    tmb_print("upcrun: out of memory");
    free(argv);
    free(number);
    return TOOL_EXIT_FAILED;
  }
  int argc = 0;
  argv[argc++] = name;
  argv[argc++] = n;
  argv[argc++] = number;
  if (u->verbose) argv[argc++] = v;
  if (u->bind) argv[argc++] = bind;
  argv[argc++] = end;
  for (int i = 0; i < count; i++) argv[argc++] = rest[i];
  char *here = NULL; /* a name without a folder is a file of this folder first */
  if (!strchr(rest[0], '/') && access(rest[0], X_OK) == 0 && asprintf(&here, "./%s", rest[0]) > 0)
    argv[argc - count] = here;
  int code = 0;
  if (!u->show)
    code = tool_run_main(argc, argv);
  else
    for (int i = 0; i < argc; i++) printf("%s%c", argv[i], i + 1 < argc ? ' ' : '\n');
  free(argv);
  free(number);
  free(here);
  return code;
}

int tool_upcrun_main(int argc, char **argv) {
  struct upcrun u = {0};
  const char *flags = tmb_env_get("UPCRUN_FLAGS");
  char *copy = strdup(flags ? flags : ""), *save = NULL;
  if (!copy) return TOOL_EXIT_FAILED;
  for (char *w = strtok_r(copy, " ", &save); w;) {
    char *next = strtok_r(NULL, " ", &save);
    const int used = read_option(&u, w, next);
    if (!used) return 0;
    w = used == 2 ? strtok_r(NULL, " ", &save) : next;
  }
  int i = 1;
  while (i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0) {
    const int used = read_option(&u, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
    if (!used) return 0;
    i += used;
  }
  if (i < argc && !strcmp(argv[i], "--")) i++;
  if (i >= argc) {
    fputs(usage, stderr);
    return TOOL_EXIT_USAGE;
  }
  return start(&u, argv + i, argc - i); /* the copy of the flags stays: options point into it */
}
