/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/call.hpp: functions that run on another rank, and how their arguments travel.
 *
 * Called by team.hpp and by the two message handlers that job.hpp registers. Calls the message
 * functions of the C API. Invariants: a call is a Medium request whose payload is the distance of
 * its runner from detail::anchor, the callable and the arguments; its answer is a Medium reply with
 * the result, or with the text of what was thrown. No exception leaves a handler.
 */
#ifndef TOMBOLO_CXX_CALL_HPP
#define TOMBOLO_CXX_CALL_HPP

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "coroutine.hpp"

namespace tombolo {

/* How a value becomes bytes of a message. Specialise it for types of your own: write() appends to
 * `out`, read() advances `in`. Here: trivially copyable types. */
template <class T, class = void> struct serial {
  static_assert(detail::travels<T>, "specialise tombolo::serial<T>, or make T trivially copyable");
  static void write(std::string &out, const T &value) {
    out.append(reinterpret_cast<const char *>(&value), sizeof(T));
  }
  static T read(const char *&in) {
    union slot { /* T need not have a default constructor: lambdas have none */
      char bytes[sizeof(T)];
      T value;
      slot() {}
    } s;
    std::memcpy(s.bytes, in, sizeof(T));
    in += sizeof(T);
    return s.value;
  }
};

template <> struct serial<std::string> {
  static void write(std::string &out, const std::string &value) {
    serial<size_t>::write(out, value.size());
    out += value;
  }
  static std::string read(const char *&in) {
    const size_t n = serial<size_t>::read(in);
    in += n;
    return std::string(in - n, n);
  }
};

template <class T> struct serial<std::vector<T>> {
  static void write(std::string &out, const std::vector<T> &value) {
    serial<size_t>::write(out, value.size());
    for (const auto &x : value) serial<T>::write(out, x);
  }
  static std::vector<T> read(const char *&in) {
    std::vector<T> value(serial<size_t>::read(in));
    for (auto &x : value) x = serial<T>::read(in);
    return value;
  }
};

template <class A, class B> struct serial<std::pair<A, B>> {
  static void write(std::string &out, const std::pair<A, B> &value) {
    serial<A>::write(out, value.first);
    serial<B>::write(out, value.second);
  }
  static std::pair<A, B> read(const char *&in) {
    A first = serial<A>::read(in);
    return {std::move(first), serial<B>::read(in)};
  }
};

template <class T> struct serial<std::optional<T>> {
  static void write(std::string &out, const std::optional<T> &value) {
    serial<bool>::write(out, value.has_value());
    if (value) serial<T>::write(out, *value);
  }
  static std::optional<T> read(const char *&in) {
    if (!serial<bool>::read(in)) return std::nullopt;
    return serial<T>::read(in);
  }
};

/* ---------------------------------------------------------------- remote calls */

namespace detail {

/* A call in progress at its caller; the address travels with it. `arrived` is written last. */
struct pending {
  std::atomic<bool> arrived{false};
  bool failed = false;
  rank_t from = 0;
  std::string bytes;
};

template <class R> struct call_state : state<R> {
  std::shared_ptr<pending> reply;
  explicit call_state(std::shared_ptr<pending> p) : reply(std::move(p)) {}
  bool test() override { return reply->arrived.load(std::memory_order_acquire); }
  R take() override {
    if (reply->failed)
      throw remote_error("rank " + std::to_string(reply->from) + ": " + reply->bytes);
    const char *in = reply->bytes.data();
    if constexpr (!std::is_void_v<R>) return serial<R>::read(in);
  }
};

/* Runs one callable at its target; returns the bytes of the result. */
using runner = std::string (*)(const char *in);

template <class F, class R, class... Args> std::string run_call(const char *in) {
  F f = serial<F>::read(in);
  std::tuple<Args...> args{serial<Args>::read(in)...}; /* braces: from left to right */
  std::string out;
  if constexpr (std::is_void_v<R>)
    std::apply(f, std::move(args));
  else
    serial<R>::write(out, std::apply(f, std::move(args)));
  return out;
}

/* A runner is named by its distance from this function: programs may lie at different addresses. */
inline void anchor() {}

inline gex_AM_Arg_t high(uint64_t v) {
  return static_cast<gex_AM_Arg_t>(v >> 32);
}
inline gex_AM_Arg_t low(uint64_t v) {
  return static_cast<gex_AM_Arg_t>(v);
}
inline uint64_t join(gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  return uint64_t(uint32_t(hi)) << 32 | uint32_t(lo);
}

inline void on_call(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t hi,
                    gex_AM_Arg_t lo) {
  std::string aligned(static_cast<const char *>(payload), nbytes), out;
  const char *in = aligned.data();
  int failed = 0;
  try {
    const auto offset = serial<intptr_t>::read(in);
    out = reinterpret_cast<runner>(reinterpret_cast<intptr_t>(&anchor) + offset)(in);
    const size_t most = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3);
    if (out.size() > most)
      throw error("call: a result of " + std::to_string(out.size()) + " bytes, limit " +
                  std::to_string(most) + "; put larger results into the caller's memory");
  } catch (const std::exception &e) {
    out.assign(e.what(), std::min<size_t>(std::strlen(e.what()), 400));
    failed = 1;
  } catch (...) {
    out = "an exception that is no std::exception";
    failed = 1;
  }
  gex_AM_ReplyMedium(token, self.answer, out.data(), out.size(), GEX_EVENT_NOW, 0, hi, lo, failed);
}

inline void on_answer(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t hi,
                      gex_AM_Arg_t lo, gex_AM_Arg_t failed) {
  std::unique_ptr<std::shared_ptr<pending>> mine(
      reinterpret_cast<std::shared_ptr<pending> *>(join(hi, lo)));
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  (*mine)->from = info.gex_srcrank;
  (*mine)->bytes.assign(static_cast<const char *>(payload), nbytes);
  (*mine)->failed = failed != 0;
  (*mine)->arrived.store(true, std::memory_order_release);
}

template <class F, class... Args> auto call(gex_TM_t tm, rank_t to, F f, Args... args) {
  using R = std::invoke_result_t<F &, Args...>;
  static_assert(travels<F>, "call: the callable and what it captures must be trivially copyable; "
                            "give other things as arguments");
  std::string out;
  const runner run = &run_call<F, R, Args...>;
  serial<intptr_t>::write(out,
                          reinterpret_cast<intptr_t>(run) - reinterpret_cast<intptr_t>(&anchor));
  serial<F>::write(out, f);
  (serial<Args>::write(out, args), ...);
  const size_t most = gex_AM_MaxRequestMedium(tm, to, GEX_EVENT_NOW, 0, 2);
  if (out.size() > most)
    throw error("call: arguments of " + std::to_string(out.size()) + " bytes, limit " +
                std::to_string(most) + "; put larger data, and call with their global_ptr");
  auto reply = std::make_shared<pending>();
  const auto held = reinterpret_cast<uintptr_t>(new std::shared_ptr<pending>(reply));
  gex_AM_RequestMedium(tm, to, self.call, out.data(), out.size(), GEX_EVENT_NOW, 0, high(held),
                       low(held));
  return future<R>(std::unique_ptr<state<R>>(std::make_unique<call_state<R>>(std::move(reply))));
}

} // namespace detail

} // namespace tombolo

#endif
