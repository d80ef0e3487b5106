// SPDX-License-Identifier: BSD-3-Clause
// The job of three ranks of the C++ programs: its memory, and main, which runs the case that its
// argument names.
//
// Owns: the variables of the job. Included by objects.cc, futures.cc and threads.cc. Calls:
// tombolo.hpp. Invariant: a case begins and ends with a barrier of all ranks.
#ifndef TMBTEST_THREE_RANKS_HPP
#define TMBTEST_THREE_RANKS_HPP

#include <tombolo.hpp>

#include "../lib/cases.h"

namespace {

const tombolo::job *the_job;
tombolo::global_ptr<long> at[3]; // [64] each
long *mine;
[[maybe_unused]] long v[16];
volatile long sink;
tombolo::rank_t me;
const tombolo::signal_counter *counter;
int words;
char **word;

int body(const tombolo::job &j) {
  the_job = &j;
  me = j.rank();
  const auto all = j.allocate<long>(64);
  const tombolo::signal_counter c;
  counter = &c;
  for (tombolo::rank_t r = 0; r < 3; r++) at[r] = all.on(r);
  mine = all.local();
  j.world().barrier();
  case_run(words, word);
  j.world().barrier();
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  words = argc;
  word = argv;
  return tombolo::run(argc, argv, body);
}

#endif
