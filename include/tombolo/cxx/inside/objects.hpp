/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/cxx/inside/objects.hpp: collectives of values that are not copied as bytes.
 *
 * Called by team.hpp, for each type that travels by serial<T> only. Calls rpc.hpp and
 * dist_object.hpp. Members form a binomial tree: the parent of member r is r without its lowest
 * bit, so the tree below r holds the members from r up to the next child of its parent. Values go
 * up by one message a member, and down likewise. Invariants: the operands of a reduction are in the
 * order of ranks; a member's part ends after the last message to it.
 */
#ifndef TOMBOLO_CXX_INSIDE_OBJECTS_HPP
#define TOMBOLO_CXX_INSIDE_OBJECTS_HPP

#include "../dist_object.hpp"
#include "../promise.hpp"

namespace tombolo {
namespace detail {

/* A value, or the text of what an operator has thrown: it travels as well, so that nobody waits for
 * a value that does not come. */
template <class V> struct outcome {
  std::optional<V> value;
  std::string thrown;
  template <class A> void fields(A &archive) { archive(value, thrown); }
};
template <class V> V value_of(outcome<V> &&o) {
  if (!o.value) throw remote_error(o.thrown);
  return std::move(*o.value);
}

/* A collective at one member: what others send to it. Part 0 comes from above, part k + 1 from
 * child k. */
template <class V> class object_op {
public:
  using parts = dist_object<std::vector<promise<outcome<V>>>>;

  /* [in] root: the member that is the top of the tree. */
  object_op(const team &tm, rank_t root)
      : tm_(tm.handle()), n_(tm.size()), root_(root), me_((tm.rank() + n_ - root_) % n_),
        parts_(tm, children() + 1) {}
  object_op(const object_op &) = delete;
  object_op &operator=(const object_op &) = delete;
  ~object_op() { parts_.forget(); }

  bool is_top() const { return me_ == 0; }
  /* Number of children: me + 1, me + 2, me + 4 and so on, up to the lowest bit of me. */
  rank_t children() const {
    rank_t k = 0;
    while (rank_t(1) << k < n_ - me_ && !(me_ >> k & 1)) k++;
    return k;
  }
  future<outcome<V>> from_above() const { return (*parts_)[0].get_future(); }
  future<outcome<V>> from_child(rank_t k) const { return (*parts_)[k + 1].get_future(); }

  void to_children(const outcome<V> &o) const {
    for (rank_t k = children(); k-- > 0;) send(me_ + (rank_t(1) << k), 0, o);
  }
  void to_parent(const outcome<V> &o) const {
    rank_t k = 0;
    while (!(me_ >> k & 1)) k++;
    send(me_ - (rank_t(1) << k), k + 1, o);
  }
  void to_member(rank_t member, const outcome<V> &o) const {
    send((member + n_ - root_) % n_, 0, o);
  }

private:
  void send(rank_t node, uint32_t part, const outcome<V> &o) const {
    rpc_ff(
        team(tm_), (node + root_) % n_,
        [](parts &there, uint32_t at, outcome<V> v) { (*there)[at].set_value(std::move(v)); },
        parts_, part, o);
  }

  gex_TM_t tm_;
  rank_t n_, root_, me_;
  parts parts_;
};

/* The result at a member whose children get it, too; it keeps the collective until then. */
template <class V>
future<V> spread(std::shared_ptr<object_op<V>> op, const future<outcome<V>> &result) {
  return result.then([op](outcome<V> o) {
    op->to_children(o);
    return value_of(std::move(o));
  });
}

template <class V> future<V> object_broadcast(const team &tm, V value, rank_t root) {
  auto op = std::make_shared<object_op<V>>(tm, root);
  return spread(op, op->is_top() ? future<outcome<V>>(outcome<V>{std::move(value), {}})
                                 : op->from_above());
}

/* Values combined, or vectors of as many elements by element. */
template <class F, class V> V combined(F &f, V left, V right) {
  return f(std::move(left), std::move(right));
}
template <class F, class T>
std::vector<T> combined(F &f, std::vector<T> left, std::vector<T> right) {
  if (left.size() != right.size())
    throw error("reduce: vectors of " + std::to_string(left.size()) + " and " +
                std::to_string(right.size()) + " elements; give as many on every member");
  for (size_t i = 0; i < left.size(); i++) left[i] = f(std::move(left[i]), std::move(right[i]));
  return left;
}
template <class F, class V> outcome<V> try_combine(F &f, outcome<V> left, outcome<V> right) {
  if (!left.value) return left;
  if (!right.value) return right;
  const std::string who = "rank " + std::to_string(tombolo::rank()) + ": ";
  try {
    return {combined(f, std::move(*left.value), std::move(*right.value)), {}};
  } catch (const std::exception &e) {
    return {std::nullopt, who + e.what()};
  } catch (...) {
    return {std::nullopt, who + "an exception that is no std::exception"};
  }
}

/* This member's value combined with those of the members below it, in the order of ranks. */
template <class V, class F> future<outcome<V>> below(const object_op<V> &op, V value, F f) {
  future<outcome<V>> all(outcome<V>{std::move(value), {}});
  for (rank_t k = 0; k < op.children(); k++)
    all = when_all(std::move(all), op.from_child(k))
              .then([f](outcome<V> left, outcome<V> right) mutable {
                return try_combine(f, std::move(left), std::move(right));
              });
  return all;
}

template <class V, class F> future<V> object_all_reduce(const team &tm, V value, F f) {
  auto op = std::make_shared<object_op<V>>(tm, 0);
  const future<outcome<V>> all = below(*op, std::move(value), std::move(f));
  if (op->is_top()) return spread(op, all);
  static_cast<void>(all.then([op](const outcome<V> &o) { op->to_parent(o); }));
  return spread(op, op->from_above());
}

template <class V, class F> future<V> object_reduce(const team &tm, V value, rank_t root, F f) {
  auto op = std::make_shared<object_op<V>>(tm, 0);
  const bool wants = tm.rank() == root;
  const future<outcome<V>> all = below(*op, std::move(value), std::move(f));
  const auto take = [op](outcome<V> o) { return value_of(std::move(o)); };
  if (op->is_top() && wants) return all.then(take);
  const future<V> sent = all.then([op, root](const outcome<V> &o) {
    if (op->is_top())
      op->to_member(root, o);
    else
      op->to_parent(o);
    return V();
  });
  return wants ? op->from_above().then(take) : sent;
}

/* Elements one after the other: a type of its own, whose operator is not that of elements. */
template <class T> struct object_list {
  std::vector<T> all;
  template <class A> void fields(A &archive) { archive(all); }
};
struct append {
  template <class T> object_list<T> operator()(object_list<T> left, object_list<T> right) const {
    for (T &x : right.all) left.all.push_back(std::move(x));
    return left;
  }
};
template <class V> object_list<element<V>> list_of(V value) {
  if constexpr (std::is_same_v<element<V>, V>) {
    object_list<V> made;
    made.all.push_back(std::move(value));
    return made;
  } else {
    return {std::move(value)};
  }
}
template <class V> future<std::vector<element<V>>> object_all_gather(const team &tm, V value) {
  using list = object_list<element<V>>;
  return object_all_reduce(tm, list_of(std::move(value)), append()).then([](list l) {
    return std::move(l.all);
  });
}
template <class V>
future<std::vector<element<V>>> object_gather(const team &tm, V value, rank_t root) {
  using list = object_list<element<V>>;
  return object_reduce(tm, list_of(std::move(value)), root, append()).then([](list l) {
    return std::move(l.all);
  });
}

} // namespace detail
} // namespace tombolo

#endif
