/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the command, and with it the installation or the build tree, is; and other programs.
 *
 * Owns: both paths. Called by the commands. Calls: /proc/self/exe, PATH. Invariant: what is
 * installed is found beside the command, also where it was moved, or installed with another prefix
 * than that of the build. A Python wheel has its libraries in _lib.
 */
#define _GNU_SOURCE
#include "tool.h"

#include "base/config.h"
#include "build_info.h"

#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *tool_root(void) {
  static char path[PATH_MAX];
  static const char *root;
  if (root) return root;
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  return root = dirname(dirname(path));
}

const char *tool_libraries(void) {
  static const char *folder;
  if (folder || !tool_root()) return folder;
  const char *const installed = tool_format(tool_root(), "/" TMB_LIBRARY_FOLDER, "");
  const bool there = access(tool_format(installed, "/libtombolo.so", ""), R_OK) == 0;
  char *const of_wheel = tool_format(tool_root(), "/_lib", "");
  if (!there && access(of_wheel, R_OK) == 0) return folder = of_wheel;
  return folder = there ? installed : tool_format(tool_root(), "/lib", "");
}

bool tool_program_exists(const char *command) {
  char path[PATH_MAX];
  command += strspn(command, " \t");
  const int length = (int)strcspn(command, " \t");
  if (memchr(command, '/', (size_t)length))
    return snprintf(path, sizeof path, "%.*s", length, command) < PATH_MAX &&
           access(path, X_OK) == 0;
  const char *dirs = tmb_env_get("PATH");
  if (!dirs) dirs = "/bin:/usr/bin"; /* as execvp */
  for (size_t n; length && (n = strcspn(dirs, ":"), n || *dirs); dirs += n + (dirs[n] == ':'))
    if (n && snprintf(path, sizeof path, "%.*s/%.*s", (int)n, dirs, length, command) < PATH_MAX &&
        access(path, X_OK) == 0)
      return true;
  return false;
}
