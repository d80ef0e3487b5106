/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that hangs for a known reason, or is only slow: argument 1 says how, argument 2 which rank
 * is the odd one (default: the last), argument 3 how many seconds something takes. Driven by why.py
 * and far.py; without arguments it ends well.
 */
/* mode: PAR */
/* ranks: 1 3 */
#define _GNU_SOURCE
#include <gasnetex.h>

#include <gasnet_coll.h>
#include <gasnetex_ext.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static gex_TM_t tm;
static gex_Rank_t me, size, odd;
enum { LONG_BYTES = 4 << 20 };
static long seconds;
static uint64_t *word; /* signal in this rank's segment */
static char *peer_base;

static void sleep_ms(long ms) {
  nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static void barrier(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

static void missing_barrier(void) {
  barrier();
  if (me == odd) (void)gexx_Signal_Wait(word, GEXX_SIG_GE, 4);
  barrier();
}

static void missing_named(void) {
  if (me == odd)
    for (;;) pause();
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  (void)gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

static void missing_reduction(size_t count) {
  uint64_t *x = calloc(count, sizeof *x);
  if (!x) abort();
  if (me == odd)
    for (;;) pause();
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, x, x, GEX_DT_U64, sizeof *x, count, GEX_OP_ADD, NULL, NULL, 0));
}

/* All but one rank make a team of their own; its first member does not come. */
static void missing_in_team(void) {
  gex_TM_t sub;
  (void)gex_TM_Split(&sub, tm, me == odd, (int)me, NULL, 0, 0);
  if (me == odd || me == 0)
    (void)gexx_Signal_Wait(word, GEXX_SIG_NE, 0);
  else
    gex_Event_Wait(gex_Coll_BarrierNB(sub, 0));
}

/* A member is missing in one of three teams of the same members; the last team has a name. in
 * which: from 0. */
static void missing_in_twin(int which) {
  gex_TM_t sub[3];
  for (int i = 0; i < 3; i++) (void)gex_TM_Split(&sub[i], tm, me == odd, (int)me, NULL, 0, 0);
  if (gexx_TM_SetName(sub[2], "rows") != GASNET_OK) abort();
  if (me == odd || me == 0)
    (void)gexx_Signal_Wait(word, GEXX_SIG_NE, 0);
  else
    gex_Event_Wait(gex_Coll_BarrierNB(sub[which], 0));
}

static void second_twin(void) {
  missing_in_twin(1);
}

static void named_twin(void) {
  missing_in_twin(2);
}

/* Each waits for a notification of the next, which waits, too. */
static void circle(void) {
  gexx_Notify_t req;
  gexx_Notify_Init(tm, (me + 1) % size, 7, 1, &req);
  gexx_Notify_Start(req);
  gexx_Notify_Wait(req, NULL);
}

/* The signal is changed by a plain store, which wakes nobody. */
static void plain_store(void) {
  barrier();
  if (me == odd) {
    sleep_ms(300);
    *(volatile uint64_t *)(void *)peer_base = 1;
  } else if (me == 0) {
    (void)gexx_Signal_Wait(word, GEXX_SIG_GE, 1);
  }
  barrier();
}

static void endless_loop(void) {
  volatile bool ends = false;
  while (me == odd && !ends) {}
  barrier();
}

static void endless_polls(void) {
  while (me == odd) gasnet_AMPoll();
  barrier();
}

/* Each waits by polls for a flag that a message of another would set, and none sends it. */
static void all_poll(void) {
  static volatile int flag;
  while (!flag) gasnet_AMPoll();
}

enum { HANDLER = 200, FILL_BYTES = 16384 };

static void on_fill(gex_Token_t token, void *payload, size_t bytes) {
  (void)token, (void)payload, (void)bytes;
}

/* Rank 0 sends to a rank that does not poll until something is used up. in large: messages that do
 * not fit into a ring. */
static void fill(bool large) {
  static char payload[FILL_BYTES];
  const size_t bytes = large ? FILL_BYTES : 8;
  while (me == 0) (void)gex_AM_RequestMedium0(tm, odd, HANDLER, payload, bytes, GEX_EVENT_NOW, 0);
  while (me == odd) pause();
}

/* Messages that have been handled, fewer than the ring's head is reported at once; then all wait.
 */
static void handled(void) {
  static char payload[8];
  for (int i = 0; i < 5 && me == 0; i++)
    (void)gex_AM_RequestMedium0(tm, odd, HANDLER, payload, sizeof payload, GEX_EVENT_NOW, 0);
  barrier();
  missing_barrier();
}

/* What run-time libraries say of their waits: one holds an object and waits for what nobody sends,
 * the others look at the object again and again. */
static void layer(void) {
  enum { TABLE = 77 };
  gexx_WaitInfo_t info = {.call = "take",
                          .object = "the table",
                          .needs = GEXX_WAIT_HOLDER,
                          .polls = 1,
                          .peer = GEX_RANK_INVALID,
                          .home = 0,
                          .object_id = TABLE,
                          .number = 5,
                          .event = GEX_EVENT_INVALID};
  gexx_WaitInfo_SetMembers("worker", 10);
  if (me == odd) gexx_WaitInfo_Held()[3] = TABLE;
  barrier();
  if (me == odd) missing_barrier();
  gexx_WaitInfo_Begin(&info);
  for (;;) gasnet_AMPoll();
}

static void register_fill(gex_EP_t ep) {
  gex_AM_Entry_t entry = {
      HANDLER, (gex_AM_Fn_t)on_fill, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "fill"};
  if (gex_EP_RegisterHandlers(ep, &entry, 1) != GASNET_OK) abort();
}

static void fill_ring(void) {
  fill(false);
}

static void fill_buffers(void) {
  fill(true);
}

/* Prepared messages: the program fills buffers of the library. */
static void fill_prepared(void) {
  while (me == 0) {
    gex_AM_SrcDesc_t sd =
        gex_AM_PrepareRequestMedium(tm, odd, NULL, FILL_BYTES, FILL_BYTES, NULL, 0, 0);
    memset(gex_AM_SrcDescAddr(sd), 0, FILL_BYTES);
    gex_AM_CommitRequestMedium0(sd, HANDLER, FILL_BYTES);
  }
  while (me == odd) pause();
}

static void stopped(void) {
  if (me == odd) raise(SIGSTOP);
  barrier();
}

static void nobody_signals(void) {
  if (me == odd) (void)gexx_Signal_Wait(word, GEXX_SIG_EQ, 9);
  barrier();
}

static void get_from_sleeper(void) {
  uint64_t x = 0;
  if (me == odd)
    for (;;) pause();
  sleep_ms(200); /* that rank polls no more */
  gex_RMA_GetBlocking(tm, &x, odd, peer_base, sizeof x, 0);
}

/* A rank that is stopped is asked for its memory; whoever is continued in time answers. */
static void get_from_stopped(void) {
  uint64_t x = 1;
  if (me == odd)
    raise(SIGSTOP);
  else
    sleep_ms(200);
  gex_RMA_GetBlocking(tm, &x, odd, peer_base, sizeof x, 0);
  if (x) abort();
}

/* As that, but it computes for a while: nothing is called meanwhile. */
static void get_from_worker(void) {
  uint64_t x = 1;
  sleep_ms(me == odd ? 1000 * seconds : 200);
  gex_RMA_GetBlocking(tm, &x, odd, peer_base, sizeof x, 0);
  if (x) abort();
}

/* Not a hang: one long put over a link that takes many time-outs for it. */
static void long_put(void) {
  char *const from = calloc(1, LONG_BYTES);
  if (!from) abort();
  for (int i = 0; i < 5 && me == 0; i++) {
    (void)gex_RMA_PutBlocking(tm, odd, peer_base, from, 8, 0); /* until the memory is known */
    sleep_ms(20);
  }
  if (me == 0) (void)gex_RMA_PutBlocking(tm, odd, peer_base, from, LONG_BYTES, 0);
  free(from);
}

static void locked_twice(void) {
  static gex_HSL_t lock = GEX_HSL_INITIALIZER;
  if (me == odd) {
    gex_HSL_Lock(&lock);
    gex_HSL_Lock(&lock);
  }
  barrier();
}

static volatile int flag;
static void blocked(void) {
  if (me == odd) GASNET_BLOCKUNTIL(flag);
  barrier();
}

/* Not a hang: each step takes its time. in busy: computing, else sleeping. */
static void slow(bool busy) {
  const time_t end = time(NULL) + 5;
  for (int go = 1; go;) {
    if (me == odd && !busy) sleep_ms(50);
    const clock_t until = clock() + CLOCKS_PER_SEC / 20;
    while (me == odd && busy && clock() < until) {}
    go = time(NULL) < end;
    gex_Event_Wait(gex_Coll_BroadcastNB(tm, odd, &go, &go, sizeof go, 0));
  }
}

static void one_reduction(void) {
  missing_reduction(1);
}

/* Rank 1 comes when rank 0 sleeps already. */
static void late_reduction(void) {
  const struct timespec pause_of_1 = {0, 400000000};
  if (me == 1) nanosleep(&pause_of_1, NULL);
  missing_reduction(1);
}

static void big_reduction(void) {
  missing_reduction(1 << 18);
}

static void slow_by_sleep(void) {
  slow(false);
}

static void slow_by_work(void) {
  slow(true);
}

/* Steady traffic among all ranks, until the network fails. */
static void traffic(void) {
  for (;;) barrier();
}

static void run(const char *how) {
  static const struct {
    const char *name;
    void (*fn)(void);
  } kinds[] = {{"barrier", missing_barrier},
               {"named", missing_named},
               {"reduction", one_reduction},
               {"late-reduction", late_reduction},
               {"big-reduction", big_reduction},
               {"team", missing_in_team},
               {"twin", second_twin},
               {"named-twin", named_twin},
               {"circle", circle},
               {"store", plain_store},
               {"loop", endless_loop},
               {"polls", endless_polls},
               {"all-poll", all_poll},
               {"handled", handled},
               {"layer", layer},
               {"fill", fill_ring},
               {"fill-large", fill_buffers},
               {"fill-prepared", fill_prepared},
               {"stop", stopped},
               {"signal", nobody_signals},
               {"get", get_from_sleeper},
               {"stop-get", get_from_stopped},
               {"lock", locked_twice},
               {"blocked", blocked},
               {"slow", slow_by_sleep},
               {"work-get", get_from_worker},
               {"long-put", long_put},
               {"stop-get-alone", get_from_stopped},
               {"traffic", traffic},
               {"busy", slow_by_work}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(how, kinds[i].name)) kinds[i].fn();
}

/* Before the library knows. */
static bool is_rank(unsigned rank) {
  char text[16];
  const char *boot = getenv("TOMBOLO_BOOT");
  snprintf(text, sizeof text, ":%u:", rank);
  return boot && strstr(boot, text);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  const char *how = argc > 1 ? argv[1] : "none";
  if (!strcmp(how, "absent") && is_rank(0))
    for (;;) pause();
  if (!strcmp(how, "stop-get-alone") && is_rank(1)) setenv("TOMBOLO_PROGRESS_SHARE", "0", 1);
  if (gex_Client_Init(&client, &ep, &tm, "HANGS", &argc, &argv, 0) != GASNET_OK) return 1;
  register_fill(ep);
  me = gex_TM_QueryRank(tm);
  size = gex_TM_QuerySize(tm);
  odd = argc > 2 ? (gex_Rank_t)atoi(argv[2]) : size - 1;
  const int far_put = !strcmp(how, "long-put");
  seconds = argc > 3 ? atol(argv[3]) : 0;
  if (gex_Segment_Attach(&segment, tm, far_put ? LONG_BYTES : 1 << 16) != GASNET_OK) return 1;
  word = gex_Segment_QueryAddr(segment);
  *word = 0;
  const int gets = far_put || strstr(how, "get") != NULL;
  const gex_Rank_t peer = gets ? odd : 0;
  void *owner, *local;
  uintptr_t bytes;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, peer, &owner, &local, &bytes, 0));
  peer_base = gets ? owner : local;
  barrier();
  printf("ready %u %d\n", me, (int)getpid());
  fflush(stdout);
  run(how);
  barrier();
  gasnet_exit(0);
}
