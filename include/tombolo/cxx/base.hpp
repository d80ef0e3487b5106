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

#include <gasnetex_ext.h>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

/* Whether this file is compiled with `--check`. */
#if defined __SANITIZE_THREAD__
# define TOMBOLO_CHECKED 1
#elif defined __has_feature
# define TOMBOLO_CHECKED __has_feature(thread_sanitizer)
#else
# define TOMBOLO_CHECKED 0
#endif
#if TOMBOLO_CHECKED
# include "../check_hook.h"
#endif

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

/* A handler-safe lock. */
class hsl {
public:
  void lock() { gex_HSL_Lock(&lock_); }
  void unlock() { gex_HSL_Unlock(&lock_); }

private:
  gex_HSL_t lock_ = GEX_HSL_INITIALIZER;
};

/* Holds a lock while it lives; std::lock_guard is in <mutex>, which takes long to compile. */
class held {
public:
  explicit held(hsl &lock) : lock_(lock) { lock_.lock(); }
  held(const held &) = delete;
  held &operator=(const held &) = delete;
  ~held() { lock_.unlock(); }

private:
  hsl &lock_;
};

/* The type T, which depends on D: a template that names it so leaves it uncompiled until it is
 * used, and so do programs that do not use it. */
template <class D, class T = void> struct late { using type = T; };

constexpr size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Memory of the segment by offset. What take() gives out grows from the start; every rank makes
 * equal calls, so all have one layout. The end belongs to memory of one rank; `top` divides them.
 */
class heap {
public:
  static constexpr size_t none = SIZE_MAX;

  void open(size_t bytes) { bytes_ = top_ = bytes; }
  size_t bytes() const { return bytes_; }
  /* Bytes at the end that belong to memory of one rank. */
  size_t at_end() const { return bytes_ - top_; }

  /* The offset of so many bytes, a multiple of 64; none: they are not free. */
  size_t take(size_t bytes) {
    const size_t need = ((bytes ? bytes : 1) + 63) / 64 * 64;
    const held guard(lock_);
    size_t offset = 0;
    block **at = &used_;
    for (; *at && (*at)->offset - offset < need; at = &(*at)->next)
      offset = (*at)->offset + (*at)->bytes;
    if (need < bytes || need > top_ - offset) return none;
    *at = new block{offset, need, *at};
    return offset;
  }

  /* Frees what take() gave; returns false, and does nothing, where there is nothing. */
  bool give(size_t offset) {
    const held guard(lock_);
    block **at = &used_;
    while (*at && (*at)->offset != offset) at = &(*at)->next;
    block *const was = *at;
    if (!was) return false;
    *at = was->next;
    delete was;
    return true;
  }

  /* Lowers the top by `bytes`; raises it if negative. Returns false, without a change, if there is
   * no room. */
  bool lower_top(ptrdiff_t bytes) {
    const held guard(lock_);
    size_t used = 0;
    for (const block *b = used_; b; b = b->next) used = b->offset + b->bytes;
    if (bytes > 0 && size_t(bytes) > top_ - used) return false;
    top_ -= size_t(bytes);
    return true;
  }

private:
  struct block {
    size_t offset, bytes;
    block *next;
  };
  hsl lock_;
  size_t bytes_ = 0, top_ = 0;
  block *used_ = nullptr; /* in the order of offsets; between them is free */
};

/* Elements, first in, first out; <deque> takes longer to compile. */
template <class T> class fifo {
public:
  fifo() = default;
  fifo(const fifo &) = delete;
  fifo &operator=(const fifo &) = delete;
  ~fifo() {
    while (first_) pop();
  }
  bool empty() const { return !first_; }
  void push(T value) {
    *end_ = new node{std::move(value), nullptr};
    end_ = &(*end_)->next;
  }
  T pop() {
    node *const was = first_;
    T value = std::move(was->value);
    first_ = was->next;
    if (!first_) end_ = &first_;
    delete was;
    return value;
  }
  /* Appends all of `other`, which is empty then. */
  void take(fifo &other) {
    if (other.empty()) return;
    *end_ = other.first_;
    end_ = other.end_;
    other.first_ = nullptr;
    other.end_ = &other.first_;
  }

private:
  struct node {
    T value;
    node *next;
  };
  node *first_ = nullptr, **end_ = &first_;
};

/* Values by key; <unordered_map> takes longer to compile. */
template <class K, class V, class Hash = std::hash<K>> class table {
public:
  table() = default;
  table(const table &) = delete;
  table &operator=(const table &) = delete;
  ~table() {
    for (size_t i = 0; i < length_; i++)
      while (heads_[i]) unlink(&heads_[i]);
    delete[] heads_;
  }
  size_t size() const { return size_; }
  /* The value of a key, or null. */
  V *find(const K &key) const {
    node *const found = length_ ? *place(key) : nullptr;
    return found ? &found->value : nullptr;
  }
  /* The value of a key; a new one is made from args. */
  template <class... Args> V &get(const K &key, const Args &...args) {
    if (V *const there = find(key)) return *there;
    if (size_ == length_) grow();
    node **const at = place(key);
    *at = new node{key, V(args...), nullptr};
    size_++;
    return (*at)->value;
  }
  bool erase(const K &key) {
    node **const at = length_ ? place(key) : nullptr;
    if (!at || !*at) return false;
    unlink(at);
    size_--;
    return true;
  }
  /* f(key, value) for each. */
  template <class F> void each(F f) {
    for (size_t i = 0; i < length_; i++)
      for (node *n = heads_[i]; n; n = n->next) f(static_cast<const K &>(n->key), n->value);
  }

private:
  struct node {
    K key;
    V value;
    node *next;
  };
  /* The link to the node of a key, or the empty one where it would be. */
  node **place(const K &key) const {
    const uint64_t mixed = uint64_t(Hash{}(key)) * 0xd6e8feb86659fd93u; /* not that of owner() */
    node **at = &heads_[(mixed >> 32) & (length_ - 1)];
    while (*at && !((*at)->key == key)) at = &(*at)->next;
    return at;
  }
  static void unlink(node **at) {
    node *const was = *at;
    *at = was->next;
    delete was;
  }
  void grow() {
    const size_t before = length_;
    node **const old = heads_;
    length_ = before ? 2 * before : 16; /* a power of two */
    heads_ = new node *[length_]();
    for (size_t i = 0; i < before; i++)
      while (node *const n = old[i]) {
        old[i] = n->next;
        n->next = nullptr;
        *place(n->key) = n;
      }
    delete[] old;
  }
  node **heads_ = nullptr;
  size_t length_ = 0, size_ = 0;
};

/* Objects of which a process has one. */
struct process {
  gex_TM_t world = GEX_TM_INVALID;
  char **base = nullptr; /* [job size] start of the segment in its owner's address space */
  char **near = nullptr; /* [job size] address in this process; NULL: not mapped */
  char *mine = nullptr;  /* start of this rank's segment */
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
