/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: memory, limits of processes, processors and the clock of this machine.
 *
 * Owns: the thresholds. Called by doctor.c. Calls: os, base/config, two short-lived processes.
 * Invariants: features are tried where possible (memory is made, another process's memory is read),
 * the rest is read from limits; nothing is left behind.
 */
#define _GNU_SOURCE 1 /* memfd_create */
#include "doctor/doctor.h"

#include "base/config.h"
#include "base/fmt.h"
#include "os/memory/memfd.h"
#include "os/memory/peer_copy.h"
#include "os/os.h"
#include "os/processor/ticks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEGMENTS_FEW_BYTES  (UINT64_C(64) << 20)
/* Below it a job does not start: two ranks need 8.4 MB for their messages. */
#define SEGMENTS_NONE_BYTES (UINT64_C(8) << 20)
#define LOCKED_FEW_BYTES    (UINT64_C(64) << 20)
#define FILES_FEW           1024 /* a job of some hundred ranks under one launcher */
#define FILES_LEAST         64
#define PROCESSES_FEW       1024
#define CLOCK_SLOW_NS       200.0
#define SHMEM_ENABLED       "/sys/kernel/mm/transparent_hugepage/shmem_enabled"

/* Bytes of the default segments of all ranks of a host. */
static uint64_t default_segments(const char **limited_by) {
  struct tmb_segsize size;
  const uint64_t limit = tmb_os_mem_limit(limited_by);
  if (tmb_fmt_parse_segsize(tmb_cfg_str(TMB_CFG_MAX_SEGSIZE), &size) != TMB_OK) return 0;
  return size.bytes ? size.bytes : (uint64_t)(size.fraction * (double)limit);
}

static void check_memfd(struct doctor *d) {
  const int fd = memfd_create("tombolo-doctor", MFD_CLOEXEC);
  if (fd >= 0) {
    close(fd);
    doctor_add(d, DOCTOR_OK, "shared memory", NULL,
               "memfd_create works; /dev/shm and its size do not matter");
    return;
  }
  const int error = errno, file = tmb_memfd_create("tombolo-doctor", true);
  if (file >= 0) close(file);
  if (file >= 0)
    doctor_add(d, DOCTOR_WARNING, "shared memory",
               "Allow memfd_create (a container's seccomp profile), or keep /dev/shm as large as "
               "all segments together.",
               "memfd_create: %s; ranks share a file without a name instead", strerror(error));
  else
    doctor_add(d, DOCTOR_ERROR, "shared memory",
               "Allow memfd_create, or name a writable folder by GASNET_TMPDIR.",
               "memfd_create: %s, and no folder for files works", strerror(error));
}

static void check_segment(struct doctor *d) {
  const char *limited_by;
  char why[TMB_MEMFD_WHY_BYTES] = "", text[TMB_FMT_BYTES];
  const uint64_t bytes = default_segments(&limited_by);
  const int fd = tmb_memfd_create("tombolo-doctor", false);
  const bool fits = fd >= 0 && tmb_memfd_resize(fd, bytes, why, sizeof why) == TMB_OK;
  if (fd >= 0) close(fd);
  tmb_fmt_bytes(bytes, text, sizeof text);
  if (!fits)
    doctor_add(d, DOCTOR_ERROR, "segments", "Set GASNET_MAX_SEGSIZE to less, or raise the limit.",
               "the default segments, %s, cannot be had: %s", text,
               *why ? why : "there is no shared memory");
  else if (bytes < SEGMENTS_FEW_BYTES)
    doctor_add(d, bytes < SEGMENTS_NONE_BYTES ? DOCTOR_ERROR : DOCTOR_WARNING, "segments",
               "Raise the limit (ulimit -f, -v, -d; memory of the container) or "
               "GASNET_MAX_SEGSIZE.",
               "all ranks of this host share only %s; %s bounds memory", text, limited_by);
  else
    doctor_add(d, DOCTOR_OK, "segments", NULL, "up to %s for the ranks of this host; %s bounds it",
               text, limited_by);
}

static void doctor_judge_locked(struct doctor *d, uint64_t hard) {
  char text[TMB_FMT_BYTES];
  if (hard == UINT64_MAX)
    doctor_add(d, DOCTOR_OK, "locked memory", NULL, "unlimited");
  else if (hard < LOCKED_FEW_BYTES)
    doctor_add(d, DOCTOR_WARNING, "locked memory",
               "Where segments are registered with an RDMA device (conduit ofi) or pinned for a "
               "GPU, set memlock to unlimited in /etc/security/limits.conf.",
               "at most %s (ulimit -H -l)", tmb_fmt_bytes(hard, text, sizeof text));
  else
    doctor_add(d, DOCTOR_OK, "locked memory", NULL, "at most %s",
               tmb_fmt_bytes(hard, text, sizeof text));
}

static void doctor_judge_files(struct doctor *d, uint64_t hard) {
  static const char remedy[] =
      "Raise it: ulimit -n 4096, or nofile in /etc/security/limits.conf; the launcher holds some "
      "descriptors for each rank.";
  if (hard == UINT64_MAX)
    doctor_add(d, DOCTOR_OK, "open files", NULL, "unlimited");
  else if (hard >= FILES_FEW)
    doctor_add(d, DOCTOR_OK, "open files", NULL, "at most %llu", (unsigned long long)hard);
  else
    doctor_add(d, hard < FILES_LEAST ? DOCTOR_ERROR : DOCTOR_WARNING, "open files", remedy,
               "at most %llu in a process", (unsigned long long)hard);
}

void doctor_judge_processes(struct doctor *d, uint64_t hard, const char *cgroup, int processors) {
  const char *remedy =
      cgroup
          ? "Raise pids.max there (docker run --pids-limit, the pod's limit, TasksMax of systemd); "
            "threads count, too."
          : "Raise it: ulimit -u 4096, or nproc in /etc/security/limits.conf; threads count, too.";
  const char *owner = cgroup ? "in the cgroup " : "of this user";
  if (!cgroup) cgroup = "";
  if (hard == UINT64_MAX)
    doctor_add(d, DOCTOR_OK, "processes", NULL, "unlimited");
  else if (hard >= PROCESSES_FEW)
    doctor_add(d, DOCTOR_OK, "processes", NULL, "at most %llu %s%s", (unsigned long long)hard,
               owner, cgroup);
  else
    doctor_add(d, hard < (uint64_t)processors + 2 ? DOCTOR_ERROR : DOCTOR_WARNING, "processes",
               remedy, "at most %llu %s%s, for %d processors", (unsigned long long)hard, owner,
               cgroup, processors);
}

static uint64_t hard_limit(__rlimit_resource_t resource) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_max;
}

static void check_processes(struct doctor *d) {
  char cgroup[PATH_MAX];
  const uint64_t user = hard_limit(RLIMIT_NPROC);
  const uint64_t most = tmb_os_cgroup_pids(false, cgroup, sizeof cgroup);
  const bool by_cgroup = most < UINT64_MAX && most <= user;
  doctor_judge_processes(d, by_cgroup ? most : user, by_cgroup ? cgroup : NULL,
                         tmb_os_cpus_usable());
}

void doctor_judge_processors(struct doctor *d, int processors, int online, double quota) {
  if (quota > 0 && quota < processors)
    doctor_add(d, DOCTOR_WARNING, "processors",
               "Start no more ranks than the quota allows, or raise it (docker --cpus, "
               "CPUQuota= of systemd).",
               "%d usable of %d, but a quota of cgroups allows %.2f at a time", processors, online,
               quota);
  else if (processors < online)
    doctor_add(d, DOCTOR_WARNING, "processors",
               "Start no more ranks than usable processors, or widen the mask (taskset, the job's "
               "reservation).",
               "%d usable of %d: an affinity mask or a quota takes the others away", processors,
               online);
  else
    doctor_add(d, DOCTOR_OK, "processors", NULL, "%d usable of %d, no quota", processors, online);
}

/* In a fork: whether the memory of process `pid` can be read here. */
static bool child_reads(int pid, const uint64_t *word) {
  const pid_t child = fork();
  int status = 1;
  if (child == 0) {
    uint64_t copy = 0;
    _exit(tmb_os_peer_read(pid, &copy, (uint64_t)(uintptr_t)word, sizeof copy) && copy == *word
              ? 0
              : 1);
  }
  if (child > 0 && waitpid(child, &status, 0) != child) status = 1;
  return child > 0 && status == 0;
}

/* Whether one rank can read another's memory: two processes of one parent try it. */
static bool ranks_read(void) {
  const uint64_t word = UINT64_C(0x746f6d626f6c6f21);
  int go[2], up[2];
  char byte;
  if (pipe(go) != 0) return false;
  if (pipe(up) != 0) {
    close(go[0]);
    close(go[1]);
    return false;
  }
  const pid_t child = fork();
  if (child == 0) {
    close(go[1]);
    close(up[0]);
    tmb_os_peer_allow();
    if (write(up[1], "", 1) == 1 && read(go[0], &byte, 1) < 0) _exit(1); /* until the parent ends */
    _exit(0);
  }
  close(go[0]);
  close(up[1]);
  const bool reads = child > 0 && read(up[0], &byte, 1) == 1 && child_reads(child, &word);
  close(go[1]);
  close(up[0]);
  if (child > 0) (void)waitpid(child, NULL, 0);
  return reads;
}

void doctor_judge_reading(struct doctor *d, bool reads, int scope) {
  if (reads)
    doctor_add(d, DOCTOR_OK, "cross-memory read", NULL,
               "a rank can read another's memory (process_vm_readv)");
  else if (scope > 1)
    doctor_add(d, DOCTOR_WARNING, "cross-memory read",
               "As root: sysctl kernel.yama.ptrace_scope=1. Without it long collectives copy "
               "twice.",
               "process_vm_readv is refused: kernel.yama.ptrace_scope is %d", scope);
  else
    doctor_add(d, DOCTOR_WARNING, "cross-memory read",
               "Allow it in the container (docker --cap-add SYS_PTRACE, or its seccomp profile). "
               "Without it long collectives copy twice.",
               "process_vm_readv is refused");
}

static int ptrace_scope(void) {
  int scope = -1;
  FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
  if (!file) return -1;
  if (fscanf(file, "%d", &scope) != 1) scope = -1;
  fclose(file);
  return scope;
}

void doctor_judge_huge_pages(struct doctor *d, const char *choice, bool wanted) {
  const bool given = strcmp(choice, "never") != 0 && strcmp(choice, "deny") != 0;
  if (given)
    doctor_add(d, DOCTOR_OK, "huge pages", NULL, "segments get them %s (shmem_enabled: %s)",
               wanted ? "as TOMBOLO_USE_HUGEPAGES asks" : "with TOMBOLO_USE_HUGEPAGES=1", choice);
  else if (wanted)
    doctor_add(
        d, DOCTOR_WARNING, "huge pages",
        "As root: echo advise > " SHMEM_ENABLED ". Random access to large segments gains most.",
        "TOMBOLO_USE_HUGEPAGES asks for them, but segments get none (shmem_enabled: %s)", choice);
  else
    doctor_add(d, DOCTOR_OK, "huge pages", NULL,
               "segments have pages of the usual size (shmem_enabled: %s)", choice);
}

/* The file has all choices, with the one in force in brackets. */
static void check_huge_pages(struct doctor *d) {
  char text[128] = "", choice[16] = "";
  FILE *file = fopen(SHMEM_ENABLED, "re");
  if (file && fgets(text, sizeof text, file)) {
    const char *begin = strchr(text, '[');
    if (begin) (void)sscanf(begin, "[%15[a-z_]]", choice);
  }
  if (file) fclose(file);
  if (*choice) doctor_judge_huge_pages(d, choice, tmb_cfg_bool(TMB_CFG_USE_HUGEPAGES));
}

void doctor_judge_clock(struct doctor *d, const char *source, double overhead_ns) {
  if (overhead_ns > CLOCK_SLOW_NS)
    doctor_add(d, DOCTOR_WARNING, "clock",
               "Let the kernel use the processor's counter (boot with clocksource=tsc, or ask the "
               "owner of the virtual machine).",
               "a reading takes %.0f ns (%s)", overhead_ns, source);
  else
    doctor_add(d, DOCTOR_OK, "clock", NULL, "a reading takes %.1f ns (%s)", overhead_ns, source);
}

void doctor_machine(struct doctor *d) {
  double granularity, overhead;
  tmb_os_ticks_native(); /* the calibration starts now */
  check_memfd(d);
  check_segment(d);
  check_huge_pages(d);
  doctor_judge_locked(d, hard_limit(RLIMIT_MEMLOCK));
  doctor_judge_files(d, hard_limit(RLIMIT_NOFILE));
  check_processes(d);
  doctor_judge_processors(d, tmb_os_cpus_usable(), tmb_os_cpus_online(), tmb_os_cpu_quota());
  doctor_judge_reading(d, ranks_read(), ptrace_scope());
  tmb_os_ticks_measure(&granularity, &overhead);
  doctor_judge_clock(d, tmb_os_ticks_source(), overhead);
}
