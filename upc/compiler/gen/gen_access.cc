// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads and writes of shared objects in C: which function of upcr_access.h serves a type and a
 * place.
 *
 * Called by gen_expr.cc. Calls: gen_address.cc. Invariants: a relaxed access names its
 * place by a pointer-to-shared and an offset, because an address takes less than the pointer to it;
 * others by the pointer alone. An array begins with thread 0 and phase 0.
 */
#include "gen/gen.h"

namespace {

// Suffix of the get and put for a type: its size, or f, d, p (pointer-to-shared), n (any).
char access_kind(const Type *t) {
  if (is_pts(t)) return 'p';
  if (is_pointer(t)) return '8';
  if (t->kind == Ty::Float) return 'f';
  if (t->kind == Ty::Double) return 'd';
  if (!is_integer(t) || t->is_atomic) return 'n';
  const long size = size_of(t).value_or(0);
  return size == 1 || size == 2 || size == 4 || size == 8 ? static_cast<char>('0' + size) : 'n';
}

} // namespace

std::string Generator::get(const Type *t, const std::string &p, bool strict) {
  const char kind = access_kind(t);
  const std::string s = strict ? "s" : "", type = c_type(t);
  if (kind == 'n') {
    const std::string v = fresh("v");
    return "({ " + c_type(t, v) + "; upcr_getn" + s + "((void *)&" + v + ", " + p + ", sizeof " +
           v + "); " + v + "; })";
  }
  return "((" + type + ")upcr_get" + kind + s + called(strict) + "(" + p + "))";
}

// A statement that writes the variable v.
std::string Generator::put(const Type *t, const std::string &p, const std::string &v, bool strict) {
  const char kind = access_kind(t);
  const std::string s = strict ? "s" : "";
  if (kind == 'n') return "upcr_putn" + s + "(" + p + ", &" + v + ", sizeof " + v + ");";
  const char *cast = is_pointer(t) && !is_pts(t) ? "(unsigned long)" : "";
  return std::string("upcr_put") + kind + s + called(strict) + "(" + p + ", " + cast + v + ");";
}

// The place of an element: arguments and form of upcr_access.h.
Generator::Place Generator::element_place(Node *n) {
  std::string sum;
  Node *base = indexed_from(n, sum);
  const long block = block_of(n->type);
  const std::string size = elem_size(n->type);
  if (block == 0) {
    Place place = base->kind == Nk::Decay ? place_of(base->kids[0]) : Place{"", code(base), ""};
    place.bytes += (place.bytes.empty() ? "(" : " + (") + sum + ") * (long)" + size;
    return place;
  }
  const bool array = base->kind == Nk::Decay && bare(base->kids[0])->kind == Nk::Name;
  std::string form = array ? "_a" : "_";
  form += block == 1 ? "1" : "b";
  std::string arguments = code(base) + ", " + sum + ", " + size;
  if (block > 1) arguments += ", " + std::to_string(block);
  return {form, arguments, ""};
}

// The place of an object in shared memory that is not a bit-field.
Generator::Place Generator::place_of(Node *n) {
  n = bare(n);
  if (n->kind == Nk::Index) return element_place(n);
  const bool arrow = n->kind == Nk::Arrow;
  if ((n->kind != Nk::Member && !arrow) || !n->member) return {"", code(n), ""};
  Place place = arrow ? Place{"", code(n->kids[0]), ""} : place_of(n->kids[0]);
  place.bytes += (place.bytes.empty() ? "(long)__builtin_offsetof(" : " + __builtin_offsetof(") +
                 c_type(unqualified(n->operand)) + ", " + std::string(n->member->name) + ")";
  return place;
}

// The end of a function's name, and its arguments.
std::string Generator::place_code(const Place &place) {
  const std::string seldom = called(false);
  if (place.form.empty() && place.bytes.empty()) return seldom + "(" + place.arguments;
  return (place.form.empty() ? "_0" : place.form) + seldom + "(" + place.arguments + ", " +
         (place.bytes.empty() ? "0" : place.bytes);
}

// The value at a shared lvalue.
std::string Generator::get_from(const Type *t, Node *lvalue, bool strict) {
  const char kind = access_kind(t);
  if (strict || kind == 'n') return get(t, code(lvalue), strict);
  return "((" + c_type(t) + ")upcr_get" + kind + place_code(place_of(lvalue)) + "))";
}

// A statement that writes the variable v to a shared lvalue.
std::string Generator::put_to(const Type *t, Node *lvalue, const std::string &v, bool strict) {
  const char kind = access_kind(t);
  if (strict || kind == 'n') return put(t, code(lvalue), v, strict);
  const char *cast = is_pointer(t) && !is_pts(t) ? "(unsigned long)" : "";
  return std::string("upcr_put") + kind + place_code(place_of(lvalue)) + ", " + cast + v + ");";
}
