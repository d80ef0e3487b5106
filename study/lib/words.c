/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words and letters on the public API, see words.h.
 *
 * Owns: the domain of atomics. Called by study/apps. Calls: gasnetex.h, links.c. A letter is a
 * medium message.
 */
#include "lib/words.h"

#include "lib/links_gex.h"

#include <gasnet_ratomic.h>

#include <string.h>

enum { AM_LETTER = JOB_HANDLERS };

static struct {
  gex_AD_t domain;
  words_taker *taker;
} words;

static void on_letter(gex_Token_t token, void *data, size_t bytes) {
  (void)token;
  words.taker(data, bytes / sizeof(uint64_t));
}

uint64_t *words_attach(struct job *job, size_t count) {
  gex_AM_Entry_t handler = {
      AM_LETTER, (gex_AM_Fn_t)on_letter, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL,
      "letter"};
  if (gex_EP_RegisterHandlers(job_endpoint(), &handler, 1) != GASNET_OK)
    job_refuse(job, "handlers cannot be registered");
  job_attach(job, count * sizeof(uint64_t));
  memset(job->mine, 0, count * sizeof(uint64_t));
  gex_AD_Create(&words.domain, job_team(), GEX_DT_U64, GEX_OP_FCAS | GEX_OP_CAS | GEX_OP_FADD, 0);
  job_barrier(job);
  return (uint64_t *)(void *)job->mine;
}

void words_detach(struct job *job) {
  job_barrier(job);
  gex_AD_Destroy(words.domain);
}

static uint64_t *word(int rank, size_t index) {
  return (uint64_t *)(void *)job_base(rank) + index;
}

void words_get(int rank, size_t index, size_t count, uint64_t *to) {
  gex_RMA_GetBlocking(job_team(), to, (gex_Rank_t)rank, word(rank, index), count * sizeof *to, 0);
}

void words_put(int rank, size_t index, uint64_t value) {
  gex_RMA_PutNBIVal(job_team(), (gex_Rank_t)rank, word(rank, index), value, sizeof value, 0);
}

void words_swap(int rank, size_t index, uint64_t expected, uint64_t value) {
  gex_AD_OpNBI_U64(words.domain, NULL, (gex_Rank_t)rank, word(rank, index), GEX_OP_CAS, expected,
                   value, 0);
}

void words_wait(void) {
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

uint64_t words_fetch_swap(int rank, size_t index, uint64_t expected, uint64_t value) {
  uint64_t was;
  gex_Event_Wait(gex_AD_OpNB_U64(words.domain, &was, (gex_Rank_t)rank, word(rank, index),
                                 GEX_OP_FCAS, expected, value, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL));
  return was;
}

uint64_t words_fetch_add(int rank, size_t index, uint64_t by) {
  uint64_t was;
  gex_Event_Wait(gex_AD_OpNB_U64(words.domain, &was, (gex_Rank_t)rank, word(rank, index),
                                 GEX_OP_FADD, by, 0, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL));
  return was;
}

bool words_letters(void) {
  return true;
}

void words_take(words_taker *taker) {
  words.taker = taker;
}

void words_letter(int rank, const uint64_t *letter, size_t count) {
  gex_AM_RequestMedium0(job_team(), (gex_Rank_t)rank, AM_LETTER, letter, count * sizeof *letter,
                        GEX_EVENT_NOW, 0);
}

void words_progress(void) {
  gasnet_AMPoll();
}
