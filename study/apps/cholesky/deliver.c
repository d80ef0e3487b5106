/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Delivery of panels, see deliver.h.
 *
 * Owns: the layout of the segment: slots of panels, of single blocks and of diagonal blocks, then
 * words, one cache line each. Called by cholesky.c. Calls: the public API. Invariants: those of
 * deliver.h.
 */
#include "apps/cholesky/deliver.h"

#include "lib/app.h"
#include "lib/blocks.h"

#include <stdlib.h>
#include <string.h>

enum { PANEL, TILE, DIAGONAL, KINDS, LINE = 8 /* words of a cache line */, ROWS_MAX = 64 };

static int rank_of(const struct deliver *d, int row, int col) {
  return row * d->q + col;
}

static size_t offset_of(const struct deliver *d, int kind, long k) {
  const size_t slot = (size_t)(k % DELIVER_SLOTS);
  switch (kind) {
  case PANEL: return d->panel_at + slot * d->panel_bytes;
  case TILE: return d->tile_at + slot * d->tile_bytes;
  default: return d->diagonal_at + slot * d->diagonal_bytes;
  }
}

static double *local(const struct deliver *d, size_t offset) {
  return (double *)(void *)(d->job->mine + offset);
}

/* Offset of the word that counts notices of a kind for a slot, and of that of a rank's done steps.
 */
static size_t word_of(const struct deliver *d, int kind, long k) {
  return d->word_at + (size_t)(kind * DELIVER_SLOTS + k % DELIVER_SLOTS) * LINE * sizeof(uint64_t);
}

static size_t done_word(const struct deliver *d, int rank) {
  return d->word_at + (size_t)(KINDS * DELIVER_SLOTS + rank) * LINE * sizeof(uint64_t);
}

static uint64_t *word(const struct deliver *d, size_t offset) {
  return (uint64_t *)(void *)(d->job->mine + offset);
}

long deliver_first_row(const struct deliver *d, long i) {
  return i > d->row ? (i - d->row + d->p - 1) / d->p * d->nb : 0;
}

void deliver_open(struct deliver *d, struct job *job, long n, long most_nb) {
  const long nb = most_nb < n ? most_nb : n; /* one block holds everything */
  *d = (struct deliver){.job = job, .nb = nb, .blocks = (n + nb - 1) / nb};
  blocks_grid(job->size, &d->p, &d->q);
  if (d->p > ROWS_MAX)
    job_refuse(job,
               "%d ranks make a grid of %d rows, and at most %d are possible; take fewer ranks",
               job->size, d->p, ROWS_MAX);
  d->row = job->rank / d->q;
  d->col = job->rank % d->q;
  d->rows = blocks_local(d->blocks, 1, d->row, d->p) * nb;
  const double rows = (double)(n / d->p + nb), columns_of_rank = (double)(n / d->q + nb);
  app_need(job, sizeof(double) * (rows * columns_of_rank +
                                  (DELIVER_SLOTS + 2) * (rows + columns_of_rank) * (double)nb));
  const size_t block = (size_t)(nb * nb) * sizeof(double);
  const size_t lines = (size_t)(d->blocks + d->p - 1) / (size_t)d->p; /* block rows of any rank */
  const size_t columns = (size_t)(d->blocks + d->q - 1) / (size_t)d->q;
  d->panel_bytes = lines * block;
  d->tile_bytes = columns * block;
  d->diagonal_bytes = block;
  d->tile_at = d->panel_at + DELIVER_SLOTS * d->panel_bytes;
  d->diagonal_at = d->tile_at + DELIVER_SLOTS * d->tile_bytes;
  d->word_at = d->diagonal_at + DELIVER_SLOTS * d->diagonal_bytes;
  job_attach(job, done_word(d, job->size));
  d->packed = malloc(d->tile_bytes);
  d->gathered = d->packed ? malloc(d->tile_bytes) : NULL;
  if (job_sum(job, d->gathered ? 0 : 1) != 0)
    job_refuse(job, "out of memory for panels of %ld rows; take a smaller --size", n);
  (void)gex_TM_Split(&d->row_tm, job_team(), d->row, d->col, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  (void)gex_TM_Split(&d->col_tm, job_team(), d->col, d->row, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
}

void deliver_begin(struct deliver *d) {
  memset(d->want, 0, sizeof d->want);
  memset(word(d, d->word_at), 0, done_word(d, d->job->size) - d->word_at);
  job_barrier(d->job);
}

void deliver_end(struct deliver *d) {
  job_barrier(d->job); /* nobody writes to words of the next factorisation */
}

/* Blocks for a slot of another rank. */
struct parcel {
  int kind;  /* of the slot */
  long k;    /* step */
  size_t at; /* offset in the slot, bytes */
  const double *src;
  size_t bytes;
};

/* Put a parcel, with notice, once the rank is done with what was in the slot. */
static void put(struct deliver *d, int rank, const struct parcel *x) {
  if (x->k >= DELIVER_SLOTS)
    (void)gexx_Signal_Wait(word(d, done_word(d, rank)), GEXX_SIG_GE,
                           (uint64_t)(x->k - DELIVER_SLOTS + 1));
  char *const base = job_base(rank);
  gexx_RMA_PutSignalBlocking(
      job_team(), (gex_Rank_t)rank, base + offset_of(d, x->kind, x->k) + x->at, x->src, x->bytes,
      GEX_EVENT_NOW, (uint64_t *)(void *)(base + word_of(d, x->kind, x->k)), GEXX_SIG_ADD, 1, 0);
}

static void wait_for(struct deliver *d, int kind, long k, uint64_t more) {
  uint64_t *const want = &d->want[kind][k % DELIVER_SLOTS];
  *want += more;
  if (more) (void)gexx_Signal_Wait(word(d, word_of(d, kind, k)), GEXX_SIG_GE, *want);
}

const double *deliver_diagonal(struct deliver *d, long k, const double *mine) {
  const int maker = (int)(k % d->p);
  if (d->p == 1) return mine;
  double *const here = local(d, offset_of(d, DIAGONAL, k));
  if (d->way != DELIVER_SIGNAL) {
    gex_Event_Wait(gex_Coll_BroadcastNB(d->col_tm, (gex_Rank_t)maker, here,
                                        d->row == maker ? mine : NULL, d->diagonal_bytes, 0));
    return here;
  }
  if (d->row != maker) {
    wait_for(d, DIAGONAL, k, 1);
    return here;
  }
  const struct parcel parcel = {DIAGONAL, k, 0, mine, d->diagonal_bytes};
  for (int row = 0; row < d->p; row++)
    if (row != maker) put(d, rank_of(d, row, d->col), &parcel);
  return mine;
}

double *deliver_pack(const struct deliver *d, long k) {
  return local(d, offset_of(d, PANEL, k));
}

static long panel_rows(const struct deliver *d, long k) {
  return d->rows - deliver_first_row(d, k + 1);
}

struct cholesky_panel deliver_panel(const struct deliver *d, long k) {
  return (struct cholesky_panel){.rows = local(d, offset_of(d, PANEL, k)),
                                 .tiles = local(d, offset_of(d, TILE, k)),
                                 .first = deliver_first_row(d, k + 1),
                                 .ld = panel_rows(d, k)};
}

/* Copy block j of the own rows of panel k as its consumers want it. */
static void copy_block(const struct deliver *d, long k, long j, double *to) {
  const struct cholesky_panel panel = deliver_panel(d, k);
  cholesky_transpose(d->nb, panel.rows + (j / d->p * d->nb - panel.first), panel.ld, to);
}

/* To the row the packed rows; to the column of each block that block. */
static void send_all(struct deliver *d, long k) {
  const long count = panel_rows(d, k);
  const size_t block = (size_t)(d->nb * d->nb) * sizeof(double);
  const struct parcel rows = {PANEL, k, 0, deliver_pack(d, k),
                              (size_t)(count * d->nb) * sizeof(double)};
  for (int step = 1; step < d->q && count > 0; step++)
    put(d, rank_of(d, d->row, (d->col + step) % d->q), &rows);
  for (long j = k + 1; j < d->blocks && d->p > 1; j++) {
    if (j % d->p != d->row) continue;
    const struct parcel tile = {TILE, k, (size_t)(j / d->q) * block, d->packed, block};
    copy_block(d, k, j, d->packed);
    for (int step = 1; step < d->p; step++)
      put(d, rank_of(d, (d->row + step) % d->p, (int)(j % d->q)), &tile);
  }
}

void deliver_start(struct deliver *d, long k) {
  const long count = panel_rows(d, k);
  const bool mine = d->col == k % d->q;
  if (d->way == DELIVER_SIGNAL) {
    if (mine) send_all(d, k);
    return;
  }
  d->event = GEX_EVENT_INVALID;
  if (count <= 0 || d->q == 1) return;
  double *const here = deliver_pack(d, k);
  d->event = gex_Coll_BroadcastNB(d->row_tm, (gex_Rank_t)(k % d->q), here, mine ? here : NULL,
                                  (size_t)(count * d->nb) * sizeof(double), 0);
  if (d->way == DELIVER_BLOCKING) gex_Event_Wait(d->event);
  if (d->way == DELIVER_BLOCKING) d->event = GEX_EVENT_INVALID;
}

/* The blocks of the column that other rows have: an all-gather, then each to its place. */
static void gather_column(struct deliver *d, long k) {
  const size_t block = (size_t)(d->nb * d->nb) * sizeof(double);
  size_t bytes[ROWS_MAX] = {0}, at[ROWS_MAX] = {0}, all = 0, sent = 0;
  for (long j = k + 1; j < d->blocks; j++) {
    if (j % d->q != d->col) continue;
    bytes[j % d->p] += block;
    if (j % d->p != d->row) continue;
    copy_block(d, k, j, d->packed + sent / sizeof(double));
    sent += block;
  }
  for (int row = 0; row < d->p; row++) {
    at[row] = all;
    all += bytes[row];
  }
  if (!all) return;
  gex_Event_Wait(gexx_Coll_AllGatherVNB(d->col_tm, d->gathered, bytes, at, d->packed, 0));
  for (long j = k + 1; j < d->blocks; j++) {
    if (j % d->q != d->col) continue;
    memcpy(local(d, offset_of(d, TILE, k)) + j / d->q * d->nb * d->nb,
           d->gathered + at[j % d->p] / sizeof(double), block);
    at[j % d->p] += block;
  }
}

void deliver_wait(struct deliver *d, long k) {
  if (d->way != DELIVER_SIGNAL) {
    gex_Event_Wait(d->event);
    if (d->p > 1) gather_column(d, k);
    return;
  }
  uint64_t tiles = 0;
  for (long j = k + 1; j < d->blocks; j++)
    if (j % d->q == d->col && j % d->p != d->row) tiles++;
  wait_for(d, PANEL, k, d->col != k % d->q && panel_rows(d, k) > 0);
  wait_for(d, TILE, k, tiles);
}

void deliver_done(struct deliver *d, long k) {
  if (d->way != DELIVER_SIGNAL) return;
  for (int step = 1; step < d->job->size; step++) {
    const int rank = (d->job->rank + step) % d->job->size;
    uint64_t *const theirs = (uint64_t *)(void *)(job_base(rank) + done_word(d, d->job->rank));
    gexx_RMA_PutSignalBlocking(job_team(), (gex_Rank_t)rank, NULL, NULL, 0, GEX_EVENT_NOW, theirs,
                               GEXX_SIG_SET, (uint64_t)k + 1, 0);
  }
}
