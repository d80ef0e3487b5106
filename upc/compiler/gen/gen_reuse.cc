// SPDX-License-Identifier: BSD-3-Clause
/*
 * Relaxed reads that a block need not repeat: of the statements of a block that follow each other,
 * the first that reads a shared scalar keeps its value for the others.
 *
 * Called by gen.cc. Calls: gen_expr.cc. The pattern: consecutive statements of one block, each an
 * expression, a declaration with an initialiser, a return or the condition of an `if`, made of
 * names, constants, operators, members and reads alone, with at most one assignment, which is the
 * outermost operator. Their reads that are always executed happen in front of the statement, so
 * that the order within an expression, which C leaves open, does not matter. Invariants: a value is
 * kept until a store that may change it or its address: any store but one in a named private
 * object, which changes only values read through that name; and until anything else: a call, a
 * strict access, a fence, a label, a nested statement, whose inside is on its own. So the condition
 * of a loop is read in each iteration. See docs/DECISIONS/0078-reads-kept.md.
 */
#include "gen/gen.h"

#include <algorithm>

namespace {

bool is_writing(const Node *n) {
  return n->kind == Nk::Assign || n->kind == Nk::Step;
}

// Whether an expression has no effect and only parts that are known here.
bool is_plain(const Node *n) {
  if (!n->type || element_of(n->type)->is_volatile) return false;
  switch (n->kind) {
  case Nk::Load:
    if (n->strict_type() || n->kids[0]->strict_type()) return false;
    break;
  case Nk::Name:
    if (!n->symbol) return false;
    break;
  case Nk::Constant:
  case Nk::Paren:
  case Nk::Index:
  case Nk::Member:
  case Nk::Arrow:
  case Nk::Unary:
  case Nk::Deref:
  case Nk::AddressOf:
  case Nk::Binary:
  case Nk::Conditional:
  case Nk::Cast:
  case Nk::Convert:
  case Nk::Decay:
  case Nk::MyThread:
  case Nk::Threads:
  case Nk::MaxBlock:
  case Nk::TypeName: break;
  default: return false;
  }
  return std::all_of(n->kids.begin(), n->kids.end(),
                     [](const Node *k) { return !k || is_plain(k); });
}

// Whether n names a place that can be compared by its text; a place with casts cannot.
bool is_place(const Node *n) {
  switch (n->kind) {
  case Nk::Name:
  case Nk::Constant:
  case Nk::Paren:
  case Nk::Index:
  case Nk::Member:
  case Nk::Arrow:
  case Nk::Deref:
  case Nk::AddressOf:
  case Nk::Decay:
  case Nk::Load:
  case Nk::MyThread:
  case Nk::Threads: break;
  case Nk::Binary:
    if (n->op == "&&" || n->op == "||") return false;
    break;
  default: return false;
  }
  return std::all_of(n->kids.begin(), n->kids.end(), [](const Node *k) { return is_place(k); });
}

bool is_same_place(const Source &s, const Node *a, const Node *b) {
  a = bare(a);
  b = bare(b);
  if (a->kind != b->kind || a->op != b->op || a->symbol != b->symbol || a->member != b->member ||
      a->kids.size() != b->kids.size())
    return false;
  if (a->kind == Nk::Constant &&
      (b->end - b->begin != 1 || a->end - a->begin != 1 || s[a->begin].text != s[b->begin].text))
    return false;
  for (size_t i = 0; i < a->kids.size(); i++)
    if (!is_same_place(s, a->kids[i], b->kids[i])) return false;
  return true;
}

bool names(const Node *n, std::string_view name) {
  if (n->kind == Nk::Name && n->symbol && n->symbol->name == name) return true;
  return std::any_of(n->kids.begin(), n->kids.end(), [&](const Node *k) { return names(k, name); });
}

// The private object that an assignment changes, by name; NULL: it may be any object.
const Symbol *changed(const Node *writing) {
  const Node *to = named_object(writing->kids[0]);
  return to && to->symbol && !is_shared(to->symbol->type) ? to->symbol : nullptr;
}

bool is_kept_type(const Type *t) {
  return (is_pts(t) || is_pointer(t) || is_arithmetic(t)) && !t->is_atomic && !t->is_volatile;
}

bool is_bit_field(const Node *n) {
  n = bare(n);
  return (n->kind == Nk::Member || n->kind == Nk::Arrow) && (!n->member || n->member->bits >= 0);
}

// The initialiser of the one private variable that is declared; NULL: there is none, or more.
Node *initialiser(const Declared *d) {
  if (!d || d->list.size() != 1 || d->is_static || d->is_extern || d->is_typedef) return nullptr;
  const Declarator &x = d->list[0];
  return is_kept_type(x.type) && !is_shared(x.type) && x.symbol ? x.init : nullptr;
}

// The one expression that a statement always evaluates first; NULL: there is none, or there are
// several.
Node *first_expression(const Source &s, Node *n) {
  if (n->kind == Nk::Declaration) return initialiser(n->declared);
  if (n->kind != Nk::Tokens || n->kids.empty()) return nullptr;
  const Token &first = s[n->begin];
  if (first.is("if")) return n->kids[0];
  if (n->kids.size() != 1) return nullptr;
  return first.is("return") || n->kids[0]->begin == n->begin ? n->kids[0] : nullptr;
}

} // namespace

// Reads that an expression always executes, inner ones first.
void Generator::collect_reads(Node *n, std::vector<Node *> &reads) {
  const bool chooses = n->kind == Nk::Conditional || n->op == "&&" || n->op == "||";
  for (Node *k : n->kids) {
    if (k) collect_reads(k, reads);
    if (chooses) break;
  }
  if (n->kind != Nk::Load || !is_place(n->kids[0]) || !is_kept_type(n->type)) return;
  if (!is_bit_field(n->kids[0]) && own_lvalue(n->kids[0]).empty()) reads.push_back(n);
}

// Adds the reads of a statement to those of equal places.
void Generator::add_reads(Node *statement, const std::vector<Node *> &reads,
                          std::vector<Kept> &kept) {
  for (Node *r : reads) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Kept &k) {
      return is_same_place(s_, k.reads[0]->kids[0], r->kids[0]);
    });
    if (same != kept.end())
      same->reads.push_back(r);
    else
      kept.push_back({statement, {r}});
  }
}

// Adds the reads of a statement to `kept`, and forgets those that it may change; false: it may
// change anything.
bool Generator::keep_reads(Node *statement, std::vector<Kept> &kept, std::vector<Kept> &ready) {
  Node *e = first_expression(s_, statement);
  if (!e) return false;
  Node *root = e;
  while (root->kind == Nk::Paren) root = root->kids[0];
  const bool writing = is_writing(root);
  if (writing && (root->strict_type() || root->kids[0]->strict_type())) return false;
  for (Node *k : writing ? root->kids : std::vector<Node *>{root})
    if (!is_plain(k)) return false;
  std::vector<Node *> reads;
  for (Node *k : writing ? root->kids : std::vector<Node *>{root}) collect_reads(k, reads);
  add_reads(statement, reads, kept);
  if (s_[statement->begin].is("if")) return false; // its inside is on its own
  if (!writing) return true;
  const Symbol *to = changed(root);
  if (!to) return false;
  const auto stays = [&](const Kept &k) { return !names(k.reads[0], to->name); };
  const auto ended = std::stable_partition(kept.begin(), kept.end(), stays);
  ready.insert(ready.end(), ended, kept.end());
  kept.erase(ended, kept.end());
  return true;
}

// The reads of a block that occur more than once while they keep their value.
std::vector<Generator::Kept> Generator::repeated_reads(Node *n) {
  std::vector<Kept> kept, ready;
  for (Node *k : n->kids) {
    if (keep_reads(k, kept, ready)) continue;
    ready.insert(ready.end(), kept.begin(), kept.end());
    kept.clear();
  }
  ready.insert(ready.end(), kept.begin(), kept.end());
  ready.erase(
      std::remove_if(ready.begin(), ready.end(), [](const Kept &k) { return k.reads.size() < 2; }),
      ready.end());
  return ready;
}

std::string Generator::block(Node *n) {
  if (!options_.optimise) return splice(n);
  const std::vector<Kept> repeated = repeated_reads(n);
  if (repeated.empty()) return splice(n);
  std::string s;
  int at = n->begin;
  for (Node *k : n->kids) {
    if (!k || !k->dirty || k->begin < at) continue;
    s += tokens(at, k->begin);
    std::vector<const Kept *> here;
    for (const Kept &r : repeated)
      if (r.statement == k) here.push_back(&r);
    // a read within another one stands in front of it
    std::sort(here.begin(), here.end(), [](const Kept *a, const Kept *b) {
      return a->reads[0]->end - a->reads[0]->begin < b->reads[0]->end - b->reads[0]->begin;
    });
    for (const Kept *r : here) {
      const std::string value = fresh("g");
      s += place(r->reads[0]->begin) + " " + c_type(unqualified(r->reads[0]->type), value) + " = " +
           code(r->reads[0]) + ";";
      for (Node *read : r->reads) kept_[read] = value;
    }
    s += code(k);
    at = k->end;
  }
  for (const Kept &r : repeated)
    for (Node *read : r.reads) kept_.erase(read);
  return s + tokens(at, n->end);
}
