/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of `tombolo upcc`: preprocess, translate, compile; upcc_link.c links.
 *
 * Called by upcc.c. Calls: the C compiler and upc1 as processes. Invariants: a step that fails ends
 * the work with its exit code; nothing is left in the temporary folder.
 */
#define _GNU_SOURCE
#include "upcc/upcc.h"

#include "base/config.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

bool upcc_find_folders(struct upcc *u) {
  if (!tool_libraries()) {
    tmb_print("upcc: /proc/self/exe: %s", strerror(errno));
    return false;
  }
  u->upc1 = tool_format(tool_root(), "/libexec/tombolo/upc1", "");
  u->libraries = tool_libraries();
  u->support = tool_format(u->libraries, "/tombolo/upc", "");
  u->headers = tool_format(u->support, "/include", "");
  if (access(u->upc1, X_OK) == 0) return true;
  tmb_print(
      "upcc: %s: %s; `make build` makes it, `make install` installs it, unless TMB_UPC is OFF",
      u->upc1, strerror(errno));
  return false;
}

/* The file's name without folder and suffix, with another suffix, in a folder. */
static char *derived(const char *folder, const char *source, const char *suffix) {
  const char *slash = strrchr(source, '/');
  char *name = tool_format(slash ? slash + 1 : source, "", "");
  char *dot = strrchr(name, '.');
  if (dot) *dot = '\0';
  char *path = *folder ? tool_format(folder, "/", name) : tool_format(name, "", "");
  return tool_format(path, suffix, "");
}

static void define_macros(const struct upcc *u, struct upcc_list *l) {
  static const char *const macros[] = {
      "-D__UPC__=1",
      "-D__UPC_VERSION__=201311L",
      "-D__UPC_COLLECTIVE__=1",
      "-D__UPC_TICK__=1",
      "-D__UPC_ATOMIC__=1",
      "-D__UPC_CASTABLE__=1",
      "-D__UPC_NB__=1",
      "-D__UPC_IO__=2",
      "-D__TOMBOLO_UPC__=1",
  };
  /* Programs reach the functions with bupc_ only under these, and ask for a version from 2.4 to
   * 2.20 at most. */
  static const char *const of_berkeley[] = {
      "-D__BERKELEY_UPC__=2",
      "-D__BERKELEY_UPC_MINOR__=28",
      "-D__BERKELEY_UPC_PATCHLEVEL__=0",
      "-D__BERKELEY_UPC_RUNTIME__=1",
      "-D__BERKELEY_UPC_RUNTIME_RELEASE__=2",
      "-D__BERKELEY_UPC_RUNTIME_RELEASE_MINOR__=28",
      "-D__BERKELEY_UPC_RUNTIME_RELEASE_PATCHLEVEL__=0",
  };
  for (size_t i = 0; i < sizeof macros / sizeof macros[0]; i++) upcc_add(l, macros[i]);
  upcc_add(l, u->wide ? "-DUPC_MAX_BLOCK_SIZE=2147483647" : "-DUPC_MAX_BLOCK_SIZE=1048575");
  if (u->wide) upcc_add(l, "-DUPCR_WIDE=1");
  if (u->check) upcc_add(l, "-DUPCR_CHECK=1");
  for (size_t i = 0; u->berkeley && i < sizeof of_berkeley / sizeof of_berkeley[0]; i++)
    upcc_add(l, of_berkeley[i]);
  if (!u->threads) {
    upcc_add(l, "-D__UPC_DYNAMIC_THREADS__=1");
    return;
  }
  char number[32];
  snprintf(number, sizeof number, "%ld", u->threads);
  upcc_add(l, "-D__UPC_STATIC_THREADS__=1");
  upcc_add(l, tool_format("-DTHREADS=", number, ""));
  upcc_add(l, tool_format("-DUPCR_STATIC_THREADS=", number, ""));
}

/* Whether the preprocessor gets this option. */
static bool preprocesses_with(const struct upcc *u, const char *option) {
  for (size_t i = 0; i < u->preprocess.count; i++)
    if (!strcmp(u->preprocess.words[i], option)) return true;
  return false;
}

/* Place of the list of headers that -MD and -MMD ask for, and its target: beside the object, as
 * from the C compiler in one step. */
static void name_dependencies(const struct upcc *u, const char *object, struct upcc_list *l) {
  if (!preprocesses_with(u, "-MD") && !preprocesses_with(u, "-MMD")) return;
  if (!preprocesses_with(u, "-MF")) {
    const char *slash = strrchr(object, '/'), *dot = strrchr(object, '.');
    const size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - object) : strlen(object);
    char *path = tool_format(object, "  ", "");
    memcpy(path + stem, ".d", sizeof ".d");
    upcc_add(l, "-MF");
    upcc_add(l, path);
  }
  if (preprocesses_with(u, "-MT") || preprocesses_with(u, "-MQ")) return;
  upcc_add(l, "-MQ");
  upcc_add(l, object);
}

static bool ends(const char *source, const char *suffix) {
  const size_t length = strlen(source), n = strlen(suffix);
  return length > n && strcmp(source + length - n, suffix) == 0;
}

/* Whether a source is output of -E or -save-temps. */
static bool is_preprocessed(const struct upcc *u, const char *source) {
  return u->all_preprocessed || ends(source, ".i") || ends(source, ".upci");
}

/* The folder of a file. */
static char *folder_beside(const char *source) {
  char *folder = tool_format(source, "", "");
  char *slash = strrchr(folder, '/');
  if (!slash) return tool_format(".", "", "");
  slash[slash == folder] = '\0';
  return folder;
}

/* Headers beside the source are found by #include <> behind all others, as by older drivers. Not
 * where an option names that folder: the C compiler would search it here only. */
static void add_folder_of(const struct upcc *u, const char *source, struct upcc_list *l) {
  char *folder = folder_beside(source);
  struct stat own, other;
  if (stat(folder, &own) != 0) return;
  for (size_t i = 0; i < u->preprocess.count; i++) {
    const char *word = u->preprocess.words[i];
    if (word[0] == '-' && word[1] == 'I') word += 2;
    if (stat(word, &other) == 0 && other.st_dev == own.st_dev && other.st_ino == own.st_ino) return;
  }
  upcc_add(l, "-idirafter");
  upcc_add(l, folder);
}

/* in object: the source's own, beside which its list of headers goes, or NULL. A preprocessed
 * source stays as it is: it has the macros and headers of UPC. */
static int preprocess(const struct upcc *u, const char *source, const char *output,
                      const char *object) {
  struct upcc_list l = {0};
  upcc_add(&l, u->compiler);
  upcc_add(&l, "-std=gnu17");
  upcc_add(&l, "-E");
  upcc_add(&l, "-x");
  upcc_add(&l, "c");
  if (!is_preprocessed(u, source)) {
    define_macros(u, &l);
    upcc_add(&l, "-include");
    upcc_add(&l, tool_format(u->headers, "/upcr.h", ""));
    upcc_add_list(&l, &u->preprocess);
    if (object) name_dependencies(u, object, &l);
    upcc_add(&l, "-I");
    upcc_add(&l, u->headers);
    add_folder_of(u, source, &l);
  }
  upcc_add(&l, source);
  if (output) {
    upcc_add(&l, "-o");
    upcc_add(&l, output);
  }
  return upcc_run(u, &l);
}

/* Options of the C compiler that the translator needs as well. */
static void translator_options(const struct upcc *u, struct upcc_list *l) {
  static const char *const same[] = {"-w", "-Werror", "-pedantic-errors"};
  const char *level = "", *standard = "";
  for (size_t i = 0; i < u->compile.count; i++) {
    const char *word = u->compile.words[i];
    if (!strncmp(word, "-O", 2)) level = word;
    if (!strncmp(word, "-std=", 5)) standard = word;
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++)
      if (!strcmp(word, same[k])) upcc_add(l, word);
  }
  if (!strcmp(level, "-O0")) upcc_add(l, level);
  if (strstr(standard, "2x") || strstr(standard, "23") || strstr(standard, "2y"))
    upcc_add(l, "-c23");
}

static int translate(const struct upcc *u, const char *input, const char *output) {
  struct upcc_list l = {0};
  upcc_add(&l, u->upc1);
  upcc_add(&l, "-upc-headers");
  upcc_add(&l, u->headers);
  if (u->wide) upcc_add(&l, "-wide");
  translator_options(u, &l);
  if (u->threads) {
    char number[32];
    snprintf(number, sizeof number, "%ld", u->threads);
    upcc_add(&l, "-T");
    upcc_add(&l, tool_format(number, "", ""));
  }
  upcc_add(&l, "-o");
  upcc_add(&l, output);
  upcc_add(&l, input);
  return upcc_run(u, &l);
}

/* Whether the name of a command's file, behind links, has a word. */
static bool file_has(const char *path, const char *word) {
  char file[PATH_MAX];
  if (access(path, X_OK) != 0 || !realpath(path, file)) return false;
  const char *slash = strrchr(file, '/');
  return strstr(slash ? slash : file, word) != NULL;
}

/* Whether a command that is looked for as the shell does has a word. */
static bool command_has(const char *command, const char *word) {
  if (strchr(command, '/')) return file_has(command, word);
  const char *folder = tmb_env_get("PATH");
  while (folder && *folder) {
    const size_t n = strcspn(folder, ":");
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/%s", (int)n, folder, command);
    if (access(path, X_OK) == 0) return file_has(path, word);
    folder += n + (folder[n] == ':');
  }
  return false;
}

/* In version 5 of DWARF addr2line of binutils 2.40 names FILE.trans.c for the file with number 1.
 */
static void debug_options(const struct upcc *u, struct upcc_list *l) {
  bool wanted = u->check;
  for (size_t i = 0; i < u->compile.count; i++)
    wanted = wanted || !strncmp(u->compile.words[i], "-g", 2);
  if (command_has(u->compiler, "clang"))
    upcc_add(l, "-fdebug-default-version=4");
  else if (wanted)
    upcc_add(l, "-gdwarf-4");
}

/* The C compiler's options for the translator's output, which is GNU C of 1999 or later; programs
 * of the older C are taken as the compilers of their time took them. */
static void compile_options(const struct upcc *u, struct upcc_list *l) {
  static const char *const lenient[] = {"-Wno-error=implicit-function-declaration",
                                        "-Wno-error=implicit-int", "-Wno-error=int-conversion",
                                        "-Wno-error=incompatible-pointer-types"};
  bool is_strict = false, is_old = false;
  for (size_t i = 0; i < u->compile.count; i++) {
    const char *word = u->compile.words[i];
    is_strict = is_strict || !strcmp(word, "-Werror");
    if (!strcmp(word, "-ansi") || !strncmp(word, "-std=", 5))
      is_old = !strcmp(word, "-ansi") || strstr(word, "89") || strstr(word, "90");
  }
  upcc_add(l, "-std=gnu17");
  if (u->berkeley) upcc_add(l, "-fcommon"); /* as compilers did at the time of such programs */
  /* Not the default on every processor; without, the line of a wrong call cannot be named. */
  upcc_add(l, "-fasynchronous-unwind-tables");
  /* At -O2 GCC vectorises only loops of known lengths; a thread's share has none. */
  if (command_has(u->compiler, "gcc")) upcc_add(l, "-fvect-cost-model=dynamic");
  debug_options(u, l);
  for (size_t i = 0; !is_strict && i < sizeof lenient / sizeof lenient[0]; i++)
    upcc_add(l, lenient[i]);
  for (size_t i = 0; i < u->compile.count; i++)
    if (strncmp(u->compile.words[i], "-pedantic", 9) != 0) upcc_add(l, u->compile.words[i]);
  if (is_old) { /* the translator's output needs C99; `inline` keeps its older meaning */
    upcc_add(l, "-std=gnu17");
    upcc_add(l, "-fgnu89-inline");
  }
  upcc_add(l, "-Wno-unused-value");
}

/* Whether what is compiled may become part of a shared library. */
static bool may_be_shared(const struct upcc *u) {
  for (size_t i = 0; i < u->compile.count; i++)
    if (!strcmp(u->compile.words[i], "-fPIC") || !strcmp(u->compile.words[i], "-fpic")) return true;
  for (size_t i = 0; i < u->link.count; i++)
    if (u->link.words[i] && !strcmp(u->link.words[i], "-shared")) return true;
  return false;
}

/* Options that name loads and stores to the checker. */
static void check_options(const struct upcc *u, struct upcc_list *l) {
  upcc_add(l, "-g");
  upcc_add(l, "-fsanitize=thread");
  upcc_add(l, "-fno-optimize-sibling-calls"); /* a call that ends a function keeps its line */
  if (command_has(u->compiler, "clang")) {
    upcc_add(l, "-mllvm");
    upcc_add(l, "-tsan-instrument-func-entry-exit=0");
    upcc_add(l, "-mllvm");
    upcc_add(l, "-tsan-distinguish-volatile=1");
  } else {
    upcc_add(l, "-Wno-tsan");
    upcc_add(l, "--param=tsan-instrument-func-entry-exit=0");
    upcc_add(l, "--param=tsan-distinguish-volatile=1");
  }
  char *const file = tool_format(u->libraries, "/tombolo/check/inline.s", "");
  if (command_has(u->compiler, "clang") || access(file, R_OK) != 0) return;
  if (may_be_shared(u)) {
    upcc_add(l, "-Xassembler");
    upcc_add(l, tool_format(u->libraries, "/tombolo/check/shared.s", ""));
  }
  upcc_add(l, "-Xassembler"); /* most loads and stores are seen without a call */
  upcc_add(l, file);
}

static int compile(const struct upcc *u, const char *input, const char *output) {
  struct upcc_list l = {0};
  upcc_add(&l, u->compiler);
  compile_options(u, &l);
  if (u->check) check_options(u, &l);
  upcc_add(&l, "-x");
  upcc_add(&l, "cpp-output");
  upcc_add(&l, u->stop == UPCC_ASSEMBLER ? "-S" : "-c");
  upcc_add(&l, input);
  upcc_add(&l, "-o");
  upcc_add(&l, output);
  return upcc_run(u, &l);
}

/* The temporary folder of source number i: sources of different folders may have one name. */
static char *folder_of(const struct upcc *u, size_t i) {
  char number[32];
  snprintf(number, sizeof number, "%zu", i);
  return tool_format(u->temporary, "/", number);
}

/* Files between one source and its object. */
struct files {
  const char *preprocessed, *c, *object;
};

static struct files name_files(const struct upcc *u, const char *source, const char *folder) {
  const bool only_c = u->stop == UPCC_TRANSLATED;
  const bool final = u->stop == UPCC_OBJECT || u->stop == UPCC_ASSEMBLER;
  struct files f;
  f.preprocessed = derived(u->keep ? "" : folder, source, ".i");
  f.c = derived(u->keep || only_c ? "" : folder, source, ".trans.c");
  if (only_c && u->output) f.c = u->output;
  f.object = derived(final ? "" : folder, source, u->stop == UPCC_ASSEMBLER ? ".s" : ".o");
  if (final && u->output) f.object = u->output;
  return f;
}

/* Compiles one source to the requested form; *object is the file for the linker. */
static int build_source(const struct upcc *u, size_t i, const char **object) {
  const char *source = u->sources.words[i], *folder = folder_of(u, i);
  if (u->stop == UPCC_PREPROCESSED) return preprocess(u, source, u->output, NULL);
  if (!u->only_show && mkdir(folder, 0700) != 0) {
    tmb_print("upcc: %s: %s", folder, strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  struct files f = name_files(u, source, folder);
  *object = f.object;
  if (ends(source, ".trans.c"))
    return u->stop == UPCC_TRANSLATED ? 0 : compile(u, source, f.object);
  const char *beside = u->stop == UPCC_PROGRAM ? derived("", source, ".o") : f.object;
  int code = 0;
  if (is_preprocessed(u, source))
    f.preprocessed = source;
  else
    code = preprocess(u, source, f.preprocessed, beside);
  if (!code) code = translate(u, f.preprocessed, f.c);
  if (!code && u->stop != UPCC_TRANSLATED) code = compile(u, f.c, f.object);
  return code;
}

static void remove_temporary(const struct upcc *u) {
  if (!u->temporary || u->only_show) return;
  static const char *const suffixes[] = {".i", ".trans.c", ".o", ".s"};
  for (size_t i = 0; i < u->sources.count; i++) {
    for (size_t k = 0; k < sizeof suffixes / sizeof suffixes[0]; k++)
      unlink(derived(folder_of(u, i), u->sources.words[i], suffixes[k]));
    rmdir(folder_of(u, i));
  }
  rmdir(u->temporary);
}

int upcc_build(struct upcc *u) {
  if (u->files == 0) {
    tmb_print("upcc: no input files");
    return TOOL_EXIT_USAGE;
  }
  if (u->output && u->stop != UPCC_PROGRAM && u->sources.count > 1) {
    tmb_print("upcc: -o %s: one file for what becomes of %zu sources; leave -o out, or compile one "
              "by one",
              u->output, u->sources.count);
    return TOOL_EXIT_USAGE;
  }
  const char *tmp = tmb_env_get("TMPDIR");
  if (!tmp || access(tmp, W_OK) != 0) tmp = "/tmp";
  const char **objects = calloc(u->sources.count + 1, sizeof *objects);
  u->temporary = tool_format(tmp, "/upcc-XXXXXX", "");
  if (!objects || (!u->only_show && !mkdtemp(u->temporary))) {
    tmb_print("upcc: cannot make a temporary folder %s: %s", u->temporary, strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  int code = 0;
  for (size_t i = 0; i < u->sources.count && !code; i++) code = build_source(u, i, &objects[i]);
  if (!code && u->stop == UPCC_PROGRAM) code = upcc_link(u, objects);
  remove_temporary(u);
  free(objects);
  return code;
}
