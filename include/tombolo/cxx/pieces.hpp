/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/pieces.hpp: copies between memory in many pieces here and on another rank.
 *
 * Called by clients. Calls the vector and indexed functions of gasnet_vis.h. Invariants: one copy
 * has one rank as its peer; the lists that the library reads are in the core of the future.
 */
#ifndef TOMBOLO_CXX_PIECES_HPP
#define TOMBOLO_CXX_PIECES_HPP

#include <gasnet_vis.h>
#include <string>
#include <vector>

#include "completions.hpp"

namespace tombolo {

/* Elements one after the other; P is T * or global_ptr<T>. */
template <class P> struct piece {
  P base;
  size_t count;
};

/* Pieces of one length: where they begin, and the elements of each. */
template <class P> struct equal_pieces {
  std::vector<P> bases;
  size_t count;
};

namespace detail {

/* A copy in progress, with its lists. */
template <class Entry> struct list_core : event_core<> {
  std::vector<Entry> here, there;
  ~list_core() override { end(); }
};

/* The rank of all places; throws if there is another. */
template <class List, class Place> rank_t one_rank(const List &list, Place place) {
  const rank_t peer = list.empty() ? rank() : place(list.front()).where();
  for (const auto &entry : list)
    if (place(entry).where() != peer)
      throw error("rcopy: pieces on the ranks " + std::to_string(peer) + " and " +
                  std::to_string(place(entry).where()) + "; copy those of each rank by themselves");
  return peer;
}
inline void check_total(size_t from, size_t to) {
  if (from != to)
    throw error("rcopy: pieces of " + std::to_string(from) + " elements do not fill pieces of " +
                std::to_string(to) + "; give both as many");
}

template <class P> size_t total(const std::vector<piece<P>> &list) {
  size_t n = 0;
  for (const auto &p : list) n += p.count;
  return n;
}
template <class P> size_t total(const equal_pieces<P> &list) {
  return list.bases.size() * list.count;
}
template <class T> rank_t peer_of(const std::vector<piece<global_ptr<T>>> &list) {
  return one_rank(list, [](const auto &p) { return p.base; });
}
template <class T> rank_t peer_of(const equal_pieces<global_ptr<T>> &list) {
  return one_rank(list.bases, [](const auto &p) { return p; });
}

template <class T> void *bytes_at(T *p) {
  return const_cast<std::remove_const_t<T> *>(p);
}
template <class T> void *bytes_at(const global_ptr<T> &p) {
  return bytes_at(p.address());
}
template <class T, class P> std::vector<gex_Memvec_t> memvecs(const std::vector<piece<P>> &list) {
  std::vector<gex_Memvec_t> made(list.size());
  for (size_t i = 0; i < list.size(); i++) {
    made[i].gex_addr = bytes_at(list[i].base);
    made[i].gex_len = list[i].count * sizeof(T);
  }
  return made;
}
template <class P> std::vector<void *> addresses(const equal_pieces<P> &list) {
  std::vector<void *> made;
  for (const P &p : list.bases) made.push_back(bytes_at(p));
  return made;
}

/* A core with the lists, for the future of a copy, or nothing where there is none to copy. */
template <class Entry, class Start>
future<> begin_pieces(std::vector<Entry> here, std::vector<Entry> there, Start start) {
  auto c = std::make_shared<list_core<Entry>>();
  c->here = std::move(here);
  c->there = std::move(there);
  c->event = start(*c);
  if (c->event == GEX_EVENT_INVALID) return {};
  return future<>(std::shared_ptr<core<>>(std::move(c)));
}

} // namespace detail

/* Starts a put: the elements of all pieces here, in order, into those of the pieces there, which
 * are on one rank. Both have as many elements; their pieces may differ. The elements stay unchanged
 * until the future is ready. Throws error for other lists. */
template <class T, class S>
future<> rcopy(const std::vector<piece<S *>> &from, const std::vector<piece<global_ptr<T>>> &to) {
  detail::check_total(detail::total(from), detail::total(to));
  return detail::begin_pieces(
      detail::memvecs<T>(from), detail::memvecs<T>(to), [peer = detail::peer_of(to)](auto &c) {
        return gex_VIS_VectorPutNB(detail::self.world, peer, c.there.size(), c.there.data(),
                                   c.here.size(), c.here.data(), 0);
      });
}

/* Starts a get, likewise. */
template <class T>
future<> rcopy(const std::vector<piece<global_ptr<T>>> &from, const std::vector<piece<T *>> &to) {
  detail::check_total(detail::total(from), detail::total(to));
  return detail::begin_pieces(
      detail::memvecs<T>(to), detail::memvecs<T>(from), [peer = detail::peer_of(from)](auto &c) {
        return gex_VIS_VectorGetNB(detail::self.world, c.here.size(), c.here.data(), peer,
                                   c.there.size(), c.there.data(), 0);
      });
}

/* Transfers pieces of equal lengths, which may differ between here and there. */
template <class T, class S>
future<> rcopy(const equal_pieces<S *> &from, const equal_pieces<global_ptr<T>> &to) {
  detail::check_total(detail::total(from), detail::total(to));
  const size_t here = from.count * sizeof(T), there = to.count * sizeof(T);
  return detail::begin_pieces(
      detail::addresses(from), detail::addresses(to), [&, peer = detail::peer_of(to)](auto &c) {
        return gex_VIS_IndexedPutNB(detail::self.world, peer, c.there.size(), c.there.data(), there,
                                    c.here.size(), c.here.data(), here, 0);
      });
}
template <class T>
future<> rcopy(const equal_pieces<global_ptr<T>> &from, const equal_pieces<T *> &to) {
  detail::check_total(detail::total(from), detail::total(to));
  const size_t here = to.count * sizeof(T), there = from.count * sizeof(T);
  return detail::begin_pieces(
      detail::addresses(to), detail::addresses(from), [&, peer = detail::peer_of(from)](auto &c) {
        return gex_VIS_IndexedGetNB(detail::self.world, c.here.size(), c.here.data(), here, peer,
                                    c.there.size(), c.there.data(), there, 0);
      });
}

/* Copies of pieces with ends, as those of views. */
template <class List, class T, class... C, detail::if_completions<C...> = 0>
auto rcopy(const List &from, const std::vector<piece<global_ptr<T>>> &to, C... ends) {
  const future<> done = rcopy(from, to);
  return detail::hand_out(detail::begun<>{detail::peer_of(to), done, done, false}, ends...);
}
template <class List, class T, class... C, detail::if_completions<C...> = 0>
auto rcopy(const List &from, const equal_pieces<global_ptr<T>> &to, C... ends) {
  const future<> done = rcopy(from, to);
  return detail::hand_out(detail::begun<>{detail::peer_of(to), done, done, false}, ends...);
}
template <class T, class S, class... C, detail::if_completions<C...> = 0>
auto rcopy(const std::vector<piece<global_ptr<T>>> &from, const std::vector<piece<S *>> &to,
           C... ends) {
  static_assert(!detail::wants_source<C...>, "rcopy: a get has no source to reuse");
  return detail::hand_out(detail::begun<>{detail::peer_of(from), rcopy(from, to), {}, false},
                          ends...);
}
template <class T, class S, class... C, detail::if_completions<C...> = 0>
auto rcopy(const equal_pieces<global_ptr<T>> &from, const equal_pieces<S *> &to, C... ends) {
  static_assert(!detail::wants_source<C...>, "rcopy: a get has no source to reuse");
  return detail::hand_out(detail::begun<>{detail::peer_of(from), rcopy(from, to), {}, false},
                          ends...);
}

} // namespace tombolo

#endif
