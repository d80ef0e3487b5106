// SPDX-License-Identifier: BSD-3-Clause
// global_cxx.cc: objects and arrays in shared memory, and the pointers that reach them, in C++.
//
// Shows tombolo.hpp: memory of one rank (new_, allocate), memory of all (symmetric,
// distributed_array), casts and questions of global pointers, a heap that is full.
// Compile: tombolo c++ global_cxx.cc -o global_cxx
// Run:     tombolo run -n 4 ./global_cxx
/* mode: SEQ */
/* ranks: 1 2 4 */
#include <tombolo.hpp>

#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>

namespace {

using tombolo::global_ptr;

void check(bool right, const char *subject) {
  if (!right) throw std::logic_error(subject);
}

struct node {
  long value;
  global_ptr<node> next; // node is not complete here
};

// A list that goes through all ranks: each makes its node, and the last one's next is null.
void list_over_ranks(const tombolo::job &job) {
  const tombolo::team &world = job.world();
  const global_ptr<node> mine = tombolo::new_<node>(node{job.rank() * 10L, nullptr});
  const auto all = world.all_gather(mine);
  if (job.rank() + 1 < job.size()) mine.local()->next = all[job.rank() + 1];
  job.barrier();

  long sum = 0;
  for (global_ptr<node> at = all[0]; !at.is_null(); at = get(at).next) sum += get(at).value;
  check(sum == 5L * job.size() * (job.size() - 1), "the list");
  job.barrier();
  tombolo::delete_(mine); // by the rank that has made it
}

// Arrays of one rank: with objects, and without.
void arrays_of_a_rank() {
  const global_ptr<double> zeros = tombolo::new_array<double>(8);
  const global_ptr<char> buffer = tombolo::allocate<char>(100, 64); // at a multiple of 64
  check(get(zeros + 7) == 0, "new_array");
  check(reinterpret_cast<uintptr_t>(buffer.local()) % 64 == 0, "the alignment");
  tombolo::delete_array(zeros);
  tombolo::deallocate(buffer);
}

// What is not free is said; or null comes back.
void full_heap(const tombolo::job &job) {
  const size_t most = job.heap_bytes();
  try {
    tombolo::new_array<char>(most + 1);
    check(false, "more than the heap");
  } catch (const tombolo::shared_bad_alloc &e) {
    check(std::string(e.what()).find("heap_bytes") != std::string::npos, "the text of the error");
  }
  check(tombolo::allocate<char>(std::nothrow, most + 1).is_null(), "null instead");
}

// The same place as other types.
void casts(const tombolo::symmetric<double> &part, tombolo::rank_t right) {
  const global_ptr<const double> read_only = part.on(right); // adds const by itself
  const global_ptr<double> again = tombolo::const_pointer_cast<double>(read_only);
  const global_ptr<unsigned char> bytes = tombolo::reinterpret_pointer_cast<unsigned char>(again);
  check(tombolo::reinterpret_pointer_cast<double>(bytes + 8) == again + 1, "eight bytes on");
  const global_ptr<const double> back = tombolo::static_pointer_cast<const double>(again);
  check(back == read_only, "static_pointer_cast");
}

// Where memory is mapped here, a plain pointer reaches it, and leads back to the place.
void plain_pointers(const tombolo::symmetric<double> &part, tombolo::rank_t right) {
  const global_ptr<double> place = part.on(right);
  if (!place.is_local()) return; // on another host: get and put
  double *const here = place.local();
  check(tombolo::to_global(here + 1) == place + 1, "to_global");
}

// Put and get: by name, by reference, and in the background.
void put_and_get(const tombolo::job &job, tombolo::rank_t right) {
  const auto part = job.allocate<double>(4);
  for (const double &element : part) check(element == 0, "zeroed"); // this rank's elements
  job.barrier();
  put(part.on(right), 1.5);
  part.on(right)[1] = 2.5; // a global_ref: an assignment puts
  const tombolo::global_ref<double> third = *(part.on(right) + 2);
  third = 3.5;
  rput(part.on(right) + 3, 4.5).wait();
  job.barrier();
  check(part.local()[0] + part.local()[1] + part.local()[2] + part.local()[3] == 12, "put");
  check(get(part.on(right)) == 1.5 && part.on(right)[1] == 2.5, "get");
  casts(part, right);
  plain_pointers(part, right);
  job.barrier();
}

// One array in blocks over all ranks.
void blocks(const tombolo::job &job) {
  const tombolo::distributed_array<int> array(10);
  int value = static_cast<int>(array.first());
  for (int &element : array) element = value++; // this rank's block
  job.barrier();
  for (size_t i = 0; i < array.size(); i++) {
    check(array[i] == static_cast<int>(i), "element i, wherever it is");
    check(array.owner(i) == i / array.block() && array.at(i).where() == array.owner(i), "owner");
  }
  job.barrier();
}

int everything(const tombolo::job &job) {
  list_over_ranks(job);
  arrays_of_a_rank();
  full_heap(job);
  put_and_get(job, (job.rank() + 1) % job.size());
  blocks(job);
  if (job.rank() == 0) std::printf("ok: memory of %u ranks\n", job.size());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, everything);
}
