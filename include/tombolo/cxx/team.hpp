/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/team.hpp: ranks that act together: barrier, split, collectives, calls.
 *
 * Called by clients. Calls the team and collective functions of the C API. Invariants: a type and
 * an operator that the library knows are reduced by the library, all others by detail::combine; a
 * team that split() has made is destroyed once, by all members.
 */
#ifndef TOMBOLO_CXX_TEAM_HPP
#define TOMBOLO_CXX_TEAM_HPP

#include <exception>
#include <functional>
#include <gasnet_coll.h>
#include <vector>

#include "call.hpp"

namespace tombolo {

/* Operators beside std::plus<>, std::multiplies<>, std::bit_and<>, std::bit_or<>, std::bit_xor<>.
 */
struct minimum {
  template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct maximum {
  template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};

namespace detail {

template <class T> constexpr gex_DT_t data_type() {
  if constexpr (std::is_same_v<T, float>) return GEX_DT_FLT;
  if constexpr (std::is_same_v<T, double>) return GEX_DT_DBL;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? GEX_DT_I32 : GEX_DT_U32;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? GEX_DT_I64 : GEX_DT_U64;
  return GEX_DT_USER;
}

template <class T, class F> constexpr gex_OP_t operation() {
  if constexpr (data_type<T>() == GEX_DT_USER) return GEX_OP_USER_NC;
  if constexpr (std::is_same_v<F, std::plus<>>) return GEX_OP_ADD;
  if constexpr (std::is_same_v<F, std::multiplies<>>) return GEX_OP_MULT;
  if constexpr (std::is_same_v<F, minimum>) return GEX_OP_MIN;
  if constexpr (std::is_same_v<F, maximum>) return GEX_OP_MAX;
  if constexpr (std::is_integral_v<T> && std::is_same_v<F, std::bit_and<>>) return GEX_OP_AND;
  if constexpr (std::is_integral_v<T> && std::is_same_v<F, std::bit_or<>>) return GEX_OP_OR;
  if constexpr (std::is_integral_v<T> && std::is_same_v<F, std::bit_xor<>>) return GEX_OP_XOR;
  return GEX_OP_USER_NC;
}

template <class T, class F>
void combine(const void *left, void *right_and_out, size_t count, const void *f) {
  const T *const x = static_cast<const T *>(left);
  T *const y = static_cast<T *>(right_and_out);
  for (size_t i = 0; i < count; i++) y[i] = (*static_cast<const F *>(f))(x[i], y[i]);
}

} // namespace detail

/* ---------------------------------------------------------------- teams */

/* Ranks that act together. A team that split() has made ends with its object, on all members
 * together. Collective calls are made by all members in one order. */
class team {
public:
  team() = default;
  explicit team(gex_TM_t tm) : tm_(tm) {}
  team(team &&other) noexcept { *this = std::move(other); }
  team &operator=(team &&other) noexcept {
    std::swap(tm_, other.tm_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~team() {
    if (owned_ && !detail::self.ended && !std::uncaught_exceptions())
      gex_TM_Destroy(tm_, nullptr, 0);
  }

  gex_TM_t handle() const { return tm_; }
  explicit operator bool() const { return tm_ != GEX_TM_INVALID; }
  rank_t rank() const { return gex_TM_QueryRank(tm_); }
  rank_t size() const { return gex_TM_QuerySize(tm_); }
  /* The jobrank of a member, which is what global_ptr holds. */
  rank_t jobrank(rank_t member) const { return gex_TM_TranslateRankToJobrank(tm_, member); }

  /* Collective: returns when every member has called. */
  void barrier() const { detail::await_event(gex_Coll_BarrierNB(tm_, 0)); }
  /* Collective: the future is ready when every member has called. */
  future<> async_barrier() const { return detail::of_event(gex_Coll_BarrierNB(tm_, 0)); }

  /* Collective: one team for each colour (at least 0), ordered by key, then rank here. */
  team split(int colour, int key = 0) const {
    team made;
    gex_TM_Split(&made.tm_, tm_, colour, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
    made.owned_ = true;
    return made;
  }

  /* Collective: every member gets the root's value. */
  template <class T> T broadcast(T value, rank_t root) const {
    broadcast(&value, 1, root);
    return value;
  }
  template <class T> void broadcast(T *values, size_t n, rank_t root) const {
    static_assert(detail::travels<T>, "broadcast: T must be trivially copyable");
    detail::await_event(gex_Coll_BroadcastNB(tm_, root, values, values, n * sizeof(T), 0));
  }

  /* Collective: values combined in the order of ranks by f(left, right), by default their sum. f is
   * called on any thread of the library and must not communicate. */
  template <class T, class F = std::plus<>> T all_reduce(T value, F f = {}) const {
    all_reduce(&value, 1, f);
    return value;
  }
  template <class T, class F = std::plus<>> void all_reduce(T *values, size_t n, F f = {}) const {
    static_assert(detail::travels<T>, "all_reduce: T must be trivially copyable");
    constexpr gex_OP_t op = detail::operation<T, F>();
    constexpr bool own = op == GEX_OP_USER_NC;
    if (!n) return;
    detail::await_event(gex_Coll_ReduceToAllNB(
        tm_, values, values, own ? GEX_DT_USER : detail::data_type<T>(), sizeof(T), n, op,
        own ? &detail::combine<T, F> : nullptr, own ? &f : nullptr, 0));
  }

  /* Collective: element r is the value of member r. */
  template <class T> std::vector<T> all_gather(const T &value) const {
    static_assert(detail::travels<T>, "all_gather: T must be trivially copyable");
    std::vector<T> all(size());
    detail::await_event(gexx_Coll_AllGatherNB(tm_, all.data(), &value, sizeof(T), 0));
    return all;
  }

  /* Runs f(args...) on a member, inside a message handler: it must not wait or communicate. The
   * callable is one of the program, captures trivially copyable values only, and no references.
   * Arguments and result travel by serial<T>. The future throws remote_error if f has thrown. */
  template <class F, class... Args> auto call(rank_t member, F f, Args... args) const {
    return detail::call(tm_, member, std::move(f), std::move(args)...);
  }

private:
  gex_TM_t tm_ = GEX_TM_INVALID;
  bool owned_ = false;
};

} // namespace tombolo

#endif
