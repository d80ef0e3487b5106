/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and values that ranks make known to each other before a network exists.
 *
 * Owns: struct tmb_kv of a tmb_boot. Called by core through boot.h. Calls: the gather of the
 * bootstrap. Each rank collects its records in one text; an exchange gathers the lengths, then the
 * texts piece by piece. Invariants: a text is a sequence of whole records [key bytes, value bytes,
 * key, value]; of records with one key the last one counts.
 */
#include "boot/kv/bootstrap.h"

#include "base/error.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES 512 /* of each rank's text, gathered at once */

struct text {
  char *data;
  size_t bytes;
};

struct tmb_kv {
  struct text mine;   /* pairs put so far, also those exchanged before */
  struct text rank[]; /* [size] as of the last exchange */
};

static struct tmb_kv *kv_of(struct tmb_boot *b) {
  if (!b->kv) b->kv = calloc(1, sizeof *b->kv + b->size * sizeof b->kv->rank[0]);
  return b->kv;
}

static bool append(struct text *t, const void *data, size_t bytes) {
  char *more = realloc(t->data, t->bytes + bytes + 1);
  if (!more) return false;
  if (bytes) memcpy(more + t->bytes, data, bytes);
  t->data = more;
  t->bytes += bytes;
  return true;
}

int tmb_boot_put(struct tmb_boot *b, const char *key, const void *value, size_t bytes) {
  struct tmb_kv *kv = kv_of(b);
  const uint64_t head[2] = {strlen(key), bytes};
  if (!kv) return TMB_E_NOMEM;
  const size_t before = kv->mine.bytes;
  if (append(&kv->mine, head, sizeof head) && append(&kv->mine, key, head[0]) &&
      append(&kv->mine, value, bytes))
    return TMB_OK;
  kv->mine.bytes = before;
  return TMB_E_NOMEM;
}

/* Gathers one piece of all texts. in longest: of the texts. */
static int exchange_piece(struct tmb_boot *b, size_t at, const uint64_t *bytes, char *all) {
  struct tmb_kv *kv = b->kv;
  char piece[PIECE_BYTES] = {0};
  if (at < kv->mine.bytes)
    memcpy(piece, kv->mine.data + at, TMB_MIN(kv->mine.bytes - at, sizeof piece));
  if (!b->ops->gather(b, piece, sizeof piece, all)) return TMB_E_PEER;
  for (uint32_t r = 0; r < b->size; r++)
    if (at < bytes[r] &&
        !append(&kv->rank[r], all + r * sizeof piece, TMB_MIN(bytes[r] - at, sizeof piece)))
      return TMB_E_NOMEM;
  return TMB_OK;
}

int tmb_boot_exchange(struct tmb_boot *b) {
  struct tmb_kv *kv = kv_of(b);
  uint64_t *bytes = calloc(b->size, sizeof *bytes), longest = 0;
  char *all = malloc((size_t)b->size * PIECE_BYTES);
  if (!kv || !bytes || !all) tmb_fatal("out of memory for the exchange of %u ranks", b->size);
  const uint64_t mine = kv->mine.bytes;
  int rc = b->ops->gather(b, &mine, sizeof mine, bytes) ? TMB_OK : TMB_E_PEER;
  for (uint32_t r = 0; r < b->size && !rc; r++) {
    longest = TMB_MAX(longest, bytes[r]);
    kv->rank[r].bytes = 0;
  }
  for (size_t at = 0; at < longest && !rc; at += PIECE_BYTES)
    rc = exchange_piece(b, at, bytes, all);
  free(all);
  free(bytes);
  return rc;
}

int64_t tmb_boot_get(const struct tmb_boot *b, uint32_t rank, const char *key, void *value,
                     size_t bytes) {
  const struct text *t = b->kv ? &b->kv->rank[rank] : NULL;
  const size_t key_bytes = strlen(key);
  const char *found = NULL;
  uint64_t head[2], length = 0;
  for (size_t at = 0; t && at + sizeof head <= t->bytes; at += sizeof head + head[0] + head[1]) {
    memcpy(head, t->data + at, sizeof head);
    if (head[0] != key_bytes || memcmp(t->data + at + sizeof head, key, key_bytes) != 0) continue;
    found = t->data + at + sizeof head + key_bytes;
    length = head[1];
  }
  if (!found) return TMB_E_NOT_FOUND;
  memcpy(value, found, TMB_MIN(length, bytes));
  return (int64_t)length;
}

void tmb_kv_close(struct tmb_boot *b) {
  for (uint32_t r = 0; b->kv && r < b->size; r++) free(b->kv->rank[r].data);
  if (b->kv) free(b->kv->mine.data);
  free(b->kv);
  b->kv = NULL;
}
