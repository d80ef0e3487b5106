/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 8 */
/* mode: PAR */
/* far: no */
/*
 * tombolo.hpp: a wait for an operation of the library sleeps until it is woken, and what comes to
 * the thread meanwhile is run: calls of other ranks, functions that other threads post.
 */
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "check.h"
#include "checked.hpp"

namespace {

using tombolo::job;

constexpr int WakeUps = 60; /* of a thread that looks every 1.28 ms: 230 */

void rest(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

long sleeps() {
  rusage now;
  getrusage(RUSAGE_THREAD, &now);
  return now.ru_nvcsw;
}

/* Sleeps of this thread while it waits, in whichever way, for rank 0, which comes late. */
template <class Wait> long sleeps_of(const job &j, Wait wait) {
  j.barrier();
  if (j.rank() == 0) rest(300);
  const long before = sleeps();
  wait();
  return sleeps() - before;
}

void check_sleeps(const job &j) {
  const long future = sleeps_of(j, [&] { j.world().async_barrier().wait(); });
  const long barrier = sleeps_of(j, [&] { j.barrier(); });
  CHECK(j.rank() == 0 || future <= WakeUps);
  CHECK(j.rank() == 0 || barrier <= WakeUps);
}

/* Rank 0 sleeps in a barrier, for which the others come when it has answered. */
void check_calls(const job &j) {
  for (const bool future : {true, false}) {
    j.barrier();
    if (j.rank() != 0) {
      rest(20);
      CHECK_EQ(j.world().call(0, [] { return 5; }).wait(), 5);
    }
    if (future)
      j.world().async_barrier().wait();
    else
      j.barrier();
  }
}

/* The same with a function that another thread of rank 0 posts. */
void check_posts(const job &j) {
  if (j.size() == 1) return;    /* its barrier does not wait */
  static bool may_come = false; /* the call runs in the thread that reads it */
  for (const bool future : {true, false}) {
    may_come = false;
    j.barrier();
    std::thread other;
    if (j.rank() == 0)
      other = std::thread([&j, main = tombolo::this_executor()] {
        rest(20);
        CHECK_EQ(main.submit([] { return 7; }).wait(), 7);
        for (unsigned r = 1; r < j.size(); r++) j.world().call(r, [] { may_come = true; }).wait();
      });
    while (j.rank() != 0 && !may_come) tombolo::progress();
    if (future)
      j.world().async_barrier().wait();
    else
      j.barrier();
    if (other.joinable()) other.join();
  }
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv, {check_sleeps, check_calls, check_posts});
}
