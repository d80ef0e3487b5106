/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process manager for MPICH, in the process itself, where no launcher of MPI has started it:
 * under `tombolo run`, and under a launcher whose one connection the bootstrap has used.
 *
 * Owns: struct server, one for the process, and a thread that answers MPICH's PMI-1 requests on a
 * socket pair until MPI_Finalize; it sleeps in read. Called by mpi.c before and after MPI_Init.
 * Calls: env->allgather for PMI's barriers, which come while MPI_Init runs and its caller waits,
 * and env->barrier for that of MPI_Finalize. Open MPI has no such interface: it needs its own
 * launcher. Invariants: values are collected in a text, "KEY=VALUE" lines, which a barrier
 * exchanges; MPICH reads the variables in MPI_Init alone, so they are unset afterwards.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/mpi_boot.h"
#include "net/mpi/mpi_engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINE_BYTES = 2048, VALUE_BYTES = 1024, VARIABLES = 3 };

struct server {
  const struct tmb_net_env *env;
  int fd;
  char *mine, *all;
  size_t mine_bytes, all_bytes;
  bool in_open; /* MPI_Init runs: barriers are possible */
};

static const char *const names[VARIABLES] = {"PMI_FD", "PMI_RANK", "PMI_SIZE"};
static struct server the_server;

/* ---- the store */

static void append(struct server *s, char **text, size_t *bytes, const char *more, size_t count) {
  char *longer = realloc(*text, *bytes + count + 1);
  if (!longer) s->env->up->fatal("mpi: out of memory for what MPI sends its ranks");
  memcpy(longer + *bytes, more, count);
  *text = longer;
  *bytes += count;
  longer[*bytes] = '\0';
}

/* The ranks' texts one behind the other, all with the length of the longest. */
static void exchange(struct server *s) {
  const struct tmb_net_env *env = s->env;
  const uint64_t bytes = s->mine_bytes;
  uint64_t *lengths = calloc(env->size, sizeof *lengths), most = 1;
  if (!lengths) env->up->fatal("out of memory for %u ranks", env->size);
  env->allgather(env->ctx, &bytes, sizeof bytes, lengths);
  for (uint32_t r = 0; r < env->size; r++) most = TMB_MAX(most, lengths[r]);
  char *padded = calloc(1, most), *texts = calloc(env->size, most);
  if (!padded || !texts) env->up->fatal("out of memory for %u ranks", env->size);
  if (bytes) memcpy(padded, s->mine, bytes);
  env->allgather(env->ctx, padded, most, texts);
  for (uint32_t r = 0; r < env->size; r++)
    append(s, &s->all, &s->all_bytes, texts + r * most, lengths[r]);
  free(lengths);
  free(padded);
  free(texts);
  s->mine_bytes = 0;
}

/* Placement of ranks on hosts, as PMI has it: (vector,(HOST,1,RANKS),...). Returns false if that is
 * too long. */
static bool mapping(const struct tmb_net_env *env, char *text) {
  size_t at = (size_t)snprintf(text, VALUE_BYTES, "(vector");
  for (uint32_t r = 0; r < env->size;) {
    uint32_t ranks = 1;
    while (r + ranks < env->size && env->host_of[r + ranks] == env->host_of[r]) ranks++;
    at += (size_t)snprintf(text + at, VALUE_BYTES - at, ",(%u,1,%u)", env->host_of[r], ranks);
    if (at + 40 > VALUE_BYTES) return false;
    r += ranks;
  }
  snprintf(text + at, VALUE_BYTES - at, ")");
  return true;
}

/* ---- the protocol */

/* The value of a word "NAME=VALUE" of a request; of `value` all up to the end. */
static bool word(const char *line, const char *name, char *value, size_t bytes) {
  const size_t length = strlen(name);
  for (const char *at = line; at; at = strchr(at, ' ')) {
    if (*at == ' ') at++;
    if (strncmp(at, name, length) != 0 || at[length] != '=') continue;
    const char *from = at + length + 1;
    const size_t n = strcspn(from, strcmp(name, "value") == 0 ? "\n" : " \n");
    snprintf(value, bytes, "%.*s", (int)n, from);
    return true;
  }
  return false;
}

__attribute__((format(printf, 2, 3))) static void answer(const struct server *s, const char *format,
                                                         ...) {
  char line[LINE_BYTES];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(line, sizeof line, format, args);
  va_end(args);
  if (write(s->fd, line, (size_t)n) != n)
    s->env->up->print("mpi: MPICH does not accept an answer: %s", strerror(errno));
}

static void put(struct server *s, const char *line) {
  char key[VALUE_BYTES], value[VALUE_BYTES], entry[LINE_BYTES + 2];
  const bool good = word(line, "key", key, sizeof key) && word(line, "value", value, sizeof value);
  if (good) {
    const int n = snprintf(entry, sizeof entry, "%s=%s\n", key, value);
    append(s, &s->mine, &s->mine_bytes, entry, (size_t)n);
  }
  answer(s, "cmd=put_result rc=%d msg=%s\n", good ? 0 : -1, good ? "success" : "no_key");
}

static void get(const struct server *s, const char *line) {
  char key[VALUE_BYTES] = "", value[VALUE_BYTES] = "unknown";
  (void)word(line, "key", key, sizeof key);
  const bool map = strcmp(key, "PMI_process_mapping") == 0;
  if (map ? mapping(s->env, value) : tmb_mpi_boot_find(s->all, key, value, VALUE_BYTES))
    answer(s, "cmd=get_result rc=0 msg=success value=%s\n", value);
  else
    answer(s, "cmd=get_result rc=-1 msg=key_%.100s_not_found value=unknown\n", key);
}

static void barrier(struct server *s) {
  if (tmb_load_acq(&s->in_open))
    exchange(s);
  else
    s->env->barrier(s->env->ctx);
  answer(s, "cmd=barrier_out\n");
}

/* Returns false after the last request. */
static bool serve(struct server *s, const char *line) {
  char cmd[32] = "", code[16] = "1";
  (void)word(line, "cmd", cmd, sizeof cmd);
  if (strcmp(cmd, "init") == 0)
    answer(s, "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
  else if (strcmp(cmd, "get_maxes") == 0)
    answer(s, "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=%d\n", VALUE_BYTES);
  else if (strcmp(cmd, "get_appnum") == 0)
    answer(s, "cmd=appnum appnum=0\n");
  else if (strcmp(cmd, "get_universe_size") == 0)
    answer(s, "cmd=universe_size size=%u\n", s->env->size);
  else if (strcmp(cmd, "get_my_kvsname") == 0)
    answer(s, "cmd=my_kvsname kvsname=tombolo\n");
  else if (strcmp(cmd, "put") == 0)
    put(s, line);
  else if (strcmp(cmd, "get") == 0)
    get(s, line);
  else if (strcmp(cmd, "barrier_in") == 0)
    barrier(s);
  else if (strcmp(cmd, "abort") == 0 && word(line, "exitcode", code, sizeof code))
    s->env->up->fatal("mpi: MPICH ends the job with code %s", code);
  else if (strcmp(cmd, "finalize") == 0)
    answer(s, "cmd=finalize_ack\n");
  else
    s->env->up->fatal("mpi: MPICH asks its process manager for '%s', which `tombolo run` cannot "
                      "do; start the program with mpiexec",
                      cmd);
  return strcmp(cmd, "finalize") != 0;
}

static void *run(void *arg) {
  struct server *s = arg;
  char text[LINE_BYTES];
  size_t have = 0;
  bool more = true;
  while (more) {
    const ssize_t n = read(s->fd, text + have, sizeof text - 1 - have);
    if (n <= 0) break;
    have += (size_t)n;
    text[have] = '\0';
    for (char *end; more && (end = memchr(text, '\n', have));) {
      *end = '\0';
      more = serve(s, text);
      have -= (size_t)(end + 1 - text);
      memmove(text, end + 1, have + 1);
    }
  }
  close(s->fd);
  free(s->mine);
  free(s->all);
  return NULL;
}

/* ---- starting */

#ifdef OPEN_MPI
static bool start(struct server *s) {
  if (!s->env->rank)
    s->env->up->print("mpi: Open MPI connects only ranks that its own launcher has started: use "
                      "mpirun, or TOMBOLO_MPI=mpich if MPICH is installed, or choose another "
                      "network by TOMBOLO_CONDUIT");
  return (void)run, false;
}
#else
static bool start(struct server *s) {
  int pair[2];
  pthread_t thread;
  pthread_attr_t attr;
  char value[16];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
    s->env->up->print("mpi: cannot make a socket pair: %s", strerror(errno));
    return false;
  }
  s->fd = pair[0];
  const uint32_t numbers[VARIABLES] = {(uint32_t)pair[1], s->env->rank, s->env->size};
  for (int i = 0; i < VARIABLES; i++) {
    snprintf(value, sizeof value, "%u", numbers[i]);
    setenv(names[i], value, 1);
  }
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  const int rc = pthread_create(&thread, &attr, run, s);
  pthread_attr_destroy(&attr);
  if (rc) s->env->up->print("mpi: cannot start a thread: %s", strerror(rc));
  return rc == 0;
}
#endif

bool nmpi_manager_start(struct tmb_net *net) {
  if (net->env.launched) return true;
  the_server = (struct server){.env = &net->env, .in_open = true};
  return start(&the_server);
}

void nmpi_manager_begun(void) {
  if (!the_server.env) return;
  tmb_store_rel(&the_server.in_open, false);
  for (int i = 0; i < VARIABLES; i++) unsetenv(names[i]);
}
