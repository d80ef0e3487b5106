/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of a dying process, see crash.h.
 *
 * Owns: nothing. Called as crash.h says. Calls: the unwinder of libgcc, /proc/self/maps by read(2).
 * backtrace(3) would load it at its first call, which a handler may not do. The unwinder may itself
 * fault on a damaged stack, and a fault inside the handler ends the process. So the instruction
 * that faulted is written first, alone, and the others after it. A call of a null pointer leaves
 * nothing to unwind from; its return address is where the call has put it.
 * Invariants: as in crash.h; the frames that `count` counts do not change any more.
 */
#define _GNU_SOURCE
#include "os/process/crash.h"

#include "base/atomic.h"
#include "base/compiler.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum { OWN_FRAMES = 16 }; /* of handlers, between this function and the signal */

#if __has_include(<execinfo.h>) /* not musl, for which libgcc may not have one */
# include <unwind.h>

struct walk {
  void **frames; /* [count] */
  int count, used;
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *arg) {
  struct walk *walk = arg;
  const uintptr_t at = _Unwind_GetIP(context);
  if (!at || walk->used == walk->count) return _URC_END_OF_STACK;
  if (walk->used >= 0) walk->frames[walk->used] = (void *)at;
  walk->used++;
  return _URC_NO_REASON;
}

TMB_NOINLINE int tmb_os_frames(void **frames, int count) {
  struct walk walk = {frames, count, -1}; /* the first frame is this function's */
  (void)_Unwind_Backtrace(visit, &walk);
  return TMB_MAX(walk.used, 0);
}
#else
int tmb_os_frames(void **frames, int count) {
  (void)frames, (void)count;
  return 0;
}
#endif

/* ---- the interrupted code */

/* Address of the interrupted instruction, 0: not known for this processor. */
static uintptr_t interrupted_at(const ucontext_t *c) {
#if defined __x86_64__
  return (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
  return (uintptr_t)c->uc_mcontext.pc;
#elif defined __riscv
  return (uintptr_t)c->uc_mcontext.__gregs[REG_PC];
#else
  (void)c;
  return 0;
#endif
}

/* Return address of a call that has just jumped to where nothing is, 0: not known. */
static uintptr_t called_from(const ucontext_t *c) {
#if defined __x86_64__
  uintptr_t at = 0;
  const struct iovec to = {&at, sizeof at};
  const struct iovec from = {(void *)(uintptr_t)c->uc_mcontext.gregs[REG_RSP], sizeof at};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof at ? at : 0;
#elif defined __aarch64__
  return (uintptr_t)c->uc_mcontext.regs[30];
#else
  (void)c;
  return 0;
#endif
}

/* ---- files */

/* /proc/self/maps, read piece by piece. */
struct maps {
  int fd;
  size_t used, length; /* of piece */
  char piece[1024];
};

/* Reads a line without its end; what does not fit is dropped. Returns false at the end. */
static bool read_line(struct maps *m, char *line, size_t bytes) {
  size_t n = 0;
  for (;;) {
    if (m->used == m->length) {
      const ssize_t got = read(m->fd, m->piece, sizeof m->piece);
      if (got <= 0) return false;
      m->length = (size_t)got;
      m->used = 0;
    }
    const char c = m->piece[m->used++];
    if (c == '\n') break;
    if (n + 1 < bytes) line[n++] = c;
  }
  line[n] = '\0';
  return true;
}

/* Reads a hexadecimal number and the character behind it. */
static uint64_t read_hex(const char **at) {
  uint64_t value = 0;
  for (;; (*at)++) {
    const char c = **at;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    value = value << 4 | (uint64_t)digit;
  }
  if (**at) (*at)++;
  return value;
}

/* The index of a file's name, or NO_FILE if there is no room. */
static uint8_t name_file(struct tmb_crash *crash, const char *name) {
  const size_t length = strlen(name);
  for (uint32_t i = 0; i < crash->files; i++)
    if (strcmp(crash->name[i], name) == 0) return (uint8_t)i;
  if (crash->files == TMB_CRASH_FILES || length >= TMB_CRASH_NAME) return TMB_CRASH_NO_FILE;
  memcpy(crash->name[crash->files], name, length + 1);
  return (uint8_t)crash->files++;
}

/* Replaces the addresses that lie in a mapped file by their offsets in it. */
static void find_files(struct tmb_crash *crash, uint32_t count) {
  struct maps m = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
  char line[TMB_CRASH_NAME + 128];
  if (m.fd < 0) return;
  while (read_line(&m, line, sizeof line)) {
    const char *at = line, *path = strchr(line, '/');
    const uint64_t first = read_hex(&at), end = read_hex(&at);
    const char *offset = strchr(at, ' ');
    if (!path || !offset) continue;
    offset++;
    const uint64_t from = read_hex(&offset);
    for (uint32_t i = 0; i < count; i++) {
      const uint64_t address = crash->offset[i];
      if (crash->file[i] != TMB_CRASH_NO_FILE || address < first || address >= end) continue;
      crash->file[i] = name_file(crash, path);
      if (crash->file[i] != TMB_CRASH_NO_FILE) crash->offset[i] = address - first + from;
    }
  }
  close(m.fd);
}

/* ---- frames */

/* An address that was just called from `offset`, or interrupted there. */
static void add(struct tmb_crash *crash, uint32_t *count, uintptr_t address) {
  if (*count == TMB_CRASH_FRAMES) return;
  crash->file[*count] = TMB_CRASH_NO_FILE;
  crash->offset[(*count)++] = address;
}

/* The instruction that was interrupted, and if there is no code its caller. */
static uint32_t add_innermost(struct tmb_crash *crash, const ucontext_t *context, uintptr_t pc) {
  uint32_t count = 0;
  add(crash, &count, pc);
  find_files(crash, count);
  if (crash->file[0] != TMB_CRASH_NO_FILE) return count;
  const uintptr_t caller = called_from(context);
  if (!caller) return count;
  add(crash, &count, caller - 1);
  find_files(crash, count);
  return count;
}

void tmb_os_crash_note(struct tmb_crash *crash, const void *context) {
  void *frames[TMB_CRASH_FRAMES + OWN_FRAMES];
  const uintptr_t pc = interrupted_at(context);
  uint32_t count = add_innermost(crash, context, pc);
  tmb_store_rel(&crash->count, count);
  const int all = tmb_os_frames(frames, (int)TMB_ARRAY_LEN(frames));
  int first = 0;
  while (first < all && (uintptr_t)frames[first] != pc) first++;
  if (first == all) return;             /* the unwinder did not get past the signal */
  for (int i = first + 1; i < all; i++) /* they are return addresses: the call is before */
    add(crash, &count, (uintptr_t)frames[i] - 1);
  find_files(crash, count);
  tmb_store_rel(&crash->count, count);
}

extern pid_t _Fork(void) __attribute__((weak)); /* glibc from 2.34, musl from 1.2.3 */

pid_t tmb_os_fork_in_handler(void) {
  return _Fork ? _Fork() : -1;
}

void tmb_os_crash_print(const struct tmb_crash *crash, int fd) {
  for (uint32_t i = 0; i < crash->count; i++) {
    char line[TMB_CRASH_NAME + 40];
    const bool known = crash->file[i] != TMB_CRASH_NO_FILE;
    const int n =
        snprintf(line, sizeof line, "  %s+0x%llx\n", known ? crash->name[crash->file[i]] : "",
                 (unsigned long long)crash->offset[i]);
    if (n < 0 || write(fd, line, (size_t)n) < 0) return;
  }
}
