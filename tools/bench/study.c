/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo study`: hands over to bench/study.py, which measures everything and writes one report.
 *
 * Owns: the help text. Called by main.c. Calls: execvp of python3. The script lies below the
 * installation or build tree in share/tombolo/study, in a build tree by a link to the sources.
 * Invariants: arguments go to the script unchanged and in order, behind the tree that is measured;
 * the script checks them. Exit codes: those of the script; 1 where it cannot be started.
 */
#include "tool.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "Usage: tombolo study [OPTIONS] [PART...]\n\n"
    "Measures this library beside the limits of the machine and beside MPI and other libraries,\n"
    "and writes study/report.html with every figure. An interrupted run continues where it\n"
    "stopped. Without PART: all parts.\n\n"
    "  --quick            fewer rounds and figures: 6 minutes (default: an hour)\n"
    "  --docs             only the parts of docs/figures: 25 minutes\n"
    "  --hosts=LIST       run the applications on these hosts: A,B (default: this machine)\n"
    "  --ranks=LIST       numbers of ranks (default 1,2,4,8)\n"
    "  --rounds=N         runs of each side (default: by part)\n"
    "  --timeout=SECONDS  end a part after this time and keep its figures (default: by part)\n"
    "  --out=DIR          folder of the report (default study)\n"
    "  --fresh            start again instead of continuing an interrupted run\n"
    "  --help             print this text\n\n"
    "Parts: pipeline, events, stencil, hydro, hosts, matmul, cholesky, diagrams, ft1, ft2d, ft,\n"
    "ops, opsfar, opsofi, opsmpi, overlap, overlapnet, forms, coll, coll4, upc, fetchadd, start,\n"
    "silent, rails, sim, bench, apps, apps4, caf, net, apps4hosts, cells. A figure of\n"
    "docs/FIGURES.md names its parts. --quick and --docs leave some of them out.\n"
    "The study needs python3; drawings need python3-matplotlib. The report names the libraries\n"
    "that are not installed.\n\n"
    "Example: tombolo study --quick pipeline ops\n";

/* Replaces this process by the script. Returns after a message. */
static int start(const char *tree, const char *script, int argc, char **argv) {
  const char **words = calloc((size_t)argc + 4, sizeof *words);
  if (!words) {
    tmb_print("study: out of memory");
    return TOOL_EXIT_FAILED;
  }
  int count = 0;
  words[count++] = "python3";
  words[count++] = script;
  words[count++] = "--build";
  words[count++] = tree;
  for (int i = 1; i < argc; i++) words[count++] = argv[i];
  execvp(words[0], (char **)(uintptr_t)words);
  tmb_print("study: python3 cannot be started: %s; %s", strerror(errno),
            errno == ENOENT ? "install it, or put its folder into PATH"
                            : "the first python3 of PATH must be a program that this user may run");
  free(words);
  return TOOL_EXIT_FAILED;
}

int tool_study_main(int argc, char **argv) {
  char tree[PATH_MAX], script[PATH_MAX + 64];
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(usage, stdout);
      return 0;
    }
  snprintf(tree, sizeof tree, "%s", tmb_os_exe_name());
  if (!tree[0]) {
    tmb_print("study: the path of this command is not known: is /proc mounted?");
    return TOOL_EXIT_FAILED;
  }
  char *const root = dirname(dirname(tree));
  snprintf(script, sizeof script, "%s/share/tombolo/study/bench/study.py", root);
  if (access(script, R_OK)) {
    tmb_print("study: cannot find %s: %s; install the measuring programs too (TMB_BENCH=ON)",
              script, strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  return start(root, script, argc, argv);
}
