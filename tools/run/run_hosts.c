/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --hosts`: the launcher of a job on several hosts, root of the tree of agents.
 *
 * Owns: struct root, on the stack of run_hosts_main. Called by run.c. Calls: hosts, tree, front,
 * boot/launch, boot/supervise. It runs no ranks itself: agents do, one for each host, this one's,
 * too. Invariants: no rank is started before every host is ready; whatever goes wrong until then is
 * reported once for each host with its name, and nothing is left anywhere.
 */
#define _GNU_SOURCE
#include "agent/agent.h"
#include "agent/far_crashes.h"
#include "agent/far_trace.h"
#include "agent/look.h"
#include "agent/tree.h"
#include "hosts/hosts.h"
#include "ranks/run.h"
#include "run/front.h"
#include "run/live.h"
#include "run/stats.h"
#include "tool.h"

#include "base/config.h"
#include "base/log.h"
#include "boot/boot.h"
#include "boot/launch/spawn.h"
#include "boot/page/ctl.h"
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define MORE_FAILURES_NS UINT64_C(300000000)   /* further hosts that fail are reported, too */
#define SLOW_AFTER_NS    UINT64_C(2000000000)  /* output of a failed job is delivered so long */
#define AGENTS_NS        UINT64_C(15000000000) /* a job that failed waits so long for agents */
#define FAILURES_SHOWN   8
#define HOSTFILE_BYTES   (1 << 20)

struct root {
  struct tree tree;
  struct front front;
  struct run_stats stats;     /* rank NULL: nobody asks */
  struct tmb_trace_set trace; /* size 0: nothing is recorded */
  struct far_crashes crashes;
  struct run *run;
  uint64_t *hash; /* [hosts] of the program, 0: not known */
  uint32_t ready, failures;
  int code;           /* first non-zero code of an agent */
  bool supervised;    /* the ranks run */
  uint64_t failed_ns; /* when the job was first seen to fail; 0: it has not */
};

/* ---- the job */

/* The text of the file, or NULL after a message. Bytes 0 become 1, which hosts_parse refuses. */
static char *read_hostfile(const struct run_options *o) {
  const char *path = o->hostfile;
  FILE *file = fopen(path, "re");
  char *text = calloc(1, HOSTFILE_BYTES);
  if (!text) tmb_fatal_nopos("out of memory for a list of hosts");
  const size_t bytes = file ? fread(text, 1, HOSTFILE_BYTES - 1, file) : 0;
  if (file && bytes < HOSTFILE_BYTES - 1 && !ferror(file)) {
    fclose(file);
    for (size_t i = 0; i < bytes; i++)
      if (!text[i]) text[i] = 1;
    return text;
  }
  tmb_print("run: %s %s: %s; give a file with one NAME[:RANKS] a line", o->hosts_from, path,
            file && !ferror(file) ? "longer than 1 MiB" : strerror(errno));
  if (file) fclose(file);
  free(text);
  return NULL;
}

/* Reads the list of hosts and places the ranks. Returns 0 or an exit code after a message. */
static int plan_places(struct run_options *o, struct tree_job *job) {
  struct host_list list = {0};
  char why[HOSTS_WHY_BYTES];
  char *file = o->hosts ? NULL : read_hostfile(o);
  if (!o->hosts && !file) return TOOL_EXIT_USAGE;
  int rc = hosts_parse(&list, file ? file : o->hosts, why);
  if (!rc) rc = hosts_place(&list, o->hosts_max, o->cyclic, &o->ranks, &job->host_of, why);
  free(file);
  if (rc) {
    tmb_print("run: %s %s: %s", o->hosts_from, o->hosts ? o->hosts : o->hostfile, why);
    hosts_free(&list);
    return TOOL_EXIT_USAGE;
  }
  job->size = o->ranks;
  job->hosts = list.count;
  job->host_name = calloc(list.count + 1, sizeof *job->host_name);
  if (!job->host_name) tmb_fatal_nopos("out of memory for %u hosts", list.count);
  for (uint32_t h = 0; h < list.count; h++) {
    job->host_name[h] = list.entry[h].name;
    list.entry[h].name = NULL;
  }
  hosts_free(&list);
  return 0;
}

static char *copy_of(const char *text) {
  char *copy = strdup(text);
  if (!copy) tmb_fatal_nopos("out of memory for the job");
  return copy;
}

/* Whether a custom command names the agent, and the host where there are several. [in] command: may
 * be NULL. Prints a message when not. */
static bool usable_custom(const char *command, uint32_t hosts) {
  if (command && strstr(command, "%C") && (hosts == 1 || strstr(command, "%M"))) return true;
  tmb_print("run: GASNET_SPAWNFN=C: GASNET_CSPAWN_CMD is \"%s\"; give a command that starts %%C on "
            "the host %%M and passes on its standard input and output, as \"srun -N1 -n1 -w %%M "
            "%%C\"",
            command ? command : "");
  return false;
}

/* The command that starts an agent. [in] hosts: number of them; a custom command for several names
 * the host by %M. Returns NULL after a message. */
static char *ssh_words(bool custom, uint32_t hosts) {
  char *text;
  const char *command = tmb_spawn_setting(custom ? TMB_CFG_CSPAWN_CMD : TMB_CFG_SSH,
                                          custom ? "CSPAWN_CMD" : "SSH_CMD");
  if (custom && !usable_custom(command, hosts)) return NULL;
  if (custom) return copy_of(command);
  const char *options = tmb_spawn_setting(TMB_CFG_SSH_OPTIONS, "SSH_OPTIONS");
  const size_t length = strcspn(command, " \t");
  const bool is_ssh = length >= 3 && strncmp(command + length - 3, "ssh", 3) == 0 &&
                      (length == 3 || command[length - 4] == '/');
  char ours[96] = "";
  if (is_ssh)
    snprintf(ours, sizeof ours, " -T -x -o BatchMode=yes -o ConnectTimeout=%d",
             (int)(tmb_cfg_dbl(TMB_CFG_SSH_TIMEOUT) + 0.999));
  if (asprintf(&text, "%s%s %s", command, ours, options ? options : "") < 0)
    tmb_fatal_nopos("out of memory for the job");
  return text;
}

static char *agent_path(void) {
  char *text;
  const char *folder = tmb_spawn_setting(TMB_CFG_SSH_REMOTE_PATH, "SSH_REMOTE_PATH");
  if (!folder) return copy_of(tmb_os_exe_name());
  if (asprintf(&text, "%s/tombolo", folder) < 0) tmb_fatal_nopos("out of memory for the job");
  return text;
}

static int plan_job(struct run *run, struct tree_job *job) {
  char folder[PATH_MAX];
  const int rc = plan_places(&run->options, job);
  if (rc) return rc;
  const uint32_t who = run->options.stdin_rank;
  if (who == TMB_LAUNCH_STDIN_ALL || (who < TMB_LAUNCH_STDIN_ALL && who >= job->size)) {
    tmb_print("run: --stdin: on several hosts standard input goes to one rank below %u, or to none",
              job->size);
    return TOOL_EXIT_USAGE;
  }
  if (!getcwd(folder, sizeof folder)) {
    tmb_print("run: cannot determine the working folder: %s; use --cwd", strerror(errno));
    return TOOL_EXIT_FAILED;
  }
  job->stdin_rank = who;
  job->line_buffered = run->options.label || isatty(STDOUT_FILENO);
  job->bind = run->options.bind;
  job->check_program = tmb_cfg_bool(TMB_CFG_CHECK_PROGRAM);
  job->degree = (uint32_t)tmb_cfg_int(TMB_CFG_SSH_OUT_DEGREE);
  job->silence_s = tmb_cfg_dbl(TMB_CFG_PEER_TIMEOUT);
  job->connect_s = tmb_cfg_dbl(TMB_CFG_SSH_TIMEOUT);
  job->ssh = ssh_words(run->options.custom, job->hosts);
  if (!job->ssh) return TOOL_EXIT_USAGE;
  job->agent = agent_path();
  job->folder = copy_of(folder);
  job->env = agent_environment_sent();
  job->file_mask = (uint32_t)umask(0);
  (void)umask((mode_t)job->file_mask);
  uint32_t count = 0;
  while (run->options.argv[count]) count++;
  job->argv = calloc(count + 1, sizeof *job->argv);
  if (!job->argv) tmb_fatal_nopos("out of memory for the job");
  for (uint32_t i = 0; i < count; i++) job->argv[i] = copy_of(run->options.argv[i]);
  return 0;
}

/* ---- failures before the ranks run */

static void fail_start(struct root *r, uint32_t host, const char *why, int code) {
  if (r->failures++ < FAILURES_SHOWN && *why)
    tmb_print("host %s: %s", r->tree.job.host_name[host], why);
  if (r->code == 0) r->code = code;
}

/* Message of an agent, without our name before and the end of the line behind. */
static char *bare_text(char *text) {
  const char *prefix = "tombolo: ";
  size_t n = strlen(text);
  while (n && text[n - 1] == '\n') text[--n] = '\0';
  if (strncmp(text, prefix, strlen(prefix)) == 0) text += strlen(prefix);
  if (strncmp(text, "run: ", 5) == 0) text += 5;
  return text;
}

static void host_ready(struct root *r, const struct frame *f) {
  struct tree *t = &r->tree;
  if (f->a >= t->job.hosts || t->host_state[f->a] != TREE_STARTING) return;
  struct pack p = pack_reader(f->data, f->bytes);
  r->hash[f->a] = unpack_u64(&p);
  char *said = unpack_text(&p);
  t->host_state[f->a] = TREE_READY;
  r->ready++;
  if (f->b)
    fail_start(r, f->a, bare_text(said), (int)f->b);
  else if (*said)
    fputs(said, stderr);
  free(said);
}

static void host_lost(struct tree *t, uint32_t host, const char *why) {
  struct root *r = t->arg;
  if (r->supervised && t->sup)
    tmb_supervise_lose_host(t->sup, host, t->job.host_name[host],
                            *why ? why : "the agent above it is lost");
  else
    fail_start(r, host, why, TOOL_EXIT_FAILED);
}

static void check_programs(struct root *r) {
  const struct tree_job *job = &r->tree.job;
  for (uint32_t h = 1; h < job->hosts; h++) {
    char why[TREE_WHY_BYTES];
    if (r->hash[h] == r->hash[0]) continue;
    snprintf(why, sizeof why,
             "program '%s' differs from the one on host %s; copy it there, or set "
             "TOMBOLO_CHECK_PROGRAM=0",
             job->argv[0], job->host_name[0]);
    fail_start(r, h, why, TOOL_EXIT_FAILED);
  }
}

/* ---- frames */

/* A host whose ranks have all ended without a word cannot come to a round that others wait in. */
static void check_absent(struct root *r) {
  bool waiting = false;
  for (uint32_t i = 0; i < r->tree.children; i++) waiting |= r->tree.child[i].has_parts;
  if (waiting && r->tree.sup) tmb_supervise_absent(r->tree.sup);
}

static void root_frame(struct tree *t, const struct frame *f) {
  struct root *r = t->arg;
  switch (f->type) {
  case FRAME_READY: host_ready(r, f); break;
  case FRAME_OUTPUT: front_output(&r->front, f->a, f->b, f->data, f->bytes); break;
  case FRAME_INPUT_DONE: front_input_taken(&r->front, f->b); break;
  case FRAME_CLOCK: far_trace_answer(t, f); break;
  case FRAME_STATS: far_stats_keep(r->stats.rank, r->stats.size, f); break;
  case FRAME_TRACE: far_trace_keep(&r->trace, f); break;
  case FRAME_CRASH: far_crashes_keep(&r->crashes, t->job.size, f); break;
  case FRAME_DONE:
    if (r->code == 0) r->code = (int)f->b;
    check_absent(r);
    break;
  default: break;
  }
}

/* ---- start */

/* Waits until every host is ready. Returns 0 or the exit code. */
static int await_ready(struct root *r, struct pollfd *fds, nfds_t max) {
  struct tree *t = &r->tree;
  uint64_t failed_ns = 0;
  while (r->ready + r->failures < t->job.hosts || r->failures) {
    int timeout_ms = r->failures ? 50 : 500;
    fds[0] = (struct pollfd){.fd = t->launch->signal_fd, .events = POLLIN};
    const nfds_t count = 1 + tree_wait(t, fds + 1, max - 1, &timeout_ms);
    (void)poll(fds, count, timeout_ms);
    tree_step(t);
    const int sig = run_ending_signal(t->launch->signal_fd);
    if (sig) return 128 + sig;
    if (!r->failures) continue;
    if (!failed_ns) failed_ns = tmb_os_now_ns();
    if (tmb_os_now_ns() - failed_ns > MORE_FAILURES_NS) break;
  }
  if (!r->failures) check_programs(r);
  if (r->failures > FAILURES_SHOWN) tmb_print("%u more hosts failed", r->failures - FAILURES_SHOWN);
  return r->failures ? r->code : 0;
}

/* ---- the ranks run */

static nfds_t far_wait(void *arg, struct pollfd *fds, nfds_t max, int *timeout_ms) {
  struct root *r = arg;
  const nfds_t count = tree_wait(&r->tree, fds, max, timeout_ms);
  return count + front_wait(&r->front, fds + count, max - count);
}

static void far_serve(void *arg, struct tmb_sup *sup) {
  struct root *r = arg;
  r->tree.sup = sup;
  tree_step(&r->tree);
  front_serve(&r->front);
}

static void far_notify(void *arg, const struct tmb_sup_event *event) {
  struct root *r = arg;
  tree_notify(&r->tree, event);
}

/* A job that has failed waits neither for a slow reader nor for agents that do not answer. */
static bool far_finished(void *arg, const struct tmb_sup_state *state) {
  struct root *r = arg;
  if (tree_below_ended(&r->tree)) return true;
  if (!state->failed) return false;
  const uint64_t now = tmb_os_now_ns();
  if (!r->failed_ns) r->failed_ns = now;
  if (state->far_alive == 0 && now - r->failed_ns > SLOW_AFTER_NS && front_pending(&r->front))
    front_drop(&r->front);
  if (now - r->failed_ns < AGENTS_NS) return false;
  for (uint32_t h = 0; h < r->tree.job.hosts; h++)
    if (r->tree.host_state[h] < TREE_DONE)
      tmb_print("host %s: its agent does not answer; leaving it", r->tree.job.host_name[h]);
  return true;
}

static bool far_output_full(void *arg) {
  const struct root *r = arg;
  return front_pending(&r->front);
}

/* Delivers the remaining output. Returns the number of a signal that cut it short, or 0. */
static int deliver(struct root *r, bool cut_short) {
  const double limit_s = cut_short ? 2.0 : TMB_BOOT_SLOW_OUTPUT_S;
  const uint64_t deadline = tmb_os_now_ns() + (uint64_t)(limit_s * 1e9);
  const int signal_fd = r->tree.launch->signal_fd;
  int sig = 0;
  r->front.input_open = false;
  while (front_pending(&r->front) && !sig && tmb_os_now_ns() < deadline) {
    struct pollfd fds[64] = {{.fd = signal_fd, .events = POLLIN}};
    const nfds_t count = 1 + front_wait(&r->front, fds + 1, TMB_ARRAY_LEN(fds) - 1);
    (void)poll(fds, count, 1000);
    front_serve(&r->front);
    sig = run_ending_signal(signal_fd);
  }
  front_end_labels(&r->front);
  if (r->run->label && !sig) {
    sig = run_label_finish(r->run->label, signal_fd, limit_s);
    if (r->code == 0 && run_label_lost(r->run->label)) r->code = TOOL_EXIT_FAILED;
  }
  return sig;
}

static bool far_look(void *arg, struct tmb_snapshot *now) {
  struct root *r = arg;
  return look_now(&r->tree, now);
}

static int supervise(struct root *r) {
  const struct tmb_sup_far far = {.arg = r,
                                  .wait = far_wait,
                                  .serve = far_serve,
                                  .notify = far_notify,
                                  .finished = far_finished,
                                  .look = far_look,
                                  .output_full = far_output_full};
  struct tmb_supervise_options options = {.timeout_s = r->run->options.timeout_s, .far = &far};
  r->supervised = true;
  int code = tmb_supervise(r->tree.launch, &options);
  if (code == 0 && !options.final) code = r->code;
  r->code = code;
  const int sig = deliver(r, options.cut_short);
  far_crashes_print(&r->crashes, r->tree.job.size);
  return sig && r->code == 0 ? 128 + sig : r->code;
}

static void write_trace(struct root *r) {
  char *command = tmb_trace_command(r->run->options.argv);
  r->trace.command = command;
  if (r->trace.size) (void)tmb_trace_set_write(&r->trace);
  tmb_trace_set_free(&r->trace);
  free(command);
}

static int start_and_run(struct root *r) {
  struct pollfd *fds = calloc(4 * (size_t)r->tree.job.hosts + 8, sizeof *fds);
  if (!fds) tmb_fatal_nopos("out of memory for %u hosts", r->tree.job.hosts);
  int code = tree_start_children(&r->tree) ? TOOL_EXIT_FAILED : 0;
  if (code == 0) code = await_ready(r, fds, 4 * (nfds_t)r->tree.job.hosts + 8);
  free(fds);
  if (code) return code;
  if (front_open(&r->front, &r->tree, r->run->label)) return TOOL_EXIT_FAILED;
  tree_send_down(&r->tree, (struct frame){.type = FRAME_START});
  code = supervise(r);
  front_close(&r->front);
  write_trace(r);
  if (r->stats.rank) run_stats_print(&r->stats, stderr);
  return code;
}

/* The launch of a process without ranks of its own: the job's number, secret and signals. */
static int open_launch(struct root *r) {
  struct tmb_launch *l = &r->run->launch;
  struct tree_job *job = &r->tree.job;
  l->size = job->size;
  l->hosts = job->hosts;
  l->host_of = job->host_of;
  l->host_names = job->host_name;
  l->only_host = TREE_ROOT;
  l->far = true;
  l->stdin_rank = TMB_LAUNCH_STDIN_NONE;
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (tmb_launch_open(l) != 0) return TOOL_EXIT_FAILED;
  job->job_id = l->ctl->job_id;
  memcpy(job->secret, l->ctl->secret, sizeof job->secret);
  r->tree.launch = l;
  if (r->run->options.stats) run_stats_open(&r->stats, job->size);
  if (tmb_trace_wanted() && tmb_trace_set_open(&r->trace, l->ctl)) return TOOL_EXIT_FAILED;
  r->tree.look = look_open(job, TREE_ROOT);
  return 0;
}

int run_hosts_main(struct run *run) {
  struct root r = {.run = run};
  int code = plan_job(run, &r.tree.job);
  if (code) return code;
  r.tree.host = TREE_ROOT;
  r.tree.last = r.tree.job.hosts - 1;
  r.tree.frame = root_frame;
  r.tree.lost = host_lost;
  r.tree.arg = &r;
  r.hash = calloc(r.tree.job.hosts, sizeof *r.hash);
  if (!r.hash) tmb_fatal_nopos("out of memory for %u hosts", r.tree.job.hosts);
  tree_open(&r.tree);
  if (run->options.label && !(run->label = run_label_open(r.tree.job.size)))
    return TOOL_EXIT_FAILED;
  (void)signal(SIGPIPE, SIG_IGN);
  code = open_launch(&r);
  struct run_live live;
  const bool shown = code == 0 && run->options.live;
  if (shown) run_live_begin(&live, r.tree.launch);
  if (code == 0) code = start_and_run(&r);
  tree_close(&r.tree, AGENT_LAST_WORDS_S);
  if (shown) run_live_end(&live);
  if (r.tree.launch) tmb_launch_close(r.tree.launch);
  free(r.hash);
  free(r.crashes.list);
  if (!run_label_close(run->label)) _exit(code);
  return code;
}
