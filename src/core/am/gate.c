/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages whose handlers wait for their turn, because record and replay hold them back.
 *
 * Owns: tmb_job.kept, the list of them. Called by am_deliver.c before a handler of a client runs,
 * and when replay/runtime releases one (tombolo/check_hook.h). Calls: the gate, which is a function
 * of replay/runtime. A kept message is a copy: its slot in the ring is free. Invariants: messages
 * of one sender keep their order, requests and replies each; the list is used under its lock.
 */
#include "core/am/am.h"

#include "base/container/list.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

struct tmb_kept {
  struct tmb_am_in in; /* first: gexx_gate_run reads it */
  struct tmb_kept *next;
  int32_t args[TMB_AM_ARGS_MAX];
  char payload[] TMB_ALIGNED(16);
};

struct gexx_am_msg tmb_gate_message(const struct tmb_am_in *in) {
  return (struct gexx_am_msg){.src = in->payload,
                              .nbytes = in->nbytes,
                              .args = in->args,
                              .handler = in->handler,
                              .nargs = in->nargs,
                              .category = in->category};
}

/* Append a copy of a message. */
static void keep(const struct tmb_am_in *in) {
  const size_t bytes = in->category == TMB_AM_MEDIUM ? in->nbytes : 0;
  struct tmb_kept *const m = aligned_alloc(16, (sizeof *m + bytes + 15) & ~(size_t)15);
  if (!m) tmb_fatal("out of memory for a message of %zu bytes that is held back", bytes);
  m->in = *in;
  m->in.args = m->args;
  if (in->nargs) memcpy(m->args, in->args, in->nargs * sizeof *m->args);
  if (bytes) m->in.payload = memcpy(m->payload, in->payload, bytes);
  tmb_lock_acquire(&tmb_job.kept_lock);
  struct tmb_kept **const end = TMB_LIST_END(&tmb_job.kept);
  m->next = *end;
  *end = m;
  tmb_lock_release(&tmb_job.kept_lock);
}

bool tmb_gate_keeps(const struct tmb_am_in *in) {
  const struct gexx_am_msg msg = tmb_gate_message(in);
  if (!tmb_job.gate(in->src, in->is_reply, &msg, in->number)) return false;
  keep(in);
  return true;
}

void tmb_gate_handled(void) {
  if (tmb_job.gate) (void)tmb_job.gate(0, GEXX_GATE_RAN, NULL, 0);
}

/* Whether a kept message is the one that gexx_gate_take asks for. */
static bool is_asked(const struct tmb_am_in *in, uint32_t from, bool reply, uint32_t number) {
  return in->src == from && in->is_reply == reply &&
         (!number || !in->number || in->number == number);
}

void *gexx_gate_take(gex_Rank_t from, int reply, uint32_t number) {
  tmb_lock_acquire(&tmb_job.kept_lock);
  struct tmb_kept **at = &tmb_job.kept;
  while (*at && !is_asked(&(*at)->in, from, reply != 0, number)) at = &(*at)->next;
  struct tmb_kept *const m = TMB_LIST_POP(at);
  tmb_lock_release(&tmb_job.kept_lock);
  return m;
}
