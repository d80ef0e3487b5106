/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals to a job's ranks, their reaping, and the consequences of their ends for the job.
 *
 * Owns: nothing; works on the struct tmb_sup of supervise.c, which calls it. Calls: ctl, grace,
 * os, base. Ranks that are asked to end (SIGQUIT) have a time for it that does not count waits for
 * a processor; those that are ending by themselves get a little longer; then SIGKILL. While the
 * ranks want to outlive each other (REPORT), an end is written into the control block and ranks
 * that sleep are woken. Invariants: see supervise_ranks.h; codes of ranks that were asked or killed
 * do not count.
 */
#define _GNU_SOURCE
#include "boot/supervise/supervise_ranks.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/explain/crashes.h"
#include "boot/launch/orphans.h"
#include "os/process/signals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define NS_PER_S     UINT64_C(1000000000)
#define NS_PER_MS    UINT64_C(1000000)
#define ASKED_NS     (500 * NS_PER_MS) /* from SIGQUIT to SIGKILL, without waits for a processor */
/* From SIGQUIT to SIGKILL for a rank that is ending by itself. */
#define EXITING_NS   (2000 * NS_PER_MS)
#define CRASHES_MS   2000           /* for the lines of a crashed rank while the others run */
#define SLOW_EXIT_NS (2 * NS_PER_S) /* a rank that takes longer to leave counts as lost */

static double seconds_since_start(const struct tmb_sup *s) {
  return (double)(tmb_os_now_ns() - s->l->ctl->start_ns) / (double)NS_PER_S;
}

static void notify_end(const struct tmb_sup *s, uint32_t flags) {
  tmb_sup_notify(s, &(struct tmb_sup_event){.kind = TMB_SUP_END,
                                            .code = s->code,
                                            .flags = flags | (s->failed ? TMB_SUP_FAILED : 0)});
}

/* ---- signals to ranks */

/* Sends to the process that was forked, which keeps its number until it is reaped, and, behind a
 * wrapper, to the one that joined, if that differs from a later owner of its number. */
static void signal_rank(const struct tmb_sup *s, uint32_t rank, int sig, bool wrapper_too) {
  const pid_t child = s->l->pids[rank];
  if (child == 0) return;
  if (s->l->adopted && tmb_ctl_signal(s->l->ctl, rank, sig) != TMB_E_ARG) return;
  const pid_t joined = tmb_ctl_pid(s->l->ctl, rank);
  const bool wrapped = joined != 0 && joined != child;
  const bool unnamed = wrapped && tmb_ctl_signal(s->l->ctl, rank, sig) == TMB_E_ARG;
  if (!wrapped || wrapper_too || unnamed) kill(child, sig);
}

void tmb_sup_signal(const struct tmb_sup *s, int sig, bool wrapper_too) {
  for (uint32_t r = 0; r < s->l->size; r++) signal_rank(s, r, sig, wrapper_too);
}

/* Time that a rank has had since it was asked. */
static uint64_t had_ns(const struct tmb_sup *s, uint32_t rank) {
  const pid_t joined = tmb_ctl_pid(s->l->ctl, rank);
  struct tmb_os_process now;
  (void)tmb_os_process(joined ? joined : s->l->pids[rank], false, &now);
  return tmb_grace_check(&s->grace[rank], tmb_sup_clock_ns(s), now.state, now.cpu_ns);
}

/* Begins to count the time of every rank here anew. */
static void count_time(struct tmb_sup *s) {
  if (!s->grace) s->grace = calloc(s->l->size, sizeof *s->grace);
  if (!s->grace) tmb_fatal_nopos("out of memory for the ends of %u ranks", s->l->size);
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r]) (void)had_ns(s, r);
    s->grace[r].had_ns = 0;
  }
}

bool tmb_sup_have_had(struct tmb_sup *s, uint64_t ns) {
  if (!s->grace) count_time(s);
  for (uint32_t r = 0; r < s->l->size; r++)
    if (s->l->pids[r] && had_ns(s, r) < ns) return false;
  return true;
}

/* Asks every rank here that is not ending by itself to end. A program that never joined gets
 * SIGTERM. */
void tmb_sup_ask(struct tmb_sup *s) {
  tmb_ctl_end(s->l->ctl);
  tmb_store_rel(&s->l->ctl->ordered_code, (uint32_t)s->code);
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r] == 0) continue;
    const enum tmb_rank_state before = TMB_RANK_STATE(tmb_ctl_order_end(s->l->ctl, r));
    if (before == TMB_RANK_EXITING) continue;
    signal_rank(s, r, before == TMB_RANK_NEW ? SIGTERM : SIGQUIT, false);
    signal_rank(s, r, SIGCONT, true);
  }
  s->phase = TMB_PHASE_ASKED;
  s->asked_ns = tmb_sup_clock_ns(s);
  count_time(s);
}

/* Kills the ranks that have had their time; those that are ending by themselves get more of it,
 * unless the job has failed. Returns whether all that are left are killed. */
bool tmb_sup_kill_late(const struct tmb_sup *s) {
  const uint64_t asked = tmb_sup_clock_ns(s) - s->asked_ns;
  bool all = true;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r] == 0) continue;
    const bool exiting = TMB_RANK_STATE(tmb_ctl_state(s->l->ctl, r)) == TMB_RANK_EXITING;
    const uint64_t limit = exiting && !s->failed ? EXITING_NS : ASKED_NS;
    if (had_ns(s, r) >= limit || asked >= limit + TMB_SUP_CROWDED_NS)
      signal_rank(s, r, SIGKILL, true);
    else
      all = false;
  }
  return all;
}

/* ---- ends of ranks */

void tmb_sup_enter_grace(struct tmb_sup *s) {
  s->last_end_ns = tmb_sup_clock_ns(s);
  if (s->phase != TMB_PHASE_RUNNING) return;
  s->phase = TMB_PHASE_GRACE;
  s->first_end_ns = s->last_end_ns;
  tmb_ctl_end(s->l->ctl);
}

void tmb_sup_begin_end(struct tmb_sup *s, uint32_t flags) {
  const bool first = s->phase == TMB_PHASE_RUNNING;
  tmb_sup_enter_grace(s);
  if (first || s->failed) notify_end(s, flags);
}

/* "; ending the other 7 ranks", "; ending the other rank", if there are any. */
const char *tmb_sup_others_text(const struct tmb_sup *s, bool go_on, char *buf, size_t bytes) {
  const uint32_t others = tmb_sup_all_alive(s);
  if (others == 0) return "";
  const char *verb = go_on ? "" : "ending ";
  if (others == 1)
    snprintf(buf, bytes, "; %sthe other rank%s", verb, go_on ? " goes on" : "");
  else
    snprintf(buf, bytes, "; %sthe other %u ranks%s", verb, others, go_on ? " go on" : "");
  return buf;
}

/* Possible sender of SIGKILL: "" unless the kernel has ended processes for want of memory. */
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

/* Of a writer to a pipe without a reader, as in `... | head -1`. */
#define CLOSED_PIPE "SIGPIPE: nobody reads what it writes"

static void report_end(const struct tmb_sup *s, uint32_t rank, pid_t pid, int status, bool go_on) {
  char others[48], how[96], memory[400];
  const int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (sig) {
    const char *name = sig == SIGPIPE ? CLOSED_PIPE : tmb_os_signal_name(sig);
    snprintf(how, sizeof how, "killed by signal %d (%s)%s", sig, name ? name : "?",
             WCOREDUMP(status) ? ", core dumped" : "");
  } else if (s->l->adopted && !on_purpose(s, rank)) {
    snprintf(how, sizeof how, "died");
  } else {
    const int code = WEXITSTATUS(status);
    snprintf(how, sizeof how, "exited with code %d%s", code,
             code == 128 + SIGPIPE ? " (" CLOSED_PIPE ")" : "");
  }
  /* One failure, one message: a rank that has said why it died needs no second one. */
  const bool explained = tmb_load_acq(&tmb_ctl_rank(s->l->ctl, rank)->explained) && !go_on;
  void (*const say)(const char *fmt, ...) = explained ? tmb_info : tmb_print;
  say("rank %u (pid %d on %s) %s after %.2f s%s%s", rank, (int)pid,
      s->l->host_name ? s->l->host_name : tmb_os_hostname(), how, seconds_since_start(s),
      memory_text(s, status, memory, sizeof memory),
      tmb_sup_others_text(s, go_on, others, sizeof others));
}

/* A rank ended by itself; `code` is its part of the job's code. in flags: TMB_SUP_FINAL or 0. */
static void natural_end(struct tmb_sup *s, uint32_t rank, pid_t pid, int status, uint32_t flags) {
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  const bool first_failure = code != 0 && !s->failed;
  if (code != 0) s->failed = true;
  tmb_sup_add_code(s, code);
  /* A writer whose reader has closed gets SIGPIPE, each rank for one reason. */
  const bool again = !first_failure && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
  if ((first_failure || WIFSIGNALED(status)) && !again && s->reports++ < TMB_SUP_REPORTS_MAX)
    report_end(s, rank, pid, status, false);
  else if (s->phase == TMB_PHASE_RUNNING && tmb_sup_all_alive(s) > 0)
    tmb_info("rank %u (pid %d) ended with code 0 after %.2f s; ranks still running: %u", rank,
             (int)pid, seconds_since_start(s), tmb_sup_all_alive(s));
  tmb_sup_begin_end(s, flags);
}

/* A rank that was ending on purpose has ended: its code, unless something happened while it ended.
 */
static void exiting_rank_ended(struct tmb_sup *s, uint32_t rank, pid_t pid, int status,
                               bool killed) {
  const bool crashed = WIFSIGNALED(status) && !killed;
  int code = TMB_RANK_CODE(tmb_ctl_state(s->l->ctl, rank));
  if (!crashed && code == 0 && WIFEXITED(status)) code = WEXITSTATUS(status);
  /* When the job went on without lost ranks, the code of a rank that ends the whole job counts,
   * not those of the lost ones. */
  const struct tmb_ctl *ctl = s->l->ctl;
  const bool alone = s->phase == TMB_PHASE_RUNNING && ctl->losses && !crashed &&
                     !tmb_load_acq(&tmb_ctl_rank(ctl, rank)->report);
  if (alone) tmb_sup_set_code(s, code);
  natural_end(s, rank, pid, crashed ? status : code << 8, alone ? TMB_SUP_FINAL : 0);
}

/* ---- the job goes on without a rank */

/* Writes a fate for the ranks here to see. Returns whether it is new. */
bool tmb_sup_note_fate(struct tmb_sup *s, uint32_t rank, uint32_t fate) {
  if (!tmb_ctl_set_fate(s->l->ctl, rank, fate)) return false;
  for (uint32_t h = 0; h < s->l->hosts; h++)
    if (s->l->host[h].arena_fd >= 0) tmb_ctl_wake_host(s->l->ctl, h, s->l->host[h].arena_fd);
  return true;
}

void tmb_sup_set_fate(struct tmb_sup *s, uint32_t rank, uint32_t fate) {
  if (tmb_sup_note_fate(s, rank, fate))
    tmb_sup_notify(s, &(struct tmb_sup_event){.kind = TMB_SUP_FATE, .rank = rank, .fate = fate});
}

/* A rank is lost and the others stay. in status: as of waitpid. Only a rank that left on purpose
 * with code 0 has ended in good order. */
static void lose(struct tmb_sup *s, uint32_t rank, pid_t pid, int status) {
  const uint32_t state = tmb_ctl_state(s->l->ctl, rank);
  const bool on_purpose = TMB_RANK_STATE(state) == TMB_RANK_EXITING;
  const int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  int code = sig ? 128 + sig : WEXITSTATUS(status);
  if (on_purpose && !sig && TMB_RANK_CODE(state)) code = TMB_RANK_CODE(state);
  const bool failed = code != 0 || !on_purpose;
  tmb_sup_add_code(s, code);
  if (failed && s->reports++ < TMB_SUP_REPORTS_MAX)
    report_end(s, rank, pid, sig ? status : code << 8, true);
  else if (!failed)
    tmb_info("rank %u (pid %d) ended in good order after %.2f s; ranks still running: %u", rank,
             (int)pid, seconds_since_start(s), tmb_sup_all_alive(s));
  tmb_sup_set_fate(s, rank, TMB_FATE(failed ? TMB_FATE_FAILED : TMB_FATE_ENDED, code, sig));
  tmb_crashes_print(s->l->ctl, CRASHES_MS);
}

bool tmb_sup_goes_on(const struct tmb_sup *s) {
  return s->phase == TMB_PHASE_RUNNING && tmb_sup_all_alive(s) > 0 && !s->l->ctl->far_refuses &&
         tmb_ctl_reports(s->l->ctl);
}

void tmb_sup_note_unjoined(struct tmb_sup *s, uint32_t rank) {
  if (s->ended_unjoined++ == 0) s->unjoined_first = rank;
}

/* Programs that know nothing of the library run side by side to their own ends. */
static void ended_unjoined(struct tmb_sup *s, uint32_t rank) {
  tmb_sup_note_unjoined(s, rank);
  if (s->alive == 0 && tmb_ctl_joined(s->l->ctl) == 0)
    tmb_info("no rank of this host has joined the job before it ended: the program does not "
             "initialise this library, or is linked with another one");
}

/* One child is reaped: decide whether it ended by itself, and the consequences. */
void tmb_sup_rank_ended(struct tmb_sup *s, uint32_t rank, pid_t pid, int status) {
  const enum tmb_rank_state state = TMB_RANK_STATE(tmb_ctl_state(s->l->ctl, rank));
  const bool killed =
      s->phase >= TMB_PHASE_ASKED && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  s->l->pids[rank] = 0;
  s->alive--;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  const bool unjoined = state == TMB_RANK_NEW && code == 0;
  tmb_sup_notify(s, &(struct tmb_sup_event){.kind = TMB_SUP_ENDED,
                                            .rank = rank,
                                            .flags = unjoined ? TMB_SUP_UNJOINED : 0});
  if (state == TMB_RANK_ORDERED || TMB_FATE_IS_LOST(tmb_ctl_fate(s->l->ctl)[rank])) return;
  if (tmb_sup_goes_on(s)) {
    lose(s, rank, pid, status);
    return;
  }
  if (state == TMB_RANK_EXITING) {
    exiting_rank_ended(s, rank, pid, status, killed);
    return;
  }
  if (killed) return;
  if (unjoined)
    ended_unjoined(s, rank);
  else if (state == TMB_RANK_JOINED && WIFEXITED(status) && !tmb_cfg_bool(TMB_CFG_CATCH_EXIT))
    tmb_sup_add_code(s, code);
  else
    natural_end(s, rank, pid, status, 0);
}

/* The state of a child has changed. */
static void rank_changed(struct tmb_sup *s, uint32_t rank, pid_t pid, int status) {
  const pid_t joined = tmb_ctl_pid(s->l->ctl, rank);
  if (!WIFSTOPPED(status) && !WIFCONTINUED(status)) {
    if (status != 0) tmb_orphans_unlink(joined);
    tmb_sup_rank_ended(s, rank, pid, status);
  } else if (joined == pid)
    tmb_sup_set_fate(s, rank,
                     TMB_FATE(WIFSTOPPED(status) ? TMB_FATE_SUSPENDED : TMB_FATE_ALIVE, 0, 0));
}

/* For the statistics; the last time that it is called for a rank is that of its end. */
static void note_end(const struct tmb_sup *s, uint32_t rank, const struct rusage *used) {
  struct tmb_status_stats *stats = &tmb_ctl_status(s->l->ctl, rank)->stats;
  stats->end_ns = tmb_os_now_ns();
  stats->memory_bytes = (uint64_t)used->ru_maxrss * 1024;
}

static void reap(struct tmb_sup *s) {
  for (;;) {
    int status;
    struct rusage used;
    const pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED | WCONTINUED, &used);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    for (uint32_t r = 0; r < s->l->size; r++) {
      if (s->l->pids[r] != pid) continue;
      note_end(s, r, &used);
      rank_changed(s, r, pid, status);
      break;
    }
  }
}

void tmb_sup_report_unjoined(const struct tmb_sup *s) {
  if (s->ended_unjoined == 0 || s->phase != TMB_PHASE_RUNNING) return;
  char more[40] = "";
  if (s->ended_unjoined > 1) snprintf(more, sizeof more, " and %u more", s->ended_unjoined - 1);
  tmb_print("rank %u%s ended with code 0 and never joined the job, in which others wait for it; "
            "ending the job: each rank must run a program that initialises this library",
            s->unjoined_first, more);
}

void tmb_sup_end_unjoined(struct tmb_sup *s) {
  if (!s->far || s->is_root) tmb_sup_report_unjoined(s); /* else the launcher does */
  s->failed = true;
  tmb_sup_add_code(s, 1);
  tmb_sup_begin_end(s, TMB_SUP_UNJOINED);
}

/* A rank that ended without joining is missing as soon as any other has joined. That may be seen on
 * another host than the one where the rank was. */
static void check_absent(struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_RUNNING || s->ended_unjoined == 0 || tmb_sup_all_alive(s) == 0) return;
  if (tmb_ctl_joined(s->l->ctl) == 0) return;
  tmb_sup_end_unjoined(s);
}

/* A rank that takes long to leave on purpose holds up the others no longer than a hung one would.
 */
static void check_exiting(struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_RUNNING || tmb_sup_goes_on(s)) return;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (s->l->pids[r] == 0) continue;
    const uint32_t word = tmb_ctl_state(s->l->ctl, r);
    if (TMB_RANK_STATE(word) != TMB_RANK_EXITING) continue;
    const uint64_t now = tmb_sup_clock_ns(s);
    if (s->exiting_since_ns == 0) s->exiting_since_ns = now;
    if (now - s->exiting_since_ns >= SLOW_EXIT_NS)
      exiting_rank_ended(s, r, s->l->pids[r], TMB_RANK_CODE(word) << 8, false);
    return;
  }
  s->exiting_since_ns = 0;
}

/* Behind a wrapper that goes on, a rank ends without becoming a zombie of ours. */
static void check_wrapped(struct tmb_sup *s) {
  if (s->phase != TMB_PHASE_RUNNING) return;
  for (uint32_t r = 0; r < s->l->size; r++) {
    const pid_t child = s->l->pids[r], joined = child ? tmb_ctl_pid(s->l->ctl, r) : 0;
    if (joined == 0 || joined == child) continue;
    if (tmb_ctl_signal(s->l->ctl, r, 0) != TMB_E_STATE) continue;
    if (TMB_FATE_IS_LOST(tmb_ctl_fate(s->l->ctl)[r])) continue;
    if (tmb_sup_goes_on(s)) {
      lose(s, r, joined, 0);
      continue;
    }
    tmb_info("rank %u (pid %d) ended, but the program around it goes on", r, (int)joined);
    exiting_rank_ended(s, r, joined, TMB_RANK_CODE(tmb_ctl_state(s->l->ctl, r)) << 8, false);
    return;
  }
}

/* ---- ranks that others get no answer from */

/* End a rank of this machine that the others have given up. Ranks that cannot reach it and ranks
 * that could get one report then: that it has ended. */
void tmb_sup_condemn(struct tmb_sup *s, uint32_t rank) {
  if (rank >= s->l->size || s->l->pids[rank] == 0 || s->phase != TMB_PHASE_RUNNING) return;
  tmb_print("rank %u (pid %d on %s) does not answer other ranks any more (TOMBOLO_PEER_TIMEOUT); "
            "ending it",
            rank, (int)s->l->pids[rank], tmb_os_hostname());
  signal_rank(s, rank, SIGKILL, true);
}

void tmb_sup_check_condemned(struct tmb_sup *s) {
  const struct tmb_ctl *ctl = s->l->ctl;
  const uint32_t condemned = tmb_load_acq(&ctl->condemned);
  if (condemned == s->condemned) return;
  s->condemned = condemned;
  for (uint32_t r = 0; r < s->l->size; r++) {
    if (tmb_load_acq(&tmb_ctl_condemned(ctl)[r]) != 1) continue;
    tmb_store_rel(&tmb_ctl_condemned(ctl)[r], 2u);
    tmb_sup_condemn(s, r);
    if (tmb_ctl_record_of(ctl)[r] == TMB_CTL_ELSEWHERE)
      tmb_sup_notify(s, &(struct tmb_sup_event){.kind = TMB_SUP_CONDEMN, .rank = r});
  }
}

void tmb_sup_check_ranks(struct tmb_sup *s) {
  reap(s);
  check_absent(s);
  check_wrapped(s);
  check_exiting(s);
}
