/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task_farm.c: a task farm that finishes although workers die.
 *
 * Rank 0 hands out tasks by messages; workers send results back. One worker dies over its first
 * task (on purpose, here). The job goes on (GEXX_FAILURE_REPORT): the callback puts the task that
 * the dead worker had back on the pile, and another worker does it. At the end the master sets
 * the exit code of the job to 0, although a rank was killed. With one rank the master works alone.
 *
 * Compile: tombolo cc task_farm.c -o task_farm
 * Run:     tombolo run -n 4 ./task_farm 200        (tasks; default 60)
 */
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <gasnetex_ext.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASK = 200, RESULT = 201, NOBODY = -1, TASKS_MAX = 100000, RANKS_MAX = 1024 };

static gex_TM_t team;
static gex_Rank_t me, size;
static int tasks = 60, handed_out, done, lost_workers;
static int pile[TASKS_MAX], on_pile;                /* tasks that came back */
static int doing[RANKS_MAX];                        /* task of each worker, or NOBODY */
static uint64_t result[TASKS_MAX];                  /* 0: not yet */
static volatile int my_task = NOBODY, master_ended; /* workers */

/* The work: any pure function of the task. */
static uint64_t work(int task) {
  uint64_t x = (uint64_t)task + 1;
  for (int i = 0; i < 20000; i++) x = x * 6364136223846793005u + 1442695040888963407u;
  return x | 1;
}

static void on_task(gex_Token_t token, gex_AM_Arg_t task) {
  (void)token;
  my_task = task;
}

static void store(int task, uint64_t value) {
  if (!result[task]) done++;
  result[task] = value;
}

static void on_result(gex_Token_t token, gex_AM_Arg_t task, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  doing[info.gex_srcrank] = NOBODY;
  store(task, (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32);
}

/* Master: whatever the lost worker had is to be done again. Its results were all handled before. */
/* book: failure */
static void on_failure(gex_Rank_t rank, int state, void *cdata) {
  (void)cdata;
  if (rank == 0) master_ended = 1;
  if (me != 0) return;
  if (state == GEXX_PEER_FAILED) lost_workers++;
  if (doing[rank] != NOBODY) pile[on_pile++] = doing[rank];
  doing[rank] = NOBODY;
}
/* book end */

static int next_task(void) {
  if (on_pile) return pile[--on_pile];
  return handed_out < tasks ? handed_out++ : NOBODY;
}

static void master(void) {
  for (gex_Rank_t r = 0; r < size; r++) doing[r] = NOBODY;
  while (done < tasks) {
    int workers = 0;
    for (gex_Rank_t r = 1; r < size; r++) {
      if (gexx_Peer_Query(r) != GEXX_PEER_ALIVE) continue;
      workers++;
      if (doing[r] != NOBODY) continue;
      const int task = next_task();
      if (task == NOBODY) continue;
      doing[r] = task;
      gex_AM_RequestShort1(team, r, TASK, 0, task);
    }
    const int own = workers ? NOBODY : next_task(); /* nobody is left to do it */
    if (own != NOBODY)
      store(own, work(own));
    else if (workers)
      (void)gexx_Poll(100000); /* ends when a result comes, or a worker goes */
  }
}

static void worker(void) {
  for (;;) {
    GASNET_BLOCKUNTIL(my_task != NOBODY || master_ended);
    if (my_task == NOBODY) return;
    const int task = my_task;
    my_task = NOBODY;
    if (me == size - 1) raise(SIGKILL); /* an accident over its first task */
    const uint64_t value = work(task);
    gex_AM_RequestShort3(team, 0, RESULT, 0, task, (gex_AM_Arg_t)(uint32_t)value,
                         (gex_AM_Arg_t)(uint32_t)(value >> 32));
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_AM_Entry_t table[] = {
      {TASK, (gex_AM_Fn_t)on_task, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "task"},
      {RESULT, (gex_AM_Fn_t)on_result, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 3, NULL, "result"}};
  if (gex_Client_Init(&client, &ep, &team, "FARM", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_TM_QueryRank(team);
  size = gex_TM_QuerySize(team);
  if (argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) <= TASKS_MAX) tasks = atoi(argv[1]);
  if (gex_EP_RegisterHandlers(ep, table, 2) != GASNET_OK) return 1;
  /* book: policy */
  gexx_Job_SetFailureCallback(on_failure, NULL);
  if (gexx_Job_SetFailurePolicy(GEXX_FAILURE_REPORT) != GASNET_OK) return 1;
  /* book end */
  if (me != 0) {
    worker();
    return 0;
  }
  master();
  int wrong = 0;
  for (int t = 0; t < tasks; t++) wrong += result[t] != work(t);
  wrong += size > 1 && lost_workers != 1;
  printf("%s: %d tasks, %u workers, %d lost\n", wrong ? "FAILED" : "ok", tasks, size - 1,
         lost_workers);
  fflush(stdout);
  /* book: end */
  gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT); /* the loss was made good: this code counts */
  gasnet_exit(wrong != 0);
  /* book end */
}
