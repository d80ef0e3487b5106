/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/team.hpp: ranks that act together: barrier, split, collectives, calls.
 *
 * Called by clients. Calls collectives.hpp, and the team and collective functions of the C API.
 * Invariants: a team that split() has made is destroyed once, by all members; blocking forms use no
 * memory of their own, async_ forms hold their data in the future.
 */
#ifndef TOMBOLO_CXX_TEAM_HPP
#define TOMBOLO_CXX_TEAM_HPP

#include <exception>
#include <vector>

#include "call.hpp"
#include "collectives.hpp"

namespace tombolo {

/* ---------------------------------------------------------------- teams */

/* Ranks that act together. A team that split() has made ends with its object, on all members
 * together. Collective calls are made by all members in one order. */
class team {
public:
  team() = default;
  explicit team(gex_TM_t tm) : tm_(tm) {}
  team(team &&other) noexcept { *this = std::move(other); }
  team &operator=(team &&other) noexcept {
    std::swap(tm_, other.tm_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~team() {
    if (!owned_ || detail::self.ended || std::uncaught_exceptions()) return;
    barrier(); /* which runs calls of members that come later */
    gex_TM_Destroy(tm_, nullptr, 0);
  }

  gex_TM_t handle() const { return tm_; }
  explicit operator bool() const { return tm_ != GEX_TM_INVALID; }
  rank_t rank() const { return gex_TM_QueryRank(tm_); }
  rank_t size() const { return gex_TM_QuerySize(tm_); }
  /* The jobrank of a member, which is what global_ptr holds. */
  rank_t jobrank(rank_t member) const { return gex_TM_TranslateRankToJobrank(tm_, member); }

  /* Collective: returns when every member has called. */
  void barrier() const { detail::await_event(gex_Coll_BarrierNB(tm_, 0)); }
  /* Collective: the future is ready when every member has called. */
  future<> async_barrier() const { return detail::of_event(gex_Coll_BarrierNB(tm_, 0)); }

  /* Collective: one team for each colour (at least 0), ordered by key, then rank here. */
  team split(int colour, int key = 0) const {
    team made;
    barrier(); /* which runs calls of members that come later */
    gex_TM_Split(&made.tm_, tm_, colour, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    made.owned_ = true;
    return made;
  }

  /* Collective: the members whose memory this rank may reach by load and store, itself included. */
  team split_local() const {
    gex_RankInfo_t *near;
    gex_System_QueryNbrhdInfo(&near, nullptr, nullptr);
    return split(static_cast<int>(near[0].gex_jobrank));
  }

  /* Collective: every member gets the root's value. */
  template <class T> T broadcast(T value, rank_t root) const {
    if constexpr (detail::travels<T>) {
      broadcast(&value, 1, root);
      return value;
    } else {
      return async_broadcast(std::move(value), root).wait();
    }
  }
  template <class T> void broadcast(T *values, size_t n, rank_t root) const {
    static_assert(detail::travels<T>, "broadcast: T must be trivially copyable");
    detail::await_event(gex_Coll_BroadcastNB(tm_, root, values, values, n * sizeof(T), 0));
  }

  /* Collective: values combined in the order of ranks by f(left, right), by default their sum. f is
   * called on any thread of the library and must not communicate. */
  template <class T, class F = std::plus<>, std::enable_if_t<!std::is_integral_v<F>, int> = 0>
  T all_reduce(T value, F f = {}) const {
    if constexpr (detail::travels<T>) {
      all_reduce(&value, 1, f);
      return value;
    } else {
      return async_all_reduce(std::move(value), std::move(f)).wait();
    }
  }
  template <class T, class F = std::plus<>> void all_reduce(T *values, size_t n, F f = {}) const {
    static_assert(detail::travels<T>, "all_reduce: T must be trivially copyable");
    constexpr gex_OP_t op = detail::operation<T, F>();
    constexpr bool own = op == GEX_OP_USER_NC;
    if (!n) return;
    detail::await_event(gex_Coll_ReduceToAllNB(
        tm_, values, values, own ? GEX_DT_USER : detail::data_type<T>(), sizeof(T), n, op,
        own ? &detail::combine<T, F> : nullptr, own ? &f : nullptr, 0));
  }

  /* Collective: element r is the value of member r. */
  template <class T> std::vector<detail::element<T>> all_gather(const T &value) const {
    if constexpr (detail::travels<T>) {
      std::vector<T> all(size());
      detail::await_event(gexx_Coll_AllGatherNB(tm_, all.data(), &value, sizeof(T), 0));
      return all;
    } else {
      return async_all_gather(value).wait();
    }
  }

  /* Collectives in progress, begun by all members in one order. A value is of a trivially copyable
   * type or a std::vector of such, with as many elements on every member; f as of all_reduce. In
   * broadcasts, reductions and gathers it may be of any type that travels by serial<T>. */

  /* Collective: the root's value. */
  template <class V> future<V> async_broadcast(V value, rank_t root) const {
    if constexpr (!detail::as_bytes<V>) {
      return detail::object_broadcast(*this, std::move(value), root);
    } else {
      return detail::begin<V>(std::move(value), detail::no_operator{}, [&](auto &c) {
        c.out() = c.in;
        return gex_Coll_BroadcastNB(tm_, root, c.to(), c.from(), c.bytes(), 0);
      });
    }
  }

  /* Collective: the values of all members combined. async_reduce: on the root; others get V(). */
  template <class V, class F = std::plus<>> future<V> async_all_reduce(V value, F f = {}) const {
    if constexpr (!detail::as_bytes<V>) {
      return detail::object_all_reduce(*this, std::move(value), std::move(f));
    } else {
      return reduced<V>(std::move(value), std::move(f), [tm = tm_](auto &c, auto r) {
        return gex_Coll_ReduceToAllNB(tm, c.to(), c.from(), r.type, sizeof(*c.from()), c.count(),
                                      r.op, r.function, r.data(c.f), 0);
      });
    }
  }
  template <class V, class F = std::plus<>>
  future<V> async_reduce(V value, rank_t root, F f = {}) const {
    if constexpr (!detail::as_bytes<V>) {
      return detail::object_reduce(*this, std::move(value), root, std::move(f));
    } else {
      const auto start = [tm = tm_, root](auto &c, auto r) {
        return gex_Coll_ReduceToOneNB(tm, root, c.to(), c.from(), r.type, sizeof(*c.from()),
                                      c.count(), r.op, r.function, r.data(c.f), 0);
      };
      return reduced<V>(std::move(value), std::move(f), start, rank() == root);
    }
  }
  template <class V, class F = std::plus<>> V reduce(V value, rank_t root, F f = {}) const {
    return async_reduce(std::move(value), root, std::move(f)).wait();
  }

  /* Collective: the values of the members before this one and its own combined;
   * async_exclusive_scan: without its own, the first member gets `first`. */
  template <class V, class F = std::plus<>> future<V> async_scan(V value, F f = {}) const {
    return reduced<V>(std::move(value), std::move(f), [tm = tm_](auto &c, auto r) {
      return gexx_Coll_ScanNB(tm, c.to(), c.from(), r.type, sizeof(*c.from()), c.count(), r.op,
                              r.function, r.data(c.f), 0);
    });
  }
  template <class V, class F = std::plus<>>
  future<V> async_exclusive_scan(V value, V first = {}, F f = {}) const {
    const bool none = rank() == 0;
    return reduced<V>(std::move(value), std::move(f), [&, tm = tm_](auto &c, auto r) {
      if (none) c.out() = std::move(first);
      return gexx_Coll_ExScanNB(tm, c.to(), c.from(), r.type, sizeof(*c.from()), c.count(), r.op,
                                r.function, r.data(c.f), 0);
    });
  }
  template <class V, class F = std::plus<>> V scan(V value, F f = {}) const {
    return async_scan(std::move(value), std::move(f)).wait();
  }
  template <class V, class F = std::plus<>>
  V exclusive_scan(V value, V first = {}, F f = {}) const {
    return async_exclusive_scan(std::move(value), std::move(first), std::move(f)).wait();
  }

  /* Collective: the elements of all members one after the other, on the root, or on all. */
  template <class V> auto async_gather(V value, rank_t root) const {
    using out = std::vector<detail::element<V>>;
    if constexpr (!detail::as_bytes<V>) {
      return detail::object_gather(*this, std::move(value), root);
    } else {
      return detail::begin<out>(std::move(value), detail::no_operator{}, [&](auto &c) {
        if (rank() == root) c.out().resize(c.count() * size());
        return gexx_Coll_GatherNB(tm_, root, c.to(), c.from(), c.bytes(), 0);
      });
    }
  }
  template <class V> auto gather(V value, rank_t root) const {
    return async_gather(std::move(value), root).wait();
  }
  template <class V> auto async_all_gather(V value) const {
    using out = std::vector<detail::element<V>>;
    if constexpr (!detail::as_bytes<V>) {
      return detail::object_all_gather(*this, std::move(value));
    } else {
      return detail::begin<out>(std::move(value), detail::no_operator{}, [&](auto &c) {
        c.out().resize(c.count() * size());
        return gexx_Coll_AllGatherNB(tm_, c.to(), c.from(), c.bytes(), 0);
      });
    }
  }

  /* Collective: block r of the root's vector for member r, n elements each. */
  template <class T>
  future<std::vector<T>> async_scatter(std::vector<T> all, size_t n, rank_t root) const {
    if (rank() == root && all.size() != n * size())
      throw error("scatter: a vector of " + std::to_string(all.size()) + " elements for " +
                  std::to_string(size()) + " members with " + std::to_string(n) +
                  " each; give the product");
    return detail::begin<std::vector<T>>(std::move(all), detail::no_operator{}, [&](auto &c) {
      c.out().resize(n);
      return gexx_Coll_ScatterNB(tm_, root, c.to(), c.from(), n * sizeof(T), 0);
    });
  }
  template <class T> std::vector<T> scatter(std::vector<T> all, size_t n, rank_t root) const {
    return async_scatter(std::move(all), n, root).wait();
  }

  /* Collective: block i of member j becomes block j of member i. */
  template <class T> future<std::vector<T>> async_all_to_all(std::vector<T> all) const {
    const size_t n = detail::block_of("all_to_all", all.size(), size());
    return detail::begin<std::vector<T>>(std::move(all), detail::no_operator{}, [&](auto &c) {
      c.out().resize(n * size());
      return gexx_Coll_ExchangeNB(tm_, c.to(), c.from(), n * sizeof(T), 0);
    });
  }
  template <class T> std::vector<T> all_to_all(std::vector<T> all) const {
    return async_all_to_all(std::move(all)).wait();
  }

  /* Collective: block r of the combined vectors for member r. */
  template <class T, class F = std::plus<>>
  future<std::vector<T>> async_reduce_scatter(std::vector<T> all, F f = {}) const {
    const size_t n = detail::block_of("reduce_scatter", all.size(), size());
    using r = detail::reduction<T, F>;
    return detail::begin<std::vector<T>>(std::move(all), std::move(f), [&](auto &c) {
      c.out().resize(n);
      if (!n) return GEX_EVENT_INVALID;
      return gexx_Coll_ReduceScatterNB(tm_, c.to(), c.from(), r::type, sizeof(T), n, r::op,
                                       r::function, r::data(c.f), 0);
    });
  }

  template <class T, class F = std::plus<>>
  std::vector<T> reduce_scatter(std::vector<T> all, F f = {}) const {
    return async_reduce_scatter(std::move(all), std::move(f)).wait();
  }

  /* Runs f(args...) on a member, inside a message handler: it must not wait or communicate. The
   * callable is one of the program, captures trivially copyable values only, and no references.
   * Arguments and result travel by serial<T>. The future throws remote_error if f has thrown. */
  template <class F, class... Args> auto call(rank_t member, F f, Args... args) const {
    return detail::call(tm_, member, std::move(f), std::move(args)...);
  }

private:
  /* A reduction or scan that start(core, reduction) begins; has_result: on this member. */
  template <class V, class F, class Start>
  static future<V> reduced(V value, F f, Start start, bool has_result = true) {
    using r = detail::reduction<detail::element<V>, F>;
    return detail::begin<V>(std::move(value), std::move(f), [&](auto &c) {
      if (has_result) c.out() = c.in;
      return c.count() ? start(c, r{}) : GEX_EVENT_INVALID;
    });
  }

  gex_TM_t tm_ = GEX_TM_INVALID;
  bool owned_ = false;
};

} // namespace tombolo

#endif
