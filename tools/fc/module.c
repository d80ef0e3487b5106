/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiles the modules prif and tombolo_caf, whose sources the installation has, at their first
 * use.
 *
 * Owns: folders tombolo/fortran/<compiler>-<key> in the user's cache. Called by fc.c. Calls the
 * compiler as a process. Invariants: the key changes with the compiler's version, the installation
 * and its sources; a folder gets its name when it is complete, so that concurrent commands do not
 * disturb each other; a compiler that fails leaves nothing.
 */
#define _GNU_SOURCE
#include "fc/module.h"

#include "tool.h"

#include "base/config.h"
#include "base/container/hash.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *join(const char *a, const char *b, const char *c) {
  const size_t room = strlen(a) + strlen(b) + strlen(c) + 1;
  char *const text = malloc(room);
  if (!text) abort();
  snprintf(text, room, "%s%s%s", a, b, c);
  return text;
}

/* Key of the module: compiler, place and state of the sources. */
static uint64_t key_of(const struct fc_compiler *compiler, const char *sources) {
  uint64_t hash = tmb_hash_text(tmb_hash_text(TMB_HASH_START, compiler->version), sources);
  struct dirent **entry = NULL;
  const int count = scandir(sources, &entry, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    char text[64];
    struct stat st;
    char *path = join(sources, "/", entry[i]->d_name);
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
      snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)st.st_size,
               (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
      hash = tmb_hash_text(tmb_hash_text(hash, entry[i]->d_name), text);
    }
    free(path);
    free(entry[i]);
  }
  free(entry);
  return hash;
}

/* Makes the folders above a path. */
static bool make_folders(const char *path) {
  char *part = join(path, "", "");
  bool made = true;
  for (char *p = strchr(part + 1, '/'); p && made; p = strchr(p + 1, '/')) {
    *p = '\0';
    made = mkdir(part, 0777) == 0 || errno == EEXIST;
    *p = '/';
  }
  free(part);
  return made;
}

static void remove_folder(const char *path) {
  DIR *folder = opendir(path);
  const struct dirent *entry;
  while (folder && (entry = readdir(folder)) != NULL)
    (void)unlinkat(dirfd(folder), entry->d_name, 0);
  if (folder) closedir(folder);
  rmdir(path);
}

/* Runs the compiler with its output in a file. ^C ends it, not this process, which cleans up.
 * Returns whether it has succeeded. */
static bool run(char *const *argv, const char *log) {
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
  int status = -1;
  sigaction(SIGINT, &ignore, &before);
  const pid_t pid = fork();
  if (pid == 0) {
    sigaction(SIGINT, &before, NULL);
    const int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd >= 0) dup2(fd, STDOUT_FILENO);
    if (fd >= 0) dup2(fd, STDERR_FILENO);
    execvp(argv[0], argv);
    _exit(TOOL_EXIT_NOT_FOUND);
  }
  const bool ended = pid > 0 && waitpid(pid, &status, 0) == pid;
  sigaction(SIGINT, &before, NULL);
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Compiles one source into a folder. */
static bool compile(const struct fc_compiler *compiler, const char *command, const char *sources,
                    const char *source, const char *folder) {
  char *input = join(sources, "/", source), *output = join(folder, "/", source);
  char *log = join(folder, "/", "log");
  memcpy(strrchr(output, '.'), ".o", sizeof ".o");
  const char *const argv[] = {command, "-O2", "-g",    "-fPIC",
                              "-w",    "-I",  sources, compiler->is_flang ? "-module-dir" : "-J",
                              folder,  "-c",  input,   "-o",
                              output,  NULL};
  const bool good = run((char *const *)(uintptr_t)argv, log) && access(output, R_OK) == 0;
  free(input);
  free(output);
  free(log);
  return good;
}

static void print_log(const char *folder) {
  char *path = join(folder, "/", "log"), line[512];
  FILE *log = fopen(path, "re");
  while (log && fgets(line, sizeof line, log)) fputs(line, stderr);
  if (log) fclose(log);
  free(path);
}

/* Compiles into a new folder, which then gets its name. Without tombolo_caf, which most programs do
 * not use, nothing is said. */
static bool make(const struct fc_compiler *compiler, const char *command, const char *sources,
                 const char *folder, const char *const *source) {
  const bool prif = source[1] != NULL;
  char *fresh = join(folder, ".", "XXXXXX");
  bool good = make_folders(folder) && mkdtemp(fresh) != NULL;
  if (!good) {
    if (prif)
      tmb_print("fc: the module prif for '%s' is compiled at its first use, into %s: %s; set "
                "XDG_CACHE_HOME to a folder that can be written",
                command, folder, strerror(errno));
    free(fresh);
    return false;
  }
  while (good && *source) good = compile(compiler, command, sources, *source++, fresh);
  if (!good) {
    if (prif) print_log(fresh);
    remove_folder(fresh);
    if (prif)
      tmb_print("fc: '%s' cannot compile the module prif, which %s has for it (docs/PRIF.md)",
                command, sources);
  } else if (rename(fresh, folder) != 0) {
    remove_folder(fresh); /* another command was faster */
  }
  free(fresh);
  return good;
}

char *fc_module_make(const struct fc_compiler *compiler, const char *command, const char *libraries,
                     bool prif) {
  static const char *const of_prif[] = {"tombolo_prif.F90", "prif.f90", NULL};
  static const char *const of_caf[] = {"tombolo_caf.f90", NULL};
  const char *cache = tmb_env_get("XDG_CACHE_HOME"), *home = tmb_env_get("HOME");
  char *sources = join(libraries, "/tombolo/fortran", prif ? "/prif" : ""), key[24];
  char *top = cache && *cache ? join(cache, "", "") : join(home ? home : "", "/.cache", "");
  char *part = join(top, "/tombolo/fortran/", compiler->modules);
  snprintf(key, sizeof key, "-%016llx", (unsigned long long)key_of(compiler, sources));
  char *folder = join(part, key, ""),
       *module = join(folder, "/", prif ? "prif.mod" : "tombolo_caf.mod");
  if (access(module, R_OK) != 0 &&
      !make(compiler, command, sources, folder, prif ? of_prif : of_caf)) {
    free(folder);
    folder = NULL;
  }
  free(module);
  free(part);
  free(top);
  free(sources);
  return folder;
}
