/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job's control block: shared memory between the supervisor and the ranks.
 *
 * Owns: its layout, the start barrier, the state of each rank. Called by launch, join, supervise
 * and boot. Calls: base, os. Invariants: written only by atomic operations after the ranks exist;
 * `state` of a rank moves along NEW -> JOINED -> EXITING (by the rank) or NEW|JOINED -> TOLD (by
 * the supervisor) and never back, so that a code given by a rank itself and an end imposed on it
 * cannot be confused.
 */
#ifndef TMB_BOOT_CTL_H
#define TMB_BOOT_CTL_H

#include "base/compiler.h"
#include "boot/boot.h"

/* Low byte of `state`; EXITING carries the exit code in the next byte. */
enum tmb_rank_state { TMB_RANK_NEW, TMB_RANK_JOINED, TMB_RANK_EXITING, TMB_RANK_TOLD };
#define TMB_RANK_STATE(word) ((enum tmb_rank_state)((word)&0xff))
#define TMB_RANK_CODE(word)  ((int)((word) >> 8 & 0xff))

struct tmb_ctl_rank {
  uint32_t state;        /* see above; rank and supervisor, by CAS */
  int32_t pid;           /* of the process that joined; the rank */
  uint64_t start_time;   /* of that process (os.h), 0: unknown; the rank, before pid */
  uint32_t fate;         /* TMB_FATE_ word of boot.h; supervisor */
  uint32_t report;       /* 1: wants to outlive the others; the rank */
  uint32_t told_why;     /* 1: a fatal message of its own is out; the rank */
  uint32_t derandomised; /* 1: executed so by us; the rank, before exec */
  uint8_t slot[2][TMB_BOOT_GATHER_BYTES_MAX]; /* allgather, by parity of the call; the rank */
};

struct tmb_ctl {
  uint64_t
      magic; /* TMB_CTL_MAGIC; this and the next seven: the supervisor, before any rank exists */
  uint64_t job_id;
  uint64_t start_ns; /* when the job started, monotonic clock */
  uint32_t size;
  uint32_t line_buffered; /* 1: standard output of the ranks is written line by line */
  int32_t supervisor_pid;
  uint32_t refusals;                 /* to take part, so far: the first one is told; ranks */
  uint64_t pid_space;                /* of the supervisor, see tmb_os_pid_space */
  uint32_t ranks_joined;             /* ranks past NEW; ranks */
  uint32_t ending;                   /* 1: no rank may join any more; supervisor */
  uint64_t door_offset, door_stride; /* where ranks sleep, in the arena file; stride 0: not known */
  TMB_ALIGNED(TMB_CACHE_LINE) uint32_t changes;    /* of fates so far; supervisor */
  uint32_t losses;                                 /* ranks that are gone; supervisor */
  TMB_ALIGNED(TMB_CACHE_LINE) uint32_t arrived;    /* in this round of the barrier; ranks */
  TMB_ALIGNED(TMB_CACHE_LINE) uint32_t generation; /* completed rounds, futex; ranks */
  TMB_ALIGNED(TMB_CACHE_LINE) struct tmb_ctl_rank rank[];
};

#define TMB_CTL_MAGIC UINT64_C(0x746f6d626f6c6f35) /* changes with the layout */

/* Bytes of a control block for `size` ranks. */
size_t tmb_ctl_bytes(uint32_t size);

/*
 * Create a control block for `size` ranks.
 * in avoid_memfd: see tmb_memfd_create. out fd: its descriptor. out ctl: mapped, initialised.
 * Returns 0, TMB_E_SYS or TMB_E_LIMIT after a message.
 */
int tmb_ctl_create(uint32_t size, bool avoid_memfd, int *fd, struct tmb_ctl **ctl);

/* Map the control block of an existing job. Returns NULL with errno set if `fd` is not one. */
struct tmb_ctl *tmb_ctl_map(int fd, uint32_t size, uint64_t job_id);

void tmb_ctl_unmap(struct tmb_ctl *ctl);

/* Rank: NEW -> JOINED. Returns 0, or TMB_E_STATE if it was taken or the job is ending (then TOLD).
 */
int tmb_ctl_join(struct tmb_ctl *ctl, uint32_t rank, pid_t pid);

/* Rank: NEW or JOINED -> EXITING with `code`. Returns false if the state had moved on before. */
bool tmb_ctl_record_exit(struct tmb_ctl *ctl, uint32_t rank, int code);

/* Supervisor: NEW or JOINED -> TOLD. Returns the state word before. */
uint32_t tmb_ctl_tell(struct tmb_ctl *ctl, uint32_t rank);

/* Supervisor: no rank may join from now on. */
void tmb_ctl_end(struct tmb_ctl *ctl);

/* State word of a rank. */
uint32_t tmb_ctl_state(const struct tmb_ctl *ctl, uint32_t rank);

/* How many ranks have joined so far. */
uint32_t tmb_ctl_joined(const struct tmb_ctl *ctl);

/* Process that joined as `rank`, 0 before. */
pid_t tmb_ctl_pid(const struct tmb_ctl *ctl, uint32_t rank);

/* Supervisor: signal the process that joined as `rank` behind a wrapper, if it still is that
 * process. in sig: 0: only look. Returns as tmb_os_signal_process; TMB_E_ARG: it cannot be named.
 */
int tmb_ctl_signal(const struct tmb_ctl *ctl, uint32_t rank, int sig);

/* Wait until all ranks have called this equally often. Returns false, at once or while waiting,
 * when a rank is gone and the job goes on. */
bool tmb_ctl_barrier(struct tmb_ctl *ctl);

/* Supervisor: whether the job goes on without a rank that ends now: every rank that is not gone
 * wants it. */
bool tmb_ctl_reports(const struct tmb_ctl *ctl);

/* Supervisor: what has become of a rank. A rank that is gone stays gone. Returns whether this was
 * news. */
bool tmb_ctl_set_fate(struct tmb_ctl *ctl, uint32_t rank, uint32_t fate);

/* Supervisor: wake every rank that sleeps; in arena_fd: see tmb_boot_report. */
void tmb_ctl_wake_all(const struct tmb_ctl *ctl, int arena_fd);

#endif
