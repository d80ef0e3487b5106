/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the words of a structure whose addresses an accessor follows, and the words behind them.
 *
 * Owns nothing beyond a call. Called by trial.c, in a child process. Calls: follow_run.c. The
 * problem: an address in a structure of another image is good here, too, if it is one of that
 * image's segment, which lies at the same place in all processes. So an access may be made here if
 * all addresses that the accessor follows are such ones; but which does it follow? It runs on
 * copies of the coarray. Words are sent to TRAP, one or half of them at a time: see follow_run.h.
 * Where an accessor follows one word, it may follow another one in the memory to which that leads,
 * as of an allocatable component of such a component: then the first words of that memory are
 * copied into FILL, too, and these addresses are changed to those of a FILL of their own.
 * Subscripts may choose the word: each is a value of 4 or 8 bytes that moves it by a constant
 * stride. Invariant: the words do not depend on the values that the accessor gets from its caller,
 * save these subscripts: other values follow no other word.
 */
#include "compiler/follow_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
  WORD = CAF_RUN_WORD,
  ADD_MAX = 256,
  ELEMENT_WORDS = 64, /* of the bits of `words` */
  ROW_WHOLE = 256,    /* values of a subscript that are tried without gaps */
  TUPLES_MAX = 512,   /* of values of several */
  AROUND = 1 << 24    /* bytes without memory on each side of a page */
};
static const uint64_t NO_ADDRESS = 0x8181818181818181u; /* far from any memory */

/* The words that one run each has followed. */
static uint64_t find_words(const struct caf_trial *t) {
  uint64_t words = 0;
  for (size_t w = 0; w < t->element / WORD; w++) {
    caf_run_trap_words(t, (uint64_t)1 << w);
    if (caf_run_traps(t, t->ask, caf_runs.copy)) words |= (uint64_t)1 << w;
  }
  return words;
}

/* Whether the accessor needs nothing but the memory to which the words lead that go to FILL in the
 * copy, and the blocks. */
static bool is_enough(const struct caf_trial *t) {
  const int values[] = {0x81, caf_try_second(t->ask)};
  struct caf_seen seen[2];
  for (int i = 0; i < 2; i++) {
    if (!caf_run(t, t->ask, &seen[i], values[i])) return false;
    if (t->ask->kind == CAF_ACCESS_PUT && !caf_run_has_written()) return false;
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

/* Adds to a value of 8 bytes. [in] change: modulo 2**32, from -2**31 on. */
static void set_wide_value(struct values *v, const struct caf_trial *t, size_t at,
                           uint32_t change) {
  uint64_t value;
  set_value(v, t, at, 0);
  memcpy(&value, v->add + at, sizeof value);
  value += (uint64_t)(int64_t)(int32_t)change;
  memcpy(v->add + at, &value, sizeof value);
}

/* The 8 bytes of `add` that have these 4. */
static uintptr_t whole_value(const struct caf_trial *t, size_t at) {
  uintptr_t whole = 0;
  const size_t begin = at / WORD * WORD, left = t->ask->add_bytes - begin;
  memcpy(&whole, (const char *)t->ask->add + begin, left < WORD ? left : WORD);
  return whole;
}

/* Whether 8 bytes of the values look like an address, and a run does not come to its end with
 * another one: they may be a value of 4 bytes, and others that nobody has written. */
static bool holds_address(const struct caf_trial *t, size_t at) {
  struct values v;
  struct caf_seen seen;
  const uintptr_t whole = whole_value(t, at);
  if (!caf_run_is_mapped(whole)) return false;
  set_value(&v, t, at + 4, (uint32_t)(NO_ADDRESS >> 32) - (uint32_t)(whole >> 32));
  return !caf_run_on(t, &v.ask, caf_runs.fill, &seen, 0);
}

/* ---- the word that subscripts name */

/* Whether a run with these values follows a word of the coarray, and no other one. */
static bool follows_only(const struct caf_trial *t, const struct caf_ask *ask, size_t at) {
  if (at >= t->token->bytes / WORD * WORD) return false;
  const bool follows = caf_run_traps_with(t, ask, caf_runs.fill, at, CAF_RUN_TRAP);
  return follows && !caf_run_traps_with(t, ask, caf_runs.trap, at, CAF_RUN_FILL);
}

/* The only word of the coarray that a run with these values follows, or SIZE_MAX. */
static size_t find_word(const struct caf_trial *t, const struct caf_ask *ask) {
  size_t low = 0, high = t->token->bytes / WORD;
  caf_run_trap_all(t);
  if (!caf_run_traps(t, ask, caf_runs.copy)) return SIZE_MAX;
  while (high - low > 1) { /* words from `low` to `high` go to TRAP, others to FILL */
    const size_t middle = low + (high - low) / 2;
    caf_run_trap_part(middle * WORD, high * WORD, false);
    if (caf_run_traps(t, ask, caf_runs.copy)) {
      high = middle;
    } else {
      caf_run_trap_part(low * WORD, middle * WORD, false);
      caf_run_trap_part(middle * WORD, high * WORD, true);
      low = middle;
    }
  }
  return follows_only(t, ask, low * WORD) ? low * WORD : SIZE_MAX;
}

/* A subscript: a value of the accessor, and the words that it follows with each. */
struct row {
  uint16_t at;                   /* of the value in `add` */
  bool wide;                     /* it has 8 bytes */
  uint32_t stride;               /* bytes from word to word, modulo 2**32 */
  uint32_t value, before, after; /* of the access; values below and above it */
};

/* Subscripts of an access. */
struct rows {
  size_t word;     /* of the access */
  uint64_t uppers; /* bit n: 4 bytes at 4 * n of the values are the upper half of 8 */
  uint32_t count;
  struct row row[CAF_SUBSCRIPTS_MAX]; /* [count] */
};

/* Adds to a subscript. */
static void set_subscript(struct values *v, const struct caf_trial *t, const struct row *row,
                          uint32_t change) {
  (row->wide ? set_wide_value : set_value)(v, t, row->at, change);
}

/* How many words in a row the accessor follows, beside that of the access. [in] by: 1, or -1:
 * backwards. */
static uint32_t count_row(const struct caf_trial *t, size_t word, const struct row *row,
                          uint32_t by) {
  struct values v;
  uint32_t count = 0, step = 1;
  while (step) {
    const uint32_t change = (count + step) * by;
    set_subscript(&v, t, row, change);
    if (follows_only(t, &v.ask, (uint32_t)word + change * row->stride)) {
      count += step;
      step = 1 + count / ROW_WHOLE;
    } else {
      step /= 2;
    }
  }
  return count;
}

/* Whether a value is a subscript. [in] row: where it is, and whether it has 8 bytes. */
static bool is_row(const struct caf_trial *t, size_t word, struct row *row) {
  struct values v;
  size_t next = SIZE_MAX;
  uint32_t by = 1;
  for (int i = 0; i < 2 && (next == SIZE_MAX || next == word); i++, by = -by) {
    set_subscript(&v, t, row, by);
    next = find_word(t, &v.ask);
    row->stride = by * (uint32_t)(next - word);
  }
  if (next == SIZE_MAX || next == word) return false;
  memcpy(&row->value, (const char *)t->ask->add + row->at, sizeof row->value);
  row->before = count_row(t, word, row, UINT32_MAX);
  row->after = count_row(t, word, row, 1);
  return true;
}

/* Whether the value at this place has 8 bytes: the upper half is the sign of the lower one, and
 * another one leads far beyond the coarray. */
static bool is_wide(const struct caf_trial *t, size_t word, size_t at) {
  struct row upper = {.at = (uint16_t)(at + 4)};
  int64_t value;
  struct values v;
  if (at % sizeof value || at + sizeof value > t->ask->add_bytes) return false;
  memcpy(&value, (const char *)t->ask->add + at, sizeof value);
  if (value != (int32_t)value || is_row(t, word, &upper)) return false;
  set_value(&v, t, at + 4, 1);
  return find_word(t, &v.ask) == SIZE_MAX;
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
    set_subscript(&v[i], &next, row, tuple[i]);
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

static bool is_row_at(const struct rows *rows, size_t at) {
  bool is = false;
  for (uint32_t i = 0; i < rows->count; i++) is = is || rows->row[i].at == at;
  return is;
}

/* Changes a value that is no subscript and no upper half, or all of them. [in] only: where it is;
 * SIZE_MAX: all. */
static void change_others(struct values *v, const struct caf_trial *t, const struct rows *rows,
                          size_t only, uint32_t change) {
  memset(v->add, 0, sizeof v->add);
  v->ask = *t->ask;
  v->ask.add = v->add;
  memcpy(v->add, t->ask->add, t->ask->add_bytes);
  for (size_t at = 0; at + 4 <= t->ask->add_bytes; at += 4) {
    uint32_t value;
    if (is_row_at(rows, at) || rows->uppers >> at / 4 & 1 || (only != SIZE_MAX && at != only))
      continue;
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
    struct row row = {.at = (uint16_t)at, .wide = is_wide(t, rows->word, at)};
    if (row.wide) rows->uppers |= (uint64_t)2 << at / 4;
    if (rows->uppers >> at / 4 & 1 || !is_row(t, rows->word, &row)) continue;
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
                                      .at = row->at,
                                      .wide = row->wide};
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
  memcpy(caf_runs.part, caf_runs.trap + part->offset, part->bytes);
  for (size_t w = 0; w < words; w++)
    if (part_has(t, part, w)) caf_runs.part[w] = NO_ADDRESS;
  const size_t first = at_end ? words - room_words % words : 0;
  for (size_t w = 0; w < room_words; w++) /* it fills the room again and again */
    memcpy(room->page + w * WORD, &caf_runs.part[(w + first) % words], WORD);
  (void)caf_run_on(t, ask, begin - part->offset, &seen, 0);
  return caf_runs.at - (uintptr_t)room->around >= 2 * AROUND + room->bytes &&
         caf_runs.at - (uintptr_t)caf_runs.regions >= CAF_RUN_REGIONS * caf_runs.bytes;
}

/* Whether any of the values of the accessor may be the address of others: what it reads there could
 * not be changed. */
static bool has_addresses(const struct caf_trial *t) {
  for (size_t at = 0; at < t->ask->add_bytes; at += WORD)
    if (holds_address(t, at)) return true;
  return false;
}

static bool is_of_subscript(const struct caf_subscript *s, size_t at) {
  return s->count && (at == s->at || (s->wide && at == s->at + 4u));
}

/* Whether these 4 bytes of the values are of a subscript of the path. */
static bool has_subscript(const struct caf_path *path, size_t at) {
  bool has = is_of_subscript(&path->one, at);
  for (int i = 0; i < path->mores; i++) has |= is_of_subscript(&path->more[i], at);
  return has;
}

/* Whether the accessor does so whatever its values are: a value that has part in a subscript
 * reaches the next word by some step. Those that the path knows may do so. */
static bool always_keeps_to(const struct caf_trial *t, const struct part *part,
                            const struct caf_path *path) {
  struct values v;
  struct room room = {.bytes = (part->bytes + caf_runs.page - 1) / caf_runs.page * caf_runs.page};
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

/* Finds the word of the last block that the accessor follows. [out] at: its offset. */
static bool find_link(const struct caf_trial *t, uint16_t *at) {
  struct caf_run_block *block = &caf_runs.block[caf_runs.blocks - 1];
  uint64_t found = 0;
  for (size_t w = 0; w < CAF_RUN_BLOCK_WORDS; w++) {
    block->traps = (uint64_t)1 << w;
    if (caf_run_traps(t, t->ask, caf_runs.copy)) found |= block->traps;
  }
  block->traps = ~found;
  *at = found ? (uint16_t)(WORD * (size_t)__builtin_ctzll(found)) : 0;
  return found && !(found & (found - 1));
}

/* Finds the words behind the first, until these are enough. Returns false where they never are. */
static bool find_links(const struct caf_trial *t, size_t word, struct caf_path *path) {
  uintptr_t address;
  memcpy(&address, caf_run_coarray(t) + word, WORD);
  caf_run_trap_others(t, word);
  while (!is_enough(t)) {
    uint16_t at;
    if (!caf_run_add_block(t, address) || !find_link(t, &at)) return false;
    memcpy(&address, (const char *)caf_runs.block[caf_runs.blocks - 1].at + at, WORD);
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
  return !caf_run(t, &v.ask, &seen, 0);
}

static bool depends_on_values(const struct caf_trial *t, const struct caf_path *path) {
  bool depends = false;
  for (size_t at = 0; at + 4 <= t->ask->add_bytes && !depends; at += 4)
    if (!has_subscript(path, at)) depends = depends_on(t, at, 1) || depends_on(t, at, UINT32_MAX);
  return depends;
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
  caf_runs.blocks = 0;
  const uint64_t words = find_words(t);
  const struct part all = {.bytes = t->token->bytes, .words = words, .word = SIZE_MAX};
  caf_run_trap_words(t, ~words);
  if (!words || !is_enough(t) || depends_on_values(t, &none)) return 0;
  return always_keeps_to(t, &all, &none) ? words : 0;
}

void caf_follow(const struct caf_trial *t, struct caf_followed *found) {
  struct caf_followed f = {0};
  found->ended = t->element % WORD || t->ask->add_bytes > ADD_MAX || !caf_run_begin(t);
  if (found->ended || has_addresses(t)) {
    found->ended = true;
    return;
  }
  f.has_path = find_path(t, &f.path);
  if (!f.has_path || !f.path.links) f.words = find_all(t);
  f.ended = true;
  *found = f;
}
