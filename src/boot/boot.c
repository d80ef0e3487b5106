/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process start: join a launched job, start own peers, or be the only rank; and what ranks share
 * then.
 *
 * Owns: no process state. Called by core. Calls: launch, supervise, ctl, os, base.
 * Invariants: the launcher's variable is gone from the environment once this process is a rank, so
 * that programs it starts are jobs of their own; the descriptors of the job do not survive an exec.
 */
#define _GNU_SOURCE
#include "boot/boot.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/ctl.h"
#include "boot/launch.h"
#include "boot/supervise.h"
#include "os/coverage.h"
#include "os/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- a rank of a launched job */

/* What the launcher's variable says apart from rank, size and job. */
struct invitation {
  int supervisor, ctl_fd, arena_fd, segment_fd;
};

/* Reads the launcher's variable. Returns 0 or TMB_E_ARG after a message. */
static int parse_env(const char *text, struct tmb_boot *b, struct invitation *in) {
  int end = 0;
  const int fields =
      sscanf(text, "1:%" SCNu32 ":%" SCNu32 ":%" SCNx64 ":%d:%d:%d:%d%n", &b->rank, &b->size,
             &b->job_id, &in->supervisor, &in->ctl_fd, &in->arena_fd, &in->segment_fd, &end);
  if (fields == 7 && text[end] == '\0' && b->rank < b->size && b->size <= TMB_BOOT_RANKS_MAX)
    return TMB_OK;
  tmb_warn(
      "%s=\"%s\" was not set by this version of 'tombolo run'; unset it, or use the launcher of "
      "the library that the program is linked with",
      TMB_LAUNCH_ENV, text);
  return TMB_E_ARG;
}

/* Opens the supervisor's own descriptor anew, for when a wrapper has closed ours. */
static int reopen_fd(const struct invitation *in, int number) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", in->supervisor, number);
  return open(path, O_RDWR | O_CLOEXEC);
}

/* Maps the control block and finds the two other descriptors. Returns 0 or TMB_E_SYS. */
static int map_memory(struct tmb_boot *b, const struct invitation *in) {
  b->ctl = tmb_ctl_map(in->ctl_fd, b->size, b->job_id);
  b->arena_fd = in->arena_fd;
  b->segment_fd = in->segment_fd;
  if (b->ctl && tmb_memfd_bytes(b->arena_fd) >= 0 && tmb_memfd_bytes(b->segment_fd) >= 0) {
    close(in->ctl_fd);
    tmb_memfd_cloexec(b->arena_fd, true);
    tmb_memfd_cloexec(b->segment_fd, true);
    return TMB_OK;
  }
  const int ctl_fd = reopen_fd(in, in->ctl_fd);
  if (!b->ctl) b->ctl = tmb_ctl_map(ctl_fd, b->size, b->job_id);
  b->arena_fd = reopen_fd(in, in->arena_fd);
  b->segment_fd = reopen_fd(in, in->segment_fd);
  const int err = errno;
  if (ctl_fd >= 0) close(ctl_fd);
  if (b->ctl && b->arena_fd >= 0 && b->segment_fd >= 0) return TMB_OK;
  if (b->ctl) tmb_ctl_unmap(b->ctl);
  tmb_warn("rank %u cannot reach the job's shared memory (descriptors %d, %d, %d): %s; a program "
           "between 'tombolo run' and this one must not close inherited descriptors",
           b->rank, in->ctl_fd, in->arena_fd, in->segment_fd, strerror(err));
  return TMB_E_SYS;
}

/* Ranks name each other by process numbers: those of another space mean other processes. */
static int check_pid_space(struct tmb_boot *b) {
  const uint64_t ours = tmb_os_pid_space();
  if (!ours || !b->ctl->pid_space || ours == b->ctl->pid_space) return TMB_OK;
  if (tmb_fetch_add_rlx(&b->ctl->refusals, 1u) == 0)
    tmb_warn("rank %u runs in a process number space (container) of its own, where it cannot reach "
             "the others; start 'tombolo run' inside of the container",
             b->rank);
  return TMB_E_STATE;
}

/* Ties this process to its parent's life, also behind a wrapper such as a shell or a debugger. */
static int tie_to_supervisor(const struct tmb_ctl *ctl) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == ctl->supervisor_pid) return TMB_OK;
  if (kill(ctl->supervisor_pid, 0) == 0 || errno == EPERM) return TMB_OK;
  tmb_warn("the launcher (pid %d) that this program was started by is gone; start the program anew",
           (int)ctl->supervisor_pid);
  return TMB_E_STATE;
}

static int report_taken(const struct tmb_boot *b) {
  const uint32_t state = tmb_ctl_state(b->ctl, b->rank);
  if (TMB_RANK_STATE(state) == TMB_RANK_NEW || TMB_RANK_STATE(state) == TMB_RANK_TOLD)
    tmb_info("rank %u comes too late: the job is ending", b->rank);
  else
    tmb_warn("rank %u of this job was taken before by pid %d; start the second program with a "
             "'tombolo run' of its own",
             b->rank, (int)tmb_boot_peer_pid(b, b->rank));
  return TMB_E_STATE;
}

static int join_job(struct tmb_boot *b, const char *text) {
  struct invitation in;
  int rc = parse_env(text, b, &in);
  if (rc == TMB_OK) rc = map_memory(b, &in);
  if (rc) return rc;
  rc = check_pid_space(b);
  if (rc == TMB_OK) rc = tie_to_supervisor(b->ctl);
  if (rc == TMB_OK && tmb_ctl_join(b->ctl, b->rank, getpid()) != 0) rc = report_taken(b);
  if (rc) {
    tmb_ctl_unmap(b->ctl);
    return rc;
  }
  tmb_env_unset(TMB_LAUNCH_ENV);
  if (b->ctl->rank[b->rank].derandomised) tmb_os_randomise(true); /* for what this rank starts */
  if (b->ctl->line_buffered) setvbuf(stdout, NULL, _IOLBF, 0);
  b->supervised = true;
  return TMB_OK;
}

/* ---- no launcher */

static int be_alone(struct tmb_boot *b) {
  const bool avoid = tmb_env_get("TOMBOLO_BOOT_NO_MEMFD") != NULL;
  b->size = 1;
  b->job_id = (uint64_t)getpid();
  b->arena_fd = tmb_memfd_create("tombolo-arena", avoid);
  if (b->arena_fd < 0) return TMB_E_SYS;
  b->segment_fd = tmb_memfd_create("tombolo-segment", avoid);
  if (b->segment_fd >= 0) return TMB_OK;
  close(b->arena_fd);
  return TMB_E_SYS;
}

/* In a forked rank: the launch state is inherited, nothing has to be looked up. */
static int become_forked_rank(struct tmb_boot *b, struct tmb_launch *l, uint32_t rank) {
  b->rank = rank;
  b->size = l->size;
  b->job_id = l->ctl->job_id;
  b->ctl = l->ctl;
  b->arena_fd = l->arena_fd;
  b->segment_fd = l->segment_fd;
  b->supervised = true;
  close(l->ctl_fd);
  free(l->pids);
  return tmb_ctl_join(b->ctl, rank, getpid()) ? TMB_E_STATE : TMB_OK;
}

/* A setting that is not valid ends this process rather than each rank. */
static void check_settings(void) {
  char why[1024];
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++)
    if (tmb_cfg_check(id, why, sizeof why)) tmb_fatal_nopos("%s", why);
}

static int start_peers(struct tmb_boot *b, uint32_t size) {
  check_settings();
  const char *spawner = tmb_cfg_str(TMB_CFG_SMP_SPAWNER);
  if (spawner && strcmp(spawner, "fork") != 0) {
    tmb_warn(
        "GASNET_SMP_SPAWNER=%s is not available: a program can start its own ranks only by fork; "
        "unset it, or use 'tombolo run -n %u'",
        spawner, size);
    return TMB_E_UNSUPPORTED;
  }
  struct tmb_launch launch = {.size = size, .stdin_rank = 0};
  fflush(NULL);
  int rc = tmb_launch_open(&launch);
  if (rc) return rc;
  rc = tmb_launch_fork(&launch);
  if (rc == TMB_LAUNCH_PARENT) {
    struct tmb_supervise_options options = {0};
    const int code = tmb_supervise(&launch, &options);
    tmb_coverage_dump();
    _exit(code);
  }
  if (rc >= 0) return become_forked_rank(b, &launch, (uint32_t)rc);
  tmb_launch_close(&launch);
  return rc;
}

/* ---- interface */

int tmb_boot_start(struct tmb_boot *b) {
  memset(b, 0, sizeof *b);
  b->arena_fd = b->segment_fd = -1;
  const char *launched = tmb_env_get(TMB_LAUNCH_ENV);
  const int64_t nodes = launched ? 1 : tmb_cfg_int(TMB_CFG_PSHM_NODES);
  int rc;
  if (launched)
    rc = join_job(b, launched);
  else if (nodes > 1)
    rc = start_peers(b, (uint32_t)nodes);
  else
    rc = be_alone(b);
  if (rc)
    memset(b, 0, sizeof *b);
  else
    b->pid = getpid();
  return rc;
}

bool tmb_boot_barrier(struct tmb_boot *b) {
  return !b->ctl || tmb_ctl_barrier(b->ctl);
}

void tmb_boot_allgather(struct tmb_boot *b, const void *mine, size_t bytes, void *all) {
  tmb_assert_cmp(bytes, <=, TMB_BOOT_GATHER_BYTES_MAX);
  if (!b->ctl) {
    memcpy(all, mine, bytes);
    return;
  }
  /* Alternating slots: a slot is written again only after a barrier that all of its readers
   * reached. */
  const uint32_t slot = b->gathers++ & 1;
  memcpy(b->ctl->rank[b->rank].slot[slot], mine, bytes);
  if (!tmb_ctl_barrier(b->ctl)) {
    memset(all, 0, b->size * bytes);
    return;
  }
  for (uint32_t r = 0; r < b->size; r++)
    memcpy((char *)all + r * bytes, b->ctl->rank[r].slot[slot], bytes);
}

void tmb_boot_record_exit(struct tmb_boot *b, int code) {
  if (b->ctl && b->pid == getpid()) tmb_ctl_record_exit(b->ctl, b->rank, code);
}

void tmb_boot_note_told(struct tmb_boot *b) {
  if (b->ctl && b->pid == getpid()) tmb_store_rel(&b->ctl->rank[b->rank].told_why, 1u);
}

bool tmb_boot_told_to_end(const struct tmb_boot *b) {
  return b->ctl && TMB_RANK_STATE(tmb_ctl_state(b->ctl, b->rank)) == TMB_RANK_TOLD;
}

pid_t tmb_boot_peer_pid(const struct tmb_boot *b, uint32_t rank) {
  if (!b->ctl) return b->pid;
  return tmb_ctl_pid(b->ctl, rank);
}

void tmb_boot_report(struct tmb_boot *b, bool report, const struct tmb_boot_doors *doors) {
  if (!b->ctl) return;
  if (doors) {
    tmb_store_rlx(&b->ctl->door_offset, doors->offset);
    tmb_store_rlx(&b->ctl->door_stride, doors->stride);
  }
  tmb_store_rel(&b->ctl->rank[b->rank].report, (uint32_t)report);
}

const uint32_t *tmb_boot_changes(const struct tmb_boot *b) {
  static const uint32_t never;
  return b->ctl ? &b->ctl->changes : &never;
}

uint32_t tmb_boot_fate(const struct tmb_boot *b, uint32_t rank) {
  return b->ctl ? tmb_load_acq(&b->ctl->rank[rank].fate) : TMB_FATE(TMB_FATE_ALIVE, 0, 0);
}

void tmb_boot_stop(struct tmb_boot *b) {
  if (b->size == 0) return;
  if (b->ctl) tmb_ctl_unmap(b->ctl);
  close(b->arena_fd);
  close(b->segment_fd);
  memset(b, 0, sizeof *b);
}
