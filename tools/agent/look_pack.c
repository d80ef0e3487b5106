/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observations of ranks, as bytes: see look.h.
 *
 * Owns: nothing. Called by look.c, look_ask.c. Calls: pack. Invariants: of a status page only the
 * entries that are in use travel; data are put nowhere but into fields that readers check.
 */
#include "agent/look.h"

#include <string.h>

#define LOOK_MAGIC UINT32_C(0x6c6f6f34) /* changes with struct tmb_seen and struct tmb_status */

/* The page without its tables. */
#define HEAD_BYTES offsetof(struct tmb_status, wait)

static void pack_rank(const struct tmb_seen *seen, uint32_t rank, struct pack *p) {
  const struct tmb_status *s = &seen->status;
  uint32_t waits = 0, teams = 0;
  for (uint32_t i = 0; i < TMB_STATUS_WAITS; i++) waits |= (uint32_t)(s->wait[i].thread != 0) << i;
  for (uint32_t i = 0; i < TMB_STATUS_TEAMS; i++) teams |= (uint32_t)(s->team[i].used != 0) << i;
  pack_u32(p, rank);
  pack_bytes(p, seen, offsetof(struct tmb_seen, status));
  pack_bytes(p, s, HEAD_BYTES);
  pack_bytes(p, s->net, sizeof s->net);
  const uint32_t source = (uint32_t)strlen(seen->source);
  pack_u32(p, seen->source_wait);
  pack_bytes(p, &seen->source_at, sizeof seen->source_at);
  pack_u32(p, source);
  pack_bytes(p, seen->source, source);
  pack_u32(p, waits);
  pack_u32(p, teams);
  for (uint32_t i = 0; i < TMB_STATUS_WAITS; i++)
    if (waits >> i & 1) pack_bytes(p, &s->wait[i], sizeof s->wait[i]);
  for (uint32_t i = 0; i < TMB_STATUS_TEAMS; i++)
    if (teams >> i & 1) pack_bytes(p, &s->team[i], sizeof s->team[i]);
}

void look_pack(const struct tmb_snapshot *s, struct pack *p) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < s->size; r++) count += s->rank[r].here;
  pack_u32(p, LOOK_MAGIC);
  pack_u32(p, count);
  for (uint32_t r = 0; r < s->size; r++)
    if (s->rank[r].here) pack_rank(&s->rank[r], r, p);
}

static bool unpack_rank(struct pack *p, struct tmb_snapshot *s) {
  struct tmb_seen seen;
  struct tmb_status *const page = &seen.status;
  memset(&seen, 0, sizeof seen);
  const uint32_t rank = unpack_u32(p);
  unpack_bytes(p, &seen, offsetof(struct tmb_seen, status));
  unpack_bytes(p, page, HEAD_BYTES);
  unpack_bytes(p, page->net, sizeof page->net);
  seen.source_wait = unpack_u32(p) % TMB_STATUS_WAITS;
  unpack_bytes(p, &seen.source_at, sizeof seen.source_at);
  const uint32_t source = unpack_u32(p);
  if (source >= sizeof seen.source) return false;
  unpack_bytes(p, seen.source, source);
  const uint32_t waits = unpack_u32(p), teams = unpack_u32(p);
  for (uint32_t i = 0; i < TMB_STATUS_WAITS; i++)
    if (waits >> i & 1) unpack_bytes(p, &page->wait[i], sizeof page->wait[i]);
  for (uint32_t i = 0; i < TMB_STATUS_TEAMS; i++)
    if (teams >> i & 1) unpack_bytes(p, &page->team[i], sizeof page->team[i]);
  if (p->bad || rank >= s->size) return false;
  page->host[TMB_STATUS_HOST - 1] = '\0';
  seen.here = true;
  s->rank[rank] = seen;
  return true;
}

bool look_unpack(struct pack *p, struct tmb_snapshot *s) {
  if (unpack_u32(p) != LOOK_MAGIC) return false;
  const uint32_t count = unpack_u32(p);
  for (uint32_t i = 0; i < count; i++)
    if (!unpack_rank(p, s)) return false;
  return true;
}
