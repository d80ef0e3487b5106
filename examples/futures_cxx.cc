// SPDX-License-Identifier: BSD-3-Clause
// futures_cxx.cc: results that come later: of transfers, promises and threads, in C++.
//
// Shows tombolo.hpp: futures with time limits, joins, promises, errors in a chain, ends of a put,
// executors.
// Compile: tombolo c++ futures_cxx.cc -o futures_cxx
// Run:     tombolo run -n 4 ./futures_cxx
/* mode: PAR */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using tombolo::future;
using tombolo::promise;

void check(bool right, const char *subject) {
  if (!right) throw std::logic_error(subject);
}

// A promise is a result that the program gives; until then waits may have a limit.
void promises() {
  using namespace std::chrono_literals;
  const promise<int, std::string> later;
  const future<int, std::string> f = later.get_future();
  check(!f.test() && !f.wait_for(1ms), "nothing is there");
  check(!f.wait_until(std::chrono::steady_clock::now() + 1ms), "nor a little later");
  later.set_value(3, "three");
  const auto [number, word] = f.wait();
  check(number == 3 && word == "three", "set_value");

  const promise<> parts; // ready when all parts are there
  parts.require(2);
  const future<> all = parts.finish();
  parts.fulfill();
  check(!all.test(), "one part is missing");
  parts.fulfill();
  check(all.test(), "all parts are there");
}

// An error goes through the chain to whoever waits.
void errors() {
  const std::exception_ptr e = std::make_exception_ptr(tombolo::error("no such part"));
  const promise<int> failing;
  const future<int> next = failing.get_future().then([](int x) { return x + 1; });
  failing.set_exception(e);
  try {
    next.wait();
    check(false, "the chain has thrown");
  } catch (const tombolo::error &thrown) {
    check(std::string(thrown.what()) == "no such part", "its text");
  }
  const future<int> failed = tombolo::make_failed<int>(e);
  check(failed.test(), "ready, with an error");
}

// Several at a time.
void joins() {
  const auto [one, two] = tombolo::when_all(tombolo::make_future(1), 2).wait();
  check(one == 1 && two == 2, "when_all");
  std::vector<future<int>> many;
  for (int i = 0; i < 5; i++) many.push_back(tombolo::make_future(i));
  check(tombolo::when_all(many).wait()[4] == 4, "when_all of a vector");
  tombolo::wait_all(many);
}

// A put tells of the reuse of its source, of its end, and of its arrival.
void ends_of_a_put(const tombolo::job &job) {
  const auto memory = job.allocate<double>(100);
  const tombolo::signal_counter arrived;
  const tombolo::rank_t right = (job.rank() + 1) % job.size();
  std::vector<double> data(100, 1.5);
  rput(memory.on(right), data.data(), data.size(), tombolo::on_source(tombolo::blocking),
       tombolo::on_arrival(arrived));
  data.assign(100, 2.5); // the source may be reused
  arrived.wait();
  check(memory.local()[99] == 1.5, "the data came with the signal");
  job.barrier();

  const auto [source, done] =
      rput(memory.on(right), data.data(), data.size(), tombolo::on_source(), tombolo::on_done());
  source.wait();
  done.wait();
  job.barrier();
  check(memory.local()[0] == 2.5, "the second put");
  job.barrier();
}

// A thread hands a function to this one, and waits for what it gives.
void threads() {
  const tombolo::executor here = tombolo::this_executor();
  int seen = 0, answer = 0;
  std::thread helper([&] {
    here.post([&seen] { seen++; });
    answer = here.submit([&seen] { return ++seen; }).wait();
  });
  while (seen < 2) tombolo::progress(); // runs what other threads hand over
  helper.join();
  check(answer == 2, "submit");
}

int everything(const tombolo::job &job) {
  promises();
  errors();
  joins();
  ends_of_a_put(job);
  threads();
  if (job.rank() == 0) std::printf("ok: futures of %u ranks\n", job.size());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
