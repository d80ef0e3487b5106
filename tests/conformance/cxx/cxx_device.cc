/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/* again: TOMBOLO_PLACES=cyclic:2+TOMBOLO_CONDUIT=loop TOMBOLO_TEST_SHM_MAP=0 TMB_DEVICE=cuda */
/*
 * tombolo.hpp: memory of devices, and copies between memory of this process, of other ranks and of
 * devices, in all combinations. The devices are simulated: any access beside their copy functions
 * ends the process (docs/CPP.md).
 */
#include <numeric>
#include <vector>

#include "check.h"
#include "mk_dev.h"
#include "tombolo.hpp"

namespace {

using tombolo::device_heap;
using tombolo::device_ptr;
using tombolo::global_ptr;
using tombolo::job;
using longs = std::vector<long>;

constexpr size_t Count = 20000; /* more than one message between hosts */

longs numbers(long first) {
  longs v(Count);
  std::iota(v.begin(), v.end(), first);
  return v;
}

/* Places of all ranks, as each of them has given them. */
struct places {
  std::vector<device_ptr<long>> first, second;
  std::vector<global_ptr<long>> host;
};

/* The elements go by way of all places of two ranks, and back. */
template <class A, class B> void check_route(const A &a, const B &b, long seed) {
  const longs data = numbers(seed);
  longs back(Count);
  copy(data.data(), a, Count);
  copy(a, b, Count);
  copy(b, back.data(), Count);
  CHECK(back == data);
}

void check_routes(const job &j, const places &p) {
  for (unsigned who = 0; who < j.size(); who++) { /* one rank at a time uses the places */
    for (unsigned r = 0; who == j.rank() && r < j.size(); r++) {
      const unsigned s = (r + 1) % j.size();
      const long seed = 100L * who + 10L * r;
      check_route(p.first[r], p.second[s], seed);
      check_route(p.second[s], p.first[r], seed + 1);
      check_route(p.first[r], p.host[s], seed + 2);
      check_route(p.host[r], p.first[s], seed + 3);
      check_route(p.host[r], p.host[s], seed + 4);
    }
    j.barrier();
  }
}

void check_ends(const job &j, const places &p) {
  const unsigned right = (j.rank() + 1) % j.size();
  const tombolo::signal_counter arrived;
  const longs data = numbers(long(j.rank()));
  longs got(Count);
  rcopy(data.data(), p.first[right], Count, tombolo::on_done(), tombolo::on_arrival(arrived))
      .wait();
  arrived.wait();
  copy(p.first[j.rank()], got.data(), Count);
  CHECK(got == numbers(long((j.rank() + j.size() - 1) % j.size())));
  const device_ptr<const long> fixed = p.first[j.rank()] + 5;
  long one = 0;
  rcopy(fixed, &one, 1).wait();
  CHECK_EQ(one, got[5]);
  j.barrier();
}

template <class F> bool refused(F f, const char *text) {
  try {
    f();
  } catch (const std::exception &e) {
    return std::strstr(e.what(), text) != nullptr;
  }
  return false;
}

void check_heap(device_heap &heap, const job &j) {
  const auto a = heap.allocate<char>(100), b = heap.allocate<char>(1);
  CHECK(a.where() == j.rank() && a && b - a >= 100 && a + 1 - 1 == a && a != b);
  CHECK(dev_holds(a.address(), 100));
  heap.deallocate(a);
  heap.deallocate(device_ptr<char>());
  CHECK(refused([&] { heap.deallocate(a); }, "freed already"));
  CHECK(heap.allocate<char>(80) == a);
  heap.deallocate(a);
  heap.deallocate(b);
  CHECK(refused([&] { heap.allocate<long>(heap.bytes() / 8 + 1); }, "larger device_heap"));
}

/* A device of one rank is not there: all ranks learn of it. Then one rank has none. */
void check_absent(const job &j) {
  const int ordinal = j.rank() == j.size() - 1 ? 1000 : 0;
  CHECK(refused([&] { device_heap heap(tombolo::cuda_device(ordinal), 4096); }, "1 ranks"));
  std::optional<gex_MK_Create_args_t> device;
  if (j.rank() == 0) device = tombolo::cuda_device(0);
  device_heap heap(device, 4096);
  CHECK_EQ(bool(heap), j.rank() == 0);
  if (!heap) CHECK(refused([&] { heap.allocate<int>(1); }, "0 bytes of this device"));
  const auto p = j.world().broadcast(heap ? heap.allocate<long>(1) : device_ptr<long>(), 0);
  const long sent = 77;
  if (j.rank() == j.size() - 1) copy(&sent, p, 1);
  j.barrier();
  long got = 0;
  copy(p, &got, 1);
  CHECK_EQ(got, 77);
  j.barrier();
}

} // namespace

int main(int argc, char **argv) {
  dev_select();
  return tombolo::run(argc, argv, [](job &j) {
    check_set_rank(j.rank());
    const auto host = j.allocate<long>(Count);
    device_heap one(tombolo::cuda_device(0), 1 << 20), two(tombolo::cuda_device(1), 1 << 20);
    places p;
    p.first = j.world().all_gather(one.allocate<long>(Count));
    p.second = j.world().all_gather(two.allocate<long>(Count));
    for (unsigned r = 0; r < j.size(); r++) p.host.push_back(host.on(r));
    check_routes(j, p);
    check_ends(j, p);
    check_heap(one, j);
    check_absent(j);
    return check_done();
  });
}
