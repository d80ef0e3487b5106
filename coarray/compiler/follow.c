/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the words of a structure whose addresses an accessor follows.
 *
 * Owns nothing beyond a call. Called by trial.c, in a child process. Calls: accessors. The problem:
 * an address in a structure of another image is good here, too, if it is one of that image's
 * segment, which lies at the same place in all processes. So an access may be made here if all
 * addresses that the accessor follows are such ones; but which does it follow? The accessor runs on
 * a copy of the coarray, with addresses changed to those of two regions as large as the segment.
 * Of TRAP, an access ends the run: one word after the other is sent there. Of FILL, each page gets
 * bytes that are all equal when it is touched: as addresses they are not canonical, so to follow an
 * address that was found by another one ends the run, too. Invariants: no run reaches memory that
 * other processes have; the words do not depend on the values that the accessor gets from its
 * caller, as subscripts: other values follow no other word.
 */
#include "compiler/follow.h"

#include "compiler/try.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WORD = sizeof(uint64_t), ADD_MAX = 256, PAGES_MAX = 1024 };
enum region { TRAP, FILL };

/* A trial; of the child, for its signal handler. */
static struct {
  char *regions;   /* TRAP, then FILL */
  uintptr_t bytes; /* of each, a multiple of a page */
  size_t page, pages;
  char *filled[PAGES_MAX]; /* [pages] */
  int value;               /* of filled bytes */
  bool trapped;            /* the run has touched TRAP */
  sigjmp_buf end;          /* of the run */
} trial;

static void on_fault(int sig, siginfo_t *info, void *context) {
  (void)sig;
  (void)context;
  const uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)trial.regions;
  char *const page = trial.regions + at / trial.page * trial.page;
  trial.trapped = at < trial.bytes;
  if (at < trial.bytes || at >= 2 * trial.bytes || trial.pages == PAGES_MAX ||
      mprotect(page, trial.page, PROT_READ | PROT_WRITE) != 0)
    siglongjmp(trial.end, 1);
  memset(page, trial.value, trial.page);
  trial.filled[trial.pages++] = page;
}

/* Whether a word is an address in this process. */
static bool is_mapped(uintptr_t word) {
  unsigned char resident;
  return mincore((void *)(word / trial.page * trial.page), 1, &resident) == 0;
}

/* Whether a word may be an address that an accessor follows. */
static bool is_address(const struct caf_trial *t, uintptr_t word) {
  return caf_bound_has(t->rank, word) || (word && is_mapped(word));
}

static uintptr_t moved(const struct caf_trial *t, uintptr_t word, enum region region) {
  const uintptr_t offset = caf_bound_has(t->rank, word) ? word - caf.bound[t->rank].low
                                                        : word % trial.bytes / WORD * WORD;
  return (uintptr_t)trial.regions + (region == FILL ? trial.bytes : 0) + offset;
}

/* Copies the coarray. Addresses in words of an element that `trapped` has go to TRAP, others to
 * FILL. */
static void copy_moved(const struct caf_trial *t, char *copy, uint64_t trapped) {
  const size_t element = t->element / WORD, count = t->token->bytes / WORD;
  memcpy(copy, (const char *)t->token->addr[t->rank] + caf.delta[t->rank], t->token->bytes);
  for (size_t i = 0; i < count; i++) {
    uint64_t word;
    memcpy(&word, copy + i * WORD, WORD);
    if (!is_address(t, word)) continue;
    word = moved(t, word, trapped >> i % element & 1 ? TRAP : FILL);
    memcpy(copy + i * WORD, &word, WORD);
  }
}

/* Makes FILL empty for a run. */
static void begin_run(int value) {
  trial.value = value;
  trial.trapped = false;
  for (; trial.pages; trial.pages--)
    (void)mprotect(trial.filled[trial.pages - 1], trial.page, PROT_NONE);
}

/* Whether the run has written to FILL. */
static bool has_written(void) {
  for (size_t i = 0; i < trial.pages; i++)
    for (size_t k = 0; k < trial.page; k++)
      if ((unsigned char)trial.filled[i][k] != trial.value) return true;
  return false;
}

/* Runs the accessor on the copy. Returns whether it came to its end. */
static bool run(const struct caf_trial *t, const struct caf_ask *ask, char *copy,
                struct caf_seen *seen, int value) {
  *seen = (struct caf_seen){.bytes = 0};
  begin_run(value);
  if (sigsetjmp(trial.end, 1)) return false;
  return caf_try(ask, copy + t->offset, seen) == 0;
}

/* The words that one run each has followed. */
static uint64_t find_words(const struct caf_trial *t, char *copy) {
  struct caf_seen seen;
  uint64_t words = 0;
  for (size_t w = 0; w < t->element / WORD; w++) {
    copy_moved(t, copy, (uint64_t)1 << w);
    (void)run(t, t->ask, copy, &seen, 0);
    if (trial.trapped) words |= (uint64_t)1 << w;
  }
  return words;
}

/* Whether the accessor needs nothing but the memory to which these words lead. */
static bool is_enough(const struct caf_trial *t, char *copy, uint64_t words) {
  const int values[] = {0x81, caf_try_second(t->ask)};
  struct caf_seen seen[2];
  for (int i = 0; i < 2; i++) {
    copy_moved(t, copy, ~words);
    if (!run(t, t->ask, copy, &seen[i], values[i])) return false;
    if (t->ask->kind == CAF_ACCESS_PUT && !has_written()) return false;
  }
  return t->ask->kind == CAF_ACCESS_PUT || caf_try_differs(&seen[0], &seen[1]);
}

/* Whether the accessor follows other words, or ends in a fault, when a value that it gets differs:
 * that may be a subscript. [in] at: of 4 bytes of `add`. */
static bool depends_on(const struct caf_trial *t, char *copy, uint64_t words, size_t at,
                       int32_t change) {
  _Alignas(16) char add[ADD_MAX] = {0};
  struct caf_ask ask = *t->ask;
  struct caf_seen seen;
  uintptr_t whole;
  uint32_t value;
  memcpy(add, ask.add, ask.add_bytes);
  memcpy(&whole, add + at / WORD * WORD, WORD);
  memcpy(&value, add + at, sizeof value);
  const bool upper_half = at % WORD && (value == 0 || value == UINT32_MAX); /* of 8 bytes */
  if (upper_half || is_mapped(whole)) return false;
  value += (uint32_t)change;
  memcpy(add + at, &value, sizeof value);
  ask.add = add;
  copy_moved(t, copy, ~words);
  return !run(t, &ask, copy, &seen, 0);
}

static bool depends_on_values(const struct caf_trial *t, char *copy, uint64_t words) {
  bool depends = false;
  for (size_t at = 0; at + 4 <= t->ask->add_bytes && !depends; at += 4)
    depends = depends_on(t, copy, words, at, 1) || depends_on(t, copy, words, at, -1);
  return depends;
}

static bool begin_trial(const struct caf_trial *t) {
  struct sigaction action;
  trial.page = (size_t)sysconf(_SC_PAGESIZE);
  trial.bytes = caf.bound[t->rank].bytes / trial.page * trial.page;
  trial.regions =
      mmap(NULL, 2 * trial.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial.regions == MAP_FAILED) return false;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

uint64_t caf_follow_words(const struct caf_trial *t) {
  if (t->element % WORD || t->element > 64 * WORD || t->ask->add_bytes > ADD_MAX) return 0;
  char *copy = aligned_alloc(64, (t->token->bytes + 63) / 64 * 64);
  if (!copy || !begin_trial(t)) return 0;
  const uint64_t words = find_words(t, copy);
  if (!words || !is_enough(t, copy, words) || depends_on_values(t, copy, words)) return 0;
  return words;
}

bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset) {
  const size_t element = trials->element, bytes = t->bytes;
  if (!trials->followed || caf.delta[rank] || bytes > CAF_FOLLOW_BYTES) return false;
  if (element != (t->elem_bytes ? t->elem_bytes : bytes) ||
      trials->offset != (offset < element ? offset : offset % element))
    return false;
  const struct caf_bound segment = caf.bound[rank];
  const char *const base = (const char *)t->addr[rank];
  for (uint64_t words = trials->followed; words; words &= words - 1)
    for (size_t at = WORD * (size_t)__builtin_ctzll(words); at < bytes; at += element) {
      uint64_t word;
      memcpy(&word, base + at, WORD);
      if (word - segment.low >= segment.bytes) return false;
    }
  return true;
}
