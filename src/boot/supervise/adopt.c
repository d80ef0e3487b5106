/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher of a host, see adopt.h.
 *
 * Owns: struct watch on the stack of tmb_adopt_run. Called by bootstrap_pm.c and `tombolo watch`.
 * Calls: supervise (as one whose ranks are not its children), posix_spawn. The end of a rank is
 * seen by a pidfd, or, on kernels without, by a check every half a second; how a process ended is
 * known to its parent only, so a rank that has not said its code has simply died. Invariants: see
 * adopt.h.
 */
#define _GNU_SOURCE
#include "boot/supervise/adopt.h"

#include "base/atomic.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/launch/launch.h"
#include "boot/launch/spawn.h"
#include "boot/page/ctl.h"
#include "boot/supervise/supervise.h"
#include "boot/trace/set.h"
#include "os/memory/memfd.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIED = 1 << 8 /* as of waitpid: the code is not known */ };

/* ---- starting */

/* Passes a descriptor on under its own number. */
static void keep(posix_spawn_file_actions_t *actions, int fd) {
  (void)posix_spawn_file_actions_adddup2(actions, fd, fd);
}

static int spawn(const char *command, char **args, const struct tmb_boot *b, int ctl_fd,
                 pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  if (posix_spawn_file_actions_init(&actions)) return ENOMEM;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  (void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  keep(&actions, ctl_fd);
  keep(&actions, b->arena_fd);
  for (uint32_t i = 0; b->bell_fd && i < b->places.near_count; i++) keep(&actions, b->bell_fd[i]);
  const int rc = posix_spawnp(pid, command, &actions, &attributes, args, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return rc;
}

void tmb_adopt_start(const struct tmb_boot *b, int ctl_fd) {
  char ctl[16], arena[16], *command = tmb_spawn_command();
  char *args[] = {(char *)"tombolo", (char *)"watch", ctl, arena, NULL};
  pid_t pid = 0;
  int status = 0;
  snprintf(ctl, sizeof ctl, "%d", ctl_fd);
  snprintf(arena, sizeof arena, "%d", b->arena_fd);
  for (uint32_t i = 0; b->bell_fd && i < b->places.near_count; i++)
    tmb_ctl_rank(b->ctl, b->places.near_rank[i])->bell_fd = b->bell_fd[i];
  const int rc = command ? spawn(command, args, b, ctl_fd, &pid) : ENOMEM;
  while (rc == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (rc || (WIFEXITED(status) && WEXITSTATUS(status)))
    tmb_info("the command tombolo is not found beside the library nor in PATH (%s), so nobody "
             "watches these ranks: if one dies, the process manager has to end the others",
             rc ? strerror(rc) : "it failed");
  free(command);
}

/* ---- watching, as the supervisor sees it: resources of other ranks are absent */

struct watch {
  struct tmb_launch launch;
  struct {
    int pid_fd;   /* -1: not watched so */
    bool ended;   /* seen in this check */
    pid_t parent; /* who started it: the process manager, or a wrapper */
  } * rank;       /* [size] */
};

static nfds_t watch_wait(void *arg, struct pollfd *fds, nfds_t max, int *timeout_ms) {
  const struct watch *w = arg;
  nfds_t n = 0;
  (void)timeout_ms;
  for (uint32_t r = 0; r < w->launch.size && n < max; r++)
    if (w->launch.pids[r] && w->rank[r].pid_fd >= 0)
      fds[n++] = (struct pollfd){.fd = w->rank[r].pid_fd, .events = POLLIN};
  return n;
}

static bool has_ended(const struct watch *w, uint32_t rank) {
  struct tmb_os_process process;
  struct pollfd ended = {.fd = w->rank[rank].pid_fd, .events = POLLIN};
  if (!w->launch.pids[rank]) return false;
  if (ended.fd >= 0) return poll(&ended, 1, 0) > 0;
  if (tmb_ctl_signal(w->launch.ctl, rank, 0) == TMB_E_STATE) return true;
  return tmb_os_process(w->launch.pids[rank], false, &process) && process.state == 'Z';
}

static void rank_ended(struct watch *w, struct tmb_sup *sup, uint32_t rank) {
  const uint32_t state = tmb_ctl_state(w->launch.ctl, rank);
  const bool said = TMB_RANK_STATE(state) == TMB_RANK_EXITING;
  if (w->rank[rank].pid_fd >= 0) close(w->rank[rank].pid_fd);
  w->rank[rank].pid_fd = -1;
  w->rank[rank].ended = false;
  tmb_supervise_ended(sup, rank, said ? TMB_RANK_CODE(state) << 8 : DIED);
}

/* A manager that is killed cannot end its ranks: whatever they wait for, they would stay for ever.
 */
static void end_orphans(struct watch *w) {
  pid_t asked = 0;
  bool ended = false;
  for (uint32_t r = 0; r < w->launch.size; r++) {
    const pid_t parent = w->rank[r].parent;
    if (parent <= 1 || w->rank[r].ended || !w->launch.pids[r]) continue;
    if (parent != asked) {
      const pid_t now = tmb_os_parent(w->launch.pids[r]);
      ended = now && now != parent;
      if (ended)
        tmb_print("the process manager (pid %d) that started rank %u has ended, so the rank is "
                  "ended, too",
                  (int)parent, r);
      asked = parent;
    }
    if (!ended) continue;
    (void)tmb_ctl_signal(w->launch.ctl, r, SIGKILL);
    w->rank[r].parent = 0;
  }
}

/* A manager that has seen a rank fail kills the others at once: those that have said a code of
 * their own come first, for one of them may be the cause. */
static void watch_serve(void *arg, struct tmb_sup *sup) {
  struct watch *w = arg;
  const uint32_t size = w->launch.size;
  for (uint32_t r = 0; r < size; r++) w->rank[r].ended = has_ended(w, r);
  end_orphans(w);
  for (uint32_t r = 0; r < size; r++)
    if (w->rank[r].ended && TMB_RANK_STATE(tmb_ctl_state(w->launch.ctl, r)) == TMB_RANK_EXITING)
      rank_ended(w, sup, r);
  for (uint32_t r = 0; r < size; r++)
    if (w->rank[r].ended) rank_ended(w, sup, r);
}

static void watch_notify(void *arg, const struct tmb_sup_event *event) {
  (void)arg;
  (void)event; /* other hosts learn of it from the process manager, or from the network */
}

static bool watch_finished(void *arg, const struct tmb_sup_state *state) {
  (void)arg;
  (void)state;
  return true;
}

static bool watch_output_full(void *arg) {
  (void)arg;
  return false;
}

/* ---- the watcher's start */

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void close_from(int first, int last) {
  if (first > last) return;
#ifdef SYS_close_range
  if (syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0) return;
#endif
  const long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = first; fd <= last && fd < limit; fd++) close(fd);
}

/* All but ours: the manager's own descriptors would keep it waiting for us. */
static int close_others(const struct tmb_ctl *ctl, int ctl_fd, int arena_fd) {
  int *ours = malloc((ctl->here + 2) * sizeof *ours), from = STDERR_FILENO + 1;
  size_t count = 0;
  if (!ours) return TMB_E_NOMEM;
  ours[count++] = ctl_fd;
  ours[count++] = arena_fd;
  for (uint32_t i = 0; i < ctl->here; i++)
    if (ctl->rank[i].bell_fd >= 0) ours[count++] = ctl->rank[i].bell_fd;
  qsort(ours, count, sizeof *ours, compare);
  for (size_t i = 0; i < count; i++) {
    close_from(from, ours[i] - 1);
    from = ours[i] + 1;
  }
  close_from(from, INT_MAX);
  free(ours);
  return TMB_OK;
}

static struct tmb_ctl *map_control(int fd) {
  struct tmb_ctl head;
  if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head) return NULL;
  return tmb_ctl_map(fd, head.size, head.job_id);
}

static int make_watch(struct watch *w, struct tmb_ctl *ctl, int ctl_fd) {
  struct tmb_launch *l = &w->launch;
  *l = (struct tmb_launch){.size = ctl->size,
                           .hosts = ctl->hosts,
                           .adopted = true,
                           .ctl = ctl,
                           .ctl_fd = ctl_fd,
                           .agent_fd = -1,
                           .guard_fd = -1};
  l->pids = calloc(ctl->size, sizeof *l->pids);
  l->host = calloc(ctl->hosts, sizeof *l->host);
  w->rank = calloc(ctl->size, sizeof *w->rank);
  if (l->pids && l->host && w->rank) return TMB_OK;
  tmb_print("out of memory for the states of %u ranks", ctl->size);
  return TMB_E_NOMEM;
}

struct watch *tmb_adopt_open(int ctl_fd, int arena_fd) {
  struct tmb_ctl *ctl = map_control(ctl_fd);
  if (!ctl) {
    tmb_print("watch: descriptor %d is not the control block of a job", ctl_fd);
    return NULL;
  }
  struct watch *w = calloc(1, sizeof *w);
  if (!w || close_others(ctl, ctl_fd, arena_fd) || make_watch(w, ctl, ctl_fd)) return NULL;
  struct tmb_launch *l = &w->launch;
  for (uint32_t h = 0; h < ctl->hosts; h++) l->host[h] = (struct tmb_launch_host){-1, -1};
  for (uint32_t r = 0; r < ctl->size; r++) {
    w->rank[r].pid_fd = -1;
    if (tmb_ctl_record_of(ctl)[r] == TMB_CTL_ELSEWHERE) continue;
    const uint32_t host = tmb_ctl_host_of(ctl)[r];
    l->host[host].arena_fd = arena_fd;
    l->host_name = tmb_ctl_host_name(ctl, host);
    l->pids[r] = tmb_ctl_pid(ctl, r);
    w->rank[r].pid_fd = (int)syscall(SYS_pidfd_open, l->pids[r], 0);
    w->rank[r].parent = tmb_os_parent(l->pids[r]);
  }
  return w;
}

int tmb_adopt_run(struct watch *w) {
  struct tmb_ctl *ctl = w->launch.ctl;
  const struct tmb_sup_far far = {TMB_SUP_FAR(watch), .arg = w};
  struct tmb_supervise_options options = {.far = &far};
  ctl->supervisor_pid = (int32_t)getpid();
  ctl->far_refuses = ctl->hosts > 1;
  (void)signal(SIGPIPE, SIG_IGN); /* where messages go may end with the manager */
  const int rc = tmb_launch_signals(&w->launch);
  if (!rc) (void)tmb_supervise(&w->launch, &options);
  if (!rc) tmb_trace_write_here(ctl, NULL);
  free(w->launch.pids);
  free(w->launch.host);
  free(w->rank);
  free(w);
  return rc;
}
