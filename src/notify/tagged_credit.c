/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tagged notification: credit towards each process, and the numbers of notifications.
 *
 * Owns: how much credit is used towards each process, and which number the next notification for a
 * process of another host gets. Called by tagged.c, tagged_send.c and tagged_get.c. Calls:
 * tmb_up_am_send to give credit back. Invariants: credit is taken before a notification is sent; a
 * number that is taken back has not been sent, and none behind it has been given.
 */
#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "core/am/am.h"
#include "core/op/lost.h"
#include "core/progress/progress.h"
#include "notify/tagged.h"

#include <stdlib.h>

struct towards {
  uint32_t used;   /* credit taken; atomic */
  uint32_t number; /* of the next notification, for a process of another host; atomic */
};

static struct {
  struct towards *towards; /* [job size] */
  uint32_t credits;
  uint32_t stalls;
} out_state;

uint32_t tmb_tagged_credits(void) {
  uint32_t credits = tmb_load_rlx(&out_state.credits);
  if (TMB_UNLIKELY(!credits)) {
    credits = (uint32_t)tmb_cfg_int(TMB_CFG_NOTIFY_CREDITS);
    tmb_store_rlx(&out_state.credits, credits);
  }
  return credits;
}

uint64_t tmb_tagged_stalls(void) {
  return tmb_load_rlx(&out_state.stalls);
}

/* Credit state towards a process; the first thread that uses it makes the table. */
static struct towards *towards(uint32_t jobrank) {
  struct towards *table = tmb_load_acq(&out_state.towards);
  if (TMB_LIKELY(table != NULL)) return &table[jobrank];
  struct towards *mine = calloc(tmb_job.size, sizeof *mine);
  if (!mine) tmb_fatal("out of memory for notifications to %u ranks", tmb_job.size);
  if (tmb_cas_acq_rel(&out_state.towards, &table, mine)) return &mine[jobrank];
  free(mine);
  return &table[jobrank];
}

static bool try_credit(uint32_t *used) {
  uint32_t found = tmb_load_rlx(used);
  while (found < tmb_tagged_credits())
    if (tmb_cas_acq(used, &found, found + 1)) return true;
  return false;
}

void tmb_tagged_regain(uint32_t jobrank, uint32_t credits) {
  if (credits) tmb_fetch_sub_rel(&towards(jobrank)->used, credits);
}

struct credit_wait {
  uint32_t *used;
  uint32_t jobrank;
  bool
      taken; /* done: tmb_signal_wait may call again after success, and credit must be taken once */
};

static bool credit_ready(void *arg) {
  struct credit_wait *w = arg;
  if (!w->taken) w->taken = try_credit(w->used);
  return w->taken || tmb_peer_lost(w->jobrank); /* a lost process gives no credit back, and messages
                                                   to it are dropped */
}

static void describe(const void *arg, struct tmb_status_wait *out) {
  const struct credit_wait *w = arg;
  out->kind = TMB_WAIT_SEND;
  out->what = TMB_WHAT_PUT_NOTIFY;
  out->cmp = TMB_LACKS_NOTIFY;
  out->peer = w->jobrank;
}

bool tmb_tagged_take(const char *call, uint32_t jobrank, bool immediate) {
  struct credit_wait w = {&towards(jobrank)->used, jobrank, false};
  if (TMB_LIKELY(credit_ready(&w))) return true;
  if (immediate) return false;
  if (jobrank == tmb_job.rank && !tmb_job.threads)
    tmb_fatal_nopos("%s: this rank has %u unmatched notifications for itself, the limit; start "
                    "requests for them first, or raise TOMBOLO_NOTIFY_CREDITS",
                    call, tmb_tagged_credits());
  tmb_fetch_add_rlx(&out_state.stalls, 1);
  tmb_signal_wait(credit_ready, &w, describe);
  return true;
}

uint32_t tmb_tagged_number(uint32_t jobrank) {
  return tmb_is_near(jobrank) ? 0 : tmb_fetch_add_rlx(&towards(jobrank)->number, 1);
}

bool tmb_tagged_number_back(uint32_t jobrank, uint32_t number) {
  uint32_t next = number + 1;
  return tmb_is_near(jobrank) || tmb_cas_rlx(&towards(jobrank)->number, &next, number);
}

void tmb_tagged_give(uint32_t jobrank, uint32_t credits) {
  if (jobrank == tmb_job.rank) {
    tmb_tagged_regain(jobrank, credits);
    return;
  }
  const int32_t args[TMB_TAGGED_CREDIT_ARGS] = {(int32_t)credits};
  struct tmb_am_out out = {.peer = jobrank,
                           .handler = TMB_KIT_TAGGED_CREDIT,
                           .nargs = TMB_TAGGED_CREDIT_ARGS,
                           .staged = -1,
                           .args = args};
  (void)tmb_up_am_send(&out);
}
