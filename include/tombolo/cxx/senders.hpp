/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/senders.hpp: senders and receivers, in the form of P2300, without a dependency.
 *
 * Called by clients. Calls futures, and the progress of the library. A sender describes work; its
 * connect(receiver) gives an operation, start() of that begins it; one of set_value, set_error and
 * set_stopped of the receiver ends it. Invariants: an operation stays where it was made until it
 * has ended; the thread that started an operation of the library drives and ends it, from drive()
 * or sync_wait(); nothing here has a thread of its own.
 */
#ifndef TOMBOLO_CXX_SENDERS_HPP
#define TOMBOLO_CXX_SENDERS_HPP

#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "team.hpp"

namespace tombolo {

namespace detail {

/* An operation that waits for the library; in the list of the thread that has started it. */
struct unfinished {
  unfinished() = default;
  unfinished(const unfinished &) = delete;
  unfinished &operator=(const unfinished &) = delete;
  virtual ~unfinished() = default;
  virtual bool test() = 0;
  virtual void finish() noexcept = 0; /* after test() was true; may end the operation's life */
};
inline thread_local std::vector<unfinished *> started;

template <class S> using value_of = typename std::decay_t<S>::value_type;
template <class S, class R>
using operation_of = decltype(std::declval<S>().connect(std::declval<R>()));

/* Calls f(), and hands its result, or exception, to a receiver. */
template <class T, class R, class F> void deliver(R &receiver, F &&f) noexcept {
  std::optional<stored<T>> value;
  try {
    if constexpr (std::is_void_v<T>) {
      f();
      value.emplace();
    } else {
      value.emplace(f());
    }
  } catch (...) {
    receiver.set_error(std::current_exception());
    return;
  }
  if constexpr (std::is_void_v<T>)
    receiver.set_value();
  else
    receiver.set_value(std::move(*value));
}

/* The result of f(value), where a value of void is none. */
template <class F, class T> struct result { using type = std::invoke_result_t<F &, T>; };
template <class F> struct result<F, void> { using type = std::invoke_result_t<F &>; };
template <class F, class T> using result_of = typename result<F, T>::type;

template <class T, class R> struct future_operation final : unfinished {
  future<T> source;
  R receiver;
  future_operation(future<T> &&f, R &&r) : source(std::move(f)), receiver(std::move(r)) {}
  void start() noexcept {
    if (source.test())
      finish();
    else
      started.push_back(this);
  }
  bool test() override { return source.test(); }
  void finish() noexcept override {
    deliver<T>(receiver, [this]() -> T { return source.wait(); });
  }
};

template <class T, class R> struct just_operation {
  stored<T> value;
  R receiver;
  void start() noexcept {
    if constexpr (std::is_void_v<T>)
      receiver.set_value();
    else
      receiver.set_value(std::move(value));
  }
};

} // namespace detail

/* Ends operations of this thread that are complete, after one poll. Returns how many are left. */
inline size_t drive() {
  progress();
  for (size_t i = 0; i < detail::started.size();) {
    detail::unfinished *const one = detail::started[i];
    if (!one->test()) {
      i++;
      continue;
    }
    detail::started[i] = detail::started.back();
    detail::started.pop_back();
    one->finish();
  }
  return detail::started.size();
}

/* ---------------------------------------------------------------- senders */

/* A sender of a future's result: each rput, rget, rcopy, call and async_barrier gives a future. */
template <class T> struct future_sender {
  using value_type = T;
  future<T> source;
  template <class R> detail::future_operation<T, R> connect(R receiver) && {
    return {std::move(source), std::move(receiver)};
  }
};
template <class T> future_sender<T> as_sender(future<T> source) {
  return {std::move(source)};
}

/* A sender of a value that is there. */
template <class T> struct just_sender {
  using value_type = T;
  detail::stored<T> value;
  template <class R> detail::just_operation<T, R> connect(R receiver) && {
    return {std::move(value), std::move(receiver)};
  }
};
template <class T> just_sender<T> just(T value) {
  return {std::move(value)};
}
inline just_sender<void> just() {
  return {{}};
}

namespace detail {

/* ---- then and upon_error */

template <class T, class F, class R> struct then_receiver {
  F f;
  R next;
  template <class... A> void set_value(A &&...a) noexcept {
    deliver<result_of<F, T>>(next, [&]() -> result_of<F, T> { return f(std::forward<A>(a)...); });
  }
  void set_error(std::exception_ptr e) noexcept { next.set_error(std::move(e)); }
  void set_stopped() noexcept { next.set_stopped(); }
};

template <class S, class F> struct then_sender {
  using value_type = result_of<F, value_of<S>>;
  S source;
  F f;
  template <class R> auto connect(R receiver) && {
    return std::move(source).connect(
        then_receiver<value_of<S>, F, R>{std::move(f), std::move(receiver)});
  }
};

template <class T, class F, class R> struct error_receiver {
  F f;
  R next;
  template <class... A> void set_value(A &&...a) noexcept { next.set_value(std::forward<A>(a)...); }
  void set_error(std::exception_ptr e) noexcept {
    deliver<T>(next, [&]() -> T { return f(std::move(e)); });
  }
  void set_stopped() noexcept { next.set_stopped(); }
};

template <class S, class F> struct error_sender {
  using value_type = value_of<S>;
  S source;
  F f;
  template <class R> auto connect(R receiver) && {
    return std::move(source).connect(
        error_receiver<value_type, F, R>{std::move(f), std::move(receiver)});
  }
};

/* ---- let_value: the second operation is made when the first has ended, in place */

template <class S, class F, class R> struct let_operation {
  struct first_receiver {
    let_operation *self;
    template <class... A> void set_value(A &&...a) noexcept { self->go_on(std::forward<A>(a)...); }
    void set_error(std::exception_ptr e) noexcept { self->receiver.set_error(std::move(e)); }
    void set_stopped() noexcept { self->receiver.set_stopped(); }
  };
  struct last_receiver {
    let_operation *self;
    template <class... A> void set_value(A &&...a) noexcept {
      self->receiver.set_value(std::forward<A>(a)...);
    }
    void set_error(std::exception_ptr e) noexcept { self->receiver.set_error(std::move(e)); }
    void set_stopped() noexcept { self->receiver.set_stopped(); }
  };
  using T = value_of<S>;
  using argument = std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<T>>;
  using second_sender = result_of<F, argument>;
  using second_operation = operation_of<second_sender, last_receiver>;

  F f;
  R receiver;
  std::optional<stored<T>> value; /* lives as long as the second operation, which may refer to it */
  operation_of<S, first_receiver> first;
  alignas(second_operation) unsigned char room[sizeof(second_operation)];
  second_operation *second = nullptr;

  let_operation(S &&s, F &&fn, R &&r)
      : f(std::move(fn)), receiver(std::move(r)),
        first(std::move(s).connect(first_receiver{this})) {}
  let_operation(const let_operation &) = delete;
  let_operation &operator=(const let_operation &) = delete;
  ~let_operation() {
    if (second) second->~second_operation();
  }
  void start() noexcept { first.start(); }

  template <class... A> void go_on(A &&...a) noexcept {
    try {
      value.emplace(std::forward<A>(a)...);
      if constexpr (std::is_void_v<T>)
        second = ::new (room) second_operation(f().connect(last_receiver{this}));
      else
        second = ::new (room) second_operation(f(*value).connect(last_receiver{this}));
    } catch (...) {
      receiver.set_error(std::current_exception());
      return;
    }
    second->start();
  }
};

template <class S, class F> struct let_sender {
  using T = value_of<S>;
  using argument = std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<T>>;
  using value_type = value_of<result_of<F, argument>>;
  S source;
  F f;
  template <class R> let_operation<S, F, R> connect(R receiver) && {
    return {std::move(source), std::move(f), std::move(receiver)};
  }
};

/* ---- when_all */

template <class R, class... S> struct all_operation {
  template <size_t I> struct child_receiver {
    all_operation *self;
    template <class... A> void set_value(A &&...a) noexcept {
      std::get<I>(self->values).emplace(std::forward<A>(a)...);
      self->one_less();
    }
    void set_error(std::exception_ptr e) noexcept {
      if (!self->thrown) self->thrown = std::move(e);
      self->one_less();
    }
    void set_stopped() noexcept {
      self->stopped = true;
      self->one_less();
    }
  };
  template <size_t I, class C> struct child {
    operation_of<C, child_receiver<I>> operation;
    child(C &&c, all_operation *all) : operation(std::move(c).connect(child_receiver<I>{all})) {}
  };
  template <class Indices> struct children;
  template <size_t... I> struct children<std::index_sequence<I...>> : child<I, S>... {
    children(all_operation *all, S &&...s) : child<I, S>(std::move(s), all)... {}
    void start() noexcept { (static_cast<child<I, S> &>(*this).operation.start(), ...); }
  };

  R receiver;
  size_t left = sizeof...(S) + 1; /* and start() itself, so that nothing ends before it has begun */
  bool stopped = false;
  std::exception_ptr thrown;
  std::tuple<std::optional<stored<value_of<S>>>...> values;
  children<std::index_sequence_for<S...>> parts;

  all_operation(R &&r, S &&...s) : receiver(std::move(r)), parts(this, std::move(s)...) {}
  all_operation(const all_operation &) = delete;
  all_operation &operator=(const all_operation &) = delete;

  void start() noexcept {
    parts.start();
    one_less();
  }
  void one_less() noexcept {
    if (--left) return;
    if (thrown)
      receiver.set_error(std::move(thrown));
    else if (stopped)
      receiver.set_stopped();
    else
      std::apply([this](auto &...v) { receiver.set_value(std::make_tuple(std::move(*v)...)); },
                 values);
  }
};

template <class... S> struct all_sender {
  using value_type = std::tuple<stored<value_of<S>>...>;
  std::tuple<S...> sources;
  template <class R> all_operation<R, S...> connect(R receiver) && {
    return connect_all(std::move(receiver), std::index_sequence_for<S...>());
  }

private:
  template <class R, size_t... I>
  all_operation<R, S...> connect_all(R &&receiver, std::index_sequence<I...>) {
    return {std::move(receiver), std::move(std::get<I>(sources))...};
  }
};

/* ---- sender | then(f) */

template <template <class, class> class Sender, class F> struct adaptor {
  F f;
  template <class S> Sender<S, F> operator()(S source) && {
    return {std::move(source), std::move(f)};
  }
};
template <class S, template <class, class> class Sender, class F, class = value_of<S>>
auto operator|(S source, adaptor<Sender, F> next) {
  return std::move(next)(std::move(source));
}

/* ---- the end of a chain */

template <class T> struct waiting {
  std::optional<stored<T>> value;
  std::exception_ptr thrown;
  bool done = false;
};

template <class T> struct waiting_receiver {
  waiting<T> *at;
  template <class... A> void set_value(A &&...a) noexcept {
    at->value.emplace(std::forward<A>(a)...);
    at->done = true;
  }
  void set_error(std::exception_ptr e) noexcept {
    at->thrown = std::move(e);
    at->done = true;
  }
  void set_stopped() noexcept { at->done = true; }
};

template <class S> struct detached {
  struct receiver {
    detached *self;
    template <class... A> void set_value(A &&...) noexcept { delete self; }
    void set_error(std::exception_ptr) noexcept { std::terminate(); }
    void set_stopped() noexcept { delete self; }
  };
  operation_of<S, receiver> operation;
  explicit detached(S &&s) : operation(std::move(s).connect(receiver{this})) {}
};

} // namespace detail

/* The sender of f(value). An exception of f goes to set_error. */
template <class F> detail::adaptor<detail::then_sender, F> then(F f) {
  return {std::move(f)};
}
/* The sender of the value, or of f(error) where there is an error instead. */
template <class F> detail::adaptor<detail::error_sender, F> upon_error(F f) {
  return {std::move(f)};
}
/* The sender that f(value) returns; the value lives until that has ended. */
template <class F> detail::adaptor<detail::let_sender, F> let_value(F f) {
  return {std::move(f)};
}
/* The sender of a tuple with the values of all; a void one gives an empty element. All of them end
 * before it does; the first error is its error. */
template <class... S> detail::all_sender<S...> when_all(S... sources) {
  return {std::tuple<S...>(std::move(sources)...)};
}

/* The sender of f(args...), run on a member of a team, as team::call. */
template <class F, class... Args>
auto on_member(const team &where, rank_t member, F f, Args... args) {
  return just() | let_value([&where, member, f = std::move(f),
                             all = std::make_tuple(std::move(args)...)]() mutable {
           return std::apply(
               [&](auto &...a) { return as_sender(where.call(member, f, std::move(a)...)); }, all);
         });
}

/* Starts a sender and drives this thread's operations until it has ended; returns its value, throws
 * its error; nothing when it was stopped. */
template <class S> auto sync_wait(S source) {
  using T = detail::value_of<S>;
  detail::waiting<T> state;
  auto operation = std::move(source).connect(detail::waiting_receiver<T>{&state});
  operation.start();
  struct gexx_wait step;
  gexx_wait_begin(&step);
  for (drive(); !state.done; drive()) gexx_wait_step(&step);
  if (state.thrown) std::rethrow_exception(state.thrown);
  return std::move(state.value);
}

/* Starts a sender whose value nobody needs; an error ends the program. drive() ends it. */
template <class S> void start_detached(S source) {
  (new detail::detached<S>(std::move(source)))->operation.start();
}

} // namespace tombolo

#endif
