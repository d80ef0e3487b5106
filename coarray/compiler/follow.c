/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the words of a structure whose addresses an accessor follows, and the words behind them.
 *
 * Owns nothing beyond a call. Called by trial.c, in a child process. Calls: accessors. The problem:
 * an address in a structure of another image is good here, too, if it is one of that image's
 * segment, which lies at the same place in all processes. So an access may be made here if all
 * addresses that the accessor follows are such ones; but which does it follow? The accessor runs on
 * a copy of the coarray, with addresses changed to those of two regions as large as the segment.
 * Of TRAP, an access ends the run: one word after the other is sent there. Of FILL, each page gets
 * bytes that are all equal when it is touched: as addresses they are not canonical, so to follow an
 * address that was found by another one ends the run, too. Where an accessor follows one word, it
 * may follow another one in the memory to which that leads, as of an allocatable component of such
 * a component: then the first words of that memory are copied into FILL, too, and these addresses
 * are changed to those of a FILL of their own. Of an array of structures the element may be found
 * by one or two subscripts, or be always the same one; so may an element of an array within a
 * structure. Invariants: no run reaches memory that other processes have; the words do not depend
 * on the values that the accessor gets from its caller, save these subscripts: other values follow
 * no other word.
 */
#include "compiler/follow.h"

#include "compiler/try.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  WORD = sizeof(uint64_t),
  ADD_MAX = 256,
  PAGES_MAX = 1024,
  ELEMENT_WORDS = 64,
  PART_WORDS = CAF_FOLLOW_BYTES / WORD,
  BLOCK_WORDS = CAF_BOUND_BLOCK / WORD,
  AROUND = 1 << 24 /* bytes without memory on each side of a page */
};
static const uint64_t NO_ADDRESS = 0x8181818181818181u; /* far from any memory */
/* FILL + k: of addresses behind k others. */
enum region { TRAP, FILL, REGIONS = FILL + CAF_LINKS_MAX + 1 };

/* The first words of the memory to which an address of a rank leads. */
struct block {
  uintptr_t at;   /* there */
  uint64_t traps; /* which of its words go to TRAP; others go to the next FILL */
};

/* A trial; of the child, for its signal handler. */
static struct {
  char *regions;   /* [REGIONS] */
  uintptr_t bytes; /* of each, a multiple of a page */
  size_t page, pages;
  char *filled[PAGES_MAX]; /* [pages] */
  int value;               /* of filled bytes */
  bool trapped;            /* the run has touched TRAP */
  uintptr_t at;            /* of the last fault */
  sigjmp_buf end;          /* of the run */
  uint32_t blocks;
  struct block block[CAF_LINKS_MAX]; /* [blocks] */
} trial;

/* Fills the page of an address with bytes. Returns false where there can be no more. */
static bool fill_page(uintptr_t at) {
  char *const page = trial.regions + at / trial.page * trial.page;
  if (trial.pages == PAGES_MAX || mprotect(page, trial.page, PROT_READ | PROT_WRITE) != 0)
    return false;
  memset(page, trial.value, trial.page);
  trial.filled[trial.pages++] = page;
  return true;
}

static void on_fault(int sig, siginfo_t *info, void *context) {
  (void)sig;
  (void)context;
  const uintptr_t at = (uintptr_t)info->si_addr - (uintptr_t)trial.regions;
  trial.at = (uintptr_t)info->si_addr;
  trial.trapped = at < trial.bytes;
  if (at < trial.bytes || at >= REGIONS * trial.bytes || !fill_page(at)) siglongjmp(trial.end, 1);
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

static uintptr_t moved(const struct caf_trial *t, uintptr_t word, unsigned region) {
  const uintptr_t offset = caf_bound_has(t->rank, word) ? word - caf.bound[t->rank].low
                                                        : word % trial.bytes / WORD * WORD;
  return (uintptr_t)trial.regions + region * trial.bytes + offset;
}

/* Copies a word of the rank, with an address that is changed to one of a region. */
static void copy_word(const struct caf_trial *t, char *to, const char *from, unsigned region) {
  uint64_t word;
  memcpy(&word, from, WORD);
  if (is_address(t, word)) word = moved(t, word, region);
  memcpy(to, &word, WORD);
}

/* The coarray of the rank, as it is here. */
static const char *coarray_of(const struct caf_trial *t) {
  return (const char *)t->token->addr[t->rank] + caf.delta[t->rank];
}

/* Copies the coarray. Addresses in words of an element that `trapped` has go to TRAP, others to
 * FILL. */
static void copy_moved(const struct caf_trial *t, char *copy, uint64_t trapped) {
  const size_t element = t->element / WORD, count = t->token->bytes / WORD;
  const char *const from = coarray_of(t);
  memcpy(copy, from, t->token->bytes);
  for (size_t i = 0; i < count; i++)
    copy_word(t, copy + i * WORD, from + i * WORD, trapped >> i % element & 1 ? TRAP : FILL);
}

/* Copies the coarray so that a run shows whether the accessor follows a word of an element: only
 * that goes to TRAP, or (others) all but that. */
static void copy_element(const struct caf_trial *t, char *copy, size_t at, bool others) {
  copy_moved(t, copy, others ? UINT64_MAX : 0);
  copy_word(t, copy + at, coarray_of(t) + at, others ? FILL : TRAP);
}

/* Copies the blocks into FILL. */
static void place_blocks(const struct caf_trial *t) {
  for (uint32_t b = 0; b < trial.blocks; b++) {
    const struct block *block = &trial.block[b];
    const uintptr_t at = moved(t, block->at, FILL + b) - (uintptr_t)trial.regions;
    const uintptr_t last = at + CAF_BOUND_BLOCK - 1;
    (void)fill_page(at);
    if (last / trial.page != at / trial.page) (void)fill_page(last);
    for (size_t w = 0; w < BLOCK_WORDS; w++)
      copy_word(t, trial.regions + at + w * WORD, (const char *)block->at + w * WORD,
                block->traps >> w & 1 ? TRAP : FILL + b + 1);
  }
}

/* Makes FILL empty for a run. */
static void begin_run(const struct caf_trial *t, int value) {
  trial.value = value;
  trial.trapped = false;
  trial.at = 0;
  for (; trial.pages; trial.pages--)
    (void)mprotect(trial.filled[trial.pages - 1], trial.page, PROT_NONE);
  place_blocks(t);
}

/* Whether the run has written to the last FILL. */
static bool has_written(void) {
  for (size_t i = 0; i < trial.pages; i++) {
    const uintptr_t at = (uintptr_t)(trial.filled[i] - trial.regions);
    if (at < (FILL + trial.blocks) * trial.bytes) continue;
    for (size_t k = 0; k < trial.page; k++)
      if ((unsigned char)trial.filled[i][k] != trial.value) return true;
  }
  return false;
}

/* Runs the accessor on the copy. Returns whether it came to its end. */
static bool run(const struct caf_trial *t, const struct caf_ask *ask, char *copy,
                struct caf_seen *seen, int value) {
  *seen = (struct caf_seen){.bytes = 0};
  begin_run(t, value);
  if (sigsetjmp(trial.end, 1)) return false;
  return caf_try(ask, copy + t->offset, seen) == 0;
}

/* The words that one run each has followed. */
static uint64_t find_words(const struct caf_trial *t, char *copy, const struct caf_ask *ask) {
  struct caf_seen seen;
  uint64_t words = 0;
  for (size_t w = 0; w < t->element / WORD; w++) {
    copy_moved(t, copy, (uint64_t)1 << w);
    (void)run(t, ask, copy, &seen, 0);
    if (trial.trapped) words |= (uint64_t)1 << w;
  }
  return words;
}

/* Whether the accessor needs nothing but the memory to which these words lead, and the blocks. */
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

/* Runs the accessor with another value. */
struct values {
  struct caf_ask ask;
  _Alignas(16) char add[ADD_MAX];
};

/* Adds to a value of the accessor. [in] at: of 4 bytes of `add`. */
static void set_value(struct values *v, const struct caf_trial *t, size_t at, uint32_t change) {
  uint32_t value;
  memset(v->add, 0, sizeof v->add);
  v->ask = *t->ask;
  v->ask.add = v->add;
  memcpy(v->add, t->ask->add, t->ask->add_bytes);
  memcpy(&value, v->add + at, sizeof value);
  value += change;
  memcpy(v->add + at, &value, sizeof value);
}

/* The 8 bytes of `add` that have these 4. */
static uintptr_t whole_value(const struct caf_trial *t, size_t at) {
  uintptr_t whole = 0;
  const size_t begin = at / WORD * WORD, left = t->ask->add_bytes - begin;
  memcpy(&whole, (const char *)t->ask->add + begin, left < WORD ? left : WORD);
  return whole;
}

static bool holds_address(const struct caf_trial *t, size_t at) {
  return is_mapped(whole_value(t, at));
}

/* The same. Returns false where the bytes can be no integer of their own. */
static bool change_value(struct values *v, const struct caf_trial *t, size_t at, uint32_t change) {
  uint32_t value;
  memcpy(&value, (const char *)t->ask->add + at, sizeof value);
  const bool upper_half = at % WORD && (value == 0 || value == UINT32_MAX); /* of 8 bytes */
  if (upper_half || holds_address(t, at)) return false;
  set_value(v, t, at, change);
  return true;
}

/* ---- the element of an array that a subscript names */

/* Whether a run with these values follows a word of the coarray, and no other one. */
static bool follows_only(const struct caf_trial *t, char *copy, const struct caf_ask *ask,
                         size_t word) {
  struct caf_seen seen;
  if (word >= t->token->bytes) return false;
  copy_element(t, copy, word, false);
  (void)run(t, ask, copy, &seen, 0);
  if (!trial.trapped) return false;
  copy_element(t, copy, word, true);
  (void)run(t, ask, copy, &seen, 0);
  return !trial.trapped;
}

/* Whether the 4 bytes at `at` are a subscript: with each of its values the accessor follows the
 * word of that element. [in] index: of the element that the access itself has. */
static bool is_subscript(const struct caf_trial *t, char *copy, size_t word, size_t index,
                         size_t at) {
  const size_t count = t->token->bytes / t->element;
  struct values v;
  bool is = true;
  for (size_t i = 0; i < count && is; i++)
    is = change_value(&v, t, at, (uint32_t)(i - index)) &&
         follows_only(t, copy, &v.ask, i * t->element + word);
  return is;
}

/* Finds the subscript of the element that is accessed. Returns the element. */
static size_t find_subscript(const struct caf_trial *t, char *copy, struct caf_path *path) {
  const size_t count = t->token->bytes / t->element;
  uint32_t value;
  size_t index = 0, at = 0;
  while (index < count && !follows_only(t, copy, t->ask, index * t->element + path->word)) index++;
  if (index == count) return index;
  while (at + 4 <= t->ask->add_bytes && !is_subscript(t, copy, path->word, index, at)) at += 4;
  if (at + 4 > t->ask->add_bytes) return index;
  memcpy(&value, (const char *)t->ask->add + at, sizeof value);
  path->subscript = (uint16_t)at;
  path->first = value - (uint32_t)index;
  path->count = (uint32_t)count;
  path->stride = (uint16_t)t->element;
  path->counted = true;
  return index;
}

/* How many components in a row the accessor follows, beside that of the access itself. [in] step:
 * 1, or UINT32_MAX: backwards. */
static uint32_t count_row(const struct caf_trial *t, char *copy, size_t at, uint32_t step,
                          size_t word, size_t stride) {
  struct values v;
  uint32_t count = 0;
  for (size_t next = word;; count++) {
    next += step == 1 ? stride : -stride;
    if (!change_value(&v, t, at, step * (count + 1)) || !follows_only(t, copy, &v.ask, next))
      return count;
  }
}

/* The only word of the coarray that a run with these values follows, or SIZE_MAX. */
static size_t find_word(const struct caf_trial *t, char *copy, const struct caf_ask *ask) {
  const uint64_t words = find_words(t, copy, ask);
  size_t word = words ? WORD * (size_t)__builtin_ctzll(words) : SIZE_MAX;
  while (word < t->token->bytes && !follows_only(t, copy, ask, word)) word += t->element;
  return word < t->token->bytes ? word : SIZE_MAX;
}

/* Values of a subscript, and the words that the accessor follows with each. */
struct row {
  size_t at;                     /* of the value in `add` */
  size_t stride;                 /* bytes from word to word */
  uint32_t value, before, after; /* of the access; values below and above it */
};

/* Finds the subscript of an array of components, or of elements. [in] word: of the access; path:
 * NULL: none may fall, as 9-k; else it may, and is another one than that of the path. Returns false
 * where there is none. */
static bool find_row(const struct caf_trial *t, char *copy, size_t word,
                     const struct caf_path *path, struct row *row) {
  const size_t but = path && path->counted ? path->subscript : SIZE_MAX;
  struct values v;
  for (size_t at = 0; at + 4 <= t->ask->add_bytes; at += 4)
    for (uint32_t step = 1; at != but && (step == 1 || step == UINT32_MAX); step -= 2) {
      if (!change_value(&v, t, at, step)) continue;
      const size_t next = find_word(t, copy, &v.ask);
      const size_t stride = step == 1 ? next - word : word - next;
      if (next == SIZE_MAX || !stride || (!path && stride > t->token->bytes)) continue;
      *row = (struct row){.at = at, .stride = stride};
      memcpy(&row->value, (const char *)t->ask->add + at, sizeof row->value);
      row->before = count_row(t, copy, at, UINT32_MAX, word, stride);
      row->after = count_row(t, copy, at, 1, word, stride);
      return true;
    }
  return false;
}

/* Makes a row the subscript of a path. Returns the number of the word, from 0 on, that is accessed.
 */
static size_t take_row(struct caf_path *path, const struct row *row) {
  path->subscript = (uint16_t)row->at;
  path->first = row->value - row->before;
  path->count = row->before + 1 + row->after;
  path->stride = (uint16_t)row->stride;
  path->word = (uint16_t)(path->word - row->before * row->stride);
  path->counted = true;
  return row->before;
}

/* Whether the accessor follows the word that a path with two subscripts says, with other values.
 * [in] word: of the access; by: what is added to its two values. */
static bool follows_both(const struct caf_trial *t, char *copy, const struct caf_path *path,
                         const struct row *row, size_t word, const uint32_t by[2]) {
  struct values v, both;
  const size_t next = word + (size_t)(ptrdiff_t)(int32_t)by[0] * path->stride +
                      (size_t)(ptrdiff_t)(int32_t)by[1] * row->stride;
  if (next >= t->token->bytes) return true; /* the path refuses it */
  struct caf_trial moved = *t;
  if (path->counted) {
    if (!change_value(&v, t, path->subscript, by[0])) return false;
    moved.ask = &v.ask;
  }
  return change_value(&both, &moved, row->at, by[1]) && follows_only(t, copy, &both.ask, next);
}

/* Finds a second subscript, or the only one if it falls. Each pair of values is tried. [in] index:
 * as find_element gives it. */
static void find_second(const struct caf_trial *t, char *copy, struct caf_path *path,
                        size_t index) {
  enum { PAIRS_MAX = 512 };
  struct row row;
  const size_t word = path->word + index * path->stride;
  if (!find_row(t, copy, word, path, &row)) return;
  const uint32_t count = row.before + 1 + row.after, first_count = path->counted ? path->count : 1;
  if (first_count * count > PAIRS_MAX) return;
  for (uint32_t i = 0; i < first_count; i++)
    for (uint32_t k = 0; k < count; k++)
      if (!follows_both(t, copy, path, &row, word,
                        (const uint32_t[]){i - (uint32_t)index, k - row.before}))
        return;
  path->second = (struct caf_second){.first = row.value - row.before,
                                     .count = count,
                                     .stride = (uint32_t)row.stride,
                                     .back = row.before * (uint32_t)row.stride,
                                     .limit = (uint32_t)t->token->bytes,
                                     .subscript = (uint16_t)row.at};
}

/* A part of the coarray, and words of an element that the accessor may follow in it. */
struct part {
  size_t offset, bytes;
  uint64_t words;
};

/* Whether the accessor follows these words of a part alone. The part begins or ends its page, and
 * beside the page is no memory. These words are addresses of none, so to follow one ends the run;
 * others go to TRAP. */
static bool keeps_to(const struct caf_trial *t, char *page, const struct part *part, bool at_end,
                     const struct caf_ask *ask) {
  struct caf_seen seen;
  uint64_t word[PART_WORDS];
  const size_t words = part->bytes / WORD, page_words = trial.page / WORD;
  char *const begin = at_end ? page + trial.page - part->bytes : page;
  memcpy(word, coarray_of(t) + part->offset, part->bytes);
  for (size_t w = 0; w < words; w++)
    if (part->words >> w % (t->element / WORD) & 1)
      word[w] = NO_ADDRESS;
    else if (is_address(t, word[w]))
      word[w] = moved(t, word[w], TRAP);
  const size_t first = at_end ? words - page_words % words : 0;
  for (size_t w = 0; w < page_words; w++) /* it fills the page again and again */
    memcpy(page + w * WORD, &word[(w + first) % words], WORD);
  begin_run(t, 0);
  if (!sigsetjmp(trial.end, 1)) (void)caf_try(ask, begin - part->offset + t->offset, &seen);
  return trial.at - (uintptr_t)page + AROUND >= 2 * AROUND + trial.page &&
         trial.at - (uintptr_t)trial.regions >= REGIONS * trial.bytes;
}

/* Whether any of the values of the accessor may be the address of others. */
static bool has_addresses(const struct caf_trial *t) {
  for (size_t at = 0; at + 4 <= t->ask->add_bytes; at += 4)
    if (holds_address(t, at)) return true;
  return false;
}

/* Whether these 4 bytes of the values are a subscript of the path. */
static bool has_subscript(const struct caf_path *path, size_t at) {
  return (path->counted && at == path->subscript) ||
         (path->second.count && at == path->second.subscript);
}

/* Whether the accessor does so whatever its values are, none of which is an address: a value that
 * has part in a subscript reaches the next word by some step. Those that the path knows may do so.
 */
static bool always_keeps_to(const struct caf_trial *t, const struct part *part,
                            const struct caf_path *path) {
  struct values v;
  char *const around = mmap(NULL, 2 * AROUND + trial.page, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *const page = around + AROUND;
  if (around == MAP_FAILED || part->bytes > trial.page ||
      mprotect(page, trial.page, PROT_READ | PROT_WRITE))
    return false;
  bool keeps = true;
  for (size_t at = 0; keeps && at + 4 <= t->ask->add_bytes; at += 4)
    for (int bit = -1; keeps && bit < 31 && !has_subscript(path, at); bit++) {
      set_value(&v, t, at, bit < 0 ? UINT32_MAX : (uint32_t)1 << bit);
      keeps = keeps_to(t, page, part, false, &v.ask) && keeps_to(t, page, part, true, &v.ask);
    }
  (void)munmap(around, 2 * AROUND + trial.page);
  return keeps;
}

/* Whether it always keeps to the word that the access itself has. [in] index: of that behind
 * path->word. */
static bool keeps_to_path(const struct caf_trial *t, const struct caf_path *path, size_t index) {
  const size_t at = path->word + index * path->stride, in = at % t->element;
  const struct part part = {at - in, t->element, (uint64_t)1 << in / WORD};
  if (has_addresses(t)) return path->counted || path->second.count || t->element == t->token->bytes;
  return always_keeps_to(t, &part, path);
}

/* Finds the element that is accessed: by a subscript, or always the same one. Returns false where
 * there is none. [out] index: of the element, or component, behind path->word. */
static bool find_element(const struct caf_trial *t, char *copy, struct caf_path *path,
                         size_t *index) {
  struct row row;
  *index = 0; /* of a fixed element, as `word` has it */
  if (t->element != t->token->bytes) {
    const size_t found = find_subscript(t, copy, path);
    if (found * t->element >= t->token->bytes) return false;
    if (path->counted)
      *index = found;
    else
      path->word = (uint16_t)(path->word + found * t->element);
  }
  if (!path->counted && find_row(t, copy, path->word, NULL, &row)) *index = take_row(path, &row);
  find_second(t, copy, path, *index);
  return true;
}

/* The element that the access itself has. */
static size_t index_of(const struct caf_trial *t, const struct caf_path *path) {
  uint32_t value;
  if (!path->counted) return 0;
  memcpy(&value, (const char *)t->ask->add + path->subscript, sizeof value);
  return value - path->first;
}

/* ---- words behind the first */

/* Adds a block for the memory to which an address leads. */
static bool add_block(const struct caf_trial *t, uintptr_t address) {
  if (!caf_bound_has(t->rank, address) || address % WORD || trial.blocks == CAF_LINKS_MAX)
    return false;
  trial.block[trial.blocks++] = (struct block){address, 0};
  return true;
}

/* Finds the word of the last block that the accessor follows. [out] at: its offset. */
static bool find_link(const struct caf_trial *t, char *copy, uint64_t words, uint16_t *at) {
  struct block *block = &trial.block[trial.blocks - 1];
  struct caf_seen seen;
  uint64_t found = 0;
  for (size_t w = 0; w < BLOCK_WORDS; w++) {
    block->traps = (uint64_t)1 << w;
    copy_moved(t, copy, ~words);
    (void)run(t, t->ask, copy, &seen, 0);
    if (trial.trapped) found |= block->traps;
  }
  block->traps = ~found;
  *at = found ? (uint16_t)(WORD * (size_t)__builtin_ctzll(found)) : 0;
  return found && !(found & (found - 1));
}

/* Finds the words behind the first, until these are enough. Returns false where they never are. */
static bool find_links(const struct caf_trial *t, char *copy, uint64_t words, size_t index,
                       struct caf_path *path) {
  uintptr_t address;
  memcpy(&address, coarray_of(t) + index * path->stride + path->word, WORD);
  while (!is_enough(t, copy, words)) {
    uint16_t at;
    if (!add_block(t, address) || !find_link(t, copy, words, &at)) return false;
    memcpy(&address, (const char *)trial.block[trial.blocks - 1].at + at, WORD);
    path->link[path->links++] = at;
  }
  return true;
}

/* Whether the accessor follows other words, or ends in a fault, when a value that it gets differs:
 * that may be a subscript. [in] at: of 4 bytes of `add`. */
static bool depends_on(const struct caf_trial *t, char *copy, const struct caf_followed *f,
                       size_t at, uint32_t change) {
  struct values v;
  struct caf_seen seen;
  if (!change_value(&v, t, at, change)) return false;
  if (f->path.sizes)
    copy_element(t, copy, index_of(t, &f->path) * f->path.stride + f->path.word, true);
  else
    copy_moved(t, copy, ~f->words);
  return !run(t, &v.ask, copy, &seen, 0);
}

static bool depends_on_values(const struct caf_trial *t, char *copy, const struct caf_followed *f) {
  bool depends = false;
  for (size_t at = 0; at + 4 <= t->ask->add_bytes && !depends; at += 4)
    if (!has_subscript(&f->path, at))
      depends = depends_on(t, copy, f, at, 1) || depends_on(t, copy, f, at, UINT32_MAX);
  return depends;
}

static bool begin_trial(const struct caf_trial *t) {
  struct sigaction action;
  trial.page = (size_t)sysconf(_SC_PAGESIZE);
  trial.bytes = (caf.bound[t->rank].bytes + CAF_BOUND_BLOCK + trial.page - 1) & -trial.page;
  trial.regions = mmap(NULL, REGIONS * trial.bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial.regions == MAP_FAILED) return false;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

/* Finds the path of the only word. Without a path there remain the words of all elements. */
static bool find_path(const struct caf_trial *t, char *copy, struct caf_followed *f) {
  struct caf_path path = {.word = (uint16_t)(WORD * (size_t)__builtin_ctzll(f->words))};
  size_t index;
  if (t->offset || f->words & (f->words - 1)) return false;
  if (!find_element(t, copy, &path, &index) || !keeps_to_path(t, &path, index)) return false;
  f->path = path;
  if (!find_links(t, copy, f->words, index, &f->path)) return false;
  f->path.sizes = caf_sizes_of(t->token->bytes, t->token->elem_bytes);
  if (t->ask->object) f->path.origin = (int32_t)t->ask->object->offset;
  if (depends_on_values(t, copy, f)) return false;
  f->path.second.sizes = f->path.sizes;
  if (f->path.second.count) f->path.sizes = 0;
  return true;
}

void caf_follow(const struct caf_trial *t, struct caf_followed *found) {
  struct caf_followed f = {0};
  if (t->element % WORD || t->element > ELEMENT_WORDS * WORD || t->ask->add_bytes > ADD_MAX) return;
  char *copy = aligned_alloc(64, (t->token->bytes + 63) / 64 * 64);
  if (!copy || !begin_trial(t)) return;
  f.words = find_words(t, copy, t->ask);
  if (!f.words) return;
  if (!find_path(t, copy, &f)) {
    f.path = (struct caf_path){0};
    trial.blocks = 0;
    const struct part all = {0, t->token->bytes, f.words};
    if (!is_enough(t, copy, f.words) || depends_on_values(t, copy, &f)) return;
    if (!has_addresses(t) && !always_keeps_to(t, &all, &f.path)) return;
  }
  *found = f;
}

/* Whether the words of a path with two subscripts, or one that falls, lead to the segment of the
 * rank. [in] add: as of caf_follow_path. */
static bool follow_both(const struct caf_token *t, const struct caf_path *path, uint32_t rank,
                        const void *add) {
  uint32_t one = 0, two;
  if (t->sizes != path->second.sizes) return false;
  if (path->counted) {
    memcpy(&one, (const char *)add + path->subscript, sizeof one);
    one -= path->first;
    if (one >= path->count) return false;
  }
  memcpy(&two, (const char *)add + path->second.subscript, sizeof two);
  two -= path->second.first;
  const uint32_t at =
      path->word + one * path->stride + two * path->second.stride - path->second.back;
  return two < path->second.count && at < path->second.limit &&
         caf_follow_links(path, rank, t->addr[rank] + at);
}

/* Whether the words of all elements lead to the segment of the rank. */
static bool all_reach(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank) {
  const struct caf_bound segment = caf.bound[rank];
  const char *const base = (const char *)t->addr[rank];
  const struct caf_path *const path = &trials->path;
  if (path->links || (path->counted && path->stride < trials->element)) return false;
  for (uint64_t words = trials->followed; words; words &= words - 1)
    for (size_t at = WORD * (size_t)__builtin_ctzll(words); at < t->bytes; at += trials->element) {
      uint64_t word;
      memcpy(&word, base + at, WORD);
      if (word - segment.low >= segment.bytes) return false;
    }
  return true;
}

bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset, const struct caf_desc *shape, const void *add) {
  const struct caf_path *const path = &trials->path;
  const size_t element = trials->element;
  if (!trials->followed || caf.delta[rank] || t->bytes > CAF_FOLLOW_BYTES) return false;
  const bool fits = !offset && caf_follow_fits(path, shape);
  if (path->second.count) return fits && follow_both(t, path, rank, add);
  if (fits && caf_follow_path(t, path, rank, t->addr[rank], add)) return true;
  return element == (t->elem_bytes ? t->elem_bytes : t->bytes) &&
         trials->offset == (offset < element ? offset : offset % element) &&
         all_reach(t, trials, rank);
}
