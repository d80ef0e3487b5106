/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the test programs: each evaluates its arguments once, counts, and on failure prints
 * rank, place and both values to stderr. Needs no communication library, so that any test may use
 * it. Safe from many threads. A program ends with check_done(), whose result is its exit code: 0
 * only if something was checked and nothing failed.
 */
#ifndef TMB_TEST_CHECK_H
#define TMB_TEST_CHECK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rank shown in messages; set it once known. */
void check_set_rank(uint32_t rank);

/* Number of failed checks so far. */
uint64_t check_failures(void);

/* Counts `n` checks done at once by a loop that reports only its failures. */
void check_count(uint64_t n);

/* Records a failure, prints the first few. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void check_fail(const char *file, int line, const char *fmt, ...);

/* Prints a summary when something failed; exit code of the program: 0 passed, 1 failed or nothing
 * checked. */
int check_done(void);

/* Ends the program with exit code 1 after the failure message of a REQUIRE. */
void check_abandon(void);

/* Memory for `count` items of `bytes`, zeroed; ends the program if there is none. */
void *check_room(size_t count, size_t bytes);

/* Bodies of the macros; return whether the check passed. */
int check_true(const char *file, int line, const char *text, int passed);
int check_eq(const char *file, int line, const char *text, long long got, long long want);
int check_cmp(const char *file, int line, const char *text, long double left, long double right);
int check_ptr(const char *file, int line, const char *text, const void *got, const void *want);
int check_str(const char *file, int line, const char *text, const char *got, const char *want);
int check_bytes(const char *file, int line, const void *buf, size_t nbytes, uint64_t seed);

#define CHECK(cond) check_true(__FILE__, __LINE__, #cond, !!(cond))
#define CHECK_EQ(got, want) \
 check_eq(__FILE__, __LINE__, #got " == " #want, (long long)(got), (long long)(want))
/* A comparison of numbers: CHECK_CMP(count, <=, limit). Prints both when it does not hold; they are
 * evaluated again for that. */
#define CHECK_CMP(left, op, right)                                                               \
 ((left)op(right) ? check_true(__FILE__, __LINE__, "", 1)                                        \
                  : check_cmp(__FILE__, __LINE__, #left " " #op " " #right, (long double)(left), \
                              (long double)(right)))
#define CHECK_PTR(got, want)      check_ptr(__FILE__, __LINE__, #got " == " #want, (got), (want))
#define CHECK_STR(got, want)      check_str(__FILE__, __LINE__, #got " == " #want, (got), (want))
/* The n bytes at buf are those that pattern_fill(buf, n, seed) writes. */
#define CHECK_BYTES(buf, n, seed) check_bytes(__FILE__, __LINE__, (buf), (n), (seed))
/* A check without which the program cannot go on. */
#define REQUIRE(cond)                \
 do {                                \
  if (!CHECK(cond)) check_abandon(); \
 } while (0)

/* ---- random numbers and patterns */

/* The random seed of this run: TMB_TEST_SEED, else a constant. Printed with every failure summary.
 */
uint64_t test_seed(void);

/* A well-mixed function of x. */
static inline uint64_t mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Next random number of a generator; *state may start at any value. */
static inline uint64_t rng_next(uint64_t *state) {
  return mix64((*state)++);
}

/* Random number below `limit` (not 0). */
static inline uint64_t rng_below(uint64_t *state, uint64_t limit) {
  return rng_next(state) % limit;
}

/* Fills with bytes that depend on seed and position; equal seeds give equal bytes. */
void pattern_fill(void *buf, size_t nbytes, uint64_t seed);

/* Offset of the first byte that differs from the pattern, nbytes when none does. */
size_t pattern_diff(const void *buf, size_t nbytes, uint64_t seed);

/* Offset of the first byte that is not `value`, nbytes when none is. */
size_t fill_diff(const void *buf, size_t nbytes, int value);

/* Integer environment variable, `fallback` when unset. */
long long env_number(const char *name, long long fallback);

#ifdef __cplusplus
}
#endif

#endif
