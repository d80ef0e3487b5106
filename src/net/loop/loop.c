/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop conduit: hosts that are pretended on one machine reach each other by Unix-domain
 * sockets. For tests: it has the four mandatory slots and nothing clever.
 *
 * Owns: one datagram socket a rank, with an abstract name made of the job's number and the rank.
 * Called through its table by core. Calls: sockets, env->up. A message is one datagram: struct
 * head, arguments, payload. The kernel keeps datagrams in order and loses none; a full queue at the
 * target refuses the next one, which is TMB_AGAIN. The requests that a rank finds while it may
 * serve replies only are kept in a list, so requests never hold up replies. Invariants: a datagram
 * is checked, length by length, before anything of it is used; the lock is not held while a handler
 * runs.
 */
#define _GNU_SOURCE
#include "base/atomic.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"
#include "net/net.h"
#include "os/sync/lock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Chosen, not measured: this conduit is for tests. */
#define PROGRESS_BATCH 32        /* messages of one call of progress */
#define BUFFER_BYTES   (4 << 20) /* of the socket, for messages in flight */
#define TOKEN_BYTES    16        /* of the job's secret, in every datagram */
#define ALIGN          16u       /* of a payload in a datagram, bytes */

struct head {
  uint8_t token[TOKEN_BYTES];
  uint32_t src, nbytes;
  uint16_t route;
  uint8_t category, handler, nargs, is_reply;
  uint8_t zero[2];
};
_Static_assert(sizeof(struct head) == 2 * ALIGN, "arguments are aligned");
#define DATAGRAM_MAX (sizeof(struct head) + 4 * TMB_AM_ARGS_SENT + TMB_AM_MEDIUM_BYTES_MAX)

/* A message that has come. */
struct message {
  struct message *next;
  struct head head;
  const int32_t *args;
  void *payload;
  char data[] TMB_ALIGNED(16);
};

struct tmb_net {
  struct tmb_net_env env;
  int fd;
  struct tmb_lock lock;
  struct message *first,
      **last; /* requests that wait for a poll that serves them; under the lock */
  char buffer[DATAGRAM_MAX] TMB_ALIGNED(16); /* under the lock */
};

/* Name of a rank's socket. Returns the length of the address. */
static socklen_t name_of(const struct tmb_net_env *env, uint32_t rank, struct sockaddr_un *name) {
  *name = (struct sockaddr_un){.sun_family = AF_UNIX};
  const int length = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "tombolo-%llx-%u",
                              (unsigned long long)env->job_id, rank);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int open_socket(struct tmb_net *net) {
  struct sockaddr_un name;
  const socklen_t length = name_of(&net->env, net->env.rank, &name);
  const int bytes = BUFFER_BYTES;
  net->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (net->fd < 0) return -1;
  (void)setsockopt(net->fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return bind(net->fd, (const struct sockaddr *)&name, length);
}

/* Whether all ranks are as far. in all: [ranks] room for their answers. */
static bool agree(const struct tmb_net_env *env, bool ok, uint8_t *all) {
  const uint8_t mine = ok;
  env->allgather(env->ctx, &mine, 1, all);
  for (uint32_t r = 0; r < env->size; r++) ok = ok && all[r];
  return ok;
}

static int loop_open(const struct tmb_net_env *env, struct tmb_net **out) {
  struct tmb_net *net = aligned_alloc(TMB_CACHE_LINE, TMB_ALIGN_UP(sizeof *net, TMB_CACHE_LINE));
  uint8_t *all = calloc(env->size, 1);
  if (!net || !all) {
    env->up->print("out of memory for the conduit loop of %u ranks", env->size);
    free(net);
    free(all);
    return TMB_E_NOMEM;
  }
  memset(net, 0, sizeof *net);
  net->env = *env;
  net->last = &net->first;
  const bool good = open_socket(net) == 0;
  if (!good) env->up->print("the conduit loop cannot open its socket: %s", strerror(errno));
  const bool all_good = agree(env, good, all);
  free(all);
  if (all_good) {
    *out = net;
    return 0;
  }
  if (net->fd >= 0) close(net->fd);
  free(net);
  return TMB_E_SYS;
}

static void loop_close(struct tmb_net *net) {
  close(net->fd);
  while (net->first) free(TMB_LIST_POP(&net->first));
  free(net);
}

static int loop_am_send(struct tmb_net *net, struct tmb_am_out *out) {
  struct sockaddr_un name;
  struct head head = {.src = net->env.rank,
                      .nbytes = out->category == TMB_AM_SHORT ? 0 : (uint32_t)out->nbytes,
                      .route = out->route,
                      .category = out->category,
                      .handler = out->handler,
                      .nargs = out->nargs,
                      .is_reply = out->is_reply};
  memcpy(head.token, net->env.secret, sizeof head.token);
  struct iovec part[3] = {{&head, sizeof head},
                          {(void *)(uintptr_t)out->args, 4u * out->nargs},
                          {(void *)(uintptr_t)out->src, head.nbytes}};
  struct msghdr message = {.msg_name = &name,
                           .msg_namelen = name_of(&net->env, out->peer, &name),
                           .msg_iov = part,
                           .msg_iovlen = 3};
  struct tmb_net_stats *stats = net->env.stats;
  if (sendmsg(net->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
    tmb_fetch_add_rlx(&stats->sent, 1);
    tmb_fetch_add_rlx(&stats->bytes_out, head.nbytes);
    return 0;
  }
  if (errno == ECONNREFUSED) return 0; /* the process has ended, which its launcher deals with */
  if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) return TMB_AGAIN;
  net->env.up->fatal("the conduit loop cannot send %u bytes to rank %u: %s", head.nbytes, out->peer,
                     strerror(errno));
}

/* Whether a datagram of `bytes` bytes is a message of a rank of another host. */
static bool is_good(const struct tmb_net *net, const struct head *h, size_t bytes) {
  const struct tmb_net_env *env = &net->env;
  return bytes >= sizeof *h && memcmp(h->token, env->secret, TOKEN_BYTES) == 0 &&
         h->src < env->size && env->host_of[h->src] != env->host && h->category <= TMB_AM_MEDIUM &&
         tmb_am_args_fit(h->nargs, h->route) && h->is_reply <= 1 &&
         h->nbytes <= TMB_AM_MEDIUM_BYTES_MAX && (h->category == TMB_AM_MEDIUM || !h->nbytes) &&
         bytes == sizeof *h + 4u * h->nargs + h->nbytes;
}

/* Copy a message out of the buffer. */
static struct message *copy_of(const struct tmb_net *net) {
  struct head head;
  memcpy(&head, net->buffer, sizeof head);
  const size_t args = 4u * head.nargs, at = TMB_ALIGN_UP(args, (size_t)ALIGN);
  const size_t bytes = TMB_ALIGN_UP(sizeof(struct message) + at + head.nbytes, (size_t)ALIGN);
  struct message *m = aligned_alloc(ALIGN, bytes);
  if (!m) net->env.up->fatal("out of memory for a message of %u bytes", head.nbytes);
  m->head = head;
  memcpy(m->data, net->buffer + sizeof head, args);
  memcpy(m->data + at, net->buffer + sizeof head + args, head.nbytes);
  m->args = (const int32_t *)(const void *)m->data;
  m->payload = m->data + at;
  return m;
}

/* The next message that may be served, or NULL. in serve: TMB_SERVE_*. */
static struct message *next_message(struct tmb_net *net, int serve) {
  struct message *m = net->first;
  if (m && (serve & TMB_SERVE_REQUESTS)) {
    (void)TMB_LIST_POP(&net->first);
    if (!net->first) net->last = &net->first;
    return m;
  }
  for (;;) {
    const ssize_t bytes = recv(net->fd, net->buffer, sizeof net->buffer, MSG_DONTWAIT);
    if (bytes < 0) return NULL;
    if (!is_good(net, (const struct head *)(const void *)net->buffer, (size_t)bytes)) {
      tmb_fetch_add_rlx(&net->env.stats->refused, 1);
      continue;
    }
    m = copy_of(net);
    if (serve & (m->head.is_reply ? TMB_SERVE_REPLIES : TMB_SERVE_REQUESTS)) return m;
    TMB_LIST_EXTEND(&net->last, m);
  }
}

static void hand_up(struct tmb_net *net, struct message *m) {
  const struct tmb_am_in in = {.src = m->head.src,
                               .category = m->head.category,
                               .handler = m->head.handler,
                               .nargs = m->head.nargs,
                               .is_reply = m->head.is_reply,
                               .route = m->head.route,
                               .args = m->args,
                               .payload = m->head.category == TMB_AM_SHORT ? NULL : m->payload,
                               .nbytes = m->head.nbytes};
  tmb_fetch_add_rlx(&net->env.stats->received, 1);
  tmb_fetch_add_rlx(&net->env.stats->bytes_in, in.nbytes);
  net->env.up->am(&in);
  free(m);
}

static int loop_progress(struct tmb_net *net, int serve) {
  for (int done = 0; done < PROGRESS_BATCH; done++) {
    if (!tmb_lock_try(&net->lock)) return done ? TMB_FOUND_WORK | TMB_FOUND_BUSY : TMB_FOUND_BUSY;
    struct message *const m = next_message(net, serve);
    tmb_lock_release(&net->lock);
    if (!m) return done ? TMB_FOUND_WORK : TMB_FOUND_NOTHING;
    hand_up(net, m);
  }
  return TMB_FOUND_WORK;
}

extern const struct tmb_net_ops tmb_net_loop;
const struct tmb_net_ops tmb_net_loop = {
    TMB_NET_MANDATORY("loop", loop_open, loop_close, loop_am_send, loop_progress), .whole = true};
