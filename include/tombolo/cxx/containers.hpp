/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/containers.hpp: a hash map over the ranks of the job, and queues between ranks.
 *
 * Called by clients. Calls detail::call. Invariants: an object has a part on each rank, found by a
 * number that all ranks give alike; what is in a part is read and changed under its lock only, by
 * handlers and by its rank; a key belongs to the rank that its hash names.
 */
#ifndef TOMBOLO_CXX_CONTAINERS_HPP
#define TOMBOLO_CXX_CONTAINERS_HPP

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "call.hpp"

namespace tombolo {

namespace detail {

/* Part on this rank of an object that all ranks make; neither copied nor moved, for calls hold its
 * number. Construction and destruction are collective. */
template <class Data> class part {
public:
  part() : number_(self.numbers++) {
    enter(this);
    await_event(gex_Coll_BarrierNB(self.world, 0));
  }
  part(const part &) = delete;
  part &operator=(const part &) = delete;
  ~part() {
    if (self.ended || std::uncaught_exceptions()) return; /* the job ends without a barrier */
    await_event(gex_Coll_BarrierNB(self.world, 0));
    enter(nullptr);
  }

  uint64_t number() const { return number_; }
  /* f(data) under the lock. */
  template <class F> decltype(auto) with(F f) {
    const std::lock_guard<hsl> guard(lock_);
    return f(data_);
  }
  /* The part of this rank of object `number`; throws when that has ended. */
  static part &of(uint64_t number) {
    const std::lock_guard<hsl> guard(self.lock);
    void *const found = self.shared.at(number);
    if (!found) throw error("call: the container has ended; wait for futures before that");
    return *static_cast<part *>(found);
  }

private:
  void enter(void *me) {
    const std::lock_guard<hsl> guard(self.lock);
    self.shared.resize(std::max<size_t>(self.shared.size(), number_ + 1));
    self.shared[number_] = me;
  }

  uint64_t number_;
  hsl lock_;
  Data data_;
};

} // namespace detail

/* Keys with values; a key is on the rank that its hash names. K and V travel by serial<>; Hash
 * gives equal on all ranks. All members may be called by any rank at any time. */
template <class K, class V, class Hash = std::hash<K>> class hash_map {
  using table = std::unordered_map<K, V, Hash>;
  using part = detail::part<table>;

public:
  /* The rank of a key. The hash is mixed, since std::hash of an integer is the integer. */
  rank_t owner(const K &key) const {
    const uint64_t mixed = uint64_t(Hash{}(key)) * 0x9e3779b97f4a7c15u;
    return static_cast<rank_t>((mixed >> 32) % tombolo::size());
  }

  /* Adds a key, unless it is there: whether it was added. */
  future<bool> insert(const K &key, const V &value) {
    const auto add = [n = mine_.number()](K k, V v) {
      return part::of(n).with([&](table &t) { return t.emplace(k, v).second; });
    };
    return detail::call(detail::self.world, owner(key), add, key, value);
  }

  /* Sets the value of a key. */
  future<void> assign(const K &key, const V &value) {
    const auto set = [n = mine_.number()](K k, V v) {
      part::of(n).with([&](table &t) { t.insert_or_assign(k, v); });
    };
    return detail::call(detail::self.world, owner(key), set, key, value);
  }

  /* The value of a key, if it is there. */
  future<std::optional<V>> find(const K &key) {
    const auto look = [n = mine_.number()](K k) {
      return part::of(n).with([&](table &t) {
        const auto at = t.find(k);
        return at == t.end() ? std::optional<V>() : std::optional<V>(at->second);
      });
    };
    return detail::call(detail::self.world, owner(key), look, key);
  }

  /* Removes a key: whether it was there. */
  future<bool> erase(const K &key) {
    const auto remove = [n = mine_.number()](K k) {
      return part::of(n).with([&](table &t) { return t.erase(k) != 0; });
    };
    return detail::call(detail::self.world, owner(key), remove, key);
  }

  /* value = f(value, arg) at the owner, atomically; a new key begins with V(). f: as of call().
   */
  template <class F, class A> future<void> update(const K &key, F f, A arg) {
    const auto change = [n = mine_.number(), f](K k, A a) {
      part::of(n).with([&](table &t) {
        V &value = t[k];
        value = f(value, a);
      });
    };
    return detail::call(detail::self.world, owner(key), change, key, arg);
  }

  /* f(key, value) for each key of this rank. f must not use the map, wait or communicate. */
  template <class F> void for_each_local(F f) {
    mine_.with([&](table &t) {
      for (auto &entry : t) f(entry.first, entry.second);
    });
  }
  size_t local_size() {
    return mine_.with([](table &t) { return t.size(); });
  }

private:
  part mine_;
};

/* A queue on each rank: all ranks push, its rank pops. What one rank pushes, waiting for each,
 * keeps its order. There is no limit. T travels by serial<>. */
template <class T> class queue {
  using part = detail::part<std::deque<T>>;

public:
  /* Appends to the queue of a jobrank; ready: it is there. */
  future<void> push(rank_t jobrank, const T &value) {
    const auto append = [n = mine_.number()](T v) {
      part::of(n).with([&](std::deque<T> &q) { q.push_back(std::move(v)); });
    };
    return detail::call(detail::self.world, jobrank, append, value);
  }

  /* Takes the first of this rank's queue; polls once when there is none. */
  std::optional<T> try_pop() {
    auto first = take();
    if (first) return first;
    progress();
    return take();
  }

  /* Waits for the first of this rank's queue, and takes it. */
  T pop() {
    std::optional<T> first = take();
    detail::await_busy([&] { return first || (first = take()); });
    return std::move(*first);
  }

private:
  std::optional<T> take() {
    return mine_.with([](std::deque<T> &q) {
      std::optional<T> first;
      if (q.empty()) return first;
      first.emplace(std::move(q.front()));
      q.pop_front();
      return first;
    });
  }

  part mine_;
};

} // namespace tombolo

#endif
