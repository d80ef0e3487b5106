// SPDX-License-Identifier: BSD-3-Clause
/*
 * Addresses of shared objects in C: arithmetic of pointers-to-shared, sizes of types, members.
 *
 * Called by the other files of gen/. Calls: gen_base.cc for operands. Invariants: an address is one
 * primary expression; operands are evaluated as often as in the source.
 */
#include "gen/gen.h"

// Suffix of functions: copies of loops that seldom run call them instead of inlining them, to stay
// small.
const char *Generator::called(bool strict) const {
  return seldom_ && !strict ? "_called" : "";
}

std::string Generator::elem_size(const Type *t) {
  return "sizeof(" + c_type(unqualified(const_cast<Type *>(element_of(t)))) + ")";
}

// Number of elements in a type, 1 if it is no array.
std::string Generator::count_code(const Type *t) {
  if (const auto n = count_of(t)) {
    std::string s = std::to_string(*n) + "L";
    return has_threads(t) ? "(" + s + " * upcr_threads)" : s;
  }
  std::string s = "(1L";
  for (; is_array(t); t = t->base) {
    if (t->incomplete) return "0L";
    s += " * " + (t->variable ? "(" + code(t->length) + ")" : std::to_string(t->count));
    if (t->times_threads) s += " * upcr_threads";
  }
  return s + ")";
}

std::string Generator::total_size(const Type *t) {
  return "(" + count_code(t) + " * " + elem_size(t) + ")";
}

// Bytes that each thread keeps for an object.
std::string Generator::local_size(const Type *t) {
  return "(" + std::to_string(local_count(t, options_.threads)) + "L * " + elem_size(t) + ")";
}

std::string Generator::add(const std::string &p, const std::string &index, const Type *referent,
                           bool scaled) {
  std::string k = "(long)(" + index + ")";
  if (!scaled && is_array(referent)) k += " * " + count_code(referent);
  const long block = block_of(referent);
  const std::string size = elem_size(referent);
  if (block == 0) return "upcr_add0(" + p + ", (" + k + ") * (long)" + size + ")";
  const std::string form = std::string(called(false)) + "(";
  if (block == 1) return "upcr_add1" + form + p + ", " + k + ", " + size + ")";
  return "upcr_addb" + form + p + ", " + k + ", " + size + ", " + std::to_string(block) + ")";
}

// The base of nested indexing, and each index in elements.
Node *Generator::address_terms(Node *n, std::vector<std::string> &terms) {
  Node *p = n->kids[0], *i = n->kids[1];
  if (!is_pts(p->type)) std::swap(p, i);
  std::string k = "(long)(" + code(i) + ")";
  if (is_array(n->type)) k += " * " + count_code(n->type);
  Node *inner = p;
  while (inner->kind == Nk::Decay || inner->kind == Nk::Paren) inner = inner->kids[0];
  const bool nested = p->kind == Nk::Decay && inner->kind == Nk::Index && is_shared(inner->type);
  Node *base = nested ? address_terms(inner, terms) : p;
  terms.push_back(k);
  return base;
}

// The base of nested indexing, and the sum of the indices in elements.
Node *Generator::indexed_from(Node *n, std::string &sum) {
  std::vector<std::string> terms;
  Node *base = address_terms(n, terms);
  for (const std::string &t : terms) sum += (sum.empty() ? "" : " + ") + t;
  return base;
}

std::string Generator::address(Node *n) {
  std::string sum;
  const std::string base = code(indexed_from(n, sum));
  return add(base, sum, n->type, true);
}

std::string Generator::member_code(Node *n) {
  const std::string base = code(n->kids[0]);
  if (!n->member) return base;
  const std::string record = c_type(unqualified(n->operand));
  const bool phase = block_of(n->operand) > 1;
  if (n->member->bits >= 0) return std::string(phase ? "upcr_nophase" : "") + "(" + base + ")";
  return std::string(phase ? "upcr_fieldb(" : "upcr_field(") + base + ", __builtin_offsetof(" +
         record + ", " + std::string(n->member->name) + "))";
}

// A complex number's parts lie behind each other, as in an array of two.
std::string Generator::part_code(Node *n) {
  Node *whole = n->kids[0];
  const bool imaginary = n->op.find("imag") != std::string_view::npos;
  return std::string(block_of(whole->type) > 1 ? "upcr_fieldb(" : "upcr_field(") + code(whole) +
         ", " + (imaginary ? "sizeof(" + c_type(unqualified(n->type)) + ")" : "0") + ")";
}
