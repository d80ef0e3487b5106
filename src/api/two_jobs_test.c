/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two jobs in one process: core keeps no state beside struct tmb_job that one job would see of the
 * other.
 *
 * Each job has a struct tmb_job and a thread. The threads take turns, step by step; a turn puts the
 * thread's struct in the place of tmb_job and takes it out again. In each step both jobs make equal
 * calls with different values: a variable outside of struct tmb_job would show the other job's
 * value. docs/STATE.md lists the variables outside, with reasons; no step covers those.
 */
#include "base/capture_test.h"
#include "base/config.h"
#include "base/unit_test.h"
#include "core/am/am.h"
#include "core/am/kit.h"
#include "core/op/lost.h"
#include "core/op/op.h"
#include "core/op/thread.h"
#include "core/progress/progress.h"
#include "core/segment/segment.h"
#include "core/team.h"

#include <gasnet.h>
#include <pthread.h>
#include <semaphore.h>
/* after stdarg.h */

enum { JOBS = 2, HANDLER = 200, PAGE = 65536 };

/* State of one job of this test, between its turns. */
struct job {
  struct tmb_job state;
  uint32_t number; /* 1.. */
  sem_t turn;
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm, sub;
  gex_Segment_t segment, made;
  gex_Event_t event;
  uint32_t handled; /* sum of the arguments of messages */
};

static struct job jobs[JOBS];
static struct tmb_job fresh; /* before any job begins */

/* ---- the steps */

static void on_message(struct job *j, gex_AM_Arg_t value) {
  j->handled += (uint32_t)value;
}
static void of_first(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  on_message(&jobs[0], value);
}
static void of_second(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  on_message(&jobs[1], value);
}

static void begin(struct job *j) {
  CHILD_CHECK(tmb_job.state == TMB_JOB_NONE);
  CHILD_CHECK(gex_Client_Init(&j->client, &j->ep, &j->tm, "TWOJOBS", NULL, NULL, 0) == GASNET_OK);
  CHILD_CHECK(gex_TM_QuerySize(j->tm) == 1);
  gex_Client_SetCData(j->client, j);
}

static void register_and_attach(struct job *j) {
  gex_AM_Entry_t entry = {.gex_index = HANDLER,
                          .gex_fnptr =
                              j->number == 1 ? (gex_AM_Fn_t)of_first : (gex_AM_Fn_t)of_second,
                          .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                          .gex_nargs = 1};
  CHILD_CHECK(gex_EP_RegisterHandlers(j->ep, &entry, 1) == GASNET_OK);
  CHILD_CHECK(gex_Segment_Attach(&j->segment, j->tm, (uintptr_t)j->number * PAGE) == GASNET_OK);
}

static void check_identity(struct job *j) {
  CHILD_CHECK(gex_Client_QueryCData(j->client) == j);
  CHILD_CHECK(gex_Segment_QuerySize(j->segment) == (uintptr_t)j->number * PAGE);
  CHILD_CHECK(tmb_thread()->id == 1); /* the first of its job, and no state of the other's */
}

/* A message into the ring; a poll of the other job comes before that of this one. */
static void send(struct job *j) {
  const int32_t value = (int32_t)(100 * j->number);
  struct tmb_am_out out = {.handler = HANDLER, .nargs = 1, .staged = -1, .args = &value};
  j->handled = 0;
  CHILD_CHECK(tmb_am_send(&out) == 0);
}

static void receive(struct job *j) {
  tmb_poll();
  CHILD_CHECK(j->handled == 100 * j->number);
  tmb_poll();
  CHILD_CHECK(j->handled == 100 * j->number);
}

/* Both jobs give their teams equal numbers. */
static void split(struct job *j) {
  CHILD_CHECK(gex_TM_Split(&j->sub, j->tm, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH) == 1);
  CHILD_CHECK(tmb_team_of(j->sub)->uid == tmb_team_of(jobs[0].sub)->uid);
}

static void find_teams(struct job *j) {
  struct tmb_team *const team = tmb_team_of(j->sub);
  CHILD_CHECK(tmb_team_find(team->uid, 0, NULL) == team);
  CHILD_CHECK(tmb_team_local_members(team->uid) == 1);
  CHILD_CHECK(tmb_team_stats().made == 1);
  CHILD_CHECK(tmb_job.shown.team[team->shown] == team);
  gex_Coll_BarrierBlocking(j->sub, 0);
  gex_Coll_BarrierBlocking(j->tm, 0);
}

/* The barrier of GASNet-1: at most one phase of a job is open. */
static void notify(struct job *j) {
  gasnet_barrier_notify((int)j->number, 0);
}

static void wait_for_phase(struct job *j) {
  int id = 0;
  CHILD_CHECK(gasnet_barrier_wait((int)j->number, 0) == GASNET_OK);
  CHILD_CHECK(gasnet_barrier_result(&id) == 0 && id == (int)j->number);
}

/* A transfer with equal source and number in both jobs, of which a piece is missing. */
static void take_piece(struct job *j) {
  CHILD_CHECK(!tmb_kit_last_piece(0, 7, 10 * j->number, 4));
  CHILD_CHECK(tmb_kit_incomplete() == 1);
}

static void take_last_piece(struct job *j) {
  CHILD_CHECK(tmb_kit_last_piece(0, 7, 10 * j->number, 10 * j->number - 4));
  CHILD_CHECK(tmb_kit_incomplete() == 0);
}

static void start_operation(struct job *j) {
  uint64_t live, slots;
  struct tmb_op *op = tmb_op_new(TMB_OP_SINGLE, 0);
  tmb_up_op_more(op, TMB_CAT_PUT);
  j->event = tmb_op_event(op);
  tmb_op_stats(&live, &slots);
  CHILD_CHECK(live == 1);
  CHILD_CHECK(tmb_track_more(op, TMB_CAT_PUT, 0) && tmb_track_count() == 1);
  CHILD_CHECK(gex_Event_Test(j->event) == GASNET_ERR_NOT_READY);
}

static void end_operation(struct job *j) {
  uint64_t live, slots;
  CHILD_CHECK(tmb_track_done(tmb_op_of_event(j->event), TMB_CAT_PUT, 0) && !tmb_track_count());
  tmb_up_op_done(tmb_op_of_event(j->event), TMB_CAT_PUT);
  CHILD_CHECK(gex_Event_Test(j->event) == GASNET_OK);
  tmb_op_stats(&live, &slots);
  CHILD_CHECK(live == 0);
}

/* A segment beside the attached one. */
static void make_segment(struct job *j) {
  CHILD_CHECK(gex_Segment_Create(&j->made, j->client, NULL, PAGE, GEX_MK_HOST, 0) == GASNET_OK);
  CHILD_CHECK(tmb_segment_holds(gex_Segment_QueryAddr(j->made), PAGE));
  CHILD_CHECK(!tmb_job.segments.first->next);
}

static void destroy_segment(struct job *j) {
  gex_Segment_Destroy(j->made, 0);
  CHILD_CHECK(!tmb_job.segments.first);
}

static void destroy(struct job *j) {
  CHILD_CHECK(gex_TM_Destroy(j->sub, NULL, 0) == 0);
  CHILD_CHECK(tmb_team_stats().freed == 1);
}

static void (*const steps[])(struct job *j) = {begin,           register_and_attach,
                                               check_identity,  send,
                                               receive,         split,
                                               find_teams,      notify,
                                               wait_for_phase,  take_piece,
                                               take_last_piece, start_operation,
                                               make_segment,    destroy_segment,
                                               end_operation,   send,
                                               check_identity,  receive,
                                               destroy};

/* ---- turns */

static void *play(void *arg) {
  struct job *const j = arg;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    sem_wait(&j->turn);
    tmb_job = j->state;
    steps[i](j);
    j->state = tmb_job;
    tmb_job = fresh;
    sem_post(&jobs[j->number % JOBS].turn);
  }
  return NULL;
}

static void run_both(void *arg) {
  pthread_t thread[JOBS];
  (void)arg;
  tmb_env_unset("TOMBOLO_BOOT");
  tmb_env_unset("GASNET_PSHM_NODES");
  fresh = tmb_job;
  for (uint32_t i = 0; i < JOBS; i++) {
    jobs[i].state = fresh;
    jobs[i].number = i + 1;
    sem_init(&jobs[i].turn, 0, i == 0);
  }
  for (uint32_t i = 0; i < JOBS; i++)
    CHILD_CHECK(!pthread_create(&thread[i], NULL, play, &jobs[i]));
  for (uint32_t i = 0; i < JOBS; i++) pthread_join(thread[i], NULL);
  puts("both jobs are through");
}

TEST(jobs_do_not_meet) {
  static struct capture cap;
  assert_int_equal(capture_run(&cap, run_both, NULL), 0);
  if (!capture_ended_well(&cap) || !strstr(cap.text, "both jobs are through"))
    fail_msg("status %x: %s", (unsigned)cap.status, cap.text);
}

int main(void) {
  return unit_run(NULL, NULL);
}
