/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run`: shared libraries, a loader or an interpreter that the program needs and the system
 * does not have.
 *
 * Owns: nothing. Called by run.c before any rank exists, so that a message of every rank is printed
 * once. Calls: the program's dynamic loader, as ldd does (LD_TRACE_LOADED_OBJECTS: it lists, and
 * runs no code of the program).
 * Invariants: only programs whose loader is glibc's and that gain no rights by their file are
 * asked; whatever cannot be found out is no reason to refuse.
 */
#define _GNU_SOURCE
#include "ranks/run.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ANSWER_MS 2000 /* longest wait for the loader */

enum { LOADER_BYTES = 256, LIST_BYTES = 16384, MISSING_BYTES = 512 };

/* Finds the program's loader. Returns false if it has none, or is no program of this machine. */
static bool read_loader(const char *path, char *loader) {
  ElfW(Ehdr) head;
  ElfW(Phdr) part;
  bool found = false;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool is_elf = read(fd, &head, sizeof head) == (ssize_t)sizeof head &&
                      memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_phentsize == sizeof part;
  for (int i = 0; is_elf && !found && i < head.e_phnum; i++) {
    const off_t at = (off_t)(head.e_phoff + (size_t)i * sizeof part);
    if (pread(fd, &part, sizeof part, at) != (ssize_t)sizeof part) break;
    if (part.p_type != PT_INTERP || part.p_filesz >= LOADER_BYTES) continue;
    found = pread(fd, loader, part.p_filesz, (off_t)part.p_offset) == (ssize_t)part.p_filesz;
    loader[part.p_filesz] = '\0';
  }
  close(fd);
  return found;
}

/* Whether running the file changes identity or capabilities: then the loader may not listen. */
static bool gains_rights(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0 || st.st_mode & (S_ISUID | S_ISGID)) return true;
  return getxattr(path, "security.capability", NULL, 0) > 0;
}

_Noreturn static void become_list(const char *path, int out) {
  const int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
      dup2(out, STDOUT_FILENO) < 0)
    _exit(TOOL_EXIT_FAILED);
  tmb_env_set("LD_TRACE_LOADED_OBJECTS", "1");
  execl(path, path, (char *)NULL);
  _exit(TOOL_EXIT_FAILED);
}

/* Reads the list as far as it comes within the time limit. */
static void read_list(int fd, char *list) {
  size_t used = 0;
  struct pollfd in = {.fd = fd, .events = POLLIN};
  while (used + 1 < LIST_BYTES && poll(&in, 1, ANSWER_MS) > 0) {
    const ssize_t n = read(fd, list + used, LIST_BYTES - 1 - used);
    if (n <= 0) break;
    used += (size_t)n;
  }
  list[used] = '\0';
}

/* Has the loader list the program's libraries. out list: [LIST_BYTES]. */
static bool list_libraries(const char *path, char *list) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  const pid_t pid = fork();
  if (pid == 0) become_list(path, ends[1]);
  close(ends[1]);
  if (pid > 0) {
    read_list(ends[0], list);
    kill(pid, SIGKILL); /* if it does not end by itself */
    (void)waitpid(pid, NULL, 0);
  }
  close(ends[0]);
  return pid > 0;
}

/* Collects the names in lines "NAME => not found". Returns how many there are. */
static int find_missing(char *list, char *missing) {
  int count = 0;
  size_t used = 0;
  char *save;
  for (char *line = strtok_r(list, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
    char *arrow = strstr(line, " => not found");
    if (!arrow) continue;
    *arrow = '\0';
    const char *name = line + strspn(line, " \t");
    if (strstr(missing, name) || used + strlen(name) + 3 > MISSING_BYTES) continue;
    used += (size_t)snprintf(missing + used, MISSING_BYTES - used, "%s%s", count ? ", " : "", name);
    count++;
  }
  return count;
}

/* Refuses a script whose interpreter is not there: the system would say that the script is not.
 * Returns 0 or an exit code after a message. */
static int check_script(const char *path) {
  char line[LOADER_BYTES] = "";
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t n = read(fd, line, sizeof line - 1);
  close(fd);
  if (n < 3 || memcmp(line, "#!", 2) != 0) return 0;
  char *const name = line + 2 + strspn(line + 2, " \t");
  char *const end = name + strcspn(name, " \t\r\n");
  const bool dos = *end == '\r';
  *end = '\0';
  if (!dos && (name[0] != '/' || access(name, F_OK) == 0)) return 0;
  if (dos)
    tmb_print("run: program '%s' is a script for %s, but its lines end with CR LF; convert it, as "
              "by dos2unix",
              path, name);
  else
    tmb_print("run: program '%s' is a script for %s, which is not here; install it, or correct the "
              "first line",
              path, name);
  return TOOL_EXIT_NOT_FOUND;
}

int run_check_libraries(const char *path) {
  char loader[LOADER_BYTES], list[LIST_BYTES] = "", missing[MISSING_BYTES] = "";
  if (!read_loader(path, loader)) return check_script(path);
  if (access(loader, F_OK) != 0) {
    tmb_print("run: program '%s' needs the loader %s, which is not here; it was built for another "
              "system",
              path, loader);
    return TOOL_EXIT_NOT_FOUND;
  }
  if (!strstr(loader, "/ld-linux") || gains_rights(path) || !list_libraries(path, list)) return 0;
  if (find_missing(list, missing) == 0) return 0;
  tmb_print("run: program '%s' needs shared libraries that are not found: %s; add their folder to "
            "LD_LIBRARY_PATH, or link with -Wl,-rpath",
            path, missing);
  return TOOL_EXIT_NOT_FOUND;
}
