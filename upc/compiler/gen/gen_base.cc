// SPDX-License-Identifier: BSD-3-Clause
/*
 * The generator's base: a node as its tokens, with the code of its dirty kids in their places.
 *
 * Called by all files of gen/. Calls: the function that the generator's table has for a kind of
 * node. Invariants: no file of gen/ is called by name from here, so recursion goes by the table
 * alone.
 */
#include "gen/gen.h"

namespace {
Generator *in_use;
}

void use_generator(Generator *g) {
  in_use = g;
}

const Node *named_object(const Node *lvalue) {
  const Node *n = lvalue;
  while (n->kind == Nk::Index || n->kind == Nk::Member || n->kind == Nk::Paren ||
         n->kind == Nk::Decay) {
    const Node *k = n->kids[0];
    while (k->kind == Nk::Paren) k = k->kids[0];
    if (n->kind == Nk::Index && k->kind != Nk::Decay) return nullptr; // of a pointer
    n = k;
  }
  return n->kind == Nk::Name ? n : nullptr;
}

std::string code_of(Node *n) {
  return in_use->code(n);
}

std::string Generator::mark(int token) const {
  return "\1" + std::to_string(token) + "\2";
}

std::string Generator::place(int token) const {
  return "\1p" + std::to_string(token) + "\2";
}

std::string Generator::line(int token) const {
  return "\1l" + std::to_string(token) + "\2";
}

std::string Generator::front(int token) const {
  return "\1s" + std::to_string(token) + "\2";
}

std::string Generator::fresh(const char *stem) {
  return std::string("upcr_") + stem + std::to_string(number_++);
}

std::string Generator::tokens(int begin, int end) {
  std::string s;
  for (int i = begin; i < end; i++) s += mark(i);
  return s;
}

// Text of a range of tokens, in which the code of changed (dirty) children replaces theirs.
std::string Generator::splice(int begin, int end, const std::vector<Node *> &kids) {
  std::string s;
  int at = begin;
  for (Node *k : kids) {
    if (!k || !k->dirty || k->begin < at) continue;
    s += tokens(at, k->begin);
    s += code(k);
    at = k->end;
  }
  return s + tokens(at, end);
}

std::string Generator::splice(Node *n) {
  return splice(n->begin, n->end, n->kids);
}

// Emits the tokens of a node unchanged, with the pragmas that precede it, also where text of upcc
// precedes its first token.
std::string Generator::with_pragmas(Node *n) {
  if (n->kind != Nk::Tokens || !s_[n->begin].pragma_count || fronted_ == n->begin) return splice(n);
  const int outer = fronted_;
  fronted_ = n->begin;
  const std::string s = front(n->begin) + splice(n);
  fronted_ = outer;
  return s;
}

std::string Generator::code(Node *n) {
  if (!n->dirty) return tokens(n->begin, n->end);
  const auto found = writers_.find(n->kind);
  if (found == writers_.end()) return with_pragmas(n);
  // Text emitted before the first token gets that token's line number.
  const bool access = n->kind == Nk::Load || n->kind == Nk::Assign || n->kind == Nk::Step;
  return (access ? line(n->begin) : "") + (this->*found->second)(n);
}
