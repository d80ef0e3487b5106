/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backtraces and waiting for a debugger: see debug.h.
 *
 * Owns: mechanisms, flag, handlers. Called through the hooks of base/log and by core and api.
 * Calls: config, log, os.h, signals.h, backtrace(3), gdb as a child process.
 * Invariants: a mechanism writes nothing if it fails, so that the next one starts clean; the gdb
 * child is killed after GDB_TIMEOUT_NS, so that a fatal error cannot hang there.
 */
#define _GNU_SOURCE
#include "os/process/debug.h"

#include "base/ascii.h"
#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "os/os.h"
#include "os/process/crash.h"
#include "os/process/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if __has_include(<execinfo.h>) /* musl has none */
# include <execinfo.h>
#else
static void backtrace_symbols_fd(void *const *frames, int count, int fd) {
  (void)frames, (void)count, (void)fd;
}
#endif

extern char **environ;

enum { MAX_FRAMES = 128, OUTPUT_BYTES = 1 << 16, HEADING_BYTES = 128 };
#define GDB_TIMEOUT_NS 30000000000ull

static const char *user_name;
static int (*user_print)(int fd);

static volatile int own_flag;
static volatile int *freeze_flag = &own_flag;
static const char *freeze_flag_name = "own_flag";

static void write_all(int fd, const char *text, size_t len) {
  while (len > 0) {
    const ssize_t n = write(fd, text, len);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    text += n;
    len -= (size_t)n;
  }
}

/* The line that stands above a backtrace. out buf: [HEADING_BYTES]. Returns its length. */
static size_t put_heading(char *buf, const char *mechanism) {
  char who[32] = "";
  const uint32_t rank = tmb_log_rank();
  if (rank != TMB_RANK_UNKNOWN) snprintf(who, sizeof who, "rank %u: ", (unsigned)rank);
  const int n = snprintf(buf, HEADING_BYTES, "tombolo: %sbacktrace of process %ld (%s):\n", who,
                         (long)getpid(), mechanism);
  return n > 0 ? TMB_MIN((size_t)n, (size_t)HEADING_BYTES - 1) : 0;
}

/* Starts gdb on this process with its output in a pipe. Returns the pipe's end to read, or -1. */
static int start_gdb(pid_t *child) {
  int ends[2];
  char pid[16];
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  const bool all_threads = tmb_cfg_bool(TMB_CFG_BACKTRACE_MT);
  const char *const argv[] = {"gdb",    "-nx",
                              "-batch", "-q",
                              "-iex",   "set debuginfod enabled off",
                              "-ex",    "set pagination off",
                              "-ex",    all_threads ? "thread apply all bt" : "bt",
                              "-p",     pid,
                              NULL};
  /* gdb is our child: without this the usual ptrace restriction forbids it to attach to its parent.
   */
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const int rc = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (rc == 0) return ends[0];
  close(ends[0]);
  return -1;
}

/* Reads up to the end of the pipe or the deadline. Returns the bytes read; the rest is dropped. */
static size_t read_pipe(int fd, char *buf, size_t buf_bytes, uint64_t deadline_ns) {
  size_t len = 0;
  char rest[512];
  for (;;) {
    const uint64_t now = tmb_os_now_ns();
    struct pollfd waiter = {fd, POLLIN, 0};
    if (now >= deadline_ns) return len;
    const int ready = poll(&waiter, 1, (int)((deadline_ns - now) / 1000000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return len;
    const bool full = len == buf_bytes;
    const ssize_t n = read(fd, full ? rest : buf + len, full ? sizeof rest : buf_bytes - len);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return len;
    if (!full) len += (size_t)n;
  }
}

static char output[OUTPUT_BYTES]; /* not on the stack: it may be what overflowed */

/* The names of frames go through a pipe, so that the lines of a rank leave in one piece. A pipe
 * that is full drops the outermost frames. */
static int print_execinfo(int fd) {
  void *frames[MAX_FRAMES];
  int ends[2];
  const int count = tmb_os_frames(frames, MAX_FRAMES);
  if (count <= 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return 1;
  backtrace_symbols_fd(frames, count, ends[1]);
  close(ends[1]);
  const size_t heading = put_heading(output, "EXECINFO");
  const ssize_t n = read(ends[0], output + heading, sizeof output - heading);
  close(ends[0]);
  if (n <= 0) return 1;
  write_all(fd, output, heading + (size_t)n);
  return 0;
}

static int print_gdb(int fd) {
  pid_t child;
  const int from_gdb = start_gdb(&child);
  if (from_gdb < 0) return 1;
  const size_t heading = put_heading(output, "GDB");
  const size_t len = read_pipe(from_gdb, output + heading, sizeof output - heading,
                               tmb_os_now_ns() + GDB_TIMEOUT_NS);
  close(from_gdb);
  kill(child, SIGKILL);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  if (!memmem(output + heading, len, "#0 ", 3)) return 1;
  write_all(fd, output, heading + len);
  return 0;
}

static int print_user(int fd) {
  return user_print ? user_print(fd) : 1;
}

static const struct mechanism {
  const char *name;
  int (*print)(int fd);
} mechanisms[] = {{"EXECINFO", print_execinfo}, {"GDB", print_gdb}, {"USER", print_user}};

/* Finds a mechanism by the next name of the list, advancing *list; NULL for an unknown name. */
static const struct mechanism *next_mechanism(const char **list, bool *end) {
  static const struct mechanism none = {"", NULL};
  const char *name = *list + strspn(*list, ", \t");
  const size_t len = strcspn(name, ", \t");
  *end = len == 0;
  *list = name + len;
  for (size_t i = 0; i < TMB_ARRAY_LEN(mechanisms); i++) {
    if (strlen(mechanisms[i].name) == len && tmb_ascii_same_n(mechanisms[i].name, name, len))
      return &mechanisms[i];
  }
  /* The client's mechanism may also be listed by its own name. */
  if (user_name && strlen(user_name) == len && tmb_ascii_same_n(user_name, name, len))
    return &mechanisms[2];
  return *end ? &none : NULL;
}

int tmb_os_backtrace(int fd) {
  const char *list = tmb_cfg_str(TMB_CFG_BACKTRACE_TYPE);
  bool end = false;
  if (user_print && user_print(fd) == 0) return 0;
  while (!end) {
    const struct mechanism *m = next_mechanism(&list, &end);
    if (m && m->print && m->print != print_user && m->print(fd) == 0) return 0;
  }
  return 1;
}

int tmb_os_backtrace_ifenabled(int fd) {
  if (!tmb_cfg_bool(TMB_CFG_BACKTRACE)) return 1;
  const uint32_t rank = tmb_log_rank();
  const char *nodes = tmb_cfg_str(TMB_CFG_BACKTRACE_NODES);
  if (rank != TMB_RANK_UNKNOWN && tmb_fmt_rank_listed(nodes, rank) != 1) return 1;
  return tmb_os_backtrace(fd);
}

void tmb_os_backtrace_add_user(const char *name, int (*print)(int fd)) {
  user_name = name;
  user_print = print;
}

void tmb_os_freeze_set_flag(volatile int *flag, const char *flag_name) {
  freeze_flag = flag;
  freeze_flag_name = flag_name;
}

void tmb_os_freeze(volatile int *flag, const char *flag_name) {
  *flag = 1;
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  tmb_flush_streams();
  tmb_print(
      "process %ld on %s waits for a debugger: attach with \"gdb -p %ld\", then say \"set var %s = "
      "0\" and \"continue\"",
      (long)getpid(), tmb_os_hostname(), (long)getpid(), flag_name);
  while (*flag) tmb_os_nsleep(100000000);
}

void tmb_os_freeze_on_error(void) {
  if (tmb_cfg_bool(TMB_CFG_FREEZE_ON_ERROR)) tmb_os_freeze(freeze_flag, freeze_flag_name);
}

static void on_backtrace_signal(int sig) {
  (void)sig;
  const int saved_errno = errno;
  (void)tmb_os_backtrace(STDERR_FILENO);
  errno = saved_errno;
}

static void on_freeze_signal(int sig) {
  (void)sig;
  const int saved_errno = errno;
  tmb_os_freeze(freeze_flag, freeze_flag_name);
  errno = saved_errno;
}

/* Installs a handler for the signal that a setting names. */
static void install_handler(enum tmb_cfg_id id, void (*handler)(int)) {
  const char *text = tmb_cfg_str(id);
  if (!text) return;
  const int sig = tmb_os_signal_number(text);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  if (sig <= 0 || sigaction(sig, &action, NULL) != 0)
    tmb_cfg_bad_value(id, "a signal that can be caught, as SIGUSR1 or 10");
}

/* Names of mechanisms that are not here are left out: other implementations have more of them, and
 * a client may add its own later. One rank says so. */
static void check_mechanisms(void) {
  const char *list = tmb_cfg_str(TMB_CFG_BACKTRACE_TYPE);
  const uint32_t rank = tmb_log_rank();
  if (rank != 0 && rank != TMB_RANK_UNKNOWN) return;
  for (bool end = false; !end;) {
    if (next_mechanism(&list, &end)) continue;
    tmb_warn("GASNET_BACKTRACE_TYPE=\"%s\" is not available; there are EXECINFO, GDB and what the "
             "client adds",
             tmb_cfg_str(TMB_CFG_BACKTRACE_TYPE));
    return;
  }
}

void tmb_os_debug_init(void) {
  check_mechanisms();
  install_handler(TMB_CFG_BACKTRACE_SIGNAL, on_backtrace_signal);
  install_handler(TMB_CFG_FREEZE_SIGNAL, on_freeze_signal);
  if (tmb_cfg_bool(TMB_CFG_FREEZE)) tmb_os_freeze(freeze_flag, freeze_flag_name);
}

/* Fatal errors may come before any other call into this file. The hook of the api layer's
 * constructor, if it ran first, stays. */
TMB_AT_LOAD static void set_hooks(void) {
  if (!tmb_backtrace_hook) tmb_backtrace_hook = tmb_os_backtrace_ifenabled;
  tmb_freeze_hook = tmb_os_freeze_on_error;
}
