/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream mode, see udp_stream.h: connections as one more path for packets.
 *
 * Owns struct udp_stream. Called by the engine through the io, under its lock, but for fds. Calls
 * udp_conn.h. Invariants: udp_datagrams.more is true while
 * packets are buffered: no descriptor becomes readable for them. A pair is made by its first
 * packet.
 */
#define _GNU_SOURCE /* accept4 */

#include "net/udp/stream/udp_stream.h"

#include "base/atomic.h"
#include "base/container/list.h"
#include "net/udp/stream/udp_conn.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Chosen, not measured. */
#define EVENTS_MAX    32          /* descriptors of one epoll_wait */
#define GREETINGS_MAX 64u         /* connections whose greeting is not over */
#define GREETING_NS   5000000000u /* in which a greeting is complete */
#define RETRY_NS      100000000u  /* after a connection that could not be made */
#define LOOK_CALLS    1024u       /* of recv, or KiB that they take, between two accepts */
#define HOT_CALLS     8u          /* of recv, from the one that was busy last */
#define ACTIVE_CALLS  1024u       /* of recv, after something went through a connection */
#define IDLE_CALLS    16u         /* of recv, between reads of connections that carry nothing */
#define TURN_CALLS    8u          /* of recv, between those that ask connections first */
#define BACKLOG       512         /* connections that the kernel keeps for accept */

/* Path to a peer. */
struct pair {
  struct udp_conn *ours, *theirs; /* made here, made there; or NULL */
  uint64_t retry_ns;              /* not to be made before */
  bool wanted;                    /* in AUTO: instead of datagrams, as soon as it is up */
  bool used;                      /* in AUTO: instead of datagrams */
  bool refused;                   /* its host says that nobody listens */
};

struct udp_stream {
  struct udp_conn_env env;
  struct udp_io io; /* wrapped */
  enum udp_stream_mode mode;
  const struct tmb_net_up *up;
  int listen;
  const struct udp_book *book;
  uint16_t *ports;     /* [size] network order */
  struct pair **pairs; /* [size] NULL: silent */
  struct udp_conn *greeting, *full, **full_last, *dead;
  struct udp_conn *hot; /* whose packets came last, or NULL */
  uint32_t greeting_count, conn_count, calls;
  uint32_t unseen; /* calls of recv, and KiB that they took, since the last accept */
  uint32_t active; /* calls of recv that read the connections each time */
  uint32_t
      look; /* a waiting thread polls these descriptors: recv must report what it has buffered */
  bool fallback_reported;
  bool streamed; /* the last call of recv found packets in connections */
  bool lent;     /* and some lie in a connection's buffer: no connection is freed meanwhile */
};

static struct udp_conn *preferred(const struct udp_stream *s, const struct pair *w, uint32_t peer) {
  struct udp_conn *first = s->env.greeter.rank < peer ? w->ours : w->theirs;
  struct udp_conn *second = s->env.greeter.rank < peer ? w->theirs : w->ours;
  if (first && udp_conn_is_up(first)) return first;
  if (second && udp_conn_is_up(second)) return second;
  return first ? first : second;
}

static struct pair *pair_get(struct udp_stream *s, uint32_t peer) {
  if (!s->pairs[peer]) s->pairs[peer] = calloc(1, sizeof *s->pairs[peer]);
  if (!s->pairs[peer]) s->up->fatal("no memory for the connection of rank %u", peer);
  return s->pairs[peer];
}

/* ---- connections come and go */

static void unlink_full(struct udp_stream *s, const struct udp_conn *c) {
  struct udp_conn **at = &s->full;
  while (*at && *at != c) at = &(*at)->next_full;
  if (*at) *at = c->next_full;
  for (s->full_last = &s->full; *s->full_last;) s->full_last = &(*s->full_last)->next_full;
}

static void unlink_greeting(struct udp_stream *s, const struct udp_conn *c) {
  if (TMB_LIST_REMOVE(&s->greeting, c)) s->greeting_count--;
}

/* Close it; its memory goes when no event can speak of it. */
static void drop(struct udp_stream *s, struct udp_conn *c) {
  struct pair *w = c->peer == UDP_CONN_UNKNOWN ? NULL : s->pairs[c->peer];
  if (w && w->ours == c) {
    w->ours = NULL;
    w->retry_ns = udp_conn_now() + RETRY_NS;
    if (c->refused) w->refused = true;
  }
  if (w && w->theirs == c) w->theirs = NULL;
  if (s->hot == c) s->hot = NULL;
  unlink_full(s, c);
  unlink_greeting(s, c);
  udp_conn_shut(&s->env, c);
  s->conn_count--;
  TMB_LIST_PUSH(&s->dead, c);
}

static void bury(struct udp_stream *s) {
  while (s->dead && !s->lent) udp_conn_free(TMB_LIST_POP(&s->dead));
}

static void accept_one(struct udp_stream *s, int fd) {
  struct udp_conn *c = udp_conn_accepted(&s->env, fd);
  if (!c) return;
  TMB_LIST_PUSH(&s->greeting, c);
  s->greeting_count++;
  s->conn_count++;
}

static void accept_all(struct udp_stream *s) {
  for (uint32_t i = 0; i < GREETINGS_MAX; i++) {
    const int fd = accept4(s->listen, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (s->greeting_count >= GREETINGS_MAX) { /* the one that has been silent for longest */
      struct udp_conn *oldest = s->greeting;
      while (oldest->next) oldest = oldest->next;
      drop(s, oldest);
      udp_count_refused(&s->env);
    }
    accept_one(s, fd);
  }
}

/* Connections that send no greeting in time. */
static void sweep(struct udp_stream *s) {
  const uint64_t now = udp_conn_now();
  for (struct udp_conn *c = s->greeting; c;) {
    struct udp_conn *next = c->next;
    if (now - c->since_ns > GREETING_NS) {
      udp_count_refused(&s->env);
      drop(s, c);
    }
    c = next;
  }
}

static void connect_to(struct udp_stream *s, struct pair *w, uint32_t peer) {
  const uint64_t now = udp_conn_now();
  if (w->ours && !udp_conn_is_up(w->ours) && now - w->ours->since_ns > GREETING_NS)
    drop(s, w->ours);
  if (w->ours || (w->theirs && udp_conn_is_up(w->theirs)) || now < w->retry_ns) return;
  struct udp_addr addr = udp_book_addr(s->book, peer * s->book->rails);
  addr.port = s->ports[peer];
  w->ours = udp_conn_made(&s->env, peer, &addr);
  if (!w->ours) {
    w->retry_ns = now + RETRY_NS;
    return;
  }
  s->conn_count++;
  if (w->ours->fd < 0) drop(s, w->ours);
}

/* In AUTO: datagrams do not arrive, so all packets go through connections. */
static void replace_datagrams(struct udp_stream *s, struct pair *w, uint32_t peer) {
  if (w->used || s->mode != UDP_STREAM_AUTO) return;
  w->used = true;
  if (s->fallback_reported || s->env.greeter.rank >= peer) return;
  s->fallback_reported = true;
  s->up->print("udp: no datagram of rank %u arrives, but it can be reached by TCP, which is used "
               "instead towards such ranks (TOMBOLO_UDP_STREAM=1 does so from the start)",
               peer);
}

/* The greeting is over. */
static void came_up(struct udp_stream *s, struct udp_conn *c) {
  struct pair *w = pair_get(s, c->peer);
  unlink_greeting(s, c);
  if (w->ours != c) {
    if (w->theirs) drop(s, w->theirs); /* its maker has made another */
    w->theirs = c;
  }
  if (w->theirs == c && w->ours && !udp_conn_is_up(w->ours)) udp_conn_move(w->ours, c);
  w->refused = false;
  if (w->wanted) replace_datagrams(s, w, c->peer);
}

static void note_full(struct udp_stream *s, struct udp_conn *c) {
  if (c->is_full || udp_conn_next(&s->env, c) <= 0) return;
  c->is_full = true;
  c->next_full = NULL;
  *s->full_last = c;
  s->full_last = &c->next_full;
}

/* Go on with a connection. in events: of epoll. */
static void serve(struct udp_stream *s, struct udp_conn *c, uint32_t events) {
  if (c->fd < 0) return; /* closed while this event was waiting */
  const bool was_up = udp_conn_is_up(c);
  if (!udp_conn_serve(&s->env, c, events)) {
    drop(s, c);
    return;
  }
  if (!was_up && udp_conn_is_up(c)) {
    came_up(s, c);
    if (!udp_conn_serve(&s->env, c, EPOLLOUT | EPOLLIN)) {
      drop(s, c);
      return;
    }
  }
  note_full(s, c);
  if (c->is_full || c->tail.head_bytes) s->hot = c;
}

static void look(struct udp_stream *s) {
  struct epoll_event events[EVENTS_MAX];
  s->unseen = 0;
  tmb_store_rlx(&s->look, 0);
  const int count = epoll_wait(s->env.epoll, events, EVENTS_MAX, 0);
  for (int i = 0; i < count; i++) {
    if (!events[i].data.ptr)
      accept_all(s);
    else
      serve(s, events[i].data.ptr, events[i].events);
  }
  if (s->greeting) sweep(s);
  bury(s);
}

/* ---- the io */

static uint64_t stream_now(void *io) {
  (void)io;
  return udp_conn_now();
}

static bool goes_by_stream(const struct udp_stream *s, const struct udp_out *out) {
  if (s->mode == UDP_STREAM_ALWAYS || out->rail >= s->io.rails) return true;
  const struct pair *w = s->pairs[out->peer];
  return w && w->used; /* also while it is broken: datagrams did not arrive before */
}

/* Packets to one peer. A packet that cannot be sent is lost, as in a network. */
static void send_stream(struct udp_stream *s, const struct udp_out *out, uint32_t count) {
  const uint32_t peer = out->peer;
  struct pair *w = pair_get(s, peer);
  s->active = ACTIVE_CALLS;
  connect_to(s, w, peer);
  struct udp_conn *c = preferred(s, w, peer);
  if (c && !udp_conn_send(&s->env, c, out, count)) drop(s, c);
}

static uint32_t stream_send(void *io, const struct udp_out *out, uint32_t count) {
  struct udp_stream *s = io;
  if (TMB_LIKELY(count == 1 && !s->dead && !goes_by_stream(s, out)))
    return s->io.ops->send(s->io.state, out, 1);
  for (uint32_t i = 0; i < count;) {
    const bool stream = goes_by_stream(s, &out[i]);
    uint32_t n = 1;
    while (i + n < count && goes_by_stream(s, &out[i + n]) == stream &&
           (!stream || out[i + n].peer == out[i].peer))
      n++;
    if (stream) {
      send_stream(s, out + i, n);
    } else {
      const uint32_t taken = s->io.ops->send(s->io.state, out + i, n);
      if (taken < n) return i + taken;
    }
    i += n;
  }
  if (s->dead) bury(s);
  return count;
}

/* A packet that belongs to a rail of datagrams has come through a connection: the peer hears no
 * datagrams of this rank, or has its own lost. */
static void note_rail(struct udp_stream *s, const struct udp_conn *c, const uint8_t *packet) {
  struct udp_header h;
  if (s->mode != UDP_STREAM_AUTO) return;
  memcpy(&h, packet, sizeof h);
  if (h.rail < s->io.rails) replace_datagrams(s, pair_get(s, c->peer), c->peer);
}

/* Hand a packet over at the start of its memory. */
static void take(struct udp_stream *s, struct udp_conn *c, struct udp_datagrams *in,
                 uint32_t bytes) {
  uint8_t *to = in->memory + (size_t)in->count * UDP_DATAGRAM_MAX;
  if (udp_conn_take(c, to, bytes)) in->placed |= 1u << in->count;
  note_rail(s, c, to);
}

/* Hand a packet over where it lies, if nobody needs it longer. Returns whether it was. */
static bool lend(struct udp_stream *s, struct udp_conn *c, struct udp_datagrams *in,
                 uint32_t bytes) {
  uint8_t *packet = udp_conn_packet(c);
  if (s->mode != UDP_STREAM_AUTO || !packet || !in->lends) return false;
  if (!in->lends(in->placer, packet, bytes)) return false;
  in->lent |= 1u << in->count;
  in->at[in->count] = packet;
  s->lent = true;
  note_rail(s, c, packet);
  udp_conn_skip(c, bytes);
  return true;
}

/* Hand packets that have come over, one by one: each at the start of its memory, or lent. */
static void hand_over(struct udp_stream *s, struct udp_datagrams *in, uint32_t most) {
  while (s->full && in->count < most) {
    struct udp_conn *c = s->full;
    s->full = c->next_full;
    if (!s->full) s->full_last = &s->full;
    c->is_full = false;
    s->active = ACTIVE_CALLS;
    while (in->count < most) {
      const int bytes = udp_conn_next(&s->env, c);
      if (bytes <= 0) break;
      if (!lend(s, c, in, (uint32_t)bytes)) take(s, c, in, (uint32_t)bytes);
      in->bytes[in->count++] = (uint32_t)bytes;
    }
    const int next = udp_conn_next(&s->env, c);
    if (next < 0) {
      udp_count_refused(&s->env);
      drop(s, c);
    }
    if (next > 0) note_full(s, c);
  }
  bury(s);
}

/* Whether it is the turn of connections that carry nothing. */
static bool is_their_turn(const struct udp_stream *s) {
  const bool turn = s->conn_count ? s->calls % IDLE_CALLS == 0 : s->unseen >= LOOK_CALLS;
  return turn || tmb_load_rlx(&s->look);
}

static void read_streams(struct udp_stream *s) {
  const bool always = s->mode == UDP_STREAM_ALWAYS || s->active || s->greeting_count;
  if (s->active) s->active--;
  if (s->hot && s->active && s->calls % HOT_CALLS && !tmb_load_rlx(&s->look)) {
    serve(s, s->hot, EPOLLIN);
    bury(s);
  } else if (always || is_their_turn(s)) {
    look(s);
  }
}

/* Packets that have come through connections, behind those that are there. */
static void take_streams(struct udp_stream *s, struct udp_datagrams *in, uint32_t most) {
  uint32_t had;
  do {
    had = in->count;
    if (!s->full && had < most) read_streams(s);
    hand_over(s, in, most);
  } while (in->count > had && in->count < most && !s->lent); /* reading would move the lent bytes */
}

/* Whether no connection has anything, as far as is known without a call of the kernel. */
static bool is_idle(const struct udp_stream *s) {
  return !s->active && !s->full && !s->greeting_count && !s->dead && !is_their_turn(s);
}

/* Datagrams alone, while no connection has anything. A call may take many packets as one: their
 * number brings the turn of connections sooner. */
static void recv_datagrams(struct udp_stream *s, struct udp_datagrams *in, bool many) {
  uint32_t bytes = 0;
  s->streamed = in->more = false;
  s->io.ops->recv(s->io.state, in, many);
  for (uint32_t i = 0; i < in->count; i++) bytes += in->bytes[i];
  s->unseen += 1 + bytes / 1024;
}

static void stream_recv(void *io, struct udp_datagrams *in, bool many) {
  struct udp_stream *s = io;
  const uint32_t most = many ? UDP_BATCH : 1;
  /* The source that had packets last goes first; if it always has packets, the others get a turn.
   */
  const bool turn = ++s->calls % TURN_CALLS == 0;
  const bool datagrams = s->mode == UDP_STREAM_AUTO, first = s->active && s->streamed != turn;
  in->count = 0;
  s->lent = false;
  if (TMB_LIKELY(datagrams && is_idle(s))) {
    recv_datagrams(s, in, many);
    return;
  }
  s->env.in = in;
  if (datagrams && !first) s->io.ops->recv(s->io.state, in, many);
  const uint32_t had = in->count;
  take_streams(s, in, most);
  s->streamed = in->count > had;
  in->more = s->full != NULL;
  if (datagrams && first && !in->count) s->io.ops->recv(s->io.state, in, many);
  s->env.in = NULL;
}

static uint32_t stream_fds(void *io, struct pollfd *fds, uint32_t max) {
  struct udp_stream *s = io;
  uint32_t count = 0;
  if (s->mode == UDP_STREAM_AUTO) count = s->io.ops->fds(s->io.state, fds, max);
  tmb_store_rlx(&s->look, 1);
  if (count >= max) return count;
  fds[count] = (struct pollfd){.fd = s->env.epoll, .events = POLLIN};
  return count + 1;
}

static bool stream_refused(void *io, uint32_t peer) {
  struct udp_stream *s = io;
  struct pair *w = s->pairs[peer];
  bool refused = w && w->refused;
  if (w) w->refused = false;
  if (s->mode == UDP_STREAM_AUTO && !(w && w->used))
    refused = s->io.ops->refused(s->io.state, peer);
  return refused;
}

static void stream_fall_back(void *io, uint32_t peer) {
  struct udp_stream *s = io;
  struct pair *w = pair_get(s, peer);
  const struct udp_conn *c = preferred(s, w, peer);
  w->wanted = true;
  if (c && udp_conn_is_up(c))
    replace_datagrams(s, w, peer);
  else
    connect_to(s, w, peer);
  bury(s);
}

static uint32_t stream_waiting(void *io, uint32_t peer, uint32_t rail) {
  const struct udp_stream *s = io;
  const struct pair *w = s->pairs[peer];
  if (s->mode != UDP_STREAM_AUTO || (w && w->used) || rail >= s->io.rails || !s->io.ops->waiting)
    return 0;
  return s->io.ops->waiting(s->io.state, peer, rail);
}

static void stream_close(void *io) {
  struct udp_stream *s = io;
  s->io.ops->close(s->io.state);
  udp_stream_close(s);
}

static const struct udp_io_ops stream_ops = {
    UDP_IO_MANDATORY(stream), .fall_back = stream_fall_back, .waiting = stream_waiting};

/* ---- begin and end */

static int listen_at(const struct udp_addr *own, int family, uint16_t *port) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  *port = udp_addr_bind(fd, own, family);
  if (*port && !listen(fd, BACKLOG)) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

struct udp_stream *udp_stream_open(const struct udp_card *own, const struct udp_choice *choice,
                                   struct udp_ports *ports) {
  struct udp_stream *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  const struct udp_addr addr = udp_card_addr(own, choice, 0);
  s->full_last = &s->full;
  s->env.family = choice->family;
  s->env.epoll = -1;
  s->listen = listen_at(&addr, choice->family, &ports->stream);
  if (s->listen >= 0) s->env.epoll = epoll_create1(EPOLL_CLOEXEC);
  if (s->env.epoll >= 0) return s;
  const int error = errno;
  udp_stream_close(s);
  errno = error;
  return NULL;
}

bool udp_stream_join(struct udp_stream *s, const struct udp_stream_plan *plan, struct udp_io *io) {
  const uint32_t size = plan->greeter.size;
  struct epoll_event event = {.events = EPOLLIN};
  s->mode = plan->mode;
  s->up = plan->up;
  s->env.greeter = plan->greeter;
  s->env.stats = plan->stats;
  s->pairs = calloc(size, sizeof(struct pair *));
  s->book = plan->book;
  s->ports = calloc(size, sizeof *s->ports);
  if (!s->pairs || !s->ports || epoll_ctl(s->env.epoll, EPOLL_CTL_ADD, s->listen, &event))
    return false;
  for (uint32_t i = 0; i < size; i++) s->ports[i] = plan->ports[i].stream;
  s->io = *io;
  *io = (struct udp_io){.ops = &stream_ops,
                        .state = s,
                        .rails = s->mode == UDP_STREAM_ALWAYS ? 1 : io->rails,
                        .has_stream = plan->bulk};
  return true;
}

void udp_stream_close(struct udp_stream *s) {
  if (!s) return;
  for (uint32_t i = 0; s->pairs && i < s->env.greeter.size; i++) {
    struct pair *w = s->pairs[i];
    if (w && w->ours) drop(s, w->ours);
    if (w && w->theirs) drop(s, w->theirs);
    free(w);
    s->pairs[i] = NULL;
  }
  while (s->greeting) drop(s, s->greeting);
  s->lent = false;
  bury(s);
  if (s->listen >= 0) close(s->listen);
  if (s->env.epoll >= 0) close(s->env.epoll);
  free(s->pairs);
  free(s->ports);
  free(s);
}
