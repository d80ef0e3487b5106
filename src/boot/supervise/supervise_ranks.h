/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of this machine, as their supervisor follows them to their ends.
 *
 * Private to supervise.c and supervise_ranks.c. supervise.c owns struct tmb_sup and decides when a
 * phase of the end begins for other reasons than a rank: time, signals, other machines.
 * supervise_ranks.c has the code for single ranks: signals to them, reaping, consequences of their
 * ends.
 * Invariants: a rank is reaped before it is asked or killed, so that its own end is never mistaken
 * for ours; pids of reaped ranks are never signalled.
 */
#ifndef TMB_BOOT_SUPERVISE_RANKS_H
#define TMB_BOOT_SUPERVISE_RANKS_H

#include "boot/page/ctl.h"
#include "boot/supervise/grace.h"
#include "boot/supervise/supervise.h"
#include "boot/supervise/watchdog.h"
#include "os/os.h"

#define TMB_SUP_REPORTS_MAX 8 /* failures of ranks that are shown */
/* Waits for a processor, at most, that do not count when ranks have a time to end. */
#define TMB_SUP_CROWDED_NS  UINT64_C(4000000000)

enum tmb_sup_phase { TMB_PHASE_RUNNING, TMB_PHASE_GRACE, TMB_PHASE_ASKED, TMB_PHASE_KILLED };

struct tmb_sup {
  struct tmb_launch *l;
  enum tmb_sup_phase phase;
  const struct tmb_sup_far *far;
  uint32_t alive;          /* ranks of this machine */
  uint32_t far_alive;      /* and of others, as far as is known */
  uint8_t *far_ended;      /* [size] 1: a rank of another machine has ended; NULL without others */
  bool refuses_sent;       /* our ranks' policy as the others know it */
  uint64_t oom_kills;      /* tmb_os_oom_kills at the start */
  uint32_t reports;        /* failures so far; the first TMB_SUP_REPORTS_MAX are shown */
  bool is_root;            /* of the machines' supervisors this is the launcher, without ranks */
  uint32_t ended_unjoined; /* ranks, anywhere, that ended with code 0 without ever joining */
  uint32_t unjoined_first; /* the first of them; a rank */
  int code;                /* the job's, so far */
  bool final;              /* no other code counts any more */
  bool cut_short;          /* by the timeout or a signal to us */
  bool failed;             /* something went wrong: do not wait for slow output */
  bool early_seen;         /* it is known whether ranks wait for some that have ended */
  uint64_t grace_ns, slow_output_ns;
  uint64_t first_end_ns, last_end_ns, asked_ns, killed_ns; /* of tmb_sup_clock_ns */
  uint64_t exiting_since_ns; /* a rank is leaving since then; 0: none */
  uint64_t held_ns;          /* time during which tmb_sup_clock_ns stood still */
  uint64_t tick_ns;          /* last check of the output */
  uint32_t condemned;        /* of ctl->condemned that have been handled */
  struct tmb_grace *grace;   /* [size] when the job ends; NULL before */
  struct tmb_watchdog dog;
  uint64_t timeout_ns; /* when the job's time is over; UINT64_MAX: never */
};

/* Monotonic time less the time during which the end of the job waited for slow output. */
static inline uint64_t tmb_sup_clock_ns(const struct tmb_sup *s) {
  return tmb_os_now_ns() - s->held_ns;
}

static inline uint32_t tmb_sup_all_alive(const struct tmb_sup *s) {
  return s->alive + s->far_alive;
}

/* Sends an event to the supervisors of other machines, if there are any. */
static inline void tmb_sup_notify(const struct tmb_sup *s, const struct tmb_sup_event *event) {
  if (s->far) s->far->notify(s->far->arg, event);
}

/* A rank ended with `code`: the job's, if it is the first that is not 0 and may count. */
static inline void tmb_sup_add_code(struct tmb_sup *s, int code) {
  if (s->code == 0 && !s->final) s->code = code;
}

/* The job's code from now on. */
static inline void tmb_sup_set_code(struct tmb_sup *s, int code) {
  s->code = code;
  s->final = true;
}

/* Signals every rank here that is not reaped. in wrapper_too: also the programs around ranks. */
void tmb_sup_signal(const struct tmb_sup *s, int sig, bool wrapper_too);

/* Whether each rank here has had so much time since the first call, without waits for a processor.
 */
bool tmb_sup_have_had(struct tmb_sup *s, uint64_t ns);

/* Begins the phase ASKED: asks every rank here that is not ending by itself to end. */
void tmb_sup_ask(struct tmb_sup *s);

/* Kills the ranks that have had their time since they were asked. Returns whether all that are left
 * are killed. */
bool tmb_sup_kill_late(const struct tmb_sup *s);

/* Begins the phase GRACE, or renews the grace. */
void tmb_sup_enter_grace(struct tmb_sup *s);

/* Begins to end the job, and reports that to the other machines if it is new. in flags:
 * TMB_SUP_FINAL, TMB_SUP_UNJOINED or 0. */
void tmb_sup_begin_end(struct tmb_sup *s, uint32_t flags);

/* Whether the job goes on without the lost ranks. */
bool tmb_sup_goes_on(const struct tmb_sup *s);

/* "; ending the other 7 ranks" or "; the other 7 ranks go on" in buf; "" if there are none. */
const char *tmb_sup_others_text(const struct tmb_sup *s, bool go_on, char *buf, size_t bytes);

/* Writes a fate (TMB_FATE) for the ranks here to see, and wakes them. Returns whether it is new. */
bool tmb_sup_note_fate(struct tmb_sup *s, uint32_t rank, uint32_t fate);

/* Writes a fate, and reports it to the other machines if it is new. */
void tmb_sup_set_fate(struct tmb_sup *s, uint32_t rank, uint32_t fate);

/* A rank here has ended: decides whether it ended by itself, and the consequences. in status: as of
 * waitpid. */
void tmb_sup_rank_ended(struct tmb_sup *s, uint32_t rank, pid_t pid, int status);

/* A rank ended with code 0 and had never joined. */
void tmb_sup_note_unjoined(struct tmb_sup *s, uint32_t rank);

/* Begins to end the job because ranks wait for those that did so. */
void tmb_sup_end_unjoined(struct tmb_sup *s);

/* Prints which ranks did so, if the end of the job has not begun. */
void tmb_sup_report_unjoined(const struct tmb_sup *s);

/* Kills a rank of this machine that others get no answer from; ranks elsewhere are left alone. */
void tmb_sup_condemn(struct tmb_sup *s, uint32_t rank);

/* Deals with the ranks that ranks here have given up; reports ranks of other machines there. */
void tmb_sup_check_condemned(struct tmb_sup *s);

/* Reaps ended children, and looks for ranks that are absent, hidden behind a wrapper, or slow to
 * leave. */
void tmb_sup_check_ranks(struct tmb_sup *s);

#endif
