/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of a program that is compiled with `--check`, and the checker that
 * hears of them.
 *
 * Included by check/client, which is linked into the program, and by check/runtime. The compiler
 * puts a call before each load and store (-fsanitize=thread). The first one of an epoch leaves the
 * index of its line in the word of its 8 bytes, and flags the part; a second one to the same bytes
 * is in no race that the first one is not in (FastTrack), so it ends at the word. Before a call of
 * the library synchronises or accesses memory, the checker enters the words of flagged parts in the
 * shadow, and clears them: then an epoch ends. On x86-64 the assembler puts a look at the word
 * before the call (check/client/inline.s), in whose place most accesses need no call. Invariants:
 * the checker owns tombolo_check_watch; without a checker, or without races to look for, it watches
 * nothing. A thread writes the word first, then the flag of its part, then that of its group; the
 * checker clears them in the other order. The index of a line never changes, so that the program
 * keeps it beside the code.
 *
 * A line that goes through memory has a run beside its code: the bytes from `first` to `next`, of
 * this epoch. An access at `next` makes it longer, and does nothing else; the words are set when
 * the run ends, with the epoch or because the line goes elsewhere. So does a line outside of the
 * segment, while nothing else is watched. Where threads may race with each other, each has words of
 * its own, and finds them by its thread pointer; so it does its copy of all runs. In place of
 * `next` there is a variable of each thread, but not in shared libraries. A thread that enters what
 * another one has accessed leaves it as it is: only its own thread writes it.
 */
#ifndef TMB_CHECK_LOCAL_H
#define TMB_CHECK_LOCAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Kinds of accesses. */
enum { CHK_LOAD, CHK_STORE };

struct chk_extent {
  uintptr_t base, bytes;
};

/* A word of 8 bytes that were accessed in this epoch; 0: they were not.
 *   1 0 0 LINE      all of them, by this line
 *   0 1 UPPER LINE  four of them, by this line
 *   0 0 BLOCK MASK  bytes of MASK, by the line that has the block
 * Line 0, and block CHK_ENTERED: they are in the shadow already. */
#define CHK_WHOLE          0x8000u
#define CHK_HALF           0x4000u
#define CHK_UPPER          0x2000u
#define CHK_LINES          0x2000u /* in fields of 13 bits; power of two */
#define CHK_LINE_PLACES    16u     /* of a line, one of which it gets */
#define CHK_ENTERED        63u     /* blocks are of 6 bits */

#define CHK_WORDS_OF_PAGE  512u
#define CHK_WORDS_OF_PART  64u
#define CHK_PARTS_OF_PAGE  (CHK_WORDS_OF_PAGE / CHK_WORDS_OF_PART)
#define CHK_PAGES_OF_GROUP 64u
#define CHK_PARTS_OF_GROUP (CHK_PARTS_OF_PAGE * CHK_PAGES_OF_GROUP)
#define CHK_GROUPS         (1u << 18) /* so at most 64 GiB have words */

/* The first accesses of one kind in this epoch. Address space that costs memory where it is used.
 */
struct chk_seen {
  uintptr_t line[CHK_LINES]; /* return addresses of the calls that load or store; 0: free */
  uint8_t block[CHK_LINES];  /* of a line that accesses less than 4 bytes; 0: none */
  uint8_t group[CHK_GROUPS]; /* flags: one of its parts is flagged */
  uint8_t part[CHK_GROUPS * CHK_PARTS_OF_GROUP]; /* flags: one of its words is set */
  uint16_t word[];                               /* of 8 bytes each */
};

/* In place of an address: fences, which are one object. */
#define CHK_FENCE      ((uintptr_t)1)

#define CHK_RUN_LEAST  8u  /* accesses; a shorter run costs more than it saves */
#define CHK_RUN_LOCKED 32u /* the same, of a thread that must lock to begin one */
#define CHK_RUN_TRIES  16u /* runs of a line that are shorter, before it has none */
#define CHK_RUN_STORES 0x80u

/* Accesses of a line to memory in order. Made by inline.s, one beside each call. */
struct chk_run {
  uintptr_t next, first; /* next: 0: there is no run */
  struct chk_run *more;  /* in the list of runs of this epoch */
  uint16_t word;         /* of whole 8 bytes; 0 until the checker knows the line */
  uint8_t tries;         /* more runs that may be too short; 0: the line has none */
  uint8_t how;           /* bytes of an access, and CHK_RUN_STORES */
  uint32_t listed;
  uintptr_t *at; /* of `next`, or of the variable of a thread that is in its place */
};

/* An access of a line that has a run. */
struct chk_place {
  struct chk_run *run;
  uintptr_t *next, addr;
  const void *pc;
};

/* Where the program looks before a call. One of each program and shared library with files that are
 * compiled with `--check`; the checker writes it. */
struct chk_near {
  uintptr_t base, bytes;   /* of the segment that has words, see struct chk_watch */
  uintptr_t others;        /* whether other memory is watched */
  const uint16_t *word[2]; /* [kind] of base */
  struct chk_near *next;
  intptr_t mine; /* of each thread its struct chk_mine, behind its thread pointer; 0: none */
  struct chk_run *runs, *runs_end; /* of its lines */
};

/* Words of a thread, where each has its own. */
struct chk_mine {
  uintptr_t base, bytes; /* of the segment; 0: the checker is called */
  struct chk_seen *seen[2];
  uint16_t *word[2];
};

/* The memory that is watched, and what is called before an access there. A program of another
 * layout is not watched; the first three words stay where they are. */
struct chk_watch {
  size_t size;              /* of this structure */
  uint64_t layout;          /* CHK_LAYOUT */
  uint32_t refused;         /* not 0: the program has files that are compiled for another layout */
  struct chk_extent own;    /* the segment of this process that has words; base: of a page */
  struct chk_seen *seen[2]; /* [kind] */
  struct chk_extent others; /* other segments, second places, buffers of transfers in flight */
  uint32_t files;           /* not 0: the program has files that are compiled with `--check` */
  void (*join)(struct chk_near *near, int leaves); /* a part of the program begins, or leaves */
  void (*access)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  /* An access of the segment that does not make the run of its line longer, see struct chk_run. */
  void (*run)(const struct chk_place *place);
  void (*runs_end)(void);
  /* Before and after an atomic operation on a word. in kind: CHK_LOAD if it only reads. */
  void (*atomic_begin)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  void (*atomic_end)(uintptr_t addr, int kind, const void *pc);
  uint32_t threads; /* not 0: threads may race with each other. Then any atomic operation and any
                     * volatile access is watched. */
  void (*changes)(uintptr_t addr, int kind); /* before a volatile access */
  /* Whether words of this thread settle an access, so that `access` need not be called. */
  int (*settles)(uintptr_t addr, size_t bytes, int kind, const void *pc);
  /* Whether an access is in a run of this thread. in,out copy: what the thread adds to an address
   * in near->runs, 0: it has no copy of them yet; place->run: with that added. */
  int (*run_in_copy)(const struct chk_near *near, intptr_t *copy, const struct chk_place *place);
};

/* What the program and the checker must have alike: a number for what the fields mean, and where
 * they are. */
#ifndef CHK_LAYOUT_VERSION
# define CHK_LAYOUT_VERSION 1
#endif
#define CHK_LAYOUT_1(h, a)          ((h)*UINT64_C(0x100000001b3) + (uint64_t)(a))
#define CHK_LAYOUT_2(h, a, b)       CHK_LAYOUT_1(CHK_LAYOUT_1(h, a), b)
#define CHK_LAYOUT_4(h, a, b, c, d) CHK_LAYOUT_2(CHK_LAYOUT_2(h, a, b), c, d)
#define CHK_AT(type, field)         offsetof(struct type, field)
#define CHK_LAYOUT_OF_SEEN                                                                         \
 CHK_LAYOUT_4(                                                                                     \
     CHK_LAYOUT_4(CHK_LAYOUT_VERSION, CHK_LINES, CHK_LINE_PLACES, CHK_ENTERED, CHK_PARTS_OF_PAGE), \
     CHK_AT(chk_seen, block), CHK_AT(chk_seen, group), CHK_AT(chk_seen, part),                     \
     CHK_AT(chk_seen, word))
#define CHK_LAYOUT_OF_RUN                                                                      \
 CHK_LAYOUT_4(CHK_LAYOUT_4(CHK_LAYOUT_OF_SEEN, sizeof(struct chk_run), CHK_AT(chk_run, first), \
                           CHK_AT(chk_run, more), CHK_AT(chk_run, word)),                      \
              CHK_AT(chk_run, tries), CHK_AT(chk_run, how), CHK_AT(chk_run, at), CHK_RUN_TRIES)
#define CHK_LAYOUT_OF_NEAR                                                                       \
 CHK_LAYOUT_4(CHK_LAYOUT_4(CHK_LAYOUT_OF_RUN, sizeof(struct chk_near), CHK_AT(chk_near, others), \
                           CHK_AT(chk_near, word), CHK_AT(chk_near, mine)),                      \
              CHK_AT(chk_near, runs), CHK_AT(chk_mine, seen), CHK_AT(chk_mine, word),            \
              CHK_AT(chk_place, pc))
#define CHK_LAYOUT                                                                                \
 CHK_LAYOUT_4(CHK_LAYOUT_4(CHK_LAYOUT_OF_NEAR, CHK_AT(chk_watch, own), CHK_AT(chk_watch, others), \
                           CHK_AT(chk_watch, join), CHK_AT(chk_watch, access)),                   \
              CHK_AT(chk_watch, atomic_begin), CHK_AT(chk_watch, changes),                        \
              CHK_AT(chk_watch, settles), CHK_AT(chk_watch, run_in_copy))

extern struct chk_watch tombolo_check_watch;

/* Atomic operations of the program, in record and replay. */
enum { CHK_GET, CHK_SET, CHK_SWAP, CHK_add, CHK_sub, CHK_and, CHK_or, CHK_xor, CHK_nand };

/* Does an operation in its recorded turn, sequentially consistent. in bytes: 1 to 8; a, b: operand;
 * of CHK_SWAP the expected value and the new one. Returns the value before. Defined by
 * replay/runtime, and called if it is loaded. */
typedef uint64_t chk_replay_fn(volatile void *at, size_t bytes, int what, uint64_t a, uint64_t b,
                               const void *pc);
__attribute__((visibility("default"))) extern chk_replay_fn tombolo_replay_atomic;

/* The first place of a line. Two calls are at least 5 bytes apart. */
static inline uint32_t chk_line_place(const void *pc) {
  return (uint32_t)((uintptr_t)pc / 4 % CHK_LINES);
}

/* The next place of a line that has not found one free. */
static inline uint32_t chk_line_next(uint32_t place) {
  return (place + 1021) % CHK_LINES;
}

/* The index of a line; 0: it has none yet. */
static inline uint32_t chk_line_known(const struct chk_seen *s, const void *pc) {
  for (uint32_t i = 0, at = chk_line_place(pc); i < CHK_LINE_PLACES; i++, at = chk_line_next(at))
    if (at && __atomic_load_n(&s->line[at], __ATOMIC_ACQUIRE) == (uintptr_t)pc) return at;
  return 0;
}

/* Bytes of its 8 that a word names. */
static inline uint32_t chk_mask_of(uint32_t word) {
  if (word & CHK_WHOLE) return 0xff;
  if (word & CHK_HALF) return word & CHK_UPPER ? 0xf0 : 0x0f;
  return word & 0xff;
}

/* Flag the part of a word that was set. in index: of the word. */
static inline void chk_flag(struct chk_seen *s, uintptr_t index) {
  const uintptr_t part = index / CHK_WORDS_OF_PART;
  __atomic_store_n(&s->part[part], 1, __ATOMIC_RELEASE);
  __atomic_store_n(&s->group[part / CHK_PARTS_OF_GROUP], 1, __ATOMIC_RELEASE);
}

/* The word after an access of 4 bytes that it does not name yet, or 0: the checker makes it. */
static inline uint32_t chk_after_half(uint32_t was, uint32_t half, uint32_t line) {
  if (!was) return half | line;
  return was == ((half ^ CHK_UPPER) | line) ? CHK_WHOLE | line : 0;
}

/* The word after an access of less than 4 bytes that it does not name yet, or 0. */
static inline uint32_t chk_after_bytes(uint32_t was, uint32_t need, uint32_t block) {
  if (!block || (was && was >> 8 != block)) return 0;
  return block << 8 | (was & 0xff) | need;
}

/* An access of at most 8 bytes, which do not cross a multiple of 8, at an offset in the segment.
 * Returns whether the checker need not be notified. */
static inline int chk_sees(struct chk_seen *s, uintptr_t offset, size_t bytes, const void *pc) {
  const uintptr_t index = offset / 8;
  const uint32_t was = __atomic_load_n(&s->word[index], __ATOMIC_RELAXED);
  const uint32_t half = CHK_HALF | (uint32_t)(offset & 4) << 11;
  const uint32_t need = ((1u << bytes % 8) - 1) << offset % 8;
  if ((int16_t)was < 0) return 1;
  if (bytes == 8 && was) return 0;
  if (bytes == 4 && (was & (CHK_HALF | CHK_UPPER)) == half) return 1;
  if (bytes < 4 && !(need & ~chk_mask_of(was))) return 1;
  const uint32_t line = chk_line_place(pc);
  if (s->line[line] != (uintptr_t)pc) return 0;
  uint32_t now = CHK_WHOLE | line;
  if (bytes == 4) now = chk_after_half(was, half, line);
  if (bytes < 4) now = chk_after_bytes(was, need, s->block[line]);
  if (!now) return 0;
  __atomic_store_n(&s->word[index], (uint16_t)now, __ATOMIC_RELAXED);
  chk_flag(s, index);
  return 1;
}

/* An access of 16 bytes at a multiple of 8. Returns whether the checker need not be notified. */
static inline int chk_sees_two(struct chk_seen *s, uintptr_t offset, const void *pc) {
  const uintptr_t index = offset / 8;
  const uint32_t both = CHK_WHOLE | CHK_WHOLE << 16, line = chk_line_place(pc);
  uint32_t words;
  memcpy(&words, &s->word[index], sizeof words);
  if ((words & both) == both) return 1;
  if (words || s->line[line] != (uintptr_t)pc) return 0;
  if (index % CHK_WORDS_OF_PART == CHK_WORDS_OF_PART - 1) return 0; /* two parts to flag */
  words = both | line | line << 16;
  memcpy(&s->word[index], &words, sizeof words);
  chk_flag(s, index);
  return 1;
}

/* Whether words of a thread settle an access of any kind of bytes. */
static inline int chk_settled(const struct chk_mine *mine, uintptr_t addr, size_t bytes, int kind,
                              const void *pc) {
  const uintptr_t offset = addr - mine->base;
  if (offset >= mine->bytes) return 0;
  if (addr % 8 + bytes <= 8) return chk_sees(mine->seen[kind], offset, bytes, pc);
  return bytes == 16 && addr % 8 == 0 && chk_sees_two(mine->seen[kind], offset, pc);
}

#endif
