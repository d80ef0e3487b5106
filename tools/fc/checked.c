/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of `tombolo cc --check` and its relatives, see command.h.
 *
 * Owns nothing. Called by cc.c and fc.c. The compiler is asked for ThreadSanitizer's calls, and the
 * program is linked with an archive of ours (check/client) in place of its run-time library. gcc
 * and gfortran link -ltsan themselves: the first folder that is searched has ours under that name.
 * For clang there is an option to link none.
 */
#include "fc/command.h"
#include "tool.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Folder of the archive, beside the library. */
static char *folder(void) {
  return tool_format(tool_libraries() ? tool_libraries() : "lib", "/tombolo/check", "");
}

/* Whether a compiler names itself clang. One that only a shell can read is taken by its name. */
static bool is_clang(const char *compiler) {
  char line[256] = "";
  if (strpbrk(compiler, "'\"\\`$;|&<>()")) return strstr(compiler, "clang") != NULL;
  FILE *const answer = popen(tool_format("exec ", compiler, " --version 2>/dev/null"), "r");
  if (!answer) return false;
  if (!fgets(line, sizeof line, answer)) *line = '\0';
  while (fgetc(answer) != EOF) continue; /* else it meets a broken pipe */
  pclose(answer);
  return strstr(line, "clang") != NULL;
}

/* Whether the assembler can read inline.s: the compiler's output is for x86-64, as it writes it. */
static bool is_inlined(const struct command *user, const char *file) {
  static const char *const others[] = {"-m32",      "-mx32",          "-masm=intel",    "-mcmodel=",
                                       "--target=", "-integrated-as", "-fintegrated-as"};
  if (access(file, R_OK) != 0) return false;
  for (int i = 0; i < user->argc; i++)
    for (size_t k = 0; user->argv[i] && k < sizeof others / sizeof *others; k++)
      if (strncmp(user->argv[i], others[k], strlen(others[k])) == 0) return false;
  return true;
}

/* Whether what is compiled may become part of a shared library. */
static bool may_be_shared(const struct command *user) {
  static const char *const options[] = {"-fPIC", "-fpic", "-shared", "--shared"};
  for (int i = 0; i < user->argc; i++)
    for (size_t k = 0; user->argv[i] && k < sizeof options / sizeof *options; k++)
      if (strcmp(user->argv[i], options[k]) == 0) return true;
  return false;
}

/* Most loads and stores are seen without a call, see check/client/inline.s. clang's vectors are of
 * 16 bytes, because it tells of none that is longer; copies of a loop's body have lines of their
 * own, so that neighbours would not be of one line. A loop of few rounds is unrolled as a whole,
 * for the one around it may then have vectors. */
static void add_inline(struct command *c, const struct command_checked *how, bool clang) {
  static char *const of_clang[] = {"-mllvm", "-unroll-runtime=0",
                                   "-mllvm", "-unroll-allow-partial=0",
                                   "-mllvm", "-force-vector-interleave=1"};
  char *const file = tool_format(folder(), "/inline.s", "");
  for (size_t i = 0; clang && i < sizeof of_clang / sizeof *of_clang; i++)
    command_add(c, of_clang[i]);
  if (!is_inlined(how->user, file)) return;
  if (clang) command_add(c, "-mprefer-vector-width=128");
  if (clang) command_add(c, "-fno-integrated-as");
  if (may_be_shared(how->user)) {
    command_add(c, "-Xassembler");
    command_add(c, tool_format(folder(), "/shared.s", ""));
  }
  command_add(c, "-Xassembler");
  command_add(c, file);
}

void command_check_before(struct command *c, const struct command_checked *how) {
  /* A call that ends a function keeps its line. */
  static char *const common[] = {"-g", "-fsanitize=thread", "-fno-optimize-sibling-calls"};
  static char *const of_c[] = {"-O1", /* without, lines are those of our inline functions */
                               "-fno-builtin-memcpy", "-fno-builtin-memmove",
                               "-fno-builtin-memset", /* calls, which the linker turns to ours */
                               "-DGEXX_FENCES_SEEN"}; /* calls, which orders threads */
  const bool clang = is_clang(how->compiler);
  for (size_t i = 0; i < sizeof common / sizeof *common; i++) command_add(c, common[i]);
  if (!clang) command_add(c, "-Wno-tsan"); /* our fences are seen */
  /* Nobody needs calls at the begin and end of functions. */
  if (clang) command_add(c, "-mllvm");
  command_add(c, clang ? "-tsan-instrument-func-entry-exit=0"
                       : "--param=tsan-instrument-func-entry-exit=0");
  /* Threads wait for others with volatile accesses. */
  if (clang) command_add(c, "-mllvm");
  command_add(c, clang ? "-tsan-distinguish-volatile=1" : "--param=tsan-distinguish-volatile=1");
  if (!clang) command_add(c, "-fno-ipa-sra"); /* else functions of headers have no names */
  for (size_t i = 0; how->is_c && i < sizeof of_c / sizeof *of_c; i++) command_add(c, of_c[i]);
  if (clang) command_add(c, "-fdebug-default-version=4"); /* else addr2line misses callers */
  if (how->is_c)
    command_add(c, "-DGEXX_INLINE=static __inline__ __attribute__((always_inline, unused))");
  add_inline(c, how, clang);
  if (!how->links) return;
  if (clang)
    command_add(c, "-fno-sanitize-link-runtime");
  else
    command_add(c, tool_format("-L", folder(), ""));
}

int command_check_behind(struct command *c, const struct command_checked *how) {
  if (!how->links) return 0;
  char *archive = tool_format(folder(), "/libtsan.a", "");
  if (command_is_static(c)) {
    tmb_print("%s: --check: the checker is loaded before a program, and nothing can be before a "
              "static one; link without -static",
              how->tool);
    return TOOL_EXIT_USAGE;
  }
  if (access(archive, R_OK) != 0) {
    tmb_print("%s: --check: %s: %s; install it beside the library", how->tool, archive,
              strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  command_add(c, "-Wl,--wrap=memcpy,--wrap=memmove,--wrap=memset");
  command_add(c, archive);
  return 0;
}
