/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters, messages, random numbers and byte patterns of check.h. Uses libc only.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 20 };

static uint32_t my_rank = UINT32_MAX;
static uint64_t done_count;
static uint64_t failed_count;

void check_set_rank(uint32_t rank) {
  my_rank = rank;
}

uint64_t check_failures(void) {
  return __atomic_load_n(&failed_count, __ATOMIC_RELAXED);
}

void check_count(uint64_t n) {
  __atomic_fetch_add(&done_count, n, __ATOMIC_RELAXED);
}

void check_fail(const char *file, int line, const char *fmt, ...) {
  const uint64_t before = __atomic_fetch_add(&failed_count, 1, __ATOMIC_RELAXED);
  check_count(1);
  if (before >= SHOWN_MAX) return;
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (my_rank == UINT32_MAX)
    fprintf(stderr, "FAILED %s:%d: %s\n", file, line, text);
  else
    fprintf(stderr, "FAILED rank %u %s:%d: %s\n", my_rank, file, line, text);
  if (before + 1 == SHOWN_MAX)
    fprintf(stderr, "(further failures of this rank are only counted)\n");
}

int check_done(void) {
  const uint64_t done = __atomic_load_n(&done_count, __ATOMIC_RELAXED);
  const uint64_t failed = check_failures();
  if (!done) fprintf(stderr, "FAILED rank %d: no check was reached\n", (int)my_rank);
  if (failed)
    fprintf(stderr,
            "rank %d: %llu of %llu checks failed; seed %llu (set TMB_TEST_SEED to repeat)\n",
            (int)my_rank, (unsigned long long)failed, (unsigned long long)done,
            (unsigned long long)test_seed());
  fflush(NULL);
  return failed || !done;
}

void check_abandon(void) {
  fprintf(stderr, "rank %d: cannot go on after this failure\n", (int)my_rank);
  fflush(NULL);
  exit(1);
}

void *check_room(size_t count, size_t bytes) {
  void *const room = calloc(count, bytes);
  if (!room) check_abandon();
  return room;
}

int check_true(const char *file, int line, const char *text, int passed) {
  if (passed)
    check_count(1);
  else
    check_fail(file, line, "%s", text);
  return passed;
}

int check_eq(const char *file, int line, const char *text, long long got, long long want) {
  if (got == want)
    check_count(1);
  else
    check_fail(file, line, "%s: got %lld (0x%llx), want %lld (0x%llx)", text, got,
               (unsigned long long)got, want, (unsigned long long)want);
  return got == want;
}

int check_cmp(const char *file, int line, const char *text, long double left, long double right) {
  check_fail(file, line, "%s: %.20Lg and %.20Lg", text, left, right);
  return 0;
}

int check_ptr(const char *file, int line, const char *text, const void *got, const void *want) {
  if (got == want)
    check_count(1);
  else
    check_fail(file, line, "%s: got %p, want %p", text, got, want);
  return got == want;
}

int check_str(const char *file, int line, const char *text, const char *got, const char *want) {
  const int same = got && want && !strcmp(got, want);
  if (same)
    check_count(1);
  else
    check_fail(file, line, "%s: got \"%s\", want \"%s\"", text, got ? got : "(null)",
               want ? want : "(null)");
  return same;
}

int check_bytes(const char *file, int line, const void *buf, size_t nbytes, uint64_t seed) {
  const size_t at = pattern_diff(buf, nbytes, seed);
  if (at == nbytes) {
    check_count(1);
    return 1;
  }
  const unsigned want = (unsigned)(mix64(seed + at / 8) >> (8 * (at % 8))) & 0xff;
  check_fail(file, line, "byte %zu of %zu is 0x%02x, want 0x%02x (pattern 0x%llx)", at, nbytes,
             ((const unsigned char *)buf)[at], want, (unsigned long long)seed);
  return 0;
}

long long env_number(const char *name, long long fallback) {
  const char *text = getenv(name);
  return text && *text ? strtoll(text, NULL, 0) : fallback;
}

uint64_t test_seed(void) {
  return (uint64_t)env_number("TMB_TEST_SEED", 20251121);
}

void pattern_fill(void *buf, size_t nbytes, uint64_t seed) {
  unsigned char *to = (unsigned char *)buf;
  size_t i = 0;
  for (; i + 8 <= nbytes; i += 8) {
    const uint64_t word = mix64(seed + i / 8);
    memcpy(to + i, &word, 8);
  }
  for (; i < nbytes; i++) to[i] = (unsigned char)(mix64(seed + i / 8) >> (8 * (i % 8)));
}

size_t pattern_diff(const void *buf, size_t nbytes, uint64_t seed) {
  const unsigned char *at = (const unsigned char *)buf;
  size_t i = 0;
  for (; i + 8 <= nbytes; i += 8) {
    uint64_t word;
    memcpy(&word, at + i, 8);
    if (word != mix64(seed + i / 8)) break;
  }
  for (; i < nbytes; i++)
    if (at[i] != (unsigned char)(mix64(seed + i / 8) >> (8 * (i % 8)))) break;
  return i;
}

size_t fill_diff(const void *buf, size_t nbytes, int value) {
  const unsigned char *at = (const unsigned char *)buf;
  size_t i = 0;
  while (i < nbytes && at[i] == (unsigned char)value) i++;
  return i;
}
