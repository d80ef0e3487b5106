/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about the machine and thin wrappers of system services: processors, memory, names, time,
 * limits.
 *
 * Owns: cached facts (page size, names, processor counts at first use).
 * Called by: boot, conduits, core, api, tools. Calls: base, libc, /proc, /sys.
 * Invariants: nothing here ends the process; an unknown fact is 0 or an empty string, and never a
 * guess unless the comment says so. All functions are safe for any thread.
 */
#ifndef TMB_OS_OS_H
#define TMB_OS_OS_H

#include "base/compiler.h"

#include <stdbool.h>
#include <sys/types.h>

/* ---- processors */

/*
 * Processors that this process may use: its affinity mask, lowered by a cgroup's CPU quota (rounded
 * up). Read anew at each call; >= 1. Cost: a few system calls.
 */
int tmb_os_cpus_usable(void);

/* Processors in the calling thread's affinity mask; 0: it cannot be read. Cost: a system call. */
int tmb_os_cpus_mask(void);

/* Processors that are online in the machine; >= 1. */
int tmb_os_cpus_online(void);

/* CPU quota of the cgroups above this process in processors, 0 if there is none. */
double tmb_os_cpu_quota(void);

/*
 * Bind the calling thread to the index-th (modulo their number) processor of the mask that it may
 * use. Returns 0 or TMB_E_SYS with errno set.
 */
int tmb_os_bind_cpu(int index);

/*
 * Bit i % 8 of byte i / 8 says whether the calling thread may use processor i.
 * out bits: [bytes]; processors beyond are left out, all 0 if the mask cannot be read.
 */
void tmb_os_cpu_bits(uint8_t *bits, size_t bytes);

/*
 * A number of the kernel that runs this process: all its containers and namespaces share it, and
 * another machine has another one, as a rule. 0: not known. Cost: reads a file.
 */
uint64_t tmb_os_kernel(void);

/* Threads of this process; 0: not known. Cost: a system call. */
uint32_t tmb_os_threads(void);

/* So many more of them are ours or a plug-in's: they set no other thread's mask. Not thread-safe.
 */
void tmb_os_threads_ours(uint32_t more);

/*
 * Move the calling thread to another processor of its mask, which stays as it is; the kernel may
 * move it again. Not in a process with other threads than ours, of which one may be setting this
 * one's mask. Returns 0, or TMB_E_SYS if there is no other; TMB_E_STATE if somebody set the mask
 * meanwhile. Cost: six system calls and a migration.
 */
int tmb_os_cpu_next(void);

/*
 * Move the calling thread to the index-th (modulo their number) processor of its mask, as
 * tmb_os_cpu_next; no more than two system calls if the thread is there already. Returns 0, or
 * TMB_E_SYS if the mask has one processor only.
 */
int tmb_os_cpu_visit(int index);

/* Number of the processor that runs the caller now; 0 if unknown. */
int tmb_os_cpu_current(void);

/* Arrangement of the processors; fields are 0 where /sys does not say. */
struct tmb_os_topology {
  int online, usable;   /* processors, as the functions above */
  int sockets, cores;   /* among the online processors */
  int threads_per_core; /* most hardware threads of one core */
  int numa_nodes;       /* memory nodes with processors or memory */
  uint64_t l1d, l2, l3; /* cache sizes in bytes of processor 0 */
  int cache_line;       /* bytes */
  char model[96];       /* processor's name, "" if unknown */
};
void tmb_os_topology(struct tmb_os_topology *out);

/* Size in bytes of the last cache of processor 0, 0 if unknown. out sharers: processors that share
 * it, at least 1. Cost: reads some files. */
uint64_t tmb_os_last_cache(uint32_t *sharers);

/* ---- memory */

/* Bytes of one page of ordinary memory: a power of two. */
size_t tmb_os_page_size(void);

/* Bytes of a processor's second cache; 0: unknown. */
size_t tmb_os_l2_bytes(void);

/* Have the pages of mapped memory, as if each were written, but its contents stay. Does nothing
 * where memory is short, or the kernel older than 5.14. Cost: a system call, about 0.3 us a page.
 */
void tmb_os_mem_touch(void *at, size_t bytes);

/* Copy past the caches: the lines of `to` are written to memory and not read before. For blocks
 * that would not stay in a cache, and for lines that another processor has read, where that was
 * measured to be faster; else an ordinary copy is. */
void tmb_os_copy_past(void *to, const void *from, size_t bytes);

/* Leave mapped memory out of core dumps, for which the kernel would fill each page of shared
 * memory, also those that nobody has touched. TOMBOLO_CORE_SEGMENTS=1 keeps it in them. */
void tmb_os_mem_skip_core(void *at, size_t bytes);

/* Physical memory of the machine in bytes, 0 if unknown. */
uint64_t tmb_os_mem_total(void);

/* Memory that the kernel thinks available without swapping, in bytes, 0 if unknown. */
uint64_t tmb_os_mem_available(void);

/*
 * Most memory that this process may use: the least of physical memory, the cgroups' limits and
 * RLIMIT_AS, RLIMIT_DATA, RLIMIT_FSIZE (which bounds shared memory files).
 * out name: if not NULL, name of the binding limit: "physical memory", "cgroup memory limit
 * (PATH)", "RLIMIT_AS". The string stays valid until the calling thread asks again. Returns bytes;
 * UINT64_MAX if nothing limits. Cost: reads /proc and /sys.
 */
uint64_t tmb_os_mem_limit(const char **name);

/* Bytes that this process may still map under RLIMIT_AS; UINT64_MAX without a limit. */
uint64_t tmb_os_mem_mappable(void);

/* A count that grows when the kernel ends a process of our cgroups for want of memory. */
uint64_t tmb_os_oom_kills(void);

/* Whether this process may read and write [addr, addr + nbytes). Cost: reads /proc/self/maps. */
bool tmb_os_mem_writable(const void *addr, size_t nbytes);

struct tmb_os_limit {
  char name[160];
  uint64_t bytes; /* UINT64_MAX: unlimited */
};

/* All limits that tmb_os_mem_limit considers. out limits: [capacity]. Returns how many were filled.
 */
size_t tmb_os_mem_limits(struct tmb_os_limit *limits, size_t capacity);

/* ---- names */

/* This host's name in lower case; "" if unknown. Constant after the first call. */
const char *tmb_os_hostname(void);

/* Whether a name of a host is "localhost" or that of this host. */
bool tmb_os_is_this_host(const char *host);

/* Absolute path of the running executable; "" if unknown. Constant after the first call. */
const char *tmb_os_exe_name(void);

/* ---- time */

/* Nanoseconds of the monotonic clock; the origin is arbitrary but common to all processes of the
 * host. */
uint64_t tmb_os_now_ns(void);

/* Microseconds since 1970. */
uint64_t tmb_os_walltime_us(void);

/* Sleep. Returns 0, or -1 with errno EINTR if a signal ended the sleep early. 0 ns returns at once.
 */
int tmb_os_nsleep(uint64_t ns);

/* Give the processor to another thread that is ready to run. */
void tmb_os_yield(void);

/* ---- addresses */

/* Whether programs that this process executes get random addresses. True also if unknown. */
bool tmb_os_randomised(void);

/* Turn address randomisation on or off, for this process' next exec and its children. Returns 0,
 * or TMB_E_SYS with errno set where it is not allowed (seccomp). */
int tmb_os_randomise(bool on);

/* ---- processes */

/* Start of a process, in ticks since the machine started; 0 if there is none or /proc is not there.
 * With the number it names a process for ever. */
uint64_t tmb_os_start_time(pid_t pid);

/* A process as /proc shows it. */
struct tmb_os_process {
  char state;      /* R, S, D, T, t, Z, ... of proc(5) */
  uint64_t cpu_ns; /* processor time used by all its threads */
  uint64_t memory; /* bytes of its own and its part of shared ones; resident ones where that is not
                      known */
};

/* Read the state of a process. in memory: whether out->memory is wanted: that takes time in
 * proportion to the process's memory. Returns false if there is no such process. */
bool tmb_os_process(pid_t pid, bool memory, struct tmb_os_process *out);

/* ---- threads */

/* Most bytes of a thread's name, with the NUL. */
#define TMB_OS_THREAD_NAME 16

/* Names the calling thread; threads that it makes inherit the name. out old: the name before, or
 * NULL. */
void tmb_os_thread_name(char old[TMB_OS_THREAD_NAME], const char *name);

/* Threads of this process; where there are more, or /proc is not there, count is 0. */
#define TMB_OS_THREADS_MAX 64
struct tmb_os_threads {
  uint32_t count;
  pid_t id[TMB_OS_THREADS_MAX]; /* [count] */
};

/* The threads that this process has now. */
void tmb_os_threads_list(struct tmb_os_threads *out);

/* Whether a thread of this process runs besides the calling one, those of this name, and those of
 * the list; true where that is not known. */
bool tmb_os_threads_run(const char *but, const struct tmb_os_threads *but_these);

/* The parent of a process: another one than before after that has ended. 0: there is no such
 * process, or its parent is not in this process number space. */
pid_t tmb_os_parent(pid_t pid);

/* Open, for reading, the file with this inode number that a process has open; -1: none. */
int tmb_os_process_file(pid_t pid, uint64_t inode);

/* Names the space in which process numbers of this process are valid; 0 if unknown. */
uint64_t tmb_os_pid_space(void);

/*
 * Send a signal to a process that is not a child of ours: only if it started at `start_time`.
 * in sig: 0: only check. Returns 0, TMB_E_STATE if that process has ended, TMB_E_ARG for a start
 * time of 0, TMB_E_SYS if it may not be signalled.
 */
int tmb_os_signal_process(pid_t pid, uint64_t start_time, int sig);

/* Duplicates descriptor `number` of another process of this user, close-on-exec; -1 with errno set
 * where the system does not allow it. */
int tmb_os_borrow_fd(pid_t pid, int number);

/* Standard streams that are closed lead nowhere from now on, so that no file of ours takes their
 * numbers, and what the program prints. */
void tmb_os_open_streams(void);

/* Has `handler` run when the process ends by exit() or return from main, with the exit code; 0
 * where the C library does not report it (musl). One handler a process. Returns 0, or else an
 * error. */
int tmb_os_at_exit(void (*handler)(int code));

/* ---- limits of the process */

/* Limits of the cgroups above a process. To read them takes a dozen files. */
struct tmb_os_cgroup {
  uint64_t id;     /* a hash of the cgroups' names, 0: not known */
  uint64_t memory; /* bytes, UINT64_MAX: no limit */
  double quota;    /* processors, 0: no limit */
  char name[160];  /* of the limit of memory, as tmb_os_mem_limit gives it */
};

/* Read those of this process. */
void tmb_os_cgroup_read(struct tmb_os_cgroup *out);

/* Have tmb_os_cpu_quota and tmb_os_mem_limit give these limits, which another process has read, if
 * this process is in the same cgroups. Not thread-safe. Cost: reads a file. */
void tmb_os_cgroup_use(const struct tmb_os_cgroup *limits);

/*
 * Raise one resource limit (RLIMIT_*) as far as allowed, unless GASNET_MAXIMIZE_<desc> is 0.
 * in desc: the limit's name as in "RLIMIT_CORE" (also accepted without the prefix in the variable).
 * Returns true on success or if ordered not to.
 */
bool tmb_os_maximize_rlimit(int resource, const char *desc);

/* Most processes and threads that the cgroups above this process allow together with others in
 * them; UINT64_MAX: no such limit. in full: only cgroups in which there is no room now. out folder:
 * if not NULL, [bytes], the folder of the cgroup with that limit. */
uint64_t tmb_os_cgroup_pids(bool full, char *folder, size_t bytes);

/* The limit that has refused a process or a thread (EAGAIN), for a message: "process limit,
 * ...". out text: [bytes]. Returns text. */
char *tmb_os_processes_refused(char *text, size_t bytes);

/* Call tmb_os_maximize_rlimit for the limits that matter to large programs (AS, DATA, FSIZE,
 * NOFILE, RSS, STACK). Returns whether all succeeded. */
bool tmb_os_maximize_rlimits(void);

#endif
