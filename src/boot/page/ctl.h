/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control block of a machine: shared memory between its supervisor and the ranks that run
 * there.
 *
 * Owns: its layout, the start barrier, the state of each rank. Called by launch, join, supervise
 * and boot. Calls: base, os. A job on several machines has one for each; their supervisors (agents)
 * complete rounds of the barrier and report fates to each other. Layout: the header; one record for
 * each rank of this machine; for each rank of the job its fate, host, record and whether it is
 * condemned; the names of hosts; two areas for contributions to tmb_boot_allgather; a status page
 * for each rank of this machine; its trace area, where one is wanted. Invariants: written only by
 * atomic operations after the ranks exist; `state` of a rank moves along NEW -> JOINED -> EXITING
 * (by the rank) or NEW|JOINED -> ORDERED (by the supervisor) and never back, so that a code given
 * by a rank itself and an end imposed on it cannot be confused.
 */
#ifndef TMB_BOOT_CTL_H
#define TMB_BOOT_CTL_H

#include "base/compiler.h"
#include "boot/boot.h"
#include "os/os.h"

/* Low byte of `state`; EXITING carries the exit code in the next byte. */
enum tmb_rank_state { TMB_RANK_NEW, TMB_RANK_JOINED, TMB_RANK_EXITING, TMB_RANK_ORDERED };
#define TMB_RANK_STATE(word) ((enum tmb_rank_state)((word)&0xff))
#define TMB_RANK_CODE(word)  ((int)((word) >> 8 & 0xff))

/* A rank of this machine. */
struct tmb_ctl_rank {
  uint32_t state;        /* see above; rank and supervisor, by CAS */
  int32_t pid;           /* of the process that joined; the rank */
  uint64_t start_time;   /* of that process (os.h), 0: unknown; the rank, before pid */
  uint32_t report;       /* 1: wants to outlive the others; the rank */
  uint32_t explained;    /* 1: it has said why it ends (fatal error, failed start); the rank */
  uint32_t derandomised; /* 1: executed so by us; the rank, before exec */
  int32_t bell_fd;       /* eventfd that wakes it from poll, in the supervisor; -1: none */
};

#define TMB_CTL_SECRET_BYTES 32
#define TMB_CTL_HOST_BYTES   64         /* of the name of a host, with its end */
#define TMB_CTL_PART_BYTES   1024       /* most bytes that a rank contributes to one round */
#define TMB_CTL_ELSEWHERE    UINT32_MAX /* record of a rank of another machine */

struct tmb_ctl {
  uint64_t magic; /* TMB_CTL_MAGIC; this and all up to `secret`: the supervisor, before any rank */
  uint64_t job_id;
  uint64_t start_ns; /* when the job started, monotonic clock */
  uint32_t size;     /* ranks of the job */
  uint32_t here;     /* ranks of this machine */
  uint32_t hosts;    /* of the job */
  uint32_t yields;   /* of a rank in a round of the barrier, before it sleeps */
  int32_t
      agent_fd; /* eventfd in the supervisor, written when a round is complete on this machine,
                   or a rank has something to report to others; -1: there are no other machines */
  uint32_t line_buffered; /* 1: standard output of the ranks is written line by line */
  int32_t supervisor_pid;
  uint64_t pid_space;                   /* of the supervisor, see tmb_os_pid_space */
  struct tmb_os_cgroup cgroup;          /* the limits of the supervisor */
  uint8_t secret[TMB_CTL_SECRET_BYTES]; /* secret of the job */
  uint32_t refusals;                    /* to take part, so far: the first one is reported; ranks */
  uint32_t ranks_joined;                /* ranks past NEW; ranks */
  uint32_t ending;                      /* 1: no rank may join any more; supervisor */
  uint32_t ordered_code; /* the job's, for ranks that are ordered to end; written by the supervisor
                         before the order */
  uint64_t trace_bytes;  /* of the trace area of each rank of this machine (trace.h), 0: there are
                            none; the supervisor */
  uint64_t door_offset, door_stride; /* where ranks sleep, in the arena file; stride 0: not known */
  TMB_ALIGNED(TMB_CACHE_LINE) uint32_t changes; /* of fates so far; supervisor */
  uint32_t losses;                              /* lost ranks; supervisor */
  uint32_t condemned;                           /* changes of tmb_ctl_condemned so far; ranks */
  uint32_t far_refuses; /* 1: some rank of another machine ends when one is lost; supervisor */
  TMB_ALIGNED(TMB_CACHE_LINE) uint32_t arrived;    /* in this round of the barrier; ranks */
  uint32_t part_bytes, part_slot;                  /* of this round; the last rank that arrived */
  uint32_t asked;                                  /* rounds complete on this machine; that rank */
  TMB_ALIGNED(TMB_CACHE_LINE) uint32_t generation; /* completed rounds, futex; ranks, supervisor */
  TMB_ALIGNED(TMB_CACHE_LINE) struct tmb_ctl_rank rank[]; /* [here]; then the arrays */
};

/* The last byte changes with the layout. The byte before is the release, 16 * major + minor: the
 * rest of the memory that ranks share changes between releases, and has no mark of its own. */
#define TMB_CTL_MAGIC UINT64_C(0x746f6d626f6c0144)

/* [size] TMB_FATE_ words of boot.h; the supervisor. */
static inline uint32_t *tmb_ctl_fate(const struct tmb_ctl *ctl) {
  return (uint32_t *)(uintptr_t)(ctl->rank + ctl->here);
}

/* [size] host of each rank. */
static inline uint32_t *tmb_ctl_host_of(const struct tmb_ctl *ctl) {
  return tmb_ctl_fate(ctl) + ctl->size;
}

/* [size] index of each rank's record, TMB_CTL_ELSEWHERE if it runs on another machine. */
static inline uint32_t *tmb_ctl_record_of(const struct tmb_ctl *ctl) {
  return tmb_ctl_host_of(ctl) + ctl->size;
}

/* [size] 1: a rank of this machine gets no answer from this rank, which is to be ended; ranks. */
static inline uint32_t *tmb_ctl_condemned(const struct tmb_ctl *ctl) {
  return tmb_ctl_record_of(ctl) + ctl->size;
}

/* Record of a rank of this machine. */
static inline struct tmb_ctl_rank *tmb_ctl_rank(const struct tmb_ctl *ctl, uint32_t rank) {
  return (struct tmb_ctl_rank *)(uintptr_t)&ctl->rank[tmb_ctl_record_of(ctl)[rank]];
}

/* [TMB_CTL_HOST_BYTES] Name of a host, for messages; the supervisor, before any rank. in host: <
 * hosts. There is room for as many hosts as ranks. */
static inline char *tmb_ctl_host_name(const struct tmb_ctl *ctl, uint32_t host) {
  return (char *)(tmb_ctl_condemned(ctl) + ctl->size) + (size_t)host * TMB_CTL_HOST_BYTES;
}

/* Contributions of the ranks to a round, one behind the other. in slot: 0 or 1. */
static inline char *tmb_ctl_parts(const struct tmb_ctl *ctl, uint32_t slot) {
  return tmb_ctl_host_name(ctl, ctl->size) + (size_t)slot * ctl->size * TMB_CTL_PART_BYTES;
}

/* Placement of ranks on hosts, from the launcher. */
struct tmb_ctl_job {
  uint32_t size, hosts;
  const uint32_t *host_of; /* [size]; NULL: all on one host */
  char *const *host_name;  /* [hosts]; NULL: names are made from that of this machine */
  uint32_t only_host;      /* the ranks of this host are here; TMB_CTL_ALL_HOSTS: all are */
  uint64_t trace_bytes;    /* of a rank's trace area, 0: none */
};
#define TMB_CTL_ALL_HOSTS UINT32_MAX

/* Bytes of a control block for `here` of `size` ranks, with `trace_bytes` of trace for each. */
size_t tmb_ctl_bytes(uint32_t size, uint32_t here, uint64_t trace_bytes);

/* Status page of a rank of this machine. */
struct tmb_status *tmb_ctl_status(const struct tmb_ctl *ctl, uint32_t rank);

/* Trace area of a rank of this machine, NULL: there is none. */
struct tmb_trace_area *tmb_ctl_trace(const struct tmb_ctl *ctl, uint32_t rank);

/*
 * Create a control block, with a job id and a secret of its own.
 * in avoid_memfd: see tmb_memfd_create. out fd: its descriptor. out ctl: mapped, initialised.
 * Returns 0, TMB_E_SYS or TMB_E_LIMIT after a message.
 */
int tmb_ctl_create(const struct tmb_ctl_job *job, bool avoid_memfd, int *fd, struct tmb_ctl **ctl);

/* out job_id, secret: [TMB_CTL_SECRET_BYTES] of a new job. */
void tmb_ctl_new_identity(uint64_t *job_id, uint8_t *secret);

/* Map the control block of an existing job. Returns NULL with errno set if `fd` is not one. */
struct tmb_ctl *tmb_ctl_map(int fd, uint32_t size, uint64_t job_id);

/* Whether `fd` is the control block of a job of another version of the library. */
bool tmb_ctl_is_of_other_version(int fd);

void tmb_ctl_unmap(struct tmb_ctl *ctl);

/* Rank: NEW -> JOINED. Returns 0, or TMB_E_STATE if it was taken or the job is ending (then
 * ORDERED). */
int tmb_ctl_join(struct tmb_ctl *ctl, uint32_t rank, pid_t pid);

/* Rank: NEW or JOINED -> EXITING with `code`. Returns false if the state had moved on before. */
bool tmb_ctl_record_exit(struct tmb_ctl *ctl, uint32_t rank, int code);

/* Supervisor: NEW or JOINED -> ORDERED. Returns the state word before. */
uint32_t tmb_ctl_order_end(struct tmb_ctl *ctl, uint32_t rank);

/* Supervisor: no rank may join from now on. */
void tmb_ctl_end(struct tmb_ctl *ctl);

/* State word of a rank. */
uint32_t tmb_ctl_state(const struct tmb_ctl *ctl, uint32_t rank);

/* Number of ranks that have joined so far. */
uint32_t tmb_ctl_joined(const struct tmb_ctl *ctl);

/* Process that joined as `rank`, 0 before. */
pid_t tmb_ctl_pid(const struct tmb_ctl *ctl, uint32_t rank);

/* Supervisor: signal the process that joined as `rank` behind a wrapper, if it still is that
 * process. in sig: 0: only check. Returns as tmb_os_signal_process; TMB_E_ARG: it cannot be named.
 */
int tmb_ctl_signal(const struct tmb_ctl *ctl, uint32_t rank, int sig);

/* Contribution of a rank to a round of the barrier. */
struct tmb_ctl_round {
  uint32_t part_bytes; /* length of each rank's contribution, at most TMB_CTL_PART_BYTES */
  uint32_t part_slot;  /* where, see tmb_ctl_parts; alternates */
  int agent_fd;        /* this process's descriptor of ctl->agent_fd, -1: there is none */
  void (*idle)(void);  /* called every millisecond of waiting; or NULL */
};

/* Wait until all ranks of the job have called this equally often. Returns false, at once or while
 * waiting, when a rank is lost and the job goes on. */
bool tmb_ctl_barrier(struct tmb_ctl *ctl, const struct tmb_ctl_round *round);

/* Supervisor: all ranks of the job have reached this round, and their parts are there. */
void tmb_ctl_complete(struct tmb_ctl *ctl);

/* Write to an eventfd; -1 is ignored. */
void tmb_ctl_ring(int fd);

/* Supervisor: whether every rank of this machine that is not lost wants the job to go on when a
 * rank ends. */
bool tmb_ctl_reports(const struct tmb_ctl *ctl);

/* Supervisor: sets the fate of a rank. A lost rank stays lost. Returns whether it changed. */
bool tmb_ctl_set_fate(struct tmb_ctl *ctl, uint32_t rank, uint32_t fate);

/* Supervisor: wake every rank of a host that sleeps. in arena_fd: of that host, see
 * tmb_boot_report. */
void tmb_ctl_wake_host(const struct tmb_ctl *ctl, uint32_t host, int arena_fd);

#endif
