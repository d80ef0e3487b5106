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
#include <mutex>
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

/* A handler-safe lock for std::lock_guard. */
class hsl {
public:
  void lock() { gex_HSL_Lock(&lock_); }
  void unlock() { gex_HSL_Unlock(&lock_); }

private:
  gex_HSL_t lock_ = GEX_HSL_INITIALIZER;
};

/* Memory of the segment by offset. What take() gives out grows from the start; every rank makes
 * equal calls, so all have one layout. The end belongs to memory of one rank; `top` divides them.
 */
class heap {
public:
  static constexpr size_t none = SIZE_MAX;

  void open(size_t bytes) {
    bytes_ = top_ = bytes;
    free_[0] = bytes;
  }
  size_t bytes() const { return bytes_; }
  /* Bytes at the end that belong to memory of one rank. */
  size_t at_end() const { return bytes_ - top_; }

  /* The offset of so many bytes, a multiple of 64; none: they are not free. */
  size_t take(size_t bytes) {
    const size_t need = (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
    const std::lock_guard<hsl> guard(lock_);
    for (auto at = free_.begin(); need >= bytes && at != free_.end(); ++at) {
      if (at->second < need) continue;
      const size_t offset = at->first, rest = at->second - need;
      if (offset + need > top_) return none;
      free_.erase(at);
      if (rest) free_[offset + need] = rest;
      used_[offset] = need;
      return offset;
    }
    return none;
  }

  void give(size_t offset) {
    const std::lock_guard<hsl> guard(lock_);
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

  /* Moves the top by so many bytes, down if positive; returns false, and does nothing, where
   * there is no room. */
  bool lower_top(ptrdiff_t bytes) {
    const std::lock_guard<hsl> guard(lock_);
    const size_t used = used_.empty() ? 0 : used_.rbegin()->first + used_.rbegin()->second;
    if (bytes > 0 && size_t(bytes) > top_ - used) return false;
    top_ -= size_t(bytes);
    return true;
  }

private:
  hsl lock_;
  size_t bytes_ = 0, top_ = 0;
  std::map<size_t, size_t> free_, used_; /* offset, bytes */
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
