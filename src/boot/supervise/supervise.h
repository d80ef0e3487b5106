/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Supervision: follows the ranks of a job from their start to the job's exit code.
 *
 * Owns: the order in which a job ends. Called by boot (a program that started its own peers) and by
 * `tombolo run`. Calls: launch, ctl, os, base.
 * Invariants: returns only when every rank is reaped; when one rank has ended the others are ended,
 * unless all of them have said that they want to go on (tmb_boot_report), within a bounded time,
 * stopped ones included, except that the clock stands still while nothing failed and the reader of
 * our output is slow.
 */
#ifndef TMB_BOOT_SUPERVISE_H
#define TMB_BOOT_SUPERVISE_H

#include "base/compiler.h"
#include "boot/launch/launch.h"

#include <poll.h>

#define TMB_EXIT_TIMEOUT 124 /* the job's code when its time is over, as of timeout(1) */
#define TMB_EXIT_HANG    125 /* the job's code when the watchdog has ended it */

/* Reports between the supervisors of one job on several machines. */
enum tmb_sup_kind {
  TMB_SUP_ENDED,  /* `rank` has ended */
  TMB_SUP_END,    /* the end of the job has begun: code, flags */
  TMB_SUP_FATE,   /* of `rank`: fate */
  TMB_SUP_POLICY, /* flags: TMB_SUP_REFUSES if some rank there ends when another is lost */
  TMB_SUP_ASK,    /* end now: code, flags */
  TMB_SUP_SIGNAL, /* pass signal `code` on to the ranks */
  TMB_SUP_CONDEMN /* `rank` does not answer others: end it */
};

enum {
  TMB_SUP_FAILED = 1,  /* something went wrong: nobody waits for slow output */
  TMB_SUP_FINAL = 2,   /* the code replaces those of ranks that were lost before */
  TMB_SUP_REFUSES = 4, /* see TMB_SUP_POLICY */
  TMB_SUP_CUT = 8,     /* by the time limit or a signal */
  TMB_SUP_UNJOINED =
      16 /* ENDED: with code 0, and it had never joined; END: because of such ranks */
};

struct tmb_sup_event {
  enum tmb_sup_kind kind;
  uint32_t rank, fate;
  int32_t code; /* exit code or signal */
  uint32_t flags;
};

struct tmb_sup;
struct tmb_snapshot;

/* State of the job, as this supervisor knows it. */
struct tmb_sup_state {
  int code;
  uint32_t far_alive; /* ranks of other machines that have not ended */
  bool failed;        /* the job failed or is cut short */
};

/* The supervisors of the other machines, as this one sees them: NULL where there are none. */
struct tmb_sup_far {
  void *arg;
  /* Descriptors to wait for. out fds: [max]. inout timeout_ms: lowered to the next timer. Returns
   * how many. */
  nfds_t (*wait)(void *arg, struct pollfd *fds, nfds_t max, int *timeout_ms);
  /* After each wait: do pending work; calls tmb_supervise_apply for reports that came. */
  void (*serve)(void *arg, struct tmb_sup *sup);
  void (*notify)(void *arg, const struct tmb_sup_event *event); /* all others */
  /* Asked when every rank of this machine has ended: whether nobody needs this supervisor any more.
   */
  bool (*finished)(void *arg, const struct tmb_sup_state *state);
  /* For the watchdog: state of the ranks of all machines. out now: the caller's to free, if true is
   * returned; else it is being gathered, and to be asked for again. NULL: there is no watchdog
   * here. */
  bool (*look)(void *arg, struct tmb_snapshot *now);
  /* Whether output of ranks waits for a slow reader. */
  bool (*output_full)(void *arg);
};

/* The functions of a table, but for `look`: P_wait and so on. */
#define TMB_SUP_FAR(P)                                                                 \
 .wait = P##_wait, .serve = P##_serve, .notify = P##_notify, .finished = P##_finished, \
 .output_full = P##_output_full

struct tmb_supervise_options {
  double timeout_s; /* in: end the job after this many seconds; 0: never */
  bool cut_short;   /* out: the job was ended by the timeout or by a signal to the supervisor */
  bool final;       /* out: the code returned counts alone, also if it is 0 */
  const struct tmb_sup_far *far;
};

/*
 * Wait for the ranks and end the job when one of them ends, or, while they want to outlive each
 * other, when all have ended. Messages name the rank that failed, its
 * process, the host, how and when.
 * inout launch: after tmb_launch_fork; its `pids` are 0 afterwards.
 * Returns the job's exit code: the first non-zero code that a rank gave by itself (128 + signal for
 * a signal death), TMB_EXIT_TIMEOUT, TMB_EXIT_HANG, or 128 + the signal that ended the supervisor;
 * else 0. With other machines: the code as known here.
 */
int tmb_supervise(struct tmb_launch *launch, struct tmb_supervise_options *options);

/* From far->serve, before a round of the ranks here is passed on: reports to the others first
 * whether ranks here have changed their minds about losses. So the call that changes the policy
 * returns when every supervisor knows it. */
void tmb_supervise_policy(struct tmb_sup *sup);

/* From far->serve: another supervisor has reported something. */
void tmb_supervise_apply(struct tmb_sup *sup, const struct tmb_sup_event *event);

/* From far->serve: all ranks of a machine have ended while others wait for it: ends the job. */
void tmb_supervise_absent(struct tmb_sup *sup);

/* From far->serve: a rank that is no child of this process has ended. in status: as of waitpid. */
void tmb_supervise_ended(struct tmb_sup *sup, uint32_t rank, int status);

/* From far->serve: end the ranks of this machine at once; nobody waits for their code. */
void tmb_supervise_kill(struct tmb_sup *sup);

/* From far->serve: a host is lost with its ranks. in host: its number. in name: for messages. in
 * why: one clause. Ends the job unless every rank wants to go on without others. */
void tmb_supervise_lose_host(struct tmb_sup *sup, uint32_t host, const char *name, const char *why);

#endif
