/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the shadow of a page has the words of its granules.
 *
 * Owns: `uniform`, `alike` and `more` of a page. Called by shadow.c, under the lock of the page.
 * Calls nothing. A page that one access covers is uniform: all its granules have the same words.
 * Those of a part may be alike, too. Most other granules have one word; where one of a part has
 * a second or a third one, all of the part do. Invariant: such words of a part whose bit of `more`
 * is clear are not read.
 */
#include "check/runtime/chk.h"

#include <string.h>

void chk_more(struct chk_page *p, uint32_t cell, uint32_t index) {
  const uint32_t part = cell / CHK_PART;
  memset(chk_words_of(p) + part * CHK_PART + index * CHK_PLANE, 0, CHK_PART * sizeof(uint64_t));
  p->more[index - 1] |= 1u << part;
}

/* No granule of a part has any but its first word. */
static void no_more(struct chk_page *p, uint32_t part) {
  for (uint32_t k = 1; k < CHK_SLOTS; k++) p->more[k - 1] &= ~(1u << part);
}

void chk_expand(struct chk_page *p) {
  if (!p->uniform) return;
  struct chk_rest *const r = chk_rest_of(p);
  for (uint32_t i = 0; i < CHK_PARTS; i++) memcpy(r->part[i], r->whole, sizeof r->whole);
  p->alike = UINT32_MAX;
  _Static_assert(CHK_PARTS == 32, "a bit of each part");
  p->uniform = 0;
}

void chk_expand_alike(struct chk_page *p, uint32_t part) {
  const uint64_t *const words = chk_rest_of(p)->part[part];
  no_more(p, part);
  for (uint32_t i = part * CHK_PART; i < (part + 1) * CHK_PART; i++) chk_cell_store(p, i, words);
  p->alike &= ~(1u << part);
}

void chk_set_alike(struct chk_page *p, uint32_t part, uint64_t word) {
  uint64_t *const words = chk_rest_of(p)->part[part];
  memset(words, 0, CHK_SLOTS * sizeof *words);
  words[0] = word;
  p->alike |= 1u << part;
}

bool chk_is_alike(const struct chk_page *p, uint32_t part, uint64_t word) {
  for (uint32_t i = part * CHK_PART; i < (part + 1) * CHK_PART; i++) {
    uint64_t cell[CHK_SLOTS];
    chk_cell_load(p, i, cell);
    if (cell[0] != word || cell[1] || cell[2]) return false;
  }
  return true;
}

/* A write of granules of one part. */
static void write_alone(struct chk_page *p, uint32_t i, uint32_t count, uint64_t word) {
  uint64_t *const first = chk_words_of(p) + i;
  if (count == CHK_PART) no_more(p, i / CHK_PART);
  for (uint32_t k = 1; k < CHK_SLOTS; k++)
    if (chk_has_more(p, i, k)) memset(first + k * CHK_PLANE, 0, count * sizeof *first);
  for (uint32_t k = 0; k < count; k++) first[k] = word;
}

/* A read of them. Returns how many are done. */
static uint32_t read_alone(struct chk_page *p, uint32_t i, uint32_t count, uint64_t word) {
  uint64_t *const first = chk_words_of(p) + i, *const second = first + CHK_PLANE;
  const uint64_t *const third = second + CHK_PLANE;
  const bool three = chk_has_more(p, i, 2);
  bool two = chk_has_more(p, i, 1);
  for (uint32_t k = 0; k < count; k++) {
    if ((three && third[k]) || (two && (second[k] & CHK_WRITE))) return k;
    const bool written = (first[k] & CHK_WRITE) != 0;
    if (written && !two) {
      chk_more(p, i, 1);
      two = true;
    }
    if (two) second[k] = written ? word : 0;
    if (!written) first[k] = word;
  }
  return count;
}

size_t chk_enter_alone(struct chk_page *p, uint32_t i, size_t count, uint64_t word) {
  size_t done = 0;
  while (done < count) {
    const uint32_t at = i + (uint32_t)done, left = CHK_PART - at % CHK_PART;
    const uint32_t some = left < count - done ? left : (uint32_t)(count - done);
    if (word & CHK_WRITE) {
      write_alone(p, at, some, word);
      done += some;
      continue;
    }
    const uint32_t entered = read_alone(p, at, some, word);
    done += entered;
    if (entered < some) break;
  }
  return done;
}
