/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control words of barriers.
 *
 * Owns: the words of this rank, a region of the on-node engine. Called by barrier.c and
 * barrier_named.c. Calls: peer.h. Invariants: a word has one writer and only grows, so messages
 * that set it may overtake each other.
 */
#include "core/team/barrier.h"
#include "core/team/barrier_parts.h"

#include "base/log.h"
#include "core/am/kit.h"
#include "core/op/lost.h"
#include "core/progress/peer.h"

static void ask(void) {
  tmb_job.barriers.region =
      tmb_near_region(&tmb_job.near, "barrier", sizeof(struct tmb_barrier_words));
}

static int init(void) {
  tmb_assert_cmp(tmb_team_log2(tmb_job.size), <=, TMB_BARRIER_ROUNDS_MAX);
  tmb_job.barriers.words =
      tmb_near_at(&tmb_job.near, tmb_job.barriers.region, tmb_near_of(tmb_job.rank));
  return 0;
}

/* The message of a control word: index(0), value(1,2). */
enum { WORD_ARGS = 3 };

static void on_word(const struct tmb_am_in *in) {
  const uint32_t index = (uint32_t)in->args[0];
  if (index >= TMB_BARRIER_WORDS) tmb_kit_malformed(in, "control word");
  tmb_barrier_raise(&tmb_job.barriers.words->word[index].word, tmb_kit_unpack64(in->args + 1));
}

bool tmb_barrier_send(uint32_t peer, uint8_t handler, const int32_t *args, uint8_t nargs) {
  struct tmb_am_out out = {.peer = peer,
                           .category = TMB_AM_SHORT,
                           .handler = handler,
                           .nargs = nargs,
                           .immediate = 1,
                           .staged = -1,
                           .args = args};
  return tmb_peer_try(&out, "sending a message of a barrier to");
}

static bool send_word(uint32_t peer, uint32_t word, uint64_t value) {
  int32_t args[WORD_ARGS] = {(int32_t)word};
  tmb_kit_pack64(args + 1, value);
  return tmb_barrier_send(peer, TMB_KIT_BARRIER_WORD, args, WORD_ARGS);
}

bool tmb_barrier_post(uint32_t peer, uint32_t word, uint64_t value) {
  struct tmb_barrier_words *const words = tmb_peer_region(tmb_job.barriers.region, peer);
  if (!words) return send_word(peer, word, value);
  if (tmb_peer_ended(peer)) return true;
  tmb_store_rel(&words->word[word].word, value);
  tmb_peer_wake(peer);
  return true;
}

static const struct tmb_layer_handler handlers[] = {
    {TMB_KIT_BARRIER_WORD, TMB_TAKES_SHORT, WORD_ARGS, 0, on_word}, {0}};

const struct tmb_layer tmb_barrier_words_layer = {
    .name = "barrier words", .handlers = handlers, .ask = ask, .init = init};
