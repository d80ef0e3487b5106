/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo upcc`: compiles and links UPC programs.
 *
 * Owns: the options of the older UPC drivers, which programs' makefiles use. Called by main.c.
 * Calls: the C compiler for preprocessing, compiling and linking, and upc1 (upc/compiler), which
 * turns UPC into C. Invariants: arguments that are not its own go to the C compiler unchanged and
 * in order; temporary files lie in one folder, which is removed in the end.
 */
#define _GNU_SOURCE
#include "upcc/upcc.h"

#include "base/config.h"
#include "base/log.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "Usage: tombolo upcc [OPTIONS] FILES...\n\n"
    "Compiles UPC (.upc, .c; .upci, .i: output of -E) and links it with Tombolo.\n"
    "Run the program with 'tombolo run -n THREADS ./PROGRAM'.\n\n"
    "  -T N, -T=N          compile for N threads, also -fupc-threads-N (default: chosen at start)\n"
    "  -c, -E, -S          stop before linking, after the preprocessor, with assembler\n"
    "  -trans              stop after the translation to C, FILE.trans.c\n"
    "  -o FILE             write the output to FILE\n"
    "  -D -U -I -L -l -O -g -f... -m... -W... -std=...  as for the C compiler\n"
    "  -Wp,X -Wc,X -Wl,X   pass X to the preprocessor, the C compiler, the linker\n"
    "  --pointers=wide     pointers-to-shared of 128 bits (default 64), for more than 1024\n"
    "                      threads, 16 GB of each thread or blocks of 1,048,576 elements; all\n"
    "                      files of a program need the same\n"
    "  --berkeley          define __BERKELEY_UPC__ and its relatives, as version 2.28.0, for\n"
    "                      programs that call bupc_ functions only where these are defined;\n"
    "                      compile with -fcommon\n"
    "  --check             let 'tombolo run --check races' see the program's own loads and stores\n"
    "  -extern-main        the program's main is C or C++ and calls bupc_init\n"
    "  -save-temps         keep FILE.i and FILE.trans.c\n"
    "  --show              print the commands instead of running them\n"
    "  -v                  print the commands as they run\n"
    "  --compiler=COMMAND  the C compiler (default: $TOMBOLO_UPC_CC, else cc)\n"
    "  -print-include-dir  print the folder of UPC's headers\n"
    "  --help, --version   print this text, the version\n\n"
    "Options of older drivers without a meaning here (-network=, -pthreads=, -shared-heap= ...)\n"
    "are accepted and ignored.\n\n"
    "Example: tombolo upcc -O2 hello.upc -o hello && tombolo run -n 4 ./hello\n";

/* Options of older drivers that change nothing; those ending with = or - are prefixes. */
static const char *const ignored[] = {
    "-network=",
    "-pthreads",
    "-pthreads=",
    "-nopthreads",
    "-shared-heap=",
    "-shared-heap-max=",
    "-heap-offset=",
    "-opt",
    "-opt-enable=",
    "-opt-disable=",
    "-trace",
    "-inst",
    "-allow-deprecated",
    "-smart-output",
    "-conf=",
    "-norc",
    "-require-size",
    "-size-warn",
    "-Wu,",
    "-Ww,",
    "-link-with=",
    "-uses-mpi",
    "--opt",
    "-lines",
    "-fupc",
    "-fupc-",
    "-hupc",
    "-lupc",
    "-lgupc",
    "-qupc",
    "-q64",
    "-qarch=",
    "-qtune=",
    "-tv",
    "-pupc",
    "-no-pupc",
    "-sources",
    "-noswitcherror",
    "--network=",
    "--pthreads",
    "--uses-mpi",
    "-nolines",
    "-uses-threads",
    "--uses-threads",
};

/* Options whose value is the next argument. */
static const char *const with_value[] = {
    "-I",         "-D",       "-U",      "-L",         "-l",
    "-include",   "-isystem", "-iquote", "-idirafter", "-imacros",
    "-MF",        "-MT",      "-MQ",     "-Xlinker",   "-Xpreprocessor",
    "-framework", "-rpath",   "-u",      "-T",         "--param",
    "-Xassembler"};

static bool starts(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_ignored(const char *s) {
  for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++) {
    const size_t n = strlen(ignored[i]);
    const char last = ignored[i][n - 1];
    const bool prefix = last == '=' || last == '-' || last == ',';
    if (prefix ? strncmp(s, ignored[i], n) == 0 : strcmp(s, ignored[i]) == 0) return true;
  }
  return false;
}

static bool takes_value(const char *s) {
  for (size_t i = 0; i < sizeof with_value / sizeof with_value[0]; i++)
    if (strcmp(s, with_value[i]) == 0) return true;
  return false;
}

static bool ends(const char *s, const char *suffix) {
  const size_t n = strlen(s), k = strlen(suffix);
  return n >= k && strcmp(s + n - k, suffix) == 0;
}

/* "a,b" of -Wx,a,b: each as a word. */
static void add_split(struct upcc_list *l, const char *text) {
  char *copy = tool_format(text, "", ""), *save = NULL;
  for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) upcc_add(l, w);
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* -T N in its spellings; whether it was one. */
static bool set_threads(struct upcc *u, const char *s, const char *value) {
  static const char *const prefixes[] = {
      "-T=",        "-T",         "--threads=",    "-threads=", "-fupc-threads-", "-fupc-threads=",
      "-fthreads-", "-fthreads=", "-qupc=threads="};
  const char *number = NULL;
  for (size_t i = 0; !number && i < sizeof prefixes / sizeof prefixes[0]; i++)
    if (starts(s, prefixes[i])) number = s + strlen(prefixes[i]);
  const char *behind = s + 2; /* -X N, -XN of Cray's compilers, beside -Xlinker */
  if (starts(s, "-X") && is_digit(*behind ? *behind : value ? *value : 0)) number = behind;
  if (!number) return false;
  if (!*number) number = value ? value : "";
  char *end;
  const long n = strtol(number, &end, 10);
  if (*end || end == number || n < 1 || n > 1 << 20) {
    tmb_print("upcc: %s %s: the number of threads is from 1 to 1048576", s, number);
    exit(TOOL_EXIT_USAGE);
  }
  u->threads = n;
  return true;
}

/* Options that change the work of upcc; returns whether it was one. */
static bool own_option(struct upcc *u, const char *s) {
  static const struct {
    const char *name;
    enum upcc_stop stop;
  } stops[] = {{"-c", UPCC_OBJECT},         {"-S", UPCC_ASSEMBLER},     {"-E", UPCC_PREPROCESSED},
               {"-M", UPCC_PREPROCESSED},   {"-MM", UPCC_PREPROCESSED}, {"-trans", UPCC_TRANSLATED},
               {"--trans", UPCC_TRANSLATED}};
  const struct {
    const char *name;
    bool *flag;
  } flags[] = {{"-save-temps", &u->keep},
               {"-save-all-temps", &u->keep},
               {"--show", &u->only_show},
               {"-show", &u->only_show},
               {"-v", &u->verbose},
               {"-vv", &u->verbose},
               {"--berkeley", &u->berkeley},
               {"--check", &u->check},
               {"-extern-main", &u->extern_main},
               {"--extern-main", &u->extern_main}};
  for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++)
    if (!strcmp(s, stops[i].name)) {
      u->stop = stops[i].stop;
      if (starts(s, "-M")) upcc_add(&u->preprocess, s);
      return true;
    }
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (!strcmp(s, flags[i].name)) return *flags[i].flag = true;
  if (starts(s, "--compiler="))
    u->compiler = s + 11;
  else if (!strcmp(s, "--pointers=wide") || !strcmp(s, "--pointers=packed"))
    u->wide = s[11] == 'w';
  else if (starts(s, "-Wp,"))
    add_split(&u->preprocess, s + 4);
  else if (starts(s, "-Wc,"))
    add_split(&u->compile, s + 4);
  else
    return false;
  return true;
}

/* Whether an option begins with one of the texts of a list. */
static bool among(const char *s, const char *const *list) {
  for (; *list; list++)
    if (starts(s, *list)) return true;
  return false;
}

/* To which steps a C compiler's option goes. */
static void pass_option(struct upcc *u, const char *s, const char *value) {
  static const char *const of_preprocessor[] = {"-I", "-D", "-U", "-i", "-M", "-Xpreprocessor",
                                                NULL};
  static const char *const of_linker[] = {"-L",      "-l", "-Wl,",   "-Xlinker",
                                          "-static", "-u", "-rpath", NULL};
  /* Also -f and -w: macros of the compiler speak of -ffast-math, -fno-pie, ... */
  static const char *const of_all[] = {"-std=", "-ansi",    "-trigraphs", "-m", "-O",
                                       "-f",    "-pthread", "-w",         "-W", NULL};
  struct upcc_list *to[3] = {&u->compile, &u->link, NULL};
  if (among(s, of_preprocessor))
    to[0] = &u->preprocess, to[1] = NULL;
  else if (among(s, of_linker) || !strcmp(s, "-s"))
    to[0] = &u->link, to[1] = NULL;
  else if (among(s, of_all))
    to[2] = &u->preprocess;
  for (int i = 0; i < 3; i++) {
    if (!to[i]) continue;
    upcc_add(to[i], s);
    if (value) upcc_add(to[i], value);
  }
}

/* Whether a name ends with one of the texts of a list. */
static bool among_ends(const char *s, const char *const *list) {
  for (; *list; list++)
    if (ends(s, *list)) return true;
  return false;
}

static void add_file(struct upcc *u, const char *s) {
  static const char *const suffixes[] = {".upc", ".c", ".upcc", ".i", ".upci", NULL};
  u->files++;
  if (among_ends(s, suffixes) || u->all_upc || u->all_preprocessed) {
    upcc_add(&u->sources, s);
    upcc_add(&u->link, NULL); /* its object's place */
    return;
  }
  upcc_add(&u->link, s);
}

/* Whether an option of older drivers is ignored together with the argument behind it. */
static bool ignored_with_value(const char *s, const char *next) {
  if (!next) return false;
  if (!strcmp(s, "-h")) return !strcmp(next, "upc");
  return is_digit(*next) && (!strcmp(s, "-shared-heap") || !strcmp(s, "-shared-heap-max") ||
                             !strcmp(s, "-heap-offset"));
}

/* The file behind -o. */
static void set_output(struct upcc *u, const char *next) {
  if (!next) {
    tmb_print("upcc: -o: the name of the file is missing");
    exit(TOOL_EXIT_USAGE);
  }
  u->output = next;
}

/* One option, maybe with the argument behind it. Returns how many arguments it was. */
static int read_option(struct upcc *u, const char *s, const char *next) {
  if (!strcmp(s, "-o")) {
    set_output(u, next);
    return 2;
  }
  if (!strcmp(s, "-x") && next) {
    u->all_upc = !strcmp(next, "upc") || !strcmp(next, "c");
    u->all_preprocessed = !strcmp(next, "cpp-output");
    return 2;
  }
  if (set_threads(u, s, next)) return s[2] ? 1 : 2;
  if (ignored_with_value(s, next)) return 2;
  if (own_option(u, s) || is_ignored(s)) return 1;
  const bool two = takes_value(s) && next;
  if (!strncmp(s, "-l", 2)) u->files++;
  pass_option(u, s, two ? next : NULL);
  return two ? 2 : 1;
}

/* The arguments with the words of UPCC_FLAGS in front; *argc is their number. */
static char **with_flags(int *argc, char **argv) {
  const char *flags = tmb_env_get("UPCC_FLAGS");
  if (!flags || !*flags) return argv;
  struct upcc_list l = {0};
  char *copy = tool_format(flags, "", ""), *save = NULL;
  upcc_add(&l, argv[0]);
  for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) upcc_add(&l, w);
  for (int i = 1; i < *argc; i++) upcc_add(&l, argv[i]);
  *argc = (int)l.count;
  return (char **)(uintptr_t)l.words;
}

static void read_arguments(struct upcc *u, int argc, char **argv) {
  for (int i = 1; i < argc;) {
    const char *s = argv[i];
    if (s[0] == '-' && s[1]) {
      i += read_option(u, s, i + 1 < argc ? argv[i + 1] : NULL);
    } else {
      add_file(u, s);
      i++;
    }
  }
}

/* --help and --version, wherever they stand; whether one was there. */
static bool answers(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *s = argv[i];
    const bool of_cray = ignored_with_value(s, argv[i + 1]); /* -h upc */
    if (!strcmp(s, "--help") || (!strcmp(s, "-h") && !of_cray) || !strcmp(s, "-help")) {
      fputs(usage, stdout);
      return true;
    }
    if (!strcmp(s, "--version") || !strcmp(s, "-version") || !strcmp(s, "-V")) {
      puts(tool_version());
      return true;
    }
  }
  return false;
}

int tool_upcc_main(int argc, char **argv) {
  struct upcc u = {.stop = UPCC_PROGRAM, .compiler = tmb_env_get("TOMBOLO_UPC_CC")};
  const char *fixed = tmb_env_get("UPCC_FIXED_THREADS");
  if (fixed && *fixed) set_threads(&u, "-T", fixed);
  if (answers(argc, argv)) return 0;
  if (argc == 1) {
    fputs(usage, stderr);
    return TOOL_EXIT_USAGE;
  }
  if (!upcc_find_folders(&u)) return TOOL_EXIT_FAILED;
  if (!strcmp(argv[1], "-print-include-dir")) {
    puts(u.headers);
    return 0;
  }
  argv = with_flags(&argc, argv);
  read_arguments(&u, argc, argv);
  if (!u.compiler || !*u.compiler) u.compiler = "cc";
  return upcc_build(&u);
}
