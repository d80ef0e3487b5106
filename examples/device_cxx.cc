// SPDX-License-Identifier: BSD-3-Clause
// device_cxx.cc: a copy from this rank's device to that of the next rank, and back, in C++.
//
// Shows tombolo.hpp: memory of devices, and copies between any two places. Without a CUDA device
// the program says so, and ends.
// Compile: tombolo c++ device_cxx.cc -o device_cxx
// Run:     tombolo run -n 2 ./device_cxx
/* mode: SEQ */
/* ranks: 2 */
#include <tombolo.hpp>

#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr size_t Bytes = 1 << 20, Count = 1000;

int copies(const tombolo::job &job, tombolo::device_heap &gpu) {
  const tombolo::device_ptr<double> mine = gpu.allocate<double>(Count);
  const std::vector<tombolo::device_ptr<double>> all = job.world().all_gather(mine);
  const tombolo::rank_t right = (job.rank() + 1) % job.size();

  const std::vector<double> out(Count, job.rank() + 1.0);
  copy(out.data(), mine, Count); // to this rank's device
  job.barrier();
  std::vector<double> in(Count);
  copy(all[right], in.data(), Count); // from the device of the next rank
  job.barrier();
  const bool wrong = in[Count - 1] != right + 1.0 || mine.endpoint() == 0;
  gpu.deallocate(mine);
  if (job.rank() == 0)
    std::printf("%s: devices of %zu bytes\n", wrong ? "wrong" : "ok", gpu.bytes());
  return wrong;
}

int start(const tombolo::job &job) {
  try {
    tombolo::device_heap gpu(tombolo::cuda_device(0), Bytes);
    return copies(job, gpu);
  } catch (const tombolo::error &e) {
    if (job.rank() == 0) std::printf("no device: %s\n", e.what());
    return 0;
  }
}

} // namespace

int main(int argc, char **argv) {
  return tombolo::run(argc, argv, start);
}
