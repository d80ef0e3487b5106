/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/base.hpp: errors, the heap of the segment, and the objects of which a process has
 * one.
 *
 * Called by all other parts of tombolo.hpp. Calls the C API. Invariants: every rank makes equal
 * calls of the heap in one order, so that all heaps have one layout; `detail::self` changes only
 * while a job begins and ends.
 */
#ifndef TOMBOLO_CXX_BASE_HPP
#define TOMBOLO_CXX_BASE_HPP

#include <algorithm>
#include <gasnetex_ext.h>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tombolo {

using rank_t = gex_Rank_t;

/* Error that the library reports: the text names the argument, its value and the remedy. */
class error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/* A remote call whose function has thrown; the text names the rank and what() there. */
class remote_error : public error {
public:
  using error::error;
};

namespace detail {

/* Memory of the segment by offset; every rank makes equal calls, so all have one layout. */
class heap {
public:
  void open(size_t bytes) {
    bytes_ = bytes;
    free_[0] = bytes;
  }
  size_t bytes() const { return bytes_; }

  size_t take(size_t bytes) {
    const size_t need = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
    for (auto at = free_.begin(); need >= bytes && at != free_.end(); ++at) {
      if (at->second < need) continue;
      const size_t offset = at->first, rest = at->second - need;
      free_.erase(at);
      if (rest) free_[offset + need] = rest;
      used_[offset] = need;
      return offset;
    }
    throw error("allocate: " + std::to_string(bytes) + " bytes are not free in a heap of " +
                std::to_string(bytes_) + " bytes; give tombolo::run or job a larger heap_bytes");
  }

  void give(size_t offset) {
    const auto was = used_.find(offset);
    auto at = free_.emplace(offset, was->second).first;
    used_.erase(was);
    const auto next = std::next(at);
    if (next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    const auto before = std::prev(at);
    if (before->first + before->second == at->first) {
      before->second += at->second;
      free_.erase(at);
    }
  }

private:
  size_t bytes_ = 0;
  std::map<size_t, size_t> free_, used_; /* offset, bytes */
};

/* A handler-safe lock for std::lock_guard. */
class hsl {
public:
  void lock() { gex_HSL_Lock(&lock_); }
  void unlock() { gex_HSL_Unlock(&lock_); }

private:
  gex_HSL_t lock_ = GEX_HSL_INITIALIZER;
};

/* Objects of which a process has one. */
struct process {
  gex_TM_t world = GEX_TM_INVALID;
  std::vector<char *> base; /* [job size] start of the segment in its owner's address space */
  std::vector<char *> near; /* [job size] address in this process; NULL: not mapped */
  char *mine = nullptr;     /* start of this rank's segment */
  uint64_t numbers = 0;     /* of containers, given out so far; alike on all ranks */
  hsl lock;
  std::vector<void *> shared; /* this rank's part of each container, NULL: ended; under lock */
  heap memory;
  gex_AM_Index_t call = 0, answer = 0;
  bool ended = false;
};
inline process self;

template <class T> constexpr bool travels = std::is_trivially_copyable_v<T>;

} // namespace detail

/* Rank of this process in the job, number of ranks; valid while a job is. */
inline rank_t rank() {
  return gex_System_QueryJobRank();
}
inline rank_t size() {
  return gex_System_QueryJobSize();
}

} // namespace tombolo

#endif
