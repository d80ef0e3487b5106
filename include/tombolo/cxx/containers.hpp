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

#include <optional>
#include <utility>

#include "call.hpp"

namespace tombolo {

namespace detail {

/* This rank's part of each container; a template as `late` says. */
template <class> struct part_list {
  uint64_t numbers = 0; /* given out so far; alike on all ranks */
  hsl lock;
  table<uint64_t, void *> parts; /* under lock; null: ended */
};
template <class Used> inline part_list<Used> all_parts;

/* Part on this rank of an object that all ranks make; neither copied nor moved, for calls hold its
 * number. Construction and destruction are collective. */
template <class Data> class part {
  using used = typename late<Data>::type;

public:
  part() : number_(all_parts<used>.numbers++) {
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
    const held guard(lock_);
    return f(data_);
  }
  /* The part of this rank of object `number`; throws when that has ended. */
  static part &of(uint64_t number) {
    const held guard(all_parts<used>.lock);
    void *const *const found = all_parts<used>.parts.find(number);
    if (!found || !*found)
      throw error("call: the container has ended; wait for futures before that");
    return *static_cast<part *>(*found);
  }

private:
  void enter(void *me) {
    const held guard(all_parts<used>.lock);
    all_parts<used>.parts.get(number_) = me;
  }

  uint64_t number_;
  hsl lock_;
  Data data_;
};

} // namespace detail

/* Keys with values; a key is on the rank that its hash names. K and V travel by serial<>; Hash
 * gives equal on all ranks. All members may be called by any rank at any time. */
template <class K, class V, class Hash = std::hash<K>> class hash_map {
  using table = detail::table<K, V, Hash>;
  using truth = typename detail::late<K, bool>::type;
  using part = detail::part<table>;

public:
  /* The rank of a key. The hash is mixed, since std::hash of an integer is the integer. */
  rank_t owner(const K &key) const {
    const uint64_t mixed = uint64_t(Hash{}(key)) * 0x9e3779b97f4a7c15u;
    return static_cast<rank_t>((mixed >> 32) % tombolo::size());
  }

  /* Adds a key, unless it is there: whether it was added. */
  future<truth> insert(const K &key, const V &value) {
    const auto add = [n = mine_.number()](K k, V v) {
      return part::of(n).with([&](table &t) {
        const size_t before = t.size();
        t.get(k, v);
        return t.size() != before;
      });
    };
    return detail::call(detail::self.world, owner(key), add, key, value);
  }

  /* Sets the value of a key. */
  future<void> assign(const K &key, const V &value) {
    const auto set = [n = mine_.number()](K k, V v) {
      part::of(n).with([&](table &t) { t.get(k, v) = v; });
    };
    return detail::call(detail::self.world, owner(key), set, key, value);
  }

  /* The value of a key, if it is there. */
  future<std::optional<V>> find(const K &key) {
    const auto look = [n = mine_.number()](K k) {
      return part::of(n).with([&](table &t) {
        const V *const at = t.find(k);
        return at ? std::optional<V>(*at) : std::optional<V>();
      });
    };
    return detail::call(detail::self.world, owner(key), look, key);
  }

  /* Removes a key: whether it was there. */
  future<truth> erase(const K &key) {
    const auto remove = [n = mine_.number()](K k) {
      return part::of(n).with([&](table &t) { return t.erase(k); });
    };
    return detail::call(detail::self.world, owner(key), remove, key);
  }

  /* value = f(value, arg) at the owner, atomically; a new key begins with V(). f: as of call(). */
  template <class F, class A> future<void> update(const K &key, F f, A arg) {
    const auto change = [n = mine_.number(), f](K k, A a) {
      part::of(n).with([&](table &t) {
        V &value = t.get(k);
        value = f(value, a);
      });
    };
    return detail::call(detail::self.world, owner(key), change, key, arg);
  }

  /* f(key, value) for each key of this rank. f must not use the map, wait or communicate. */
  template <class F> void for_each_local(F f) {
    mine_.with([&](table &t) { t.each(f); });
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
  using part = detail::part<detail::fifo<T>>;

public:
  /* Appends to the queue of a jobrank; ready: it is there. */
  future<void> push(rank_t jobrank, const T &value) {
    const auto append = [n = mine_.number()](T v) {
      part::of(n).with([&](detail::fifo<T> &q) { q.push(std::move(v)); });
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
    return mine_.with([](detail::fifo<T> &q) {
      std::optional<T> first;
      if (q.empty()) return first;
      first.emplace(q.pop());
      return first;
    });
  }

  part mine_;
};

} // namespace tombolo

#endif
