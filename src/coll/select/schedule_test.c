/* SPDX-License-Identifier: BSD-3-Clause */
/* timeout: 600 */
/* long: every */
/* emulated: most */
/*
 * Every algorithm, executed for whole teams without a network, against a naive reference. With the
 * argument "every" all sizes to 64 and those of thousands, with "most" those up to 255, without it
 * a few.
 *
 * Owns: a small executor with the rules of engine.h: a message is taken as soon as its receive is
 * open, or as late as possible; ranks run in random order; gated sends wait for READY. Sizes 1..64
 * with every algorithm, larger ones up to 4096 where the whole schedule is affordable; two-level
 * forms on nodes that are ranges of ranks, round-robin, uneven and scattered. Reductions use the
 * composition of x -> ax + b modulo 2^32, which is associative and does not commute, and addition,
 * which does. Prints rounds (longest chain of messages), messages and bytes, and how much of that
 * is between nodes of 16 ranks ("far").
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/unit_test.h"
#include "coll/reduce/reduce.h"
#include "coll/select/select.h"

#define STEPS_MAX UINT64_C(2000000)
#define BYTES_MAX UINT64_C(150000000)

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

/* ---- operators on pairs of 32-bit numbers */

static void compose(const void *px, void *py, size_t count, const void *cdata) {
  const uint32_t *x = px;
  uint32_t *y = py;
  (void)cdata;
  for (size_t i = 0; i < count; i++, x += 2, y += 2) {
    y[1] += y[0] * x[1];
    y[0] *= x[0];
  }
}

static void add(const void *px, void *py, size_t count, const void *cdata) {
  const uint32_t *x = px;
  uint32_t *y = py;
  (void)cdata;
  for (size_t i = 0; i < 2 * count; i++) y[i] += x[i];
}

/* ---- executor */

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

static void fill_source(struct world *w, uint32_t rank) {
  uint32_t *p = (uint32_t *)(void *)w->member[rank].base[TMB_BUF_SRC];
  for (uint64_t i = 0; i < w->src_bytes / 4; i++)
    p[i] = (uint32_t)(rank * 2654435761u + i * 40503u + 12345u) | 1;
}

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
  free(v.send);
  free(v.send_at);
  free(v.recv);
  free(v.recv_at);
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

/* ---- reference */

static const char *source(const struct world *w, uint32_t rank) {
  return w->member[rank].src_copy;
}

/* Combination of `bytes` at offset `at` of the sources of ranks first..last. */
static void combined(const struct world *w, uint32_t first, uint32_t last, uint64_t at, char *out) {
  const uint64_t bytes = w->shape.bytes;
  memcpy(out, source(w, last) + at, bytes);
  for (uint32_t r = last; r-- > first;)
    w->reducer.user(source(w, r) + at, out, bytes / w->reducer.elem, NULL);
}

static void v_free(struct v_lists v) {
  free(v.send);
  free(v.send_at);
  free(v.recv);
  free(v.recv_at);
}

/* Expected data of the V forms, see expected. */
static uint64_t expected_v(const struct world *w, uint32_t rank, char *out) {
  const struct tmb_coll_shape *c = &w->shape;
  const bool scatter = c->kind == TMB_COLL_SCATTERV;
  const struct v_lists v = v_make(w, scatter ? c->root : rank);
  uint64_t length = 0;
  if (scatter) {
    length = v.send[rank];
    memcpy(out, source(w, c->root) + v.send_at[rank], length);
  }
  for (uint32_t i = 0; i < c->size && !scatter; i++) {
    if (c->kind == TMB_COLL_GATHERV && rank != c->root) break;
    const struct v_lists theirs = v_make(w, i);
    const uint64_t at = c->kind == TMB_COLL_EXCHANGEV ? theirs.send_at[rank] : 0;
    memcpy(out + length, source(w, i) + at, v.recv[i]);
    length += v.recv[i];
    v_free(theirs);
  }
  v_free(v);
  return length;
}

/* Expected data of a rank's dst. Returns its length; 0: untouched. */
static uint64_t expected(const struct world *w, uint32_t rank, const char *total, char *out) {
  const struct tmb_coll_shape *c = &w->shape;
  const uint64_t b = c->bytes;
  const uint32_t n = c->size;
  uint64_t length = b;
  switch (c->kind) {
  case TMB_COLL_BROADCAST: memcpy(out, source(w, c->root), b); break;
  case TMB_COLL_REDUCE: length = rank == c->root ? b : 0; /* fallthrough */
  case TMB_COLL_ALLREDUCE: memcpy(out, total, b); break;
  case TMB_COLL_SCATTER: memcpy(out, source(w, c->root) + rank * b, b); break;
  case TMB_COLL_GATHER:
  case TMB_COLL_ALLGATHER:
    length = c->kind == TMB_COLL_GATHER && rank != c->root ? 0 : n * b;
    for (uint32_t i = 0; i < n && length; i++) memcpy(out + i * b, source(w, i), b);
    break;
  case TMB_COLL_EXCHANGE:
    length = n * b;
    for (uint32_t i = 0; i < n; i++) memcpy(out + i * b, source(w, i) + rank * b, b);
    break;
  case TMB_COLL_REDUCE_SCATTER: combined(w, 0, n - 1, rank * b, out); break;
  case TMB_COLL_SCAN: combined(w, 0, rank, 0, out); break;
  case TMB_COLL_EXSCAN:
    length = rank ? b : 0;
    if (rank) combined(w, 0, rank - 1, 0, out);
    break;
  case TMB_COLL_SYNC: return 0;
  default: length = expected_v(w, rank, out);
  }
  return length;
}

static void verify(const struct world *w) {
  char *want = zeros(w->dst_bytes + 64), *total = zeros(w->shape.bytes + 64);
  const bool totals = w->shape.kind == TMB_COLL_REDUCE || w->shape.kind == TMB_COLL_ALLREDUCE;
  if (totals) combined(w, 0, w->shape.size - 1, 0, total);
  for (uint32_t r = 0; r < w->shape.size; r++) {
    const struct member *m = &w->member[r];
    const uint64_t length = expected(w, r, total, want);
    const char *dst = m->base[TMB_BUF_DST];
    if (memcmp(dst, want, length) != 0)
      fail_msg("%s %s: wrong result on rank %u of %u in %u nodes%s, root %u, %llu bytes%s%s%s",
               tmb_coll_kind_name(w->shape.kind), w->alg->name, r, w->shape.size,
               w->shape.nodes ? w->shape.nodes->count : 1,
               w->shape.nodes && w->shape.nodes->ranges ? " (ranges)" : "", w->shape.root,
               (unsigned long long)w->shape.bytes, w->shape.commutes ? ", commutes" : "",
               w->in_place ? ", in place" : "", w->late ? ", late" : "");
    for (uint64_t i = length; i < w->dst_bytes && !w->in_place; i++)
      if (dst[i] != 0x5a)
        fail_msg("%s %s: rank %u of %u wrote byte %llu of dst", tmb_coll_kind_name(w->shape.kind),
                 w->alg->name, r, w->shape.size, (unsigned long long)i);
    if (!w->in_place) assert_memory_equal(m->base[TMB_BUF_SRC], m->src_copy, w->src_bytes);
  }
  free(want);
  free(total);
}

/* ---- one case */

static void member_make(struct world *w, uint32_t rank) {
  struct member *m = &w->member[rank];
  *m = (struct member){.send = UINT32_MAX};
  build(w, rank, &m->sched);
  m->base[TMB_BUF_SRC] = zeros(w->src_bytes + 8);
  fill_source(w, rank);
  m->src_copy = zeros(w->src_bytes + 8);
  memcpy(m->src_copy, m->base[TMB_BUF_SRC], w->src_bytes);
  m->base[TMB_BUF_DST] = w->in_place ? m->base[TMB_BUF_SRC] : zeros(w->dst_bytes + 8);
  if (!w->in_place) memset(m->base[TMB_BUF_DST], 0x5a, w->dst_bytes);
  m->base[TMB_BUF_TMP] = zeros(m->sched.tmp_bytes + 8);
  memset(m->base[TMB_BUF_TMP], 0xa5, m->sched.tmp_bytes);
  m->got = zeros(m->sched.recvs * sizeof *m->got);
}

static void member_free(struct world *w, uint32_t rank) {
  struct member *m = &w->member[rank];
  if (!w->in_place) free(m->base[TMB_BUF_DST]);
  free(m->base[TMB_BUF_SRC]);
  free(m->base[TMB_BUF_TMP]);
  for (struct mail *mail; (mail = m->shown) != NULL; free(mail)) m->shown = mail->next;
  free(m->src_copy);
  free(m->got);
  tmb_sched_free(&m->sched);
}

static uint64_t buffer_bytes(const struct tmb_coll_shape *c, bool dst) {
  switch (c->kind) {
  case TMB_COLL_SCATTER:
  case TMB_COLL_REDUCE_SCATTER: return dst ? c->bytes : c->size * c->bytes;
  case TMB_COLL_GATHER:
  case TMB_COLL_ALLGATHER: return dst ? c->size * c->bytes : c->bytes;
  case TMB_COLL_EXCHANGE: return c->size * c->bytes;
  case TMB_COLL_SCATTERV:
  case TMB_COLL_GATHERV:
  case TMB_COLL_ALLGATHERV:
  case TMB_COLL_EXCHANGEV: return 4 * c->size * c->bytes;
  default: return c->bytes;
  }
}

/* Whether a run of this size is affordable, judged by the root and the first ranks, which are those
 * of a node. */
static bool affordable(struct world *w) {
  enum { SAMPLE = 16 };
  uint64_t steps = 0, bytes = 0, inbox = 0;
  if (w->shape.size <= 64) return true;
  for (uint32_t i = 0; i <= SAMPLE; i++) {
    struct tmb_sched s;
    build(w, i < SAMPLE ? i : w->shape.root, &s);
    const uint64_t weight = i < SAMPLE ? w->shape.size / SAMPLE : 1;
    steps += s.count * weight;
    bytes += (s.tmp_bytes + w->src_bytes + w->dst_bytes) * weight;
    inbox += (uint64_t)s.recvs * s.recvs * weight;
    tmb_sched_free(&s);
  }
  return steps < STEPS_MAX && bytes < BYTES_MAX && inbox < 100 * STEPS_MAX;
}

/* Returns false when it was not affordable. out w: figures. */
static bool run_case(struct world *w) {
  const struct tmb_coll_shape *c = &w->shape;
  w->src_bytes = buffer_bytes(c, false);
  w->dst_bytes = buffer_bytes(c, true);
  w->reducer = (struct tmb_reducer){c->commutes ? add : compose, NULL, NULL, 8};
  w->messages = w->sent_bytes = w->far_messages = w->far_bytes = 0;
  w->depth = w->far = 0;
  if (!affordable(w)) return false;
  w->member = zeros(c->size * sizeof *w->member);
  for (uint32_t r = 0; r < c->size; r++) member_make(w, r);
  run(w);
  verify(w);
  for (uint32_t r = 0; r < c->size; r++) member_free(w, r);
  free(w->member);
  return true;
}

static bool rooted(uint32_t kind) {
  return kind == TMB_COLL_BROADCAST || kind == TMB_COLL_REDUCE || kind == TMB_COLL_SCATTER ||
         kind == TMB_COLL_GATHER || kind == TMB_COLL_SCATTERV || kind == TMB_COLL_GATHERV;
}

static bool reduces(uint32_t kind) {
  return kind == TMB_COLL_REDUCE || kind == TMB_COLL_ALLREDUCE || kind == TMB_COLL_REDUCE_SCATTER ||
         kind == TMB_COLL_SCAN || kind == TMB_COLL_EXSCAN;
}

/* ---- node maps */

enum node_map { ROUND_ROBIN, RANGES, UNEVEN, SCATTERED };

/* Node of a rank, below the size. in per: members of a node where they are alike. */
static uint32_t label_of(enum node_map map, uint32_t rank, uint32_t size, uint32_t per) {
  uint32_t node = 0, end = 1;
  switch (map) {
  case ROUND_ROBIN: return rank % ((size + per - 1) / per);
  case RANGES: return rank / per;
  case UNEVEN: /* of 1, 2, ..., per, 1, 2, ... ranks */
    while (rank >= end) end += 1 + ++node % per;
    return node;
  default: return rank * UINT32_C(2654435761) / 65536 % ((size + per - 1) / per);
  }
}

static struct tmb_coll_nodes *nodes_make(enum node_map map, uint32_t size, uint32_t per) {
  uint32_t *label = zeros(size * sizeof *label);
  for (uint32_t r = 0; r < size; r++) label[r] = label_of(map, r, size, per);
  struct tmb_coll_nodes *nodes = tmb_coll_nodes_make(label, size, size);
  assert_non_null(nodes);
  free(label);
  return nodes;
}

/* ---- every case */

/* Variants of a case: enough to combine early and late, lengths, roots, operators and maps. */
static unsigned variants(const struct tmb_coll_alg *alg) {
  return alg->needs & TMB_ALG_NODES ? 15 : reduces(alg->kind) ? 8 : 6;
}

static enum node_map map_of(const struct tmb_coll_alg *alg, unsigned variant) {
  const unsigned map = (variant + variant / 4) % 4;
  return alg->needs & TMB_ALG_RANGES ? RANGES + map % 2 : map;
}

/* Runs one algorithm at one size. Returns whether it was affordable. */
static bool run_variant(const struct tmb_coll_alg *alg, uint32_t size, unsigned v,
                        struct world *w) {
  static const uint32_t counts[] = {1, 5, 67};
  const bool large = size > 64;
  /* Pipelines use a map where there is one. */
  const bool by_nodes = (alg->needs & TMB_ALG_NODES) || v % 5 % 2 == 0;
  struct tmb_coll_nodes *nodes = nodes_make(map_of(alg, v), size, large ? 16 : 1 + (v * 3 + 1) % 5);
  *w = (struct world){.alg = alg, .late = v % 2, .in_place = false};
  w->shape = (struct tmb_coll_shape){.kind = alg->kind,
                                     .size = size,
                                     .bytes = 8 * counts[large ? 0 : v % 3],
                                     .elem = reduces(alg->kind) ? 8 : 1,
                                     .segment = 24,
                                     .eager = v % 6 < 3 ? 1000000 : 16,
                                     .pull = UINT64_MAX,
                                     .radix = 2 + v % 4,
                                     .commutes = reduces(alg->kind) && v / 2 % 2,
                                     .crowded = v % 5 < 2,
                                     .board = v / 3 % 2,
                                     .src = {TMB_BUF_SRC, 0},
                                     .dst = {TMB_BUF_DST, 0},
                                     .nodes = by_nodes ? nodes : NULL};
  if (!tmb_coll_alg_legal(alg, &w->shape)) w->shape.commutes = true;
  if (v + 1 == variants(alg)) w->shape.bytes = 0;
  w->in_place = (alg->kind == TMB_COLL_ALLREDUCE || alg->kind == TMB_COLL_BROADCAST) && v % 4 == 2;
  if (rooted(alg->kind)) w->shape.root = v % 3 == 0 ? 0 : v % 3 == 1 ? size - 1 : size / 2;
  const bool ran = run_case(w);
  free(nodes);
  return ran;
}

/* All variants of a size up to 32, of two-level forms a third (each time others) up to 64, a few of
 * larger ones. out w: figures of the last one. */
static bool run_size(const struct tmb_coll_alg *alg, uint32_t size, struct world *w) {
  static const unsigned few[] = {7, 2, 1};
  const unsigned stride = size > 32 && (alg->needs & TMB_ALG_NODES) ? 3 : 1;
  bool ran = false;
  if (size <= 64)
    for (unsigned v = size % stride; v < variants(alg); v += stride)
      ran |= run_variant(alg, size, v, w);
  for (unsigned i = alg->needs & TMB_ALG_NODES ? 0 : 2; i < 3 && size > 64; i++)
    ran |= run_variant(alg, size, few[i], w);
  return ran;
}

static void print_figures(const struct world *w) {
  printf("%-15s %-14s %6u %7u %12llu %12llu %7u %12llu %12llu\n", tmb_coll_kind_name(w->alg->kind),
         w->alg->name, w->shape.size, w->depth, (unsigned long long)w->messages,
         (unsigned long long)w->sent_bytes, w->far, (unsigned long long)w->far_messages,
         (unsigned long long)w->far_bytes);
}

static bool every_size;     /* the long test */
static unsigned larger = 2; /* sizes above 64 */

/* The sizes of the short test: around powers of two, and primes. */
static bool is_chosen(uint32_t size) {
  static const uint32_t chosen[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33};
  for (unsigned i = 0; i < TMB_ARRAY_LEN(chosen); i++)
    if (chosen[i] == size) return true;
  return every_size;
}

TEST(every_schedule) {
  static const uint32_t more[] = {100, 128, 255, 1000, 1024, 4095, 4096};
  uint32_t count;
  const struct tmb_coll_alg *alg = tmb_coll_algs(&count);
  printf("%-15s %-14s %6s %7s %12s %12s %7s %12s %12s\n", "collective", "algorithm", "ranks",
         "rounds", "messages", "bytes", "far", "messages", "bytes");
  for (uint32_t a = 0; a < count; a++) {
    struct world w = {0};
    if (alg[a].needs & TMB_ALG_SHARED) continue; /* no schedule */
    for (uint32_t size = 1; size <= 64; size++)
      if (is_chosen(size)) assert_true(run_size(&alg[a], size, &w));
    for (unsigned i = 0; i < larger && i < TMB_ARRAY_LEN(more); i++)
      if (run_size(&alg[a], more[i], &w) && w.messages &&
          (more[i] == 128 || more[i] == 1000 || more[i] == 4096))
        print_figures(&w);
  }
}

/* ---- the number of rounds that the literature promises */

static struct world figures_of(uint32_t kind, const char *name, uint32_t size,
                               const struct tmb_coll_nodes *nodes, bool crowded) {
  struct world w = {.alg = tmb_coll_alg_find(kind, name)};
  assert_non_null(w.alg);
  w.shape = (struct tmb_coll_shape){.kind = kind,
                                    .size = size,
                                    .bytes = 8,
                                    .elem = reduces(kind) ? 8 : 1,
                                    .segment = 8,
                                    .eager = 1000000,
                                    .pull = UINT64_MAX,
                                    .radix = 2,
                                    .commutes = w.alg->needs & TMB_ALG_COMMUTES,
                                    .crowded = crowded,
                                    .src = {TMB_BUF_SRC, 0},
                                    .dst = {TMB_BUF_DST, 0},
                                    .nodes = nodes};
  assert_true(run_case(&w));
  return w;
}

static uint32_t rounds_of(uint32_t kind, const char *name, uint32_t size) {
  return figures_of(kind, name, size, NULL, false).depth;
}

TEST(rounds) {
  assert_int_equal(rounds_of(TMB_COLL_BROADCAST, "knomial", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_BROADCAST, "chain", 64), 63);
  assert_int_equal(rounds_of(TMB_COLL_BROADCAST, "tree", 127), 6);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE, "chain", 64), 63);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE, "tree", 127), 6);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE, "binomial", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_ALLREDUCE, "doubling", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_ALLREDUCE, "doubling", 65), 7);
  assert_int_equal(rounds_of(TMB_COLL_ALLREDUCE, "flat", 64), 2);
  assert_int_equal(rounds_of(TMB_COLL_ALLGATHER, "bruck", 63), 6);
  assert_int_equal(rounds_of(TMB_COLL_ALLGATHER, "ring", 64), 63);
  assert_int_equal(rounds_of(TMB_COLL_EXCHANGE, "bruck", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_SCAN, "doubling", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_SYNC, "dissemination", 64), 6);
  assert_int_equal(rounds_of(TMB_COLL_GATHER, "binomial", 64), 6);
  /* log2 rounds of halving, one to the owners of the blocks: operators that do not commute */
  assert_int_equal(rounds_of(TMB_COLL_REDUCE_SCATTER, "halving", 64), 7);
  assert_int_equal(rounds_of(TMB_COLL_REDUCE_SCATTER, "halving", 65), 7);
}

/* 8 nodes of 8 ranks: how often messages go from node to node, in all and one after another. */
TEST(between_nodes) {
  static const struct {
    uint32_t kind;
    uint64_t messages;
    uint32_t rounds;
  } want[] = {{TMB_COLL_BROADCAST, 7, 3},  {TMB_COLL_REDUCE, 7, 3},
              {TMB_COLL_ALLREDUCE, 24, 3}, {TMB_COLL_SCATTER, 7, 3},
              {TMB_COLL_GATHER, 7, 3},     {TMB_COLL_ALLGATHER, 24, 3},
              {TMB_COLL_EXCHANGE, 56, 7},  {TMB_COLL_REDUCE_SCATTER, 24, 3},
              {TMB_COLL_SCAN, 21, 3},      {TMB_COLL_EXSCAN, 21, 3},
              {TMB_COLL_SYNC, 24, 3}};
  struct tmb_coll_nodes *nodes = nodes_make(RANGES, 64, 8);
  for (unsigned i = 0; i < TMB_ARRAY_LEN(want); i++) {
    for (int crowded = 0; crowded < 2; crowded++) {
      const struct world w = figures_of(want[i].kind, "nodes", 64, nodes, crowded);
      assert_int_equal(w.far_messages, want[i].messages);
      assert_int_equal(w.far, want[i].rounds);
    }
  }
  free(nodes);
}

/* 8 nodes of 8 ranks: where these outnumber the processors of a host, one round inside a node takes
 * the place of three. */
TEST(stars_inside) {
  struct tmb_coll_nodes *nodes = nodes_make(RANGES, 64, 8);
  assert_int_equal(figures_of(TMB_COLL_ALLREDUCE, "nodes", 64, nodes, false).depth, 3 + 3 + 3);
  assert_int_equal(figures_of(TMB_COLL_ALLREDUCE, "nodes", 64, nodes, true).depth, 1 + 3 + 1);
  assert_int_equal(figures_of(TMB_COLL_ALLGATHER, "nodes", 64, nodes, true).depth, 1 + 3 + 1);
  assert_int_equal(figures_of(TMB_COLL_REDUCE, "nodes", 64, nodes, true).depth, 1 + 3);
  free(nodes);
}

TEST(node_numbers) {
  static const uint32_t label[] = {5, 5, 2, 5, 9, 2}, ranges[] = {7, 7, 0, 0, 0, 3};
  struct tmb_coll_nodes *n = tmb_coll_nodes_make(label, 6, 10);
  assert_non_null(n);
  assert_int_equal(n->count, 3);
  assert_int_equal(n->largest, 3);
  assert_false(n->ranges);
  assert_memory_equal(n->node, ((uint32_t[]){0, 0, 1, 0, 2, 1}), 24);
  assert_memory_equal(n->member, ((uint32_t[]){0, 1, 3, 2, 5, 4}), 24);
  assert_memory_equal(n->start, ((uint32_t[]){0, 3, 5, 6}), 16);
  free(n);
  n = tmb_coll_nodes_make(ranges, 6, 8);
  assert_non_null(n);
  assert_true(n->ranges);
  assert_memory_equal(n->start, ((uint32_t[]){0, 2, 5, 6}), 16);
  free(n);
}

int main(int argc, char **argv) {
  every_size = argc > 1;
  if (every_size) larger = strcmp(argv[1], "every") == 0 ? UINT_MAX : 3;
  return unit_run(NULL, NULL);
}
