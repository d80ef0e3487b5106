/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/coroutine.hpp: functions that return a future and wait by co_await (C++20).
 *
 * Called by compilers, for a coroutine whose result is a tombolo::future. Calls future.hpp.
 * Invariants: a coroutine runs at once until the first future that is not ready; from then on it
 * runs in progress() and the waits of the thread in which it was when it began to wait, whether its
 * future is kept or not; its frame ends with its last statement.
 */
#ifndef TOMBOLO_CXX_COROUTINE_HPP
#define TOMBOLO_CXX_COROUTINE_HPP

#include "future.hpp"

#ifdef __cpp_impl_coroutine

# include <coroutine>

namespace tombolo {
namespace detail {

/* Resumes a coroutine whose awaited future is ready. */
template <class Promise> struct resumption : task {
  std::coroutine_handle<Promise> frame;
  explicit resumption(std::coroutine_handle<Promise> h) : frame(h) {}
  void run(const core_ref &) override { frame.resume(); }
  void abandon() override {
    frame.promise().mine->fail(thread_ended());
    frame.destroy();
  }
};

/* Common part of the promises that compilers want. */
template <class... T> struct coroutine_base {
  std::shared_ptr<core<T...>> mine = std::make_shared<core<T...>>();

  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }
  void unhandled_exception() { mine->fail(std::current_exception()); }
  future<T...> get_return_object() { return future<T...>(mine); }
};
template <class... T> struct coroutine_promise : coroutine_base<T...> {
  template <class U> void return_value(U &&v) {
    this->mine->set(std::tuple<T...>(std::forward<U>(v)));
  }
};
template <> struct coroutine_promise<> : coroutine_base<> {
  void return_void() { mine->set({}); }
};
template <> struct coroutine_promise<void> : coroutine_promise<> {};

/* The wait for one future, which it holds. */
template <class... T> struct awaiter {
  future<T...> f;
  bool await_ready() const { return access::value(f) || access::core(f)->poll(); }
  template <class P> bool await_suspend(std::coroutine_handle<P> h) {
    return access::core(f)->attach(std::make_shared<resumption<P>>(h), worker::mine().mail());
  }
  typename future<T...>::result_type await_resume() { return std::move(f).wait(); }
};
template <> struct awaiter<void> : awaiter<> {};

} // namespace detail

/* `co_await f`: the result of f, or its exception. */
template <class... T> detail::awaiter<T...> operator co_await(future<T...> f) {
  return {std::move(f)};
}

} // namespace tombolo

template <class... T, class... Args> struct std::coroutine_traits<tombolo::future<T...>, Args...> {
  using promise_type = tombolo::detail::coroutine_promise<T...>;
};

#endif
#endif
