// SPDX-License-Identifier: BSD-3-Clause
// words_cxx.cc: a table of words over the ranks, in C++: each word has an owner, which counts it.
//
// Shows tombolo.hpp: an object on each rank under one name (dist_object), functions that run on the
// owner (rpc) with strings as arguments and a map as result, the join of their futures, a type of
// the program that travels, and a reduction of it.
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

// book: fields
struct entry {
  std::string word;
  long times = 0;
  template <class A> void fields(A &archive) { archive(word, times); }
};
// book end

const char *const Text[] = {"put", "get", "signal", "put", "barrier", "put", "signal"};

unsigned owner_of(const tombolo::job &job, const std::string &word) {
  unsigned sum = 0;
  for (const char c : word) sum = sum * 31 + static_cast<unsigned char>(c);
  return sum % job.size();
}

// Every rank adds each word of the text once, at the owner of the word.
void count(const tombolo::job &job, tombolo::dist_object<table> &words) {
  // book: rpc
  const auto add = [](tombolo::dist_object<table> &here, const std::string &word) {
    (*here)[word]++;
  };
  std::vector<tombolo::future<>> sent;
  for (const std::string word : Text)
    sent.push_back(tombolo::rpc(owner_of(job, word), add, words, word));
  tombolo::when_all(sent).wait();
  job.barrier();
  // book end
}

// The word that most ranks have added most often.
entry most_frequent(const tombolo::job &job, const table &mine) {
  // book: reduce
  entry best;
  for (const auto &[word, times] : mine)
    if (times > best.times) best = entry{word, times};
  const auto more = [](const entry &a, const entry &b) { return b.times > a.times ? b : a; };
  return job.world().all_reduce(best, more);
  // book end
}

// The owner of a word asks the owner of another one, and answers when that has answered.
long times_of_both(const tombolo::job &job, const tombolo::dist_object<table> &words) {
  // book: then
  const auto times = [](tombolo::dist_object<table> &here, const std::string &word) {
    return (*here)[word];
  };
  const auto both = [](tombolo::dist_object<table> &here, unsigned other, decltype(times) ask) {
    const long gets = (*here)["get"];
    return tombolo::rpc(other, ask, here, std::string("signal")).then([gets](long signals) {
      return gets + signals;
    });
  };
  return tombolo::rpc(owner_of(job, "get"), both, words, owner_of(job, "signal"), times).wait();
  // book end
}

// The sum of numbers, which the next rank reads in the message.
long sum_there(const tombolo::job &job, const std::vector<long> &numbers) {
  // book: elements
  const auto sum = [](tombolo::elements<long> e) {
    long all = 0;
    for (const long x : e) all += x;
    return all;
  };
  return tombolo::rpc((job.rank() + 1) % job.size(), sum, tombolo::elements(numbers)).wait();
  // book end
}

int words(const tombolo::job &job) {
  // book: dist
  tombolo::dist_object<table> counts{table()};
  // book end
  count(job, counts);
  // book: fetch
  std::vector<long> numbers;
  for (unsigned r = 0; r < job.size(); r++)
    for (const auto &[word, times] : counts.fetch(r).wait()) numbers.push_back(times);
  // book end
  const long all = sum_there(job, numbers);
  const entry best = most_frequent(job, *counts);
  const long both = times_of_both(job, counts), ranks = job.size();
  job.barrier(); // nobody asks any more: the tables may end
  if (job.rank() == 0)
    std::printf("%ld words, %ld of them %s\n", all, best.times, best.word.c_str());
  return all == 7 * ranks && best.word == "put" && best.times == 3 * ranks && both == 3 * ranks ? 0
                                                                                                : 1;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, words);
}
