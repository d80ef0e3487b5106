/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program of several ranks and threads, for tests/replay/crew.py. Arguments: seed, threads
 * of a rank, steps of a thread. Each thread takes steps by the seed: atomic operations, puts and
 * gets, tests, messages, signals, locks and waits for conditions. It prints what it has seen, and
 * each rank its messages in their order. Pauses are random, so two runs differ. No step waits for
 * one of a thread that could wait for it. Compiled as PAR, and as PARSYNC, where calls are made
 * under a lock.
 */
#include <gasnetex.h>

#include <gasnet_ratomic.h>
#include <gasnetex_ext.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "delay.h"

#define RANKS   8
#define THREADS 8
#define STEPS   400
#define WORDS   3
#define H_GIVE  200
#define H_BACK  201
#define H_MANY  202 /* with a payload */
#define H_FULL  203

enum kind {
  GIVE, /* a message, which may be answered, also a prepared one, or one that may be refused */
  ADD,
  SWAP,
  READ, /* an atomic get */
  GET,
  GET_NB,
  PUT,
  PUT_TESTED,
  POST, /* a put with a signal */
  TAKE, /* a signal, if one is there */
  LOOK, /* the messages that have come, under the lock that handlers take */
  LOCK,
  TRY,
  LOCKED_ADD, /* a call with a lock held */
  PAUSE,      /* a wait for a condition with a time limit */
  MEET,       /* all threads of a rank */
  POLL,
  KINDS
};

struct step {
  enum kind kind;
  gex_Rank_t peer;
  int word, value;
};

static gex_TM_t tm;
static gex_AD_t ad;
static gex_Rank_t me, ranks;
static int threads, steps;
static uint64_t *base[RANKS]; /* [WORDS] of atomics, of puts, and of signals */
static struct step all[RANKS][THREADS][STEPS];
static gex_HSL_t hsl = GEX_HSL_INITIALIZER;
static volatile int given, wanted; /* messages to this rank */
static char messages[STEPS * THREADS * RANKS * 8];
static size_t messages_at;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, meeting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER, changed = PTHREAD_COND_INITIALIZER;
static long changes; /* under the mutex */
static int came, meetings;

struct worker {
  int number;
  pthread_t thread;
  char text[STEPS * 24];
  size_t at;
};
static struct worker workers[THREADS];

#if GASNET_PARSYNC
static pthread_mutex_t call = PTHREAD_MUTEX_INITIALIZER;
# define CALL(x) (pthread_mutex_lock(&call), (x), pthread_mutex_unlock(&call))
#else
# define CALL(x) ((void)(x))
#endif

static void note(gex_Token_t t, char how, int value) {
  gex_Token_Info_t info;
  (void)gex_Token_Info(t, &info, GEX_TI_SRCRANK);
  gex_HSL_Lock(&hsl);
  messages_at += (size_t)snprintf(messages + messages_at, sizeof messages - messages_at, " %c%u.%d",
                                  how, info.gex_srcrank, value);
  given++;
  gex_HSL_Unlock(&hsl);
}
static void on_give(gex_Token_t t, gex_AM_Arg_t value) {
  note(t, 'g', value);
  if (value % 3 == 0) (void)gex_AM_ReplyShort1(t, H_BACK, 0, value);
}
static void on_back(gex_Token_t t, gex_AM_Arg_t value) {
  note(t, 'b', value);
}

static size_t bytes_of(int value) {
  return (size_t)value % 5 * 12000;
}
static void on_many(gex_Token_t t, void *buf, size_t nbytes, gex_AM_Arg_t value) {
  note(t, 'm', value + (nbytes && *(const unsigned char *)buf != (unsigned char)value));
  if (value % 3) return;
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(t, NULL, nbytes, nbytes, NULL, 0, 1);
  memset(gex_AM_SrcDescAddr(sd), value, nbytes);
  gex_AM_CommitReplyMedium(sd, H_FULL, nbytes, value);
}
static void on_full(gex_Token_t t, void *buf, size_t nbytes, gex_AM_Arg_t value) {
  note(t, 'f', value + (nbytes && *(const unsigned char *)buf != (unsigned char)value));
}

static void say(struct worker *w, const char *what, unsigned long long value) {
  w->at += (size_t)snprintf(w->text + w->at, sizeof w->text - w->at, " %s%llx", what, value);
}

static uint64_t atomic_op(const struct step *s, gex_OP_t op) {
  uint64_t old = 0;
  CALL(gex_Event_Wait(gex_AD_OpNB_U64(ad, &old, s->peer, base[s->peer] + s->word, op,
                                      (uint64_t)s->value % 4, (uint64_t)s->value % 3, 0)));
  return old;
}

static uint64_t *put_word(const struct step *s) {
  return base[s->peer] + WORDS + s->word;
}
static uint64_t *signal_word(gex_Rank_t rank, int word) {
  return base[rank] + 2 * WORDS + word;
}

/* A test that is asked for until it is true; counted. */
static int put_tested(const struct step *s) {
  int tests = 0, rc = 0;
  uint64_t value = (uint64_t)s->value;
  gex_Event_t e = GEX_EVENT_INVALID;
  CALL(e = gex_RMA_PutNB(tm, s->peer, put_word(s), &value, sizeof value, GEX_EVENT_NOW, 0));
  do {
    CALL(rc = gex_Event_Test(e));
    if (rc != GASNET_OK) CALL(gasnet_AMPoll());
    tests++;
  } while (rc != GASNET_OK);
  return tests;
}

/* A prepared message. in immediate: its preparation, and its commit, may be refused; neither is
 * followed by a call of another thread. Returns how often they were. */
static int give_prepared(const struct step *s, gex_Flags_t immediate) {
  const size_t bytes = bytes_of(s->value);
  int refused = 0;
  gex_AM_SrcDesc_t sd =
      gex_AM_PrepareRequestMedium(tm, s->peer, NULL, bytes, bytes, NULL, immediate, 1);
  if (sd == GEX_AM_SRCDESC_NO_OP) {
    sd = gex_AM_PrepareRequestMedium(tm, s->peer, NULL, bytes, bytes, NULL, 0, 1);
    refused++;
  }
  memset(gex_AM_SrcDescAddr(sd), s->value, bytes);
  while (gex_AM_CommitRequestMedium1_v2(sd, H_MANY, bytes, immediate, s->value)) refused++;
  return refused;
}
static int give_now(const struct step *s) {
  int rc = 0, refused = 0;
  for (;;) {
    CALL(rc = gex_AM_RequestShort1(tm, s->peer, H_GIVE, GEX_FLAG_IMMEDIATE, s->value));
    if (!rc) return refused;
    CALL(gasnet_AMPoll());
    refused++;
  }
}
static void give(struct worker *w, const struct step *s) {
  int refused = 0;
  if (s->value % 7 == 0)
    refused = give_now(s);
  else if (s->value % 7 == 1)
    CALL(refused = give_prepared(s, s->value & GEX_FLAG_IMMEDIATE));
  else
    CALL(gex_AM_RequestShort1(tm, s->peer, H_GIVE, 0, s->value));
  if (s->value % 7 < 2) say(w, "q", (unsigned long long)refused);
}

static uint64_t get_nb(const struct step *s) {
  uint64_t value = 0;
  gex_Event_t e = GEX_EVENT_INVALID;
  CALL(e = gex_RMA_GetNB(tm, &value, s->peer, put_word(s), sizeof value, 0));
  CALL(gex_Event_Wait(e));
  return value;
}

/* All threads of the rank meet. Returns which one this is. */
static int meet(void) {
  pthread_mutex_lock(&meeting);
  const int number = came++, own = meetings;
  if (came == threads) {
    came = 0;
    meetings++;
    pthread_cond_broadcast(&met);
  }
  while (meetings == own) pthread_cond_wait(&met, &meeting);
  pthread_mutex_unlock(&meeting);
  return number;
}

/* Wait until a thread changes something, or a time. */
static long pause_here(int us) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += us * 1000L;
  if (t.tv_nsec >= 1000000000) t.tv_sec++, t.tv_nsec -= 1000000000;
  pthread_mutex_lock(&mutex);
  const long before = changes;
  const int rc = pthread_cond_timedwait(&changed, &mutex, &t);
  const long after = changes;
  pthread_mutex_unlock(&mutex);
  return (after - before) * 2 + (rc != 0);
}

static long change(void) {
  const long value = ++changes;
  pthread_cond_broadcast(&changed);
  return value;
}

static void locks(struct worker *w, const struct step *s) {
  switch (s->kind) {
  case LOCK:
    pthread_mutex_lock(&mutex);
    say(w, "l", (unsigned long long)change());
    pthread_mutex_unlock(&mutex);
    break;
  case TRY:
    if (pthread_mutex_trylock(&mutex) == 0) {
      say(w, "t", (unsigned long long)change());
      pthread_mutex_unlock(&mutex);
    } else {
      say(w, "n", 0);
    }
    break;
  case LOCKED_ADD:
    pthread_mutex_lock(&mutex);
    say(w, "d", atomic_op(s, GEX_OP_FADD) * 1000 + (unsigned long long)change());
    pthread_mutex_unlock(&mutex);
    break;
  case PAUSE: say(w, "c", (unsigned long long)pause_here(s->value % 200)); break;
  case MEET: say(w, "m", (unsigned long long)meet()); break;
  case LOOK:
    gex_HSL_Lock(&hsl);
    say(w, "h", (unsigned long long)given);
    gex_HSL_Unlock(&hsl);
    break;
  default: break;
  }
}

static void step(struct worker *w, const struct step *s) {
  uint64_t value = (uint64_t)s->value;
  int rc = 0;
  switch (s->kind) {
  case GIVE: give(w, s); break;
  case ADD: say(w, "a", atomic_op(s, GEX_OP_FADD)); break;
  case SWAP: say(w, "s", atomic_op(s, GEX_OP_FCAS)); break;
  case READ: say(w, "r", atomic_op(s, GEX_OP_GET)); break;
  case GET:
    CALL(gex_RMA_GetBlocking(tm, &value, s->peer, put_word(s), sizeof value, 0));
    say(w, "v", value);
    break;
  case GET_NB: say(w, "w", get_nb(s)); break;
  case PUT: CALL(gex_RMA_PutBlocking(tm, s->peer, put_word(s), &value, sizeof value, 0)); break;
  case PUT_TESTED: say(w, "p", (unsigned long long)put_tested(s)); break;
  case POST:
    CALL(gexx_RMA_PutSignalBlocking(tm, s->peer, base[s->peer] + 64 + w->number, &value,
                                    sizeof value, GEX_EVENT_NOW, signal_word(s->peer, s->word),
                                    GEXX_SIG_ADD, 1, 0));
    break;
  case TAKE:
    CALL(rc = gexx_Signal_TryConsume(signal_word(me, s->word), 1));
    say(w, "k", rc == GASNET_OK);
    break;
  case POLL: CALL(gasnet_AMPoll()); break;
  default: locks(w, s); break;
  }
}

static void *work(void *arg) {
  struct worker *const w = arg;
  for (int i = 0; i < steps; i++) {
    if (i % 4 == 0) delay(30);
    step(w, &all[me][w->number][i]);
  }
  return NULL;
}

/* The steps of all threads, by the seed: a rank knows how many messages it is to get. */
static void make_steps(unsigned seed) {
  static const enum kind often[] = {GIVE, GIVE, ADD, LOOK, POLL, LOCK};
  for (gex_Rank_t r = 0; r < ranks; r++)
    for (int t = 0; t < threads; t++) {
      unsigned dice = seed * 7919 + r * 101 + (unsigned)t;
      for (int i = 0; i < steps; i++) {
        struct step *const s = &all[r][t][i];
        const unsigned kind = (unsigned)rand_r(&dice) % (KINDS + 6);
        s->kind = kind < KINDS ? (enum kind)kind : often[kind - KINDS];
        if (s->kind == MEET) s->kind = LOCK;
        if (i % 10 == 9 && seed % 2) s->kind = MEET;
        s->peer = (gex_Rank_t)rand_r(&dice) % ranks;
        s->word = rand_r(&dice) % WORDS;
        s->value = rand_r(&dice) % 1000;
        if (s->kind == GIVE) wanted += (s->peer == me) + (s->value % 3 == 0 && r == me);
      }
    }
}

/* A condition that takes the lock of the handlers. */
static bool all_given(void) {
  gex_HSL_Lock(&hsl);
  const bool all = given == wanted;
  gex_HSL_Unlock(&hsl);
  return all;
}

static void run(void) {
  for (int t = 0; t < threads; t++) workers[t].number = t;
  for (int t = 1; t < threads; t++)
    if (pthread_create(&workers[t].thread, NULL, work, &workers[t]) != 0) abort();
  (void)work(&workers[0]);
  for (int t = 1; t < threads; t++) pthread_join(workers[t].thread, NULL);
  GASNET_BLOCKUNTIL(all_given());
  gex_Coll_BarrierBlocking(tm, 0);
  printf("rank %u:%s\n", me, messages);
  for (int t = 0; t < threads; t++) printf("rank %u thread %d:%s\n", me, t, workers[t].text);
  fflush(stdout);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  const gex_Flags_t takes = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP;
  const gex_Flags_t takes_long = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP;
  gex_AM_Entry_t handlers[] = {{H_GIVE, (gex_AM_Fn_t)on_give, takes, 1, NULL, NULL},
                               {H_BACK, (gex_AM_Fn_t)on_back, takes, 1, NULL, NULL},
                               {H_MANY, (gex_AM_Fn_t)on_many, takes_long, 1, NULL, NULL},
                               {H_FULL, (gex_AM_Fn_t)on_full, takes_long, 1, NULL, NULL}};
  if (gex_Client_Init(&client, &ep, &tm, "CREW", &argc, &argv, 0) || argc < 4) return 1;
  me = gex_TM_QueryRank(tm);
  ranks = gex_TM_QuerySize(tm);
  threads = atoi(argv[2]);
  steps = atoi(argv[3]);
  if (ranks > RANKS || threads > THREADS || steps > STEPS) return 1;
  (void)gex_EP_RegisterHandlers(ep, handlers, sizeof handlers / sizeof *handlers);
  if (gex_Segment_Attach(&segment, tm, 65536) != GASNET_OK) return 1;
  for (gex_Rank_t r = 0; r < ranks; r++) {
    void *at = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, &at, NULL, NULL, 0));
    base[r] = at;
  }
  memset(base[me], 0, 65536);
  gex_AD_Create(&ad, tm, GEX_DT_U64, GEX_OP_FADD | GEX_OP_FCAS | GEX_OP_GET, 0);
  make_steps((unsigned)atoi(argv[1]));
  gex_Coll_BarrierBlocking(tm, 0);
  run();
  gex_AD_Destroy(ad);
  gasnet_exit(0);
}
