/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 7 16 */
/* debug: both */
/* again: TOMBOLO_TEST_SHM_MAP=0 TOMBOLO_TEST_SHM=0 */
/* timeout: 120 */
/*
 * API 05: randomised histories against a sequential model. Each rank owns some words at every rank
 * and applies random operations of random type to them: NB, NBI, inside access regions, immediate;
 * at most one operation per word is in flight. The seed is printed when something fails
 * (TMB_TEST_SEED repeats it).
 */
#include "ad_model.h"

enum { WORDS = 24, BATCHES = 60 };

struct flight {
  gex_Rank_t rank;
  int word;
  gex_OP_t op;
  uint64_t a, b;
  uint64_t result;
  gex_Event_t event;
};

static gex_AD_t ad[AD_TYPES];
static uint64_t *value; /* [size][WORDS] what my words hold */
static uint64_t rng;

/* Word w of every rank has type w % AD_TYPES. */
static void *addr_of(gex_Rank_t rank, int w) {
  return job.peer[rank] + ((size_t)job.rank * WORDS + (size_t)w) * 8;
}

/* Small whole numbers often, any bits sometimes; real numbers stay finite enough to compare. */
static uint64_t operand(gex_DT_t dt) {
  const uint64_t r = rng_next(&rng);
  if (dt == GEX_DT_FLT) return ad_bits_FLT((float)(r % 2001) / 8 - 125);
  if (dt == GEX_DT_DBL) return ad_bits_DBL((double)(r % 2001) / 8 - 125);
  const uint64_t v = r % 3 ? rng_next(&rng) : r % 8 - 4;
  return ad_bytes(dt) == 4 ? (uint32_t)v : v;
}

static gex_OP_t opcode(gex_DT_t dt) {
  for (;;) {
    const gex_OP_t op = 1u << rng_below(&rng, 29);
    if (op & ad_ops_of(dt)) return op;
  }
}

static void start(struct flight *f, int word, int implicit) {
  const gex_DT_t dt = ad_type[word % AD_TYPES];
  *f = (struct flight){.rank = (gex_Rank_t)rng_below(&rng, job.size), .word = word};
  f->op = opcode(dt);
  f->a = rng_below(&rng, 3) ? operand(dt) : value[f->rank * WORDS + (unsigned)word];
  f->b = operand(dt);
  const gex_Flags_t flags = rng_below(&rng, 4) ? 0 : GEX_FLAG_IMMEDIATE;
  while (ad_call(ad[word % AD_TYPES], &f->result, f->rank, addr_of(f->rank, word), f->op, f->a,
                 f->b, flags, implicit ? NULL : &f->event))
    gasnet_AMPoll();
}

static void verify(const struct flight *f) {
  const gex_DT_t dt = ad_type[f->word % AD_TYPES];
  uint64_t *const mine = &value[f->rank * WORDS + (unsigned)f->word];
  if (f->op & AD_FETCHING) CHECK_EQ(f->result, *mine);
  *mine = ad_model(dt, f->op, *mine, f->a, f->b);
}

static void run_batch(void) {
  struct flight flight[WORDS];
  const int form = (int)rng_below(&rng, 3); /* events, implicit, region */
  gex_Event_t events[WORDS], region = GEX_EVENT_INVALID;
  if (form == 2) gex_NBI_BeginAccessRegion(0);
  for (int w = 0; w < WORDS; w++) {
    start(&flight[w], w, form != 0);
    events[w] = flight[w].event;
  }
  if (form == 2) region = gex_NBI_EndAccessRegion(0);
  if (form == 1) gex_NBI_Wait(GEX_EC_PUT | GEX_EC_GET | GEX_EC_RMW, 0);
  gex_Event_Wait(region);
  gex_Event_WaitAll(events, WORDS, 0);
  for (int w = 0; w < WORDS; w++) verify(&flight[w]);
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 65536, NULL, 0);
  rng = test_seed() + job.rank * 7919u;
  value = (uint64_t *)check_room((size_t)job.size * WORDS, sizeof *value);
  for (int i = 0; i < AD_TYPES; i++)
    gex_AD_Create(&ad[i], job.tm, ad_type[i], ad_ops_of(ad_type[i]), 0);
  for (int i = 0; i < BATCHES; i++) run_batch();
  for (gex_Rank_t r = 0; r < job.size; r++)
    for (int w = 0; w < WORDS; w++)
      CHECK_EQ(ad_do(ad[w % AD_TYPES], r, addr_of(r, w), GEX_OP_GET, 0, 0, 0),
               value[r * WORDS + (unsigned)w]);
  job_barrier();
  for (int i = 0; i < AD_TYPES; i++) gex_AD_Destroy(ad[i]);
  free(value);
  return job_finish();
}
