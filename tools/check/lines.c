/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of return addresses, by addr2line.
 *
 * Owns nothing. Called by check.c. Calls: addr2line of binutils, once for each module. It prints
 * for each address "0x...", then a function and a line for each call that was inlined there, the
 * innermost first. The line of the user is the first that is in none of our headers. Invariant:
 * without addr2line, or without debug information, a line is not known, and nothing else fails.
 */
#define _GNU_SOURCE
#include "check/check.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Folders of headers whose lines are the library's, or those of C++. */
static const char *const ours[] = {"/include/c++/",   "/include/gasnet", "/include/tombolo",
                                   "/tombolo-upc/",   "/tombolo-shmem/", "/upc/include/",
                                   "/shmem/include/", "/gasnetex.h"};

static bool is_ours(const char *file) {
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    if (strstr(file, ours[i])) return true;
  return false;
}

/* Start addr2line for a module. Returns a stream of its output, or NULL. */
static FILE *start(const char *module, int input, pid_t *pid) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
  *pid = fork();
  if (*pid == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(input, STDIN_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    unsetenv("LD_PRELOAD");
    execlp("addr2line", "addr2line", "-a", "-f", "-i", "-C", "-e", module, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  FILE *const out = *pid > 0 ? fdopen(ends[0], "r") : NULL;
  if (!out) close(ends[0]);
  return out;
}

/* Whether a site is a return address in a module. */
static bool is_address(struct chk_area *area, uint32_t site, uint32_t module) {
  const struct chk_site *const s = chk_site_at(area, site);
  return s->module == module && s->offset && !(s->offset & CHK_SCRIPT);
}

/* A file with the addresses of a module's sites; a return address is behind its call. */
static int addresses(struct chk_area *area, uint32_t module) {
  FILE *const file = tmpfile();
  if (!file) return -1;
  for (uint32_t s = 1; s < area->sites; s++)
    if (is_address(area, s, module))
      fprintf(file, "0x%llx\n", (unsigned long long)chk_site_at(area, s)->offset - 1);
  fflush(file);
  const int fd = dup(fileno(file));
  fclose(file);
  if (fd >= 0) (void)lseek(fd, 0, SEEK_SET);
  return fd;
}

/* Keep a line unless a better one is known. in text: FILE:LINE, changed. */
static void keep(struct check_line *l, char *text) {
  char *const colon = strrchr(text, ':');
  if (!colon || strncmp(text, "??", 2) == 0 || (l->file && !is_ours(l->file))) return;
  if (colon[1] == '?') return; /* the file is known, but no line */
  *colon = '\0';
  char *const file = strdup(text);
  if (!file) return;
  free(l->file);
  l->file = file;
  l->line = (unsigned)strtoul(colon + 1, NULL, 10);
}

/* The line in the output of addr2line, behind the function's name. in,out text, bytes: of getline.
 * Returns whether there is one. */
static bool read_line(FILE *in, char **text, size_t *bytes) {
  if (getline(text, bytes, in) <= 0) return false;
  (*text)[strcspn(*text, "\n")] = '\0';
  char *const more = strstr(*text, " (discriminator");
  if (more) *more = '\0';
  return true;
}

static void read_lines(struct chk_area *area, uint32_t module, FILE *in, struct check_line *lines) {
  char *text = NULL;
  size_t bytes = 0;
  uint32_t s = 0;
  while (getline(&text, &bytes, in) > 0) {
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, "0x", 2) == 0) {
      for (s++; s < area->sites; s++)
        if (is_address(area, s, module)) break;
      continue;
    }
    if (!read_line(in, &text, &bytes)) break;
    if (s < area->sites) keep(&lines[s], text);
  }
  free(text);
}

/* The line of a site in a file of Python. */
static struct check_line script_line(struct chk_area *area, const struct chk_site *s) {
  char *const file = strdup(chk_module_at(area, s->module));
  if (!file) return (struct check_line){NULL, 0};
  return (struct check_line){file, (unsigned)(s->offset & ~CHK_SCRIPT)};
}

struct check_line *check_lines(struct chk_area *area) {
  struct check_line *const lines = calloc(area->sites, sizeof *lines);
  for (uint32_t s = 1; lines && s < area->sites; s++)
    if (chk_site_at(area, s)->offset & CHK_SCRIPT)
      lines[s] = script_line(area, chk_site_at(area, s));
  for (uint32_t m = 0; lines && area->findings && m < area->modules; m++) {
    const int input = addresses(area, m);
    pid_t pid = -1;
    FILE *const out = input >= 0 ? start(chk_module_at(area, m), input, &pid) : NULL;
    if (out) {
      read_lines(area, m, out, lines);
      fclose(out);
    }
    if (input >= 0) close(input);
    if (pid > 0) (void)waitpid(pid, NULL, 0);
  }
  return lines;
}

void check_lines_free(struct check_line *lines, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) free(lines[i].file);
  free(lines);
}

struct check_line check_line_of(const char *module, uint64_t offset) {
  struct check_line line = {NULL, 0};
  char *text = NULL;
  size_t bytes = 0;
  pid_t pid = -1;
  FILE *const input = tmpfile();
  if (!input) return line;
  fprintf(input, "0x%llx\n", (unsigned long long)offset - 1); /* of the call */
  rewind(input);
  FILE *const out = start(module, fileno(input), &pid);
  while (out && getline(&text, &bytes, out) > 0)
    if (strncmp(text, "0x", 2) != 0 && read_line(out, &text, &bytes)) keep(&line, text);
  free(text);
  if (out) fclose(out);
  fclose(input);
  if (pid > 0) (void)waitpid(pid, NULL, 0);
  return line;
}
