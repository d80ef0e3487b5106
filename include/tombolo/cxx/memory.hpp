/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/memory.hpp: memory on all ranks, arrays over all ranks, and signals.
 *
 * Called by clients. Calls detail::heap, barriers and the signal functions of the C API. Invariant:
 * memory is given out between two synchronisations, so that nobody still uses what was freed
 * before.
 */
#ifndef TOMBOLO_CXX_MEMORY_HPP
#define TOMBOLO_CXX_MEMORY_HPP

#include <cstring>
#include <utility>

#include "global_ptr.hpp"

namespace tombolo {

/* n elements on each rank at the same offset, zeroed. It is freed with its object, which all ranks
 * destroy in one order. */
template <class T> class symmetric {
public:
  symmetric() = default;
  /* Collective over the job; a barrier at begin and end. Throws error on all ranks alike. */
  explicit symmetric(size_t n) {
    static_assert(detail::travels<T>, "symmetric<T>: T must be trivially copyable");
    static_assert(alignof(T) <= 64, "symmetric<T>: at most 64 bytes of alignment");
    detail::heap &memory = detail::self.memory;
    const bool fits = n <= memory.bytes() / sizeof(T);
    offset_ = fits ? memory.take(n * sizeof(T)) : detail::heap::none;
    uint32_t lacking = offset_ == detail::heap::none; /* memory of one rank may be in the way */
    detail::await_event(gex_Coll_ReduceToAllNB(detail::self.world, &lacking, &lacking, GEX_DT_U32,
                                               sizeof lacking, 1, GEX_OP_ADD, nullptr, nullptr, 0));
    if (lacking) {
      if (offset_ != detail::heap::none) memory.give(offset_);
      throw error("allocate: " + std::to_string(n) + " elements of " + std::to_string(sizeof(T)) +
                  " bytes are not free in a heap of " + std::to_string(memory.bytes()) +
                  " bytes on " + std::to_string(lacking) +
                  " ranks; give tombolo::run or job a larger heap_bytes");
    }
    n_ = n;
    owned_ = true;
    std::memset(static_cast<void *>(local()), 0, n * sizeof(T));
    detail::await_event(gex_Coll_BarrierNB(detail::self.world, 0));
  }
  symmetric(symmetric &&other) noexcept { *this = std::move(other); }
  symmetric &operator=(symmetric &&other) noexcept {
    std::swap(offset_, other.offset_);
    std::swap(n_, other.n_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~symmetric() {
    if (owned_ && !detail::self.ended) detail::self.memory.give(offset_);
  }

  size_t size() const { return n_; }
  /* Part of this rank. */
  T *local() const { return reinterpret_cast<T *>(detail::self.mine + offset_); }
  T *begin() const { return local(); }
  T *end() const { return local() + n_; }
  /* The part of a jobrank. */
  global_ptr<T> on(rank_t jobrank) const {
    return {jobrank, reinterpret_cast<T *>(detail::self.base[jobrank] + offset_)};
  }

private:
  size_t offset_ = 0, n_ = 0;
  bool owned_ = false;
};

/* n elements in blocks of equal length over the ranks of the job; the last block may be shorter. */
template <class T> class distributed_array {
public:
  /* Collective over the job, as symmetric. */
  explicit distributed_array(size_t n)
      : n_(n), block_((n + tombolo::size() - 1) / tombolo::size()), parts_(block_) {}

  size_t size() const { return n_; }
  size_t block() const { return block_; }
  /* The rank that has element i. */
  rank_t owner(size_t i) const { return static_cast<rank_t>(i / block_); }
  /* Element i (at least 0, less than size()), wherever it is. */
  global_ptr<T> at(size_t i) const {
    if (i >= n_)
      throw error("distributed_array: index " + std::to_string(i) + " is not below the size " +
                  std::to_string(n_));
    return parts_.on(owner(i)) + static_cast<ptrdiff_t>(i % block_);
  }
  global_ref<T> operator[](size_t i) const { return *at(i); }
  /* The elements of this rank: number of the first, and memory. */
  size_t first() const { return detail::smaller(n_, block_ * tombolo::rank()); }
  T *begin() const { return parts_.local(); }
  T *end() const { return begin() + (detail::smaller(n_, first() + block_) - first()); }

private:
  size_t n_, block_;
  symmetric<T> parts_;
};

/* ---------------------------------------------------------------- signals */

/* A counter on each rank, raised by others, lowered by its owner (docs/NOTIFY.md). */
class signal_counter {
public:
  /* Collective over the job. */
  signal_counter() : word_(1) {}
  /* The counter of a jobrank, for put_signal and raise. */
  global_ptr<uint64_t> on(rank_t jobrank) const { return word_.on(jobrank); }
  /* Waits until this rank's counter is at least n, subtracts n, returns the rest. */
  uint64_t wait(uint64_t n = 1) const {
    detail::await_busy([this, n] { return peek() >= n; });
    return gexx_Signal_WaitConsume(word_.local(), n);
  }
  /* Subtracts n if the counter is at least n; polls once when not. */
  bool try_wait(uint64_t n = 1) const {
    return gexx_Signal_TryConsume(word_.local(), n) == GASNET_OK;
  }

private:
  uint64_t peek() const { return __atomic_load_n(word_.local(), __ATOMIC_ACQUIRE); }
  symmetric<uint64_t> word_;
};

/* Puts n elements, then adds `add` to a counter of the same rank: a rank that sees the counter
 * sees the data. Returns when `from` may be reused. */
template <class T>
void put_signal(global_ptr<T> to, const T *from, size_t n, const signal_counter &s,
                uint64_t add = 1) {
  gexx_RMA_PutSignalBlocking(detail::self.world, to.where(), to.address(), from, n * sizeof(T),
                             GEX_EVENT_NOW, s.on(to.where()).address(), GEXX_SIG_ADD, add, 0);
}

/* Adds to the counter of a rank without data. */
inline void raise(const signal_counter &s, rank_t jobrank, uint64_t add = 1) {
  const global_ptr<uint64_t> at = s.on(jobrank);
  gexx_RMA_PutSignalBlocking(detail::self.world, jobrank, at.address(), nullptr, 0, GEX_EVENT_NOW,
                             at.address(), GEXX_SIG_ADD, add, 0);
}

} // namespace tombolo

#endif
