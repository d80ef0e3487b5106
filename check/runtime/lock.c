/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the area that all ranks share, and who owns them.
 *
 * Owns: what a rank says in the area of its process. Called by all that lock a word of the area,
 * which has the number of its owner, from 1 on. Calls: the kernel alone. A rank that waits for long
 * looks whether the owner's process still is there, by its ID and the time at which it has begun.
 * Invariants: a lock of a process that is there is not broken, however long it is stopped; of
 * several ranks that find a lock whose owner has died, one gets it.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, counted from 1; proc(5). */
#define STATE_FIELD   3 /* the first one behind the name, which may hold anything */
#define THREADS_FIELD 20
#define START_FIELD   22

static const char *field(const char *text, int wanted) {
  const char *at = strrchr(text, ')');
  for (int i = STATE_FIELD - 1; at && i < wanted; i++) {
    at = strchr(at, ' ');
    if (at) at++;
  }
  return at;
}

static uint64_t number(const char *text, int wanted) {
  const char *const at = field(text, wanted);
  return at ? strtoull(at, NULL, 10) : 0;
}

/* Text about a process; out text: [bytes]. Returns whether it can be read. */
static bool read_stat(uint32_t pid, char *text, size_t bytes) {
  char path[48];
  (void)snprintf(path, sizeof path, "/proc/%u/stat", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? -1 : pread(fd, text, bytes - 1, 0);
  if (fd >= 0) close(fd);
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

/* Where process IDs mean the same; 0: not known. */
static uint64_t space_of_ids(void) {
  struct stat s;
  return stat("/proc/self/ns/pid", &s) ? 0 : (uint64_t)s.st_ino;
}

void chk_owner_begins(void) {
  char text[1024];
  struct chk_floor *const f = chk_floor_of(chk.rank);
  f->pid = (uint32_t)getpid();
  f->begun = read_stat(f->pid, text, sizeof text) ? number(text, START_FIELD) : 0;
  f->space = space_of_ids();
}

static bool has_ended(uint32_t rank) {
  char text[1024];
  const struct chk_floor *const f = chk_floor_of(rank);
  if (rank == chk.rank) return true; /* a signal's handler has left, or is within, what held it */
  if (f->space != space_of_ids()) return false;
  if (kill((pid_t)f->pid, 0) && errno == ESRCH) return true;
  if (!f->begun || !read_stat(f->pid, text, sizeof text)) return false;
  if (number(text, START_FIELD) != f->begun) return true;
  const char *const state = field(text, STATE_FIELD);
  return state && strchr("ZXx", *state) && number(text, THREADS_FIELD) <= 1;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void chk_lock_held(uint32_t *lock) {
  const uint32_t own = chk.rank + 1;
  uint64_t looked = 0;
  for (unsigned tries = 1;; tries++) {
    uint32_t owner = __atomic_load_n(lock, __ATOMIC_RELAXED);
    bool free = !owner;
    if (!free && tries % 64 == 0) {
      const uint64_t now = now_ns();
      if (!looked) looked = now;
      if (now - looked > CHK_LOCK_NS) {
        looked = now;
        free = has_ended(owner - 1);
      }
      if (!free) sched_yield();
    }
    if (free &&
        __atomic_compare_exchange_n(lock, &owner, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return;
  }
}
