/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo cc`, `tombolo c++`: compile and link a program of the GASNet-EX API, as mpicc does.
 *
 * Owns: the options that a client needs. Called by main.c. Calls: execvp of the compiler.
 * Invariants: every argument that is not its own goes to the compiler unchanged and in order; added
 * options stand before and behind; nothing is linked where the arguments say not to.
 */
#define _GNU_SOURCE
#include "fc/command.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 16                                 /* of the compiler's name, at most */
#define EXTRA (13 + WORDS + COMMAND_CHECK_EXTRA) /* arguments that may be added, and NULL */

/* Parsed arguments. */
struct request {
  const char *tool, *setting; /* "cc", "TOMBOLO_CC" */
  struct command_own own;
  char *mode;   /* -DGASNET_SEQ=1 and so on; NULL: the arguments have it for the compiler */
  bool assumed; /* the arguments have none */
  bool debug;
};

static const char usage[] =
    "Usage: tombolo %s [--seq|--parsync|--par] [--debug] [--check] [--show]\n"
    "       [--compiler=COMMAND] ARGUMENTS OF THE COMPILER...\n\n"
    "Compiles a %s program that uses Tombolo, and links it unless the arguments stop before that\n"
    "(-c, -S, -E, -fsyntax-only). Run the program with 'tombolo run -n RANKS ./PROGRAM'.\n\n"
    "  --par               any thread may call the library (default, if the program defines no\n"
    "                      mode before the header)\n"
    "  --parsync           one thread at a time calls it\n"
    "  --seq               only one thread calls it\n"
    "  --debug             check arguments and the state of the program in each call\n"
    "  --check             let 'tombolo run --check races' see the program's own loads and stores\n"
    "  --show              print the command instead of running it\n"
    "  --compiler=COMMAND  the compiler (default: $%s, else $%s, else %s)\n"
    "  --help              print this text\n\n"
    "Example: tombolo %s -O2 hello.%s -o hello && tombolo run -n 4 ./hello\n";

static void print_usage(FILE *to, bool cxx) {
  fprintf(to, usage, cxx ? "c++" : "cc", cxx ? "C++" : "C", cxx ? "TOMBOLO_CXX" : "TOMBOLO_CC",
          cxx ? "CXX" : "CC", cxx ? "c++" : "cc", cxx ? "c++" : "cc", cxx ? "cc" : "c");
}

/* Notes a thread mode. Returns whether the argument is an option of this command. */
static bool takes_mode(struct request *r, const char *argument) {
  static char *const options[][2] = {{"--seq", "-DGASNET_SEQ=1"},
                                     {"--par", "-DGASNET_PAR=1"},
                                     {"--parsync", "-DGASNET_PARSYNC=1"}};
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (strcmp(argument, options[i][0]) == 0) {
      r->mode = options[i][1];
      r->assumed = false;
      return true;
    }
  if (strncmp(argument, "-DGASNET_SEQ", 12) == 0 || strncmp(argument, "-DGASNET_PAR", 12) == 0) {
    r->mode = NULL;
    r->assumed = false;
  }
  return false;
}

/* Takes this command's own options out of the arguments. */
static void read_arguments(struct command *c, struct request *r, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (command_own(&r->own, argv[i])) continue;
    if (strcmp(argv[i], "--debug") == 0)
      r->debug = true;
    else if (!takes_mode(r, argv[i]))
      command_add(c, argv[i]);
  }
}

/* The folder, which has a file; NULL after a message. */
static const char *folder_with(const struct request *r, const char *folder, const char *file) {
  char *path = tool_format(folder, "/", file);
  if (access(path, R_OK) == 0) return folder;
  tmb_print("%s: %s: %s; install Tombolo's headers and library beside the command", r->tool, path,
            strerror(errno));
  return NULL;
}

/* Adds headers and library. Returns 0 or an exit code. */
static int add_tombolo(struct command *c, const struct request *r, bool links) {
  if (!tool_libraries()) {
    tmb_print("%s: the folder of this command cannot be found in /proc/self/exe: %s", r->tool,
              strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  const char *headers = folder_with(r, tool_format(tool_root(), "/include", ""), "gasnetex.h");
  const char *library = links ? folder_with(r, tool_libraries(), "libtombolo.so") : NULL;
  if (!headers || (links && !library)) return TOOL_EXIT_FAILED;
  command_add(c, tool_format("-I", headers, ""));
  if (!links) return 0;
  command_add(c, tool_format("-L", library, ""));
  command_add(c, "-rdynamic");
  command_add(c, tool_format("-Wl,-rpath,", library, ""));
  command_add(c, "-ltombolo");
  if (command_is_static(c)) command_add(c, "-lpthread");
  return 0;
}

/* Whether a name is a compiler, and not this command: makefiles set CC="tombolo cc". */
static bool is_compiler(const char *name) {
  if (!name || !*name) return false;
  const size_t word = strcspn(name, " ");
  static const char self[] = "tombolo";
  const size_t bytes = sizeof self - 1;
  const bool ends = word >= bytes && strncmp(name + word - bytes, self, bytes) == 0;
  return !ends || (word > bytes && name[word - bytes - 1] != '/');
}

static const char *default_compiler(bool cxx) {
  const char *name = tmb_env_get(cxx ? "TOMBOLO_CXX" : "TOMBOLO_CC");
  if (!is_compiler(name)) name = tmb_env_get(cxx ? "CXX" : "CC");
  return is_compiler(name) ? name : cxx ? "c++" : "cc";
}

static char **list_of(size_t words) {
  char **list = calloc(words, sizeof *list);
  if (list) return list;
  tmb_print("no memory for a command line");
  exit(TOOL_EXIT_FAILED);
}

static bool asks_help(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0) return true;
  return false;
}

/* The compiler's own words, as of CC="ccache gcc", and the options that choose our headers. */
static void begin(struct command *all, const struct request *r) {
  char *save, *words = tool_format(r->own.compiler, "", "");
  for (char *w = strtok_r(words, " ", &save); w && all->argc < WORDS;
       w = strtok_r(NULL, " ", &save))
    command_add(all, w);
  if (!all->argc) command_add(all, words);
  if (r->mode) command_add(all, r->mode);
  if (r->assumed) command_add(all, "-DTOMBOLO_MODE_ASSUMED=1");
  if (r->debug) command_add(all, "-DGASNET_DEBUG=1");
}

static int compile(int argc, char **argv, bool cxx) {
  struct request r = {.tool = cxx ? "c++" : "cc",
                      .setting = cxx ? "TOMBOLO_CXX" : "TOMBOLO_CC",
                      .own.compiler = default_compiler(cxx),
                      .mode = "-DGASNET_PAR=1",
                      .assumed = true};
  struct command c = {list_of((size_t)argc + EXTRA), 0};
  struct command all = {list_of((size_t)argc + EXTRA), 0};
  read_arguments(&c, &r, argc, argv);
  begin(&all, &r);
  const bool input = command_has_input(argc, argv), links = command_links(argc, argv);
  const struct command_checked how = {r.tool, r.own.compiler, true, links, &c};
  if (input && r.own.check) command_check_before(&all, &how);
  for (int i = 0; i < c.argc; i++) command_add(&all, c.argv[i]);
  int code = input ? add_tombolo(&all, &r, links) : 0;
  if (!code && input && r.own.check) code = command_check_behind(&all, &how);
  if (code) return code;
  return r.own.only_show ? command_show(&all) : command_run(&all, r.tool, r.setting);
}

static int start(int argc, char **argv, bool cxx) {
  if (argc > 1 && !asks_help(argc, argv)) return compile(argc, argv, cxx);
  print_usage(argc > 1 ? stdout : stderr, cxx);
  return argc > 1 ? 0 : TOOL_EXIT_USAGE;
}

int tool_cc_main(int argc, char **argv) {
  return start(argc, argv, false);
}

int tool_cxx_main(int argc, char **argv) {
  return start(argc, argv, true);
}
