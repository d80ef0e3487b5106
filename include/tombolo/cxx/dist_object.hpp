/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/dist_object.hpp: an object on each member of a team, under one name.
 *
 * Called by clients. Calls rpc.hpp. Invariants: members give equal numbers to the objects that they
 * make together: of the job by counting, of other teams by a number of member 0; a call that names
 * an object which is not made yet is parked with its number, and run when it is made; the number of
 * an object that has ended is kept, so that a late call fails in words.
 */
#ifndef TOMBOLO_CXX_DIST_OBJECT_HPP
#define TOMBOLO_CXX_DIST_OBJECT_HPP

#include "rpc.hpp"

namespace tombolo {

template <class T> class dist_object;

namespace detail {

template <class V> class object_op;

template <class Used> struct dist_entry {
  void *object = nullptr;
  bool ended = false;
  fifo<std::shared_ptr<message_task<Used>>> parked;
};
template <class Used> struct dist_process { /* a template as `late` says */
  hsl lock;
  table<uint64_t, dist_entry<Used>> all; /* by number */
  uint32_t of_job = 0, of_teams = 0;     /* numbers given out so far */
};
template <class Used> inline dist_process<Used> dist_table;

/* Number of the next object of a team; collective. */
template <class Used> uint64_t next_dist(const team &tm) {
  auto &dists = dist_table<Used>;
  if (tm.handle() == self.world) return uint64_t(UINT32_MAX) << 32 | dists.of_job++;
  uint64_t number = 0;
  if (tm.rank() == 0) number = uint64_t(tombolo::rank()) << 32 | dists.of_teams++;
  return tm.broadcast(number, 0);
}

template <class Used> void enter_dist(uint64_t number, void *object) {
  auto &dists = dist_table<Used>;
  fifo<std::shared_ptr<message_task<Used>>> parked;
  {
    const held guard(dists.lock);
    auto &e = dists.all.get(number);
    e.object = object;
    e.ended = !object;
    parked.take(e.parked);
  }
  while (!parked.empty()) {
    rpcs.sent.fetch_add(1); /* it runs once more */
    incoming.post(parked.pop());
  }
}

/* The object as an argument of a call. */
template <class T> struct dist_name {
  uint64_t number;
  dist_name(const dist_object<T> &d) : number(d.number()) {}
};
template <class T> struct wire<dist_object<T>> { using type = dist_name<T>; };
template <class T> struct received<dist_name<T>> {
  using type = dist_object<T> &;
  static dist_object<T> &get(const dist_name<T> &name) {
    auto &dists = dist_table<typename late<T>::type>;
    const held guard(dists.lock);
    return *static_cast<dist_object<T> *>(dists.all.find(name.number)->object);
  }
  /* Parks the call until the object is made. */
  static bool missing(const dist_name<T> &name, message_task<> &call) {
    auto &dists = dist_table<typename late<T>::type>;
    const held guard(dists.lock);
    auto &e = dists.all.get(name.number);
    if (e.object) return false;
    if (e.ended)
      throw error("rpc: the dist_object has ended here; wait for calls that use it, then for a "
                  "barrier, before it ends");
    e.parked.push(call.shared_from_this());
    return true;
  }
};

} // namespace detail

/* A T on each member of a team. As an argument of rpc it is the target's own dist_object; the call
 * waits there until that is made. It ends on each member alone; a later call for it fails. */
template <class T> class dist_object {
  using used = typename detail::late<T>::type;

public:
  /* Collective over the job, without a barrier. */
  explicit dist_object(T value) : dist_object(team(detail::self.world), std::move(value)) {}
  /* T(args...) on each member; collective over the team, without a barrier. The team ends after it.
   */
  template <class... Args>
  explicit dist_object(const team &tm, Args &&...args)
      : tm_(tm.handle()), value_(std::in_place, std::forward<Args>(args)...),
        number_(detail::next_dist<used>(tm)) {
    detail::enter_dist<used>(number_, this);
  }
  dist_object(dist_object &&other) noexcept
      : tm_(other.tm_), value_(std::move(other.value_)), number_(other.number_) {
    other.tm_ = GEX_TM_INVALID;
    detail::enter_dist<used>(number_, this);
  }
  dist_object(const dist_object &) = delete;
  dist_object &operator=(const dist_object &) = delete;
  ~dist_object() {
    if (tm_ != GEX_TM_INVALID) detail::enter_dist<used>(number_, nullptr);
  }

  /* The object of this rank. */
  T &operator*() { return *value_; }
  const T &operator*() const { return *value_; }
  T *operator->() { return &*value_; }
  const T *operator->() const { return &*value_; }
  uint64_t number() const { return number_; }

  /* A copy of the object of a member, once that is made. */
  future<T> fetch(rank_t member) const {
    return rpc(
        team(tm_), member, [](dist_object &theirs) { return T(*theirs); }, *this);
  }

private:
  template <class V> friend class detail::object_op;
  /* Ends it without a trace of its number: no call for it comes any more. */
  void forget() {
    auto &dists = detail::dist_table<used>;
    const detail::held guard(dists.lock);
    dists.all.erase(number_);
    tm_ = GEX_TM_INVALID;
  }

  gex_TM_t tm_;
  std::optional<T> value_;
  uint64_t number_;
};

} // namespace tombolo

#endif
