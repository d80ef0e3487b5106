/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/coroutine.hpp: functions that return a future and wait by co_await (C++20).
 *
 * Called by compilers, for a coroutine whose result is a tombolo::future. Calls future.hpp.
 * Invariants: a coroutine runs at once until the first future that is not ready; from then on it
 * runs in the thread that tests, or waits for, its own future; the frame lives as long as that.
 */
#ifndef TOMBOLO_CXX_COROUTINE_HPP
#define TOMBOLO_CXX_COROUTINE_HPP

#include "future.hpp"

#ifdef __cpp_impl_coroutine

# include <coroutine>

namespace tombolo {
namespace detail {

/* Common part of all promises: the test of the awaited future, and the exception. */
struct promise_base {
  bool (*ready)(void *) = nullptr;
  void *awaited = nullptr;
  std::exception_ptr thrown;

  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  void unhandled_exception() { thrown = std::current_exception(); }
};

template <class T> struct promise_value : promise_base {
  std::optional<T> value;
  template <class U> void return_value(U &&v) { value.emplace(std::forward<U>(v)); }
};
template <> struct promise_value<void> : promise_base {
  void return_void() {}
};

template <class T> struct promise : promise_value<T> {
  using handle = std::coroutine_handle<promise>;

  /* The coroutine's own future drives it. */
  struct frame_state : state<T> {
    handle frame;
    explicit frame_state(handle h) : frame(h) {}
    ~frame_state() override { frame.destroy(); }
    bool test() override {
      while (!frame.done()) {
        promise &p = frame.promise();
        if (p.ready && !p.ready(p.awaited)) return false;
        p.ready = nullptr;
        frame.resume();
      }
      return true;
    }
    T take() override {
      if (frame.promise().thrown) std::rethrow_exception(frame.promise().thrown);
      if constexpr (!std::is_void_v<T>) return *frame.promise().value;
    }
  };

  future<T> get_return_object() {
    auto s = std::make_unique<frame_state>(handle::from_promise(*this));
    return future<T>(std::unique_ptr<state<T>>(std::move(s)));
  }
};

/* The wait for one future, which it holds. */
template <class T> struct awaiter {
  future<T> f;
  bool await_ready() { return is_ready(&f); }
  template <class P> void await_suspend(std::coroutine_handle<P> h) {
    h.promise().awaited = &f;
    h.promise().ready = is_ready;
  }
  T await_resume() { return f.wait(); }
  static bool is_ready(void *p) { return static_cast<future<T> *>(p)->test(); }
};

} // namespace detail

/* `co_await f`: the result of f, or its exception; f is used up. */
template <class T> detail::awaiter<T> operator co_await(future<T> &&f) {
  return {std::move(f)};
}
template <class T> detail::awaiter<T> operator co_await(future<T> &f) {
  return {std::move(f)};
}

} // namespace tombolo

template <class T, class... Args> struct std::coroutine_traits<tombolo::future<T>, Args...> {
  using promise_type = tombolo::detail::promise<T>;
};

#endif
#endif
