/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Joining a launched job: the launcher's variable, the descriptors that it names, the control
 * block.
 *
 * Owns: no process state. Called by tmb_boot_start. Calls: ctl, places, os, base. Invariants: the
 * launcher's variable is removed from the environment once this process is a rank, so that programs
 * it starts are jobs of their own; the descriptors of the job do not survive an exec.
 */
#define _GNU_SOURCE
#include "boot/meet/bootstrap.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/launch/invitation.h"
#include "boot/page/ctl.h"
#include "os/memory/memfd.h"
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

/* Reads the launcher's variable. Returns 0 or TMB_E_ARG after a message. */
static int parse_env(const char *text, struct tmb_boot *b, struct tmb_invitation *in) {
  if (tmb_invitation_read(text, in)) {
    b->rank = in->rank;
    b->size = in->size;
    b->job_id = in->job_id;
    return TMB_OK;
  }
  tmb_warn(
      "%s=\"%s\" was not set by this version of 'tombolo run'; unset it, or use the launcher of "
      "the library that the program is linked with",
      TMB_LAUNCH_ENV, text);
  return TMB_E_ARG;
}

/* Opens the supervisor's own descriptor anew, for when a wrapper has closed ours. */
static int reopen_fd(const struct tmb_invitation *in, int number) {
  char path[48];
  snprintf(path, sizeof path, "/proc/%d/fd/%d", in->supervisor, number);
  return open(path, O_RDWR | O_CLOEXEC);
}

/* Maps the control block and finds the two other descriptors. Returns 0 or TMB_E_SYS. */
static int map_memory(struct tmb_boot *b, const struct tmb_invitation *in) {
  b->ctl = tmb_ctl_map(in->ctl_fd, b->size, b->job_id);
  b->arena_fd = in->arena_fd;
  b->segment_fd = in->segment_fd;
  const bool refused = !b->ctl && errno == EPROTO;
  if (b->ctl && tmb_memfd_bytes(b->arena_fd) >= 0 && tmb_memfd_bytes(b->segment_fd) >= 0) {
    close(in->ctl_fd);
    tmb_memfd_cloexec(b->arena_fd, true);
    tmb_memfd_cloexec(b->segment_fd, true);
    return TMB_OK;
  }
  const int ctl_fd = reopen_fd(in, in->ctl_fd);
  if (!b->ctl) b->ctl = tmb_ctl_map(ctl_fd, b->size, b->job_id);
  const bool other = refused || (!b->ctl && errno == EPROTO);
  b->arena_fd = reopen_fd(in, in->arena_fd);
  b->segment_fd = reopen_fd(in, in->segment_fd);
  const int err = errno;
  if (ctl_fd >= 0) close(ctl_fd);
  if (b->ctl && b->arena_fd >= 0 && b->segment_fd >= 0) return TMB_OK;
  if (b->ctl) tmb_ctl_unmap(b->ctl);
  if (other) {
    tmb_warn("rank %u: the launcher is of another version of the library; use the 'tombolo run' of "
             "the library that the program is linked with",
             b->rank);
    return TMB_E_SYS;
  }
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
  tmb_warn("the launcher (pid %d) that started this program has ended; start the program anew",
           (int)ctl->supervisor_pid);
  return TMB_E_STATE;
}

static int report_taken(const struct tmb_boot *b) {
  const uint32_t state = tmb_ctl_state(b->ctl, b->rank);
  if (TMB_RANK_STATE(state) == TMB_RANK_NEW || TMB_RANK_STATE(state) == TMB_RANK_ORDERED)
    tmb_info("rank %u comes too late: the job is ending", b->rank);
  else
    tmb_warn("rank %u of this job was taken before by pid %d; start the second program with a "
             "'tombolo run' of its own",
             b->rank, (int)tmb_ctl_pid(b->ctl, b->rank));
  return TMB_E_STATE;
}

/* ---- bells */

static bool is_bell(int fd) {
  char path[48], kind[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(path, kind, sizeof kind - 1);
  if (n < 0) return fcntl(fd, F_GETFD) >= 0; /* no /proc: believe the launcher */
  kind[n] = '\0';
  return strcmp(kind, "anon_inode:[eventfd]") == 0;
}

/* An eventfd of the supervisor, inherited, or fetched from it when a wrapper has closed ours. */
static int take_bell(const struct tmb_boot *b, int number) {
  if (is_bell(number)) return tmb_memfd_cloexec(number, true) ? -1 : number;
  const int fd = tmb_os_borrow_fd(b->ctl->supervisor_pid, number);
  if (fd < 0)
    tmb_warn("rank %u cannot reach a doorbell of the job (descriptor %d): %s; a program between "
             "'tombolo "
             "run' and this one must not close inherited descriptors",
             b->rank, number, strerror(errno));
  return fd;
}

static int take_bells(struct tmb_boot *b) {
  const struct tmb_places *p = &b->places;
  b->bell_fd = calloc(p->near_count, sizeof *b->bell_fd);
  if (!b->bell_fd) return TMB_E_NOMEM;
  for (uint32_t i = 0; i < p->near_count; i++)
    if ((b->bell_fd[i] = take_bell(b, tmb_ctl_rank(b->ctl, p->near_rank[i])->bell_fd)) < 0)
      return TMB_E_SYS;
  return TMB_OK;
}

static int take_agent(struct tmb_boot *b) {
  if (b->ctl->agent_fd < 0) return TMB_OK;
  b->agent_fd = take_bell(b, b->ctl->agent_fd);
  return b->agent_fd < 0 ? TMB_E_SYS : TMB_OK;
}

int tmb_boot_settle(struct tmb_boot *b) {
  b->ops = &tmb_bootstrap_agent;
  b->secret = b->ctl->secret;
  b->here = b->ctl->here;
  b->here_index = tmb_ctl_record_of(b->ctl)[b->rank];
  b->supervised = true;
  tmb_os_cgroup_use(&b->ctl->cgroup);
  int rc = tmb_places_open(&b->places, b->rank, b->size, tmb_ctl_host_of(b->ctl));
  if (!rc && b->places.hosts > 1) rc = take_bells(b);
  if (!rc) rc = take_agent(b);
  if (rc == TMB_E_NOMEM) tmb_print("out of memory for the places of %u ranks", b->size);
  return rc;
}

/* ---- joining */

static int check_in(struct tmb_boot *b) {
  int rc = check_pid_space(b);
  if (rc == TMB_OK) rc = tie_to_supervisor(b->ctl);
  if (rc == TMB_OK && tmb_ctl_record_of(b->ctl)[b->rank] == TMB_CTL_ELSEWHERE) {
    tmb_warn(
        "rank %u belongs to another machine; start the program with a 'tombolo run' of its own",
        b->rank);
    rc = TMB_E_STATE;
  }
  if (rc == TMB_OK) rc = tmb_boot_settle(b);
  if (rc == TMB_OK && tmb_ctl_join(b->ctl, b->rank, getpid()) != 0) rc = report_taken(b);
  return rc;
}

int tmb_boot_join(struct tmb_boot *b, const char *text) {
  struct tmb_invitation in;
  int rc = parse_env(text, b, &in);
  if (rc == TMB_OK) rc = map_memory(b, &in);
  if (rc) return rc;
  rc = check_in(b);
  if (rc) {
    tmb_places_close(&b->places);
    free(b->bell_fd);
    tmb_ctl_unmap(b->ctl);
    return rc;
  }
  tmb_env_unset(TMB_LAUNCH_ENV);
  if (tmb_ctl_rank(b->ctl, b->rank)->derandomised)
    tmb_os_randomise(true); /* for programs that this rank starts */
  if (b->ctl->line_buffered) setvbuf(stdout, NULL, _IOLBF, 0);
  return TMB_OK;
}
