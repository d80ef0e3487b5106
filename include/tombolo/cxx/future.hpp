/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/future.hpp: results of operations in progress, and their continuations.
 *
 * Called by clients, and by those parts of tombolo.hpp that start operations. Calls executor.hpp
 * and event functions of the C API. Invariants: a future that is ready at its start has no core and
 * no memory; a core gets its result once; a continuation runs once, in the thread that has attached
 * it; no chain of futures is followed by recursion, however long it is.
 */
#ifndef TOMBOLO_CXX_FUTURE_HPP
#define TOMBOLO_CXX_FUTURE_HPP

#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "executor.hpp"

namespace tombolo {

template <class... T> class future;

namespace detail {

/* An operation whose core polls an object of another part of the library. */
template <class T> struct state {
  state() = default;
  state(const state &) = delete;
  state &operator=(const state &) = delete;
  virtual ~state() = default;
  virtual bool test() = 0; /* never blocks, never polls */
  virtual T take() = 0;    /* after test() was true, once */
};

/* Result of a future of these values: nothing, the value, or a tuple. */
template <class... T> struct result_of { using type = std::tuple<T...>; };
template <class T> struct result_of<T> { using type = T; };
template <> struct result_of<> { using type = void; };

/* Core with a place for the values. */
template <class... T> class core : public core_base {
public:
  std::optional<std::tuple<T...>> value;
  std::exception_ptr thrown;

  void set(std::tuple<T...> &&v) {
    value.emplace(std::move(v));
    complete();
  }
  void fail(std::exception_ptr e) {
    thrown = std::move(e);
    complete();
  }
};

/* Core that somebody has to poll: one thread at a time does, others see that it is not done. */
template <class... T> class polled_core : public core<T...> {
public:
  bool pollable() const override { return true; }
  bool poll() override {
    if (!this->done()) alone([] {});
    return this->done();
  }

protected:
  virtual bool look() = 0; /* whether it has ended; then value or thrown is there */
  /* Calls wait() while no other thread looks, and looks then. Returns whether it did. */
  template <class Wait> bool alone(Wait wait) {
    if (busy_.test_and_set(std::memory_order_acquire)) return false;
    if (!this->done()) wait();
    if (!this->done() && look()) this->complete();
    busy_.clear(std::memory_order_release);
    return true;
  }

private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

/* An operation of the library; it ends before its core does, since it uses the client's memory. */
template <class... T> class event_core : public polled_core<T...> {
public:
  gex_Event_t event;
  explicit event_core(gex_Event_t e = GEX_EVENT_INVALID) : event(e) { this->value.emplace(); }
  ~event_core() override { end(); }
  bool block(int (*until)(void *)) override {
    return this->alone([&] {
      if (gexx_Event_WaitUntil(event, until, nullptr, UINT64_MAX) == GASNET_OK)
        event = GEX_EVENT_INVALID;
    });
  }

protected:
  /* Waits for the operation; called also by derived classes, before their members end. */
  void end() {
    if (event != GEX_EVENT_INVALID && !self.ended) gex_Event_Wait(event);
    event = GEX_EVENT_INVALID;
  }
  bool look() override {
    if (event != GEX_EVENT_INVALID && gex_Event_Test(event) == GASNET_OK) event = GEX_EVENT_INVALID;
    return event == GEX_EVENT_INVALID;
  }
};

/* A core that polls a state<R>. */
template <class R, class... T> class state_core : public polled_core<T...> {
public:
  explicit state_core(std::unique_ptr<state<R>> s) : state_(std::move(s)) {}

protected:
  bool look() override {
    if (!state_->test()) return false;
    try {
      if constexpr (std::is_void_v<R>) {
        state_->take();
        this->value.emplace();
      } else {
        this->value.emplace(state_->take());
      }
    } catch (...) {
      this->thrown = std::current_exception();
    }
    state_.reset();
    return true;
  }

private:
  std::unique_ptr<state<R>> state_;
};

/* Time that passes, and a std::chrono::duration, in microseconds; <chrono> itself takes long to
 * compile. */
inline double clock_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}
template <class Duration> double in_us(const Duration &d) {
  using period = typename Duration::period;
  return static_cast<double>(d.count()) * 1e6 * static_cast<double>(period::num) /
         static_cast<double>(period::den);
}

/* The future that a continuation's result gives: that of a future is the future itself. */
template <class R> struct flat { using future_type = future<std::decay_t<R>>; };
template <> struct flat<void> { using future_type = future<>; };
template <class... T> struct flat<future<T...>> { using future_type = future<T...>; };
template <> struct flat<future<void>> : flat<future<>> {};
template <class F, class... T>
using next_of = typename flat<std::invoke_result_t<F &, T...>>::future_type;

/* The values, moved where that is allowed or the only way. */
template <class... T> std::tuple<T...> pick(std::tuple<T...> &from, bool last) {
  if constexpr ((std::is_copy_constructible_v<T> && ...)) {
    if (!last) return from;
  }
  (void)last;
  return std::move(from);
}
template <class... T> typename result_of<T...>::type result(std::tuple<T...> &&all) {
  if constexpr (sizeof...(T) == 1) return std::get<0>(std::move(all));
  if constexpr (sizeof...(T) > 1) return std::move(all);
}

template <class F, class... T> next_of<F, T...> chain(const future<T...> &before, F f, bool last);

/* The shared state of a future. */
struct access {
  template <class... T> static auto &value(const future<T...> &f) { return f.value_; }
  template <class... T> static auto &core(const future<T...> &f) { return f.core_; }
  template <class... T> static std::tuple<T...> take(const future<T...> &f, bool last) {
    return f.take(last);
  }
};

} // namespace detail

/* The results of an operation in progress; future<> has none. A copy is the same operation. A
 * future that nobody waits for any more, and that nothing continues, waits for its put or get when
 * it is destroyed. One thread at a time uses a future; its copies may be used by others. */
template <class... T> class [[nodiscard]] future {
public:
  /* Waited for, it gives this. */
  using result_type = typename detail::result_of<T...>::type;
  using values = std::tuple<T...>;
  using core_type = detail::core<T...>;

  /* A future that is ready if it has no values; otherwise no operation: wait() throws. */
  future() {
    if constexpr (sizeof...(T) == 0) value_.emplace();
  }
  /* A future that is ready with these values. */
  template <class... U, std::enable_if_t<sizeof...(U) == sizeof...(T) && sizeof...(U) != 0 &&
                                             (std::is_convertible_v<U, T> && ...),
                                         int> = 0>
  explicit future(U &&...v) : value_(std::in_place, std::forward<U>(v)...) {}
  explicit future(std::shared_ptr<core_type> c) : core_(std::move(c)) {}
  template <class R>
  explicit future(std::unique_ptr<detail::state<R>> s)
      : core_(std::make_shared<detail::state_core<R, T...>>(std::move(s))) {}

  /* Whether the result is there. Never polls the network. */
  bool test() const {
    if (value_ || core().poll()) return true;
    detail::worker::mine().run();
    return core().poll();
  }

  /* Whether the result is there. Polls once when not. */
  bool ready() const {
    if (value_ || core().poll()) return true;
    progress();
    return core().poll();
  }

  /* Waits, driving progress, and returns the result; throws the exception of the operation. */
  result_type wait() const & {
    if (!value_) detail::await(core());
    return detail::result<T...>(take(false));
  }
  result_type wait() && {
    if (!value_) detail::await(core());
    return detail::result<T...>(take(true));
  }

  /* Waits for a time at most; returns whether the result is there. */
  template <class Duration> bool wait_for(const Duration &time) const {
    const double end = detail::clock_us() + detail::in_us(time);
    return wait_while([end] { return end - detail::clock_us(); });
  }
  /* Waits up to a time of any clock of std::chrono; returns whether the result is there. */
  template <class Time> bool wait_until(const Time &end) const {
    return wait_while([&end] { return detail::in_us(end - Time::clock::now()); });
  }

  /* The future of f(values...), or the future that f returns. f runs at once if this future is
   * ready, otherwise in progress() or a wait of this thread, also when nobody keeps the new future.
   * After an exception f does not run, and the new future throws that. */
  template <class F> auto then(F f) const & { return detail::chain(*this, std::move(f), false); }
  template <class F> auto then(F f) && { return detail::chain(*this, std::move(f), true); }

private:
  friend struct detail::access;

  core_type &core() const {
    if (!core_) throw error("future: it has no operation; assign one before it is used");
    return *core_;
  }

  /* Polls while left() gives more than 0 microseconds; returns whether the result is there. */
  template <class Left> bool wait_while(Left left) const {
    while (!ready()) {
      const double us = left();
      if (us <= 0) return false;
      gexx_Poll(us < 1000 ? static_cast<uint64_t>(us) : 1000);
    }
    return true;
  }

  /* The values when the result is there; throws instead. */
  values take(bool last) const {
    if (value_) return detail::pick(*value_, last);
    if (core().thrown) std::rethrow_exception(core_->thrown);
    return detail::pick(*core_->value, last && core_.use_count() == 1);
  }

  mutable std::optional<values> value_;
  std::shared_ptr<core_type> core_;
};

/* An alias of future<>. */
template <> class [[nodiscard]] future<void> : public future<> {
public:
  future() = default;
  using future<>::future;
  future(const future<> &f) : future<>(f) {}
  future(future<> &&f) : future<>(std::move(f)) {}
};

/* A future that is ready with these values. */
template <class... T> future<std::decay_t<T>...> make_future(T &&...values) {
  return future<std::decay_t<T>...>(std::forward<T>(values)...);
}

/* A future that throws e. */
template <class... T> future<T...> make_failed(std::exception_ptr e) {
  auto c = std::make_shared<detail::core<T...>>();
  c->fail(std::move(e));
  return future<T...>(std::move(c));
}

namespace detail {

/* f(values...) as the future of its result. */
template <class F, class... T> next_of<F, T...> call_now(F &f, std::tuple<T...> &&values) {
  if constexpr (std::is_void_v<std::invoke_result_t<F &, T...>>) {
    std::apply(f, std::move(values));
    return {};
  } else {
    return next_of<F, T...>(std::apply(f, std::move(values)));
  }
}

/* A continuation, which is the core of the new future, too. It waits for the old future, then, if f
 * returns a future that is not ready, for that. */
template <class F, class... T> class then_task : public next_of<F, T...>::core_type, public task {
  using made = next_of<F, T...>;
  using made_core = typename made::core_type;

public:
  explicit then_task(F &&f) : f_(std::move(f)) {}

  void run(const core_ref &from) override {
    if (!f_) return follow(static_cast<made_core &>(*from), from.use_count() == 1);
    auto &before = static_cast<core<T...> &>(*from);
    if (before.thrown) return this->fail(before.thrown);
    made next;
    try {
      next = call_now(*f_, pick(*before.value, from.use_count() == 1));
    } catch (...) {
      return this->fail(std::current_exception());
    }
    f_.reset();
    if (access::value(next)) return this->set(std::move(*access::value(next)));
    const std::shared_ptr<made_core> after = access::core(next);
    auto me = std::static_pointer_cast<then_task>(this->shared_from_this());
    if (!after->attach(std::move(me), worker::mine().mail())) follow(*after, false);
  }
  void abandon() override { this->fail(thread_ended()); }

private:
  void follow(made_core &after, bool last) {
    if (after.thrown) return this->fail(after.thrown);
    this->set(pick(*after.value, last));
  }
  std::optional<F> f_;
};

template <class F, class... T> next_of<F, T...> chain(const future<T...> &before, F f, bool last) {
  using made = next_of<F, T...>;
  const auto &c = access::core(before);
  if (!c || c->poll()) {
    try {
      return call_now(f, access::take(before, last));
    } catch (...) {
      auto failed = std::make_shared<typename made::core_type>();
      failed->fail(std::current_exception());
      return made(std::move(failed));
    }
  }
  auto next = std::make_shared<then_task<F, T...>>(std::move(f));
  if (!c->attach(next, worker::mine().mail())) next->run(c);
  return made(std::shared_ptr<typename made::core_type>(std::move(next)));
}

inline future<> of_event(gex_Event_t event) {
  if (event == GEX_EVENT_INVALID) return {};
  return future<>(std::make_shared<event_core<>>(event));
}

} // namespace detail

/* Waits for all of them. */
template <class... T> void wait_all(const std::vector<future<T...>> &futures) {
  for (const auto &f : futures) static_cast<void>(f.wait());
}

} // namespace tombolo

#endif
