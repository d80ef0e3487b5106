/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Place of this process in its job.
 *
 * Owns: struct tmb_boot. Included by boot.h, which has the calls, and by core/job.h, of which it is
 * a member. Written by boot only. Calls nothing. Invariants: rank < size <= TMB_BOOT_RANKS_MAX;
 * tmb_boot_start fills it, and only the fields that say so change later.
 */
#ifndef TMB_BOOT_STATE_H
#define TMB_BOOT_STATE_H

#include "boot/page/places.h"

#include <stdbool.h>
#include <sys/types.h>

#define TMB_BOOT_RANKS_MAX    1024 /* most ranks of a job */
#define TMB_BOOT_SECRET_BYTES 32

struct tmb_ctl;
struct tmb_bootstrap_ops;
struct tmb_status;
struct tmb_trace_area;

/* Place of this process in the job. Written by boot only. */
struct tmb_boot {
  uint32_t rank, size; /* rank < size <= TMB_BOOT_RANKS_MAX */
  uint64_t job_id;     /* random, equal on every rank, differs between jobs */
  int arena_fd;   /* shared memory of the host, empty at start: the near engine grows and maps it */
  int segment_fd; /* shared memory of the host, empty at start: grown when segments attach */
  bool supervised; /* a supervisor ends the job when a rank dies; false for a single process */
  pid_t pid;       /* of this process when it joined: a forked child of a client differs */
  struct tmb_places places; /* which rank is on which host */
  /* Ranks that share this machine's processors and memory, and which of them this one is: those of
   * the host, but all ranks where several hosts are pretended on one machine. */
  uint32_t here, here_index;
  /* [near_count] eventfds, non-blocking: writing to one wakes that rank from poll. NULL unless the
   * job has several hosts. The supervisor writes to them, too, when a fate changes. */
  int *bell_fd;
  const uint8_t *secret; /* [TMB_BOOT_SECRET_BYTES] of the job; NULL for a single process */
  struct tmb_ctl *ctl;   /* control block, NULL if not supervised */
  const struct tmb_bootstrap_ops *ops; /* how ranks exchange data and ends, bootstrap.h */
  int agent_fd;                        /* wakes the supervisor; -1: it needs no wake-up */
  uint32_t gathers;                    /* rounds with data so far */
  struct tmb_status *status;           /* page of this rank; never NULL in a rank */
  void (*idle)(void); /* called now and then while rounds wait for others; NULL: nothing */
  bool mpi_is_alone;  /* an MPI of this process is not part of the job; not reported yet */
};

#endif
