/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bringing the tree of agents up: an ssh for each child, greetings, failures; and its end. See
 * tree.h.
 *
 * Owns: nothing global. Called by run_hosts.c, agent.c, tree.c. Calls: link, base, os, libc.
 * Invariants: the job with its secret is sent only to a child that has greeted as an agent of this
 * very version; the secret is in no argument list and in no environment.
 */
#define _GNU_SOURCE
#include "agent/look.h"
#include "agent/tree.h"
#include "ranks/run.h"
#include "tool.h"

#include "base/error.h"
#include "base/log.h"
#include "os/os.h"

#include "build_info.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GREETING         "\001tombolo-agent "
#define PROTOCOL         "2"
#define GREETING_MAX     65536 /* a login shell may say so much before the agent does */
#define WORDS_MAX        64
#define AGENT_WORDS      " run --agent"
#define AGENT_WORDS_COPY " run " RUN_AGENT_COPY
#define LAST_WORDS_MS    500 /* from the end of a child's link to the end of its messages */

char *tree_greeting(char *buf, size_t bytes) {
  const uint16_t one = 1;
  const bool little = *(const uint8_t *)&one == 1;
  snprintf(buf, bytes, GREETING PROTOCOL " %s %s %s\n", little ? "little" : "big",
           TMB_BUILD_VERSION, TMB_BUILD_REVISION);
  return buf;
}

void tree_open(struct tree *t) {
  t->host_state = calloc(t->job.hosts, sizeof *t->host_state);
  t->order = calloc(t->job.size, sizeof *t->order);
  t->child = calloc(t->job.hosts, sizeof *t->child);
  if (!t->host_state || !t->order || !t->child)
    tmb_fatal_nopos("out of memory for %u hosts", t->job.hosts);
  uint32_t next = 0;
  for (uint32_t h = 0; h < t->job.hosts; h++)
    for (uint32_t r = 0; r < t->job.size; r++)
      if (t->job.host_of[r] == h) t->order[next++] = r;
  t->own_refuses = t->host != TREE_ROOT;
  t->refuses_sent = true;
}

/* ---- starting */

/* Appends text to a line that a shell reads, in quotes where the shell would change it. */
static void pack_shell(struct pack *p, const char *text) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.,:@%+=-";
  const bool quote = !*text || text[strspn(text, plain)];
  if (quote) pack_bytes(p, "'", 1);
  for (; *text; text++) {
    const char *part = *text == '\'' ? "'\\''" : text;
    pack_bytes(p, part, *text == '\'' ? 4 : 1);
  }
  if (quote) pack_bytes(p, "'", 1);
}

/* The custom command, its %-letters replaced, for the shell. [in] own_stdin: %C reads descriptor
 * RUN_AGENT_STDIN, so that it may run in the background, where a shell takes standard input away.
 */
static char *custom_line(const struct tree *t, const char *host, bool own_stdin) {
  struct pack p = {0};
  for (const char *at = t->job.ssh; *at; at++) {
    if (*at != '%' || !at[1]) {
      pack_bytes(&p, at, 1);
      continue;
    }
    at++;
    const char *with = *at == 'M'   ? host
                       : *at == 'N' ? "1"
                       : *at == 'D' ? t->job.folder
                       : *at == 'P' ? t->job.argv[0]
                       : *at == 'C' ? t->job.agent
                                    : NULL;
    if (with)
      pack_shell(&p, with);
    else
      pack_bytes(&p, at, 1);
    if (*at != 'C') continue;
    const char *words = own_stdin ? AGENT_WORDS_COPY : AGENT_WORDS;
    pack_bytes(&p, words, strlen(words));
  }
  pack_bytes(&p, "", 1);
  return p.data;
}

/* In a fork: become the shell that runs the custom command. A job without named hosts runs it once,
 * for this machine, which is "localhost" then. */
_Noreturn static void become_custom(const struct tree *t, const char *host) {
  const bool here = strcmp(host, "localhost") == 0;
  if (here && dup2(0, RUN_AGENT_STDIN) < 0) _exit(TOOL_EXIT_FAILED);
  execl("/bin/sh", "sh", "-c", custom_line(t, host, here), (char *)NULL);
  fprintf(stderr, "/bin/sh: %s\n", strerror(errno));
  _exit(TOOL_EXIT_NOT_FOUND);
}

/* The words of ssh: command, options, host, command line there. */
static int ssh_words(const struct tree *t, const char *host, char **words) {
  char *save, *remote = NULL;
  int count = 0;
  for (char *w = strtok_r(t->job.ssh, " \t", &save); w && count < WORDS_MAX;
       w = strtok_r(NULL, " \t", &save))
    words[count++] = w;
  words[count++] = (char *)(uintptr_t)host;
  if (asprintf(&remote, "exec '%s'" AGENT_WORDS, t->job.agent) < 0) _exit(TOOL_EXIT_FAILED);
  words[count++] = remote;
  return count;
}

/* In a fork: become the ssh that starts an agent, or the agent itself on this host. */
_Noreturn static void become_ssh(const struct tree *t, const char *host) {
  char *words[WORDS_MAX + 5];
  if (strstr(t->job.ssh, "%C")) become_custom(t, host);
  if (tmb_os_is_this_host(host)) {
    execl(t->job.agent, t->job.agent, "run", "--agent", (char *)NULL);
    fprintf(stderr, "%s: %s\n", t->job.agent, strerror(errno));
    _exit(TOOL_EXIT_NOT_FOUND);
  }
  const int count = ssh_words(t, host, words);
  words[count] = NULL;
  execvp(words[0], words);
  fprintf(stderr, "%s: %s\n", words[0], strerror(errno));
  _exit(TOOL_EXIT_NOT_FOUND);
}

static void plain_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  (void)signal(SIGPIPE, SIG_DFL);
}

static int start_child(struct tree *t, struct tree_child *c) {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
    tmb_print("run: cannot open pipes for host %s: %s; %s", t->job.host_name[c->first],
              strerror(errno), tmb_error_fd_remedy(errno));
    return -1;
  }
  const pid_t parent = getpid();
  c->pid = fork();
  const int refusal = errno;
  if (c->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(TOOL_EXIT_FAILED);
    setpgid(0, 0); /* a Ctrl-C at the terminal is for the launcher, which notifies the agents */
    if (dup2(out[0], 0) < 0 || dup2(in[1], 1) < 0 || dup2(err[1], 2) < 0) _exit(TOOL_EXIT_FAILED);
    plain_signals();
    become_ssh(t, t->job.host_name[c->first]);
  }
  close(out[0]);
  close(in[1]);
  close(err[1]);
  if (c->pid < 0) {
    char limit[256];
    tmb_print("run: cannot start ssh for host %s: %s (%s)", t->job.host_name[c->first],
              strerror(refusal), tmb_os_processes_refused(limit, sizeof limit));
    c->pid = 0;
    return -1;
  }
  link_open(&c->link, in[0], out[1]);
  c->err_fd = err[0];
  (void)fcntl(c->err_fd, F_SETFL, O_NONBLOCK);
  c->started_ns = tmb_os_now_ns();
  c->refuses = true;
  return 0;
}

int tree_start_children(struct tree *t) {
  const uint32_t from = t->host == TREE_ROOT ? t->first : t->first + 1;
  const uint32_t below = t->last + 1 - from;
  const uint32_t count = TMB_MIN(below, t->job.degree);
  for (uint32_t i = 0; i < count; i++) {
    struct tree_child *c = &t->child[i];
    *c = (struct tree_child){.first = from + (uint32_t)((uint64_t)below * i / count),
                             .last = from + (uint32_t)((uint64_t)below * (i + 1) / count) - 1,
                             .err_fd = -1};
    t->children = i + 1;
    if (start_child(t, c)) return -1;
  }
  return 0;
}

/* ---- output of children */

/* Passes on the messages of the agents below, or keeps the end of ssh's messages before them. */
static void read_words(struct tree_child *c) {
  char text[4096];
  ssize_t n;
  while (c->err_fd >= 0 && (n = read(c->err_fd, text, sizeof text)) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    if (c->greeted) {
      for (ssize_t at = 0, w; at < n; at += w)
        if ((w = write(STDERR_FILENO, text + at, (size_t)(n - at))) <= 0) break;
      continue;
    }
    const size_t used = strlen(c->said), keep = sizeof c->said - 1;
    const size_t part = TMB_MIN((size_t)n, keep);
    const size_t old = TMB_MIN(used, keep - part);
    memmove(c->said, c->said + used - old, old);
    memcpy(c->said + old, text + (size_t)n - part, part);
    c->said[old + part] = '\0';
  }
  if (c->err_fd >= 0) close(c->err_fd);
  c->err_fd = -1;
}

/* The last line that was said, without its end; "" if nothing was. */
static const char *last_line(struct tree_child *c) {
  size_t n = strlen(c->said);
  while (n && (c->said[n - 1] == '\n' || c->said[n - 1] == '\r')) c->said[--n] = '\0';
  const char *line = strrchr(c->said, '\n');
  return line ? line + 1 : c->said;
}

/* Why a child has ended before it greeted. */
static void explain(struct tree *t, struct tree_child *c, char *why, size_t why_bytes) {
  int status = 0;
  struct pollfd more = {.fd = c->err_fd, .events = POLLIN};
  while (c->err_fd >= 0 && poll(&more, 1, LAST_WORDS_MS) > 0) read_words(c);
  for (int ms = 0; c->pid && ms < LAST_WORDS_MS; ms += 5) {
    if (waitpid(c->pid, &status, WNOHANG) == c->pid) c->pid = 0;
    if (c->pid) (void)poll(NULL, 0, 5);
  }
  const char *line = last_line(c);
  if (WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126) &&
      strstr(c->said, t->job.agent))
    snprintf(why, why_bytes,
             "there is no command %s; install the library there as here, or say where it is with "
             "TOMBOLO_SSH_REMOTE_PATH (%s)",
             t->job.agent, line);
  else
    snprintf(why, why_bytes,
             "cannot be reached: %s; check the name in --hosts or TOMBOLO_HOSTS, and that ssh asks "
             "no password there",
             *line ? line : "its agent ended without a word");
}

/* The version that the other side has greeted with is not ours. */
static void explain_version(const char *theirs, char *why, size_t why_bytes) {
  char ours[128];
  tree_greeting(ours, sizeof ours);
  snprintf(why, why_bytes, "another version of the library is installed there: %.*s, here %.*s",
           (int)strcspn(theirs, "\n"), theirs, (int)strcspn(ours + strlen(GREETING), "\n"),
           ours + strlen(GREETING));
}

static void send_job(struct tree *t, struct tree_child *c) {
  struct pack p = {0};
  tree_job_pack(&t->job, c->first, c->last, &p);
  link_send(&c->link,
            (struct frame){.type = FRAME_JOB, .bytes = (uint32_t)p.bytes, .data = p.data});
  explicit_bzero(p.data, p.bytes);
  pack_free(&p);
}

/* Looks for the greeting in the received bytes. Returns false, and why, if there will be none. */
static bool greet(struct tree *t, struct tree_child *c, char *why) {
  struct pack *in = &c->link.in;
  char ours[128];
  tree_greeting(ours, sizeof ours);
  const char *at = in->bytes ? memmem(in->data, in->bytes, GREETING, strlen(GREETING)) : NULL;
  const char *end = at ? memchr(at, '\n', (size_t)(in->data + in->bytes - at)) : NULL;
  if (!end) {
    if (in->bytes <= GREETING_MAX) return true;
    snprintf(why, TREE_WHY_BYTES, "what answers there is no agent");
    return false;
  }
  if (strncmp(at, ours, strlen(ours)) != 0) {
    explain_version(at + strlen(GREETING), why, TREE_WHY_BYTES);
    return false;
  }
  in->at = (size_t)(end + 1 - in->data);
  c->greeted = true;
  send_job(t, c);
  return true;
}

static void watch_child(struct tree *t, struct tree_child *c) {
  char why[TREE_WHY_BYTES];
  read_words(c);
  if (c->greeted || c->link.broken) return;
  link_pull(&c->link, GREETING_MAX);
  if (!greet(t, c, why)) {
    tree_child_lost(t, c, why);
  } else if (c->link.broken && !c->greeted) {
    explain(t, c, why, sizeof why);
    tree_child_lost(t, c, why);
  } else if (!c->greeted && (double)(tmb_os_now_ns() - c->started_ns) / 1e9 > t->job.connect_s) {
    const char *line = last_line(c);
    snprintf(why, sizeof why, "no answer within %g s (TOMBOLO_SSH_TIMEOUT)%s%s", t->job.connect_s,
             *line ? ": " : "", line);
    tree_child_lost(t, c, why);
  }
}

void tree_start_watch(struct tree *t) {
  for (uint32_t i = 0; i < t->children; i++) watch_child(t, &t->child[i]);
}

/* ---- the end */

/* Whether nothing more can come from a child. */
static bool is_over(struct tree_child *c) {
  read_words(c);
  if (c->pid && waitpid(c->pid, NULL, WNOHANG) != 0) c->pid = 0;
  return c->pid == 0 && c->err_fd < 0;
}

void tree_close(struct tree *t, double limit_s) {
  const uint64_t deadline = tmb_os_now_ns() + (uint64_t)(limit_s * 1e9);
  for (uint32_t i = 0; i < t->children; i++) link_close(&t->child[i].link);
  for (uint32_t i = 0; i < t->children; i++) {
    struct tree_child *c = &t->child[i];
    while (!is_over(c) && tmb_os_now_ns() < deadline) {
      struct pollfd wait = {.fd = c->err_fd, .events = POLLIN};
      (void)poll(&wait, 1, 10);
    }
    if (c->pid) {
      kill(c->pid, SIGKILL);
      (void)waitpid(c->pid, NULL, 0);
    }
    if (c->err_fd >= 0) close(c->err_fd);
    pack_free(&c->parts);
  }
  look_close(t->look);
  if (t->host != TREE_ROOT) link_close(&t->up);
  free(t->child);
  free(t->host_state);
  free(t->order);
  tree_job_free(&t->job);
}
