/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run`: finding the program, and becoming it in a forked rank.
 *
 * Owns: nothing. Called by run.c. Calls: boot/launch, base, libc.
 * Invariants: a program that cannot be run is refused before any rank exists; a later failure is
 * reported by rank 0 only.
 */
#define _GNU_SOURCE
#include "ranks/run.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"
#include "boot/page/ctl.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Returns 0 if `path` can be executed, else an errno. */
static int check_program(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0) return errno;
  if (S_ISDIR(st.st_mode)) return EISDIR;
  return access(path, X_OK) == 0 ? 0 : errno;
}

static const char *search_path(void) {
  const char *dirs = tmb_env_get("PATH");
  return dirs ? dirs : "/usr/local/bin:/usr/bin:/bin";
}

/* Says where a program was looked for. */
static void refuse_missing(const char *name) {
  char folder[PATH_MAX];
  if (!strchr(name, '/'))
    tmb_print("run: program '%s' not found in PATH (%s); a program in this folder is './NAME'",
              name, search_path());
  else if (name[0] == '/' || !getcwd(folder, sizeof folder))
    tmb_print("run: program '%s' not found", name);
  else
    tmb_print("run: program '%s' not found in folder %s; it can be chosen by --cwd", name, folder);
}

/* Remedy for a file that nobody may execute: most are sources. */
#define BY(tool) "; compile this source by tombolo " tool
static const char *remedy_of_file(const char *name) {
  static const struct {
    const char *ending, *remedy;
  } all[] = {
      {".c", BY("cc")},     {".cc", BY("c++")},
      {".cpp", BY("c++")},  {".cxx", BY("c++")},
      {".f90", BY("fc")},   {".F90", BY("fc")},
      {".upc", BY("upcc")}, {".py", "; give it to Python: python3 -m tombolo run"},
  };
  const char *ending = strrchr(name, '.');
  for (size_t i = 0; ending && i < TMB_ARRAY_LEN(all); i++)
    if (strcmp(ending, all[i].ending) == 0) return all[i].remedy;
  return "; make it executable with chmod +x";
}

/* Remedy against EACCES. in name: a path, or a name that PATH has found. */
static const char *remedy_of(const char *name) {
  struct stat st;
  struct statvfs fs;
  if (!strchr(name, '/')) return "; make the file in PATH executable with chmod +x";
  if (stat(name, &st) != 0) return "; a folder of the path may not be entered by this user";
  if (!(st.st_mode & 0111)) return remedy_of_file(name);
  if (statvfs(name, &fs) == 0 && fs.f_flag & ST_NOEXEC)
    return "; its file system is mounted with noexec: copy it to another one";
  return "; it may be executed by its owner or group only";
}

static int refuse(const char *name, int err) {
  if (err == ENOENT || err == ENOTDIR) {
    refuse_missing(name);
    return TOOL_EXIT_NOT_FOUND;
  }
  tmb_print("run: program '%s' cannot be executed: %s%s", name, strerror(err),
            err == EACCES ? remedy_of(name) : "");
  return TOOL_EXIT_NOT_EXECUTABLE;
}

int run_resolve(const char *name, char **path) {
  if (strchr(name, '/')) {
    const int err = check_program(name);
    if (err) return refuse(name, err);
    *path = strdup(name);
    return *path ? 0 : refuse(name, ENOMEM);
  }
  int worst = ENOENT;
  const char *dirs = search_path();
  while (*name) {
    const size_t length = strcspn(dirs, ":");
    char *candidate = NULL;
    if (asprintf(&candidate, "%.*s%s%s", (int)length, dirs, length ? "/" : "./", name) < 0)
      return refuse(name, ENOMEM);
    const int err = check_program(candidate);
    if (err == 0) {
      *path = candidate;
      return 0;
    }
    free(candidate);
    if (err != ENOENT && err != ENOTDIR) worst = err;
    if (dirs[length] == '\0') break;
    dirs += length + 1;
  }
  return refuse(name, worst);
}

void run_exec(struct run *run, uint32_t rank) {
  const uint32_t index = tmb_ctl_record_of(run->launch.ctl)[rank];
  if (run->in_child) run->in_child(run, rank);
  if (run->cpus && sched_setaffinity(0, sizeof run->cpus[index], &run->cpus[index]) != 0)
    tmb_warn("rank %u could not be bound to its processors: %s", rank, strerror(errno));
  setrlimit(RLIMIT_NOFILE, &run->files);
  if (tmb_launch_pass(&run->launch, rank) != 0) {
    if (rank == 0) tmb_print("run: cannot pass the job's descriptors: %s", strerror(errno));
    _exit(TOOL_EXIT_NOT_EXECUTABLE);
  }
  char **const argv = replay_only_child(&run->options.replay, rank, run->options.argv);
  if (argv) execvp(argv == run->options.argv ? run->program : argv[0], argv);
  const int err = errno;
  if (rank == 0 || argv != run->options.argv) refuse(argv ? argv[0] : "", err);
  _exit(err == ENOENT ? TOOL_EXIT_NOT_FOUND : TOOL_EXIT_NOT_EXECUTABLE);
}
