/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Supervision of a job: the order of its end, signals to the supervisor, time, other machines.
 *
 * Owns: no process state; one struct tmb_sup on the stack of tmb_supervise. Calls: supervise_ranks,
 * watchdog, ctl, os, base.
 * The end of a job: GRACE (ranks may still end by themselves; each that does renews the grace, up
 * to four times), ASKED (SIGQUIT to the rest; ranks that are ending by themselves get a little
 * longer), KILLED (SIGKILL). While the ranks want to outlive each other (REPORT), the job goes on
 * until nobody is left.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/boot.h"
#include "boot/explain/crashes.h"
#include "boot/launch/orphans.h"
#include "boot/page/ranklist.h"
#include "boot/supervise/early.h"
#include "boot/supervise/supervise_ranks.h"
#include "os/process/signals.h"

#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define NS_PER_S       UINT64_C(1000000000)
#define NS_PER_MS      UINT64_C(1000000)
#define GRACE_ROUNDS   4               /* all renewals together, in grace periods */
#define GIVE_UP_NS     (10 * NS_PER_S) /* from SIGKILL to giving up on one stuck in the kernel */
#define ENDING_TICK_MS 20              /* between two checks of the output while the job ends */
#define IDLE_TICK_MS   500             /* between two checks of ranks behind wrappers */
#define ABSENT_TICK_MS 100             /* between two checks for late joins */
#define CRASHES_MS     10000           /* for the lines of crashed ranks; addr2line takes seconds */

static uint64_t seconds_ns(double seconds) {
  return (uint64_t)(seconds * (double)NS_PER_S);
}

/* Kills the remaining processes. */
static void kill_rest(const struct tmb_sup *s) {
  tmb_sup_signal(s, SIGKILL, true);
}

/* The ranks that have not ended, as far as is known here. */
static char *list_alive(const struct tmb_sup *s, char *list, size_t bytes) {
  pid_t *alive = calloc(s->l->size, sizeof *alive);
  if (!alive) tmb_fatal_nopos("out of memory for a list of %u ranks", s->l->size);
  for (uint32_t r = 0; r < s->l->size; r++) {
    const bool here = tmb_ctl_record_of(s->l->ctl)[r] != TMB_CTL_ELSEWHERE;
    alive[r] = here ? s->l->pids[r] : s->far_ended && !s->far_ended[r];
  }
  tmb_ranklist_format(list, bytes, s->l->size, alive);
  free(alive);
  return list;
}

/* ---- signals to the supervisor */

/* Ends the job everywhere, now. */
static void cut_short(struct tmb_sup *s, int code) {
  tmb_sup_set_code(s, code);
  s->cut_short = true;
  s->failed = true;
  tmb_sup_notify(s, &(struct tmb_sup_event){.kind = TMB_SUP_ASK,
                                            .code = code,
                                            .flags = TMB_SUP_CUT | TMB_SUP_FAILED | TMB_SUP_FINAL});
  tmb_sup_ask(s);
}

/* Passes a signal on to the ranks, also of other machines. */
static void pass_signal(const struct tmb_sup *s, int sig, bool here_too) {
  if (here_too) tmb_sup_signal(s, sig, true);
  tmb_sup_notify(s, &(struct tmb_sup_event){.kind = TMB_SUP_SIGNAL, .code = sig});
}

/* Ends the job because the user or the system wants it; the second time without asking. */
static void end_by_signal(struct tmb_sup *s, int sig) {
  if (s->failed && s->phase >= TMB_PHASE_ASKED) {
    kill_rest(s);
    return;
  }
  char list[TMB_RANKLIST_BYTES];
  tmb_print("signal %d (%s): ending the job; ranks still running: %s", sig, tmb_os_signal_name(sig),
            list_alive(s, list, sizeof list));
  cut_short(s, 128 + sig);
}

/* Stops the ranks and this process; returns when continued. SIGSTOP, because the kernel ignores
 * SIGTSTP in a process group without a shell (nohup, batch systems). */
static void stop_job(struct tmb_sup *s, bool forward) {
  const uint64_t from = tmb_os_now_ns();
  pass_signal(s, SIGSTOP, forward);
  raise(SIGSTOP);
  const uint64_t stopped = tmb_os_now_ns() - from;
  if (s->timeout_ns != UINT64_MAX) s->timeout_ns += stopped;
}

static void read_signals(struct tmb_sup *s) {
  struct signalfd_siginfo info;
  while (read(s->l->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    const int sig = (int)info.ssi_signo;
    const bool by_terminal = info.ssi_code == SI_KERNEL; /* the ranks got it, too */
    switch (sig) {
    case SIGCHLD: break;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT: end_by_signal(s, sig); break;
    case SIGTSTP: stop_job(s, !by_terminal); break;
    default: pass_signal(s, sig, !by_terminal);
    }
  }
}

/* ---- the clock */

/* True if the reader of our standard output or error is alive but does not take any more. */
static bool output_is_full(void) {
  struct pollfd out[2] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                          {.fd = STDERR_FILENO, .events = POLLOUT}};
  if (poll(out, 2, 0) < 0) return false;
  return out[0].revents == 0 || out[1].revents == 0;
}

/* While the job ends in good order, time spent on a slow reader does not count. */
static void hold_clock(struct tmb_sup *s) {
  const uint64_t now = tmb_os_now_ns();
  const uint64_t passed = now - s->tick_ns;
  s->tick_ns = now;
  if (s->phase == TMB_PHASE_RUNNING || s->failed || s->held_ns >= s->slow_output_ns) return;
  if (output_is_full() || (s->far && s->far->output_full(s->far->arg))) s->held_ns += passed;
}

static void check_timeout(struct tmb_sup *s, double timeout_s) {
  if (s->phase != TMB_PHASE_RUNNING || tmb_os_now_ns() < s->timeout_ns) return;
  char list[TMB_RANKLIST_BYTES];
  tmb_print("time limit of %g s is over; ranks still running: %s; ending them", timeout_s,
            list_alive(s, list, sizeof list));
  cut_short(s, TMB_EXIT_TIMEOUT);
}

/* Of the supervisors of several machines the one that sees all of them has a watchdog. */
static void open_watchdog(struct tmb_sup *s) {
  if (s->far && !s->far->look) return;
  tmb_watchdog_open(&s->dog, tmb_cfg_dbl(TMB_CFG_WATCHDOG));
  if (!s->far) return;
  s->dog.look = s->far->look;
  s->dog.arg = s->far->arg;
}

static void check_watchdog(struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_RUNNING || !tmb_watchdog_bites(&s->dog, s->l->ctl)) return;
  tmb_print("watchdog: ending the job");
  cut_short(s, TMB_EXIT_HANG);
}

/* End of the grace period: each rank that ends by itself starts it anew, up to GRACE_ROUNDS
 * times. Unless the job has failed, waits of the others for a processor do not count: a rank that
 * has passed the last barrier may not have run since. */
static bool grace_is_over(struct tmb_sup *s) {
  const uint64_t now = tmb_sup_clock_ns(s), most = GRACE_ROUNDS * s->grace_ns;
  const uint64_t half = s->grace_ns / 2;
  if (now - s->first_end_ns < half) return false;
  const bool have_had = s->failed || tmb_sup_have_had(s, half);
  if (now - s->last_end_ns < s->grace_ns && now - s->first_end_ns < most) return false;
  return have_had || now - s->first_end_ns >= most + TMB_SUP_CROWDED_NS;
}

/* The job ends in good order, and ranks have not: those may wait for ranks that have. Of the
 * supervisors of several machines the one that sees all of them says so. */
static void report_early(struct tmb_sup *s) {
  struct tmb_snapshot now;
  const uint32_t size = s->l->size;
  if (s->failed || s->code || s->early_seen || (s->far && !s->far->look)) return;
  if (tmb_sup_clock_ns(s) - s->first_end_ns < s->grace_ns / 2) return; /* they have time to end */
  if (s->far ? !s->far->look(s->far->arg, &now) : tmb_snapshot_take(&now, s->l->ctl, false) != 0)
    return;
  s->early_seen = true;
  bool *ended = calloc(size, sizeof *ended);
  for (uint32_t r = 0; ended && r < size; r++)
    ended[r] = s->far ? s->far_ended[r] : s->l->pids[r] == 0;
  if (ended) tmb_sup_print_early(&now, ended);
  free(ended);
  tmb_snapshot_free(&now);
}

static void advance(struct tmb_sup *s) {
  if (s->phase == TMB_PHASE_RUNNING) return;
  if (s->phase == TMB_PHASE_GRACE) report_early(s);
  if (s->phase == TMB_PHASE_GRACE && grace_is_over(s)) tmb_sup_ask(s);
  if (s->phase != TMB_PHASE_ASKED || !tmb_sup_kill_late(s)) return;
  s->phase = TMB_PHASE_KILLED;
  s->killed_ns = tmb_sup_clock_ns(s);
}

/* True if a remaining process cannot be killed: it hangs in the kernel. */
static bool must_give_up(const struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_KILLED || tmb_sup_clock_ns(s) - s->killed_ns < GIVE_UP_NS) return false;
  char list[TMB_RANKLIST_BYTES];
  tmb_ranklist_format(list, sizeof list, s->l->size, s->l->pids);
  tmb_print("ranks %s did not die of SIGKILL: they hang in the kernel; leaving them", list);
  return true;
}

/* Time to sleep until something has to be checked. */
static int sleep_ms(const struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_RUNNING) return ENDING_TICK_MS;
  if (s->ended_unjoined) return ABSENT_TICK_MS;
  const int most = tmb_watchdog_sleep_ms(&s->dog, IDLE_TICK_MS);
  if (s->timeout_ns == UINT64_MAX) return most;
  const uint64_t now = tmb_os_now_ns();
  if (now >= s->timeout_ns) return 0;
  const uint64_t ms = (s->timeout_ns - now) / NS_PER_MS + 1;
  return ms > (uint64_t)most ? most : (int)ms;
}

static uint64_t grace_setting_ns(uint32_t size) {
  if (tmb_cfg_is_set(TMB_CFG_EXITTIMEOUT)) return seconds_ns(tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT));
  const double wanted =
      tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_MIN) + size * tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_FACTOR);
  const double most = tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_MAX);
  return seconds_ns(wanted < most ? wanted : most);
}

/* ---- other machines */

static bool open_far(struct tmb_sup *s, const struct tmb_sup_far *far) {
  if (!far) return true;
  s->far = far;
  s->far_ended = calloc(s->l->size, 1);
  s->refuses_sent = true; /* the initial assumption of supervisors */
  if (!s->far_ended) tmb_print("out of memory for the states of %u ranks", s->l->size);
  return s->far_ended != NULL;
}

void tmb_supervise_policy(struct tmb_sup *s) {
  if (!s->far) return;
  const bool refuses = s->alive > 0 && !tmb_ctl_reports(s->l->ctl);
  if (refuses == s->refuses_sent) return;
  s->refuses_sent = refuses;
  tmb_sup_notify(
      s, &(struct tmb_sup_event){.kind = TMB_SUP_POLICY, .flags = refuses ? TMB_SUP_REFUSES : 0});
}

/* A rank of another machine has ended. */
static void far_ended(struct tmb_sup *s, uint32_t rank) {
  if (rank >= s->l->size || s->far_ended[rank] ||
      tmb_ctl_record_of(s->l->ctl)[rank] != TMB_CTL_ELSEWHERE)
    return;
  s->far_ended[rank] = 1;
  s->far_alive--;
  s->last_end_ns = tmb_sup_clock_ns(s);
}

static void take_code(struct tmb_sup *s, const struct tmb_sup_event *e) {
  if (e->flags & TMB_SUP_CUT || (e->flags & TMB_SUP_FINAL && !(s->final && s->code)))
    tmb_sup_set_code(s, e->code);
  else
    tmb_sup_add_code(s, e->code);
  if (e->flags & TMB_SUP_FAILED) s->failed = true;
  if (e->flags & TMB_SUP_CUT) s->cut_short = true;
}

void tmb_supervise_apply(struct tmb_sup *s, const struct tmb_sup_event *e) {
  switch (e->kind) {
  case TMB_SUP_ENDED:
    if (e->flags & TMB_SUP_UNJOINED) tmb_sup_note_unjoined(s, e->rank);
    far_ended(s, e->rank);
    break;
  case TMB_SUP_END:
    if (e->flags & TMB_SUP_UNJOINED && s->is_root) tmb_sup_report_unjoined(s);
    take_code(s, e);
    tmb_sup_enter_grace(s);
    break;
  case TMB_SUP_FATE:
    if (e->rank < s->l->size) (void)tmb_sup_note_fate(s, e->rank, e->fate);
    break;
  case TMB_SUP_POLICY:
    tmb_store_rel(&s->l->ctl->far_refuses, (uint32_t)((e->flags & TMB_SUP_REFUSES) != 0));
    break;
  case TMB_SUP_ASK:
    take_code(s, e);
    if (s->phase < TMB_PHASE_ASKED)
      tmb_sup_ask(s);
    else
      kill_rest(s);
    break;
  case TMB_SUP_SIGNAL: tmb_sup_signal(s, e->code, true); break;
  case TMB_SUP_CONDEMN: tmb_sup_condemn(s, e->rank); break;
  }
}

void tmb_supervise_absent(struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_RUNNING) return;
  if (s->ended_unjoined)
    tmb_sup_end_unjoined(s);
  else
    tmb_sup_begin_end(s, 0);
}

void tmb_supervise_ended(struct tmb_sup *s, uint32_t rank, int status) {
  tmb_sup_rank_ended(s, rank, s->l->pids[rank], status);
}

void tmb_supervise_kill(struct tmb_sup *s) {
  s->failed = s->cut_short = true;
  tmb_sup_add_code(s, 128 + SIGHUP);
  tmb_ctl_end(s->l->ctl);
  for (uint32_t r = 0; r < s->l->size; r++)
    if (s->l->pids[r]) (void)tmb_ctl_order_end(s->l->ctl, r);
  kill_rest(s);
  s->phase = TMB_PHASE_KILLED;
  s->killed_ns = tmb_sup_clock_ns(s);
}

/* Marks the ranks of a host that had not ended. out lost: [size]. Returns how many. */
static uint32_t mark_lost(struct tmb_sup *s, uint32_t host, pid_t *lost) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (tmb_ctl_host_of(s->l->ctl)[r] != host || s->far_ended[r]) continue;
    lost[r] = 1;
    far_ended(s, r);
    count++;
  }
  return count;
}

void tmb_supervise_lose_host(struct tmb_sup *s, uint32_t host, const char *name, const char *why) {
  char list[TMB_RANKLIST_BYTES], others[48];
  const bool explained = s->cut_short || (s->phase != TMB_PHASE_RUNNING && s->failed);
  pid_t *lost = calloc(s->l->size, sizeof *lost);
  if (!lost) tmb_fatal_nopos("out of memory for the ranks of host %s", name);
  const uint32_t count = mark_lost(s, host, lost);
  const bool go_on = tmb_sup_goes_on(s);
  if (!explained)
    tmb_print("host %s with rank%s %s is lost: %s%s", name, count == 1 ? "" : "s",
              tmb_ranklist_format(list, sizeof list, s->l->size, lost), why,
              tmb_sup_others_text(s, go_on, others, sizeof others));
  tmb_sup_add_code(s, 1);
  for (uint32_t r = 0; r < s->l->size && go_on; r++)
    if (lost[r]) tmb_sup_set_fate(s, r, TMB_FATE(TMB_FATE_FAILED, 1, 0));
  free(lost);
  if (go_on) return;
  s->failed = true;
  tmb_sup_begin_end(s, 0);
}

/* ---- the course of a job */

#define FAR_FDS_MAX 4096

static void wait_for_event(struct tmb_sup *s, struct pollfd *fds) {
  int timeout_ms = sleep_ms(s);
  nfds_t count = 1;
  fds[0] = (struct pollfd){.fd = s->l->signal_fd, .events = POLLIN};
  if (s->far) count += s->far->wait(s->far->arg, fds + 1, FAR_FDS_MAX, &timeout_ms);
  (void)poll(fds, count, timeout_ms);
}

/* Whether the job is over, as far as this supervisor has a part in it. */
static bool is_over(const struct tmb_sup *s) {
  if (s->alive > 0) return must_give_up(s);
  const struct tmb_sup_state state = {s->code, s->far_alive, s->failed || s->cut_short};
  return !s->far || s->far->finished(s->far->arg, &state);
}

static void look_around(struct tmb_sup *s, double timeout_s) {
  read_signals(s);
  tmb_sup_check_ranks(s);
  tmb_supervise_policy(s);
  tmb_sup_check_condemned(s);
  if (s->far) s->far->serve(s->far->arg, s);
  check_timeout(s, timeout_s);
  check_watchdog(s);
  hold_clock(s);
  advance(s);
}

int tmb_supervise(struct tmb_launch *l, struct tmb_supervise_options *options) {
  struct tmb_sup s = {
      .l = l, .phase = TMB_PHASE_RUNNING, .alive = l->ctl->here, .timeout_ns = UINT64_MAX};
  struct pollfd alone, *fds = &alone;
  s.far_alive = l->size - s.alive;
  s.is_root = s.alive == 0;
  if (!open_far(&s, options->far)) return 1;
  if (s.far && !(fds = calloc(1 + FAR_FDS_MAX, sizeof *fds)))
    tmb_fatal_nopos("out of memory for %d descriptors", FAR_FDS_MAX);
  s.grace_ns = grace_setting_ns(l->size);
  s.slow_output_ns = seconds_ns(TMB_BOOT_SLOW_OUTPUT_S);
  if (options->timeout_s > 0) s.timeout_ns = l->ctl->start_ns + seconds_ns(options->timeout_s);
  open_watchdog(&s);
  s.tick_ns = tmb_os_now_ns();
  s.oom_kills = tmb_os_oom_kills();
  while (!is_over(&s)) {
    wait_for_event(&s, fds);
    look_around(&s, options->timeout_s);
  }
  if (s.failed || s.cut_short || s.code) tmb_orphans_end(l->children_before);
  tmb_orphans_guard_end(l->guard_fd);
  l->guard_fd = -1;
  tmb_watchdog_close(&s.dog);
  tmb_crashes_print(l->ctl, CRASHES_MS);
  if (s.reports > TMB_SUP_REPORTS_MAX)
    tmb_print("%u more ranks failed", s.reports - TMB_SUP_REPORTS_MAX);
  options->cut_short = s.cut_short;
  options->final = s.final;
  free(s.far_ended);
  free(s.grace);
  if (fds != &alone) free(fds);
  return s.code;
}
