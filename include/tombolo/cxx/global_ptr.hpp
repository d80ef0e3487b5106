/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/global_ptr.hpp: places on other ranks; put, get and strided copies.
 *
 * Called by clients. Calls the inline functions of put and get, and gex_VIS_Strided. Invariant: a
 * blocking put or get is that inline function and nothing else, so it costs what it costs in C.
 */
#ifndef TOMBOLO_CXX_GLOBAL_PTR_HPP
#define TOMBOLO_CXX_GLOBAL_PTR_HPP

#include <array>
#include <gasnet_vis.h>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "future.hpp"

namespace tombolo {

template <class T> class global_ref;

/* A place in the segment of a rank: jobrank and address there. A value: it may be copied to other
 * ranks. Arithmetic counts elements and stays on the rank. The order is that of ranks, then of
 * addresses. T may be incomplete, as that of a member of itself, until put or get. */
template <class T> class global_ptr {
  template <class I> using if_number = std::enable_if_t<std::is_convertible_v<I, ptrdiff_t>, int>;

public:
  using element_type = T;

  global_ptr() = default;
  global_ptr(std::nullptr_t) {}
  /* [in] where: jobrank; [in] addr: address in that rank's segment, in its address space. */
  global_ptr(rank_t where, T *addr) : addr_(addr), rank_(where) {}
  /* Adds const. */
  template <class U, std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>, int> = 0>
  global_ptr(const global_ptr<U> &p) : addr_(p.addr_), rank_(p.rank_) {}

  rank_t where() const { return rank_; }
  T *address() const {
    static_assert(detail::travels<T>, "global_ptr<T>: T must be trivially copyable");
    return addr_;
  }
  explicit operator bool() const { return addr_ != nullptr; }
  bool is_null() const { return addr_ == nullptr; }
  /* Whether local() is the place, as it is for a null one. */
  bool is_local() const { return !addr_ || detail::self.near[rank_]; }

  /* The place in this process; nullptr where the rank's memory is not mapped here. */
  T *local() const {
    char *const here = addr_ ? detail::self.near[rank_] : nullptr;
    if (!here) return nullptr;
#if TOMBOLO_CHECKED
    if (here != detail::self.mine)
      gexx_check_alias(rank_, here, detail::self.memory.bytes(), detail::self.base[rank_]);
#endif
    const uintptr_t offset =
        reinterpret_cast<uintptr_t>(addr_) - reinterpret_cast<uintptr_t>(detail::self.base[rank_]);
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(here) + offset);
  }

  /* n: a number of elements, of any integer type. */
  template <class I, if_number<I> = 0> global_ptr operator+(I n) const {
    return {rank_, addr_ + n};
  }
  template <class I, if_number<I> = 0> friend global_ptr operator+(I n, const global_ptr &p) {
    return p + n;
  }
  template <class I, if_number<I> = 0> global_ptr operator-(I n) const {
    return {rank_, addr_ - n};
  }
  /* Elements between two places of one rank. */
  ptrdiff_t operator-(const global_ptr &other) const {
    return addr_ - other.addr_;
  }
  template <class I, if_number<I> = 0> global_ptr &operator+=(I n) {
    return *this = *this + n;
  }
  template <class I, if_number<I> = 0> global_ptr &operator-=(I n) {
    return *this = *this - n;
  }
  global_ptr &operator++() {
    return *this += 1;
  }
  global_ptr &operator--() {
    return *this -= 1;
  }
  global_ptr operator++(int) {
    const global_ptr was = *this;
    ++*this;
    return was;
  }
  global_ptr operator--(int) {
    const global_ptr was = *this;
    --*this;
    return was;
  }
  friend bool operator==(const global_ptr &a, const global_ptr &b) {
    return a.rank_ == b.rank_ && a.addr_ == b.addr_;
  }
  friend bool operator!=(const global_ptr &a, const global_ptr &b) {
    return !(a == b);
  }
  friend bool operator<(const global_ptr &a, const global_ptr &b) {
    if (a.rank_ != b.rank_) return a.rank_ < b.rank_;
    return reinterpret_cast<uintptr_t>(a.addr_) < reinterpret_cast<uintptr_t>(b.addr_);
  }
  friend bool operator>(const global_ptr &a, const global_ptr &b) {
    return b < a;
  }
  friend bool operator<=(const global_ptr &a, const global_ptr &b) {
    return !(b < a);
  }
  friend bool operator>=(const global_ptr &a, const global_ptr &b) {
    return !(a < b);
  }
  global_ref<T> operator*() const {
    return global_ref<T>(*this);
  }
  template <class I, if_number<I> = 0> global_ref<T> operator[](I n) const {
    return global_ref<T>(*this + n);
  }

  /* The place as `rank R: ADDRESS`. */
  template <class C, class Traits>
  friend std::basic_ostream<C, Traits> &operator<<(std::basic_ostream<C, Traits> &out,
                                                   const global_ptr &p) {
    return out << "rank " << p.rank_ << ": " << static_cast<const void *>(p.addr_);
  }

private:
  template <class U> friend class global_ptr;
  template <class U, class V> friend global_ptr<U> static_pointer_cast(const global_ptr<V> &p);
  template <class U, class V> friend global_ptr<U> reinterpret_pointer_cast(const global_ptr<V> &p);
  template <class U, class V> friend global_ptr<U> const_pointer_cast(const global_ptr<V> &p);
  friend struct std::hash<global_ptr>;

  T *addr_ = nullptr;
  rank_t rank_ = 0;
};

/* The place as one of another type, by the cast of that name. */
template <class U, class V> global_ptr<U> static_pointer_cast(const global_ptr<V> &p) {
  return {p.rank_, static_cast<U *>(p.addr_)};
}
template <class U, class V> global_ptr<U> reinterpret_pointer_cast(const global_ptr<V> &p) {
  return {p.rank_, reinterpret_cast<U *>(p.addr_)};
}
template <class U, class V> global_ptr<U> const_pointer_cast(const global_ptr<V> &p) {
  return {p.rank_, const_cast<U *>(p.addr_)};
}

/* The global place of an address of this process in the segment of this rank, or of another one
 * that is mapped here; null for null. Throws error for an address that is in none. */
template <class T> global_ptr<T> to_global(T *here) {
  if (!here) return nullptr;
  const auto &self = detail::self;
  const uintptr_t at = reinterpret_cast<uintptr_t>(here);
  const auto inside = [&](rank_t r) {
    return self.near[r] && at - reinterpret_cast<uintptr_t>(self.near[r]) < self.memory.bytes();
  };
  rank_t r = tombolo::rank();
  if (!inside(r))
    for (r = 0; r < tombolo::size() && !inside(r);) r++;
  if (r == tombolo::size())
    throw error("to_global: the address is in no segment that is mapped here; take memory from "
                "job::allocate, allocate or new_");
  const uintptr_t offset = at - reinterpret_cast<uintptr_t>(self.near[r]);
  return {r, reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(self.base[r]) + offset)};
}

namespace detail {

/* The address of a get, whose parameter has no const. */
template <class T> std::remove_const_t<T> *source(const global_ptr<T> &from) {
  return const_cast<std::remove_const_t<T> *>(from.address());
}

} // namespace detail

/* Puts one element, or n, and returns when they are there: gex_RMA_PutBlocking. */
template <class T> void put(global_ptr<T> to, const T &value) {
  gex_RMA_PutBlocking(detail::self.world, to.where(), to.address(), &value, sizeof(T), 0);
}
template <class T> void put(global_ptr<T> to, const T *from, size_t n) {
  gex_RMA_PutBlocking(detail::self.world, to.where(), to.address(), from, n * sizeof(T), 0);
}

/* Gets one element, or n: gex_RMA_GetBlocking. */
template <class T> std::remove_const_t<T> get(global_ptr<T> from) {
  std::remove_const_t<T> value;
  gex_RMA_GetBlocking(detail::self.world, &value, from.where(), detail::source(from), sizeof(T), 0);
  return value;
}
template <class T> void get(global_ptr<T> from, std::remove_const_t<T> *to, size_t n) {
  gex_RMA_GetBlocking(detail::self.world, to, from.where(), detail::source(from), n * sizeof(T), 0);
}

/* Starts a put of one element; `value` may change on return. Ready: the data are there. */
template <class T> future<> rput(global_ptr<T> to, const T &value) {
  return detail::of_event(gex_RMA_PutNB(detail::self.world, to.where(), to.address(), &value,
                                        sizeof(T), GEX_EVENT_NOW, 0));
}

/* Starts a put of n elements, which stay unchanged until the future is ready. */
template <class T> future<> rput(global_ptr<T> to, const T *from, size_t n) {
  return detail::of_event(gex_RMA_PutNB(detail::self.world, to.where(), to.address(), from,
                                        n * sizeof(T), GEX_EVENT_DEFER, 0));
}

/* Starts a put of all elements of a contiguous container (vector, array, span). */
template <class T, class C>
auto rput(global_ptr<T> to, const C &from)
    -> decltype(static_cast<const T *>(from.data()), from.size(), future<>()) {
  return rput(to, static_cast<const T *>(from.data()), from.size());
}

/* Starts a get of one element. */
template <class T> future<std::remove_const_t<T>> rget(global_ptr<T> from) {
  using value_type = std::remove_const_t<T>;
  const intptr_t delta = gexx_rma_delta(detail::self.world, from.where());
  if (gexx_rma_direct(delta, 0))
    return future<value_type>(get(from)); /* mapped: no memory for a state */
  auto c = std::make_shared<detail::event_core<value_type>>();
  c->event = gex_RMA_GetNB(detail::self.world, &std::get<0>(*c->value), from.where(),
                           detail::source(from), sizeof(T), 0);
  return future<value_type>(std::move(c));
}

/* Starts a get of n elements to `to`, which is not used until the future is ready. */
template <class T> future<> rget(global_ptr<T> from, std::remove_const_t<T> *to, size_t n) {
  return detail::of_event(
      gex_RMA_GetNB(detail::self.world, to, from.where(), detail::source(from), n * sizeof(T), 0));
}

/* Result of *p and p[i]: reads by a blocking get, assigns by a blocking put. */
template <class T> class global_ref {
public:
  explicit global_ref(global_ptr<T> p) : p_(p) {}
  global_ref(const global_ref &) = default;
  operator std::remove_const_t<T>() const { return get(p_); }
  const global_ref &operator=(const T &value) const {
    put(p_, value);
    return *this;
  }
  global_ref &operator=(const global_ref &other) {
    put(p_, get(other.p_));
    return *this;
  }
  global_ptr<T> operator&() const { return p_; }

private:
  global_ptr<T> p_;
};

/* ---------------------------------------------------------------- strided views */

/* N dimensions of elements: extents, and strides in elements, which may be negative. P is T * or
 * global_ptr<T>; in a remote view no element comes twice. */
template <class P, size_t N> struct view {
  P base;
  std::array<size_t, N> extents;
  std::array<ptrdiff_t, N> strides;

  static constexpr size_t rank() { return N; } /* dimensions, as of std::mdspan */
  size_t extent(size_t d) const { return extents[d]; }
  ptrdiff_t stride(size_t d) const { return strides[d]; }
  size_t size() const {
    size_t n = 1;
    for (const size_t e : extents) n *= e;
    return n;
  }
  bool empty() const { return size() == 0; }

  /* Element (i, j, ...): a reference to memory, or a global_ref. Not checked. */
  template <class... I> decltype(auto) operator()(I... i) const {
    static_assert(sizeof...(I) == N, "view: give one index for each dimension");
    const std::array<ptrdiff_t, N> at{static_cast<ptrdiff_t>(i)...};
    ptrdiff_t offset = 0;
    for (size_t d = 0; d < N; d++) offset += at[d] * strides[d];
    return base[offset];
  }

  /* Elements first, first + step, ... of dimension d, `count` of them; step may be negative. Throws
   * error where one of them is outside. */
  view slice(size_t d, size_t first, size_t count, ptrdiff_t step = 1) const {
    view made = *this;
    const ptrdiff_t last =
        static_cast<ptrdiff_t>(first) + step * (static_cast<ptrdiff_t>(count) - 1);
    const bool inside = count == 0 || (d < N && first < extents[d] && last >= 0 &&
                                       static_cast<size_t>(last) < extents[d]);
    if (d >= N || !inside)
      throw error("view: " + std::to_string(count) + " elements from " + std::to_string(first) +
                  " in steps of " + std::to_string(step) + " do not lie in dimension " +
                  std::to_string(d) + (d < N ? " of " + std::to_string(extents[d]) : ""));
    if (count) made.base = base + static_cast<ptrdiff_t>(first) * strides[d];
    made.extents[d] = count;
    made.strides[d] = step * strides[d];
    return made;
  }

  /* The view of one dimension less in which index i of dimension d is fixed. */
  view<P, N - 1> at(size_t d, size_t i) const {
    static_assert(N > 1, "view: a view of one dimension has no smaller ones");
    const view one = slice(d, i, 1);
    view<P, N - 1> made{one.base, {}, {}};
    for (size_t k = 0, to = 0; k < N; k++) {
      if (k == d) continue;
      made.extents[to] = extents[k];
      made.strides[to++] = strides[k];
    }
    return made;
  }

  /* The view with its dimensions in the reverse order. */
  view transposed() const {
    view made = *this;
    for (size_t d = 0; d < N; d++) {
      made.extents[d] = extents[N - 1 - d];
      made.strides[d] = strides[N - 1 - d];
    }
    return made;
  }
};

/* The view of contiguous elements in the order of C: the last index runs fastest. */
template <class P, class... E> view<P, sizeof...(E)> row_major(P base, E... extents) {
  view<P, sizeof...(E)> made{base, {static_cast<size_t>(extents)...}, {}};
  ptrdiff_t stride = 1;
  for (size_t d = sizeof...(E); d-- > 0; stride *= static_cast<ptrdiff_t>(made.extents[d]))
    made.strides[d] = stride;
  return made;
}

/* The view of a std::mdspan, or of anything with its data_handle(), rank(), extent(d) and
 * stride(d). The data handle is a pointer or a global_ptr. */
template <class M> auto as_view(const M &m) {
  using pointer = std::decay_t<decltype(m.data_handle())>;
  view<pointer, M::rank()> made{m.data_handle(), {}, {}};
  for (size_t d = 0; d < M::rank(); d++) {
    made.extents[d] = static_cast<size_t>(m.extent(d));
    made.strides[d] = static_cast<ptrdiff_t>(m.stride(d));
  }
  return made;
}

/* A local view of the elements; its base is null where that is not mapped. */
template <class T, size_t N> view<T *, N> local(const view<global_ptr<T>, N> &v) {
  return {v.base.local(), v.extents, v.strides};
}

/* A view of rows; `stride` elements lie between the starts of two rows. */
template <class P> view<P, 2> view2d(P base, size_t rows, size_t columns, ptrdiff_t stride) {
  return {base, {rows, columns}, {stride, 1}};
}

namespace detail {

template <size_t N> std::string shape(const std::array<size_t, N> &extents) {
  std::string text;
  for (const size_t n : extents) text += (text.empty() ? "" : " x ") + std::to_string(n);
  return text;
}

/* Strides in bytes. */
template <class T, class P, size_t N> std::array<ptrdiff_t, N> in_bytes(const view<P, N> &v) {
  std::array<ptrdiff_t, N> bytes = v.strides;
  for (ptrdiff_t &s : bytes) s *= ptrdiff_t(sizeof(T));
  return bytes;
}

template <class A, class B> void check_shapes(const A &to, const B &from) {
  if (to.extents != from.extents)
    throw error("copy: a view of " + shape(from.extents) + " elements does not fit one of " +
                shape(to.extents) + "; give both the same shape");
}

} // namespace detail

/* Starts a put of a local view into a remote one of the same shape; the elements stay unchanged
 * until the future is ready. Throws error for different shapes. */
template <class T, size_t N>
future<> rcopy(const view<T *, N> &from, const view<global_ptr<T>, N> &to) {
  detail::check_shapes(to, from);
  const auto there = detail::in_bytes<T>(to), here = detail::in_bytes<T>(from);
  return detail::of_event(gex_VIS_StridedPutNB(detail::self.world, to.base.where(),
                                               to.base.address(), there.data(), from.base,
                                               here.data(), sizeof(T), to.extents.data(), N, 0));
}

/* Starts a get of a remote view into a local one, which is not used until the future is ready. */
template <class T, size_t N>
future<> rcopy(const view<global_ptr<T>, N> &from, const view<T *, N> &to) {
  detail::check_shapes(to, from);
  const auto there = detail::in_bytes<T>(from), here = detail::in_bytes<T>(to);
  return detail::of_event(gex_VIS_StridedGetNB(detail::self.world, to.base, here.data(),
                                               from.base.where(), from.base.address(), there.data(),
                                               sizeof(T), to.extents.data(), N, 0));
}

/* Puts a local view into a remote one, blocking. */
template <class From, class To, size_t N>
void copy(const view<From, N> &from, const view<To, N> &to) {
  rcopy(from, to).wait();
}

} // namespace tombolo

template <class T> struct std::hash<tombolo::global_ptr<T>> {
  size_t operator()(const tombolo::global_ptr<T> &p) const {
    const size_t mixed = size_t(p.rank_) * size_t(0x9e3779b97f4a7c15u);
    return std::hash<T *>()(p.addr_) ^ (mixed >> 8 | mixed << (8 * sizeof mixed - 8));
  }
};

#endif
