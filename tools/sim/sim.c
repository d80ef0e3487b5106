/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo sim`: hands over to the simulator, which is a program of its own.
 *
 * Owns: where that program is. Called by main.c. Calls: execv. Invariants: nothing of SimGrid is in
 * this command; where the simulator was not built, the message names the missing package.
 */
#include "tool.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096

int tool_sim_main(int argc, char **argv) {
  /* In a build tree, where it is built; installed, with the other helpers. */
  static const char *const places[] = {"../sim/sim", "../libexec/tombolo/sim"};
  char path[PATH_BYTES];
  (void)argc;
  const char *self = tmb_os_exe_name();
  const char *slash = strrchr(self, '/');
  for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - self), self, places[i]);
    if (access(path, X_OK) != 0) continue;
    execv(path, argv);
    tmb_print("sim: %s: %s", path, strerror(errno));
    return TOOL_EXIT_NOT_EXECUTABLE;
  }
  tmb_print("sim: the simulator is not installed: it is built where SimGrid is (package "
            "libsimgrid-dev); install it and build again");
  return TOOL_EXIT_NOT_FOUND;
}
