// SPDX-License-Identifier: BSD-3-Clause
/*
 * Patterns of a upc_forall that can be a loop over this thread's iterations alone: of the loop, of
 * its affinity, and of the elements that are known to be local in it.
 *
 * Called by gen_forall.cc, which writes the loops and explains the patterns. Invariants: questions
 * that the text alone answers are answered here; those that depend on values go as C into `fits` of
 * the loop, which is evaluated before it runs.
 */
#include "gen/gen.h"

#include <algorithm>

bool is_variable(const Node *n, const Symbol *s) {
  return n && n->kind == Nk::Name && n->symbol == s;
}

namespace {

// Calls f for a node and all below it until it answers false.
template <class F> bool every(Node *n, F f) {
  if (!n) return true;
  if (!f(n)) return false;
  for (Node *k : n->kids)
    if (!every(k, f)) return false;
  return true;
}

bool changes(Node *body, const Symbol *s) {
  return !every(body, [&](Node *n) {
    return !((n->kind == Nk::Assign || n->kind == Nk::Step) && is_variable(bare(n->kids[0]), s));
  });
}

bool is_one(Node *n) {
  n = bare(n);
  return n->kind == Nk::Constant && n->type && is_integer(n->type);
}

// Whether n is the literal 1, so that a product with it can be left out.
bool is_written_one(const Source &s, Node *n) {
  return is_one(n) && s[bare(n)->begin].text == "1";
}

// Whether a loop's step counts its variable by 1, up or down.
bool is_step(const Source &s, Node *step, const Symbol *variable, bool down) {
  if (!step || step->kids.empty() || !is_variable(bare(step->kids[0]), variable)) return false;
  if (step->kind == Nk::Step) return step->op == (down ? "--" : "++");
  return step->kind == Nk::Assign && step->op == (down ? "-=" : "+=") &&
         is_written_one(s, step->kids[1]);
}

bool is_small_decimal(const std::string &text) {
  return text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos &&
         (text.size() == 1 || text[0] != '0');
}

// Whether a variable is local and nothing points to it, so that only this function changes it.
bool is_own(const Symbol *s) {
  return s && s->kind == Sk::Variable && !s->file_scope && !s->is_static && !s->is_extern &&
         !s->address_taken && !s->type->is_volatile;
}

// Whether a loop's condition compares a local variable (is_own) with something.
bool is_bound(const Node *cond, std::initializer_list<const char *> operators) {
  if (!cond || cond->kind != Nk::Binary) return false;
  const Node *variable = bare(cond->kids[0]);
  return variable->kind == Nk::Name && is_own(variable->symbol) &&
         std::any_of(operators.begin(), operators.end(),
                     [cond](const char *op) { return cond->op == op; });
}

// Whether t is a pointer-to-shared whose step is one element.
bool goes_over_elements(const Type *t) {
  return is_pts(t) && !is_generic_pts(t) && !is_array(t->base);
}

// Whether a loop's body changes only what its assignments name: it has no calls, and stores to
// named variables, arrays and shared objects only.
bool stores_by_name(Node *body) {
  return !body->has_call && every(body, [](Node *n) {
    if (n->kind != Nk::Assign && n->kind != Nk::Step) return true;
    if (is_shared(n->kids[0]->type)) return true;
    const Node *to = named_object(n->kids[0]);
    return to && to->symbol && !is_pointer(to->symbol->type);
  });
}

bool names(Node *n, const Symbol *s) {
  return !every(n, [&](const Node *k) { return !is_variable(k, s); });
}

// Whether a variable keeps its value while the body runs.
bool is_steady(const Symbol *s, Node *body) {
  if (!s || s->kind != Sk::Variable || s->type->is_volatile || changes(body, s)) return false;
  const bool seen = s->file_scope || s->is_static || s->is_extern || s->address_taken;
  return !seen || stores_by_name(body);
}

bool is_harmless(Node *n);

bool is_fixed(Node *n, Node *body) {
  return every(n, [&](Node *k) {
    switch (k->kind) {
    case Nk::Constant:
    case Nk::Threads:
    case Nk::MaxBlock:
    case Nk::MyThread:
    case Nk::Paren: return true;
    case Nk::Binary: return is_integer(k->type);
    case Nk::Name:
      return k->symbol && (k->symbol->kind == Sk::Constant ||
                           (is_integer(k->symbol->type) && is_steady(k->symbol, body)));
    default: return false;
    }
  });
}

// Whether a loop's step counts its variable, up or down, by an invariant amount.
bool is_wide_step(Node *step, const Symbol *variable, bool down, Node *body) {
  if (!step || step->kind != Nk::Assign || step->op != (down ? "-=" : "+=")) return false;
  Node *by = step->kids[1];
  return is_variable(bare(step->kids[0]), variable) && is_integer(by->type) && is_fixed(by, body) &&
         is_harmless(by) && !names(by, variable);
}

// Whether an integer is invariant in a loop that counts `variable`.
bool is_fixed_bound(Node *n, const Symbol *variable, Node *body) {
  return is_integer(n->type) && is_fixed(n, body) && !names(n, variable);
}

// Whether a place in shared memory does not change while the body runs.
bool is_fixed_place(Node *n, Node *body) {
  return every(n, [&](Node *k) {
    switch (k->kind) {
    case Nk::AddressOf:
    case Nk::Decay:
    case Nk::Index:
    case Nk::Paren: return true;
    case Nk::Binary: return k->op == "+" || k->op == "-" || is_fixed(k, body);
    case Nk::Name:
      if (!k->symbol || is_fixed(k, body)) return k->symbol != nullptr;
      return (is_array(k->symbol->type) && is_shared(k->symbol->type)) ||
             (is_pts(k->symbol->type) && is_steady(k->symbol, body));
    default: return is_fixed(k, body);
    }
  });
}

// Whether an affinity is that of the element that p points to: p, &*p or &p[0].
bool is_place_of(const Source &s, Node *n, const Symbol *p) {
  if (is_variable(n, p)) return true;
  if (n->kind != Nk::AddressOf) return false;
  Node *k = bare(n->kids[0]);
  if (k->kind == Nk::Deref) return is_variable(bare(k->kids[0]), p);
  return k->kind == Nk::Index && is_variable(bare(k->kids[0]), p) &&
         s[bare(k->kids[1])->begin].text == "0" && bare(k->kids[1])->kind == Nk::Constant;
}

bool is_signed_number(const Type *t) {
  return t->kind == Ty::Int || t->kind == Ty::Long || t->kind == Ty::LLong;
}

// Whether C compares two numbers of this type as signed ones.
bool compares_signed(const Type *t) {
  return is_signed_number(t) || t->kind == Ty::Char || t->kind == Ty::SChar || t->kind == Ty::Short;
}

// The x of `variable + x`, both signed; NULL where n is another expression.
Node *beside(Node *n, const Symbol *variable) {
  n = bare(n);
  if (n->kind != Nk::Binary || n->op != "+" || !is_signed_number(variable->type)) return nullptr;
  Node *a = bare(n->kids[0]), *b = bare(n->kids[1]);
  if (!is_variable(a, variable)) std::swap(a, b);
  return is_variable(a, variable) && is_signed_number(b->type) ? b : nullptr;
}

// Whether two expressions of names, constants and operators are equal.
bool is_same(const Source &s, Node *a, Node *b) {
  a = bare(a);
  b = bare(b);
  if (a->kind != b->kind || a->op != b->op || a->symbol != b->symbol ||
      a->kids.size() != b->kids.size())
    return false;
  if (a->kids.empty()) return s[a->begin].text == s[b->begin].text;
  for (size_t i = 0; i < a->kids.size(); i++)
    if (!is_same(s, a->kids[i], b->kids[i])) return false;
  return true;
}

// Whether an invariant expression may be evaluated earlier or more often than in the source: it
// cannot divide by 0.
bool is_harmless(Node *n) {
  return every(
      n, [](const Node *k) { return k->kind != Nk::Binary || (k->op != "/" && k->op != "%"); });
}

// Whether the text may stand twice in a function: no label or static variable, and no case of a
// switch around it, which would have the case twice.
bool may_be_copied(const Source &s, const Node *n, bool in_switch = false) {
  if (!n) return true;
  if (n->not_copied) return false;
  const Token &first = s[n->begin];
  const bool statement = n->kind == Nk::Tokens;
  if (statement && !in_switch && (first.is("case") || first.is("default"))) return false;
  in_switch = in_switch || (statement && first.is("switch"));
  return std::all_of(n->kids.begin(), n->kids.end(),
                     [&](const Node *k) { return may_be_copied(s, k, in_switch); });
}

} // namespace

// The array and the index of a[i] at the bottom of a[i][j]... ; NULL where it is no named array.
Node *Generator::first_index(Node *n) {
  n = bare(n);
  while (n && (n->kind == Nk::Index || n->kind == Nk::Decay || n->kind == Nk::Paren)) {
    if (n->kind == Nk::Index) {
      Node *base = bare(n->kids[0]);
      if (base->kind == Nk::Decay && bare(base->kids[0])->kind == Nk::Name) return n;
      if (base->kind == Nk::Name && is_pts(base->type)) return n;
    }
    n = n->kids[0];
  }
  return nullptr;
}

// The array or pointer variable of an index expression that first_index found.
const Symbol *Generator::indexed(const Node *index) {
  const Node *base = bare(index->kids[0]);
  return (base->kind == Nk::Decay ? bare(base->kids[0]) : base)->symbol;
}

// Number of indices of the array that one block holds; 0: an element a[i] spans blocks.
long Generator::unit_of(const Node *index, Node *body) {
  const Symbol *s = indexed(index);
  if (!s || !((is_array(s->type) && is_shared(s->type)) || (is_pts(s->type) && is_steady(s, body))))
    return 0;
  const long block = block_of(index->type);
  const auto count = count_of(index->type);
  if (!count || *count == 0 || block <= 0 || has_threads(index->type)) return 0;
  return block % *count == 0 ? block / *count : 0;
}

// Position of the first element of a pointer or array: elements from the beginning of its row of
// blocks (one block of each thread).
std::string Generator::start_of(const Symbol *s, long block) {
  if (is_array(s->type)) return "0L";
  return "upcr_offset_of(" + name_of(s) + ", " + std::to_string(block) + ")";
}

// Whether the loop counts its variable up to a bound or down to it by 1; fills `l`.
bool Generator::matches_count(Node *n, OwnLoop &l) {
  Node *init = n->kids[0], *cond = bare(n->kids[1]), *body = n->kids[4];
  if (!is_bound(cond, {"<", "<=", ">", ">="})) return false;
  const Node *variable = bare(cond->kids[0]);
  if (!is_integer(variable->symbol->type)) return false;
  l.variable = variable->symbol;
  l.declared = init && init->kind == Nk::Declaration;
  l.down = cond->op[0] == '>';
  Node *step = bare(n->kids[2]);
  const bool by_one = is_step(s_, step, l.variable, l.down);
  if (!by_one && !is_wide_step(step, l.variable, l.down, body)) return false;
  if (!is_fixed_bound(cond->kids[1], l.variable, body)) return false;
  if (changes(body, l.variable) || !may_be_copied(s_, body)) return false;
  l.body = body;
  l.counter = name_of(l.variable);
  l.bound = code(cond->kids[1]);
  l.including = cond->op.size() > 1;
  const bool is_signed = compares_signed(l.variable->type) && compares_signed(cond->kids[1]->type);
  if (l.down || !is_signed || !is_signed_number(l.variable->type))
    l.fits = misses_end(l, is_signed);
  if (!by_one) take_step(step, l, is_signed);
  return true;
}

// C condition for a loop that does not end, which the fast form must not take: the variable never
// passes the bound (i >= 0 with unsigned i, i < 200 with signed char i), or a negative number is
// compared as an unsigned one.
std::string Generator::misses_end(const OwnLoop &l, bool is_signed) {
  const std::string past = l.down ? " - 1" : " + 1";
  const std::string end = "(long)(" + l.bound + ")" + (l.including ? past : "");
  return " || upcr_endless((long)" + l.counter + ", " + end + ", (long)(__typeof__(" + l.counter +
         "))(" + end + "), " + (is_signed ? "1)" : "0)");
}

// Whether an index is the loop's variable plus an invariant offset; fills `l`.
bool Generator::takes_offset(Node *index, OwnLoop &l) {
  Node *fixed = beside(index->kids[1], l.variable);
  if (!fixed || l.elements != 1 || !is_fixed_bound(fixed, l.variable, l.body)) return false;
  if (!is_harmless(fixed)) return false;
  l.offset = fixed;
  l.ahead = "(long)(" + code(fixed) + ") + ";
  return true;
}

// Whether the loop, its affinity and its accesses have the pattern of own_loop; fills `l`.
bool Generator::matches(Node *n, OwnLoop &l) {
  if (!matches_count(n, l)) return false;
  Node *affinity = bare(n->kids[3]), *body = l.body;
  l.unit = 1;
  if (is_variable(affinity, l.variable)) return true;
  if (affinity->kind != Nk::Decay && affinity->kind != Nk::AddressOf) return false;
  Node *index = first_index(bare(affinity->kids[0]));
  l.unit = index ? unit_of(index, body) : 0;
  if (l.unit == 0) return false;
  if (!l.step.empty() && l.unit > 1) // else most blocks would be tested in vain
    l.fits += " || " + l.step + " / " + std::to_string(l.unit) + " > upcr_threads";
  l.elements = count_of(index->type).value_or(1);
  if (!is_variable(bare(index->kids[1]), l.variable) && !takes_offset(index, l)) return false;
  l.begins = l.ahead + start_of(indexed(index), block_of(index->type));
  if (l.elements > 1 && l.begins != "0L")
    l.fits += " || " + l.begins + " % " + std::to_string(l.elements) + " != 0";
  return true;
}

// Whether each step moves the pointer by the same number of elements; fills `l`.
bool Generator::matches_step(Node *step, Node *body, OwnLoop &l) {
  if (step->kind == Nk::Step) return step->op == "++";
  if (step->kind != Nk::Assign || step->op != "+=") return false;
  Node *k = step->kids[1];
  if (!is_integer(k->type) || !is_fixed(k, body) || !is_harmless(k)) return false;
  l.step = is_written_one(s_, k) ? "" : code(k);
  return true;
}

// Whether the loop goes over elements by a pointer-to-shared; fills `l`.
bool Generator::matches_pointer(Node *n, OwnLoop &l) {
  Node *init = n->kids[0], *cond = bare(n->kids[1]), *step = bare(n->kids[2]), *body = n->kids[4];
  if (!is_bound(cond, {"<", "<=", "!="}) || !step || step->kids.empty()) return false;
  const Symbol *p = bare(cond->kids[0])->symbol;
  if (!goes_over_elements(p->type)) return false;
  if (!is_variable(bare(step->kids[0]), p) || !is_place_of(s_, bare(n->kids[3]), p)) return false;
  if (!matches_step(step, body, l)) return false;
  Node *limit = cond->kids[1];
  if (!is_pts(limit->type) || !is_fixed_place(limit, body) || names(limit, p)) return false;
  if (changes(body, p) || !may_be_copied(s_, body)) return false;
  l.pointer = p;
  l.declared = init && init->kind == Nk::Declaration;
  l.unit = block_of(p->type->base);
  l.body = body;
  l.including = cond->op == "<=";
  return l.unit >= 0;
}

// Whether an index is the one of the affinity expression.
bool Generator::is_own_index(Node *n, const OwnLoop &l) {
  if (!l.offset) return is_variable(n, l.variable);
  Node *fixed = beside(n, l.variable);
  return fixed && is_same(s_, fixed, l.offset);
}

// Whether an index is the one of the affinity expression plus a constant, `distance`.
bool Generator::is_near(Node *n, const OwnLoop &l, long &distance) {
  if (is_own_index(n, l)) return true;
  if (!l.neighbours || n->kind != Nk::Binary || (n->op != "+" && n->op != "-")) return false;
  Node *i = bare(n->kids[0]), *c = bare(n->kids[1]);
  if (n->op == "+" && c->kind != Nk::Constant) std::swap(i, c);
  if (!is_own_index(i, l) || c->kind != Nk::Constant || !is_integer(c->type)) return false;
  const std::string text(s_[c->begin].text);
  if (!is_small_decimal(text)) return false;
  distance = std::stol(text) * (n->op == "-" ? -1 : 1);
  return distance < l.unit && -distance < l.unit;
}
