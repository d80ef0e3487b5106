/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the machine facts: processors, memory limits, names, clocks, ticks, resource
 * limits.
 *
 * Owns: nothing. Run by ctest. Calls: os/os.h, os/processor/ticks.h, os/sysfile.h.
 * Invariants: changes of the process (limits, affinity) are made in a child.
 */
#define _GNU_SOURCE

#include "base/capture_test.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/unit_test.h"
#include "os/os.h"
#include "os/processor/ticks.h"
#include "os/sysfile.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

static struct capture cap;

static void run_child(void (*fn)(void *), void *arg) {
  assert_int_equal(capture_run(&cap, fn, arg), 0);
  if (!capture_ended_well(&cap)) fail_msg("child failed: %s", cap.text);
}

TEST(counts_processors) {
  const int online = tmb_os_cpus_online(), usable = tmb_os_cpus_usable();
  assert_in_range(usable, 1, online);
  assert_cmp(tmb_os_cpu_quota(), >=, 0);
}

static void bind_and_count(void *arg) {
  (void)arg;
  cpu_set_t before, after;
  CHILD_CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
  const int count = CPU_COUNT(&before);
  CHILD_CHECK(tmb_os_bind_cpu(count - 1) == TMB_OK);
  CHILD_CHECK(sched_getaffinity(0, sizeof after, &after) == 0);
  CHILD_CHECK(CPU_COUNT(&after) == 1);
  CHILD_CHECK(CPU_ISSET(tmb_os_cpu_current(), &after));
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &before)) last--;
  CHILD_CHECK(CPU_ISSET(last, &after));
  CHILD_CHECK(tmb_os_cpus_usable() == 1);
  /* Indices wrap around, negative ones too. */
  CHILD_CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
  CHILD_CHECK(tmb_os_bind_cpu(-1) == TMB_OK);
  CHILD_CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_ISSET(last, &after));
}

TEST(binding_narrows_the_mask) {
  run_child(bind_and_count, NULL);
}

TEST(topology_is_consistent) {
  struct tmb_os_topology t;
  tmb_os_topology(&t);
  assert_cmp(t.online, >=, t.usable);
  assert_cmp(t.usable, >=, 1);
  if (t.cores) {
    assert_in_range(t.cores, t.sockets, t.online);
    assert_in_range(t.threads_per_core, 1, t.online);
    assert_cmp(t.cores * t.threads_per_core, >=, t.online);
  }
  if (t.cache_line) assert_true(TMB_IS_POW2(t.cache_line));
}

TEST(memory_is_known) {
  const uint64_t total = tmb_os_mem_total();
  assert_cmp(total, >, 16 << 20);
  assert_cmp(tmb_os_mem_available(), >, 0);
  assert_cmp(tmb_os_mem_available(), <=, total);
  assert_true(TMB_IS_POW2(tmb_os_page_size()));
  const char *name = NULL;
  const uint64_t limit = tmb_os_mem_limit(&name);
  assert_cmp(limit, >, 0);
  assert_cmp(limit, <=, total);
  assert_non_null(name);
  assert_true(*name);
  assert_int_equal(tmb_os_mem_limit(NULL), limit);
}

/* The pages are there, and data written before stay. A kernel before 5.14 leaves none. */
TEST(pages_are_touched) {
  enum { PAGES = 8 };
  const size_t page = tmb_os_page_size();
  unsigned char there[PAGES];
  char *const at =
      mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(at, MAP_FAILED);
  at[3 * page] = 7;
  tmb_os_mem_touch(at + 2 * page + 1, 2 * page);
  assert_int_equal(mincore(at, PAGES * page, there), 0);
  const bool older = !(there[2] & 1);
  for (int i = 0; i < PAGES; i++) assert_int_equal(there[i] & 1, older ? i == 3 : i >= 2 && i <= 4);
  assert_int_equal(at[3 * page], 7);
  munmap(at, PAGES * page);
}

struct limit_case {
  int resource;
  const char *name;
};

static void set_and_ask(void *arg) {
  const struct limit_case *c = arg;
  const struct rlimit limit = {64 << 20, 64 << 20};
  const char *name;
  CHILD_CHECK(setrlimit((__rlimit_resource_t)c->resource, &limit) == 0);
  CHILD_CHECK(tmb_os_mem_limit(&name) == 64 << 20);
  CHILD_CHECK(strcmp(name, c->name) == 0);
}

TEST(resource_limits_bind) {
  struct limit_case fsize = {RLIMIT_FSIZE, "RLIMIT_FSIZE"}, data = {RLIMIT_DATA, "RLIMIT_DATA"};
  run_child(set_and_ask, &fsize);
  run_child(set_and_ask, &data);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  struct limit_case as = {RLIMIT_AS, "RLIMIT_AS"}; /* sanitizers reserve terabytes */
  run_child(set_and_ask, &as);
#endif
}

static void maximize_in_child(void *arg) {
  (void)arg;
  struct rlimit limit;
  CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlim_t hard = limit.rlim_max;
  limit.rlim_cur = 64;
  CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  tmb_env_set("GASNET_MAXIMIZE_RLIMIT_NOFILE", "0");
  CHILD_CHECK(tmb_os_maximize_rlimit(RLIMIT_NOFILE, "RLIMIT_NOFILE"));
  CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 64);
  tmb_env_unset("GASNET_MAXIMIZE_RLIMIT_NOFILE");
  tmb_env_set("GASNET_MAXIMIZE_NOFILE", "no");
  CHILD_CHECK(tmb_os_maximize_rlimit(RLIMIT_NOFILE, "RLIMIT_NOFILE"));
  CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 64);
  tmb_env_unset("GASNET_MAXIMIZE_NOFILE");
  CHILD_CHECK(tmb_os_maximize_rlimits());
  CHILD_CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= hard);
  CHILD_CHECK(!tmb_os_maximize_rlimit(12345, "RLIMIT_NONE"));
}

TEST(limits_are_raised) {
  run_child(maximize_in_child, NULL);
}

TEST(names_are_known) {
  const char *host = tmb_os_hostname(), *exe = tmb_os_exe_name();
  assert_true(*host);
  for (const char *p = host; *p; p++)
    if (*p >= 'A' && *p <= 'Z') fail_msg("\"%s\" has a capital", host);
  assert_int_equal(exe[0], '/');
  assert_non_null(strstr(exe, "test"));
  assert_int_equal(access(exe, X_OK), 0);
}

TEST(clocks_run_forward) {
  uint64_t last = tmb_os_now_ns();
  for (int i = 0; i < 1000; i++) {
    const uint64_t now = tmb_os_now_ns();
    assert_cmp(now, >=, last);
    last = now;
  }
  const uint64_t wall_us = tmb_os_walltime_us();
  assert_cmp(wall_us / 1000000 - (uint64_t)time(NULL) + 1, <=, 2);
  const uint64_t begin = tmb_os_now_ns();
  assert_int_equal(tmb_os_nsleep(3000000), 0);
  assert_cmp(tmb_os_now_ns() - begin, >=, 3000000);
  assert_int_equal(tmb_os_nsleep(0), 0);
}

static void on_alarm(int sig) {
  (void)sig;
}

static void interrupted_sleep(void *arg) {
  (void)arg;
  const struct sigaction action = {.sa_handler = on_alarm};
  const struct itimerval soon = {.it_value = {0, 20000}};
  CHILD_CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  CHILD_CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  CHILD_CHECK(tmb_os_nsleep(30000000000ull) == -1);
  CHILD_CHECK(errno == EINTR);
}

TEST(a_signal_ends_a_sleep) {
  run_child(interrupted_sleep, NULL);
}

static void rate_from_setting(void *arg) {
  const char *const *env = arg;
  tmb_env_set("GASNET_TSC_RATE", env[0]);
  if (env[1]) tmb_env_set("GASNET_TSC_RATE_HARD_TOLERANCE", env[1]);
  printf("hz %.0f native %d\n", tmb_os_ticks_hz(), tmb_os_ticks_native());
}

TEST(given_rates_are_checked) {
  if (!tmb_os_ticks_native()) skip(); /* ticks are nanoseconds here */
  const char *const wrong[] = {"123456789", NULL};
  run_child(rate_from_setting, (void *)(uintptr_t)wrong);
  assert_non_null(strstr(cap.text, "hz 123456789"));
  assert_non_null(strstr(cap.text, "warning"));
  assert_non_null(strstr(cap.text, "GASNET_TSC_RATE=123456789"));
  const char *const fatal[] = {"123456789", "0.1"};
  assert_int_equal(capture_run(&cap, rate_from_setting, (void *)(uintptr_t)fatal), 0);
  assert_true(capture_died_of(&cap, SIGABRT));
  const char *const nonsense[] = {"fast", NULL};
  assert_int_equal(capture_run(&cap, rate_from_setting, (void *)(uintptr_t)nonsense), 0);
  assert_int_equal(WEXITSTATUS(cap.status), TMB_EXIT_SETTING);
  assert_non_null(strstr(cap.text, "\"fast\""));
}

/* Error of the tick clock against the monotonic clock over some milliseconds, as a fraction. */
static double tick_error(void) {
  const uint64_t ns0 = tmb_os_now_ns(), t0 = tmb_os_ticks_now();
  tmb_os_nsleep(50000000);
  const uint64_t t1 = tmb_os_ticks_now(), ns1 = tmb_os_now_ns();
  const double ticks_ns = (double)tmb_os_ticks_to_ns(t1 - t0), ns = (double)(ns1 - ns0);
  return ticks_ns > ns ? ticks_ns / ns - 1 : 1 - ticks_ns / ns;
}

TEST(ticks_follow_the_clock) {
  tmb_os_ticks_native();
  double best = 1;
  /* A preemption between the two readings spoils a round, but not three. */
  for (int i = 0; i < 3; i++) best = TMB_MIN(best, tick_error());
  assert_cmp(best, <, 0.001);
  assert_cmp(tmb_os_ticks_hz(), >, 1e6);
  assert_true(*tmb_os_ticks_source());
  double granularity, overhead;
  tmb_os_ticks_measure(&granularity, &overhead);
  assert_cmp(granularity, >, 0);
  assert_cmp(overhead, >, 0);
  assert_cmp(overhead, <, 1e5);
  /* Large values convert without overflow, as long as their nanoseconds fit. */
  const double scale = TMB_MIN(1, tmb_os_ticks_hz() / 1e9);
  const uint64_t many = (uint64_t)(scale * (double)(1ull << 62));
  const double big = (double)tmb_os_ticks_to_ns(many) * tmb_os_ticks_hz() / 1e9;
  assert_cmp(big, >, 0.99 * (double)many);
  assert_cmp(big, <, 1.01 * (double)many);
}

TEST(small_files_are_read) {
  char buf[8];
  uint64_t value;
  assert_int_equal(tmb_sysfile_read("/proc/nonexistent", buf, sizeof buf), -1);
  assert_string_equal(buf, "");
  assert_cmp(tmb_sysfile_read("/proc/self/comm", buf, sizeof buf), >, 0);
  assert_null(strchr(buf, '\n'));
  assert_int_equal(tmb_sysfile_read_u64("/proc/self/comm", &value), TMB_E_SYS);
  assert_int_equal(tmb_sysfile_read_u64("/proc/sys/kernel/pid_max", &value), TMB_OK);
  assert_cmp(value, >, 100);
  assert_int_equal(tmb_sysfile_read_kb("/proc/meminfo", "Nonsense:"), 0);
}

TEST(cgroup_walk_ends) {
  struct tmb_cgroup_walk walk;
  int steps = 0;
  for (bool more = tmb_cgroup_first(&walk, "memory"); more; more = tmb_cgroup_next(&walk)) {
    assert_int_equal(walk.dir[0], '/');
    assert_cmp(++steps, <, 100);
  }
}

/* Writes text to DIR/NAME. */
static void put_file(const char *dir, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", dir, name);
  FILE *file = fopen(path, "w");
  if (!file) fail_msg("cannot write %s", path);
  fputs(text, file);
  fclose(file);
}

/* A pretended hierarchy: ROOT/a/b with limits, and the two files of /proc that lead there. */
struct fake {
  char root[64], cgroup[96], mounts[96];
};

static void make_fake(struct fake *f, const char *cgroup_text, const char *mount_options) {
  char line[256], dir[128];
  snprintf(f->root, sizeof f->root, "/tmp/tmb-os-test-XXXXXX");
  assert_non_null(mkdtemp(f->root));
  snprintf(f->cgroup, sizeof f->cgroup, "%s/proc-cgroup", f->root);
  snprintf(f->mounts, sizeof f->mounts, "%s/proc-mounts", f->root);
  put_file(f->root, "proc-cgroup", cgroup_text);
  snprintf(line, sizeof line, "sys /sys sysfs rw 0 0\nx %s %s 0 0\n", f->root, mount_options);
  put_file(f->root, "proc-mounts", line);
  snprintf(dir, sizeof dir, "%s/a", f->root);
  assert_int_equal(mkdir(dir, 0700), 0);
  snprintf(dir, sizeof dir, "%s/a/b", f->root);
  assert_int_equal(mkdir(dir, 0700), 0);
}

static void remove_fake(const struct fake *f) {
  char command[128];
  snprintf(command, sizeof command, "rm -r '%s'", f->root);
  assert_int_equal(system(command), 0);
}

/* Files of a fake: name, text, and so on, NULL. The walk begins at its limits of memory. */
static void fill_fake(const struct fake *f, const char *const *files,
                      struct tmb_cgroup_walk *walk) {
  for (; *files; files += 2) put_file(f->root, files[0], files[1]);
  assert_true(tmb_cgroup_first_from(walk, "memory", f->cgroup, f->mounts));
}

TEST(cgroup_2_limits_are_read) {
  struct fake f;
  struct tmb_cgroup_walk walk;
  make_fake(&f, "0::/a/b\n", "cgroup2 rw");
  fill_fake(&f,
            (const char *const[]){
                "a/b/memory.max", "max\n", "a/memory.max", "123456\n", "a/b/memory.events",
                "low 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 7\n", "a/b/cpu.max",
                "150000 100000\n", "a/cpu.max", "max 100000\n", "a/b/pids.max", "max\n",
                "a/pids.max", "12\n", "a/pids.current", "11\n", NULL},
            &walk);
  assert_true(walk.v2);
  uint64_t now = 1;
  assert_int_equal(tmb_cgroup_pids_max(&walk, &now), UINT64_MAX);
  assert_int_equal(now, 0);
  assert_int_equal(tmb_cgroup_mem_limit(&walk), UINT64_MAX);
  assert_int_equal(tmb_cgroup_oom_kills(&walk), 2);
  assert_cmp(tmb_cgroup_cpu_quota(&walk), ==, 1.5);
  assert_true(tmb_cgroup_next(&walk));
  assert_int_equal(tmb_cgroup_mem_limit(&walk), 123456);
  assert_int_equal(tmb_cgroup_pids_max(&walk, &now), 12);
  assert_int_equal(now, 11);
  assert_int_equal(tmb_cgroup_cpu_quota(&walk), 0);
  assert_true(tmb_cgroup_next(&walk));
  assert_string_equal(walk.dir, f.root);
  assert_int_equal(tmb_cgroup_mem_limit(&walk), UINT64_MAX);
  assert_false(tmb_cgroup_next(&walk));
  remove_fake(&f);
}

TEST(cgroup_1_limits_are_read) {
  struct fake f;
  struct tmb_cgroup_walk walk;
  make_fake(&f, "0::/\n5:cpu,cpuacct:/a\n4:memory:/a/b\n", "cgroup rw,relatime,memory,cpu");
  fill_fake(&f,
            (const char *const[]){
                "a/b/memory.limit_in_bytes", "65536\n", "a/b/memory.oom_control",
                "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n", "a/memory.limit_in_bytes",
                "9223372036854771712\n", "a/cpu.cfs_quota_us", "-1\n", "a/cpu.cfs_period_us",
                "100000\n", "cpu.cfs_quota_us", "50000\n", "cpu.cfs_period_us", "100000\n", NULL},
            &walk);
  assert_false(walk.v2);
  assert_int_equal(tmb_cgroup_mem_limit(&walk), 65536);
  assert_int_equal(tmb_cgroup_oom_kills(&walk), 5);
  assert_true(tmb_cgroup_next(&walk));
  assert_int_equal(tmb_cgroup_mem_limit(&walk), UINT64_MAX);
  assert_true(tmb_cgroup_first_from(&walk, "cpu", f.cgroup, f.mounts));
  assert_int_equal(tmb_cgroup_cpu_quota(&walk), 0);
  assert_true(tmb_cgroup_next(&walk));
  assert_cmp(tmb_cgroup_cpu_quota(&walk), ==, 0.5);
  remove_fake(&f);
}

static void use_given_limits(void *arg) {
  struct tmb_os_cgroup given = *(const struct tmb_os_cgroup *)arg;
  const double quota = tmb_os_cpu_quota();
  const char *name;
  given.quota = 0.25;
  given.memory = 65536;
  snprintf(given.name, sizeof given.name, "given limit");
  given.id++;
  tmb_os_cgroup_use(&given); /* those of other cgroups */
  CHILD_CHECK(tmb_os_cpu_quota() == quota);
  given.id--;
  tmb_os_cgroup_use(&given);
  CHILD_CHECK(tmb_os_cpu_quota() == 0.25);
  CHILD_CHECK(tmb_os_mem_limit(&name) == 65536);
  CHILD_CHECK(strcmp(name, "given limit") == 0);
}

TEST(limits_that_another_process_has_read_are_used) {
  struct tmb_os_cgroup read;
  tmb_os_cgroup_read(&read);
  if (!read.id) skip();
  assert_cmp(read.quota, ==, tmb_os_cpu_quota());
  assert_cmp(tmb_os_mem_limit(NULL), <=, read.memory);
  run_child(use_given_limits, &read);
}

/* In a container the path of /proc/self/cgroup may lie outside of the mounted part. */
TEST(a_path_that_is_not_mounted_means_the_mount_point) {
  struct fake f;
  struct tmb_cgroup_walk walk;
  make_fake(&f, "4:memory:/docker/0123\n", "cgroup rw,memory");
  fill_fake(&f, (const char *const[]){"memory.limit_in_bytes", "777\n", NULL}, &walk);
  assert_int_equal(tmb_cgroup_mem_limit(&walk), 777);
  assert_false(tmb_cgroup_next(&walk));
  assert_false(tmb_cgroup_first_from(&walk, "cpu", f.cgroup, f.mounts));
  assert_false(tmb_cgroup_first_from(&walk, "memory", "/proc/nonexistent", f.mounts));
  remove_fake(&f);
}

/* A process is signalled only under its own start time. */
TEST(processes_are_known_by_their_start) {
  int status;
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  const uint64_t start = tmb_os_start_time(child);
  assert_cmp(start, >, 0);
  assert_cmp(tmb_os_start_time(getpid()), <=, start);
  assert_int_equal(tmb_os_signal_process(child, start + 1, SIGKILL), TMB_E_STATE);
  assert_int_equal(tmb_os_signal_process(child, 0, SIGKILL), TMB_E_ARG);
  assert_int_equal(waitpid(child, &status, WNOHANG), 0);
  assert_int_equal(tmb_os_signal_process(child, start, 0), 0);
  assert_int_equal(tmb_os_signal_process(child, start, SIGKILL), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(tmb_os_signal_process(child, start, 0), TMB_E_STATE);
  assert_int_equal(tmb_os_start_time(child), 0);
  assert_cmp(tmb_os_pid_space(), >, 0);
}

static void *rest(void *arg) {
  (void)pause();
  return arg;
}

/* Beside an unknown thread a rank stays where it is; beside one of the library's it moves. */
static void move_beside_threads(void) {
  pthread_t thread;
  const int here = tmb_os_cpu_current();
  CHILD_CHECK(tmb_os_threads() == 1);
  CHILD_CHECK(pthread_create(&thread, NULL, rest, NULL) == 0);
  CHILD_CHECK(tmb_os_threads() == 2);
  CHILD_CHECK(tmb_os_cpu_next() == TMB_E_SYS);
  tmb_os_threads_ours(1);
  CHILD_CHECK(tmb_os_cpu_next() == TMB_OK);
  CHILD_CHECK(tmb_os_cpu_visit(here) == TMB_OK);
  _exit(0);
}

TEST(our_threads_allow_moves) {
  int status = 0;
  if (tmb_os_cpus_usable() < 2) skip();
  const pid_t child = fork();
  if (child == 0) move_beside_threads();
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

int main(void) {
  return unit_run(NULL, NULL);
}
