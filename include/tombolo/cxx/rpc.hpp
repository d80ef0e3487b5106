/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/rpc.hpp: functions of any length that run on another rank, outside message handlers.
 *
 * Called by clients, dist_object.hpp, and the handler that job.hpp registers. Calls serial.hpp and
 * Medium requests of the C API. A call is one message, its answer another; a message longer than a
 * Medium request travels in pieces, which its target puts together. Invariants: a handler only
 * stores pieces and posts whole messages to detail::incoming; functions of clients run in
 * progress() or a wait; each message counts once as sent and once as run, so that the end of the
 * job knows when none is left.
 */
#ifndef TOMBOLO_CXX_RPC_HPP
#define TOMBOLO_CXX_RPC_HPP

#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "call.hpp"
#include "serial.hpp"
#include "team.hpp"

namespace tombolo {

namespace detail {

enum message_kind : uint32_t { asks, asks_nothing, answers, fails };

/* A message without its bytes. */
struct message_head {
  rank_t from;
  uint32_t kind;
  uint64_t number; /* of the call, at its caller */
  size_t total;    /* bytes */
};

/* A call without an answer yet. */
struct open_call {
  open_call() = default;
  open_call(const open_call &) = delete;
  open_call &operator=(const open_call &) = delete;
  virtual ~open_call() = default;
  virtual void answered(const message_head &m, const char *bytes) = 0;
};

/* The handler, and messages so far. */
struct rpc_process {
  gex_AM_Index_t handler = 0;
  std::atomic<uint64_t> sent{0}, ran{0};
};
inline rpc_process rpcs;

/* Takes a piece of a message, n bytes that begin at byte `at` of it. */
using piece_taker = void (*)(const message_head &head, size_t at, const void *piece, size_t n);

/* tidy-allow: params because the C API calls it with token, payload and nine arguments */
inline void on_rpc(gex_Token_t token, void *payload, size_t nbytes, gex_AM_Arg_t taker_hi,
                   gex_AM_Arg_t taker_lo, gex_AM_Arg_t kind, gex_AM_Arg_t number_hi,
                   gex_AM_Arg_t number_lo, gex_AM_Arg_t total_hi, gex_AM_Arg_t total_lo,
                   gex_AM_Arg_t at_hi, gex_AM_Arg_t at_lo) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const message_head head = {info.gex_srcrank, uint32_t(kind), join(number_hi, number_lo),
                             join(total_hi, total_lo)};
  function_at<piece_taker>(static_cast<intptr_t>(join(taker_hi, taker_lo)))(
      head, join(at_hi, at_lo), payload, nbytes);
}

/* The rest is compiled in programs that call: all are templates, as `late` says. */

/* A message, whole or in part. */
template <class> struct message : message_head {
  size_t have = 0;
  std::unique_ptr<char[]> bytes;
  explicit message(const message_head &head)
      : message_head(head), bytes(new char[head.total + 1]) {}
};

struct message_name {
  rank_t from;
  uint32_t kind;
  uint64_t number;
  bool operator==(const message_name &o) const {
    return from == o.from && kind == o.kind && number == o.number;
  }
  size_t operator()(const message_name &n) const { return n.number ^ uint64_t(n.from) << 40; }
};
template <class Used> struct rpc_tables {
  std::atomic<uint64_t> numbers{0};
  hsl lock;
  table<message_name, std::unique_ptr<message<Used>>, message_name> partial;
  table<uint64_t, std::shared_ptr<open_call>> open;
};
template <class Used> inline rpc_tables<Used> rpc_table;

template <class Used>
void take_piece(const message_head &head, size_t at, const void *piece, size_t n);

[[noreturn]] inline void bad_message(rank_t from, const char *why) {
  std::fprintf(stderr, "tombolo: rank %u: a message of rank %u is damaged: %s\n", tombolo::rank(),
               from, why);
  std::abort();
}

template <class Used>
void send_message(rank_t to, uint32_t kind, uint64_t number, const writer &out) {
  const uint64_t taker = static_cast<uint64_t>(distance_of(&take_piece<Used>));
  rpcs.sent.fetch_add(1);
  const size_t most = gex_AM_MaxRequestMedium(self.world, to, GEX_EVENT_NOW, 0, 9);
  size_t at = 0;
  do {
    const size_t n = smaller(most, out.size() - at);
    gex_AM_RequestMedium(self.world, to, rpcs.handler, out.data() + at, n, GEX_EVENT_NOW, 0,
                         high(taker), low(taker), gex_AM_Arg_t(kind), high(number), low(number),
                         high(out.size()), low(out.size()), high(at), low(at));
    at += n;
  } while (at < out.size());
}

/* Runs one callable at its target. */
template <class Used = void> class message_task;
using rpc_runner = void (*)(message_task<> &call, reader &in);

/* A whole message, to be run. */
template <class Used>
class message_task : public task, public std::enable_shared_from_this<message_task<Used>> {
public:
  explicit message_task(std::unique_ptr<message<Used>> m) : m_(std::move(m)) {}

  void run(const core_ref &) override {
    if (m_->kind == answers || m_->kind == fails)
      answered();
    else
      asked();
    rpcs.ran.fetch_add(1);
  }
  void answer(const writer &out) const {
    if (m_->kind == asks) send_message<Used>(m_->from, answers, m_->number, out);
  }
  /* Reports the exception that is handled; without a caller who waits it ends the job. */
  void fail() const {
    if (m_->kind == asks_nothing) std::terminate(); /* it prints the exception */
    writer out;
    try {
      throw;
    } catch (const std::exception &e) {
      out.write(std::string(e.what()));
    } catch (...) {
      out.write(std::string("an exception that is no std::exception"));
    }
    send_message<Used>(m_->from, fails, m_->number, out);
  }

private:
  void asked() {
    try {
      reader in(m_->bytes.get(), m_->total);
      in.read<rpc_runner>()(*this, in);
    } catch (...) {
      fail();
    }
  }
  void answered() const {
    auto &table = rpc_table<Used>;
    std::shared_ptr<open_call> call;
    {
      const held guard(table.lock);
      const auto found = table.open.find(m_->number);
      if (!found) bad_message(m_->from, "nobody waits for this answer");
      call = std::move(*found);
      table.open.erase(m_->number);
    }
    call->answered(*m_, m_->bytes.get());
  }
  std::unique_ptr<message<Used>> m_;
};

/* Adds a piece; the message when it is whole. */
template <class Used>
std::unique_ptr<message<Used>> add_piece(const message_head &head, size_t at, const void *piece,
                                         size_t n) {
  if (at > head.total || n > head.total - at || head.kind > fails)
    bad_message(head.from, "a piece lies outside of its message");
  auto &table = rpc_table<Used>;
  const held guard(table.lock);
  const message_name name = {head.from, head.kind, head.number};
  auto &m = table.partial.get(name);
  if (!m) m = std::make_unique<message<Used>>(head);
  if (m->total != head.total || n > m->total - m->have)
    bad_message(head.from, "its pieces do not fit each other");
  if (n) std::memcpy(m->bytes.get() + at, piece, n);
  m->have += n;
  if (m->have < m->total) return nullptr;
  auto whole = std::move(m);
  table.partial.erase(name);
  return whole;
}

template <class Used>
void take_piece(const message_head &head, size_t at, const void *piece, size_t n) {
  auto whole = add_piece<Used>(head, at, piece, n);
  if (whole) incoming.post(std::make_shared<message_task<Used>>(std::move(whole)));
}

/* The core of a call's future. */
template <class... T> class call_core : public core<T...>, public open_call {
public:
  void answered(const message_head &m, const char *bytes) override {
    try {
      reader in(bytes, m.total);
      if (m.kind == fails)
        throw remote_error("rank " + std::to_string(m.from) + ": " + in.read<std::string>());
      this->value.emplace(std::tuple<T...>{in.read<T>()...});
    } catch (...) {
      this->thrown = std::current_exception();
    }
    this->complete();
  }
};

/* The form in which an argument A travels, and the type that f gets. */
template <class A> struct wire { using type = A; };
template <class W> struct received {
  using type = W &&;
  static W &&get(W &value) { return std::move(value); }
  static bool missing(const W &, message_task<> &) { return false; }
};
template <class A> using wire_of = typename wire<std::decay_t<A>>::type;
template <class F, class... W> using answer_of = next_of<F, typename received<W>::type...>;

/* Sends the answer when the future that f has returned is ready. */
template <class... T> class answer_task : public task {
public:
  using call_task = message_task<typename late<core<T...>>::type>;
  explicit answer_task(std::shared_ptr<call_task> t) : call_(std::move(t)) {}
  void run(const core_ref &from) override {
    const auto &c = static_cast<core<T...> &>(*from);
    try {
      if (c.thrown) std::rethrow_exception(c.thrown);
      writer out;
      std::apply([&](const T &...v) { out(v...); }, *c.value);
      call_->answer(out);
    } catch (...) {
      call_->fail();
    }
  }

private:
  std::shared_ptr<call_task> call_; /* keeps what elements<> of the call name */
};
template <class... T> void send_answer(message_task<> &call, const future<T...> &f) {
  const auto &c = access::core(f);
  if (!c) {
    writer out;
    std::apply([&](const T &...v) { out(v...); }, access::take(f, true));
    return call.answer(out);
  }
  auto t = std::make_shared<answer_task<T...>>(call.shared_from_this());
  if (c->poll() || !c->attach(t, worker::mine().mail())) t->run(c);
}

template <class F, class... W> void run_rpc(message_task<> &call, reader &in) {
  F f = in.read<F>();
  std::tuple<W...> wires{in.read<W>()...}; /* braces: from left to right */
  std::apply(
      [&](W &...w) {
        if ((received<W>::missing(w, call) || ...)) return;
        using values = std::tuple<typename received<W>::type...>;
        send_answer(call,
                    call_now<F, typename received<W>::type...>(f, values(received<W>::get(w)...)));
      },
      wires);
}

template <class F, class... Args>
void send_call(rank_t to, uint32_t kind, uint64_t number, const F &f, const Args &...args) {
  writer out;
  out.write<rpc_runner>(&run_rpc<F, wire_of<Args>...>);
  out.write(f);
  (out.write<wire_of<Args>>(args), ...);
  send_message<typename late<F>::type>(to, kind, number, out);
}

template <class... T> future<T...> open_answer(const future<T...> *, uint64_t &number) {
  auto c = std::make_shared<call_core<T...>>();
  auto &table = rpc_table<typename late<future<T...>>::type>;
  number = table.numbers.fetch_add(1);
  const held guard(table.lock);
  table.open.get(number) = c;
  return future<T...>(std::shared_ptr<core<T...>>(std::move(c)));
}

} // namespace detail

/* Runs f(args...) on a member of a team, or a rank of the job, in its progress() or a wait: f may
 * communicate, wait, and return a future, whose values are the answer then. The callable is one of
 * the program; what it captures is trivially copyable, without references. Arguments and results
 * travel by serial<T>, of any length. The future throws remote_error if f has thrown. Any thread.
 */
template <class F, class... Args>
auto rpc(const team &tm, rank_t member, F f, const Args &...args)
    -> detail::answer_of<F, detail::wire_of<Args>...> {
  using made = detail::answer_of<F, detail::wire_of<Args>...>;
  uint64_t number = 0;
  auto made_here = detail::open_answer(static_cast<const made *>(nullptr), number);
  detail::send_call(tm.jobrank(member), detail::asks, number, f, args...);
  return made_here;
}
template <class F, class... Args>
auto rpc(rank_t jobrank, F f, const Args &...args)
    -> detail::answer_of<F, detail::wire_of<Args>...> {
  return rpc(team(detail::self.world), jobrank, std::move(f), args...);
}

/* As rpc, without an answer: nobody is notified, a result is dropped, and an exception of f ends
 * the job. It runs before the job ends. */
template <class F, class... Args>
auto rpc_ff(const team &tm, rank_t member, F f, const Args &...args)
    -> std::void_t<detail::answer_of<F, detail::wire_of<Args>...>> {
  const uint64_t number = detail::rpc_table<typename detail::late<F>::type>.numbers.fetch_add(1);
  detail::send_call(tm.jobrank(member), detail::asks_nothing, number, f, args...);
}
template <class F, class... Args>
auto rpc_ff(rank_t jobrank, F f, const Args &...args)
    -> std::void_t<detail::answer_of<F, detail::wire_of<Args>...>> {
  rpc_ff(team(detail::self.world), jobrank, std::move(f), args...);
}

} // namespace tombolo

#endif
