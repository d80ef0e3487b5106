/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/*
 * tombolo.hpp beside names of the C library, after a using-directive; a list over ranks, whose type
 * has a global_ptr to itself (docs/CPP.md).
 */
#include <csignal>
#include <signal.h>

#include "checked.hpp"

using namespace tombolo;

namespace {

struct node {
  long value;
  global_ptr<node> next;
};

volatile sig_atomic_t caught;

void on_signal(int) {
  caught = caught + 1;
}

void check_names(const job &j) {
  signal_counter counter;
  CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
  raise(SIGUSR1);
  CHECK_EQ(caught, 1);
  raise(counter, j.rank());
  counter.wait();
  j.barrier();
}

void check_list(const job &j) {
  const auto a = j.allocate<node>(1);
  a.local()[0] = node{long(j.rank()), a.on((j.rank() + 1) % j.size())};
  j.barrier();
  long sum = 0;
  global_ptr<node> at = a.on(0);
  for (unsigned step = 0; step < j.size(); step++) {
    const node here = *at;
    sum += here.value;
    at = here.next;
  }
  CHECK(at == a.on(0));
  CHECK_EQ(sum, long(j.size()) * long(j.size() - 1) / 2);
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  return run_checks(argc, argv, {check_names, check_list});
}
