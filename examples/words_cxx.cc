// SPDX-License-Identifier: BSD-3-Clause
// words_cxx.cc: a table of words over the ranks, in C++: each word has an owner, which counts it.
//
// Shows tombolo.hpp: an object on each rank under one name (dist_object), functions that run on the
// owner (rpc) with strings as arguments and a map as result, and the join of their futures.
// Compile: tombolo c++ words_cxx.cc -o words_cxx
// Run:     tombolo run -n 4 ./words_cxx
/* mode: SEQ */
/* ranks: 1 4 */
#include <tombolo.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

using table = std::map<std::string, long>;

const char *const Text[] = {"put", "get", "signal", "put", "barrier", "put", "signal"};

size_t owner_of(const tombolo::job &job, const std::string &word) {
  size_t sum = 0;
  for (const char c : word) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum % job.size();
}

// Every rank adds each word of the text once, at the owner of the word.
void count(const tombolo::job &job, tombolo::dist_object<table> &words) {
  std::vector<tombolo::future<>> sent;
  for (const std::string word : Text)
    sent.push_back(tombolo::rpc(
        unsigned(owner_of(job, word)),
        [](tombolo::dist_object<table> &here, const std::string &added) { (*here)[added]++; },
        words, word));
  for (const auto &f : sent) f.wait();
  job.barrier();
}

int words(const tombolo::job &job) {
  tombolo::dist_object<table> counts{table()};
  count(job, counts);
  long puts = 0, all = 0;
  for (unsigned r = 0; r < job.size(); r++)
    for (const auto &[word, times] : counts.fetch(r).wait()) {
      all += times;
      if (word == "put") puts += times;
    }
  job.barrier();
  if (job.rank() == 0) std::printf("%ld words, %ld of them put\n", all, puts);
  return all == 7L * job.size() && puts == 3L * job.size() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, words);
}
