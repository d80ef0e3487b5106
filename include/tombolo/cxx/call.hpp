/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/call.hpp: functions that run on another rank.
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
#include "serial.hpp"

namespace tombolo {

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
    reader in(reply->bytes.data(), reply->bytes.size());
    if constexpr (!std::is_void_v<R>) return in.read<R>();
  }
};

/* Runs one callable at its target; returns the bytes of the result. */
using runner = writer (*)(reader &in);

template <class F, class R, class... Args> writer run_call(reader &in) {
  F f = in.read<F>();
  std::tuple<Args...> args{in.read<Args>()...}; /* braces: from left to right */
  writer out;
  if constexpr (std::is_void_v<R>)
    std::apply(f, std::move(args));
  else
    out.write<R>(std::apply(f, std::move(args)));
  return out;
}

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
  const std::string aligned(static_cast<const char *>(payload), nbytes);
  reader in(aligned.data(), nbytes);
  writer out;
  int failed = 0;
  try {
    out = in.read<runner>()(in);
    const size_t most = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3);
    if (out.size() > most)
      throw error("call: a result of " + std::to_string(out.size()) + " bytes, limit " +
                  std::to_string(most) + "; put larger results into the caller's memory");
  } catch (const std::exception &e) {
    out = writer();
    out.bytes(e.what(), std::min<size_t>(std::strlen(e.what()), 400));
    failed = 1;
  } catch (...) {
    out = writer();
    out.bytes("an exception that is no std::exception", 38);
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
  writer out;
  out.write<runner>(&run_call<F, R, Args...>);
  out(f, args...);
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
