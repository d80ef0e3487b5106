/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/allocate.hpp: memory and objects of one rank, in its part of the shared heap.
 *
 * Called by clients, any thread. Calls detail::heap for more memory. Invariants: a free block has
 * no free neighbour; the smallest free block that is large enough is taken; what is not used lies
 * below the blocks, where it may become symmetric memory again.
 */
#ifndef TOMBOLO_CXX_ALLOCATE_HPP
#define TOMBOLO_CXX_ALLOCATE_HPP

#include <map>
#include <new>
#include <set>
#include <utility>

#include "global_ptr.hpp"

namespace tombolo {

/* The shared heap of this rank has no room; the text names bytes, heap and remedy. */
class shared_bad_alloc : public std::bad_alloc {
public:
  explicit shared_bad_alloc(std::string text) : text_(std::move(text)) {}
  const char *what() const noexcept override { return text_.c_str(); }

private:
  std::string text_;
};

namespace detail {

/* Blocks at the end of this rank's segment, by their offset; a template as `late` says. */
template <class Used> class own_heap {
  using bytes_type = typename late<Used, size_t>::type;

public:
  static constexpr size_t unit = 16, chunk = 65536;

  /* So many bytes for `count` objects; nullptr: no room. [in] alignment: a power of two. */
  void *take(size_t bytes, size_t alignment, size_t count) {
    const size_t need = ((bytes ? bytes : 1) + unit - 1) / unit * unit;
    const size_t slack = alignment > unit ? alignment - unit : 0;
    if (need < bytes || need > self.memory.bytes() || slack > self.memory.bytes()) return nullptr;
    const held guard(lock_);
    auto found = sizes_.lower_bound({need + slack, 0});
    if (found == sizes_.end()) {
      if (!grow(need + slack)) return nullptr;
      found = sizes_.lower_bound({need + slack, 0});
    }
    const size_t size = found->first, start = found->second;
    remove(start);
    const uintptr_t base = reinterpret_cast<uintptr_t>(self.mine);
    const size_t at = (base + start + alignment - 1) / alignment * alignment - base;
    if (at > start) insert(start, at - start);
    if (at + need < start + size) insert(at + need, start + size - at - need);
    used_.get(at) = {need, count};
    return self.mine + at;
  }

  /* Number of objects at an address; SIZE_MAX: nothing was given out there. */
  size_t count(const void *at) {
    const held guard(lock_);
    const auto found = used_.find(offset(at));
    return found ? found->count : SIZE_MAX;
  }

  void give(const void *at) {
    const held guard(lock_);
    const size_t bytes = used_.find(offset(at))->bytes;
    used_.erase(offset(at));
    insert(offset(at), bytes);
    trim();
  }

private:
  struct block {
    size_t bytes, count;
  };

  static size_t offset(const void *at) {
    return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(self.mine);
  }
  void remove(size_t start) {
    const auto at = free_.find(start);
    sizes_.erase({at->second, start});
    free_.erase(at);
  }
  /* Adds a free block, joined with its neighbours. */
  void insert(size_t start, size_t bytes) {
    const auto next = free_.lower_bound(start);
    if (next != free_.begin()) {
      const auto before = *std::prev(next);
      if (before.first + before.second == start) {
        remove(before.first);
        start = before.first;
        bytes += before.second;
      }
    }
    const auto after = free_.lower_bound(start + bytes);
    if (after != free_.end() && after->first == start + bytes) {
      const auto other = *after;
      remove(other.first);
      bytes += other.second;
    }
    free_[start] = bytes;
    sizes_.insert({bytes, start});
  }
  /* Makes the first free block so large, or adds one. */
  bool grow(size_t bytes) {
    const size_t bottom = self.memory.bytes() - self.memory.at_end();
    size_t more = bytes;
    if (!free_.empty() && free_.begin()->first == bottom) more -= free_.begin()->second;
    const size_t rounded = (more + chunk - 1) / chunk * chunk;
    if (self.memory.lower_top(ptrdiff_t(rounded)))
      more = rounded;
    else if (!self.memory.lower_top(ptrdiff_t(more)))
      return false;
    insert(bottom - more, more);
    return true;
  }
  /* Returns whole chunks below all blocks; one stays, so that a loop does not move the top. */
  void trim() {
    const size_t bottom = self.memory.bytes() - self.memory.at_end();
    const auto first = *free_.begin();
    if (first.first != bottom || first.second < 2 * chunk) return;
    const size_t surplus = (first.second - chunk) / chunk * chunk;
    remove(bottom);
    insert(bottom + surplus, first.second - surplus);
    self.memory.lower_top(-ptrdiff_t(surplus));
  }

  hsl lock_;
  std::map<size_t, bytes_type> free_;             /* offset, bytes */
  std::set<std::pair<bytes_type, size_t>> sizes_; /* bytes, offset: the same blocks */
  table<size_t, block> used_;                     /* by offset */
};
template <class Used> inline own_heap<Used> own_heap_of;
template <class T> auto &own() {
  return own_heap_of<typename late<T>::type>;
}

template <class T> T *take_own(size_t n, size_t alignment) {
  if (alignment & (alignment - 1) || !alignment)
    throw error("allocate: the alignment " + std::to_string(alignment) + " is no power of two");
  if (n > SIZE_MAX / sizeof(T)) return nullptr;
  return static_cast<T *>(
      own<T>().take(n * sizeof(T), alignment > alignof(T) ? alignment : alignof(T), n));
}

/* take_own, or shared_bad_alloc. [in] who: the function that is called. */
template <class T> T *need_own(const char *who, size_t n, size_t alignment = alignof(T)) {
  if (T *const at = take_own<T>(n, alignment)) return at;
  throw shared_bad_alloc(std::string(who) + ": " + std::to_string(n) + " elements of " +
                         std::to_string(sizeof(T)) + " bytes are not free in a heap of " +
                         std::to_string(self.memory.bytes()) +
                         " bytes; free something, or give tombolo::run or job a larger heap_bytes");
}

/* The memory that delete_ and its like free: the address here; checks rank and address. */
template <class T> T *own_place(const char *who, const global_ptr<T> &p, size_t &count) {
  if (p.where() != tombolo::rank())
    throw error(std::string(who) + ": the memory belongs to rank " + std::to_string(p.where()) +
                "; call " + who + " there, by rpc for instance");
  count = own<T>().count(p.local());
  if (count == SIZE_MAX)
    throw error(std::string(who) + ": nothing was given out at this address, or it is freed "
                                   "already; give what new_, new_array or allocate returned");
  return p.local();
}

template <class T> void destroy_own(T *at, size_t n) {
  while (n-- > 0) at[n].~T();
  own<T>().give(at);
}

/* n objects made by make(place); when one throws, those before it are destroyed. */
template <class T, class F> global_ptr<T> make_own(T *at, size_t n, F make) {
  size_t made = 0;
  try {
    for (; made < n; made++) make(static_cast<void *>(at + made));
  } catch (...) {
    destroy_own(at, made);
    throw;
  }
  return {tombolo::rank(), at};
}

} // namespace detail

/* Memory for n elements in this rank's part of the shared heap, without objects; not collective.
 * [in] alignment: a power of two. Throws shared_bad_alloc where it is not free. Any thread. */
template <class T> global_ptr<T> allocate(size_t n = 1, size_t alignment = alignof(T)) {
  return {tombolo::rank(), detail::need_own<T>("allocate", n, alignment)};
}
/* Memory for n elements; null where it is not free. */
template <class T>
global_ptr<T> allocate(const std::nothrow_t &, size_t n = 1, size_t alignment = alignof(T)) {
  T *const at = detail::take_own<T>(n, alignment);
  return at ? global_ptr<T>(tombolo::rank(), at) : nullptr;
}
/* Frees what allocate() gave; null is allowed. On the rank of the memory. */
template <class T> void deallocate(const global_ptr<T> &p) {
  size_t n = 0;
  if (p) detail::own<T>().give(detail::own_place("deallocate", p, n));
}

/* An object T(args...) in this rank's part of the shared heap; not collective. Throws
 * shared_bad_alloc where there is no room. Any thread. */
template <class T, class... Args> global_ptr<T> new_(Args &&...args) {
  return detail::make_own(detail::need_own<T>("new_", 1), 1,
                          [&](void *at) { ::new (at) T(std::forward<Args>(args)...); });
}
/* n value-initialised objects: numbers are 0. */
template <class T> global_ptr<T> new_array(size_t n) {
  return detail::make_own(detail::need_own<T>("new_array", n), n, [](void *at) { ::new (at) T(); });
}
/* Ends the object of new_, or the objects of new_array; null is allowed. On the rank of the object.
 */
template <class T> void delete_(const global_ptr<T> &p) {
  size_t n = 0;
  if (!p) return;
  T *const at = detail::own_place("delete_", p, n);
  if (n != 1)
    throw error("delete_: there are " + std::to_string(n) + " objects; call delete_array");
  detail::destroy_own(at, 1);
}
template <class T> void delete_array(const global_ptr<T> &p) {
  size_t n = 0;
  if (!p) return;
  T *const at = detail::own_place("delete_array", p, n);
  detail::destroy_own(at, n);
}

} // namespace tombolo

#endif
