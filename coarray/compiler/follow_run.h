/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of an accessor on a copy of its coarray, which tell whether it follows a word.
 *
 * Owns: the two regions and the copies of a trial. Included by follow.c, which chooses the runs.
 * Calls nothing. The accessor runs on a copy of the coarray, with addresses changed to those of two
 * regions as large as the segment. Of TRAP, an access ends the run. Of FILL, each page gets bytes
 * that are all equal when it is touched: as addresses they are not canonical, so to follow an
 * address that was found by another one ends the run, too. Invariant: no run reaches memory that
 * other processes have.
 */
#ifndef CAF_FOLLOW_RUN_H
#define CAF_FOLLOW_RUN_H

#include "compiler/follow.h"
#include "compiler/try.h"

#include <setjmp.h>

enum {
  CAF_RUN_WORD = sizeof(uint64_t),
  CAF_RUN_BLOCK_WORDS = CAF_BOUND_BLOCK / CAF_RUN_WORD,
  CAF_RUN_PAGES_MAX = 1024
};

/* CAF_RUN_FILL + k: of addresses behind k others. */
enum caf_run_region {
  CAF_RUN_TRAP,
  CAF_RUN_FILL,
  CAF_RUN_REGIONS = CAF_RUN_FILL + CAF_LINKS_MAX + 1
};

/* The first words of the memory to which an address of a rank leads. */
struct caf_run_block {
  uintptr_t at;   /* there */
  uint64_t traps; /* which of its words go to TRAP; others go to the next FILL */
};

/* The runs of a trial; of the child, for its signal handler. */
extern struct caf_runs {
  char *regions;   /* [CAF_RUN_REGIONS] */
  uintptr_t bytes; /* of each, a multiple of a page */
  size_t page, pages;
  char *filled[CAF_RUN_PAGES_MAX]; /* [pages] */
  int value;                       /* of filled bytes */
  bool trapped;                    /* the run has touched TRAP */
  uintptr_t at;                    /* of the last fault */
  sigjmp_buf end;                  /* of the run */
  uint32_t blocks;
  struct caf_run_block block[CAF_LINKS_MAX]; /* [blocks] */
  char *fill, *trap; /* the coarray with all addresses changed to those of one */
  char *copy;        /* [bytes of the coarray] of a run */
  uint64_t *part;    /* [bytes of the coarray] */
} caf_runs;

/* Makes regions and copies. Returns false: no memory. */
bool caf_run_begin(const struct caf_trial *t);

/* The coarray of the rank, as it is here. */
const char *caf_run_coarray(const struct caf_trial *t);

/* Whether a word is an address in this process. */
bool caf_run_is_mapped(uintptr_t word);

/* Makes the copy of a run: addresses in words of an element that `trapped` has go to TRAP, others
 * to FILL. */
void caf_run_trap_words(const struct caf_trial *t, uint64_t trapped);

/* The same: all addresses go to TRAP. */
void caf_run_trap_all(const struct caf_trial *t);

/* Changes a part of the copy: its addresses go to TRAP, or to FILL. */
void caf_run_trap_part(size_t begin, size_t end, bool traps);

/* The same, of the addresses in all words but one, which goes to FILL whatever it is. */
void caf_run_trap_others(const struct caf_trial *t, size_t at);

/* Adds a block for the memory to which an address leads. Returns false: it is none of the segment,
 * or there are CAF_LINKS_MAX. */
bool caf_run_add_block(const struct caf_trial *t, uintptr_t address);

/* Runs the accessor on a copy. Returns whether it came to its end. [in] copy: of the coarray;
 * value: of filled bytes. [out] seen: what it got or gave. */
bool caf_run_on(const struct caf_trial *t, const struct caf_ask *ask, char *copy,
                struct caf_seen *seen, int value);

/* The same, on the copy of a run. */
bool caf_run(const struct caf_trial *t, const struct caf_ask *ask, struct caf_seen *seen,
             int value);

/* Whether the last run has written to the last FILL. */
bool caf_run_has_written(void);

/* Whether a run touches TRAP. */
bool caf_run_traps(const struct caf_trial *t, const struct caf_ask *ask, char *copy);

/* The same, with another address in one word, also where there is none as yet. */
bool caf_run_traps_with(const struct caf_trial *t, const struct caf_ask *ask, char *copy, size_t at,
                        unsigned region);

#endif
