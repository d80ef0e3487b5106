/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control block: creation, mapping, state of ranks, and the start barrier.
 *
 * Owns: no process state. Called by launch, join, supervise, boot. Calls: os/memfd, os/futex, base.
 * The barrier is a central counter with a generation word that the waiters sleep on; with at most
 * 1024 ranks of one machine and a handful of rounds per job nothing better pays. Invariants:
 * `arrived` is reset before `generation` moves, so a rank of the next round finds it at 0.
 */
#define _GNU_SOURCE
#include "boot/page/ctl.h"

#include "base/atomic.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/trace.h"
#include "os/memory/memfd.h"
#include "os/os.h"
#include "os/sync/futex.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* Where each rank has a processor. Otherwise a yield runs another rank that waits; chosen. */
#define YIELDS_BEFORE_SLEEP   4
/* A loss wakes ranks that sleep; a rank that misses the wake-up sees the loss after this time. Of
 * many ranks the first ones wait while the last ones start, and each wake-up delays these. */
#define BARRIER_SLEEP_NS      UINT64_C(50000000)
#define BARRIER_SLEEP_RANK_NS UINT64_C(1000000) /* more, for each rank of this machine */
#define IDLE_NS               UINT64_C(1000000) /* between calls of `idle`; chosen */

_Static_assert(sizeof(struct tmb_ctl_rank) <= 64, "a rank's record must stay small");

/* Where the status pages begin. */
static size_t pages_at(uint32_t size, uint32_t here) {
  return TMB_ALIGN_UP(sizeof(struct tmb_ctl) + (size_t)here * sizeof(struct tmb_ctl_rank) +
                          (size_t)size *
                              (4 * sizeof(uint32_t) + TMB_CTL_HOST_BYTES + 2 * TMB_CTL_PART_BYTES),
                      (size_t)TMB_STATUS_BYTES);
}

size_t tmb_ctl_bytes(uint32_t size, uint32_t here, uint64_t trace_bytes) {
  return pages_at(size, here) + (size_t)here * (TMB_STATUS_BYTES + (size_t)trace_bytes);
}

struct tmb_trace_area *tmb_ctl_trace(const struct tmb_ctl *ctl, uint32_t rank) {
  char *const base = (char *)(uintptr_t)ctl;
  const uint32_t record = tmb_ctl_record_of(ctl)[rank];
  if (!ctl->trace_bytes || record == TMB_CTL_ELSEWHERE) return NULL;
  return (struct tmb_trace_area *)(void *)(base + tmb_ctl_bytes(ctl->size, ctl->here, 0) +
                                           record * ctl->trace_bytes);
}

struct tmb_status *tmb_ctl_status(const struct tmb_ctl *ctl, uint32_t rank) {
  char *const base = (char *)(uintptr_t)ctl;
  return (struct tmb_status *)(void *)(base + pages_at(ctl->size, ctl->here) +
                                       (size_t)tmb_ctl_record_of(ctl)[rank] * TMB_STATUS_BYTES);
}

/* Different for every job, also without a source of randomness. */
static uint64_t new_job_id(void) {
  uint64_t id = 0;
  if (getrandom(&id, sizeof id, GRND_NONBLOCK) == (ssize_t)sizeof id && id) return id;
  return (tmb_os_now_ns() << 20 ^ (uint64_t)getpid()) | 1;
}

static void new_secret(uint8_t *secret) {
  size_t got = 0;
  while (got < TMB_CTL_SECRET_BYTES) {
    const ssize_t n = getrandom(secret + got, TMB_CTL_SECRET_BYTES - got, 0);
    if (n > 0)
      got += (size_t)n;
    else if (errno != EINTR)
      tmb_fatal_nopos("cannot make a secret for the job: getrandom: %s", strerror(errno));
  }
}

void tmb_ctl_new_identity(uint64_t *job_id, uint8_t *secret) {
  *job_id = new_job_id();
  new_secret(secret);
}

static struct tmb_ctl *map_fd(int fd, size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? NULL : at;
}

static bool is_here(const struct tmb_ctl_job *job, uint32_t rank) {
  return job->only_host == TMB_CTL_ALL_HOSTS || !job->host_of ||
         job->host_of[rank] == job->only_host;
}

static void place_ranks(struct tmb_ctl *ctl, const struct tmb_ctl_job *job) {
  uint32_t next = 0;
  for (uint32_t r = 0; r < job->size; r++) {
    tmb_ctl_host_of(ctl)[r] = job->host_of ? job->host_of[r] : 0;
    tmb_ctl_record_of(ctl)[r] = is_here(job, r) ? next++ : TMB_CTL_ELSEWHERE;
  }
  for (uint32_t i = 0; i < ctl->here; i++) ctl->rank[i].bell_fd = -1;
}

/* Names as the user gave them, without the account; pretended hosts are this machine with a number.
 */
static void name_hosts(struct tmb_ctl *ctl, const struct tmb_ctl_job *job) {
  for (uint32_t h = 0; h < ctl->hosts; h++) {
    char *name = tmb_ctl_host_name(ctl, h);
    const char *given = job->host_name ? job->host_name[h] : tmb_os_hostname();
    const char *account = strrchr(given, '@');
    if (job->host_name || ctl->hosts == 1)
      snprintf(name, TMB_CTL_HOST_BYTES, "%s", account ? account + 1 : given);
    else
      snprintf(name, TMB_CTL_HOST_BYTES, "%.50s/%u", given, h);
  }
}

/* The time of the first rank holds for all ranks of a host. */
static void open_traces(struct tmb_ctl *ctl, const struct tmb_ctl_job *job) {
  const struct tmb_trace_area *first = NULL;
  for (uint32_t r = 0; r < job->size; r++) {
    if (!is_here(job, r)) continue;
    struct tmb_trace_area *area = tmb_ctl_trace(ctl, r);
    tmb_trace_open(area, job->trace_bytes, first);
    first = area;
  }
}

int tmb_ctl_create(const struct tmb_ctl_job *job, bool avoid_memfd, int *fd_out,
                   struct tmb_ctl **ctl_out) {
  const int fd = tmb_memfd_create("tombolo-ctl", avoid_memfd);
  if (fd < 0) return fd;
  char why[TMB_MEMFD_WHY_BYTES];
  uint32_t here = 0;
  for (uint32_t r = 0; r < job->size; r++) here += is_here(job, r);
  const size_t bytes = tmb_ctl_bytes(job->size, here, job->trace_bytes);
  int rc = tmb_memfd_resize(fd, bytes, why, sizeof why);
  if (rc) {
    tmb_print("cannot start %u ranks: %s", here, why);
    goto fail_close;
  }
  struct tmb_ctl *ctl = map_fd(fd, bytes);
  if (!ctl) {
    tmb_print("cannot start %u ranks: mapping %zu bytes of shared memory: %s (see ulimit -v)", here,
              bytes, strerror(errno));
    rc = TMB_E_SYS;
    goto fail_close;
  }
  ctl->magic = TMB_CTL_MAGIC;
  tmb_ctl_new_identity(&ctl->job_id, ctl->secret);
  ctl->start_ns = tmb_os_now_ns();
  ctl->size = job->size;
  ctl->here = here;
  ctl->hosts = TMB_MIN(TMB_MAX(job->hosts, 1u), job->size);
  ctl->agent_fd = -1;
  ctl->yields = here <= (uint32_t)tmb_os_cpus_usable() ? YIELDS_BEFORE_SLEEP : 0;
  ctl->supervisor_pid = (int32_t)getpid();
  ctl->pid_space = tmb_os_pid_space();
  tmb_os_cgroup_read(&ctl->cgroup);
  ctl->trace_bytes = job->trace_bytes;
  place_ranks(ctl, job);
  name_hosts(ctl, job);
  if (job->trace_bytes) open_traces(ctl, job);
  *fd_out = fd;
  *ctl_out = ctl;
  return TMB_OK;
fail_close:
  close(fd);
  return rc;
}

/* Magic and job_id, which lie at this place in all versions. */
static bool read_head(int fd, uint64_t head[2]) {
  return pread(fd, head, 2 * sizeof head[0], 0) == (ssize_t)(2 * sizeof head[0]) &&
         head[0] >> 16 == TMB_CTL_MAGIC >> 16;
}

bool tmb_ctl_is_of_other_version(int fd) {
  uint64_t head[2];
  return read_head(fd, head) && head[0] != TMB_CTL_MAGIC;
}

struct tmb_ctl *tmb_ctl_map(int fd, uint32_t size, uint64_t job_id) {
  const int64_t bytes = tmb_memfd_bytes(fd);
  if (bytes < 0) return NULL; /* errno says why */
  uint64_t head[2];
  const int refusal = read_head(fd, head) && head[1] == job_id ? EPROTO : EINVAL;
  errno = refusal;
  if (size == 0 || size > TMB_BOOT_RANKS_MAX || (uint64_t)bytes < tmb_ctl_bytes(size, 0, 0))
    return NULL;
  struct tmb_ctl *ctl = map_fd(fd, (size_t)bytes);
  if (!ctl) return NULL;
  if (ctl->magic == TMB_CTL_MAGIC && ctl->size == size && ctl->job_id == job_id &&
      (uint64_t)bytes == tmb_ctl_bytes(size, ctl->here, ctl->trace_bytes))
    return ctl;
  munmap(ctl, (size_t)bytes);
  errno = refusal;
  return NULL;
}

void tmb_ctl_unmap(struct tmb_ctl *ctl) {
  munmap(ctl, tmb_ctl_bytes(ctl->size, ctl->here, ctl->trace_bytes));
}

/* A child of the supervisor keeps its number until it is reaped; behind a wrapper it may be another
 * process's later, and in a container within the job it says nothing outside. */
static uint64_t own_start_time(const struct tmb_ctl *ctl, pid_t pid) {
  if (getppid() == ctl->supervisor_pid || tmb_os_pid_space() != ctl->pid_space) return 0;
  return tmb_os_start_time(pid);
}

int tmb_ctl_join(struct tmb_ctl *ctl, uint32_t rank, pid_t pid) {
  struct tmb_ctl_rank *r = tmb_ctl_rank(ctl, rank);
  uint32_t expected = TMB_RANK_NEW;
  if (tmb_load_acq(&ctl->ending)) {
    (void)tmb_ctl_order_end(
        ctl, rank); /* mark it as asked to end, so that its end does not count as its own */
    return TMB_E_STATE;
  }
  if (!tmb_cas_acq_rel(&r->state, &expected, (uint32_t)TMB_RANK_JOINED)) return TMB_E_STATE;
  r->start_time = own_start_time(ctl, pid);
  tmb_store_rel(&r->pid, (int32_t)pid);
  tmb_fetch_add_acq_rel(&ctl->ranks_joined, 1u);
  return TMB_OK;
}

bool tmb_ctl_record_exit(struct tmb_ctl *ctl, uint32_t rank, int code) {
  const uint32_t exiting = TMB_RANK_EXITING | ((uint32_t)code & 0xff) << 8;
  uint32_t word = tmb_load_acq(&tmb_ctl_rank(ctl, rank)->state);
  while (TMB_RANK_STATE(word) == TMB_RANK_NEW || TMB_RANK_STATE(word) == TMB_RANK_JOINED)
    if (tmb_cas_acq_rel(&tmb_ctl_rank(ctl, rank)->state, &word, exiting)) return true;
  return false;
}

uint32_t tmb_ctl_order_end(struct tmb_ctl *ctl, uint32_t rank) {
  uint32_t word = tmb_load_acq(&tmb_ctl_rank(ctl, rank)->state);
  while (TMB_RANK_STATE(word) == TMB_RANK_NEW || TMB_RANK_STATE(word) == TMB_RANK_JOINED)
    if (tmb_cas_acq_rel(&tmb_ctl_rank(ctl, rank)->state, &word, (uint32_t)TMB_RANK_ORDERED))
      return word;
  return word;
}

void tmb_ctl_end(struct tmb_ctl *ctl) {
  tmb_store_rel(&ctl->ending, 1u);
}

uint32_t tmb_ctl_state(const struct tmb_ctl *ctl, uint32_t rank) {
  return tmb_load_acq(&tmb_ctl_rank(ctl, rank)->state);
}

uint32_t tmb_ctl_joined(const struct tmb_ctl *ctl) {
  return tmb_load_acq(&ctl->ranks_joined);
}

pid_t tmb_ctl_pid(const struct tmb_ctl *ctl, uint32_t rank) {
  return (pid_t)tmb_load_acq(&tmb_ctl_rank(ctl, rank)->pid);
}

int tmb_ctl_signal(const struct tmb_ctl *ctl, uint32_t rank, int sig) {
  const pid_t pid = tmb_ctl_pid(ctl, rank);
  return tmb_os_signal_process(pid, tmb_ctl_rank(ctl, rank)->start_time, sig);
}

void tmb_ctl_ring(int fd) {
  const uint64_t one = 1;
  if (fd >= 0 && write(fd, &one, sizeof one) < 0) return; /* full: it has been rung */
}

void tmb_ctl_complete(struct tmb_ctl *ctl) {
  tmb_store_rlx(&ctl->arrived, 0u);
  tmb_fetch_add_rel(&ctl->generation, 1u);
  (void)tmb_futex_wake(&ctl->generation, INT_MAX);
}

/* The last rank of this machine has arrived. Returns whether the round is complete. */
static bool all_here(struct tmb_ctl *ctl, const struct tmb_ctl_round *round) {
  if (round->agent_fd < 0) {
    tmb_ctl_complete(ctl);
    return true;
  }
  ctl->part_bytes = round->part_bytes;
  ctl->part_slot = round->part_slot;
  tmb_fetch_add_rel(&ctl->asked, 1u);
  tmb_ctl_ring(round->agent_fd);
  return false;
}

bool tmb_ctl_barrier(struct tmb_ctl *ctl, const struct tmb_ctl_round *round) {
  const uint32_t generation = tmb_load_acq(&ctl->generation);
  if (tmb_load_acq(&ctl->losses)) return false;
  if (tmb_fetch_add_acq_rel(&ctl->arrived, 1u) + 1 == ctl->here && all_here(ctl, round))
    return true;
  for (uint32_t i = 0; i < ctl->yields; i++) {
    if (tmb_load_acq(&ctl->generation) != generation) break;
    sched_yield();
  }
  const uint64_t sleep_ns = BARRIER_SLEEP_NS + ctl->here * BARRIER_SLEEP_RANK_NS;
  while (tmb_load_acq(&ctl->generation) == generation) {
    if (tmb_load_acq(&ctl->losses)) return tmb_load_acq(&ctl->generation) != generation;
    if (round->idle) round->idle();
    (void)tmb_futex_wait(&ctl->generation, generation, round->idle ? IDLE_NS : sleep_ns);
  }
  return true;
}

/* ---- lost ranks while the job goes on */

bool tmb_ctl_reports(const struct tmb_ctl *ctl) {
  for (uint32_t r = 0; r < ctl->size; r++)
    if (tmb_ctl_record_of(ctl)[r] != TMB_CTL_ELSEWHERE &&
        !TMB_FATE_IS_LOST(tmb_load_rlx(&tmb_ctl_fate(ctl)[r])) &&
        !tmb_load_acq(&tmb_ctl_rank(ctl, r)->report))
      return false;
  return true;
}

bool tmb_ctl_set_fate(struct tmb_ctl *ctl, uint32_t rank, uint32_t fate) {
  uint32_t *word = &tmb_ctl_fate(ctl)[rank];
  const uint32_t before = tmb_load_rlx(word);
  if (TMB_FATE_IS_LOST(before) || before == fate) return false;
  tmb_store_rel(word, fate);
  if (TMB_FATE_IS_LOST(fate)) tmb_fetch_add_rel(&ctl->losses, 1u);
  tmb_fetch_add_rel(&ctl->changes, 1u);
  if (TMB_FATE_IS_LOST(fate)) (void)tmb_futex_wake(&ctl->generation, INT_MAX);
  return true;
}

/* Rings the doorbells of the ranks that sleep on a futex. */
static void wake_doors(const struct tmb_ctl *ctl, uint32_t count, int arena_fd) {
  const uint64_t offset = ctl->door_offset, stride = ctl->door_stride;
  if (!stride || !count) return;
  const size_t bytes = (size_t)(offset + stride * count);
  char *arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena_fd, 0);
  if (arena == MAP_FAILED) {
    tmb_warn("cannot wake ranks that sleep: mapping %zu bytes: %s", bytes, strerror(errno));
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    uint32_t *bell = (uint32_t *)(void *)(arena + offset + i * stride);
    tmb_fetch_add_acq_rel(bell, 1u);
    (void)tmb_futex_wake(bell, INT_MAX);
  }
  munmap(arena, bytes);
}

void tmb_ctl_wake_host(const struct tmb_ctl *ctl, uint32_t host, int arena_fd) {
  uint32_t count = 0;
  for (uint32_t r = 0; r < ctl->size; r++) {
    if (tmb_ctl_host_of(ctl)[r] != host) continue;
    count++;
    tmb_ctl_ring(tmb_ctl_rank(ctl, r)->bell_fd);
  }
  wake_doors(ctl, count, arena_fd);
}

const char *tmb_boot_host_name(const struct tmb_boot *boot, uint32_t rank) {
  return boot->ctl ? tmb_ctl_host_name(boot->ctl, tmb_ctl_host_of(boot->ctl)[rank])
                   : tmb_os_hostname();
}
