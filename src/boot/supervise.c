/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Supervision of a job's ranks: reaping, the order of the end, signals, messages.
 *
 * Owns: no process state; one struct tmb_sup on the stack of tmb_supervise. Calls: ctl, os, base.
 * The end of a job: GRACE (ranks may still end by themselves; each that does renews the grace, up
 * to four times), ASKED (SIGQUIT to the rest; ranks that are ending by themselves get a little
 * longer), KILLED (SIGKILL). Codes of ranks that were asked or killed do not count. While the ranks
 * want to outlive each other (REPORT), an end is written into the control block, ranks that sleep
 * are woken, and the job goes on until nobody is left. Invariants: a
 * rank is reaped before it is asked or killed, so that its own end is never mistaken for ours; pids
 * of reaped ranks are never signalled.
 */
#define _GNU_SOURCE
#include "boot/supervise.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/ctl.h"
#include "boot/patience.h"
#include "boot/ranklist.h"
#include "boot/watchdog.h"
#include "os/os.h"
#include "os/signals.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_S   UINT64_C(1000000000)
#define NS_PER_MS  UINT64_C(1000000)
#define ASKED_NS   (500 * NS_PER_MS) /* from SIGQUIT to SIGKILL, without waits for a processor */
#define CROWDED_NS (4 * NS_PER_S)    /* such waits in all, at most */
#define EXITING_NS \
 (2000 * NS_PER_MS) /* from SIGQUIT to SIGKILL for a rank that is ending by itself */
#define REPORTS_MAX 8
#define GRACE_ROUNDS                                                                               \
 4 /* a rank that ends by itself starts the grace period anew, up to this many times its length in \
      all */
#define SLOW_EXIT_NS (2 * NS_PER_S) /* a rank that takes longer to leave counts as gone */
#define GIVE_UP_NS                                                                       \
 (10 * NS_PER_S)           /* from SIGKILL to giving up on a process stuck in the kernel \
                            */
#define ENDING_TICK_MS 20  /* how often the output is looked at while the job ends */
#define IDLE_TICK_MS   500 /* how often ranks behind wrappers are looked at */
#define ABSENT_TICK_MS 100 /* how often late joins are looked for */

enum phase { RUNNING, GRACE, ASKED, KILLED };

struct tmb_sup {
  struct tmb_launch *l;
  enum phase phase;
  const struct tmb_sup_far *far;
  uint32_t alive;         /* ranks of this machine */
  uint32_t far_alive;     /* and of others, as far as is known */
  uint8_t *far_gone;      /* [size] 1: a rank of another machine has ended; NULL without others */
  bool refuses_told;      /* what the others know of our ranks' policy */
  uint64_t oom_kills;     /* tmb_os_oom_kills at the start */
  uint32_t reports;       /* failures so far; the first REPORTS_MAX are shown */
  uint32_t gone_unjoined; /* ranks that ended with code 0 without ever joining */
  int code;               /* the job's, so far */
  bool cut_short;         /* by the timeout or a signal to us */
  bool failed;            /* something went wrong: do not wait for slow output */
  uint64_t grace_ns, slow_output_ns;
  uint64_t first_end_ns, last_end_ns, asked_ns, killed_ns; /* times of clock() */
  uint64_t exiting_since_ns;     /* a rank is on its way out since then; 0: none */
  uint64_t held_ns;              /* time during which clock() stood still */
  uint64_t tick_ns;              /* last look at the output */
  uint32_t condemned;            /* of ctl->condemned that have been dealt with */
  struct tmb_patience *patience; /* [size] of ranks that were asked; NULL before */
  struct tmb_watchdog dog;
  uint64_t timeout_ns; /* when the job's time is over; UINT64_MAX: never */
};

/* Monotonic time less the time during which the end of the job waited for slow output. */
static uint64_t clock_ns(const struct tmb_sup *s) {
  return tmb_os_now_ns() - s->held_ns;
}

static double seconds_since_start(const struct tmb_sup *s) {
  return (double)(tmb_os_now_ns() - s->l->ctl->start_ns) / (double)NS_PER_S;
}

static uint32_t all_alive(const struct tmb_sup *s) {
  return s->alive + s->far_alive;
}

static void tell(const struct tmb_sup *s, const struct tmb_sup_event *event) {
  if (s->far) s->far->tell(s->far->arg, event);
}

static void tell_end(const struct tmb_sup *s, uint32_t flags) {
  tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_END,
                                  .code = s->code,
                                  .flags = flags | (s->failed ? TMB_SUP_FAILED : 0)});
}

/* ---- signals to ranks */

/* Sends to the process that was forked, which keeps its number until it is reaped, and, behind a
 * wrapper, to the one that joined, if that can be told from a later owner of its number. */
static void signal_rank(const struct tmb_sup *s, uint32_t rank, int sig, bool wrapper_too) {
  const pid_t child = s->l->pids[rank];
  if (child == 0) return;
  if (s->l->adopted && tmb_ctl_signal(s->l->ctl, rank, sig) != TMB_E_ARG) return;
  const pid_t joined = tmb_ctl_pid(s->l->ctl, rank);
  const bool wrapped = joined != 0 && joined != child;
  const bool unnamed = wrapped && tmb_ctl_signal(s->l->ctl, rank, sig) == TMB_E_ARG;
  if (!wrapped || wrapper_too || unnamed) kill(child, sig);
}

static void signal_all(const struct tmb_sup *s, int sig, bool wrapper_too) {
  for (uint32_t r = 0; r < s->l->size; r++) signal_rank(s, r, sig, wrapper_too);
}

/* Time that a rank has had since it was asked. */
static uint64_t had_ns(const struct tmb_sup *s, uint32_t rank) {
  const pid_t joined = tmb_ctl_pid(s->l->ctl, rank);
  struct tmb_os_process now;
  (void)tmb_os_process(joined ? joined : s->l->pids[rank], false, &now);
  return tmb_patience_look(&s->patience[rank], clock_ns(s), now.state, now.cpu_ns);
}

/* Asks every rank here that is not ending by itself to end. A program that never joined gets
 * SIGTERM.
 */
static void ask_to_end(struct tmb_sup *s) {
  tmb_ctl_end(s->l->ctl);
  tmb_store_rel(&s->l->ctl->told_code, (uint32_t)s->code);
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r] == 0) continue;
    const enum tmb_rank_state before = TMB_RANK_STATE(tmb_ctl_tell(s->l->ctl, r));
    if (before == TMB_RANK_EXITING) continue;
    signal_rank(s, r, before == TMB_RANK_NEW ? SIGTERM : SIGQUIT, false);
    signal_rank(s, r, SIGCONT, true);
  }
  s->phase = ASKED;
  s->asked_ns = clock_ns(s);
  if (!s->patience) s->patience = calloc(s->l->size, sizeof *s->patience);
  if (!s->patience) tmb_fatal_nopos("out of memory for the ends of %u ranks", s->l->size);
  for (uint32_t r = 0; r < s->l->size; r++)
    if (s->l->pids[r]) (void)had_ns(s, r);
  for (uint32_t r = 0; r < s->l->size; r++) s->patience[r].had_ns = 0;
}

/* Kills the ranks that have had their time; those that are ending by themselves get more of it,
 * unless the job has failed. Returns whether all that are left are killed. */
static bool kill_late(const struct tmb_sup *s) {
  const uint64_t asked = clock_ns(s) - s->asked_ns;
  bool all = true;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r] == 0) continue;
    const bool exiting = TMB_RANK_STATE(tmb_ctl_state(s->l->ctl, r)) == TMB_RANK_EXITING;
    const uint64_t limit = exiting && !s->failed ? EXITING_NS : ASKED_NS;
    if (had_ns(s, r) >= limit || asked >= limit + CROWDED_NS)
      signal_rank(s, r, SIGKILL, true);
    else
      all = false;
  }
  return all;
}

/* Kills what is left. */
static void kill_rest(const struct tmb_sup *s) {
  signal_all(s, SIGKILL, true);
}

/* ---- ends of ranks */

static void enter_grace(struct tmb_sup *s) {
  s->last_end_ns = clock_ns(s);
  if (s->phase != RUNNING) return;
  s->phase = GRACE;
  s->first_end_ns = s->last_end_ns;
  tmb_ctl_end(s->l->ctl);
}

static void begin_end(struct tmb_sup *s, uint32_t flags) {
  const bool news = s->phase == RUNNING;
  enter_grace(s);
  if (news || s->failed) tell_end(s, flags);
}

/* "; ending the other 7 ranks" if there are any. */
static const char *others_text(const struct tmb_sup *s, bool go_on, char *buf, size_t bytes) {
  const uint32_t others = all_alive(s);
  if (others == 0) return "";
  snprintf(buf, bytes, "; %s other %u rank%s%s", go_on ? "the" : "ending the", others,
           others == 1 ? "" : "s",
           !go_on        ? ""
           : others == 1 ? " goes on"
                         : " go on");
  return buf;
}

/* What may have sent SIGKILL: "" unless the kernel has ended processes for want of memory. */
static const char *memory_text(const struct tmb_sup *s, int status, char *buf, size_t bytes) {
  const char *name;
  char limit[TMB_FMT_BYTES];
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) return "";
  if (tmb_os_oom_kills() <= s->oom_kills) return "";
  tmb_fmt_bytes(tmb_os_mem_limit(&name), limit, sizeof limit);
  snprintf(buf, bytes,
           ", when the kernel ended processes for want of memory (%s: %s); use smaller segments or "
           "fewer ranks, or raise the limit",
           name, limit);
  return buf;
}

static bool on_purpose(const struct tmb_sup *s, uint32_t rank) {
  return TMB_RANK_STATE(tmb_ctl_state(s->l->ctl, rank)) == TMB_RANK_EXITING;
}

static void report_end(const struct tmb_sup *s, uint32_t rank, pid_t pid, int status, bool go_on) {
  char others[48], how[80], memory[400];
  if (WIFSIGNALED(status)) {
    const char *name = tmb_os_signal_name(WTERMSIG(status));
    snprintf(how, sizeof how, "killed by signal %d (%s)%s", WTERMSIG(status), name ? name : "?",
             WCOREDUMP(status) ? ", core dumped" : "");
  } else if (s->l->adopted && !on_purpose(s, rank)) {
    snprintf(how, sizeof how, "died");
  } else {
    snprintf(how, sizeof how, "exited with code %d", WEXITSTATUS(status));
  }
  /* One failure, one message: a rank that has said why it died needs no second one. */
  const bool told = (WIFSIGNALED(status) || s->l->adopted) &&
                    tmb_load_acq(&tmb_ctl_rank(s->l->ctl, rank)->told_why) && !go_on;
  void (*const say)(const char *fmt, ...) = told ? tmb_info : tmb_print;
  say("rank %u (pid %d on %s) %s after %.2f s%s%s", rank, (int)pid,
      s->l->host_name ? s->l->host_name : tmb_os_hostname(), how, seconds_since_start(s),
      memory_text(s, status, memory, sizeof memory), others_text(s, go_on, others, sizeof others));
}

/* A rank ended by itself; `code` is its part of the job's code. in flags: TMB_SUP_FINAL or 0. */
static void natural_end(struct tmb_sup *s, uint32_t rank, pid_t pid, int status, uint32_t flags) {
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  const bool first_failure = code != 0 && !s->failed;
  if (code != 0) s->failed = true;
  if (s->code == 0) s->code = code;
  if ((first_failure || WIFSIGNALED(status)) && s->reports++ < REPORTS_MAX)
    report_end(s, rank, pid, status, false);
  else if (s->phase == RUNNING && all_alive(s) > 0)
    tmb_info("rank %u (pid %d) ended with code 0 after %.2f s while %u others run", rank, (int)pid,
             seconds_since_start(s), all_alive(s));
  begin_end(s, flags);
}

/* A rank that was ending on purpose is gone: its code, unless something happened on the way out. */
static void exiting_rank_ended(struct tmb_sup *s, uint32_t rank, pid_t pid, int status,
                               bool killed) {
  const bool crashed = WIFSIGNALED(status) && !killed;
  int code = TMB_RANK_CODE(tmb_ctl_state(s->l->ctl, rank));
  if (!crashed && code == 0 && WIFEXITED(status)) code = WEXITSTATUS(status);
  /* When the job went on without lost ranks, the code of a rank that ends the whole job counts,
   * not those of the lost ones. */
  const struct tmb_ctl *ctl = s->l->ctl;
  if (s->phase == RUNNING && ctl->losses && !crashed &&
      !tmb_load_acq(&tmb_ctl_rank(ctl, rank)->report))
    s->code = 0;
  natural_end(s, rank, pid, crashed ? status : code << 8, code);
}

/* ---- the job goes on without a rank */

/* Writes a fate for the ranks here to see. Returns whether it is news. */
static bool note_fate(struct tmb_sup *s, uint32_t rank, uint32_t fate) {
  if (!tmb_ctl_set_fate(s->l->ctl, rank, fate)) return false;
  for (uint32_t h = 0; h < s->l->hosts; h++)
    if (s->l->host[h].arena_fd >= 0) tmb_ctl_wake_host(s->l->ctl, h, s->l->host[h].arena_fd);
  return true;
}

static void set_fate(struct tmb_sup *s, uint32_t rank, uint32_t fate) {
  if (note_fate(s, rank, fate))
    tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_FATE, .rank = rank, .fate = fate});
}

/* A rank is gone and the others stay. in status: as of waitpid. Only a rank that left on purpose
 * with code 0 has ended in good order. */
static void lose(struct tmb_sup *s, uint32_t rank, pid_t pid, int status) {
  const uint32_t state = tmb_ctl_state(s->l->ctl, rank);
  const bool on_purpose = TMB_RANK_STATE(state) == TMB_RANK_EXITING;
  const int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  int code = sig ? 128 + sig : WEXITSTATUS(status);
  if (on_purpose && !sig && TMB_RANK_CODE(state)) code = TMB_RANK_CODE(state);
  const bool failed = code != 0 || !on_purpose;
  if (s->code == 0) s->code = code;
  if (failed && s->reports++ < REPORTS_MAX)
    report_end(s, rank, pid, sig ? status : code << 8, true);
  else if (!failed)
    tmb_info("rank %u (pid %d) ended in good order after %.2f s; %u others run", rank, (int)pid,
             seconds_since_start(s), all_alive(s));
  set_fate(s, rank, TMB_FATE(failed ? TMB_FATE_FAILED : TMB_FATE_ENDED, code, sig));
}

static bool goes_on(const struct tmb_sup *s) {
  return s->phase == RUNNING && all_alive(s) > 0 && !s->l->ctl->far_refuses &&
         tmb_ctl_reports(s->l->ctl);
}

/* One child is reaped: decide whether it ended by itself and what that means. */
static void rank_ended(struct tmb_sup *s, uint32_t rank, pid_t pid, int status) {
  const enum tmb_rank_state state = TMB_RANK_STATE(tmb_ctl_state(s->l->ctl, rank));
  const bool killed = s->phase >= ASKED && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  s->l->pids[rank] = 0;
  s->alive--;
  tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_ENDED, .rank = rank});
  if (state == TMB_RANK_TOLD || TMB_FATE_IS_GONE(tmb_ctl_fate(s->l->ctl)[rank])) return;
  if (goes_on(s)) {
    lose(s, rank, pid, status);
    return;
  }
  if (state == TMB_RANK_EXITING) {
    exiting_rank_ended(s, rank, pid, status, killed);
    return;
  }
  if (killed) return;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  if (state == TMB_RANK_NEW && code == 0)
    s->gone_unjoined++;
  else if (state == TMB_RANK_JOINED && WIFEXITED(status) && !tmb_cfg_bool(TMB_CFG_CATCH_EXIT))
    s->code = s->code ? s->code : code;
  else
    natural_end(s, rank, pid, status, 0);
}

/* The state of a child has changed. */
static void rank_changed(struct tmb_sup *s, uint32_t rank, pid_t pid, int status) {
  const pid_t joined = tmb_ctl_pid(s->l->ctl, rank);
  if (!WIFSTOPPED(status) && !WIFCONTINUED(status))
    rank_ended(s, rank, pid, status);
  else if (joined == pid)
    set_fate(s, rank, TMB_FATE(WIFSTOPPED(status) ? TMB_FATE_SUSPENDED : TMB_FATE_ALIVE, 0, 0));
}

static void reap(struct tmb_sup *s) {
  for (;;) {
    int status;
    const pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    for (uint32_t r = 0; r < s->l->size; r++) {
      if (s->l->pids[r] != pid) continue;
      rank_changed(s, r, pid, status);
      break;
    }
  }
}

/* A rank that ended without joining is missing as soon as any other has joined. */
static void check_absent(struct tmb_sup *s) {
  if (s->phase != RUNNING || s->gone_unjoined == 0 || all_alive(s) == 0) return;
  if (tmb_ctl_joined(s->l->ctl) == 0) return;
  tmb_info("%u ranks ended without joining the job", s->gone_unjoined);
  begin_end(s, 0);
}

/* A rank that takes long to leave on purpose holds up the others no longer than a hung one would.
 */
static void check_exiting(struct tmb_sup *s) {
  if (s->phase != RUNNING || goes_on(s)) return;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r] == 0) continue;
    const uint32_t word = tmb_ctl_state(s->l->ctl, r);
    if (TMB_RANK_STATE(word) != TMB_RANK_EXITING) continue;
    const uint64_t now = clock_ns(s);
    if (s->exiting_since_ns == 0) s->exiting_since_ns = now;
    if (now - s->exiting_since_ns >= SLOW_EXIT_NS)
      exiting_rank_ended(s, r, s->l->pids[r], TMB_RANK_CODE(word) << 8, false);
    return;
  }
  s->exiting_since_ns = 0;
}

/* Behind a wrapper that goes on, a rank ends without becoming a zombie of ours. */
static void check_wrapped(struct tmb_sup *s) {
  if (s->phase != RUNNING) return;
  for (uint32_t r = 0; r < s->l->size; r++) {
    const pid_t child = s->l->pids[r], joined = child ? tmb_ctl_pid(s->l->ctl, r) : 0;
    if (joined == 0 || joined == child) continue;
    if (tmb_ctl_signal(s->l->ctl, r, 0) != TMB_E_STATE) continue;
    if (TMB_FATE_IS_GONE(tmb_ctl_fate(s->l->ctl)[r])) continue;
    if (goes_on(s)) {
      lose(s, r, joined, 0);
      continue;
    }
    tmb_info("rank %u (pid %d) ended, but the program around it goes on", r, (int)joined);
    exiting_rank_ended(s, r, joined, TMB_RANK_CODE(tmb_ctl_state(s->l->ctl, r)) << 8, false);
    return;
  }
}

/* ---- signals to the supervisor */

/* Ends the job everywhere, now. */
static void cut_short(struct tmb_sup *s, int code) {
  s->code = code;
  s->cut_short = true;
  s->failed = true;
  tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_ASK,
                                  .code = code,
                                  .flags = TMB_SUP_CUT | TMB_SUP_FAILED | TMB_SUP_FINAL});
  ask_to_end(s);
}

/* Passes a signal on to the ranks, also of other machines. */
static void pass_signal(const struct tmb_sup *s, int sig, bool here_too) {
  if (here_too) signal_all(s, sig, true);
  tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_SIGNAL, .code = sig});
}

/* Ends the job because the user or the system wants it; the second time without asking. */
static void end_by_signal(struct tmb_sup *s, int sig) {
  if (s->failed && s->phase >= ASKED) {
    kill_rest(s);
    return;
  }
  tmb_info("ending the job on signal %d (%s)", sig, tmb_os_signal_name(sig));
  cut_short(s, 128 + sig);
}

/* Stops the ranks and this process; returns when continued. SIGSTOP, because the kernel ignores
 * SIGTSTP in a process group that no shell looks after (nohup, batch systems). */
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
  if (s->phase == RUNNING || s->failed || s->held_ns >= s->slow_output_ns) return;
  if (output_is_full() || (s->far && s->far->output_full(s->far->arg))) s->held_ns += passed;
}

/* The ranks that have not ended, as far as is known here. */
static char *list_alive(const struct tmb_sup *s, char *list, size_t bytes) {
  pid_t *alive = calloc(s->l->size, sizeof *alive);
  if (!alive) tmb_fatal_nopos("out of memory for a list of %u ranks", s->l->size);
  for (uint32_t r = 0; r < s->l->size; r++) {
    const bool here = tmb_ctl_record_of(s->l->ctl)[r] != TMB_CTL_ELSEWHERE;
    alive[r] = here ? s->l->pids[r] : s->far_gone && !s->far_gone[r];
  }
  tmb_ranklist_format(list, bytes, s->l->size, alive);
  free(alive);
  return list;
}

static void check_timeout(struct tmb_sup *s, double timeout_s) {
  if (s->phase != RUNNING || tmb_os_now_ns() < s->timeout_ns) return;
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
  if (s->phase != RUNNING || !tmb_watchdog_bites(&s->dog, s->l->ctl)) return;
  tmb_print("watchdog: ending the job");
  cut_short(s, TMB_EXIT_HANG);
}

/* End of the grace period: each rank that ends by itself starts it anew, up to GRACE_ROUNDS
 * times. */
static bool grace_is_over(const struct tmb_sup *s) {
  const uint64_t now = clock_ns(s);
  return now - s->last_end_ns >= s->grace_ns || now - s->first_end_ns >= GRACE_ROUNDS * s->grace_ns;
}

static void advance(struct tmb_sup *s) {
  if (s->phase == RUNNING) return;
  if (s->phase == GRACE && grace_is_over(s)) ask_to_end(s);
  if (s->phase != ASKED || !kill_late(s)) return;
  s->phase = KILLED;
  s->killed_ns = clock_ns(s);
}

/* True if what is left cannot be killed: a process that hangs in the kernel. */
static bool must_give_up(const struct tmb_sup *s) {
  if (s->phase != KILLED || clock_ns(s) - s->killed_ns < GIVE_UP_NS) return false;
  char list[TMB_RANKLIST_BYTES];
  tmb_ranklist_format(list, sizeof list, s->l->size, s->l->pids);
  tmb_print("ranks %s did not die of SIGKILL: they hang in the kernel; leaving them", list);
  return true;
}

/* How long to sleep until something has to be looked at. */
static int sleep_ms(const struct tmb_sup *s) {
  if (s->phase != RUNNING) return ENDING_TICK_MS;
  if (s->gone_unjoined) return ABSENT_TICK_MS;
  const int most = tmb_watchdog_sleep_ms(&s->dog, IDLE_TICK_MS);
  if (s->timeout_ns == UINT64_MAX) return most;
  const uint64_t now = tmb_os_now_ns();
  if (now >= s->timeout_ns) return 0;
  const uint64_t ms = (s->timeout_ns - now) / NS_PER_MS + 1;
  return ms > (uint64_t)most ? most : (int)ms;
}

static uint64_t seconds_ns(double seconds) {
  return (uint64_t)(seconds * (double)NS_PER_S);
}

static uint64_t grace_setting_ns(uint32_t size) {
  if (tmb_cfg_is_set(TMB_CFG_EXITTIMEOUT)) return seconds_ns(tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT));
  const double wanted =
      tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_MIN) + size * tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_FACTOR);
  const double most = tmb_cfg_dbl(TMB_CFG_EXITTIMEOUT_MAX);
  return seconds_ns(wanted < most ? wanted : most);
}

/* ---- ranks that others get no answer from */

/* End a rank of this machine that the others have given up. Those that cannot reach it and those
 * that could are told the same then: that it has ended. */
static void condemn(struct tmb_sup *s, uint32_t rank) {
  if (rank >= s->l->size || s->l->pids[rank] == 0 || s->phase != RUNNING) return;
  tmb_print("rank %u (pid %d on %s) does not answer other ranks any more (TOMBOLO_PEER_TIMEOUT); "
            "ending it",
            rank, (int)s->l->pids[rank], tmb_os_hostname());
  signal_rank(s, rank, SIGKILL, true);
}

static void check_condemned(struct tmb_sup *s) {
  const struct tmb_ctl *ctl = s->l->ctl;
  const uint32_t condemned = tmb_load_acq(&ctl->condemned);
  if (condemned == s->condemned) return;
  s->condemned = condemned;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (tmb_load_acq(&tmb_ctl_condemned(ctl)[r]) != 1) continue;
    tmb_store_rel(&tmb_ctl_condemned(ctl)[r], 2u);
    condemn(s, r);
    if (tmb_ctl_record_of(ctl)[r] == TMB_CTL_ELSEWHERE)
      tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_CONDEMN, .rank = r});
  }
}

/* ---- other machines */

static bool open_far(struct tmb_sup *s, const struct tmb_sup_far *far) {
  if (!far) return true;
  s->far = far;
  s->far_gone = calloc(s->l->size, 1);
  s->refuses_told = true; /* what supervisors take for granted at first */
  if (!s->far_gone) tmb_print("out of memory for the states of %u ranks", s->l->size);
  return s->far_gone != NULL;
}

/* Tells the others when our ranks change their minds about losses. */
static void check_policy(struct tmb_sup *s) {
  if (!s->far) return;
  const bool refuses = s->alive > 0 && !tmb_ctl_reports(s->l->ctl);
  if (refuses == s->refuses_told) return;
  s->refuses_told = refuses;
  tell(s, &(struct tmb_sup_event){.kind = TMB_SUP_POLICY, .flags = refuses ? TMB_SUP_REFUSES : 0});
}

/* A rank of another machine has ended. */
static void far_ended(struct tmb_sup *s, uint32_t rank) {
  if (rank >= s->l->size || s->far_gone[rank] ||
      tmb_ctl_record_of(s->l->ctl)[rank] != TMB_CTL_ELSEWHERE)
    return;
  s->far_gone[rank] = 1;
  s->far_alive--;
  s->last_end_ns = clock_ns(s);
}

static void take_code(struct tmb_sup *s, const struct tmb_sup_event *e) {
  if (e->flags & TMB_SUP_FINAL)
    s->code = e->code;
  else if (s->code == 0)
    s->code = e->code;
  if (e->flags & TMB_SUP_FAILED) s->failed = true;
  if (e->flags & TMB_SUP_CUT) s->cut_short = true;
}

void tmb_supervise_apply(struct tmb_sup *s, const struct tmb_sup_event *e) {
  switch (e->kind) {
  case TMB_SUP_ENDED: far_ended(s, e->rank); break;
  case TMB_SUP_END:
    take_code(s, e);
    enter_grace(s);
    break;
  case TMB_SUP_FATE:
    if (e->rank < s->l->size) (void)note_fate(s, e->rank, e->fate);
    break;
  case TMB_SUP_POLICY:
    tmb_store_rel(&s->l->ctl->far_refuses, (uint32_t)((e->flags & TMB_SUP_REFUSES) != 0));
    break;
  case TMB_SUP_ASK:
    take_code(s, e);
    if (s->phase < ASKED)
      ask_to_end(s);
    else
      kill_rest(s);
    break;
  case TMB_SUP_SIGNAL: signal_all(s, e->code, true); break;
  case TMB_SUP_CONDEMN: condemn(s, e->rank); break;
  }
}

void tmb_supervise_ended(struct tmb_sup *s, uint32_t rank, int status) {
  rank_ended(s, rank, s->l->pids[rank], status);
}

void tmb_supervise_kill(struct tmb_sup *s) {
  s->failed = s->cut_short = true;
  if (s->code == 0) s->code = 128 + SIGHUP;
  tmb_ctl_end(s->l->ctl);
  for (uint32_t r = 0; r < s->l->size; r++)
    if (s->l->pids[r]) (void)tmb_ctl_tell(s->l->ctl, r);
  kill_rest(s);
  s->phase = KILLED;
  s->killed_ns = clock_ns(s);
}

/* Marks the ranks of a host that had not ended. out lost: [size]. Returns how many. */
static uint32_t mark_lost(struct tmb_sup *s, uint32_t host, pid_t *lost) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (tmb_ctl_host_of(s->l->ctl)[r] != host || s->far_gone[r]) continue;
    lost[r] = 1;
    far_ended(s, r);
    count++;
  }
  return count;
}

void tmb_supervise_lose_host(struct tmb_sup *s, uint32_t host, const char *name, const char *why) {
  char list[TMB_RANKLIST_BYTES], others[48];
  const bool told = s->cut_short || (s->phase != RUNNING && s->failed);
  pid_t *lost = calloc(s->l->size, sizeof *lost);
  if (!lost) tmb_fatal_nopos("out of memory for the ranks of host %s", name);
  const uint32_t count = mark_lost(s, host, lost);
  const bool go_on = goes_on(s);
  if (!told)
    tmb_print("host %s with rank%s %s is gone: %s%s", name, count == 1 ? "" : "s",
              tmb_ranklist_format(list, sizeof list, s->l->size, lost), why,
              others_text(s, go_on, others, sizeof others));
  if (s->code == 0) s->code = 1;
  for (uint32_t r = 0; r < s->l->size && go_on; r++)
    if (lost[r]) set_fate(s, r, TMB_FATE(TMB_FATE_FAILED, 1, 0));
  free(lost);
  if (go_on) return;
  s->failed = true;
  begin_end(s, 0);
}

/* ---- the course of a job */

#define FAR_FDS_MAX 4096

static void wait_for_news(struct tmb_sup *s, struct pollfd *fds) {
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
  reap(s);
  check_absent(s);
  check_wrapped(s);
  check_exiting(s);
  check_policy(s);
  check_condemned(s);
  if (s->far) s->far->serve(s->far->arg, s);
  check_timeout(s, timeout_s);
  check_watchdog(s);
  hold_clock(s);
  advance(s);
}

int tmb_supervise(struct tmb_launch *l, struct tmb_supervise_options *options) {
  struct tmb_sup s = {.l = l, .phase = RUNNING, .alive = l->ctl->here, .timeout_ns = UINT64_MAX};
  struct pollfd alone, *fds = &alone;
  s.far_alive = l->size - s.alive;
  if (!open_far(&s, options->far)) return 1;
  if (s.far && !(fds = calloc(1 + FAR_FDS_MAX, sizeof *fds)))
    tmb_fatal_nopos("out of memory for %d descriptors", FAR_FDS_MAX);
  s.grace_ns = grace_setting_ns(l->size);
  s.slow_output_ns = seconds_ns(tmb_cfg_dbl(TMB_CFG_SLOW_OUTPUT_TIMEOUT));
  if (options->timeout_s > 0) s.timeout_ns = l->ctl->start_ns + seconds_ns(options->timeout_s);
  open_watchdog(&s);
  s.tick_ns = tmb_os_now_ns();
  s.oom_kills = tmb_os_oom_kills();
  while (!is_over(&s)) {
    wait_for_news(&s, fds);
    look_around(&s, options->timeout_s);
  }
  tmb_watchdog_close(&s.dog);
  if (s.reports > REPORTS_MAX) tmb_print("%u more ranks failed", s.reports - REPORTS_MAX);
  options->cut_short = s.cut_short;
  free(s.far_gone);
  free(s.patience);
  if (fds != &alone) free(fds);
  return s.code;
}
