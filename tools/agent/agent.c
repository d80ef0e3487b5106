/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --agent`: the supervisor of one host of a job on several.
 *
 * Owns: struct agent, on the stack of run_agent_main. Started by an ssh of the node above, with
 * which it speaks over its standard input and output; messages go to standard error. Calls: tree,
 * link, run_exec.c, boot/launch, boot/supervise. Invariants: nothing is started before the whole
 * job is ready; output of the ranks is read only as long as the launcher has room for it, so that a
 * slow reader holds the ranks up and nothing else; without the node above everything here ends at
 * once.
 */
#define _GNU_SOURCE
#include "agent/agent.h"
#include "agent/far_crashes.h"
#include "agent/far_stats.h"
#include "agent/far_trace.h"
#include "agent/look.h"
#include "agent/tree.h"
#include "ranks/run.h"
#include "tool.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/page/ctl.h"
#include "boot/supervise/supervise.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FD_FLOOR    200 /* descriptors of the agent itself are above those of ranks */
#define JOB_WAIT_MS 30000
#define READ_BYTES  65536

/* One rank's output, and standard input of one of them. */
struct pipes {
  int read_fd[2]; /* of standard output and error; -1: at its end */
};

struct agent {
  struct tree tree;
  struct run run;
  struct pipes *pipes; /* [here] */
  int child_end[2];    /* of the rank that is being forked */
  uint32_t room[2];    /* output that the launcher still takes */
  bool closed[2];      /* nobody reads that stream any more */
  int input_fd;        /* standard input of a rank here; -1: none */
  struct pack input;   /* that came for it; `at`: written */
  bool input_ends;
  bool killed, done_said;
  struct far_clock clock;
};

/* ---- output of the ranks */

static void agent_before_fork(void *arg, uint32_t rank) {
  struct agent *a = arg;
  struct pipes *p = &a->pipes[tmb_ctl_record_of(a->run.launch.ctl)[rank]];
  for (int i = 0; i < 2; i++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
      tmb_print("run: cannot open a pipe for rank %u: %s; %s", rank, strerror(errno),
                tmb_error_fd_remedy(errno));
      exit(TOOL_EXIT_FAILED);
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    p->read_fd[i] = ends[0];
    a->child_end[i] = ends[1];
  }
}

static void agent_after_fork(void *arg, uint32_t rank) {
  struct agent *a = arg;
  (void)rank;
  close(a->child_end[0]);
  close(a->child_end[1]);
}

static void agent_in_child(struct run *run, uint32_t rank) {
  struct agent *a = run->output;
  (void)rank;
  dup2(a->child_end[0], STDOUT_FILENO);
  dup2(a->child_end[1], STDERR_FILENO);
  (void)signal(SIGPIPE, SIG_DFL);
}

static void close_output(struct agent *a, struct pipes *p, int i) {
  (void)a;
  if (p->read_fd[i] >= 0) close(p->read_fd[i]);
  p->read_fd[i] = -1;
}

/* Reads once from a rank, as much as the launcher takes. Returns whether there may be more. */
static bool read_output(struct agent *a, uint32_t rank, struct pipes *p, int i) {
  static char buffer[READ_BYTES];
  if (p->read_fd[i] < 0 || a->room[i] == 0) return false;
  const ssize_t n = read(p->read_fd[i], buffer, TMB_MIN((size_t)a->room[i], sizeof buffer));
  if (n > 0) {
    a->room[i] -= (uint32_t)n;
    link_send(&a->tree.up, (struct frame){.type = FRAME_OUTPUT,
                                          .a = rank,
                                          .b = (uint32_t)i + 1,
                                          .bytes = (uint32_t)n,
                                          .data = buffer});
    return true;
  }
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return errno == EINTR;
  close_output(a, p, i);
  return false;
}

/* Reads the output of the ranks. in last: they have ended, so that no more output follows. Returns
 * whether something is left for want of room. */
static bool serve_output(struct agent *a, bool last) {
  bool left = false;
  const struct tmb_ctl *ctl = a->run.launch.ctl;
  for (uint32_t r = 0; r < ctl->size; r++) {
    if (tmb_ctl_record_of(ctl)[r] == TMB_CTL_ELSEWHERE) continue;
    struct pipes *p = &a->pipes[tmb_ctl_record_of(ctl)[r]];
    for (int i = 0; i < 2; i++) {
      if (a->closed[i]) close_output(a, p, i);
      while (read_output(a, r, p, i) && last) continue;
      if (!last || p->read_fd[i] < 0) continue;
      if (a->room[i] == 0)
        left = true;
      else
        close_output(a, p, i);
    }
  }
  return left;
}

/* ---- standard input of a rank */

static void end_input(struct agent *a) {
  if (a->input_fd >= 0) close(a->input_fd);
  a->input_fd = -1;
  a->input.at = a->input.bytes = 0;
}

static void serve_input(struct agent *a) {
  struct pack *in = &a->input;
  uint32_t written = 0;
  while (a->input_fd >= 0 && in->at < in->bytes) {
    const ssize_t n = write(a->input_fd, in->data + in->at, in->bytes - in->at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0) {
      end_input(a);
      written = UINT32_MAX;
      break;
    }
    in->at += (size_t)n;
    written += (uint32_t)n;
  }
  if (in->at == in->bytes) in->at = in->bytes = 0;
  if (written) link_send(&a->tree.up, (struct frame){.type = FRAME_INPUT_DONE, .b = written});
  if (a->input_ends && in->bytes == 0) end_input(a);
}

/* Opens the pipe from which a rank here reads, as descriptor 0 of this process. */
static int open_input(struct agent *a) {
  int ends[2];
  const uint32_t rank = a->tree.job.stdin_rank;
  a->input_fd = -1;
  if (rank >= a->tree.job.size || a->tree.job.host_of[rank] != a->tree.host) return 0;
  if (pipe2(ends, O_CLOEXEC) != 0 || dup2(ends[0], STDIN_FILENO) < 0) {
    tmb_print("run: cannot open a pipe for standard input: %s", strerror(errno));
    return -1;
  }
  close(ends[0]);
  a->input_fd = ends[1];
  (void)fcntl(a->input_fd, F_SETFL, O_NONBLOCK);
  return 0;
}

/* ---- frames from above */

static void agent_frame(struct tree *t, const struct frame *f) {
  struct agent *a = t->arg;
  const uint32_t i = f->b - 1;
  switch (f->type) {
  case FRAME_START: t->started = true; break;
  case FRAME_TAKEN: {
    struct pack p = pack_reader(f->data, f->bytes);
    if (i < 2) a->room[i] += unpack_u32(&p);
    break;
  }
  case FRAME_CLOCK: far_trace_answered(&a->clock, t, f); break;
  case FRAME_CLOSED:
    if (i < 2) a->closed[i] = true;
    break;
  case FRAME_INPUT:
    if (f->bytes == 0) a->input_ends = true;
    if (a->input_fd >= 0) pack_bytes(&a->input, f->data, f->bytes);
    break;
  default: break;
  }
}

/* ---- getting ready */

/* A number that differs for programs of other contents. */
static uint64_t hash_file(const char *path) {
  static unsigned char buffer[READ_BYTES];
  uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a, by words of 8 bytes */
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n;
  while (fd >= 0 && (n = read(fd, buffer, sizeof buffer)) > 0) {
    memset(buffer + n, 0, (size_t)(-n & 7));
    for (ssize_t at = 0; at < n; at += 8) {
      uint64_t word;
      memcpy(&word, buffer + at, sizeof word);
      hash = (hash ^ word) * UINT64_C(1099511628211);
      hash ^= hash >> 32;
    }
  }
  if (fd >= 0) close(fd);
  return hash;
}

/* Remedy when the folder of the job cannot be entered. */
static const char *folder_remedy(int error) {
  if (error == ENOENT) return "make it there";
  return error == EACCES ? "let this user enter it" : "make it a folder there";
}

/* Checks and preparations on this host. Returns 0 or an exit code after a message. */
static int prepare(struct agent *a) {
  const struct tree_job *job = &a->tree.job;
  if (chdir(job->folder) != 0) {
    tmb_print("cannot enter folder %s: %s; %s, or name another one by --cwd", job->folder,
              strerror(errno), folder_remedy(errno));
    return TOOL_EXIT_FAILED;
  }
  int rc = run_check_settings();
  if (rc == 0) rc = run_resolve(job->argv[0], &a->run.program);
  if (rc == 0) rc = run_check_libraries(a->run.program);
  return rc;
}

/* As prepare, with its messages in a buffer: the launcher prints them, once, with the name of the
 * host. */
static int prepare_quietly(struct agent *a, char *said, size_t bytes) {
  int ends[2];
  said[0] = '\0';
  if (pipe2(ends, O_CLOEXEC) != 0) return prepare(a);
  const int err = dup(STDERR_FILENO);
  (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
  (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
  (void)dup2(ends[1], STDERR_FILENO);
  const int rc = prepare(a);
  (void)dup2(err, STDERR_FILENO);
  const ssize_t n = read(ends[0], said, bytes - 1);
  said[n > 0 ? n : 0] = '\0';
  close(err);
  close(ends[0]);
  close(ends[1]);
  return rc;
}

static void report_ready(struct agent *a) {
  char said[2048];
  struct pack p = {0};
  const int rc = prepare_quietly(a, said, sizeof said);
  pack_u64(&p, rc == 0 && a->tree.job.check_program ? hash_file(a->run.program) : 0);
  pack_text(&p, said);
  link_send(&a->tree.up, (struct frame){.type = FRAME_READY,
                                        .a = a->tree.host,
                                        .b = (uint32_t)rc,
                                        .bytes = (uint32_t)p.bytes,
                                        .data = p.data});
  pack_free(&p);
  a->tree.host_state[a->tree.host] = TREE_READY;
}

/* Steps of the tree until `until` holds or the node above is lost. */
static bool run_until(struct agent *a, const bool *until, int limit_ms) {
  const uint64_t from = tmb_os_now_ns();
  while (!*until && !a->tree.abandoned) {
    struct pollfd fds[256];
    int timeout_ms = limit_ms;
    const nfds_t count = tree_wait(&a->tree, fds, TMB_ARRAY_LEN(fds), &timeout_ms);
    (void)poll(fds, count, timeout_ms);
    tree_step(&a->tree);
    if (limit_ms > 0 && tmb_os_now_ns() - from > (uint64_t)limit_ms * 1000000) break;
  }
  return *until && !a->tree.abandoned;
}

/* Waits for the job from above. */
static bool receive_job(struct agent *a) {
  struct link *up = &a->tree.up;
  struct frame f;
  const uint64_t from = tmb_os_now_ns();
  while (!up->broken && tmb_os_now_ns() - from < JOB_WAIT_MS * UINT64_C(1000000)) {
    struct pollfd fds[2];
    (void)poll(fds, link_wait(up, fds), JOB_WAIT_MS);
    link_pull(up, LINK_FRAME_BYTES_MAX);
    while (link_next(up, &f)) {
      if (f.type != FRAME_JOB) continue;
      struct pack p = pack_reader(f.data, f.bytes);
      const bool good = tree_job_unpack(&p, &a->tree.job, &a->tree.first, &a->tree.last);
      explicit_bzero(p.data, p.bytes);
      a->tree.host = a->tree.first;
      if (!good) tmb_print("run: what was received is not a job of this version");
      return good;
    }
  }
  return false;
}

/* ---- running */

static nfds_t far_wait(void *arg, struct pollfd *fds, nfds_t max, int *timeout_ms) {
  struct agent *a = arg;
  nfds_t count = tree_wait(&a->tree, fds, max, timeout_ms);
  if (a->run.launch.agent_fd >= 0 && count < max)
    fds[count++] = (struct pollfd){.fd = a->run.launch.agent_fd, .events = POLLIN};
  if (a->input_fd >= 0 && a->input.bytes && count < max)
    fds[count++] = (struct pollfd){.fd = a->input_fd, .events = POLLOUT};
  for (uint32_t i = 0; i < 2 * a->run.launch.ctl->here && count < max; i++)
    if (a->pipes[i / 2].read_fd[i % 2] >= 0 && a->room[i % 2])
      fds[count++] = (struct pollfd){.fd = a->pipes[i / 2].read_fd[i % 2], .events = POLLIN};
  return count;
}

static void far_serve(void *arg, struct tmb_sup *sup) {
  struct agent *a = arg;
  uint64_t rung;
  a->tree.sup = sup;
  while (a->run.launch.agent_fd >= 0 &&
         read(a->run.launch.agent_fd, &rung, sizeof rung) == (ssize_t)sizeof rung)
    continue;
  (void)serve_output(a, false);
  tree_step(&a->tree);
  serve_input(a);
  (void)far_trace_step(&a->clock, &a->tree, false);
  if (a->tree.abandoned && !a->killed) {
    a->killed = true;
    tmb_supervise_kill(sup);
  }
}

static void far_notify(void *arg, const struct tmb_sup_event *event) {
  struct agent *a = arg;
  tree_notify(&a->tree, event);
}

static bool far_finished(void *arg, const struct tmb_sup_state *state) {
  struct agent *a = arg;
  if (a->tree.abandoned) return true;
  if (!a->done_said && serve_output(a, true)) return false;
  if (!far_trace_step(&a->clock, &a->tree, true)) {
    link_push(&a->tree.up);
    return false;
  }
  if (!a->done_said) {
    far_stats_send(&a->tree);
    far_crashes_send(&a->tree);
  }
  if (!a->done_said)
    tree_send_up(&a->tree,
                 (struct frame){.type = FRAME_DONE, .a = a->tree.host, .b = (uint32_t)state->code});
  a->done_said = true;
  link_push(&a->tree.up);
  return tree_below_ended(&a->tree) && link_queued(&a->tree.up) == 0;
}

static bool far_output_full(void *arg) {
  const struct agent *a = arg;
  return a->room[0] == 0 || a->room[1] == 0;
}

static int supervise(struct agent *a) {
  const struct tmb_sup_far far = {TMB_SUP_FAR(far), .arg = a};
  struct tmb_supervise_options options = {.far = &far};
  struct tmb_launch *launch = &a->run.launch;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) (void)dup2(null, STDIN_FILENO); /* the rank has it */
  if (null >= 0) close(null);
  for (uint32_t r = 0; r < launch->size; r++)
    if (launch->pids[r]) tmb_info("started rank %u as pid %d", r, (int)launch->pids[r]);
  return tmb_supervise(launch, &options);
}

/* Fills in the plan for the launch of this host's ranks. */
static void plan_launch(struct agent *a) {
  const struct tree_job *job = &a->tree.job;
  struct tmb_launch *l = &a->run.launch;
  l->size = job->size;
  l->hosts = job->hosts;
  l->host_of = job->host_of;
  l->host_names = job->host_name;
  l->only_host = a->tree.host;
  l->far = true;
  l->host_name = job->host_name[a->tree.host];
  l->stdin_rank = a->input_fd >= 0 ? job->stdin_rank : TMB_LAUNCH_STDIN_NONE;
  l->line_buffered = job->line_buffered;
  l->executes = true;
  l->before_fork = agent_before_fork;
  l->after_fork = agent_after_fork;
  l->arg = a;
  a->run.options.argv = job->argv;
  a->run.in_child = agent_in_child;
  a->run.output = a;
  getrlimit(RLIMIT_NOFILE, &a->run.files);
  struct rlimit raised = a->run.files;
  raised.rlim_cur = raised.rlim_max;
  setrlimit(RLIMIT_NOFILE, &raised);
}

static int run_ranks(struct agent *a) {
  struct tmb_launch *l = &a->run.launch;
  plan_launch(a);
  if (tmb_launch_open(l) != 0) return TOOL_EXIT_FAILED;
  l->ctl->job_id = a->tree.job.job_id;
  memcpy(l->ctl->secret, a->tree.job.secret, sizeof l->ctl->secret);
  a->pipes = calloc(l->ctl->here, sizeof *a->pipes);
  if (!a->pipes) tmb_fatal_nopos("out of memory for %u ranks", l->ctl->here);
  if (a->tree.job.bind) a->run.cpus = run_bind_plan(l->ctl->here);
  a->tree.launch = l;
  const int rank = tmb_launch_fork(l);
  if (rank >= 0 && rank != TMB_LAUNCH_PARENT) run_exec(&a->run, (uint32_t)rank);
  const int code = rank == TMB_LAUNCH_PARENT ? supervise(a) : TOOL_EXIT_FAILED;
  tmb_launch_close(l);
  return code;
}

/* The link to the node above: standard input and output, on other descriptors. */
static void take_link(struct agent *a) {
  char greeting[128];
  const int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, FD_FLOOR);
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, FD_FLOOR);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (in < 0 || out < 0 || null < 0) exit(TOOL_EXIT_FAILED);
  (void)dup2(null, STDIN_FILENO);
  (void)dup2(null, STDOUT_FILENO);
  close(null);
  tree_greeting(greeting, sizeof greeting);
  if (write(out, greeting, strlen(greeting)) < 0) exit(TOOL_EXIT_FAILED);
  link_open(&a->tree.up, in, out);
}

int run_agent_main(bool copied) {
  struct agent *a = calloc(1, sizeof *a);
  if (!a) return TOOL_EXIT_FAILED;
  if (copied && dup2(RUN_AGENT_STDIN, STDIN_FILENO) == STDIN_FILENO) close(RUN_AGENT_STDIN);
  (void)signal(SIGPIPE, SIG_IGN);
  a->room[0] = a->room[1] = AGENT_OUTPUT_BYTES;
  a->input_fd = -1;
  take_link(a);
  if (!receive_job(a)) return TOOL_EXIT_FAILED;
  tmb_env_replace(agent_environment(&a->tree.job));
  (void)umask((mode_t)a->tree.job.file_mask);
  tree_open(&a->tree);
  a->tree.look = look_open(&a->tree.job, a->tree.host);
  a->tree.frame = agent_frame;
  a->tree.arg = a;
  int code = tree_start_children(&a->tree) ? TOOL_EXIT_FAILED : 0;
  if (code == 0 && open_input(a)) code = TOOL_EXIT_FAILED; /* it may come right after the start */
  if (code == 0) report_ready(a);
  if (code == 0) code = run_until(a, &a->tree.started, -1) ? run_ranks(a) : TOOL_EXIT_FAILED;
  if (!a->tree.sup) a->tree.started = false; /* nobody comes who would take events */
  tree_close(&a->tree, AGENT_LAST_WORDS_S);
  return code;
}
