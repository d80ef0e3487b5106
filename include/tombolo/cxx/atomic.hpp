/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/atomic.hpp: atomic operations on words of other ranks, by domain.
 *
 * Called by clients. Calls atomic domains of the C API (gasnet_ratomic.h). Invariants: all accesses
 * to a word through one domain are atomic among each other, those by other domains, put, or plain
 * stores are not; where all members' memory is mapped an operation is the inline one of C, complete
 * at once and without memory; its opcode is a constant.
 */
#ifndef TOMBOLO_CXX_ATOMIC_HPP
#define TOMBOLO_CXX_ATOMIC_HPP

#include <atomic>
#include <gasnet_ratomic.h>
#include <initializer_list>

#include "completions.hpp"
#include "team.hpp"

namespace tombolo {

/* Operations of an atomic domain; a fetching one gives the value before. */
enum class atomic_op : gex_OP_t {
  load = GEX_OP_GET,
  store = GEX_OP_SET,
  exchange = GEX_OP_SWAP,
  compare_exchange = GEX_OP_FCAS,
  add = GEX_OP_ADD,
  fetch_add = GEX_OP_FADD,
  sub = GEX_OP_SUB,
  fetch_sub = GEX_OP_FSUB,
  mul = GEX_OP_MULT,
  fetch_mul = GEX_OP_FMULT,
  inc = GEX_OP_INC,
  fetch_inc = GEX_OP_FINC,
  dec = GEX_OP_DEC,
  fetch_dec = GEX_OP_FDEC,
  min = GEX_OP_MIN,
  fetch_min = GEX_OP_FMIN,
  max = GEX_OP_MAX,
  fetch_max = GEX_OP_FMAX,
  bit_and = GEX_OP_AND,
  fetch_bit_and = GEX_OP_FAND,
  bit_or = GEX_OP_OR,
  fetch_bit_or = GEX_OP_FOR,
  bit_xor = GEX_OP_XOR,
  fetch_bit_xor = GEX_OP_FXOR
};

namespace detail {

constexpr gex_OP_t bit_ops =
    GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FAND | GEX_OP_FOR | GEX_OP_FXOR;
constexpr gex_OP_t number_ops = GEX_OP_ADD | GEX_OP_FADD | GEX_OP_SUB | GEX_OP_FSUB | GEX_OP_MULT |
                                GEX_OP_FMULT | GEX_OP_INC | GEX_OP_FINC | GEX_OP_DEC | GEX_OP_FDEC |
                                GEX_OP_MIN | GEX_OP_FMIN | GEX_OP_MAX | GEX_OP_FMAX | GEX_OP_GET |
                                GEX_OP_SET | GEX_OP_SWAP | GEX_OP_FCAS;

/* The type that C has for T, and its call. */
template <gex_DT_t> struct atomic_type;
template <> struct atomic_type<GEX_DT_I32> {
  using word = int32_t;
  static constexpr auto start = gex_AD_OpNB_I32;
};
template <> struct atomic_type<GEX_DT_U32> {
  using word = uint32_t;
  static constexpr auto start = gex_AD_OpNB_U32;
};
template <> struct atomic_type<GEX_DT_I64> {
  using word = int64_t;
  static constexpr auto start = gex_AD_OpNB_I64;
};
template <> struct atomic_type<GEX_DT_U64> {
  using word = uint64_t;
  static constexpr auto start = gex_AD_OpNB_U64;
};
template <> struct atomic_type<GEX_DT_FLT> {
  using word = float;
  static constexpr auto start = gex_AD_OpNB_FLT;
};
template <> struct atomic_type<GEX_DT_DBL> {
  using word = double;
  static constexpr auto start = gex_AD_OpNB_DBL;
};

inline gex_Flags_t order_flags(std::memory_order order) {
  switch (order) {
  case std::memory_order_relaxed: return 0;
  case std::memory_order_consume:
  case std::memory_order_acquire: return GEX_FLAG_AD_ACQ;
  case std::memory_order_release: return GEX_FLAG_AD_REL;
  default: return GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL;
  }
}

} // namespace detail

/* Atomic operations on words of type T in the memory of a team's members: int, long and long long,
 * also unsigned, float and double. Operations return futures; an order that is given is that of
 * std::atomic, and may be followed by ends as on_done(...). */
template <class T> class atomic_domain {
  static constexpr gex_DT_t type = detail::data_type<T>();
  static_assert(type != GEX_DT_USER, "atomic_domain<T>: T is an integer of 4 or 8 bytes, float or "
                                     "double");
  using word = typename detail::atomic_type<type>::word;
  using order = std::memory_order;
  static constexpr order relaxed = std::memory_order_relaxed;

public:
  /* Collective over the team: a domain for these operations, for all that T has where none is
   * named. The team outlives it. */
  explicit atomic_domain(const team &members, std::initializer_list<atomic_op> ops = {}) {
    gex_OP_t bits = 0;
    for (const atomic_op op : ops) bits |= static_cast<gex_OP_t>(op);
    if (!bits) bits = detail::number_ops | (std::is_integral_v<T> ? detail::bit_ops : 0);
    if (!std::is_integral_v<T> && (bits & detail::bit_ops))
      throw error("atomic_domain: a domain of a floating-point type has no bit operations; leave "
                  "them out");
    members.barrier(); /* which runs calls of members that come later */
    gex_AD_Create(&ad_, members.handle(), type, bits, 0);
    translate_ = members.size() != tombolo::size() || members.rank() != tombolo::rank();
  }
  atomic_domain(const atomic_domain &) = delete;
  atomic_domain &operator=(const atomic_domain &) = delete;
  /* Collective. The futures of its operations are waited for before. */
  ~atomic_domain() {
    if (detail::self.ended || std::uncaught_exceptions()) return;
    detail::await_event(gex_Coll_BarrierNB(gex_AD_QueryTM(ad_), 0));
    gex_AD_Destroy(ad_);
  }

  /* The value; the value becomes v. */
  template <class... E> auto load(global_ptr<T> p, order o = relaxed, E... ends) const {
    return fetch<atomic_op::load>(p, T(), T(), o, ends...);
  }
  template <class... E> auto store(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::store>(p, v, o, ends...);
  }
  /* The value becomes v; v if it was `expected`. Both give the value before. */
  template <class... E> auto exchange(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::exchange>(p, v, T(), o, ends...);
  }
  template <class... E>
  auto compare_exchange(global_ptr<T> p, T expected, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::compare_exchange>(p, expected, v, o, ends...);
  }

  /* The value combined with v; fetch_ forms give the value before. */
  template <class... E> auto add(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::add>(p, v, o, ends...);
  }
  template <class... E> auto fetch_add(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_add>(p, v, T(), o, ends...);
  }
  template <class... E> auto sub(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::sub>(p, v, o, ends...);
  }
  template <class... E> auto fetch_sub(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_sub>(p, v, T(), o, ends...);
  }
  template <class... E> auto mul(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::mul>(p, v, o, ends...);
  }
  template <class... E> auto fetch_mul(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_mul>(p, v, T(), o, ends...);
  }
  template <class... E> auto min(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::min>(p, v, o, ends...);
  }
  template <class... E> auto fetch_min(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_min>(p, v, T(), o, ends...);
  }
  template <class... E> auto max(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::max>(p, v, o, ends...);
  }
  template <class... E> auto fetch_max(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_max>(p, v, T(), o, ends...);
  }
  template <class... E> auto bit_and(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::bit_and>(p, v, o, ends...);
  }
  template <class... E>
  auto fetch_bit_and(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_bit_and>(p, v, T(), o, ends...);
  }
  template <class... E> auto bit_or(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::bit_or>(p, v, o, ends...);
  }
  template <class... E>
  auto fetch_bit_or(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_bit_or>(p, v, T(), o, ends...);
  }
  template <class... E> auto bit_xor(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return change<atomic_op::bit_xor>(p, v, o, ends...);
  }
  template <class... E>
  auto fetch_bit_xor(global_ptr<T> p, T v, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_bit_xor>(p, v, T(), o, ends...);
  }
  /* Adds and subtracts 1. */
  template <class... E> auto inc(global_ptr<T> p, order o = relaxed, E... ends) const {
    return change<atomic_op::inc>(p, T(), o, ends...);
  }
  template <class... E> auto fetch_inc(global_ptr<T> p, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_inc>(p, T(), T(), o, ends...);
  }
  template <class... E> auto dec(global_ptr<T> p, order o = relaxed, E... ends) const {
    return change<atomic_op::dec>(p, T(), o, ends...);
  }
  template <class... E> auto fetch_dec(global_ptr<T> p, order o = relaxed, E... ends) const {
    return fetch<atomic_op::fetch_dec>(p, T(), T(), o, ends...);
  }

private:
  using call = detail::atomic_type<type>;

  rank_t member(rank_t jobrank) const {
    return translate_ ? gex_TM_TranslateJobrankToRank(gex_AD_QueryTM(ad_), jobrank) : jobrank;
  }

  template <class... V, class... E> static auto end(rank_t peer, future<V...> f, E &...ends) {
    if constexpr (sizeof...(E) == 0)
      return f;
    else
      return detail::hand_out(detail::begun<V...>{peer, std::move(f), {}, false}, ends...);
  }

  template <atomic_op Op, class... E> auto change(global_ptr<T> p, T a, order o, E &...ends) const {
    return end(
        p.where(),
        detail::of_event(call::start(ad_, nullptr, member(p.where()), p.address(),
                                     static_cast<gex_OP_t>(Op), a, word(), detail::order_flags(o))),
        ends...);
  }

  template <atomic_op Op, class... E>
  auto fetch(global_ptr<T> p, T a, T b, order o, E &...ends) const {
    return end(p.where(), fetched<Op>(p, a, b, detail::order_flags(o)), ends...);
  }

  template <atomic_op Op> future<T> fetched(global_ptr<T> p, T a, T b, gex_Flags_t flags) const {
    constexpr gex_OP_t op = static_cast<gex_OP_t>(Op);
    const rank_t to = member(p.where());
    if (gexx_ad_direct(gexx_ad_delta(ad_), flags)) { /* complete at once: no memory for a core */
      word old{};
      gex_Event_Wait(call::start(ad_, &old, to, p.address(), op, a, b, flags));
      return future<T>(T(old));
    }
    auto c = std::make_shared<detail::event_core<word>>();
    c->event = call::start(ad_, &std::get<0>(*c->value), to, p.address(), op, a, b, flags);
    if constexpr (std::is_same_v<T, word>)
      return future<T>(std::move(c));
    else
      return future<word>(std::move(c)).then([](word v) { return T(v); });
  }

  gex_AD_t ad_ = GEX_AD_INVALID;
  bool translate_ = false;
};

} // namespace tombolo

#endif
