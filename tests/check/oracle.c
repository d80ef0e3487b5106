/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a list of operations that oracle.py has made, under `--check races`, on 3 ranks.
 *
 * A line of the file that argv[1] names is one operation: its rank, its kind, and numbers that the
 * kind gives a meaning (struct op). Each rank makes its own, in their order. With argv[2], a file
 * that all ranks map, an operation begins when all those above it have begun: then the order of the
 * whole job is that of the list. With `print` each rank prints what it has seen, with a further
 * argument a second thread of it polls. Invariants: operation N is made by line N of STEPS, so that
 * a finding names it; the checker hears nothing of the file of turns.
 */
#include <fcntl.h>
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OPS     32
#define SLOTS   64
#define H_COUNT 200
#define H_LONG  201
#define H_ASK   202

enum kind {
  PUT,
  GET,
  PUT_VAL,
  GET_VAL,
  LOAD,
  STORE,
  PRIVATE_LOAD,
  PRIVATE_STORE,
  ATOMIC,
  WAIT,
  WAIT_NBI,
  PUT_SIGNAL,
  WAIT_SIGNAL,
  POST,
  PUT_POST,
  WAIT_SEM,
  MESSAGE,
  LONG_MESSAGE,
  ASK,
  POLL,
  PUT_TAG,
  GET_TAG,
  WAIT_TAG,
  BARRIER,
  BARRIER_BLOCKING,
  BROADCAST,
  REDUCE,
  REDUCE_ALL,
  NOTIFY,
  NOTIFY_WAIT,
  REGION,
  REGION_END,
  PUT_STRIDED,
  GET_STRIDED
};

struct op {
  int rank, kind;
  int peer, at, bytes; /* of the remote side, or of the access; at: in the segment */
  int mode;            /* 0 blocking, 1 with an event, 2 implicit */
  int lc;              /* local completion: 0 now, 1 with the event, 2 with the event slot + 32 */
  int slot;            /* of the event */
  int where, local;    /* 0 memory of its own, 1 private memory, 2 the segment; place there */
  int what, count;     /* signal, tag, team, code of an atomic; how many are waited for. Of loads
                        * and stores: whether they go downwards; how many there are, 0: one */
};

static gex_TM_t tm;
static gex_Rank_t me;
static long *base[3]; /* of the segments; [0..31] data, [64..] signals */
static volatile int handled;
static struct op ops[OPS];
static int count;
static volatile int *turn; /* operations that have begun; NULL: in no order */
static gex_Event_t event[SLOTS];
static gex_TM_t team[3]; /* all; two halves; the same in another order */
static gex_AD_t ad;
static gexx_Sem_t sem;
static gexx_Sem_Handle_t post[3];
static char own[OPS][64], private[64] __attribute__((aligned(8)));
static uint64_t old[OPS]; /* values that an operation got */
static int came[OPS];     /* messages, in their order */
static const gex_EC_t category[] = {GEX_EC_ALL, GEX_EC_PUT, GEX_EC_GET, GEX_EC_LC};
static const ptrdiff_t stride[1] = {16}; /* of two longs */
static const size_t two[1] = {2};
static volatile long sink;

static void on_ask(gex_Token_t t, gex_AM_Arg_t i) {
  (void)gex_AM_ReplyShort1(t, H_COUNT, 0, i);
}
static void on_long(gex_Token_t t, void *buf, size_t n) {
  (void)t, (void)buf, (void)n;
  came[handled++ % OPS] = -1;
}
static void on_count(gex_Token_t t, gex_AM_Arg_t i) {
  (void)t;
  came[handled++ % OPS] = i;
}

static void *place(const struct op *o) {
  if (o->where == 2) return (char *)base[me] + o->local;
  return o->where == 1 ? private + o->local : own[o - ops];
}
static void *remote(const struct op *o) {
  return (char *)base[o->peer] + o->at;
}
/* Where an atomic operation puts what it fetches. */
static uint64_t *result(const struct op *o) {
  return o->where ? place(o) : &old[o - ops];
}
static uint64_t *signal_of(int rank, int what) {
  return (uint64_t *)&base[rank][64 + 8 * what];
}
static gex_Event_t *lc_of(const struct op *o) {
  if (o->lc == 2) return &event[o->slot + 32];
  return o->lc ? GEX_EVENT_DEFER : GEX_EVENT_NOW;
}

static void begin(int i) {
  while (turn && __atomic_load_n(turn, __ATOMIC_ACQUIRE) < i) {
    gasnet_AMPoll();
    sched_yield();
  }
}
static void begun(int i) {
  if (turn) __atomic_store_n(turn, i + 1, __ATOMIC_RELEASE);
}

#define ATOMIC_OP(o, N, OP)                                                      \
 do {                                                                            \
  if ((o)->mode == 2) {                                                          \
   (void)gex_AD_OpNBI_U64(ad, result(o), (o)->peer, to, OP, N + 1, 0, 0);        \
  } else {                                                                       \
   const gex_Event_t e = gex_AD_OpNB_U64(ad, result(o), p, to, OP, N + 1, 0, 0); \
   if ((o)->mode) event[(o)->slot] = e;                                          \
   if (!(o)->mode) gex_Event_Wait(e);                                            \
  }                                                                              \
 } while (0)
#define THREE(o, NAME, BLOCKING, NB, NBI)    \
 case NAME:                                  \
  if ((o)->mode == 0) (void)BLOCKING;        \
  if ((o)->mode == 1) event[(o)->slot] = NB; \
  if ((o)->mode == 2) (void)NBI;             \
  break;
/* In loops, upwards or downwards: lines have runs (check/local.h). */
#define ACCESS(o, LOADED, TYPE, AT)                                       \
 {                                                                        \
  const int n_ = (o)->count ? (o)->count : 1, down_ = (o)->what ? n_ : 0; \
  volatile TYPE *const at_ = (TYPE *)(void *)(AT);                        \
  for (int k_ = 0; k_ < n_; k_++)                                         \
   if (LOADED)                                                            \
    (void)at_[down_ ? down_ - 1 - k_ : k_];                               \
   else                                                                   \
    at_[down_ ? down_ - 1 - k_ : k_] = 1;                                 \
 }
#define LOCAL(o, LOADED, AT)                       \
 do {                                              \
  if ((o)->bytes == 1) ACCESS(o, LOADED, char, AT) \
  if ((o)->bytes == 4) ACCESS(o, LOADED, int, AT)  \
  if ((o)->bytes == 8) ACCESS(o, LOADED, long, AT) \
 } while (0)

/* One operation; each line that has this macro is another line of the program. */
#define STEP(N)                                                                                    \
 static __attribute__((flatten)) void step_##N(const struct op *o) {                               \
  void *const to = remote(o), *const at = place(o);                                                \
  gex_Event_t *const lc = lc_of(o);                                                                \
  const int p = o->peer;                                                                           \
  const size_t n = (size_t)o->bytes;                                                               \
  switch ((enum kind)o->kind) {                                                                    \
   THREE(o, PUT, gex_RMA_PutBlocking(tm, p, to, at, n, 0), gex_RMA_PutNB(tm, p, to, at, n, lc, 0), \
         gex_RMA_PutNBI(tm, p, to, at, n, lc, 0))                                                  \
   THREE(o, GET, gex_RMA_GetBlocking(tm, at, p, to, n, 0), gex_RMA_GetNB(tm, at, p, to, n, 0),     \
         gex_RMA_GetNBI(tm, at, p, to, n, 0))                                                      \
   THREE(o, PUT_VAL, gex_RMA_PutBlockingVal(tm, p, to, N + 1, n, 0),                               \
         gex_RMA_PutNBVal(tm, p, to, N + 1, n, 0), gex_RMA_PutNBIVal(tm, p, to, N + 1, n, 0))      \
   THREE(o, PUT_SIGNAL,                                                                            \
         gexx_RMA_PutSignalBlocking(tm, p, to, at, n, lc, signal_of(p, o->what), GEXX_SIG_ADD, 1,  \
                                    0),                                                            \
         gexx_RMA_PutSignalNB(tm, p, to, at, n, lc, signal_of(p, o->what), GEXX_SIG_ADD, 1, 0),    \
         gexx_RMA_PutSignalNBI(tm, p, to, at, n, lc, signal_of(p, o->what), GEXX_SIG_ADD, 1, 0))   \
   THREE(o, PUT_TAG, gexx_RMA_PutNotify(tm, p, to, at, n, (uint32_t)o->what, 0),                   \
         gexx_RMA_PutNotifyNB(tm, p, to, at, n, lc, (uint32_t)o->what, 0),                         \
         gexx_RMA_PutNotifyNBI(tm, p, to, at, n, lc, (uint32_t)o->what, 0))                        \
   THREE(o, GET_TAG, gexx_RMA_GetNotify(tm, at, p, to, n, (uint32_t)o->what, 0),                   \
         gexx_RMA_GetNotifyNB(tm, at, p, to, n, (uint32_t)o->what, 0),                             \
         gexx_RMA_GetNotifyNBI(tm, at, p, to, n, (uint32_t)o->what, 0))                            \
  case ATOMIC:                                                                                     \
   if (o->what == 0) ATOMIC_OP(o, N, GEX_OP_FADD);                                                 \
   if (o->what == 1) ATOMIC_OP(o, N, GEX_OP_SET);                                                  \
   if (o->what == 2) ATOMIC_OP(o, N, GEX_OP_GET);                                                  \
   break;                                                                                          \
   THREE(o, PUT_STRIDED, gex_VIS_StridedPutBlocking(tm, p, to, stride, at, stride, 8, two, 1, 0),  \
         gex_VIS_StridedPutNB(tm, p, to, stride, at, stride, 8, two, 1, 0),                        \
         gex_VIS_StridedPutNBI(tm, p, to, stride, at, stride, 8, two, 1, 0))                       \
   THREE(o, GET_STRIDED, gex_VIS_StridedGetBlocking(tm, at, stride, p, to, stride, 8, two, 1, 0),  \
         gex_VIS_StridedGetNB(tm, at, stride, p, to, stride, 8, two, 1, 0),                        \
         gex_VIS_StridedGetNBI(tm, at, stride, p, to, stride, 8, two, 1, 0))                       \
  case GET_VAL: old[N] = gex_RMA_GetBlockingVal(tm, p, to, n, 0); break;                           \
  case LOAD: LOCAL(o, true, (char *)base[me] + o->at); break;                                      \
  case STORE: LOCAL(o, false, (char *)base[me] + o->at); break;                                    \
  case PRIVATE_LOAD: LOCAL(o, true, private + o->at); break;                                       \
  case PRIVATE_STORE: LOCAL(o, false, private + o->at); break;                                     \
  case WAIT:                                                                                       \
   if (o->what == 0) gex_Event_Wait(event[o->slot]);                                               \
   if (o->what == 1)                                                                               \
    while (gex_Event_Test(event[o->slot]) != GASNET_OK) (void)gasnet_AMPoll();                     \
   if (o->what == 2) gex_Event_WaitAll(&event[o->slot], 1, 0);                                     \
   if (o->what == 3)                                                                               \
    while (gex_Event_TestSome(&event[o->slot], 1, 0)) (void)gasnet_AMPoll();                       \
   break;                                                                                          \
  case WAIT_NBI: gex_NBI_Wait(category[o->what], 0); break;                                        \
  case WAIT_SIGNAL:                                                                                \
   if (o->mode == 0)                                                                               \
    (void)gexx_Signal_Wait(signal_of((int)me, o->what), GEXX_SIG_GE, (uint64_t)o->count);          \
   if (o->mode == 1)                                                                               \
    while (gexx_Signal_Test(signal_of((int)me, o->what), GEXX_SIG_GE, (uint64_t)o->count))         \
     sched_yield();                                                                                \
   if (o->mode == 2)                                                                               \
    while (gexx_Signal_Fetch(signal_of((int)me, o->what)) < (uint64_t)o->count) sched_yield();     \
   break;                                                                                          \
  case POST: gexx_Sem_Post(post[p]); break;                                                        \
  case PUT_POST: gexx_Sem_PutSignal(post[p], to, at, n, 1); break;                                 \
  case WAIT_SEM: gexx_Sem_WaitN(sem, (uint64_t)o->count); break;                                   \
  case MESSAGE: (void)gex_AM_RequestShort1(tm, p, H_COUNT, 0, o->what); break;                     \
  case LONG_MESSAGE: (void)gex_AM_RequestLong0(tm, p, H_LONG, at, n, to, GEX_EVENT_NOW, 0); break; \
  case ASK: (void)gex_AM_RequestShort1(tm, p, H_ASK, 0, N); break;                                 \
  case POLL: GASNET_BLOCKUNTIL(handled >= o->count); break;                                        \
  case WAIT_TAG: {                                                                                 \
   gexx_Notify_t r;                                                                                \
   (void)gexx_Notify_Init(tm, (gex_Rank_t)p, (uint32_t)o->what, (uint32_t)o->count, &r);           \
   gexx_Notify_Start(r);                                                                           \
   gexx_Notify_Wait(r, NULL);                                                                      \
   gexx_Notify_Free(r);                                                                            \
   break;                                                                                          \
  }                                                                                                \
  case BARRIER: event[o->slot] = gex_Coll_BarrierNB(team[o->what], 0); break;                      \
  case BARRIER_BLOCKING: gex_Coll_BarrierBlocking(team[o->what], 0); break;                        \
  case BROADCAST:                                                                                  \
   event[o->slot] = gex_Coll_BroadcastNB(team[0], (gex_Rank_t)p, at, at, n, 0);                    \
   break;                                                                                          \
  case REDUCE:                                                                                     \
   event[o->slot] = gex_Coll_ReduceToOneNB(team[0], (gex_Rank_t)p, at, &old[N], GEX_DT_U64, 8, 1,  \
                                           GEX_OP_ADD, NULL, NULL, 0);                             \
   break;                                                                                          \
  case REDUCE_ALL:                                                                                 \
   event[o->slot] =                                                                                \
       gex_Coll_ReduceToAllNB(team[0], at, &old[N], GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);  \
   break;                                                                                          \
  case NOTIFY: gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS); break;                      \
  case NOTIFY_WAIT: (void)gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS); break;             \
  case REGION: gex_NBI_BeginAccessRegion(0); break;                                                \
  case REGION_END: event[o->slot] = gex_NBI_EndAccessRegion(0); break;                             \
  }                                                                                                \
 }

/* STEPS: operation N is line N of these. */
STEP(0)
STEP(1)
STEP(2)
STEP(3)
STEP(4)
STEP(5)
STEP(6)
STEP(7)
STEP(8)
STEP(9)
STEP(10)
STEP(11)
STEP(12)
STEP(13)
STEP(14)
STEP(15)
STEP(16)
STEP(17)
STEP(18)
STEP(19)
STEP(20)
STEP(21)
STEP(22)
STEP(23)
STEP(24)
STEP(25)
STEP(26)
STEP(27)
STEP(28)
STEP(29)
STEP(30)
STEP(31)

#define TEN(T)                                                                              \
 step_##T##0, step_##T##1, step_##T##2, step_##T##3, step_##T##4, step_##T##5, step_##T##6, \
     step_##T##7, step_##T##8, step_##T##9
static void (*const steps[OPS])(const struct op *) = {TEN(), TEN(1), TEN(2), step_30, step_31};

/* What this rank has seen, in one line. */
static void print_seen(void) {
  char text[64 * OPS];
  int at = snprintf(text, sizeof text, "rank %u:", me);
  for (int i = 0; i < handled && i < OPS; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, " message %d", came[i]);
  for (int i = 0; i < count; i++) {
    uint64_t value = old[i];
    if (ops[i].kind == GET && ops[i].where == 0 && ops[i].bytes <= 8) memcpy(&value, own[i], 8);
    if (ops[i].rank == (int)me && value)
      at += snprintf(text + at, sizeof text - (size_t)at, " %d got %llx", i,
                     (unsigned long long)value);
  }
  puts(text);
}

/* Whether an operation returns only when other ranks have begun theirs. */
static bool meets(const struct op *o) {
  return o->kind == BARRIER_BLOCKING;
}

/* A thread beside the one that makes the operations: messages come to both. */
static volatile bool over;
static void *poll(void *arg) {
  while (!over) {
    (void)gasnet_AMPoll();
    (void)usleep(50);
  }
  return arg;
}

static void read_ops(const char *path) {
  FILE *const in = fopen(path, "re");
  if (!in) exit(2);
  for (struct op *o = ops; count < OPS; o++, count++)
    if (fscanf(in, "%d%d%d%d%d%d%d%d%d%d%d%d", &o->rank, &o->kind, &o->peer, &o->at, &o->bytes,
               &o->mode, &o->lc, &o->slot, &o->where, &o->local, &o->what, &o->count) != 12)
      break;
  fclose(in);
}

static void map_turns(const char *path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  void *const at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) exit(2);
  turn = at;
}

static void make_objects(void) {
  gexx_Sem_Handle_t mine;
  (void)gexx_Sem_Alloc(&sem, GEXX_SEM_INTEGER | GEXX_SEM_MPRODUCER | GEXX_SEM_MCONSUMER);
  mine = gexx_Sem_QueryHandle(sem);
  gex_Event_Wait(gexx_Coll_AllGatherNB(tm, post, &mine, sizeof mine, 0));
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_SET | GEX_OP_GET, 0);
  team[0] = tm;
  (void)gex_TM_Split(&team[1], tm, me < 2, 0, NULL, 0, 0);
  (void)gex_TM_Split(&team[2], tm, 0, 2 - (int)me, NULL, 0, 0);
}

/* in two: a second thread polls. */
static void run_ops(bool two) {
  pthread_t thread;
  if (two && pthread_create(&thread, NULL, poll, NULL) != 0) exit(2);
  for (int i = 0; i < count; i++) {
    if (ops[i].rank != (int)me) continue;
    begin(i);
    if (meets(&ops[i])) begun(i);
    steps[i](&ops[i]);
    if (!meets(&ops[i])) begun(i);
  }
  gex_Coll_BarrierBlocking(tm, 0);
  over = true;
  if (two) pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_AM_Entry_t entries[] = {
      {H_COUNT, (gex_AM_Fn_t)on_count, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 1, NULL, NULL},
      {H_LONG, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, NULL},
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, NULL}};
  if (gex_Client_Init(&client, &ep, &tm, "ORACLE", &argc, &argv, GEX_FLAG_USES_GASNET1)) return 1;
  me = gex_TM_QueryRank(tm);
  (void)gex_EP_RegisterHandlers(ep, entries, 3);
  if (gex_Segment_Attach(&segment, tm, 65536) != GASNET_OK || argc < 2) return 1;
  for (gex_Rank_t r = 0; r < 3; r++)
    (void)gex_Segment_QueryBound(tm, r, (void **)&base[r], NULL, NULL);
  memset(gex_Segment_QueryAddr(segment), 0, 8192);
  make_objects();
  read_ops(argv[1]);
  for (int i = 0; i < OPS; i++) memset(own[i], ops[i].kind == GET ? 0 : i + 1, sizeof own[i]);
  const bool prints = argc > 2 && !strcmp(argv[2], "print"), two = argc > 3;
  if (argc > 2 && !prints) map_turns(argv[2]);
  gex_Coll_BarrierBlocking(tm, 0);
  run_ops(two);
  if (prints) print_seen();
  gasnet_exit(0);
}
