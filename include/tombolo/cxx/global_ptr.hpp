/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/global_ptr.hpp: places on other ranks; put, get and strided copies.
 *
 * Called by clients. Calls the inline functions of put and get, and gex_VIS_Strided. Invariant: a
 * blocking put or get is that inline function and nothing else, so it costs what it costs in C.
 */
#ifndef TOMBOLO_CXX_GLOBAL_PTR_HPP
#define TOMBOLO_CXX_GLOBAL_PTR_HPP

#include <gasnet_vis.h>
#include <memory>
#include <type_traits>

#include "future.hpp"

namespace tombolo {

template <class T> class global_ref;

/* A place in the segment of a rank: jobrank and address there. A value: it may be copied to other
 * ranks. Arithmetic counts elements and stays on the rank. */
template <class T> class global_ptr {
  static_assert(detail::travels<T>, "global_ptr<T>: T must be trivially copyable");

public:
  global_ptr() = default;
  /* [in] where: jobrank; [in] addr: address in that rank's segment, in its address space. */
  global_ptr(rank_t where, T *addr) : addr_(addr), rank_(where) {}

  rank_t where() const { return rank_; }
  T *address() const { return addr_; }
  explicit operator bool() const { return addr_ != nullptr; }

  /* The place in this process; nullptr where the rank's memory is not mapped here. */
  T *local() const {
    char *const here = addr_ ? detail::self.near[rank_] : nullptr;
    if (!here) return nullptr;
    const uintptr_t offset =
        reinterpret_cast<uintptr_t>(addr_) - reinterpret_cast<uintptr_t>(detail::self.base[rank_]);
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(here) + offset);
  }

  global_ptr operator+(ptrdiff_t n) const { return {rank_, addr_ + n}; }
  global_ptr operator-(ptrdiff_t n) const { return {rank_, addr_ - n}; }
  ptrdiff_t operator-(const global_ptr &other) const { return addr_ - other.addr_; }
  global_ptr &operator+=(ptrdiff_t n) { return *this = *this + n; }
  global_ptr &operator-=(ptrdiff_t n) { return *this = *this - n; }
  global_ptr &operator++() { return *this += 1; }
  global_ptr &operator--() { return *this -= 1; }
  bool operator==(const global_ptr &o) const { return rank_ == o.rank_ && addr_ == o.addr_; }
  bool operator!=(const global_ptr &o) const { return !(*this == o); }
  global_ref<T> operator*() const { return global_ref<T>(*this); }
  global_ref<T> operator[](ptrdiff_t n) const { return global_ref<T>(*this + n); }

private:
  T *addr_ = nullptr;
  rank_t rank_ = 0;
};

/* Puts one element, or n, and returns when they are there: gex_RMA_PutBlocking. */
template <class T> void put(global_ptr<T> to, const T &value) {
  gex_RMA_PutBlocking(detail::self.world, to.where(), to.address(), &value, sizeof(T), 0);
}
template <class T> void put(global_ptr<T> to, const T *from, size_t n) {
  gex_RMA_PutBlocking(detail::self.world, to.where(), to.address(), from, n * sizeof(T), 0);
}

/* Gets one element, or n: gex_RMA_GetBlocking. */
template <class T> T get(global_ptr<T> from) {
  T value;
  gex_RMA_GetBlocking(detail::self.world, &value, from.where(), from.address(), sizeof(T), 0);
  return value;
}
template <class T> void get(global_ptr<T> from, T *to, size_t n) {
  gex_RMA_GetBlocking(detail::self.world, to, from.where(), from.address(), n * sizeof(T), 0);
}

/* Starts a put of one element; `value` may change on return. Ready: the data are there. */
template <class T> future<void> rput(global_ptr<T> to, const T &value) {
  return detail::of_event(gex_RMA_PutNB(detail::self.world, to.where(), to.address(), &value,
                                        sizeof(T), GEX_EVENT_NOW, 0));
}

/* Starts a put of n elements, which stay unchanged until the future is ready. */
template <class T> future<void> rput(global_ptr<T> to, const T *from, size_t n) {
  return detail::of_event(gex_RMA_PutNB(detail::self.world, to.where(), to.address(), from,
                                        n * sizeof(T), GEX_EVENT_DEFER, 0));
}

/* Starts a put of all elements of a contiguous container (vector, array, span). */
template <class T, class C>
auto rput(global_ptr<T> to, const C &from)
    -> decltype(static_cast<const T *>(from.data()), from.size(), future<void>()) {
  return rput(to, static_cast<const T *>(from.data()), from.size());
}

/* Starts a get of one element. */
template <class T> future<T> rget(global_ptr<T> from) {
  const intptr_t delta = gexx_rma_delta(detail::self.world, from.where());
  if (gexx_rma_direct(delta, 0)) return future<T>(get(from)); /* mapped: no memory for a state */
  auto s = std::make_unique<detail::event_state<T>>();
  s->event =
      gex_RMA_GetNB(detail::self.world, &s->value, from.where(), from.address(), sizeof(T), 0);
  return future<T>(std::unique_ptr<detail::state<T>>(std::move(s)));
}

/* Starts a get of n elements to `to`, which is not used until the future is ready. */
template <class T> future<void> rget(global_ptr<T> from, T *to, size_t n) {
  return detail::of_event(
      gex_RMA_GetNB(detail::self.world, to, from.where(), from.address(), n * sizeof(T), 0));
}

/* What *p and p[i] are: reads by a blocking get, assigns by a blocking put. */
template <class T> class global_ref {
public:
  explicit global_ref(global_ptr<T> p) : p_(p) {}
  global_ref(const global_ref &) = default;
  operator T() const { return get(p_); }
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

/* Rows and columns of elements; `stride` elements lie between the starts of two rows. P is T * or
 * global_ptr<T>. */
template <class P> struct view2d {
  P base;
  size_t rows, columns;
  ptrdiff_t stride;
};
template <class P> view2d(P, size_t, size_t, ptrdiff_t) -> view2d<P>;

namespace detail {

template <class A, class B> void check_shapes(const A &to, const B &from) {
  if (to.rows == from.rows && to.columns == from.columns) return;
  throw error("copy: a view of " + std::to_string(from.rows) + " x " +
              std::to_string(from.columns) + " elements does not fit one of " +
              std::to_string(to.rows) + " x " + std::to_string(to.columns) +
              "; give both the same shape");
}

} // namespace detail

/* Puts a local view into a remote one of the same shape, blocking. */
template <class T> void copy(const view2d<T *> &from, const view2d<global_ptr<T>> &to) {
  detail::check_shapes(to, from);
  const ptrdiff_t there = to.stride * ptrdiff_t(sizeof(T)),
                  here = from.stride * ptrdiff_t(sizeof(T));
  gex_VIS_StridedPutBlocking(detail::self.world, to.base.where(), to.base.address(), &there,
                             from.base, &here, from.columns * sizeof(T), &from.rows, 1, 0);
}

/* Gets a remote view into a local one of the same shape, blocking. */
template <class T> void copy(const view2d<global_ptr<T>> &from, const view2d<T *> &to) {
  detail::check_shapes(to, from);
  const ptrdiff_t there = from.stride * ptrdiff_t(sizeof(T)),
                  here = to.stride * ptrdiff_t(sizeof(T));
  gex_VIS_StridedGetBlocking(detail::self.world, to.base, &here, from.base.where(),
                             from.base.address(), &there, to.columns * sizeof(T), &to.rows, 1, 0);
}

} // namespace tombolo

#endif
