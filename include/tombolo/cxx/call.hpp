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

/* A call in progress at its caller; its address travels with it. */
struct caller {
  caller() = default;
  caller(const caller &) = delete;
  caller &operator=(const caller &) = delete;
  virtual ~caller() = default;
  /* The answer, or the text of an exception; once. In a message handler. */
  virtual void answered(rank_t from, const void *bytes, size_t n, bool failed) = 0;
};

/* Runs one callable at its target and answers, given the bytes behind its own address. */
using runner = void (*)(gex_Token_t token, const char *bytes, size_t n, uint64_t caller);

inline gex_AM_Arg_t high(uint64_t v) {
  return static_cast<gex_AM_Arg_t>(v >> 32);
}
inline gex_AM_Arg_t low(uint64_t v) {
  return static_cast<gex_AM_Arg_t>(v);
}
inline uint64_t join(gex_AM_Arg_t hi, gex_AM_Arg_t lo) {
  return uint64_t(uint32_t(hi)) << 32 | uint32_t(lo);
}

/* The handlers name no function of this file: a program without calls compiles none. */
inline void on_call(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t hi,
                    gex_AM_Arg_t lo) {
  const char *const bytes = static_cast<const char *>(payload);
  intptr_t distance;
  std::memcpy(&distance, bytes, sizeof distance);
  function_at<runner>(distance)(token, bytes + sizeof distance, nbytes - sizeof distance,
                                join(hi, lo));
}
inline void on_answer(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t hi,
                      gex_AM_Arg_t lo, gex_AM_Arg_t failed) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  reinterpret_cast<caller *>(join(hi, lo))
      ->answered(info.gex_srcrank, payload, nbytes, failed != 0);
}

/* The answer to a call; `arrived` is written last. */
struct pending {
  std::atomic<bool> arrived{false};
  bool failed = false;
  rank_t from = 0;
  std::string bytes;
};

/* State of a call, found by the caller's address. It ends with the answer; the future may end
 * before. */
template <class> struct pending_caller : caller {
  std::shared_ptr<pending> reply = std::make_shared<pending>();
  void answered(rank_t from, const void *bytes, size_t n, bool failed) override {
    const std::shared_ptr<pending> to = std::move(reply);
    to->from = from;
    to->bytes.assign(static_cast<const char *>(bytes), n);
    to->failed = failed;
    delete this;
    to->arrived.store(true, std::memory_order_release);
  }
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

/* Answers with the bytes that run() writes, or with the exception that it throws. */
template <class Run> void answer_call(gex_Token_t token, uint64_t to, Run run) {
  writer out;
  int failed = 0;
  try {
    run(out);
    const size_t most = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 3);
    if (out.size() > most)
      throw error("call: a result of " + std::to_string(out.size()) + " bytes, limit " +
                  std::to_string(most) + "; put larger results into the caller's memory");
  } catch (const std::exception &e) {
    out = writer();
    out.bytes(e.what(), smaller(std::strlen(e.what()), 400));
    failed = 1;
  } catch (...) {
    out = writer();
    out.bytes("an exception that is no std::exception", 38);
    failed = 1;
  }
  gex_AM_ReplyMedium(token, self.answer, out.data(), out.size(), GEX_EVENT_NOW, 0, high(to),
                     low(to), failed);
}

template <class F, class R, class... Args>
void run_call(gex_Token_t token, const char *bytes, size_t n, uint64_t to) {
  const std::string aligned(bytes, n);
  answer_call(token, to, [&](writer &out) {
    reader in(aligned.data(), n);
    F f = in.read<F>();
    std::tuple<Args...> args{in.read<Args>()...}; /* braces: from left to right */
    if constexpr (std::is_void_v<R>)
      std::apply(f, std::move(args));
    else
      out.write<R>(std::apply(f, std::move(args)));
  });
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
  auto *const me = new pending_caller<typename late<F>::type>;
  auto reply = me->reply;
  const auto number = reinterpret_cast<uintptr_t>(static_cast<caller *>(me));
  gex_AM_RequestMedium(tm, to, self.call, out.data(), out.size(), GEX_EVENT_NOW, 0, high(number),
                       low(number));
  return future<R>(std::unique_ptr<state<R>>(std::make_unique<call_state<R>>(std::move(reply))));
}

} // namespace detail

} // namespace tombolo

#endif
