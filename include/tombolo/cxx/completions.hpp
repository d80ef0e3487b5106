/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/completions.hpp: the ends of a put or get, as arguments of rput, rget and rcopy.
 *
 * Called by clients. Calls future.hpp, promise.hpp, rpc.hpp and the put with signal of the C API.
 * A transfer has up to three ends: its source may be reused, it is done, and the data have arrived,
 * as their owner sees it. An argument names an end and who hears of it: a future that the call
 * returns, a promise, a function here, a function there, or a signal there. Invariants: what nobody
 * asks for costs nothing; a signal travels with the data of a put, and comes after them.
 */
#ifndef TOMBOLO_CXX_COMPLETIONS_HPP
#define TOMBOLO_CXX_COMPLETIONS_HPP

#include "memory.hpp"
#include "promise.hpp"
#include "rpc.hpp"

namespace tombolo {

/* The source of on_source: the call returns when it may be reused. */
struct blocking_t {};
constexpr blocking_t blocking{};

namespace detail {

struct completion {};
template <class C> constexpr bool is_completion = std::is_base_of_v<completion, C>;
template <class... C>
using if_completions = std::enable_if_t<sizeof...(C) != 0 && (is_completion<C> && ...), int>;

/* The receiver of a completion. give(end): a tuple of the future for the caller, or an empty one.
 */
struct to_caller {
  template <class... T> std::tuple<future<T...>> give(const future<T...> &end) { return {end}; }
};
struct to_nobody {
  template <class... T> std::tuple<> give(const future<T...> &) { return {}; }
};
template <class... P> struct to_promise {
  promise<P...> p;
  std::tuple<> give(const future<P...> &end) {
    if constexpr (sizeof...(P) == 0) {
      p.require();
      static_cast<void>(end.then([q = p] { q.fulfill(); }));
    } else {
      static_cast<void>(end.then([q = p](P... values) { q.set_value(std::move(values)...); }));
    }
    return {};
  }
};
template <class F> struct to_function {
  F f;
  template <class... T> std::tuple<> give(const future<T...> &end) {
    static_cast<void>(end.then(std::move(f)));
    return {};
  }
};
template <class F> struct to_thread {
  executor where;
  F f;
  template <class... T> std::tuple<> give(const future<T...> &end) {
    static_cast<void>(end.then([at = where, g = std::move(f)](T... values) mutable {
      at.post([h = std::move(g), all = std::tuple<T...>(std::move(values)...)]() mutable {
        std::apply(h, std::move(all));
      });
    }));
    return {};
  }
};

/* The ends. */
template <class Hears> struct done_end : completion {
  Hears hears;
  explicit done_end(Hears h) : hears(std::move(h)) {}
};
template <class Hears> struct source_end : completion {
  Hears hears;
  explicit source_end(Hears h) : hears(std::move(h)) {}
};
struct arrival_signal : completion {
  uint64_t offset, add; /* of the counter in the segment of each rank */
  arrival_signal(const signal_counter &s, uint64_t n) : offset(0), add(n) {
    const auto here = s.on(tombolo::rank());
    offset = reinterpret_cast<uintptr_t>(here.address()) - reinterpret_cast<uintptr_t>(self.mine);
  }
  uint64_t *on(rank_t where) const {
    return reinterpret_cast<uint64_t *>(self.base[where] + offset);
  }
};
template <class F, class... W> struct arrival_call : completion {
  F f;
  std::tuple<W...> args; /* as they travel */
  explicit arrival_call(F fn, W... a) : f(std::move(fn)), args(std::move(a)...) {}
};

/* Kinds of completion that the arguments of a transfer request. A remote call starts when the
 * transfer is complete. */
template <class C> struct kind_of {
  static constexpr bool done = false, source = false, signal = false;
};
template <class H> struct kind_of<done_end<H>> {
  static constexpr bool done = true, source = false, signal = false;
};
template <class H> struct kind_of<source_end<H>> {
  static constexpr bool done = false, source = !std::is_same_v<H, to_nobody>, signal = false;
};
template <> struct kind_of<arrival_signal> {
  static constexpr bool done = false, source = false, signal = true;
};
template <class F, class... W> struct kind_of<arrival_call<F, W...>> {
  static constexpr bool done = true, source = false, signal = false;
};
template <class C> constexpr bool is_done_end = false;
template <class H> constexpr bool is_done_end<done_end<H>> = true;
template <class... C> constexpr bool wants_done = (kind_of<C>::done || ...);
template <class... C> constexpr bool wants_source = (kind_of<C>::source || ...);
template <class... C> constexpr bool wants_signal = (kind_of<C>::signal || ...);

/* A transfer that has begun. */
template <class... T> struct begun {
  rank_t peer;
  future<T...> done;
  future<> source;
  bool signalled; /* the signal travels with the data */
};

template <class H, class... T> auto hear(begun<T...> &b, done_end<H> &c) {
  return c.hears.give(b.done);
}
template <class H, class... T> auto hear(begun<T...> &b, source_end<H> &c) {
  return c.hears.give(b.source);
}
template <class... T> std::tuple<> hear(begun<T...> &b, arrival_signal &c) {
  if (!b.signalled)
    static_cast<void>(b.done.then([peer = b.peer, c](const T &...) {
      gexx_RMA_PutSignalBlocking(self.world, peer, nullptr, nullptr, 0, GEX_EVENT_NOW, c.on(peer),
                                 GEXX_SIG_ADD, c.add, 0);
    }));
  return {};
}
template <class F, class... W, class... T>
std::tuple<> hear(begun<T...> &b, arrival_call<F, W...> &c) {
  static_cast<void>(
      b.done.then([peer = b.peer, f = std::move(c.f), args = std::move(c.args)](const T &...) {
        std::apply([&](const W &...w) { rpc_ff(peer, f, w...); }, args);
      }));
  return {};
}

/* Passes the completions to their receivers; returns the futures that were asked for: none, one, or
 * a tuple in the order of the arguments. */
template <class... T, class... C> auto hand_out(begun<T...> b, C &...c) {
  auto all = std::tuple_cat(hear(b, c)...);
  if constexpr (!wants_done<C...>) { /* it ends in progress() */
    const auto &core = access::core(b.done);
    if (core) worker::mine().watch(core);
  }
  if constexpr (std::tuple_size_v<decltype(all)> == 1) return std::get<0>(std::move(all));
  if constexpr (std::tuple_size_v < decltype(all) >> 1) return all;
}

inline const arrival_signal *signal_of() {
  return nullptr;
}
template <class C, class... More> const arrival_signal *signal_of(const C &c, const More &...more) {
  if constexpr (std::is_same_v<C, arrival_signal>) return &c;
  return signal_of(more...);
}

/* Begins a put; the source may be reused on return unless an end of it, or the end of all, is
 * asked for. now: in any case. */
template <class T, class... C>
begun<> begin_put(global_ptr<T> to, const T *from, size_t n, bool now, const C &...c) {
  static_assert((int(kind_of<C>::signal) + ... + 0) < 2, "rput: one signal at most");
  constexpr bool held = ((is_done_end<C> || ...) ||
                         wants_source<C...>)&&!(std::is_same_v<C, source_end<to_nobody>> || ...);
  gex_Event_t source = GEX_EVENT_INVALID, done = GEX_EVENT_INVALID;
  gex_Event_t *const lc = now || !held         ? GEX_EVENT_NOW
                          : wants_source<C...> ? &source
                                               : GEX_EVENT_DEFER;
  const size_t bytes = n * sizeof(T);
  const arrival_signal *const s = signal_of(c...);
  if (!s)
    done = gex_RMA_PutNB(self.world, to.where(), to.address(), from, bytes, lc, 0);
  else if (wants_done<C...> || wants_source<C...>)
    done = gexx_RMA_PutSignalNB(self.world, to.where(), to.address(), from, bytes, lc,
                                s->on(to.where()), GEXX_SIG_ADD, s->add, 0);
  else
    gexx_RMA_PutSignalBlocking(self.world, to.where(), to.address(), from, bytes, GEX_EVENT_NOW,
                               s->on(to.where()), GEXX_SIG_ADD, s->add, 0);
  return {to.where(), of_event(done), of_event(source), s != nullptr};
}

} // namespace detail

/* The end of a transfer, for a future, a promise, a function, or a function in another thread. Of a
 * get of a value all of them get the value. */
inline auto on_done() {
  return detail::done_end(detail::to_caller{});
}
template <class... T> auto on_done(promise<T...> p) {
  return detail::done_end(detail::to_promise<T...>{std::move(p)});
}
template <class F> auto on_done(F f) {
  return detail::done_end(detail::to_function<F>{std::move(f)});
}
template <class F> auto on_done(executor thread, F f) {
  return detail::done_end(detail::to_thread<F>{std::move(thread), std::move(f)});
}

/* The end of the use of a put's source, for the same, or `blocking`. */
inline auto on_source() {
  return detail::source_end(detail::to_caller{});
}
inline auto on_source(blocking_t) {
  return detail::source_end(detail::to_nobody{});
}
inline auto on_source(promise<> p) {
  return detail::source_end(detail::to_promise<>{std::move(p)});
}
template <class F> auto on_source(F f) {
  return detail::source_end(detail::to_function<F>{std::move(f)});
}
template <class F> auto on_source(executor thread, F f) {
  return detail::source_end(detail::to_thread<F>{std::move(thread), std::move(f)});
}

/* The arrival of the data at their owner: adds to its counter, or runs f(args...) there as rpc_ff
 * does. Elements of elements<> stay unchanged until the transfer is done. */
inline auto on_arrival(const signal_counter &s, uint64_t add = 1) {
  return detail::arrival_signal(s, add);
}
template <class F, class... Args, class = detail::answer_of<F, detail::wire_of<Args>...>>
auto on_arrival(F f, const Args &...args) {
  return detail::arrival_call<F, detail::wire_of<Args>...>(std::move(f), args...);
}

/* Puts of one element, of n, and of a container, that tell of these ends. Without on_done and
 * on_source the source may be reused on return. */
template <class T, class... C, detail::if_completions<C...> = 0>
auto rput(global_ptr<T> to, const T &value, C... ends) {
  return detail::hand_out(detail::begin_put(to, &value, 1, true, ends...), ends...);
}
template <class T, class... C, detail::if_completions<C...> = 0>
auto rput(global_ptr<T> to, const T *from, size_t n, C... ends) {
  return detail::hand_out(detail::begin_put(to, from, n, false, ends...), ends...);
}

/* Gets of one element and of n that tell of these ends; of one element, futures, promises and
 * functions of on_done get the value. on_arrival reaches the owner once the data are here. */
template <class T, class... C, detail::if_completions<C...> = 0>
auto rget(global_ptr<T> from, C... ends) {
  static_assert(!detail::wants_source<C...>, "rget: a get has no source to reuse");
  using value_type = std::remove_const_t<T>;
  return detail::hand_out(detail::begun<value_type>{from.where(), rget(from), {}, false}, ends...);
}
template <class T, class... C, detail::if_completions<C...> = 0>
auto rget(global_ptr<T> from, std::remove_const_t<T> *to, size_t n, C... ends) {
  static_assert(!detail::wants_source<C...>, "rget: a get has no source to reuse");
  return detail::hand_out(detail::begun<>{from.where(), rget(from, to, n), {}, false}, ends...);
}

/* Copies of views that tell of these ends. A put's source may be reused when it is done. */
template <class T, size_t N, class... C, detail::if_completions<C...> = 0>
auto rcopy(const view<T *, N> &from, const view<global_ptr<T>, N> &to, C... ends) {
  future<> done = rcopy(from, to);
  return detail::hand_out(detail::begun<>{to.base.where(), done, done, false}, ends...);
}
template <class T, size_t N, class... C, detail::if_completions<C...> = 0>
auto rcopy(const view<global_ptr<T>, N> &from, const view<T *, N> &to, C... ends) {
  static_assert(!detail::wants_source<C...>, "rcopy: a get has no source to reuse");
  return detail::hand_out(detail::begun<>{from.base.where(), rcopy(from, to), {}, false}, ends...);
}

} // namespace tombolo

#endif
