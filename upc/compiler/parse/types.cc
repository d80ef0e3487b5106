// SPDX-License-Identifier: BSD-3-Clause
/*
 * Types of expressions: operators, conversions, rules of pointers-to-shared.
 *
 * Called by parse_expr.cc. Calls: type.cc. Invariants: a conversion that changes the value of a
 * pointer-to-shared, or a null pointer that becomes one, is a node of its own.
 */
#include "parse/parse.h"

#include <algorithm>

bool Parser::access_strict(const Type *t) const {
  const Type *e = element_of(t);
  return e->strict || (!e->relaxed && strict_);
}

Node *Parser::decay(Node *n, Type *to) {
  Node *d = make(Nk::Decay, n->begin);
  d->kids = {n};
  d->type = to;
  d->end = n->end;
  d->dirty = n->dirty;
  d->has_call = n->has_call;
  return d;
}

// The value of an operand: an array becomes a pointer, a shared object is read.
Node *Parser::value(Node *n) {
  if (is_array(n->type)) return decay(n, pointer_to(n->type->base));
  if (n->type->kind == Ty::Function) return decay(n, pointer_to(n->type));
  if (!is_shared(n->type)) return n;
  Node *l = make(Nk::Load, n->begin);
  l->kids = {n};
  l->type = unqualified(n->type);
  l->strict = access_strict(n->type);
  l->end = n->end;
  l->dirty = true;
  l->has_call = n->has_call;
  if (n->type->kind == Ty::Void) s_.error(n->begin, "an object of type shared void cannot be read");
  if (is_record(n->type) && !n->type->tag->complete)
    s_.error(n->begin, "an object of the incomplete type '" + upc_name(n->type) + "' is read");
  return l;
}

// Whether a conversion between pointers-to-shared has to clear the phase.
bool drops_phase(const Type *from, const Type *to) {
  const long b_from = block_of(from->base), b_to = block_of(to->base);
  if (is_generic_pts(to)) return false;
  if (is_generic_pts(from)) return b_to <= 1;
  if (b_from <= 1) return false;
  if (b_from != b_to) return true;
  const Type *a = element_of(from->base), *b = element_of(to->base);
  if (same_type(a, b)) return false;
  const auto size_a = size_of(a), size_b = size_of(b);
  return !size_a || !size_b || *size_a != *size_b;
}

// The qualifier of a pointer's target that a conversion loses; NULL: none.
static const char *lost_qualifier(const Type *from, const Type *to) {
  const Type *a = element_of(from->base), *b = element_of(to->base);
  if (a->is_const && !b->is_const) return "const";
  if (a->is_volatile && !b->is_volatile) return "volatile";
  if (a->strict && !b->strict && !is_generic_pts(to)) return "strict";
  return nullptr;
}

void Parser::compatible(const Type *from, const Type *to, int token, const char *where) {
  const std::string text =
      std::string(where) + ": '" + upc_name(from) + "' becomes '" + upc_name(to) + "'";
  const char *lost = library_call_ ? nullptr : lost_qualifier(from, to);
  if (lost) s_.warning(token, text + ", which loses the qualifier '" + lost + "'");
  if (is_generic_pts(from) || is_generic_pts(to)) return;
  if (block_of(from->base) != block_of(to->base)) {
    const std::string layouts = text + "; pointers to shared of different block sizes need a cast";
    if (options_.pedantic)
      s_.error(token, layouts);
    else
      s_.warning(token, layouts);
    return;
  }
  if (!same_type(element_of(from->base), element_of(to->base)))
    s_.warning(token, text + " without a cast");
}

Node *Parser::to_pts(Node *n, Type *to, int token, const char *where) {
  bool changes = true;
  if (is_pts(n->type)) {
    compatible(n->type, to, token, where);
    changes = drops_phase(n->type, to);
  } else if (!is_null_constant(n)) {
    if (n->type->kind == Ty::Unknown) return n;
    s_.error(token, std::string(where) + ": '" + upc_name(n->type) +
                        "' cannot become the pointer to shared '" + upc_name(to) + "'" +
                        (is_pointer(n->type) ? ": it points to private memory" : ""));
  }
  if (!changes) return n;
  Node *c = make(Nk::Convert, n->begin);
  c->kids = {n};
  c->type = to;
  c->end = n->end;
  c->dirty = true;
  c->has_call = n->has_call;
  return c;
}

namespace {

// Whether pointers to pointers have shared memory at equal depths.
bool same_sharing(const Type *a, const Type *b) {
  for (; is_pointer(a) && is_pointer(b); a = a->base, b = b->base)
    if (a->base->kind == Ty::Void || b->base->kind == Ty::Void || a->base->kind == Ty::Unknown ||
        b->base->kind == Ty::Unknown)
      return true;
    else if (is_shared(a->base) != is_shared(b->base))
      return false;
  return is_pointer(a) == is_pointer(b) || (!is_pts(a) && !is_pts(b));
}

} // namespace

// Checks conversions between private pointers to pointers-to-shared, whose types are equal in C.
void Parser::check_depths(const Type *from, const Type *to, int token, const char *where) {
  if (!is_pointer(from) || !is_pointer(to)) return;
  const std::string text =
      std::string(where) + ": '" + upc_name(from) + "' becomes '" + upc_name(to) + "'";
  if (!same_sharing(from, to))
    s_.error(token, text + ", which needs a cast");
  else if (is_pts(from->base) && is_pts(to->base) && !is_generic_pts(from->base) &&
           !is_generic_pts(to->base) && block_of(from->base->base) != block_of(to->base->base))
    s_.warning(token, text + "; pointers to shared of different block sizes need a cast");
}

// The implicit conversion of a value to the type of its receiver.
Node *Parser::convert(Node *n, Type *to, int token, const char *where) {
  if (is_pts(to)) return to_pts(n, to, token, where);
  if (!is_pts(n->type)) check_depths(n->type, to, token, where);
  if (!is_pts(n->type) || to->kind == Ty::Unknown || to->kind == Ty::Bool) return n;
  if (is_pointer(to))
    s_.error(token, std::string(where) + ": the pointer to shared '" + upc_name(n->type) +
                        "' becomes the private pointer '" + upc_name(to) +
                        "', which needs a cast, and memory of this thread");
  else if (is_arithmetic(to))
    s_.error(token, std::string(where) + ": the pointer to shared '" + upc_name(n->type) +
                        "' becomes '" + upc_name(to) + "', which needs a cast");
  return n;
}

namespace {

int rank_of(const Type *t) {
  return t->kind == Ty::Enum ? static_cast<int>(Ty::UInt) : static_cast<int>(t->kind);
}

} // namespace

Type *Parser::arithmetic(Type *a, Type *b) {
  if (a->kind == Ty::Unknown || !is_arithmetic(a)) return basic(Ty::Unknown);
  if (b->kind == Ty::Unknown || !is_arithmetic(b)) return basic(Ty::Unknown);
  if (a->kind == Ty::Complex || b->kind == Ty::Complex)
    return unqualified(a->kind == Ty::Complex ? a : b);
  const int most = std::max({rank_of(a), rank_of(b), static_cast<int>(Ty::Int)});
  return basic(static_cast<Ty>(most));
}

// The integer that is added to a pointer-to-shared or indexes one.
void Parser::check_offset(const Node *n, int token) {
  if (is_integer(n->type) || n->type->kind == Ty::Unknown) return;
  s_.error(token,
           "the offset of a pointer to shared is not an integer, but '" + upc_name(n->type) + "'");
}

Type *Parser::difference_type(Node *n, int token) {
  const Type *a = n->kids[0]->type, *b = n->kids[1]->type;
  n->dirty = is_pts(a) || is_pts(b);
  if (is_pts(a) != is_pts(b))
    s_.error(token, "a pointer to shared and a private pointer cannot be subtracted");
  else if (n->dirty && block_of(a->base) != block_of(b->base))
    s_.error(token, "pointers to shared of different block sizes cannot be subtracted");
  return basic(Ty::Long);
}

// Refuses arithmetic on pointers-to-shared to types without a size.
void Parser::check_steps(const Type *t, int token) {
  if (!is_pts(t)) return;
  if (t->base->kind == Ty::Void)
    s_.error(token, "there is no arithmetic on pointers to shared void");
  else if (is_record(t->base) && !t->base->tag->complete)
    s_.error(token, "there is no arithmetic on pointers to the incomplete type '" +
                        upc_name(t->base) + "'");
}

Type *Parser::additive_type(Node *n, int token) {
  Node *a = n->kids[0], *b = n->kids[1];
  const bool minus = n->op == "-";
  check_steps(a->type, token);
  check_steps(b->type, token);
  if (is_pointer(a->type) && is_pointer(b->type) && minus) return difference_type(n, token);
  Node *p = is_pointer(a->type) ? a : is_pointer(b->type) ? b : nullptr;
  if (!p) return arithmetic(a->type, b->type);
  if (is_pts(a->type) || is_pts(b->type)) {
    check_offset(p == a ? b : a, token);
    if (minus && p == b) s_.error(token, "a pointer to shared is subtracted from an integer");
  }
  n->dirty = is_pts(p->type);
  return unqualified(p->type);
}

Type *Parser::comparison(Node *n, int token) {
  Node *a = n->kids[0], *b = n->kids[1];
  if (!is_pts(a->type) && !is_pts(b->type)) return basic(Ty::Int);
  n->dirty = true;
  const bool equality = n->op == "==" || n->op == "!=";
  Node *p = is_pts(a->type) ? a : b, *other = p == a ? b : a;
  if (!is_pts(other->type)) {
    if (!is_null_constant(other) && other->type->kind != Ty::Unknown)
      s_.error(token, "a pointer to shared is compared with '" + upc_name(other->type) + "'");
    return basic(Ty::Int);
  }
  if (equality) return basic(Ty::Int);
  for (const Node *k : {a, b}) {
    const Type *e = element_of(k->type->base);
    if (e->kind == Ty::Void || (is_record(e) && !e->tag->complete)) {
      s_.error(token, "pointers to shared of an incomplete type cannot be ordered");
      return basic(Ty::Int);
    }
  }
  if (block_of(a->type->base) != block_of(b->type->base))
    s_.error(token, "pointers to shared of different block sizes cannot be ordered");
  return basic(Ty::Int);
}

Type *Parser::binary_type(Node *n, int token) {
  const std::string_view op = n->op;
  if (op == "&&" || op == "||") return basic(Ty::Int);
  if (op == "==" || op == "!=" || op == "<" || op == ">" || op == "<=" || op == ">=")
    return comparison(n, token);
  if (op == "+" || op == "-") return additive_type(n, token);
  for (const Node *k : n->kids)
    if (is_pts(k->type)) {
      s_.error(token, "operator " + std::string(op) + " has a pointer to shared as its operand");
      return basic(Ty::Int);
    }
  if (op == "<<" || op == ">>") return arithmetic(n->kids[0]->type, basic(Ty::Int));
  return arithmetic(n->kids[0]->type, n->kids[1]->type);
}

// Assignments and steps: the stored value, and whether to shared memory.
void Parser::assign_types(Node *n, int token) {
  Node *left = n->kids[0];
  while (left->kind == Nk::Paren) left = left->kids[0];
  Type *t = left->type;
  if (left->kind == Nk::MyThread || left->kind == Nk::Threads)
    s_.error(token, "MYTHREAD and THREADS cannot be changed");
  n->dirty = is_shared(t) || (is_pts(t) && n->op != "=");
  n->strict = access_strict(t);
  if (is_shared(t) && element_of(t)->is_const) s_.error(token, "a const shared object is changed");
  if (is_array(t) && is_shared(t)) s_.error(token, "a shared array is assigned to");
  n->type = unqualified(t);
  if (n->op == "=")
    n->kids[1] = convert(n->kids[1], n->type, n->kids[1]->begin, "assignment");
  else
    change_types(n, t, token);
}

// Compound assignments and steps of an object of type t.
void Parser::change_types(const Node *n, const Type *t, int token) {
  if (is_generic_pts(t)) s_.error(token, "there is no arithmetic on pointers to shared void");
  if (n->kind == Nk::Step) return;
  if (is_pts(t)) {
    if (n->op != "+=" && n->op != "-=")
      s_.error(token, "operator " + std::string(n->op) + " on a pointer to shared");
    check_offset(n->kids[1], token);
  } else if (is_pts(n->kids[1]->type)) {
    s_.error(token, "operator " + std::string(n->op) + " has a pointer to shared as its operand");
  }
}

void Parser::conditional_types(Node *n, int token) {
  Node *a = n->kids.size() == 3 ? n->kids[1] : n->kids[0], *b = n->kids.back();
  if (is_pts(a->type) || is_pts(b->type)) {
    Type *t = is_pts(a->type) ? a->type : b->type;
    if (is_generic_pts(b->type)) t = b->type;
    if (n->kids.size() == 3) n->kids[1] = to_pts(a, t, token, "operand of ?:");
    n->kids.back() = to_pts(b, t, token, "operand of ?:");
    n->type = t;
    return;
  }
  if (is_pointer(a->type) || is_pointer(b->type)) {
    n->type = is_pointer(a->type) && !is_null_constant(a) ? a->type : b->type;
    if (!is_pointer(n->type)) n->type = a->type;
    return;
  }
  n->type =
      is_arithmetic(a->type) && is_arithmetic(b->type) ? arithmetic(a->type, b->type) : a->type;
}

void Parser::cast_types(Node *n, int token) {
  Type *to = n->type;
  const Node *k = n->kids[1];
  const Type *from = k->type;
  if (is_shared(to) && !is_pointer(to)) {
    s_.error(token, "a cast to the shared type '" + upc_name(to) +
                        "', which is not a pointer, has no meaning");
    n->type = unqualified(to);
    return;
  }
  n->type = unqualified(to); // a value has no qualifiers, because it is not read from shared memory
  if (is_pts(to)) {
    n->dirty = true;
    if (!is_pts(from) && !is_null_constant(k) && from->kind != Ty::Unknown)
      s_.error(token, "a cast from '" + upc_name(from) + "' to the pointer to shared '" +
                          upc_name(to) + "' is not allowed");
  } else if (is_pts(from)) {
    n->dirty = to->kind != Ty::Void;
    if (!is_pointer(to) && !is_integer(to) && to->kind != Ty::Void && to->kind != Ty::Unknown)
      s_.error(token, "a cast from the pointer to shared '" + upc_name(from) + "' to '" +
                          upc_name(to) + "' is not allowed");
  }
}

// An array whose size its initialiser gives.
Type *Parser::flatten(Type *t, Node *init) {
  Type *a = copy(t);
  a->alias.clear();
  if (init->kind == Nk::Constant && init->type && is_array(init->type)) {
    a->count = init->type->count;
  } else {
    if (!init->entries) return t;
    a->count = init->entries;
  }
  a->incomplete = false;
  return a;
}
