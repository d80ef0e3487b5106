/* SPDX-License-Identifier: BSD-3-Clause */
/* mode: PAR */
/* ranks: 2 */
/* debug: both */
/* env: TOMBOLO_PLACES=cyclic:2 TOMBOLO_CONDUIT=udp */
/* again: TOMBOLO_UDP_MTU=1472+TOMBOLO_TEST_UDP_FAULT=loss=5 */
/* again: TOMBOLO_UDP_MTU=256+TMB_TEST_PACKET=256+TOMBOLO_TEST_UDP_FAULT=reorder=20 */
/* again: TOMBOLO_UDP_AUTH=encrypt+TOMBOLO_TEST_UDP_FAULT=dup=20 */
/* again: TOMBOLO_PROGRESS_SHARE=0+TOMBOLO_TEST_UDP_FAULT=loss=20 */
/* timeout: 120 */
/*
 * Payloads of every length at which a path or a number of packets may change, from 0 bytes to
 * 4 MiB, at odd addresses: messages that go one by one, then a message, a Long and a put or get in
 * flight at once, by two threads of each rank. Each message comes once; every byte is checked, and
 * those around it. TMB_TEST_SWEEPS: how often; TMB_TEST_PACKET: bytes of packets whose borders are
 * tried.
 */
#include "job.h"
#include "threads.h"

#include <gasnetex_ext.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { LONGEST = 1 << 20 };
#else
enum { LONGEST = 4 << 20 };
#endif
enum {
  MARGIN = 64,
  ROOM = LONGEST + 256,
  GUARD = 0xb7,
  WORKERS = 2,
  ALONE_MAX = 200, /* bytes of messages that go one by one */
  ALONE_EACH = 3,  /* of them, of each length */
  IDS = 1 << 16,   /* messages of a worker */
  FEW = 8 << 10    /* longer payloads are not tried at every border */
};
enum { TO_PUT, TO_LONG, TO_REPLY, PLACES }; /* what arrives where */

struct worker {
  char *out, *sent, *back; /* [ROOM] sources of a put and a message, destination of gets */
  uint64_t *signal_at_peer;
  uint64_t signals;
  uint64_t random;
  int next;          /* number of the next message */
  uint32_t answered; /* atomic: replies that have come */
};

static struct worker worker[WORKERS];
static uint8_t come[WORKERS][IDS][2]; /* atomic: times that a request, a reply has come */
static gex_AM_Index_t request, reply;
static gex_Rank_t peer;
static size_t packet;

static char *place(gex_Rank_t at, int w, int what) {
  return job.peer[at] + 64 + ((size_t)w * PLACES + (size_t)what) * ROOM;
}

static uint64_t seed_of(gex_Rank_t from, int w, int id, int kind) {
  return mix64((uint64_t)from << 40 | (uint64_t)w << 32 | (uint32_t)id) + (unsigned)kind;
}

/* ---- messages: arguments: worker, and whether it is Long; number; bytes */

enum { IS_LONG = 1 << 8 };

/* Where a Long lands. */
static char *landing(gex_Rank_t at, int who, int id, int what) {
  return place(at, who & (IS_LONG - 1), what) + MARGIN + id % 29;
}

/* A message is right and new; its place is free again. */
static void check_in(char *buf, size_t nbytes, int who, int id, size_t want, int is_reply) {
  const int w = who & (IS_LONG - 1);
  REQUIRE(w < WORKERS && id >= 0 && id < IDS);
  CHECK_EQ(nbytes, want);
  CHECK_EQ(__atomic_fetch_add(&come[w][id][is_reply], 1, __ATOMIC_RELAXED), 0);
  CHECK_BYTES(buf, nbytes, seed_of(peer, w, id, is_reply));
  if (!(who & IS_LONG)) return;
  CHECK_PTR(buf, landing(job.rank, who, id, is_reply ? TO_REPLY : TO_LONG));
  CHECK_EQ(fill_diff(buf - MARGIN, MARGIN, GUARD), MARGIN);
  CHECK_EQ(fill_diff(buf + nbytes, MARGIN, GUARD), MARGIN);
  memset(buf, GUARD, nbytes);
}

static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t who,
                       gex_AM_Arg_t id, gex_AM_Arg_t want) {
  char *const room = check_room(1, nbytes + 7), *const out = room + id % 7;
  const size_t most = who & IS_LONG ? gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 3)
                                    : gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3);
  check_in(buf, nbytes, who, id, (size_t)want, 0);
  CHECK_CMP(nbytes, <=, most);
  pattern_fill(out, nbytes, seed_of(job.rank, who & (IS_LONG - 1), id, 1));
  if (who & IS_LONG)
    CHECK_EQ(gex_AM_ReplyLong3(token, reply, out, nbytes, landing(peer, who, id, TO_REPLY),
                               GEX_EVENT_NOW, 0, who, id, want),
             0);
  else
    CHECK_EQ(gex_AM_ReplyMedium3(token, reply, out, nbytes, GEX_EVENT_NOW, 0, who, id, want), 0);
  memset(out, 0x17, nbytes);
  free(room);
}

static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t who, gex_AM_Arg_t id,
                     gex_AM_Arg_t want) {
  (void)token;
  check_in(buf, nbytes, who, id, (size_t)want, 1);
  __atomic_fetch_add(&worker[who & (IS_LONG - 1)].answered, 1, __ATOMIC_RELEASE);
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Sends a Medium, or a Long. Its source is free on return. */
static void send(int w, size_t nbytes, int is_long) {
  const int id = worker[w].next++;
  char *const src = worker[w].sent + id % 11;
  REQUIRE(id < IDS);
  pattern_fill(src, nbytes, seed_of(job.rank, w, id, 0));
  if (is_long)
    CHECK_EQ(gex_AM_RequestLong3(job.tm, peer, request, src, nbytes, landing(peer, w, id, TO_LONG),
                                 GEX_EVENT_NOW, 0, w | IS_LONG, id, nbytes),
             0);
  else
    CHECK_EQ(
        gex_AM_RequestMedium3(job.tm, peer, request, src, nbytes, GEX_EVENT_NOW, 0, w, id, nbytes),
        0);
  memset(src, 0x31, nbytes);
}

static void await_answers(int w) {
  struct worker *me = &worker[w];
  GASNET_BLOCKUNTIL(__atomic_load_n(&me->answered, __ATOMIC_ACQUIRE) == (uint32_t)me->next);
}

/* ---- puts and gets */

static gex_Event_t put(int w, char *dest, char *src, size_t nbytes, unsigned kind) {
  struct worker *me = &worker[w];
  gex_Event_t leaf = GEX_EVENT_NO_OP, root = GEX_EVENT_INVALID;
  if (kind == 0) {
    CHECK_EQ(gex_RMA_PutBlocking(job.tm, peer, dest, src, nbytes, 0), 0);
  } else if (kind == 1) {
    root = gex_RMA_PutNB(job.tm, peer, dest, src, nbytes, &leaf, 0);
    gex_Event_Wait(leaf);
  } else if (kind == 2) {
    root = gex_RMA_PutNB(job.tm, peer, dest, src, nbytes, GEX_EVENT_NOW, 0);
  } else {
    me->signals++;
    root = gexx_RMA_PutSignalNB(job.tm, peer, dest, src, nbytes, &leaf, me->signal_at_peer,
                                GEXX_SIG_ADD, 1, 0);
    gex_Event_Wait(leaf);
  }
  memset(src, 0x3d, nbytes);
  return root;
}

/* What lies at the peer's place is the pattern, between guards; they get their value back. */
static void check_put(int w, char *dest, size_t nbytes, uint64_t seed) {
  char *const back = worker[w].back + rng_below(&worker[w].random, 16);
  memset(back, 0, nbytes + 2 * MARGIN);
  gex_Event_t get = gex_RMA_GetNB(job.tm, back, peer, dest - MARGIN, nbytes + 2 * MARGIN, 0);
  gex_Event_Wait(get);
  CHECK_EQ(fill_diff(back, MARGIN, GUARD), MARGIN);
  CHECK_BYTES(back + MARGIN, nbytes, seed);
  CHECK_EQ(fill_diff(back + MARGIN + nbytes, MARGIN, GUARD), MARGIN);
  memset(back, GUARD, nbytes);
  CHECK_EQ(gex_RMA_PutBlocking(job.tm, peer, dest, back, nbytes, 0), 0);
}

/* ---- the sweep */

/* Messages of a length that go one by one. */
static void alone(int w, size_t nbytes) {
  for (int i = 0; i < ALONE_EACH; i++) {
    send(w, nbytes, 0);
    await_answers(w);
  }
}

/* Everything of a length at once. */
static void together(int w, size_t nbytes) {
  struct worker *me = &worker[w];
  const size_t most = gex_AM_MaxRequestMedium(job.tm, peer, GEX_EVENT_NOW, 0, 3);
  const unsigned kind = (unsigned)rng_below(&me->random, 4);
  char *const dest = place(peer, w, TO_PUT) + MARGIN + rng_below(&me->random, 33);
  char *const src = me->out + rng_below(&me->random, 17);
  const uint64_t seed = rng_next(&me->random);
  send(w, least(nbytes, most), 0);
  pattern_fill(src, nbytes, seed);
  const gex_Event_t done = put(w, dest, src, nbytes, kind);
  send(w, rng_below(&me->random, 65), 0);
  if (nbytes <= gex_AM_MaxRequestLong(job.tm, peer, GEX_EVENT_NOW, 0, 3)) send(w, nbytes, 1);
  if (kind) gex_Event_Wait(done);
  check_put(w, dest, nbytes, seed);
  await_answers(w);
}

/* Lengths around a border. */
static void around(int w, size_t border) {
  for (size_t nbytes = border > 3 ? border - 3 : 0; nbytes <= border + 3; nbytes++)
    together(w, least(nbytes, LONGEST));
}

static void sweep(int w) {
  static const size_t borders[] = {128, 256, 512, 1024, 2048, 4096, FEW, 9216, 16384, 65536};
  static const size_t longer[] = {100003, 131072, 262147, 1 << 20, LONGEST - 1, LONGEST};
  for (size_t nbytes = 0; nbytes <= ALONE_MAX; nbytes += 1 + nbytes / 72) alone(w, nbytes);
  threads_meet();
  for (size_t nbytes = 0; nbytes <= 72; nbytes++) together(w, nbytes);
  for (size_t i = 0; i < sizeof borders / sizeof *borders; i++) around(w, borders[i]);
  for (size_t at = packet; at <= FEW; at += packet) /* where heads take 40 to 120 bytes */
    for (size_t head = 24; head <= 136; head += 7) together(w, at > head ? at - head : 0);
  for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) together(w, longer[i]);
}

static void body(int w) {
  const int sweeps = (int)env_number("TMB_TEST_SWEEPS", 1);
  for (int i = 0; i < sweeps && !check_failures(); i++) sweep(w);
}

static void open_worker(int w) {
  struct worker *me = &worker[w];
  me->out = check_room(1, ROOM);
  me->sent = check_room(1, ROOM);
  me->back = check_room(1, ROOM);
  me->random = mix64(test_seed() + job.rank * 100 + (unsigned)w);
  me->signal_at_peer = (uint64_t *)(void *)job.peer[peer] + w;
}

int main(int argc, char **argv) {
  const gex_Flags_t data = GEX_FLAG_AM_MEDLONG;
  gex_AM_Entry_t table[] = {
      {0, (gex_AM_Fn_t)on_request, data | GEX_FLAG_AM_REQUEST, 3, NULL, "request"},
      {0, (gex_AM_Fn_t)on_reply, data | GEX_FLAG_AM_REPLY, 3, NULL, "reply"}};
  job_start(&argc, &argv, 0, table, 2);
  request = table[0].gex_index;
  reply = table[1].gex_index;
  job_attach(64 + (uintptr_t)WORKERS * PLACES * ROOM);
  peer = job.size - 1 - job.rank;
  packet = (size_t)env_number("TMB_TEST_PACKET", 1472);
  memset(job.base, 0, 64);
  memset(job.base + 64, GUARD, job.bytes - 64);
  for (int w = 0; w < WORKERS; w++) open_worker(w);
  job_barrier();
  run_threads(WORKERS, body);
  job_barrier();
  for (int w = 0; w < WORKERS; w++) {
    uint64_t signals = 0;
    CHECK_EQ(gex_RMA_GetBlocking(job.tm, &signals, peer, worker[w].signal_at_peer, 8, 0), 0);
    CHECK_EQ(signals, worker[w].signals);
    for (int id = 0; id < IDS; id++) CHECK_EQ(come[w][id][1], id < worker[w].next);
  }
  job_barrier();
  CHECK_EQ(fill_diff(job.base + 64, job.bytes - 64, GUARD), job.bytes - 64);
  return job_finish();
}
