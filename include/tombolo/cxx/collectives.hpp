/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/collectives.hpp: collective operations in progress, as futures.
 *
 * Called by team.hpp. Calls the collective functions of the C API. The data of a collective are in
 * the core of its future: a value, or a vector of as many elements on every member. Invariants: the
 * operation ends before its data do; a type and an operator that the library knows are reduced by
 * the library, all others by detail::combine in the order of ranks; types that are not copied as
 * bytes go to inside/objects.hpp.
 */
#ifndef TOMBOLO_CXX_COLLECTIVES_HPP
#define TOMBOLO_CXX_COLLECTIVES_HPP

#include <gasnet_coll.h>
#include <string>
#include <vector>

#include "future.hpp"

#ifdef __GLIBCXX__
# include <bits/stl_function.h> /* std::plus and its like, without the rest of <functional> */
#else
# include <functional>
#endif

namespace tombolo {

class team;

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
  const F &fn = *static_cast<const F *>(f);
  for (size_t i = 0; i < count; i++) y[i] = static_cast<T>(fn(x[i], y[i]));
}

/* The elements of a value, or of a vector. */
template <class V> struct elements {
  using type = V;
  static V *data(V &v) { return &v; }
  static size_t size(const V &) { return 1; }
};
template <class T> struct elements<std::vector<T>> {
  using type = T;
  static_assert(!std::is_same_v<T, bool>, "collectives: std::vector<bool> has no elements in "
                                          "memory; use char");
  static T *data(std::vector<T> &v) { return v.data(); }
  static size_t size(const std::vector<T> &v) { return v.size(); }
};
template <class V> using element = typename elements<V>::type;

/* A collective: what goes in, how it is combined, and, as the value of the future, what comes out.
 */
template <class In, class F, class Out> struct collective : event_core<Out> {
  static_assert(travels<element<In>>, "collectives: the type must be trivially copyable");
  In in;
  F f;
  collective(In i, F fn) : in(std::move(i)), f(std::move(fn)) {}
  ~collective() override { this->end(); }
  Out &out() { return std::get<0>(*this->value); }
  element<In> *from() { return elements<In>::data(in); }
  element<Out> *to() { return elements<Out>::data(out()); }
  size_t count() const { return elements<In>::size(in); }
  size_t bytes() const { return count() * sizeof(element<In>); }
};
struct no_operator {};

/* Whether a value, or the elements of a vector, are copied as bytes. The others have collectives of
 * their own, in inside/objects.hpp. */
template <class V> constexpr bool as_bytes = travels<element<V>>;
template <class V> future<V> object_broadcast(const team &tm, V value, rank_t root);
template <class V, class F> future<V> object_all_reduce(const team &tm, V value, F f);
template <class V, class F> future<V> object_reduce(const team &tm, V value, rank_t root, F f);
template <class V> future<std::vector<element<V>>> object_all_gather(const team &tm, V value);
template <class V>
future<std::vector<element<V>>> object_gather(const team &tm, V value, rank_t root);

/* The future of a collective that start(core) begins. */
template <class Out, class In, class F, class Start> future<Out> begin(In in, F f, Start start) {
  auto c = std::make_shared<collective<In, F, Out>>(std::move(in), std::move(f));
  c->event = start(*c);
  return future<Out>(std::shared_ptr<core<Out>>(std::move(c)));
}

/* Arguments of a reduction of `count` elements. */
template <class T, class F> struct reduction {
  static constexpr gex_OP_t op = operation<T, F>();
  static constexpr bool own = op == GEX_OP_USER_NC;
  static constexpr gex_DT_t type = own ? GEX_DT_USER : data_type<T>();
  static constexpr gex_Coll_ReduceFn_t function = own ? &combine<T, F> : nullptr;
  static void *data(F &f) { return own ? &f : nullptr; }
};

/* Elements of one block of a vector with a block for each member. */
inline size_t block_of(const char *call, size_t count, gex_Rank_t members) {
  if (count % members)
    throw error(std::string(call) + ": a vector of " + std::to_string(count) +
                " elements has no equal blocks for " + std::to_string(members) +
                " members; give a multiple of that");
  return count / members;
}

} // namespace detail
} // namespace tombolo

#endif
