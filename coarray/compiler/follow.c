/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the words of a structure whose addresses an accessor follows, and the words behind them.
 *
 * Owns nothing beyond a call. Called by trial.c, in a child process. Calls: accessors. The problem:
 * an address in a structure of another image is good here, too, if it is one of that image's
 * segment, which lies at the same place in all processes. So an access may be made here if all
 * addresses that the accessor follows are such ones; but which does it follow? The accessor runs on
 * a copy of the coarray, with addresses changed to those of two regions as large as the segment.
 * Of TRAP, an access ends the run: words are sent there, one or half of them at a time. Of FILL,
 * each page gets bytes that are all equal when it is touched: as addresses they are not canonical,
 * so to follow an address that was found by another one ends the run, too. Where an accessor
 * follows one word, it may follow another one in the memory to which that leads, as of an
 * allocatable component of such a component: then the first words of that memory are copied into
 * FILL, too, and these addresses are changed to those of a FILL of their own. Subscripts may choose
 * the word: each is a value of 4 bytes that moves it by a constant stride.
 * Invariants: no run reaches memory that other processes have; the words do not depend on the
 * values that the accessor gets from its caller, save these subscripts: other values follow no
 * other word.
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
  ELEMENT_WORDS = 64, /* of the bits of `words` */
  BLOCK_WORDS = CAF_BOUND_BLOCK / WORD,
  ROW_WHOLE = 256,  /* values of a subscript that are tried without gaps */
  TUPLES_MAX = 512, /* of values of several */
  AROUND = 1 << 24  /* bytes without memory on each side of a page */
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
  char *fill, *trap;                 /* the coarray with all addresses changed to those of one */
  char *copy;                        /* [bytes of the coarray] of a run */
  uint64_t *part;                    /* [bytes of the coarray] */
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
  return !(word >> 56) && mincore((void *)(word / trial.page * trial.page), 1, &resident) == 0;
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

/* Makes a copy of the coarray whose addresses are those of a region. Returns NULL: no memory. */
static char *copy_all(const struct caf_trial *t, unsigned region) {
  const size_t bytes = t->token->bytes;
  const char *const from = coarray_of(t);
  char *const copy = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!copy) return NULL;
  memcpy(copy, from, bytes);
  for (size_t at = 0; at + WORD <= bytes; at += WORD) copy_word(t, copy + at, from + at, region);
  return copy;
}

/* Makes the copy of a run: addresses in words of an element that `trapped` has go to TRAP, others
 * to FILL. */
static void copy_moved(const struct caf_trial *t, uint64_t trapped) {
  const size_t element = t->element / WORD, count = t->token->bytes / WORD;
  memcpy(trial.copy, trial.fill, t->token->bytes);
  for (size_t i = 0; i < count; i++)
    if (trapped >> i % element & 1) memcpy(trial.copy + i * WORD, trial.trap + i * WORD, WORD);
}

/* The same, of the addresses in a part of the coarray. */
static void copy_part(const struct caf_trial *t, size_t begin, size_t end) {
  memcpy(trial.copy, trial.fill, t->token->bytes);
  memcpy(trial.copy + begin, trial.trap + begin, end - begin);
}

/* The same, of the addresses in all words but one, which goes to FILL whatever it is. */
static void copy_but(const struct caf_trial *t, size_t at) {
  memcpy(trial.copy, trial.trap, t->token->bytes);
  copy_word(t, trial.copy + at, coarray_of(t) + at, FILL);
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

/* Runs the accessor on a copy. Returns whether it came to its end. */
static bool run_on(const struct caf_trial *t, const struct caf_ask *ask, char *copy,
                   struct caf_seen *seen, int value) {
  *seen = (struct caf_seen){.bytes = 0};
  begin_run(t, value);
  if (sigsetjmp(trial.end, 1)) return false;
  return caf_try(ask, copy + t->offset, seen) == 0;
}

static bool run(const struct caf_trial *t, const struct caf_ask *ask, struct caf_seen *seen,
                int value) {
  return run_on(t, ask, trial.copy, seen, value);
}

/* Whether a run touches TRAP. */
static bool is_trapped(const struct caf_trial *t, const struct caf_ask *ask, char *copy) {
  struct caf_seen seen;
  (void)run_on(t, ask, copy, &seen, 0);
  return trial.trapped;
}

/* The words that one run each has followed. */
static uint64_t find_words(const struct caf_trial *t) {
  uint64_t words = 0;
  for (size_t w = 0; w < t->element / WORD; w++) {
    copy_moved(t, (uint64_t)1 << w);
    if (is_trapped(t, t->ask, trial.copy)) words |= (uint64_t)1 << w;
  }
  return words;
}

/* Whether the accessor needs nothing but the memory to which the words lead that go to FILL in the
 * copy, and the blocks. */
static bool is_enough(const struct caf_trial *t) {
  const int values[] = {0x81, caf_try_second(t->ask)};
  struct caf_seen seen[2];
  for (int i = 0; i < 2; i++) {
    if (!run(t, t->ask, &seen[i], values[i])) return false;
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

/* ---- the word that subscripts name */

/* The same, with another address in one word, also where there is none as yet. */
static bool is_trapped_with(const struct caf_trial *t, const struct caf_ask *ask, char *copy,
                            size_t at, unsigned region) {
  uint64_t before, word;
  memcpy(&word, coarray_of(t) + at, WORD);
  memcpy(&before, copy + at, WORD);
  word = moved(t, is_address(t, word) ? word : trial.bytes / 2, region);
  memcpy(copy + at, &word, WORD);
  const bool trapped = is_trapped(t, ask, copy);
  memcpy(copy + at, &before, WORD);
  return trapped;
}

/* Whether a run with these values follows a word of the coarray, and no other one. */
static bool follows_only(const struct caf_trial *t, const struct caf_ask *ask, size_t at) {
  if (at >= t->token->bytes / WORD * WORD) return false;
  const bool follows = is_trapped_with(t, ask, trial.fill, at, TRAP);
  return follows && !is_trapped_with(t, ask, trial.trap, at, FILL);
}

/* The only word of the coarray that a run with these values follows, or SIZE_MAX. */
static size_t find_word(const struct caf_trial *t, const struct caf_ask *ask) {
  size_t low = 0, high = t->token->bytes / WORD;
  copy_part(t, low, high * WORD);
  if (!is_trapped(t, ask, trial.copy)) return SIZE_MAX;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    copy_part(t, low * WORD, middle * WORD);
    if (is_trapped(t, ask, trial.copy))
      high = middle;
    else
      low = middle;
  }
  return follows_only(t, ask, low * WORD) ? low * WORD : SIZE_MAX;
}

/* A subscript: a value of the accessor, and the words that it follows with each. */
struct row {
  uint16_t at;                   /* of the value in `add` */
  uint32_t stride;               /* bytes from word to word, modulo 2**32 */
  uint32_t value, before, after; /* of the access; values below and above it */
};

/* Subscripts of an access. */
struct rows {
  size_t word; /* of the access */
  uint32_t count;
  struct row row[CAF_SUBSCRIPTS_MAX]; /* [count] */
};

/* How many words in a row the accessor follows, beside that of the access. [in] by: 1, or -1:
 * backwards. */
static uint32_t count_row(const struct caf_trial *t, size_t word, const struct row *row,
                          uint32_t by) {
  struct values v;
  uint32_t count = 0, step = 1;
  while (step) {
    const uint32_t change = (count + step) * by;
    set_value(&v, t, row->at, change);
    if (follows_only(t, &v.ask, (uint32_t)word + change * row->stride)) {
      count += step;
      step = 1 + count / ROW_WHOLE;
    } else {
      step /= 2;
    }
  }
  return count;
}

/* Whether 4 bytes of the values are a subscript. */
static bool is_row(const struct caf_trial *t, size_t word, size_t at, struct row *row) {
  struct values v;
  size_t next = SIZE_MAX;
  uint32_t by = 1;
  for (int i = 0; i < 2 && (next == SIZE_MAX || next == word); i++, by = -by) {
    set_value(&v, t, at, by);
    next = find_word(t, &v.ask);
    row->stride = by * (uint32_t)(next - word);
  }
  if (next == SIZE_MAX || next == word) return false;
  row->at = (uint16_t)at;
  memcpy(&row->value, (const char *)t->ask->add + at, sizeof row->value);
  row->before = count_row(t, word, row, UINT32_MAX);
  row->after = count_row(t, word, row, 1);
  return true;
}

static uint32_t count_of(const struct row *row) {
  return row->before + 1 + row->after;
}

/* Whether the accessor follows the word that these subscripts say. [in] tuple: the value of each,
 * less that of the access. */
static bool follows_tuple(const struct caf_trial *t, const struct rows *rows,
                          const uint32_t *tuple) {
  struct values v[CAF_SUBSCRIPTS_MAX];
  struct caf_trial next = *t;
  uint32_t word = (uint32_t)rows->word;
  for (uint32_t i = 0; i < rows->count; i++) {
    const struct row *const row = &rows->row[i];
    set_value(&v[i], &next, row->at, tuple[i]);
    next.ask = &v[i].ask;
    word += tuple[i] * row->stride;
  }
  return word >= t->token->bytes || follows_only(t, next.ask, word); /* else the path refuses it */
}

static bool has_tuple(const struct rows *rows, const uint32_t *tuple) {
  bool has = true;
  for (uint32_t i = 0; i < rows->count; i++)
    has = has && tuple[i] + rows->row[i].before < count_of(&rows->row[i]);
  return has;
}

/* Leaves out values so that a tuple is none any more: those of the longest row that can be cut. */
static bool cut(struct rows *rows, const uint32_t *tuple) {
  struct row *longest = NULL;
  uint32_t at = 0;
  for (uint32_t i = 0; i < rows->count; i++)
    if (tuple[i] && (!longest || count_of(&rows->row[i]) > count_of(longest))) {
      longest = &rows->row[i];
      at = tuple[i];
    }
  if (!longest) return false;
  if (at + longest->before < longest->before) /* below the value of the access */
    longest->before = -at - 1;
  else
    longest->after = at - 1;
  return true;
}

/* Number n of the tuples of the rows: all of them in turn, or the corners and others by chance. */
static void choose_tuple(const struct rows *rows, uint64_t n, bool some, uint32_t *tuple) {
  static uint32_t random = 1;
  const uint64_t corners = (uint64_t)1 << rows->count;
  for (uint32_t i = 0; i < rows->count; i++) {
    const uint32_t count = count_of(&rows->row[i]);
    random = random * 1664525u + 1013904223u;
    uint32_t index = (uint32_t)(n % count);
    if (some) index = (uint32_t)((uint64_t)random * count >> 32);
    if (some && n < corners) index = (uint32_t)(n >> i & 1) * (count - 1);
    n = some ? n : n / count;
    tuple[i] = index - rows->row[i].before;
  }
}

/* Tries the tuples of the rows, or many of them, and cuts the rows to those by which the accessor
 * follows the words that these say: beyond the bounds of an array it may not, nor by a product.
 * Returns false where some are still wrong. */
static bool follows_tuples(const struct caf_trial *t, struct rows *rows) {
  const struct rows all = *rows;
  uint32_t tuple[CAF_SUBSCRIPTS_MAX];
  uint64_t count = 1;
  for (uint32_t i = 0; i < rows->count; i++)
    if (count <= TUPLES_MAX) count *= count_of(&rows->row[i]);
  const bool some = count > TUPLES_MAX;
  for (uint64_t n = 0; n < (some ? TUPLES_MAX : count); n++) {
    choose_tuple(&all, n, some, tuple);
    if (has_tuple(rows, tuple) && !follows_tuple(t, rows, tuple) && !cut(rows, tuple)) return false;
  }
  for (uint64_t n = 0; some && n < TUPLES_MAX; n++) {
    choose_tuple(rows, n, true, tuple);
    if (!follows_tuple(t, rows, tuple)) return false;
  }
  return true;
}

static bool is_of_row(const struct rows *rows, size_t at) {
  bool is = false;
  for (uint32_t i = 0; i < rows->count; i++) is = is || rows->row[i].at == at;
  return is;
}

/* Changes a value that is no subscript, or all of them. [in] only: where it is; SIZE_MAX: all. */
static void change_others(struct values *v, const struct caf_trial *t, const struct rows *rows,
                          size_t only, uint32_t change) {
  memset(v->add, 0, sizeof v->add);
  v->ask = *t->ask;
  v->ask.add = v->add;
  memcpy(v->add, t->ask->add, t->ask->add_bytes);
  for (size_t at = 0; at + 4 <= t->ask->add_bytes; at += 4) {
    uint32_t value;
    if (is_of_row(rows, at) || (only != SIZE_MAX && at != only)) continue;
    memcpy(&value, v->add + at, sizeof value);
    value += change;
    memcpy(v->add + at, &value, sizeof value);
  }
}

/* Whether the other values choose no word where the subscripts are first and last: a factor has no
 * effect while the other one is 0. */
static bool ignores_others(const struct caf_trial *t, const struct rows *rows) {
  uint32_t tuple[CAF_SUBSCRIPTS_MAX];
  struct caf_trial next = *t;
  struct values v;
  next.ask = &v.ask;
  for (uint64_t n = 0; n < (uint64_t)1 << rows->count; n++) {
    choose_tuple(rows, n, true, tuple);
    for (size_t at = 0; at <= t->ask->add_bytes; at += 4)
      for (uint32_t by = 1; by == 1 || by == UINT32_MAX; by -= 2) {
        change_others(&v, t, rows, at + 4 > t->ask->add_bytes ? SIZE_MAX : at, by);
        if (!follows_tuple(&next, rows, tuple)) return false;
      }
  }
  return true;
}

/* Finds the subscripts that choose the word of the access. Returns false where there are too many,
 * or they do not choose it by constant strides. */
static bool find_rows(const struct caf_trial *t, struct rows *rows) {
  rows->word = find_word(t, t->ask);
  if (rows->word == SIZE_MAX) return false;
  for (size_t at = 0; at + 4 <= t->ask->add_bytes; at += 4) {
    struct row row;
    if (!is_row(t, rows->word, at, &row)) continue;
    if (rows->count == CAF_SUBSCRIPTS_MAX) return false;
    rows->row[rows->count++] = row;
  }
  return (rows->count < 2 || follows_tuples(t, rows)) && ignores_others(t, rows);
}

/* A path with these subscripts. */
static struct caf_path path_of(const struct caf_trial *t, const struct rows *rows) {
  struct caf_path path = {.word = (uint32_t)rows->word};
  for (uint32_t i = 0; i < rows->count; i++) {
    const struct row *const row = &rows->row[i];
    const struct caf_subscript one = {.first = row->value - row->before,
                                      .count = count_of(row),
                                      .stride = row->stride,
                                      .at = row->at};
    path.word -= row->before * row->stride;
    if (i)
      path.more[path.mores++] = one;
    else
      path.one = one;
  }
  if (t->ask->object) path.form = caf_form_of(t->ask->object);
  return path;
}

/* ---- other values */

/* A part of the coarray, and words of an element that the accessor may follow in it: those of
 * `words`, or only `word`, if that is not SIZE_MAX. */
struct part {
  size_t offset, bytes;
  uint64_t words;
  size_t word;
};

/* Memory for a part, between bytes without memory. */
struct room {
  char *around, *page;
  size_t bytes; /* a multiple of a page, from `page` on */
};

static bool part_has(const struct caf_trial *t, const struct part *part, size_t w) {
  return part->word == SIZE_MAX ? part->words >> w % (t->element / WORD) & 1 : w == part->word;
}

/* Whether the accessor follows these words of a part alone. The part begins or ends its room, and
 * beside that is no memory. These words are addresses of none, so to follow one ends the run;
 * others go to TRAP. */
static bool keeps_to(const struct caf_trial *t, const struct room *room, const struct part *part,
                     bool at_end, const struct caf_ask *ask) {
  struct caf_seen seen;
  const size_t words = part->bytes / WORD, room_words = room->bytes / WORD;
  char *const begin = at_end ? room->page + room->bytes - part->bytes : room->page;
  memcpy(trial.part, trial.trap + part->offset, part->bytes);
  for (size_t w = 0; w < words; w++)
    if (part_has(t, part, w)) trial.part[w] = NO_ADDRESS;
  const size_t first = at_end ? words - room_words % words : 0;
  for (size_t w = 0; w < room_words; w++) /* it fills the room again and again */
    memcpy(room->page + w * WORD, &trial.part[(w + first) % words], WORD);
  (void)run_on(t, ask, begin - part->offset, &seen, 0);
  return trial.at - (uintptr_t)room->around >= 2 * AROUND + room->bytes &&
         trial.at - (uintptr_t)trial.regions >= REGIONS * trial.bytes;
}

/* Whether any of the values of the accessor may be the address of others: what it reads there could
 * not be changed. */
static bool has_addresses(const struct caf_trial *t) {
  for (size_t at = 0; at + 4 <= t->ask->add_bytes; at += 4)
    if (holds_address(t, at)) return true;
  return false;
}

/* Whether these 4 bytes of the values are a subscript of the path. */
static bool has_subscript(const struct caf_path *path, size_t at) {
  bool has = path->one.count && at == path->one.at;
  for (int i = 0; i < path->mores; i++) has |= at == path->more[i].at;
  return has;
}

/* Whether the accessor does so whatever its values are: a value that has part in a subscript
 * reaches the next word by some step. Those that the path knows may do so. */
static bool always_keeps_to(const struct caf_trial *t, const struct part *part,
                            const struct caf_path *path) {
  struct values v;
  struct room room = {.bytes = (part->bytes + trial.page - 1) / trial.page * trial.page};
  room.around = mmap(NULL, 2 * AROUND + room.bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  room.page = room.around + AROUND;
  if (room.around == MAP_FAILED || mprotect(room.page, room.bytes, PROT_READ | PROT_WRITE))
    return false;
  bool keeps = true;
  for (size_t at = 0; keeps && at + 4 <= t->ask->add_bytes; at += 4)
    for (int bit = -1; keeps && bit < 31 && !has_subscript(path, at); bit++) {
      set_value(&v, t, at, bit < 0 ? UINT32_MAX : (uint32_t)1 << bit);
      keeps = keeps_to(t, &room, part, false, &v.ask) && keeps_to(t, &room, part, true, &v.ask);
    }
  (void)munmap(room.around, 2 * AROUND + room.bytes);
  return keeps;
}

/* Whether it always keeps to the word that the access itself has. */
static bool keeps_to_path(const struct caf_trial *t, const struct caf_path *path, size_t word) {
  const size_t in = word % t->element;
  const struct part part = {.offset = word - in, .bytes = t->element, .word = in / WORD};
  return always_keeps_to(t, &part, path);
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
static bool find_link(const struct caf_trial *t, uint16_t *at) {
  struct block *block = &trial.block[trial.blocks - 1];
  uint64_t found = 0;
  for (size_t w = 0; w < BLOCK_WORDS; w++) {
    block->traps = (uint64_t)1 << w;
    if (is_trapped(t, t->ask, trial.copy)) found |= block->traps;
  }
  block->traps = ~found;
  *at = found ? (uint16_t)(WORD * (size_t)__builtin_ctzll(found)) : 0;
  return found && !(found & (found - 1));
}

/* Finds the words behind the first, until these are enough. Returns false where they never are. */
static bool find_links(const struct caf_trial *t, size_t word, struct caf_path *path) {
  uintptr_t address;
  memcpy(&address, coarray_of(t) + word, WORD);
  copy_but(t, word);
  while (!is_enough(t)) {
    uint16_t at;
    if (!add_block(t, address) || !find_link(t, &at)) return false;
    memcpy(&address, (const char *)trial.block[trial.blocks - 1].at + at, WORD);
    path->link[path->links++] = at;
  }
  return true;
}

/* Whether the accessor follows a word that goes to TRAP in the copy, or ends in a fault, when a
 * value that it gets differs: that may be a subscript. [in] at: of 4 bytes of `add`. */
static bool depends_on(const struct caf_trial *t, size_t at, uint32_t change) {
  struct values v;
  struct caf_seen seen;
  uint32_t value;
  memcpy(&value, (const char *)t->ask->add + at, sizeof value);
  const bool upper_half = at % WORD && (value == 0 || value == UINT32_MAX); /* of 8 bytes */
  if (upper_half) return false;
  set_value(&v, t, at, change);
  return !run(t, &v.ask, &seen, 0);
}

static bool depends_on_values(const struct caf_trial *t, const struct caf_path *path) {
  bool depends = false;
  for (size_t at = 0; at + 4 <= t->ask->add_bytes && !depends; at += 4)
    if (!has_subscript(path, at)) depends = depends_on(t, at, 1) || depends_on(t, at, UINT32_MAX);
  return depends;
}

static bool begin_trial(const struct caf_trial *t) {
  struct sigaction action;
  trial.page = (size_t)sysconf(_SC_PAGESIZE);
  trial.bytes = (caf.bound[t->rank].bytes + CAF_BOUND_BLOCK + trial.page - 1) & -trial.page;
  trial.regions = mmap(NULL, REGIONS * trial.bytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (trial.regions == MAP_FAILED) return false;
  trial.fill = copy_all(t, FILL);
  trial.trap = copy_all(t, TRAP);
  trial.copy = aligned_alloc(64, (t->token->bytes + 63) / 64 * 64);
  trial.part = malloc(t->token->bytes + WORD);
  if (!trial.fill || !trial.trap || !trial.copy || !trial.part) return false;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  return sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0;
}

/* Finds the path of the only word. */
static bool find_path(const struct caf_trial *t, struct caf_path *found) {
  struct rows rows = {.count = 0};
  if (t->offset || caf_sizes_of(t->token->bytes, t->token->elem_bytes) == CAF_NO_SIZES ||
      !find_rows(t, &rows))
    return false;
  struct caf_path path = path_of(t, &rows);
  if (!keeps_to_path(t, &path, rows.word) || !find_links(t, rows.word, &path)) return false;
  if (depends_on_values(t, &path)) return false;
  path.all_sizes = caf_sizes_of(t->token->bytes, t->token->elem_bytes);
  path.sizes = path.mores ? 0 : path.all_sizes;
  *found = path;
  return true;
}

/* Finds words of which those of all elements are to lead to the segment. */
static uint64_t find_all(const struct caf_trial *t) {
  const struct caf_path none = {0};
  if (t->element > ELEMENT_WORDS * WORD || t->token->bytes > CAF_FOLLOW_BYTES) return 0;
  trial.blocks = 0;
  const uint64_t words = find_words(t);
  const struct part all = {.bytes = t->token->bytes, .words = words, .word = SIZE_MAX};
  copy_moved(t, ~words);
  if (!words || !is_enough(t) || depends_on_values(t, &none)) return 0;
  return always_keeps_to(t, &all, &none) ? words : 0;
}

void caf_follow(const struct caf_trial *t, struct caf_followed *found) {
  struct caf_followed f = {0};
  found->ended = t->element % WORD || t->ask->add_bytes > ADD_MAX || !begin_trial(t);
  if (found->ended || has_addresses(t)) {
    found->ended = true;
    return;
  }
  f.has_path = find_path(t, &f.path);
  if (!f.has_path || !f.path.links) f.words = find_all(t);
  f.ended = true;
  *found = f;
}

bool caf_follow_several(const struct caf_token *t, const struct caf_path *path, uint32_t rank,
                        uintptr_t place, const void *add) {
  uint32_t at = path->word, index;
  if (t->sizes != path->all_sizes || !caf_follow_subscript(&path->one, add, &index)) return false;
  at += index * path->one.stride;
  for (int i = 0; i < path->mores; i++) {
    if (!caf_follow_subscript(&path->more[i], add, &index)) return false;
    at += index * path->more[i].stride;
  }
  return at < t->bytes && caf_follow_links(path, rank, place + at);
}

/* Whether the words of all elements lead to the segment of the rank. */
static bool all_reach(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank) {
  const struct caf_bound segment = caf.bound[rank];
  const char *const base = (const char *)t->addr[rank];
  for (uint64_t words = trials->followed; words; words &= words - 1)
    for (size_t at = WORD * (size_t)__builtin_ctzll(words); at < t->bytes;
         at += trials->words * (size_t)WORD) {
      uint64_t word;
      memcpy(&word, base + at, WORD);
      if (word - segment.low >= segment.bytes) return false;
    }
  return true;
}

bool caf_follow_reaches(const struct caf_token *t, const struct caf_trials *trials, uint32_t rank,
                        size_t offset, const struct caf_desc *shape, const void *add) {
  const struct caf_path *const path = &trials->path;
  const size_t element = trials->words * (size_t)WORD;
  if (caf.delta[rank]) return false;
  if (path->all_sizes && !offset && caf_follow_fits(path, shape) &&
      caf_follow_path(t, path, rank, t->addr[rank], add))
    return true;
  return trials->followed && t->bytes <= CAF_FOLLOW_BYTES &&
         element == (t->elem_bytes ? t->elem_bytes : t->bytes) &&
         trials->offset == (offset < element ? offset : offset % element) &&
         all_reach(t, trials, rank);
}
