/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the OpenSHMEM library.
 *
 * Owns nothing. Called by all files. Calls: the end of the job, addr2line. Invariants: a message
 * names the PE; one that ends the job names the routine, the argument, its value and the remedy,
 * and the source line of the call where the program has debug information.
 */
#include "../sh.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES 16 /* calls between the program and a message; the library makes fewer */

/* The first call on the stack that is not from this library or the layer below: where the program
 * called. Returns false where all are one object: the program is linked statically. */
static bool find_caller(const void **caller, Dl_info *object) {
  void *frame[FRAMES];
  Dl_info own, below;
  const int frames = backtrace(frame, FRAMES);
  if (!dladdr(&sh, &own) || !dladdr((void *)(uintptr_t)gexx_client_join, &below)) return false;
  bool seen = false; /* a sanitizer has a backtrace() of its own, which is in front */
  for (int i = 0; i < frames; i++) {
    *caller = (const char *)frame[i] - 1; /* a return address is behind the call */
    if (!dladdr(*caller, object)) return false;
    const bool ours = object->dli_fbase == own.dli_fbase || object->dli_fbase == below.dli_fbase;
    if (seen && !ours) return strcmp(object->dli_fname, own.dli_fname) != 0;
    seen = seen || ours;
  }
  return false;
}

/* Runs addr2line. out line: "FOLDER/prog.c:12", of the innermost place that is not in our headers,
 * whose inline code belongs to the program's line. */
static bool read_line(const char *file, uintptr_t address, char *line, int bytes) {
  char command[1200];
  snprintf(command, sizeof command, "addr2line -i -e '%s' %#zx 2>/dev/null", file, (size_t)address);
  FILE *const tool = strchr(file, '\'') ? NULL : popen(command, "r");
  bool found = false;
  while (tool && !found && fgets(line, bytes, tool)) {
    line[strcspn(line, "\n")] = '\0';
    char *const more = strstr(line, " (discriminator");
    if (more) *more = '\0';
    found = line[0] != '?' && !strstr(line, "shmem/inline.h:");
  }
  if (tool) pclose(tool);
  return found;
}

/* "prog.c:12: " of the call in the program; nothing without -g or addr2line. */
static void find_place(char *text, size_t bytes) {
  const void *caller = NULL;
  Dl_info object;
  char line[1024], self[1024];
  text[0] = '\0';
  if (!find_caller(&caller, &object)) return;
  const char *file = object.dli_fname;
  if (access(file, R_OK)) { /* the name of a program that was found by PATH */
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return;
    self[n] = '\0';
    file = self;
  }
  const ElfW(Ehdr) *const head = object.dli_fbase;
  const uintptr_t base = head->e_type == ET_EXEC ? 0 : (uintptr_t)object.dli_fbase;
  if (!read_line(file, (uintptr_t)caller - base, line, sizeof line)) return;
  const char *const name = strrchr(line, '/');
  snprintf(text, bytes, "%.200s: ", name ? name + 1 : line);
}

static void print(const char *call, const char *format, va_list args) {
  char text[1280], line[1320], place[256] = "";
  const int error = errno; /* for %m */
  if (call) find_place(place, sizeof place);
  const int at = snprintf(text, sizeof text, "%s%s%s%s", place, call ? "shmem_" : "",
                          call ? call : "", call ? ": " : "");
  errno = error;
  vsnprintf(text + at, sizeof text - (size_t)at, format, args);
  fflush(stdout);
  if (sh.joined)
    snprintf(line, sizeof line, "SHMEM: PE %u of %u: %s\n", sh.pe, sh.size, text);
  else
    snprintf(line, sizeof line, "SHMEM: %s\n", text);
  fputs(line, stderr); /* in one write, which a long formatted text is not */
  fflush(stderr);
}

void sh_fatal(const char *call, const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(call, format, args);
  va_end(args);
  sh.ended = true; /* exit handlers wait for nobody */
  if (sh.joined) gasnet_exit(1);
  exit(1);
}

void sh_say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print(NULL, format, args);
  va_end(args);
}

void sh_not_started(const char *call) {
  sh_fatal(call, "the library is not started; call shmem_init first [TMB-2321]");
}
