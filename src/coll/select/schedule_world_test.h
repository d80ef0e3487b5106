/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team without a network: the schedules of all its ranks, executed in one thread.
 *
 * Has the rules of engine.h: a message is taken as soon as its receive is open, or as late as
 * possible; ranks run in random order; gated sends wait for READY. Counts rounds (the longest chain
 * of messages), messages and bytes, and how much of that is between nodes ("far"). Included by one
 * test program, so its functions are static.
 */
#ifndef TMB_SCHEDULE_WORLD_TEST_H
#define TMB_SCHEDULE_WORLD_TEST_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/unit_test.h"
#include "coll/reduce/reduce.h"
#include "coll/select/select.h"

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(random_state >> 33) % limit;
}

/* Memory of zeros; never NULL. */
static void *zeros(size_t bytes) {
  void *p = calloc(bytes + 1, 1);
  if (!p) abort();
  return p;
}

struct mail {
  struct mail *next;
  uint32_t src, tag, depth, far;
  bool ready;
  uint64_t bytes;
  char data[];
};

struct member {
  struct tmb_sched sched;
  char *base[TMB_BUF_COUNT];
  struct mail *inbox;
  uint32_t pc, round, depth, far;
  struct mail *shown; /* for its BOARD steps, the last one first */
  uint32_t boards;    /* BOARD steps that are complete */
  uint32_t send;      /* first SEND of the round, UINT32_MAX before it */
  struct {
    uint32_t depth, far; /* depth: 1 + that of the message, 0: not there */
  } * got;               /* [recvs] */
  char *src_copy;
};

struct world {
  struct tmb_coll_shape shape; /* of rank 0 */
  const struct tmb_coll_alg *alg;
  struct tmb_reducer reducer;
  struct member *member;
  uint64_t src_bytes, dst_bytes;
  bool in_place, late;
  uint64_t messages, sent_bytes, far_messages, far_bytes;
  uint32_t depth, far; /* far: between nodes */
};

/* ---- V forms: block lengths that depend on both ranks, some of them nothing */

static uint64_t pair_bytes(const struct world *w, uint32_t from, uint32_t to) {
  return (from * 7 + to * 3) % 4 * w->shape.bytes;
}

struct v_lists {
  uint64_t *send, *send_at, *recv, *recv_at;
};

static struct v_lists v_make(const struct world *w, uint32_t rank) {
  const uint32_t n = w->shape.size;
  struct v_lists v = {zeros(n * 8), zeros(n * 8), zeros(n * 8), zeros(n * 8)};
  for (uint32_t i = 0; i < n; i++) {
    const bool all = w->shape.kind == TMB_COLL_EXCHANGEV;
    v.send[i] = pair_bytes(w, all ? rank : w->shape.root, i);
    v.recv[i] = pair_bytes(w, i, all ? rank : w->shape.root);
    if (w->shape.kind == TMB_COLL_ALLGATHERV) v.recv[i] = pair_bytes(w, i, 0);
    v.send_at[i] = i ? v.send_at[i - 1] + v.send[i - 1] : 0;
    v.recv_at[i] = i ? v.recv_at[i - 1] + v.recv[i - 1] : 0;
  }
  return v;
}

static void v_free(struct v_lists v) {
  free(v.send);
  free(v.send_at);
  free(v.recv);
  free(v.recv_at);
}

static void v_shape(struct tmb_coll_shape *c, const struct v_lists *v) {
  if (c->kind == TMB_COLL_SCATTERV) {
    c->bytes = v->send[c->rank];
    if (c->rank == c->root) c->send = (struct tmb_coll_blocks){v->send, v->send_at};
  } else if (c->kind == TMB_COLL_GATHERV) {
    c->bytes = v->recv[c->rank];
    if (c->rank == c->root) c->recv = (struct tmb_coll_blocks){v->recv, v->recv_at};
  } else {
    c->recv = (struct tmb_coll_blocks){v->recv, v->recv_at};
    if (c->kind == TMB_COLL_EXCHANGEV) c->send = (struct tmb_coll_blocks){v->send, v->send_at};
  }
}

static bool is_v(uint32_t kind) {
  return kind >= TMB_COLL_SCATTERV && kind <= TMB_COLL_EXCHANGEV;
}

static void build(struct world *w, uint32_t rank, struct tmb_sched *s) {
  struct tmb_coll_shape c = w->shape;
  struct v_lists v = {NULL, NULL, NULL, NULL};
  c.rank = rank;
  if (is_v(c.kind)) {
    v = v_make(w, rank);
    v_shape(&c, &v);
  }
  *s = (struct tmb_sched){0};
  w->alg->fn(s, &c);
  assert_int_equal(tmb_sched_seal(s), 0);
  v_free(v);
}

/* ---- running */

static void take(struct world *w, struct member *m, const struct tmb_step *step,
                 struct mail *mail) {
  char *to = m->base[step->to] + step->to_at;
  assert_int_equal(mail->bytes, step->bytes);
  assert_false(m->got[step->recv].depth);
  if (step->kind == TMB_STEP_RECV)
    memcpy(to, mail->data, mail->bytes);
  else
    tmb_reduce_apply(&w->reducer, to, m->base[step->from] + step->from_at, mail->data, mail->bytes,
                     step->flags & TMB_STEP_RIGHT);
  m->got[step->recv].depth = 1 + mail->depth;
  m->got[step->recv].far = mail->far;
}

/* Take a message out of the inbox; NULL when it is not there. */
static struct mail *find(struct member *m, uint32_t src, uint32_t tag, bool ready) {
  for (struct mail **p = &m->inbox; *p; p = &(*p)->next) {
    struct mail *mail = *p;
    if (mail->src != src || mail->tag != tag || mail->ready != ready) continue;
    *p = mail->next;
    return mail;
  }
  return NULL;
}

/* Take the open messages. in posted_end: receives below it are posted. */
static void take_open(struct world *w, struct member *m, uint32_t posted_end) {
  for (uint32_t i = 0; i < m->sched.recvs && m->inbox; i++) {
    const uint32_t index = m->sched.recv_step[i];
    const struct tmb_step *step = &m->sched.step[index];
    if (m->got[i].depth || (index >= posted_end && (w->late || step->open > m->round))) continue;
    struct mail *mail = find(m, step->peer, step->tag, false);
    if (!mail) continue;
    take(w, m, step, mail);
    free(mail);
  }
}

static void post(struct world *w, uint32_t from, const struct tmb_step *step, bool ready) {
  struct member *me = &w->member[from], *to = &w->member[step->peer];
  const uint64_t bytes = ready ? 0 : step->bytes;
  struct mail *mail = zeros(sizeof *mail + bytes);
  assert_int_not_equal(step->peer, from);
  const bool far = w->shape.nodes && w->shape.nodes->node[from] != w->shape.nodes->node[step->peer];
  *mail = (struct mail){.next = to->inbox,
                        .src = from,
                        .tag = step->tag,
                        .depth = me->depth + !ready,
                        .far = me->far + (far && !ready),
                        .ready = ready,
                        .bytes = bytes};
  if (bytes) memcpy(mail->data, me->base[step->from] + step->from_at, bytes);
  to->inbox = mail;
  if (ready) return;
  w->messages++;
  w->sent_bytes += bytes;
  w->far_messages += far;
  w->far_bytes += far ? bytes : 0;
  if (!w->late) take_open(w, to, to->pc);
}

/* The source of a SEND of this round does not change: the receiver may read it there (PULL). */
static void check_sources(const struct member *m) {
  const struct tmb_step *step = &m->sched.step[m->pc];
  for (uint32_t i = m->send; i < m->pc; i++) {
    const struct tmb_step *send = &m->sched.step[i];
    if (send->kind == TMB_STEP_SEND && send->from == step->to &&
        send->from_at < step->to_at + step->bytes && step->to_at < send->from_at + send->bytes)
      fail_msg("step %u changes what step %u of its round sends", m->pc, i);
  }
}

/* ---- steps over the memory of a node */

/* Members of a node, by their index there. */
struct board {
  const uint32_t *member;          /* [count] */
  uint32_t count, rank, low, high; /* low up to high - 1: those whose data this member takes */
};

static struct board board_of(const struct world *w, uint32_t rank, const struct tmb_step *step) {
  const struct tmb_coll_nodes *nodes = w->shape.nodes;
  const uint32_t node = nodes->node[rank], start = nodes->start[node];
  struct board b = {.member = nodes->member + start, .count = nodes->start[node + 1] - start};
  while (b.member[b.rank] != rank) b.rank++;
  b.high = b.count;
  switch (step->tag) {
  case TMB_COLL_BROADCAST:
  case TMB_COLL_SCATTER:
    b.low = step->peer;
    b.high = step->peer + 1;
    break;
  case TMB_COLL_REDUCE:
  case TMB_COLL_GATHER: b.high = b.rank == step->peer ? b.count : 0; break;
  case TMB_COLL_SCAN: b.high = b.rank + 1; break;
  case TMB_COLL_EXSCAN: b.high = b.rank; break;
  default: fail_msg("a BOARD step of kind %s", tmb_coll_kind_name(step->tag));
  }
  return b;
}

/* This member shows its data for its next BOARD step, if it has some. */
static void show(struct member *m, const struct board *b, const struct tmb_step *step) {
  const bool from_root = step->tag == TMB_COLL_BROADCAST || step->tag == TMB_COLL_SCATTER;
  const bool shows = !from_root || b->rank == step->peer;
  const uint64_t bytes = shows ? step->bytes * (step->tag == TMB_COLL_SCATTER ? b->count : 1) : 0;
  struct mail *mail = zeros(sizeof *mail + bytes);
  *mail = (struct mail){
      .next = m->shown, .tag = m->boards, .depth = m->depth, .far = m->far, .bytes = bytes};
  if (bytes) memcpy(mail->data, m->base[step->from] + step->from_at, bytes);
  m->shown = mail;
}

/* The data that a member has shown for a BOARD step; NULL: it has not come to it. */
static const struct mail *shown_by(const struct member *m, uint32_t step) {
  const struct mail *mail = m->shown;
  while (mail && mail->tag != step) mail = mail->next;
  return mail;
}

/* Take the data of one member, the highest first. */
static void take_shown(const struct world *w, const struct board *b, const struct tmb_step *step,
                       uint32_t index, char *to) {
  const uint32_t number = w->member[b->member[b->rank]].boards;
  const struct mail *mail = shown_by(&w->member[b->member[index]], number);
  struct member *m = &w->member[b->member[b->rank]];
  m->depth = TMB_MAX(m->depth, mail->depth);
  m->far = TMB_MAX(m->far, mail->far);
  switch (step->tag) {
  case TMB_COLL_GATHER: memcpy(to + index * step->bytes, mail->data, step->bytes); break;
  case TMB_COLL_SCATTER: memcpy(to, mail->data + b->rank * step->bytes, step->bytes); break;
  case TMB_COLL_BROADCAST: memcpy(to, mail->data, step->bytes); break;
  default:
    if (index == b->high - 1)
      memcpy(to, mail->data, step->bytes);
    else
      w->reducer.user(mail->data, to, step->bytes / w->reducer.elem, NULL);
  }
}

static bool run_board(struct world *w, uint32_t rank, const struct tmb_step *step) {
  struct member *m = &w->member[rank];
  const struct board b = board_of(w, rank, step);
  assert_true(w->shape.board);
  check_sources(m);
  if (!shown_by(m, m->boards)) show(m, &b, step);
  for (uint32_t i = b.low; i < b.high; i++)
    if (!shown_by(&w->member[b.member[i]], m->boards)) return false;
  for (uint32_t i = b.high; i-- > b.low;)
    take_shown(w, &b, step, i, m->base[step->to] + step->to_at);
  m->boards++;
  return true;
}

/* Run one step or receive group. Returns whether something happened. */
static bool run_step(struct world *w, uint32_t rank) {
  struct member *m = &w->member[rank];
  if (m->pc == m->sched.count) return false;
  const struct tmb_step *step = &m->sched.step[m->pc];
  char *to = m->base[step->to] + step->to_at, *from = m->base[step->from] + step->from_at;
  if (step->round != m->round) m->send = UINT32_MAX;
  m->round = step->round;
  struct mail *ready;
  switch (step->kind) {
  case TMB_STEP_READY: post(w, rank, step, true); break;
  case TMB_STEP_COPY:
    check_sources(m);
    if (to != from) memcpy(to, from, step->bytes);
    break;
  case TMB_STEP_REDUCE:
    check_sources(m);
    tmb_reduce_apply(&w->reducer, to, to, from, step->bytes, step->flags & TMB_STEP_RIGHT);
    break;
  case TMB_STEP_BOARD:
    if (!run_board(w, rank, step)) return false;
    break;
  case TMB_STEP_SEND:
    if (step->flags & TMB_STEP_GATED) {
      ready = find(m, step->peer, step->tag, true);
      if (!ready) return false;
      free(ready);
    }
    post(w, rank, step, false);
    m->send = TMB_MIN(m->send, m->pc);
    break;
  default:
    take_open(w, m, m->pc + 1);
    if (!m->got[step->recv].depth) return false;
    m->depth = TMB_MAX(m->depth, m->got[step->recv].depth - 1);
    m->far = TMB_MAX(m->far, m->got[step->recv].far);
  }
  m->pc++;
  return true;
}

static void run(struct world *w) {
  const uint32_t n = w->shape.size;
  for (bool any = true; any;) {
    any = false;
    const uint32_t first = random_below(n), burst = 1 + random_below(8);
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t k = 0; k < burst && run_step(w, (first + i) % n); k++) any = true;
  }
  for (uint32_t r = 0; r < n; r++) {
    if (w->member[r].pc != w->member[r].sched.count || w->member[r].inbox)
      fail_msg("%s %s: rank %u of %u stops at step %u of %u", tmb_coll_kind_name(w->shape.kind),
               w->alg->name, r, n, w->member[r].pc, w->member[r].sched.count);
    w->depth = TMB_MAX(w->depth, w->member[r].depth);
    w->far = TMB_MAX(w->far, w->member[r].far);
  }
}

#endif
