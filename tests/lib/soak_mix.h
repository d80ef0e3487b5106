/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One worker of the soak: a random mix of short, medium, long and negotiated requests (each
 * answered by a random kind of reply), of blocking, explicit, implicit and value puts and gets, of
 * remote atomics and of puts with a signal, with every payload and every count checked against a
 * model. Used by soak.c (one worker per process) and par_soak.c (one per
 * thread). A header of static functions, so that only these two compile it. Invariants: a worker
 * owns its slots at every peer; a slot is busy while an operation on it is in flight.
 */
#ifndef TMB_TEST_SOAK_MIX_H
#define TMB_TEST_SOAK_MIX_H

#include "job.h"

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>

enum { SOAK_SLOTS = 64, SOAK_SLOT_BYTES = 8192, SOAK_PENDING = 16, SOAK_WORKERS_MAX = 64 };
enum {
  SOAK_SHORT,
  SOAK_MEDIUM,
  SOAK_LONG,
  SOAK_NPAM,
  SOAK_PUT,
  SOAK_GET,
  SOAK_VALUE,
  SOAK_ATOMIC,
  SOAK_SIGNAL,
  SOAK_KINDS
};

/* A worker's words at a peer: a counter, and a note with the number of its signal. The counter
 * and the signal lie on lines of their own. */
enum { SOAK_NOTE_BYTES = 1920 };
struct soak_words {
  uint64_t counter, no1[7];
  uint64_t signal, no2[7];
  char note[SOAK_NOTE_BYTES];
};

struct soak_model { /* what a worker knows of its words at a peer */
  uint64_t counter, signals;
};

struct soak_slot {
  uint64_t seed; /* what the peer's memory holds */
  uint32_t bytes;
  uint32_t busy;
};

struct soak_pending { /* an explicit or implicit put or get that is not synced */
  gex_Event_t ev;
  char *buf; /* [SOAK_SLOT_BYTES] source or destination */
  struct soak_slot *slot;
  int is_get, is_implicit, used;
};

struct soak_worker {
  uint64_t random;
  uint64_t ops, bytes, by_kind[SOAK_KINDS];
  uint64_t requests;       /* sent */
  uint64_t replies;        /* atomic: got */
  struct soak_slot *slots; /* [job.size][SOAK_SLOTS] */
  struct soak_slot
      *landing; /* [job.size][SOAK_SLOTS] destinations of Long requests; busy is atomic */
  struct soak_model *model; /* [job.size] */
  char *buf;                /* a medium payload */
  struct soak_pending pending[SOAK_PENDING];
  int id;
};

static struct soak_worker *soak_workers[SOAK_WORKERS_MAX];
static int soak_count;
static uint64_t soak_requests_in; /* atomic: requests handled by this process */
static gex_AD_t soak_ad;
static gex_AM_Index_t soak_short_req, soak_data_req, soak_short_rep, soak_data_rep;

/* Slot of a worker at a peer; landing: the half that Long requests use. */
static char *soak_addr(gex_Rank_t to, int worker, unsigned slot, int landing) {
  const size_t index =
      (((size_t)job.rank * (size_t)soak_count + (size_t)worker) * 2 + (size_t)landing);
  return job.peer[to] + (index * SOAK_SLOTS + slot) * SOAK_SLOT_BYTES;
}

static uintptr_t soak_slots_bytes(gex_Rank_t ranks) {
  return (uintptr_t)ranks * (unsigned)soak_count * 2 * SOAK_SLOTS * SOAK_SLOT_BYTES;
}

static uintptr_t soak_segment_bytes(gex_Rank_t ranks) {
  return soak_slots_bytes(ranks) +
         (uintptr_t)ranks * (unsigned)soak_count * sizeof(struct soak_words);
}

/* Words of a worker of rank `of` at a peer. */
static struct soak_words *soak_words_at(gex_Rank_t to, gex_Rank_t of, int worker) {
  return (struct soak_words *)(void *)(job.peer[to] + soak_slots_bytes(job.size)) +
         (size_t)of * (size_t)soak_count + (size_t)worker;
}

/* Mostly small, sometimes up to `most`. */
static size_t soak_size(uint64_t *random, size_t most) {
  const uint64_t r = rng_next(random);
  const size_t range = r % 16 < 10 ? 64 : r % 16 < 14 ? 600 : r % 16 < 15 ? 5000 : most;
  return (r >> 8) % ((range < most ? range : most) + 1);
}

/* ---- messages: arguments: worker | (landing slot + 1) << 8, and the seed in two halves */

static uint64_t soak_join(gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  return (uint64_t)(uint32_t)hi << 32 | (uint32_t)lo;
}

static void soak_answer(gex_Token_t token, gex_AM_Arg_t who, uint64_t seed) {
  char out[1024];
  const int hi = (int)(uint32_t)(seed >> 32), lo = (int)(uint32_t)seed;
  const size_t n = mix64(seed) % (sizeof out + 1);
  __atomic_fetch_add(&soak_requests_in, 1, __ATOMIC_RELAXED);
  if (seed % 3 == 0) {
    CHECK_EQ(gex_AM_ReplyShort3(token, soak_short_rep, 0, who, hi, lo), 0);
  } else if (seed % 3 == 1) {
    pattern_fill(out, n, ~seed);
    CHECK_EQ(gex_AM_ReplyMedium3(token, soak_data_rep, out, n, GEX_EVENT_NOW, 0, who, hi, lo), 0);
  } else {
    gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, n < 512 ? n : 512, n, NULL, 0, 3);
    REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
    const size_t size = gex_AM_SrcDescSize(sd);
    pattern_fill(gex_AM_SrcDescAddr(sd), size, ~seed);
    gex_AM_CommitReplyMedium3(sd, soak_data_rep, size, who, hi, lo);
  }
}

static void soak_on_short_req(gex_Token_t token, gex_AM_Arg_t who, gex_AM_Arg_t hi,
                              gex_AM_Arg_t lo) {
  soak_answer(token, who, soak_join(hi, lo));
}

static void soak_on_data_req(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t who,
                             gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  CHECK_BYTES(buf, nbytes, soak_join(hi, lo));
  soak_answer(token, who, soak_join(hi, lo));
}

static void soak_replied(gex_Token_t token, gex_AM_Arg_t who) {
  const int worker = who & 0xff, slot = (who >> 8) - 1;
  REQUIRE(worker >= 0 && worker < soak_count);
  if (slot >= 0) {
    gex_Token_Info_t info;
    gex_Token_Info(token, &info, GEX_TI_SRCRANK);
    struct soak_slot *const s =
        &soak_workers[worker]->landing[info.gex_srcrank * SOAK_SLOTS + slot];
    CHECK_EQ(__atomic_exchange_n(&s->busy, 0, __ATOMIC_ACQ_REL), 1);
  }
  __atomic_fetch_add(&soak_workers[worker]->replies, 1, __ATOMIC_RELEASE);
}

static void soak_on_short_rep(gex_Token_t token, gex_AM_Arg_t who, gex_AM_Arg_t hi,
                              gex_AM_Arg_t lo) {
  CHECK_EQ(soak_join(hi, lo) % 3, 0);
  soak_replied(token, who);
}

static void soak_on_data_rep(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t who,
                             gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  CHECK_BYTES(buf, nbytes, ~soak_join(hi, lo));
  soak_replied(token, who);
}

static void soak_npam(struct soak_worker *w, gex_Rank_t to, size_t n, uint64_t seed) {
  const int lib = (int)(seed & 1), hi = (int)(uint32_t)(seed >> 32), lo = (int)(uint32_t)seed;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(
      job.tm, to, lib ? NULL : w->buf, n < 512 ? n : 512, n, lib ? NULL : GEX_EVENT_NOW, 0, 3);
  REQUIRE(sd != GEX_AM_SRCDESC_NO_OP);
  const size_t size = gex_AM_SrcDescSize(sd);
  pattern_fill(gex_AM_SrcDescAddr(sd), size, seed);
  gex_AM_CommitRequestMedium3(sd, soak_data_req, size, w->id, hi, lo);
}

static void soak_message(struct soak_worker *w, gex_Rank_t to, int kind) {
  const uint64_t seed = rng_next(&w->random);
  const int hi = (int)(uint32_t)(seed >> 32), lo = (int)(uint32_t)seed;
  const unsigned slot = (unsigned)rng_below(&w->random, SOAK_SLOTS);
  struct soak_slot *const s = &w->landing[to * SOAK_SLOTS + slot];
  if (kind == SOAK_LONG && __atomic_load_n(&s->busy, __ATOMIC_ACQUIRE)) kind = SOAK_MEDIUM;
  const size_t most = kind == SOAK_LONG ? (size_t)SOAK_SLOT_BYTES
                                        : gex_AM_MaxRequestMedium(job.tm, to, GEX_EVENT_NOW, 0, 3);
  const size_t n = kind == SOAK_SHORT ? 0 : soak_size(&w->random, most);
  w->requests++;
  w->bytes += n;
  if (kind == SOAK_SHORT) {
    CHECK_EQ(gex_AM_RequestShort3(job.tm, to, soak_short_req, 0, w->id, hi, lo), 0);
  } else if (kind == SOAK_NPAM) {
    soak_npam(w, to, n, seed);
  } else if (kind == SOAK_MEDIUM) {
    pattern_fill(w->buf, n, seed);
    CHECK_EQ(gex_AM_RequestMedium3(job.tm, to, soak_data_req, w->buf, n, GEX_EVENT_NOW, 0, w->id,
                                   hi, lo),
             0);
  } else {
    pattern_fill(w->buf, n, seed);
    __atomic_store_n(&s->busy, 1, __ATOMIC_RELEASE);
    CHECK_EQ(gex_AM_RequestLong3(job.tm, to, soak_data_req, w->buf, n,
                                 soak_addr(to, w->id, slot, 1), GEX_EVENT_NOW, 0,
                                 w->id | (int)(slot + 1) << 8, hi, lo),
             0);
  }
}

/* ---- put and get */

static void soak_retire(struct soak_pending *p) {
  if (!p->used) return;
  if (p->is_implicit)
    gex_NBI_Wait(p->is_get ? GEX_EC_GET : GEX_EC_PUT, 0);
  else
    gex_Event_Wait(p->ev);
  if (p->is_get)
    CHECK_BYTES(p->buf, p->slot->bytes, p->slot->seed);
  else
    memset(p->buf, 0x31, p->slot->bytes < 64 ? p->slot->bytes : 64);
  p->slot->busy = 0;
  p->used = 0;
}

static void soak_start(struct soak_worker *w, gex_Rank_t to, unsigned slot, int is_get) {
  struct soak_slot *const s = &w->slots[to * SOAK_SLOTS + slot];
  struct soak_pending *const p = &w->pending[rng_below(&w->random, SOAK_PENDING)];
  char *const peer = soak_addr(to, w->id, slot, 0);
  soak_retire(p);
  if (s->busy) return;
  if (!is_get) {
    s->bytes = (uint32_t)soak_size(&w->random, SOAK_SLOT_BYTES);
    s->seed = rng_next(&w->random);
    pattern_fill(p->buf, s->bytes, s->seed);
  }
  w->bytes += s->bytes;
  p->slot = s;
  p->is_get = is_get;
  const int kind = (int)rng_below(&w->random, 3);
  if (kind == 0) {
    CHECK_EQ(is_get ? gex_RMA_GetBlocking(job.tm, p->buf, to, peer, s->bytes, 0)
                    : gex_RMA_PutBlocking(job.tm, to, peer, p->buf, s->bytes, 0),
             0);
    if (is_get) CHECK_BYTES(p->buf, s->bytes, s->seed);
    return;
  }
  p->is_implicit = kind == 1;
  if (kind == 1)
    CHECK_EQ(is_get ? gex_RMA_GetNBI(job.tm, p->buf, to, peer, s->bytes, 0)
                    : gex_RMA_PutNBI(job.tm, to, peer, p->buf, s->bytes, GEX_EVENT_DEFER, 0),
             0);
  else
    p->ev = is_get ? gex_RMA_GetNB(job.tm, p->buf, to, peer, s->bytes, 0)
                   : gex_RMA_PutNB(job.tm, to, peer, p->buf, s->bytes, GEX_EVENT_DEFER, 0);
  p->used = 1;
  s->busy = 1;
}

/* Puts a value at a slot's start and reads it back. */
static void soak_value(struct soak_worker *w, gex_Rank_t to, unsigned slot) {
  struct soak_slot *const s = &w->slots[to * SOAK_SLOTS + slot];
  char *const peer = soak_addr(to, w->id, slot, 0);
  const size_t n = 1 + rng_below(&w->random, 8);
  if (s->busy) return;
  s->seed = rng_next(&w->random);
  s->bytes = (uint32_t)n;
  uint64_t value = 0;
  pattern_fill(&value, n, s->seed); /* little-endian hosts: the low bytes */
  CHECK_EQ(gex_RMA_PutBlockingVal(job.tm, to, peer, value, n, 0), 0);
  CHECK_EQ(gex_RMA_GetBlockingVal(job.tm, to, peer, n, 0), value);
  w->bytes += 2 * n;
}

/* ---- words */

/* A random atomic operation on a counter that only this worker changes. */
static void soak_atomic(struct soak_worker *w, gex_Rank_t to) {
  static const gex_OP_t ops[] = {GEX_OP_FADD, GEX_OP_FXOR, GEX_OP_SWAP, GEX_OP_FCAS, GEX_OP_GET};
  struct soak_model *const m = &w->model[to];
  uint64_t *const word = &soak_words_at(to, job.rank, w->id)->counter;
  const gex_OP_t op = ops[rng_below(&w->random, sizeof ops / sizeof *ops)];
  const uint64_t operand = rng_next(&w->random), expected = m->counter ^ (operand & 1);
  uint64_t before = 0;
  w->bytes += 8;
  if (op == GEX_OP_GET) {
    gex_Event_Wait(gex_AD_OpNB_U64(soak_ad, &before, to, word, op, 0, 0, 0));
  } else if (op == GEX_OP_FCAS) {
    gex_Event_Wait(gex_AD_OpNB_U64(soak_ad, &before, to, word, op, expected, operand, 0));
  } else {
    gex_Event_Wait(gex_AD_OpNB_U64(soak_ad, &before, to, word, op, operand, 0, 0));
  }
  CHECK_EQ(before, m->counter);
  if (op == GEX_OP_FADD) m->counter += operand;
  if (op == GEX_OP_FXOR) m->counter ^= operand;
  if (op == GEX_OP_SWAP || (op == GEX_OP_FCAS && expected == m->counter)) m->counter = operand;
}

/* Puts a note and raises its signal; now and then checks whether both are there. */
static void soak_signal(struct soak_worker *w, gex_Rank_t to) {
  struct soak_model *const m = &w->model[to];
  struct soak_words *const words = soak_words_at(to, job.rank, w->id);
  const size_t n = soak_size(&w->random, SOAK_NOTE_BYTES);
  m->signals++;
  pattern_fill(w->buf, n, m->signals);
  w->bytes += n;
  const gex_Event_t ev = gexx_RMA_PutSignalNB(job.tm, to, words->note, w->buf, n, GEX_EVENT_NOW,
                                              &words->signal, GEXX_SIG_ADD, 1, 0);
  gex_Event_Wait(ev);
  if (rng_below(&w->random, 4) == 0) {
    uint64_t signal = 0;
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, &signal, to, &words->signal, sizeof signal, 0), 0);
    CHECK_EQ(signal, m->signals);
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, w->buf, to, words->note, n, 0), 0);
    CHECK_BYTES(w->buf, n, m->signals);
  }
}

/* ---- a worker's life */

static struct soak_worker *soak_new(int id) {
  struct soak_worker *w = (struct soak_worker *)check_room(1, sizeof *w);
  w->id = id;
  w->random = mix64(test_seed() + job.rank * 1000 + (unsigned)id);
  w->slots = (struct soak_slot *)calloc(job.size * SOAK_SLOTS, sizeof *w->slots);
  w->landing = (struct soak_slot *)calloc(job.size * SOAK_SLOTS, sizeof *w->landing);
  w->model = (struct soak_model *)calloc(job.size, sizeof *w->model);
  w->buf = (char *)malloc(1 << 20);
  if (!w->slots || !w->landing || !w->model || !w->buf) check_abandon();
  for (int i = 0; i < SOAK_PENDING; i++) {
    char *const room = (char *)check_room(1, SOAK_SLOT_BYTES);
    w->pending[i].buf = room;
  }
  soak_workers[id] = w;
  return w;
}

static void soak_step(struct soak_worker *w) {
  const gex_Rank_t to = (gex_Rank_t)rng_below(&w->random, job.size);
  const unsigned slot = (unsigned)rng_below(&w->random, SOAK_SLOTS);
  const int kind = (int)rng_below(&w->random, SOAK_KINDS);
  w->ops++;
  w->by_kind[kind]++;
  if (kind <= SOAK_NPAM)
    soak_message(w, to, kind);
  else if (kind == SOAK_VALUE)
    soak_value(w, to, slot);
  else if (kind == SOAK_ATOMIC)
    soak_atomic(w, to);
  else if (kind == SOAK_SIGNAL)
    soak_signal(w, to);
  else
    soak_start(w, to, slot, kind == SOAK_GET);
}

/* Waits for everything that this worker started, then reads every slot back. */
static void soak_end(struct soak_worker *w) {
  for (int i = 0; i < SOAK_PENDING; i++) soak_retire(&w->pending[i]);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  GASNET_BLOCKUNTIL(__atomic_load_n(&w->replies, __ATOMIC_ACQUIRE) >= w->requests);
  for (gex_Rank_t to = 0; to < job.size; to++) {
    struct soak_words words;
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, &words, to, soak_words_at(to, job.rank, w->id),
                                 sizeof words, 0),
             0);
    CHECK_EQ(words.counter, w->model[to].counter);
    CHECK_EQ(words.signal, w->model[to].signals);
    for (unsigned slot = 0; slot < SOAK_SLOTS; slot++) {
      const struct soak_slot *s = &w->slots[to * SOAK_SLOTS + slot];
      CHECK_EQ(gex_RMA_GetBlocking(job.tm, w->buf, to, soak_addr(to, w->id, slot, 0), s->bytes, 0),
               0);
      CHECK_BYTES(w->buf, s->bytes, s->seed);
    }
  }
}

/* Init, handlers and a segment for `workers` workers per process. */
static void soak_job(int *argc, char ***argv, int workers) {
  const gex_Flags_t data = GEX_FLAG_AM_MEDLONG, req = GEX_FLAG_AM_REQUEST, rep = GEX_FLAG_AM_REPLY;
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)soak_on_short_req, GEX_FLAG_AM_SHORT | req, 3, NULL, "short_req"},
      {0, (gex_AM_Fn_t)soak_on_data_req, data | req, 3, NULL, "data_req"},
      {0, (gex_AM_Fn_t)soak_on_short_rep, GEX_FLAG_AM_SHORT | rep, 3, NULL, "short_rep"},
      {0, (gex_AM_Fn_t)soak_on_data_rep, data | rep, 3, NULL, "data_rep"}};
  soak_count = workers;
  job_start(argc, argv, 0, table, 4);
  soak_short_req = table[0].gex_index;
  soak_data_req = table[1].gex_index;
  soak_short_rep = table[2].gex_index;
  soak_data_rep = table[3].gex_index;
  job_attach(soak_segment_bytes(job.size));
  memset(soak_words_at(job.rank, 0, 0), 0,
         (size_t)job.size * (size_t)soak_count * sizeof(struct soak_words));
  gex_AD_Create(&soak_ad, job.tm, GEX_DT_U64,
                GEX_OP_FADD | GEX_OP_FXOR | GEX_OP_SWAP | GEX_OP_FCAS | GEX_OP_GET, 0);
  job_barrier();
}

/* Sums requests sent and handled over the job at rank 0 and compares; prints totals and rate. */
static uint64_t soak_sums[4];
static uint32_t soak_reports;
static void soak_on_report(gex_Token_t token, void *buf, size_t nbytes) {
  uint64_t in[4];
  (void)token;
  CHECK_EQ(nbytes, sizeof in);
  memcpy(in, buf, sizeof in);
  for (int i = 0; i < 4; i++) __atomic_fetch_add(&soak_sums[i], in[i], __ATOMIC_RELAXED);
  __atomic_fetch_add(&soak_reports, 1, __ATOMIC_RELEASE);
}

static void soak_report(double seconds) {
  gex_AM_Entry_t entry = {
      0, (gex_AM_Fn_t)soak_on_report, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "report"};
  REQUIRE(gex_EP_RegisterHandlers(job.ep, &entry, 1) == GASNET_OK);
  job_barrier();
  uint64_t out[4] = {0, 0, 0, soak_requests_in};
  for (int i = 0; i < soak_count; i++) {
    out[0] += soak_workers[i]->ops;
    out[1] += soak_workers[i]->bytes;
    out[2] += soak_workers[i]->requests;
    CHECK_EQ(soak_workers[i]->replies, soak_workers[i]->requests);
  }
  CHECK_EQ(gex_AM_RequestMedium0(job.tm, 0, entry.gex_index, out, sizeof out, GEX_EVENT_NOW, 0), 0);
  if (job.rank == 0) {
    GASNET_BLOCKUNTIL(__atomic_load_n(&soak_reports, __ATOMIC_ACQUIRE) == job.size);
    CHECK_EQ(soak_sums[2], soak_sums[3]);
    printf("soak: %" PRIu64 " operations, %" PRIu64
           " requests, %.1f MB in %.1f s: %.0f operations/s; seed "
           "%" PRIu64 "\n",
           soak_sums[0], soak_sums[2], (double)soak_sums[1] * 1e-6, seconds,
           (double)soak_sums[0] / seconds, test_seed());
    fflush(stdout);
  }
  job_barrier();
}

#endif
