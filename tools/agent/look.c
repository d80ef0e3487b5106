/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions about a job and their path through the tree of agents, see look.h.
 *
 * Owns: struct look. Called as look.h says. Calls: tree, link, boot's snapshot, sockets.
 * Invariants: one snapshot at a time; a question that comes meanwhile gets the next one.
 */
#define _GNU_SOURCE
#include "agent/look.h"

#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS_MAX 8
#define LOOK_NS     UINT64_C(3000000000) /* a host that has not answered until then is left out */

/* A process of this host that has a question. */
struct client {
  int fd; /* -1: free */
  bool asked;
  uint32_t flags;
  uint32_t wanted; /* root: number of the look; agents: 1 once it is asked for above */
  struct pack out; /* `at`: sent */
};

struct look {
  uint32_t hosts, host;
  int fd; /* listens; -1: it could not be made */
  struct client client[CLIENTS_MAX];
  /* The rest: root only. */
  uint32_t number;     /* of looks begun */
  bool running;        /* the last of them */
  uint64_t begun_ns;   /* that one */
  uint32_t next_flags; /* of the next */
  uint32_t *wanted;    /* [hosts] number of the look that was asked for there; 0: none */
  uint8_t *answered;   /* [hosts] */
  uint32_t dog;        /* number of the question for the watchdog */
  bool has_dog;        /* `for_dog` is filled */
  struct tmb_snapshot seen, for_dog;
};

static int listen_here(const struct tree_job *job) {
  struct sockaddr_un address;
  const unsigned length = look_address(job->job_id, (int)getpid(), &address);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (bind(fd, (const struct sockaddr *)&address, length) == 0 && listen(fd, CLIENTS_MAX) == 0)
    return fd;
  close(fd);
  return -1;
}

struct look *look_open(const struct tree_job *job, uint32_t host) {
  struct look *l = calloc(1, sizeof *l);
  if (!l) return NULL;
  l->hosts = job->hosts;
  l->host = host;
  for (int i = 0; i < CLIENTS_MAX; i++) l->client[i].fd = -1;
  l->wanted = calloc(job->hosts, sizeof *l->wanted);
  l->answered = calloc(job->hosts, 1);
  l->fd = l->wanted && l->answered ? listen_here(job) : -1;
  return l;
}

static void end_client(struct client *c) {
  close(c->fd);
  pack_free(&c->out);
  *c = (struct client){.fd = -1};
}

void look_close(struct look *l) {
  if (!l) return;
  for (int i = 0; i < CLIENTS_MAX; i++)
    if (l->client[i].fd >= 0) end_client(&l->client[i]);
  if (l->fd >= 0) close(l->fd);
  if (l->running) tmb_snapshot_free(&l->seen);
  if (l->has_dog) tmb_snapshot_free(&l->for_dog);
  free(l->wanted);
  free(l->answered);
  free(l);
}

nfds_t look_wait(const struct look *l, struct pollfd *fds, nfds_t max) {
  nfds_t count = 0;
  if (!l || l->fd < 0 || max <= CLIENTS_MAX) return 0;
  fds[count++] = (struct pollfd){.fd = l->fd, .events = POLLIN};
  for (int i = 0; i < CLIENTS_MAX; i++) {
    const struct client *c = &l->client[i];
    if (c->fd < 0) continue;
    fds[count++] = (struct pollfd){.fd = c->fd, .events = c->out.bytes ? POLLIN | POLLOUT : POLLIN};
  }
  return count;
}

/* ---- requests */

static bool is_user(int fd) {
  struct ucred who;
  socklen_t bytes = sizeof who;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 &&
         (who.uid == geteuid() || who.uid == 0);
}

static void accept_clients(struct look *l) {
  int fd;
  while (l->fd >= 0 && (fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
    int i = 0;
    while (i < CLIENTS_MAX && l->client[i].fd >= 0) i++;
    if (i < CLIENTS_MAX && is_user(fd))
      l->client[i].fd = fd;
    else
      close(fd);
  }
}

/* Root: the number of the first look that is begun after now. */
static uint32_t next_look(struct look *l, uint32_t flags) {
  l->next_flags |= flags;
  return l->number + 1;
}

/* Reads a question, and notices a closed connection. */
static void hear_client(struct tree *t, struct client *c) {
  uint32_t flags;
  const ssize_t n = recv(c->fd, &flags, sizeof flags, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n != (ssize_t)sizeof flags || c->asked) {
    end_client(c);
    return;
  }
  c->asked = true;
  if (t->host == TREE_ROOT)
    c->wanted = next_look(t->look, flags);
  else
    link_send(&t->up, (struct frame){.type = FRAME_ASK, .a = t->host, .b = flags});
}

static void answer_client(struct client *c, const struct pack *view) {
  const uint32_t bytes = (uint32_t)view->bytes;
  pack_u32(&c->out, bytes);
  pack_bytes(&c->out, view->data, view->bytes);
}

static void push_client(struct client *c) {
  while (c->out.at < c->out.bytes) {
    const ssize_t n = send(c->fd, c->out.data + c->out.at, c->out.bytes - c->out.at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) break;
    c->out.at += (size_t)n;
  }
  if (c->out.bytes) end_client(c);
}

/* ---- a look */

static void begin(struct tree *t) {
  struct look *l = t->look;
  if (!t->launch || tmb_snapshot_open(&l->seen, t->launch->ctl) != 0) return;
  l->running = true;
  l->number++;
  l->begun_ns = tmb_os_now_ns();
  memset(l->answered, 0, l->hosts);
  tree_send_down(t, (struct frame){.type = FRAME_LOOK, .a = l->number, .b = l->next_flags});
  l->next_flags = 0;
}

static bool is_asked(const struct look *l) {
  bool asked = l->dog > l->number;
  for (int i = 0; i < CLIENTS_MAX; i++) asked |= l->client[i].wanted > l->number;
  for (uint32_t h = 0; h < l->hosts; h++) asked |= l->wanted[h] > l->number;
  return asked;
}

static bool is_complete(const struct tree *t) {
  const struct look *l = t->look;
  if (tmb_os_now_ns() - l->begun_ns > LOOK_NS) return true;
  for (uint32_t h = 0; h < l->hosts; h++)
    if (!l->answered[h] && t->host_state[h] < TREE_DONE) return false;
  return true;
}

static void finish(struct tree *t) {
  struct look *l = t->look;
  struct pack p = {0};
  look_pack(&l->seen, &p);
  l->running = false;
  for (int i = 0; i < CLIENTS_MAX; i++) {
    if (l->client[i].wanted == 0 || l->client[i].wanted > l->number) continue;
    answer_client(&l->client[i], &p);
    l->client[i].wanted = 0;
  }
  for (uint32_t h = 0; h < l->hosts; h++) {
    if (l->wanted[h] == 0 || l->wanted[h] > l->number) continue;
    tree_send_to(
        t, h,
        (struct frame){.type = FRAME_VIEW, .a = h, .bytes = (uint32_t)p.bytes, .data = p.data});
    l->wanted[h] = 0;
  }
  pack_free(&p);
  l->has_dog = l->dog && l->dog <= l->number;
  if (l->has_dog)
    l->for_dog = l->seen;
  else
    tmb_snapshot_free(&l->seen);
}

void look_step(struct tree *t) {
  struct look *l = t->look;
  if (!l) return;
  accept_clients(l);
  for (int i = 0; i < CLIENTS_MAX; i++)
    if (l->client[i].fd >= 0) hear_client(t, &l->client[i]);
  if (t->host == TREE_ROOT) {
    if (l->running && is_complete(t)) finish(t);
    if (!l->running && !l->has_dog && is_asked(l)) begin(t);
  }
  for (int i = 0; i < CLIENTS_MAX; i++)
    if (l->client[i].fd >= 0 && l->client[i].out.bytes) push_client(&l->client[i]);
}

bool look_now(struct tree *t, struct tmb_snapshot *s) {
  struct look *l = t->look;
  if (!l) return false;
  if (l->has_dog) {
    *s = l->for_dog;
    l->has_dog = false;
    l->dog = 0;
    return true;
  }
  if (!l->dog) l->dog = next_look(l, 0);
  return false;
}

/* ---- frames */

/* An agent sends its observations. */
static void send_seen(struct tree *t, const struct frame *f) {
  struct tmb_snapshot s;
  struct pack p = {0};
  if (t->launch && tmb_snapshot_take(&s, t->launch->ctl, f->b & LOOK_MEMORY) == 0) {
    look_pack(&s, &p);
    tmb_snapshot_free(&s);
  }
  link_send(
      &t->up,
      (struct frame){
          .type = FRAME_SEEN, .a = t->host, .b = f->a, .bytes = (uint32_t)p.bytes, .data = p.data});
  pack_free(&p);
}

static void seen_came(struct look *l, const struct frame *f) {
  struct pack p = pack_reader(f->data, f->bytes);
  if (!l->running || f->b != l->number || f->a >= l->hosts) return;
  l->answered[f->a] = 1;
  if (f->bytes) (void)look_unpack(&p, &l->seen);
}

static void view_came(struct look *l, const struct frame *f) {
  const struct pack view = pack_reader(f->data, f->bytes);
  for (int i = 0; i < CLIENTS_MAX; i++)
    if (l->client[i].fd >= 0 && l->client[i].asked && !l->client[i].out.bytes)
      answer_client(&l->client[i], &view);
}

void look_frame(struct tree *t, const struct frame *f) {
  if (!t->look) return;
  switch (f->type) {
  case FRAME_LOOK: send_seen(t, f); break;
  case FRAME_SEEN: seen_came(t->look, f); break;
  case FRAME_VIEW: view_came(t->look, f); break;
  case FRAME_ASK:
    if (f->a < t->look->hosts) t->look->wanted[f->a] = next_look(t->look, f->b);
    break;
  default: break;
  }
}
