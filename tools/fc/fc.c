/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo fc`: compiles and links a coarray Fortran program with gfortran.
 *
 * Owns: the options that gfortran needs for this library. Called by main.c. Calls: execvp of the
 * compiler. Invariants: every argument that is not its own goes to the compiler unchanged and in
 * order; what it adds stands before and behind; nothing is linked where the arguments say not to.
 */
#define _GNU_SOURCE
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_COMPILER "gfortran"
#define EXTRA            8 /* arguments that may be added, and NULL */

/* Arguments of the compiler. */
struct command {
  char **argv;
  int argc;
};

static const char usage[] =
    "Usage: tombolo fc [--show] [--compiler=COMMAND] ARGUMENTS OF GFORTRAN...\n\n"
    "Compiles coarray Fortran, and links it with Tombolo unless the arguments stop before that\n"
    "(-c, -S, -E, -fsyntax-only). Run the program with 'tombolo run -n IMAGES ./PROGRAM'.\n\n"
    "  --show              print the command instead of running it\n"
    "  --compiler=COMMAND  the compiler (default: $TOMBOLO_FC, else gfortran)\n"
    "  --help              print this text\n\n"
    "Example: tombolo fc -O2 hello.f90 -o hello && tombolo run -n 4 ./hello\n";

static void add(struct command *c, char *argument) {
  c->argv[c->argc++] = argument;
  c->argv[c->argc] = NULL;
}

static char *format(const char *prefix, const char *a, const char *suffix) {
  char *text = NULL;
  if (asprintf(&text, "%s%s%s", prefix, a, suffix) < 0) {
    tmb_print("fc: out of memory");
    exit(TOOL_EXIT_FAILED);
  }
  return text;
}

/* Folder of the installation or build tree: the command lies in its bin/. NULL with errno. */
static char *root_folder(void) {
  static char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  return dirname(dirname(path));
}

/* Whether the compiler has to stop before linking. */
static bool links(int argc, char **argv) {
  static const char *const stops[] = {"-c", "-S", "-E", "-fsyntax-only", "-M", "-MM"};
  for (int i = 1; i < argc; i++)
    for (size_t k = 0; k < sizeof stops / sizeof stops[0]; k++)
      if (strcmp(argv[i], stops[k]) == 0) return false;
  return true;
}

/* Whether there is anything to compile or link: `tombolo fc --version` asks the compiler only. */
static bool has_input(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (argv[i][0] != '-') return true;
  return false;
}

/* A word as a shell would have to be given it. */
static void print_word(const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=+./,:@%";
  if (*word && strspn(word, plain) == strlen(word)) {
    fputs(word, stdout);
    return;
  }
  putchar('\'');
  for (const char *p = word; *p; p++)
    if (*p == '\'')
      fputs("'\\''", stdout);
    else
      putchar(*p);
  putchar('\'');
}

static int show(const struct command *c) {
  for (int i = 0; i < c->argc; i++) {
    if (i) putchar(' ');
    print_word(c->argv[i]);
  }
  putchar('\n');
  return 0;
}

static int run_compiler(const struct command *c) {
  execvp(c->argv[0], c->argv);
  const int err = errno;
  if (err == ENOENT)
    tmb_print("fc: compiler '%s' not found; install gfortran, or name one with --compiler=COMMAND "
              "or TOMBOLO_FC",
              c->argv[0]);
  else
    tmb_print("fc: compiler '%s' cannot be run: %s", c->argv[0], strerror(err));
  return err == ENOENT ? TOOL_EXIT_NOT_FOUND : TOOL_EXIT_NOT_EXECUTABLE;
}

/* Generation of a compiler, as the first number of its version; empty when it prints none. */
static void ask_version(const char *compiler, char *version, size_t bytes) {
  char *command = format("exec '", compiler, "' -dumpversion 2>/dev/null");
  FILE *answer = strchr(compiler, '\'') ? NULL : popen(command, "r");
  *version = '\0';
  if (answer) {
    if (!fgets(version, (int)bytes, answer)) *version = '\0';
    pclose(answer);
  }
  version[strspn(version, "0123456789")] = '\0';
  free(command);
}

/* Name of the library for a compiler: from gfortran 16 on, team calls have other arguments. */
static const char *library_of(const char *compiler) {
  char version[32];
  ask_version(compiler, version, sizeof version);
  return strtol(version, NULL, 10) >= 16 ? "caf_tombolo16" : "caf_tombolo";
}

/* Add where the module tombolo_caf lies, if there is one for this compiler. */
static void add_modules(struct command *c) {
  const char *root = root_folder();
  char version[32];
  ask_version(c->argv[0], version, sizeof version);
  if (!root || !*version) return;
  char *base = format(root, "/lib/tombolo/fortran/", version);
  if (access(base, R_OK) == 0) add(c, format("-I", base, ""));
  free(base);
}

/* Whether the compiler links libraries without those that are shared. */
static bool is_static(const struct command *c) {
  for (int i = 0; i < c->argc; i++)
    if (strcmp(c->argv[i], "-static") == 0 || strcmp(c->argv[i], "-static-pie") == 0) return true;
  return false;
}

/* Add what linking needs. Returns 0 or an exit code. */
static int add_libraries(struct command *c) {
  const char *root = root_folder();
  if (!root) {
    tmb_print("fc: the folder of this command cannot be found in /proc/self/exe: %s",
              strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  char *folder = format(root, "/lib", "");
  const char *name = library_of(c->argv[0]);
  char *library = format(format(folder, "/lib", ""), name, ".so");
  if (access(library, R_OK) != 0) {
    tmb_print("fc: %s: %s; build or install Tombolo with TMB_FORTRAN=ON", library, strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  free(library);
  add(c, format("-L", folder, ""));
  add(c, format("-Wl,-rpath,", folder, ""));
  add(c, format("-l", name, ""));
  if (is_static(c)) add(c, format("-ltombolo", "", "")); /* libcaf_tombolo.so names it itself */
  return 0;
}

int tool_fc_main(int argc, char **argv) {
  const char *compiler = tmb_env_get("TOMBOLO_FC");
  bool only_show = false;
  char **arguments = calloc((size_t)argc + EXTRA, sizeof *arguments);
  struct command c = {arguments, 0};
  if (!arguments) {
    tmb_print("fc: out of memory");
    return TOOL_EXIT_FAILED;
  }
  add(&c, NULL);
  add(&c, "-fcoarray=lib");
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(argv[i], "--show") == 0)
      only_show = true;
    else if (strncmp(argv[i], "--compiler=", 11) == 0)
      compiler = argv[i] + 11;
    else
      add(&c, argv[i]);
  }
  c.argv[0] = (char *)(uintptr_t)(compiler && *compiler ? compiler : DEFAULT_COMPILER);
  if (argc == 1) {
    fputs(usage, stderr);
    return TOOL_EXIT_USAGE;
  }
  if (has_input(argc, argv)) add_modules(&c);
  const int code = has_input(argc, argv) && links(argc, argv) ? add_libraries(&c) : 0;
  if (code) return code;
  return only_show ? show(&c) : run_compiler(&c);
}
