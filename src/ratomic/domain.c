/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic domains: creation, destruction, queries (API 05.3).
 *
 * Owns: domain objects and their list. Called by clients. Calls: checks; the all-gather of teams
 * for debug clients. No state of a domain needs agreement: a message names the word, type, opcode
 * and operands, and its handler uses the processor instructions that a member uses on a mapped
 * word, with which a conduit's own atomics agree. So each member chooses the path to each target
 * alone, and creation waits for nobody. Debug clients compare their arguments, and wait for that.
 * The exception is a domain that the network performs: then no processor may, so all members leave
 * all operations to it, those on their own words too. That follows from the arguments, the places
 * of the members and the conduit's agreement at the start, so that creation waits for nobody there
 * either. Invariants: a domain holds its team, so that the delta table outlives it; a domain
 * destroyed by a debug client keeps its memory with a dead magic number, so that a stale handle is
 * named.
 */
#include "base/container/list.h"
#include "core/check.h"
#include "core/job.h"
#include "core/op/check_context.h"
#include "core/op/lost.h"
#include "core/progress/peer.h"
#include "core/progress/progress.h"
#include "core/segment/segment_table.h"
#include "os/sync/lock.h"
#include "ratomic/ratomic.h"

#include <stdlib.h>

TMB_REQUIRES(tmb_job.domains.lock) static inline struct tmb_domains *live(void) {
  return &tmb_job.domains;
}

/* A member is lost: take its domains off the inline path, which does not ask whether a target is
 * alive. */
static void on_lost(uint32_t jobrank) {
  (void)jobrank;
  tmb_lock_acquire(&tmb_job.domains.lock);
  for (struct tmb_ad *d = live()->first; d; d = d->next)
    if (tmb_team_lost(tmb_team_of(d->head.tm))) tmb_store_rel(&d->head.delta, NULL);
  tmb_lock_release(&tmb_job.domains.lock);
}

#define FAVOR (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE)

/* Arguments that members of debug clients compare. */
struct part {
  uint32_t dt, ops, flags;
};

const struct tmb_layer tmb_domain_layer = {.name = "domain", .peer_lost = on_lost};

static void check_create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops,
                         gex_Flags_t flags) {
  const char *call = "gex_AD_Create";
  const bool real = dt == GEX_DT_FLT || dt == GEX_DT_DBL;
  tmb_check_context_at(call);
  if (!ad_p) tmb_fatal_nopos("%s: argument ad_p is NULL", call);
  tmb_check_tm(call, tm, false);
  if (__builtin_popcount(dt) != 1 || !(dt & TMB_RATOMIC_TYPES))
    tmb_fatal_nopos("%s: argument dt is 0x%x; one built-in data type is needed (0x%x)", call, dt,
                    TMB_RATOMIC_TYPES);
  if (!ops || (ops & ~(TMB_RATOMIC_FETCHING | TMB_RATOMIC_PLAIN)))
    tmb_fatal_nopos("%s: argument ops is 0x%x; it must be an OR of opcodes of atomics (0x%x)", call,
                    ops, TMB_RATOMIC_FETCHING | TMB_RATOMIC_PLAIN);
  if (real && (ops & TMB_RATOMIC_INTEGER))
    tmb_fatal_nopos("%s: argument ops is 0x%x: AND, OR and XOR (0x%x) are defined for integers "
                    "only; dt is 0x%x",
                    call, ops, TMB_RATOMIC_INTEGER, dt);
  tmb_check_flags(call, flags, FAVOR);
  if (__builtin_popcount(flags) > 1)
    tmb_fatal_nopos("%s: argument flags is 0x%x: it holds more than one GEX_FLAG_AD_FAVOR_ flag",
                    call, flags);
}

static bool all_mapped(gex_TM_t tm) {
  for (uint32_t r = 0; r < tm->size; r++)
    if (tmb_segtab_delta_of(tm, r) == GEXX_UNMAPPED) return false;
  return true;
}

/* Whether some process has several members, whose domains one thread may make in turn, so that none
 * of the calls may wait. Equal on all members. */
static bool members_share(const struct tmb_team *team) {
  if (!team->ep_index) return false;
  bool *seen = calloc(tmb_job.size, sizeof *seen);
  if (!seen) tmb_fatal("out of memory for an atomic domain of %u members", team->head.size);
  bool share = false;
  for (uint32_t r = 0; r < team->head.size && !share; r++) {
    share = seen[tmb_team_jobrank(team, r)];
    seen[tmb_team_jobrank(team, r)] = true;
  }
  free(seen);
  return share;
}

/* Compare arguments; debug clients. Returns false when a member is lost. */
static bool check_agreement(gex_TM_t tm, const struct part *mine) {
  struct part *all = calloc(tm->size, sizeof *all);
  if (!all) tmb_fatal("out of memory for an atomic domain of %u members", tm->size);
  const bool ok = tmb_team_allgather(tmb_team_of(tm), mine, sizeof *mine, all);
  for (uint32_t r = 0; ok && r < tm->size; r++) {
    const struct part *p = &all[r];
    TMB_CHECK(p->dt == mine->dt && p->ops == mine->ops && p->flags == mine->flags,
              "gex_AD_Create: arguments dt, ops and flags are 0x%x, 0x%x and 0x%x, but rank %u of "
              "the team passed 0x%x, 0x%x and 0x%x; they must be the same on all ranks",
              mine->dt, mine->ops, mine->flags, r, p->dt, p->ops, p->flags);
  }
  free(all);
  return ok;
}

/* Whether this process knows that a member is lost, which it notes. */
static bool team_lost(gex_TM_t tm) {
  if (TMB_LIKELY(!tmb_job.lost)) return false;
  tmb_poll(); /* a client that only makes domains hears of it here */
  const uint32_t lost = tmb_load_acq(&tmb_team_of(tm)->lost);
  if (lost) (void)tmb_lost_record(lost - 1);
  return lost != 0;
}

_Static_assert(GEX_DT_I32 == 1u << TMB_ATOMIC_I32 && GEX_DT_U32 == 1u << TMB_ATOMIC_U32 &&
                   GEX_DT_I64 == 1u << TMB_ATOMIC_I64 && GEX_DT_U64 == 1u << TMB_ATOMIC_U64 &&
                   GEX_DT_FLT == 1u << TMB_ATOMIC_FLT && GEX_DT_DBL == 1u << TMB_ATOMIC_DBL,
               "net/message.h numbers the types");
_Static_assert(GEX_OP_AND == 1u << TMB_ATOMIC_AND && GEX_OP_OR == 1u << TMB_ATOMIC_OR &&
                   GEX_OP_XOR == 1u << TMB_ATOMIC_XOR && GEX_OP_ADD == 1u << TMB_ATOMIC_ADD &&
                   GEX_OP_SUB == 1u << TMB_ATOMIC_SUB && GEX_OP_MULT == 1u << TMB_ATOMIC_MULT &&
                   GEX_OP_MIN == 1u << TMB_ATOMIC_MIN && GEX_OP_MAX == 1u << TMB_ATOMIC_MAX &&
                   GEX_OP_INC == 1u << TMB_ATOMIC_INC && GEX_OP_DEC == 1u << TMB_ATOMIC_DEC &&
                   GEX_OP_SET == 1u << TMB_ATOMIC_SET && GEX_OP_CAS == 1u << TMB_ATOMIC_CAS &&
                   GEX_OP_SWAP == 1u << (TMB_ATOMIC_SET + 16) &&
                   GEX_OP_FCAS == 1u << (TMB_ATOMIC_CAS + 16) &&
                   GEX_OP_GET == 1u << (TMB_ATOMIC_GET + 16),
               "net/message.h numbers the opcodes");

/* Whether the network performs a domain. A domain whose operations mostly stay on the host, and a
 * team that lies on one, are faster with the processor. */
static bool offloads(gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  const struct tmb_team *const team = tmb_team_of(tm);
  const uint32_t first = tmb_nbrhd_of(tmb_team_jobrank(team, 0));
  uint32_t r = 1;
  if ((flags & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD)) ||
      !tmb_peer_offloads(dt, ops))
    return false;
  while (r < tm->size && tmb_nbrhd_of(tmb_team_jobrank(team, r)) == first) r++;
  return r < tm->size;
}

void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_create(ad_p, tm, dt, ops, flags);
  *ad_p = GEX_AD_INVALID;
  const bool compare = tmb_job.debug && !members_share(tmb_team_of(tm));
  if (compare ? !check_agreement(tm, &(struct part){dt, ops, flags}) : team_lost(tm)) return;
  struct tmb_ad *d = malloc(sizeof *d + tm->size * sizeof *d->delta);
  if (!d) tmb_fatal("out of memory for an atomic domain");
  for (uint32_t r = 0; r < tm->size; r++) d->delta[r] = tmb_segtab_delta_of(tm, r);
  d->offload = offloads(tm, dt, ops, flags);
  tmb_team_hold(tmb_team_of(tm));
  const bool direct = !d->offload && all_mapped(tm) && !tmb_job.counted; /* see tmb_segtab_deltas */
  d->head = (struct gexx_ad_s){.delta = direct ? d->delta : NULL,
                               .tm = tm,
                               .dt = dt,
                               .ops = ops,
                               .flags = flags,
                               .magic = TMB_MAGIC_AD};
  tmb_lock_acquire(&tmb_job.domains.lock);
  TMB_LIST_PUSH(&live()->first, d);
  if (tmb_team_lost(tmb_team_of(tm))) tmb_store_rel(&d->head.delta, NULL);
  tmb_lock_release(&tmb_job.domains.lock);
  *ad_p = &d->head;
}

static void check_ad(const char *call, gex_AD_t ad) {
  tmb_check_ready_at(call);
  if (!ad) tmb_fatal_nopos("%s: argument ad is GEX_AD_INVALID", call);
  if (ad->magic != TMB_MAGIC_AD)
    tmb_fatal_nopos("%s: argument ad (%p) is not the handle of an atomic domain", call, (void *)ad);
}

void gex_AD_Destroy(gex_AD_t ad) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    tmb_check_context_at("gex_AD_Destroy");
    check_ad("gex_AD_Destroy", ad);
  }
  tmb_lock_acquire(&tmb_job.domains.lock);
  (void)TMB_LIST_REMOVE(&live()->first, tmb_ad_of(ad));
  if (tmb_job.debug) TMB_LIST_PUSH(&live()->dead, tmb_ad_of(ad));
  tmb_lock_release(&tmb_job.domains.lock);
  ad->magic = 0;
  tmb_team_release(tmb_team_of(ad->tm));
  if (!tmb_job.debug) free(tmb_ad_of(ad));
}

/* Arguments with which a domain was made. */
#define QUERY(TYPE, NAME, FIELD)                                       \
 TYPE gex_AD_Query##NAME(gex_AD_t ad) {                                \
  if (TMB_UNLIKELY(tmb_job.debug)) check_ad("gex_AD_Query" #NAME, ad); \
  return ad->FIELD;                                                    \
 }
QUERY(gex_Flags_t, Flags, flags)
QUERY(gex_TM_t, TM, tm)
QUERY(gex_DT_t, DT, dt)
QUERY(gex_OP_t, Ops, ops)
QUERY(void *, CData, cdata)

void gex_AD_SetCData(gex_AD_t ad, const void *val) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_ad("gex_AD_SetCData", ad);
  ad->cdata = (void *)(uintptr_t)val;
}
