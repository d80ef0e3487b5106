/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Support of tests in which processes die (loss.h).
 */
#define _GNU_SOURCE
#include "loss.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { MEET_INDEX = 250 };

static const double limit_s = 20;

volatile int loss_reported[LOSS_RANKS_MAX], loss_state[LOSS_RANKS_MAX];
static volatile int met[LOSS_RANKS_MAX]; /* rounds of loss_meet that a rank has entered */
static int rounds;
static const char *later;

static void on_failure(gex_Rank_t jobrank, int state, void *cdata) {
  CHECK_PTR(cdata, &job);
  REQUIRE(jobrank < job.size && jobrank != job.rank);
  loss_reported[jobrank]++;
  loss_state[jobrank] = state;
  CHECK_EQ(gexx_Peer_Query(jobrank), state); /* callbacks may call what clients may call */
}

static void on_meet(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  met[info.gex_srcrank]++;
}

void loss_start(int *argc, char ***argv, gex_AM_Entry_t *table, size_t entries) {
  gex_AM_Entry_t ours[] = {
      {MEET_INDEX, (gex_AM_Fn_t)on_meet, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "meet"}};
  REQUIRE(gex_Client_Init(&job.client, &job.ep, &job.tm, "LOSS", argc, argv, 0) == GASNET_OK);
  job.rank = gex_TM_QueryRank(job.tm);
  job.size = gex_TM_QuerySize(job.tm);
  check_set_rank(job.rank);
  REQUIRE(job.size <= LOSS_RANKS_MAX);
  REQUIRE(gex_EP_RegisterHandlers(job.ep, ours, 1) == GASNET_OK);
  if (entries) REQUIRE(gex_EP_RegisterHandlers(job.ep, table, entries) == GASNET_OK);
  job_attach(LOSS_SEGMENT);
  job_barrier();
  CHECK_EQ(gexx_Job_QueryFailurePolicy(), GEXX_FAILURE_ABORT);
  gexx_Job_SetFailureCallback(on_failure, &job);
  REQUIRE(gexx_Job_SetFailurePolicy(GEXX_FAILURE_REPORT) == GASNET_OK);
  CHECK_EQ(gexx_Job_QueryFailurePolicy(), GEXX_FAILURE_REPORT);
  LOSS_NONE();
  printf("ready %u %d\n", job.rank, (int)getpid());
  fflush(stdout);
}

static void write_to_nowhere(void) {
  volatile uintptr_t nowhere = 8;
  *(volatile int *)nowhere = 1;
}

void loss_die(const char *how) {
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "segv") == 0) write_to_nowhere();
  if (strcmp(how, "exit3") == 0) gasnet_exit(3);
  if (strcmp(how, "end") == 0) gasnet_exit(0);
  _exit(0);
}

static void on_alarm(int sig) {
  (void)sig;
  loss_die(later);
}

void loss_die_soon(const char *how, unsigned us) {
  const struct itimerval timer = {{0, 0},
                                  {(time_t)(us / 1000000), (suseconds_t)(us % 1000000 + 1)}};
  later = how;
  signal(SIGVTALRM, on_alarm);
  setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static int is_lost(gex_Rank_t rank) {
  gexx_Peer_Info_t info;
  gexx_Peer_QueryInfo(rank, &info);
  return info.gexx_lost;
}

void loss_await(gex_Rank_t rank, int asleep) {
  const double until = now_s() + limit_s;
  while (gexx_Peer_Query(rank) == GEXX_PEER_ALIVE || !is_lost(rank) || !loss_reported[rank]) {
    if (asleep) (void)gexx_Poll(5000000);
    if (!CHECK(now_s() < until)) check_abandon();
  }
  CHECK_EQ(loss_reported[rank], 1);
}

int loss_until(int (*cond)(void *arg), void *arg) {
  const double until = now_s() + limit_s;
  while (!cond(arg)) {
    (void)gexx_Poll(1000);
    if (!CHECK(now_s() < until)) return 0;
  }
  return 1;
}

static int all_met(void *arg) {
  (void)arg;
  for (gex_Rank_t r = 0; r < job.size; r++)
    if (r != job.rank && met[r] < rounds && !is_lost(r)) return 0;
  return 1;
}

void loss_meet(void) {
  rounds++;
  for (gex_Rank_t r = 0; r < job.size; r++)
    if (r != job.rank && !is_lost(r)) CHECK_EQ(gex_AM_RequestShort0(job.tm, r, MEET_INDEX, 0), 0);
  (void)loss_until(all_met, NULL);
}

void loss_expect(gex_Rank_t rank, const char *file, int line) {
  gex_Rank_t who = GEX_RANK_INVALID;
  const int rc = gexx_Lost_Take(&who);
  if (rc != GEXX_ERR_LOST || who != rank)
    check_fail(file, line, "gexx_Lost_Take gives %d and rank %u, want %d and rank %u", rc, who,
               GEXX_ERR_LOST, rank);
  else
    check_count(1);
}

int loss_apart;
gex_Rank_t loss_victim;
const char *loss_how = "uexit";

int loss_play(const struct loss_scenario *scenarios, size_t count, int argc, char **argv) {
  loss_victim = job.size - 1;
  if (argc > 2) loss_how = argv[2];
  if (argc > 3) loss_victim = (gex_Rank_t)atoi(argv[3]);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(scenarios[i].name, argv[1]) != 0) continue;
    scenarios[i].run();
    if (!loss_apart) loss_meet(); /* no rank leaves while others wait for losses */
    loss_finish();
  }
  fprintf(stderr, "%s: unknown scenario '%s'\n", argv[0], argv[1]);
  return 1;
}

void loss_finish(void) {
  const int code = check_done();
  if (!code) printf("survived %u\n", job.rank);
  fflush(NULL);
  gasnet_exit(code);
}
