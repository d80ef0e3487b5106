/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process start: join a launched job, start own peers, or be the only rank; and the calls of
 * boot.h, by the control block or through the table of the bootstrap.
 *
 * Owns: no process state. Called by core. Calls: bootstrap, join, launch, supervise, os, base.
 * Invariants: only ranks return from tmb_boot_start; every rank has a table.
 */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/explain/crashes.h"
#include "boot/launch/invitation.h"
#include "boot/launch/launch.h"
#include "boot/meet/bootstrap.h"
#include "boot/page/ctl.h"
#include "boot/pm/pm.h"
#include "boot/supervise/supervise.h"
#include "boot/trace/set.h"
#include "os/memory/memfd.h"
#include "os/os.h"
#include "os/process/coverage.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE_MS 3000 /* for the lines of a crashed process without a supervisor */

/* ---- no launcher */

static int be_alone(struct tmb_boot *b) {
  const bool avoid = tmb_env_get("TOMBOLO_BOOT_NO_MEMFD") != NULL;
  b->size = b->here = 1;
  b->ops = &tmb_bootstrap_alone;
  b->job_id = (uint64_t)getpid();
  if (tmb_places_open(&b->places, 0, 1, NULL)) return TMB_E_NOMEM;
  b->arena_fd = tmb_memfd_create("tombolo-arena", avoid);
  if (b->arena_fd < 0) return TMB_E_SYS;
  b->segment_fd = tmb_memfd_create("tombolo-segment", avoid);
  if (b->segment_fd >= 0) return TMB_OK;
  close(b->arena_fd);
  return TMB_E_SYS;
}

/* In a forked rank: the launch state is inherited, nothing has to be looked up. */
static int become_forked_rank(struct tmb_boot *b, struct tmb_launch *l, uint32_t rank) {
  const struct tmb_launch_host *host = &l->host[l->host_of ? l->host_of[rank] : 0];
  b->rank = rank;
  b->size = l->size;
  b->job_id = l->ctl->job_id;
  b->ctl = l->ctl;
  b->arena_fd = host->arena_fd;
  b->segment_fd = host->segment_fd;
  close(l->ctl_fd);
  free(l->pids);
  free(l->host);
  free(l->host_of);
  free(l->children_before);
  const int rc = tmb_boot_settle(b);
  if (rc) return rc;
  return tmb_ctl_join(b->ctl, rank, getpid()) ? TMB_E_STATE : TMB_OK;
}

/* A setting that is not valid ends this process rather than each rank. */
static void check_settings(void) {
  char why[1024];
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++)
    if (tmb_cfg_check(id, why, sizeof why)) tmb_wrong_setting("%s", why);
}

/* Words of GASNet. All ranks are on this machine, whatever starts them: they are forked. */
static bool spawner_known(const char *spawner) {
  static const char *const known[] = {"fork", "ssh", "mpi", "pmi"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(known); i++)
    if (strcmp(spawner, known[i]) == 0) return true;
  return false;
}

static int start_peers(struct tmb_boot *b, uint32_t size) {
  check_settings();
  const char *spawner = tmb_cfg_str(TMB_CFG_SMP_SPAWNER);
  if (spawner && !spawner_known(spawner)) {
    tmb_warn(
        "GASNET_SMP_SPAWNER=%s is not available: a program can start its own ranks only by fork; "
        "unset it, or use 'tombolo run -n %u'",
        spawner, size);
    return TMB_E_UNSUPPORTED;
  }
  struct tmb_launch launch = {.size = size, .stdin_rank = 0};
  fflush(NULL);
  int rc = tmb_launch_pretend(&launch);
  if (!rc) rc = tmb_launch_open(&launch);
  if (rc) return rc;
  rc = tmb_launch_fork(&launch);
  if (rc == TMB_LAUNCH_PARENT) {
    struct tmb_supervise_options options = {0};
    const int code = tmb_supervise(&launch, &options);
    tmb_trace_write_here(launch.ctl, NULL);
    tmb_coverage_dump();
    _exit(code);
  }
  if (rc >= 0) return become_forked_rank(b, &launch, (uint32_t)rc);
  tmb_launch_close(&launch);
  return rc;
}

/* Whether a process manager has started this process inside of a job of ours, or around it: its
 * ranks and ours cannot be distinguished. */
static bool two_launchers(const char *launched) {
  uint32_t rank, size, ours = 0;
  const char *who = tmb_pm_started_by(&rank, &size);
  if (!who) return false;
  (void)tmb_invitation_rank(launched, &ours);
  tmb_print(
      "this program was started by 'tombolo run' (rank %u) and by %s (rank %u of %u); use one "
      "of them, or set TOMBOLO_LAUNCHER=none to ignore the second one",
      ours, who, rank, size);
  return true;
}

void tmb_boot_warn_of_mpi(struct tmb_boot *b) {
  bool finalized;
  if (!b->mpi_is_alone || !tmb_pm_mpi_begun(&finalized) || finalized) return;
  b->mpi_is_alone = false;
  tmb_print("MPI was initialised in a job of 'tombolo run': each of the %u ranks is alone in its "
            "MPI_COMM_WORLD; to have MPI between them, start the program by the launcher of its "
            "MPI (mpirun.openmpi or mpiexec.hydra -n %u), which starts this library too",
            b->size, b->size);
}

/* ---- interface */

int tmb_boot_start(struct tmb_boot *b) {
  memset(b, 0, sizeof *b);
  b->arena_fd = b->segment_fd = b->agent_fd = -1;
  tmb_os_open_streams();
  const char *launched = tmb_env_get(TMB_LAUNCH_ENV);
  const int64_t nodes = launched ? 1 : tmb_cfg_int(TMB_CFG_PSHM_NODES);
  int rc;
  if (launched)
    rc = two_launchers(launched) ? TMB_E_STATE : tmb_boot_join(b, launched);
  else if ((rc = tmb_boot_manage(b)) != TMB_E_NOT_FOUND)
    ; /* mpirun, mpiexec or srun has started it, or cannot be used */
  else if (nodes > 1)
    rc = start_peers(b, (uint32_t)nodes);
  else
    rc = be_alone(b);
  if (rc == TMB_OK) {
    b->status = b->ctl ? tmb_ctl_status(b->ctl, b->rank) : calloc(1, TMB_STATUS_BYTES);
    b->pid = getpid();
    if (b->status) {
      b->mpi_is_alone = launched && !b->rank && b->size > 1;
      tmb_boot_warn_of_mpi(b);
      return TMB_OK;
    }
    tmb_warn("out of memory for a status of %zu bytes", sizeof *b->status);
    tmb_boot_stop(b);
    rc = TMB_E_NOMEM;
  }
  memset(b, 0, sizeof *b);
  return rc;
}

void tmb_boot_rouse(struct tmb_boot *b) {
  if (!b->ctl || b->agent_fd < 0 || b->ctl->pid_space != tmb_os_pid_space()) return;
  if (b->ctl->supervisor_pid > 0) (void)kill(b->ctl->supervisor_pid, SIGCONT);
}

void tmb_boot_condemn(struct tmb_boot *b, uint32_t rank) {
  if (!b->ctl || tmb_xchg_acq_rel(&tmb_ctl_condemned(b->ctl)[rank], 1u)) return;
  tmb_fetch_add_rel(&b->ctl->condemned, 1u);
  tmb_ctl_ring(b->agent_fd);
}

struct tmb_status *tmb_boot_status(const struct tmb_boot *b) {
  return b->status;
}

struct tmb_trace_area *tmb_boot_trace(const struct tmb_boot *b) {
  const uint64_t bytes = b->ctl ? 0 : tmb_trace_wanted();
  if (b->ctl) return tmb_ctl_trace(b->ctl, b->rank);
  if (!bytes || tmb_trace_check_file()) return NULL;
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) {
    tmb_warn("no trace: mapping %llu bytes: %s; set TOMBOLO_TRACE_EVENTS lower",
             (unsigned long long)bytes, strerror(errno));
    return NULL;
  }
  tmb_trace_open(at, bytes, NULL);
  return at;
}

/* Show on the status page that this rank enters a round, and that it has left it. */
static void show_round(const struct tmb_boot *b, bool begins) {
  if (begins) tmb_fetch_add_rlx(&b->status->boot_rounds, 1u);
  tmb_store_rlx(&b->status->boot_since_ns, begins ? tmb_os_now_ns() : 0);
}

bool tmb_boot_barrier(struct tmb_boot *b) {
  show_round(b, true);
  const bool passed = b->ops->barrier(b);
  show_round(b, false);
  return passed;
}

void tmb_boot_allgather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  bool good = true;
  show_round(b, true);
  if (bytes <= TMB_CTL_PART_BYTES) {
    good = b->ops->gather(b, mine, bytes, all);
  } else {
    char *piece = malloc((size_t)b->size * TMB_CTL_PART_BYTES);
    if (!piece) tmb_fatal("out of memory for the data of %u ranks", b->size);
    for (size_t at = 0; at < bytes && good; at += TMB_CTL_PART_BYTES) {
      const size_t n = TMB_MIN(bytes - at, (size_t)TMB_CTL_PART_BYTES);
      good = b->ops->gather(b, (const char *)mine + at, n, piece);
      for (uint32_t r = 0; r < b->size && good; r++)
        memcpy((char *)all + r * bytes + at, piece + r * n, n);
    }
    free(piece);
  }
  show_round(b, false);
  if (!good) memset(all, 0, b->size * bytes);
}

bool tmb_boot_is_rank(const struct tmb_boot *b) {
  return b->ops && b->pid == getpid();
}

int tmb_boot_record_exit(struct tmb_boot *b, int code) {
  if (!tmb_boot_is_rank(b)) return code;
  code = b->ops->record_exit(b, code);
  tmb_boot_rouse(b); /* a stopped agent would never see the end, and nothing would end it */
  return code;
}

void tmb_boot_note_handlers(struct tmb_boot *b) {
  if (tmb_boot_is_rank(b) && b->ops->note_handlers) b->ops->note_handlers(b);
}

void tmb_boot_set_idle(struct tmb_boot *b, void (*idle)(void)) {
  b->idle = idle;
}

void tmb_boot_note_explained(struct tmb_boot *b) {
  if (tmb_boot_is_rank(b) && b->ctl) tmb_store_rel(&tmb_ctl_rank(b->ctl, b->rank)->explained, 1u);
}

/* Nobody else is there to find lines, which needs memory, and this process may not ask for any: it
 * may have crashed in malloc. A child may try; the frames as they are say enough if it fails. */
static void explain_alone(const struct tmb_crash *crash) {
  const pid_t child = tmb_os_fork_in_handler();
  int status = 1;
  if (child == 0) {
    alarm(ALONE_MS / 1000 + 1); /* the signal's default action ends the child */
    tmb_log_set_rank(TMB_RANK_UNKNOWN);
    tmb_crash_print_alone(crash, ALONE_MS);
    _exit(0);
  }
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status != 0) tmb_os_crash_print(crash, STDERR_FILENO);
}

void tmb_boot_note_crash(struct tmb_boot *b, const void *context) {
  struct tmb_crash *crash = &((struct tmb_status_page *)b->status)->crash;
  if (!tmb_boot_is_rank(b)) return;
  tmb_os_crash_note(crash, context);
  if (!b->supervised) explain_alone(crash);
}

pid_t tmb_boot_peer_pid(const struct tmb_boot *b, uint32_t rank) {
  if (!b->ctl) return b->pid;
  return tmb_ctl_record_of(b->ctl)[rank] == TMB_CTL_ELSEWHERE ? 0 : tmb_ctl_pid(b->ctl, rank);
}

void tmb_boot_report(struct tmb_boot *b, bool report, const struct tmb_boot_doors *doors) {
  if (!b->ctl) return;
  if (doors) {
    tmb_store_rlx(&b->ctl->door_offset, doors->offset);
    tmb_store_rlx(&b->ctl->door_stride, doors->stride);
  }
  tmb_store_rel(&tmb_ctl_rank(b->ctl, b->rank)->report, (uint32_t)report);
  tmb_ctl_ring(b->agent_fd);
}

const uint32_t *tmb_boot_changes(const struct tmb_boot *b) {
  static const uint32_t never;
  return b->ctl ? &b->ctl->changes : &never;
}

uint32_t tmb_boot_fate(const struct tmb_boot *b, uint32_t rank) {
  return b->ctl ? tmb_load_acq(&tmb_ctl_fate(b->ctl)[rank]) : TMB_FATE(TMB_FATE_ALIVE, 0, 0);
}

void tmb_boot_stop(struct tmb_boot *b) {
  if (b->size == 0) return;
  for (uint32_t i = 0; b->bell_fd && i < b->places.near_count; i++) close(b->bell_fd[i]);
  if (b->agent_fd >= 0) close(b->agent_fd);
  free(b->bell_fd);
  tmb_places_close(&b->places);
  if (!b->ctl) free(b->status);
  if (b->ctl) tmb_ctl_unmap(b->ctl);
  if (b->ops->stop) b->ops->stop(b);
  close(b->arena_fd);
  close(b->segment_fd);
  memset(b, 0, sizeof *b);
}
