/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of client threads (threads.h) on POSIX threads.
 */
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

#include "check.h"

struct seat {
  pthread_t thread;
  int id;
};

static pthread_barrier_t meeting;
static void (*group_body)(int id);

void threads_meet(void) {
  pthread_barrier_wait(&meeting);
}

static void *run_one(void *arg) {
  const struct seat *seat = (const struct seat *)arg;
  threads_meet();
  group_body(seat->id);
  return NULL;
}

void run_threads(int count, void (*body)(int id)) {
  struct seat *seats = (struct seat *)check_room((size_t)count, sizeof *seats);
  pthread_attr_t attr;
  REQUIRE(pthread_attr_init(&attr) == 0);
  REQUIRE(pthread_attr_setstacksize(&attr, 512 * 1024) == 0);
  REQUIRE(pthread_barrier_init(&meeting, NULL, (unsigned)count) == 0);
  group_body = body;
  for (int i = 0; i < count; i++) {
    seats[i].id = i;
    REQUIRE(pthread_create(&seats[i].thread, &attr, run_one, &seats[i]) == 0);
  }
  for (int i = 0; i < count; i++) REQUIRE(pthread_join(seats[i].thread, NULL) == 0);
  pthread_barrier_destroy(&meeting);
  pthread_attr_destroy(&attr);
  free(seats);
}
