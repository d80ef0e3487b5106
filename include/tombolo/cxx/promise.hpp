/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/promise.hpp: futures that the program fulfils, joins of futures, and executors.
 *
 * Called by clients, and by completions.hpp. Calls future.hpp. Invariants: a promise begins with
 * one missing part, the last part makes its future ready; a join is one core however many futures
 * it has, and is ready after all of them, also when one has failed.
 */
#ifndef TOMBOLO_CXX_PROMISE_HPP
#define TOMBOLO_CXX_PROMISE_HPP

#include <string>

#include "future.hpp"

namespace tombolo {

/* A result that the program gives. It counts what is missing, at first one; the future is ready
 * when nothing is. A copy is the same promise. Threads: any; the values are given by one of them.
 */
template <class... T> class promise {
public:
  promise() : core_(std::make_shared<counted>()) {}

  /* n more parts are missing. Throws error if the future is ready. */
  void require(ptrdiff_t n = 1) const {
    if (core_->missing.fetch_add(n, std::memory_order_relaxed) > 0) return;
    throw error("promise: require(" + std::to_string(n) + ") comes after its future is ready; " +
                "call it before the last fulfill()");
  }
  /* n parts are there. Throws error if fewer are missing. */
  void fulfill(ptrdiff_t n = 1) const {
    const ptrdiff_t left = core_->missing.fetch_sub(n, std::memory_order_acq_rel) - n;
    if (left < 0)
      throw error("promise: fulfill(" + std::to_string(n) + ") is more than the " +
                  std::to_string(left + n) + " that are missing; call require() before");
    if (left) return;
    if constexpr (sizeof...(T) == 0) core_->value.emplace();
    if (!core_->value && !core_->thrown)
      core_->thrown = std::make_exception_ptr(
          error("promise: it is fulfilled without values; call set_value() before"));
    core_->complete();
  }
  /* Gives the values; one part is there. */
  void set_value(T... values) const {
    core_->value.emplace(std::move(values)...);
    fulfill();
  }
  /* The future throws e; one part is there. */
  void set_exception(const std::exception_ptr &e) const {
    core_->thrown = e;
    fulfill();
  }
  /* Gives the part that is missing at first, and returns the future. Once. */
  future<T...> finish() const {
    fulfill();
    return get_future();
  }
  /* The future; any number of times. */
  future<T...> get_future() const { return future<T...>(core_); }

private:
  struct counted : detail::core<T...> {
    std::atomic<ptrdiff_t> missing{1};
  };
  std::shared_ptr<counted> core_;
};

namespace detail {

/* The values of future F, as a tuple type and as the type of a future. */
template <class F> struct values_of { using type = std::tuple<F>; /* a value beside futures */ };
template <class... T> struct values_of<future<T...>> { using type = std::tuple<T...>; };
template <> struct values_of<future<void>> : values_of<future<>> {};
template <class Tuple> struct future_of;
template <class... T> struct future_of<std::tuple<T...>> { using type = future<T...>; };
template <class... F>
using joined = typename future_of<decltype(std::tuple_cat(
    std::declval<typename values_of<F>::type>()...))>::type;

template <class T> future<T> as_future(T value) {
  return future<T>(std::move(value));
}
template <class... T> future<T...> as_future(future<T...> f) {
  return f;
}
inline future<> as_future(future<void> f) {
  return f;
}

/* A join: waits for one future after the other. */
template <class Made, class... F> class join_task : public Made::core_type, public task {
public:
  explicit join_task(F... all) : all_(std::move(all)...) {}
  /* Goes to the first future that is not ready; without one it is complete. */
  void run(const core_ref &) override {
    if (!waits(std::index_sequence_for<F...>())) finish();
  }
  /* Has all of them polled by this thread. */
  void begin() {
    std::apply([](const auto &...f) { (watch(f), ...); }, all_);
    run(nullptr);
  }
  void abandon() override { this->fail(thread_ended()); }

private:
  template <class... T> static void watch(const future<T...> &f) {
    const auto &c = access::core(f);
    if (c && !c->poll() && c->pollable()) worker::mine().watch(c);
  }
  template <class... T> bool wait_for(const future<T...> &f) {
    const auto &c = access::core(f);
    if (!c || c->done()) return false;
    return c->attach(std::static_pointer_cast<join_task>(this->shared_from_this()),
                     worker::mine().mail());
  }
  template <size_t... I> bool waits(std::index_sequence<I...>) {
    return (wait_for(std::get<I>(all_)) || ...);
  }
  void finish() {
    try {
      this->value.emplace(
          std::apply([](auto &...f) { return std::tuple_cat(access::take(f, true)...); }, all_));
    } catch (...) {
      this->thrown = std::current_exception();
    }
    all_ = std::tuple<F...>();
    this->complete();
  }
  std::tuple<F...> all_;
};

/* The future of all values of a list of futures: one value each, or a tuple each. */
template <class... T> struct joined_list {
  using type = future<std::vector<typename result_of<T...>::type>>;
};
template <> struct joined_list<> { using type = future<>; };

/* A join of any number of futures of the same values. */
template <class... T> class join_list : public joined_list<T...>::type::core_type, public task {
public:
  explicit join_list(std::vector<future<T...>> all) : all_(std::move(all)) {}
  void run(const core_ref &) override {
    for (; at_ < all_.size(); at_++) {
      const auto &c = access::core(all_[at_]);
      if (c && !c->poll() &&
          c->attach(std::static_pointer_cast<join_list>(this->shared_from_this()),
                    worker::mine().mail()))
        return;
    }
    finish();
  }
  void abandon() override { this->fail(thread_ended()); }

private:
  void finish() {
    try {
      if constexpr (sizeof...(T) == 0) {
        for (auto &f : all_) access::take(f, true);
        this->value.emplace();
      } else {
        std::vector<typename result_of<T...>::type> values;
        values.reserve(all_.size());
        for (auto &f : all_) values.push_back(result<T...>(access::take(f, true)));
        this->value.emplace(std::move(values));
      }
    } catch (...) {
      this->thrown = std::current_exception();
    }
    all_.clear();
    this->complete();
  }
  std::vector<future<T...>> all_;
  size_t at_ = 0;
};

template <class... F> joined<F...> join(F... all) {
  using made = joined<F...>;
  if ((all.test() && ...)) {
    try {
      return std::apply([](auto &&...v) { return made(std::forward<decltype(v)>(v)...); },
                        std::tuple_cat(access::take(all, true)...));
    } catch (...) {
      auto failed = std::make_shared<typename made::core_type>();
      failed->fail(std::current_exception());
      return made(std::move(failed));
    }
  }
  auto c = std::make_shared<join_task<made, F...>>(std::move(all)...);
  c->begin();
  return made(std::shared_ptr<typename made::core_type>(std::move(c)));
}

} // namespace detail

/* The future of the values of all arguments in their order; an argument that is no future is a
 * value. It is ready after all of them, and throws the first exception in that order. */
template <class... F> detail::joined<F...> when_all(F... all) {
  return detail::join(detail::as_future(std::move(all))...);
}

/* The future of the vector of their values, a tuple for each that has several; that of futures
 * without values has none. It is ready after all of them, and throws the first exception in their
 * order. */
template <class... T>
typename detail::joined_list<T...>::type when_all(std::vector<future<T...>> all) {
  using made = typename detail::joined_list<T...>::type;
  auto c = std::make_shared<detail::join_list<T...>>(std::move(all));
  c->run(nullptr);
  return made(std::shared_ptr<typename made::core_type>(std::move(c)));
}
inline future<> when_all(const std::vector<future<void>> &all) {
  return when_all(std::vector<future<>>(all.begin(), all.end()));
}

/* The queue of a thread, for other threads. A copy is the same queue. Functions run in progress()
 * and the waits of that thread. */
class executor {
public:
  /* Adds f to the queue. Any thread. Throws error if that thread has ended. */
  template <class F> void post(F f) const {
    add({std::make_shared<detail::posted<F>>(std::move(f)), nullptr});
  }

  /* As post, and returns the future of f's result, or the future that f returns. */
  template <class F> detail::next_of<F> submit(F f) const {
    auto start = std::make_shared<detail::core<>>();
    start->set({});
    auto t = std::make_shared<detail::then_task<F>>(std::move(f));
    add({t, std::move(start)});
    return detail::next_of<F>(
        std::shared_ptr<typename detail::next_of<F>::core_type>(std::move(t)));
  }

  bool operator==(const executor &o) const { return mail_ == o.mail_; }
  bool operator!=(const executor &o) const { return mail_ != o.mail_; }

private:
  friend executor this_executor();
  explicit executor(std::shared_ptr<detail::mailbox> m) : mail_(std::move(m)) {}
  void add(detail::ready_task t) const {
    if (!mail_->post(t)) std::rethrow_exception(detail::thread_ended());
  }
  std::shared_ptr<detail::mailbox> mail_;
};

/* The queue of the calling thread. */
inline executor this_executor() {
  return executor(detail::worker::mine().mail());
}

} // namespace tombolo

#endif
