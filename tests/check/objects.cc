// SPDX-License-Identifier: BSD-3-Clause
// Seeded races of C++, one case each, for tests/check/findings.py: compiled with `tombolo c++
// --check`. Lines that race end with a comment `race: CASE`, those of correct cases have none. Run
// with 3 ranks; the argument is the case.
#include "three_ranks.hpp"

#include <algorithm>
#include <string>

namespace {

CASE(rput_load) {
  if (me == 1) tombolo::rput(at[0], 5L).wait(); // race: rput_load
  if (me == 0) sink = mine[0];                  // race: rput_load
}
CASE(assigned) {
  if (me == 1) at[0][2] = 4; // race: assigned
  if (me == 2) at[0][2] = 5; // race: assigned
}
CASE(rput_not_waited) {
  auto done =
      me == 1 ? tombolo::rput(at[0], v, 4) : tombolo::future<void>(); // race: rput_not_waited
  the_job->world().barrier();
  if (me == 0) sink = mine[1]; // race: rput_not_waited
  if (me == 1) done.wait();
}
CASE(rget_result) {
  if (me) return;
  auto done = tombolo::rget(at[1], v, 4); // race: rget_result
  sink = v[1];                            // race: rget_result
  done.wait();
}
CASE(copied) {
  if (me == 0) std::copy(v, v + 8, mine);     // race: copied
  if (me == 1) tombolo::get(at[0] + 4, v, 1); // race: copied
}
CASE(local_of_other) {
  if (me == 1) at[0].local()[2] = 5; // race: local_of_other
  if (me == 0) sink = mine[2];       // race: local_of_other
}
CASE(local_and_put) {
  if (me == 1) sink = *(at[2] + 3).local(); // race: local_and_put
  if (me == 0) tombolo::put(at[2] + 3, 4L); // race: local_and_put
}
CASE(local_of_view) {
  const auto there = tombolo::local(tombolo::view2d(at[1], 2, 4, 4));
  if (me == 0) there(1, 1) = 1; // race: local_of_view
  if (me == 2) sink = at[1][5]; // race: local_of_view
}

CASE(leak_future) {
  if (me == 0) new tombolo::future<>(tombolo::rput(at[1], v, 2)); // leak: leak_future
}
CASE(leak_static) {
  static tombolo::future<> pending;
  if (me == 2) pending = tombolo::rget(at[0], v, 4); // leak: leak_static
}
CASE(leak_team) {
  new tombolo::team(the_job->world().split(0)); // leak: leak_team
}
CASE(leak_domain) {
  new tombolo::atomic_domain<long>(the_job->world()); // leak: leak_domain
}
CASE(leak_fetch) {
  const tombolo::atomic_domain<long> domain(the_job->world());
  new auto(domain.fetch_add(at[1], 1)); // leak: leak_fetch
}

// ---- correct: nothing may be found

CASE(ok_leak) {
  tombolo::atomic_domain<long> domain(the_job->world());
  const tombolo::team half = the_job->world().split(0);
  (void)tombolo::rput(at[1] + me, v, 1); // its future waits
  domain.fetch_add(at[1] + 8, 1).wait();
  half.barrier();
}

CASE(ok_barrier) {
  for (long i = 0; i < 5; i++) {
    mine[0] = i;
    at[(me + 1) % 3][1] = i;
    the_job->world().barrier();
    sink = mine[1] + at[(me + 1) % 3][0];
    the_job->world().barrier();
  }
}
CASE(ok_local) {
  long *const next = at[(me + 1) % 3].local();
  next[me] = 1;
  std::copy(v, v + 4, next + 4);
  the_job->world().barrier();
  sink = mine[(me + 2) % 3] + at[me].local()[4];
  mine[8] = 1;
  sink = next[9];
}
CASE(ok_wait) {
  if (me) return;
  auto done = tombolo::rget(at[1], v, 4);
  done.wait();
  sink = v[1];
}
CASE(ok_call) {
  if (me == 1) {
    tombolo::put(at[0], 3L);
    the_job->world()
        .call(
            0, [](long *p) { (*p)++; }, at[0].address())
        .wait();
    sink = at[0][0];
  }
}

} // namespace
