/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/future.hpp: results of operations in progress, and their continuations.
 *
 * Called by clients, and by those parts of tombolo.hpp that start operations. Calls event functions
 * of the C API. Invariants: a future that is ready at its start has no state and no memory; a state
 * is tested by one thread at a time; a continuation runs once.
 */
#ifndef TOMBOLO_CXX_FUTURE_HPP
#define TOMBOLO_CXX_FUTURE_HPP

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base.hpp"

namespace tombolo {

namespace detail {

/* State of a future that is not ready. */
template <class T> struct state {
  state() = default;
  state(const state &) = delete;
  state &operator=(const state &) = delete;
  virtual ~state() = default;
  virtual bool test() = 0; /* never blocks, never polls */
  virtual T take() = 0;    /* after test() was true, any number of times */
};

template <class T> void await(state<T> &s) {
  struct gexx_wait step;
  gexx_wait_begin(&step);
  while (!s.test()) gexx_wait_step(&step);
}

/* An operation of the library, and the place of its result. */
template <class T> struct event_state : state<T> {
  gex_Event_t event = GEX_EVENT_INVALID;
  T value{};
  ~event_state() override { gex_Event_Wait(event); }
  bool test() override {
    if (event != GEX_EVENT_INVALID && gex_Event_Test(event) == GASNET_OK) event = GEX_EVENT_INVALID;
    return event == GEX_EVENT_INVALID;
  }
  T take() override { return value; }
};

template <> struct event_state<void> : state<void> {
  gex_Event_t event;
  explicit event_state(gex_Event_t e) : event(e) {}
  ~event_state() override { gex_Event_Wait(event); }
  bool test() override {
    if (event != GEX_EVENT_INVALID && gex_Event_Test(event) == GASNET_OK) event = GEX_EVENT_INVALID;
    return event == GEX_EVENT_INVALID;
  }
  void take() override {}
};

struct unit {};
template <class T> using stored = std::conditional_t<std::is_void_v<T>, unit, T>;
template <class T, class F, class R> struct then_state;

} // namespace detail

/* The result of an operation in progress. It is tested and waited for by one thread at a time. A
 * future that is destroyed waits for its put or get; the result of its call is dropped. */
template <class T> class [[nodiscard]] future {
public:
  /* A future that is ready. */
  template <class U = T, std::enable_if_t<std::is_void_v<U>, int> = 0> future() {}
  template <class U = T, std::enable_if_t<!std::is_void_v<U>, int> = 0>
  explicit future(U value) : value_(std::move(value)) {}
  explicit future(std::unique_ptr<detail::state<T>> s) : state_(std::move(s)) {}

  /* Whether the result is there. Never polls. */
  bool test() { return !state_ || state_->test(); }

  /* Whether the result is there. Polls once when not. */
  bool ready() {
    if (test()) return true;
    progress();
    return test();
  }

  /* Waits, driving progress, and returns the result; throws the exception of the operation. */
  T wait() {
    if (state_) {
      detail::await(*state_);
      return state_->take();
    }
    if constexpr (!std::is_void_v<T>) return *value_;
  }

  /* The future of f(result): f runs at once if this future is ready, otherwise in the thread that
   * waits for, or tests, the new future. This future is used up. */
  template <class F> auto then(F f) {
    if constexpr (std::is_void_v<T>)
      return chain<std::invoke_result_t<F &>>(std::move(f));
    else
      return chain<std::invoke_result_t<F &, T>>(std::move(f));
  }

private:
  template <class R, class F> future<R> chain(F f) {
    auto next = std::make_unique<detail::then_state<T, F, R>>(std::move(*this), std::move(f));
    next->test();
    return future<R>(std::unique_ptr<detail::state<R>>(std::move(next)));
  }

  std::optional<detail::stored<T>> value_;
  std::unique_ptr<detail::state<T>> state_;
};

namespace detail {

template <class T, class F, class R> struct then_state : state<R> {
  future<T> before;
  F f;
  bool done = false;
  std::optional<stored<R>> value;
  std::exception_ptr thrown;

  then_state(future<T> &&p, F &&fn) : before(std::move(p)), f(std::move(fn)) {}
  bool test() override {
    if (done) return true;
    if (!before.test()) return false;
    done = true;
    try {
      run();
    } catch (...) {
      thrown = std::current_exception();
    }
    return true;
  }
  R take() override {
    if (thrown) std::rethrow_exception(thrown);
    if constexpr (!std::is_void_v<R>) return *value;
  }

private:
  decltype(auto) call() {
    if constexpr (std::is_void_v<T>) {
      before.wait();
      return f();
    } else {
      return f(before.wait());
    }
  }
  void run() {
    if constexpr (std::is_void_v<R>)
      call();
    else
      value.emplace(call());
  }
};

inline future<void> of_event(gex_Event_t event) {
  if (event == GEX_EVENT_INVALID) return {};
  return future<void>(std::unique_ptr<state<void>>(std::make_unique<event_state<void>>(event)));
}

} // namespace detail

/* Waits for all of them. */
template <class T> void wait_all(std::vector<future<T>> &futures) {
  for (auto &f : futures) f.wait();
}

} // namespace tombolo

#endif
