/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the checker in a process, and of each of its threads.
 *
 * Owns: the declarations of struct chk, chk_words and chk_nears. Included by the other headers of
 * this folder; see chk.h. Calls: mmap. Invariant: chk.lock guards all of it.
 */
#ifndef TMB_CHK_STATE_H
#define TMB_CHK_STATE_H

#include "check/area.h"
#include "check/local.h"

#include <gasnet.h>
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/mman.h>

#define CHK_NOTED       4096u /* power of two */

#define CHK_LIKELY(x)   __builtin_expect(!!(x), 1)
#define CHK_UNLIKELY(x) __builtin_expect(!!(x), 0)

struct chk {
  union {
    struct {
      bool words;      /* puts of a word give to it */
      bool all_strict; /* UPC without `--check`: any access of a word may be strict */
      bool more;       /* other segments than the one that has words, or second places */
    };
    uint32_t unusual; /* any of these */
  };
  bool races, leaks;   /* what is looked for */
  bool in_order;       /* Fortran and UPC: accesses of one rank to one place keep their order */
  bool waits_itself;   /* implicit operations are those of a run-time library */
  bool one_thread;     /* a SEQ client, whose threads call in turns, if it has several */
  bool threads;        /* this process has several, or had: then lines have no runs */
  bool each_thread;    /* threads of this rank have clocks, and may race with each other */
  void (*guard)(void); /* before all that a call does here; NULL: nothing, see chk_guard */
  pthread_mutex_t lock;
  struct chk_thread *self; /* who acts, while it holds the lock */
  uint8_t thread;          /* its name */
  uint32_t tick;           /* its own clock */
  struct chk_area *area;
  uint64_t *cells;            /* words of granules; in the area */
  struct chk_rest *rests;     /* of pages; in the area */
  struct chk_origin *origins; /* in the area */
  uint32_t rank, ranks;
  uint64_t *clock;       /* [ranks] */
  const uint64_t *plain; /* [256] of what was given in one word, by the byte of its rank: the
                          * clock, or 0 where it takes more to know; see past.c */
  uint64_t gives;        /* what this rank gives, but for its clock; or: */
#define CHK_GIVES_ANEW UINT64_MAX
  uint32_t ticks[CHK_COLUMNS]; /* of threads of other ranks, what this rank has heard of */
  uint64_t past;               /* the newest of this rank that it has kept, see past.c */
  bool changed;                /* clocks of others have changed since */
  uint32_t *heard;             /* [ranks] where this rank last heard of that one, a site */
  uint32_t synced;             /* its last synchronisation, a site */
  uint32_t message_site;       /* the site of what comes by messages */
  const struct gexx_waitinfo *statement; /* a run-time library's, of the program; or NULL */
  uint32_t open_here;                    /* local sides of transfers that are not complete */
  uint32_t open_count;                   /* accesses of this rank that are not complete */
  struct chk_extent own;                 /* the segment that has words, see check/local.h */
  uint32_t eights;                       /* of the flags of its groups; 0: many, or none */
  struct chk_page **pages;               /* shadow of each of its pages, if found */
  struct chk_run *runs;                  /* of this epoch */
  uint64_t floor;              /* accesses with lower numbers are before what this rank does */
  uint64_t *floors;            /* [ranks] those of a rank alone */
  uint64_t *floor_clocks;      /* [ranks] and those that ended by this clock of the rank */
  uint64_t met;                /* and those that are before what any rank does next */
  uint64_t *met_clocks;        /* [ranks] */
  uint64_t ordered[CHK_NOTED]; /* accesses that are known to be before what this rank does */
};

extern struct chk chk;

/* A variable with a fixed place of each thread: this library is loaded at start. */
#define CHK_FAST __attribute__((tls_model("initial-exec")))

/* A line of the program, and its record in the epoch of a clock. */
struct chk_line {
  uint32_t site, bytes;
  uint64_t clock, number;
  uint32_t tick;
};

/* The words of check/local.h: loads and stores of this epoch in the segment that has words. Those
 * of the first thread are of all threads, while chk.each_thread does not hold. */
struct chk_words {
  struct chk_seen *seen[2];                   /* [kind]; with the lines, once there was a segment */
  size_t seen_bytes;                          /* of each */
  struct chk_line lines[2][CHK_LINES];        /* [kind] */
  uint16_t line_of_block[2][CHK_ENTERED + 1]; /* [kind] */
  uint32_t blocks[2];                         /* [kind]: in use */
};

/* A thread of this rank, see thread.c. */
struct chk_thread {
  uint32_t clock[CHK_THREADS]; /* of each thread, what it has heard of; its own goes on */
  uint8_t name;                /* its index + 1; 0: of all threads that have no clock */
  uint32_t number;             /* from 1 on, for users */
  struct chk_words *words;     /* NULL: none yet */
  struct chk_run *runs;        /* of this epoch, in its copies */
  struct chk_copy *copies;     /* of each part of the program that it was in */
  int state;                   /* CHK_FREE... */
  pthread_t id;
};
enum { CHK_FREE, CHK_RUNS, CHK_DETACHED, CHK_ENDED };

/* Address space that is zero, and costs memory only where it is written; NULL: there is none. */
static inline void *chk_reserve(size_t bytes) {
  void *const at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

extern struct chk_words chk_words; /* of the first thread */
/* Words for another thread; NULL: there is no address space. */
struct chk_words *chk_words_new(void);
/* Give this segment words. Returns whether there is address space. */
bool chk_own_begin(uintptr_t base, uintptr_t bytes);
void chk_own_end(void);
/* Runs of a part of the program, for the acting thread alone; 0: there is no memory. out copy: what
 * it adds to their addresses, until it ends. */
bool chk_copy_new(const struct chk_near *near, intptr_t *copy);
void chk_copies_end(struct chk_thread *t);
/* Change what the program reads of the checker: the segment that has words, and whether `others`
 * are watched; or the latter alone. */
extern struct chk_near *chk_nears; /* of each part of the program; guarded by chk.lock */
void chk_near_all(void);

static inline void chk_near_others(void) {
  const uintptr_t others = tombolo_check_watch.others.bytes != 0;
  for (struct chk_near *n = chk_nears; n; n = n->next)
    __atomic_store_n(&n->others, others, __ATOMIC_RELEASE);
}

/* Whether anything is looked for, in a job that has started. */
static inline bool chk_on(void) {
  return CHK_UNLIKELY(chk.area != NULL);
}

#endif
