// SPDX-License-Identifier: BSD-3-Clause
/*
 * upc_forall in C: the loop with its affinity test, or, where the pattern allows it, a loop over
 * this thread's iterations alone, in which elements that are known to be local are accessed like
 * private ones.
 *
 * Called by gen.cc. Calls: gen_expr.cc. The pattern: `i = FIRST; i < LAST; i++; AFFINITY` or the
 * same by another step (gen_step.cc), or downwards, `i = FIRST; i >= LAST; i--; AFFINITY`, if i can
 * get below LAST, where nothing in the body changes i or LAST, and AFFINITY is i or &a[i]..., each
 * a[i] lying in one block of a, which is an array or a pointer variable that the body does not
 * change, or &a[F + i], F being the same throughout, as i * N in a loop over j. Invariants: with
 * `unit` indices to a block, and v = i
 * + (what a points to, counted in indices from the block row's beginning), index i belongs to
 * thread (v / unit) % THREADS, where it is number (v / unit / THREADS) * unit + v % unit. Pointers
 * that begin elsewhere than the affinity's do not fit, which is known when the loop runs: then the
 * plain loop runs, as it does inside the body of another upc_forall, also one further up in the
 * calls, where every iteration is executed. A loop `p = FIRST; p < LAST; p++; p` over a
 * pointer-to-shared is the same with a counter in p's place, counted from where p begins, if LAST
 * can be reached from there; else the plain loop runs. It is a second copy of the body; bodies with
 * labels, static variables or a case of a switch around the loop are not copied.
 */
#include "gen.h"

#include <algorithm>

namespace {

constexpr long kLongBlock = 64; // from this length on, calls at a block's ends hardly cost

Node *bare(Node *n) {
  while (n && n->kind == Nk::Paren) n = n->kids[0];
  return n;
}

bool is_variable(const Node *n, const Symbol *s) {
  return n && n->kind == Nk::Name && n->symbol == s;
}

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

// 1 as it is written, which is nothing to multiply by.
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

// A variable that only this function can see and that nothing points to.
bool is_own(const Symbol *s) {
  return s && s->kind == Sk::Variable && !s->file_scope && !s->is_static && !s->is_extern &&
         !s->address_taken && !s->type->is_volatile;
}

// Whether a loop's condition compares a variable of its own with something.
bool is_bound(const Node *cond, std::initializer_list<const char *> operators) {
  if (!cond || cond->kind != Nk::Binary) return false;
  const Node *variable = bare(cond->kids[0]);
  return variable->kind == Nk::Name && is_own(variable->symbol) &&
         std::any_of(operators.begin(), operators.end(),
                     [cond](const char *op) { return cond->op == op; });
}

// A pointer-to-shared that goes over elements one by one.
bool goes_over_elements(const Type *t) {
  return is_pts(t) && !is_generic_pts(t) && !is_array(t->base);
}

// Whether a loop's body leaves all variables alone that it does not name as targets: it calls
// nothing, and stores in named variables, arrays and shared objects only.
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

// A variable that keeps its value while the body runs.
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

// Whether a loop's step counts its variable, up or down, by what is the same throughout.
bool is_wide_step(Node *step, const Symbol *variable, bool down, Node *body) {
  if (!step || step->kind != Nk::Assign || step->op != (down ? "-=" : "+=")) return false;
  Node *by = step->kids[1];
  return is_variable(bare(step->kids[0]), variable) && is_integer(by->type) && is_fixed(by, body) &&
         is_harmless(by) && !names(by, variable);
}

// Whether an integer is the same throughout a loop that counts `variable`.
bool is_fixed_bound(Node *n, const Symbol *variable, Node *body) {
  return is_integer(n->type) && is_fixed(n, body) && !names(n, variable);
}

// Whether a place in shared memory stays what it is while the body runs.
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

// A number that is compared as a signed one with another of these.
bool compares_signed(const Type *t) {
  return is_signed_number(t) || t->kind == Ty::Char || t->kind == Ty::SChar || t->kind == Ty::Short;
}

// What is added to a variable, both signed; NULL: it is another expression.
Node *beside(Node *n, const Symbol *variable) {
  n = bare(n);
  if (n->kind != Nk::Binary || n->op != "+" || !is_signed_number(variable->type)) return nullptr;
  Node *a = bare(n->kids[0]), *b = bare(n->kids[1]);
  if (!is_variable(a, variable)) std::swap(a, b);
  return is_variable(a, variable) && is_signed_number(b->type) ? b : nullptr;
}

// Whether two expressions of names, constants and operators are the same.
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

// Whether a fixed expression may be evaluated where the source would not: it cannot divide by 0.
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

// Indices of the array to a block; 0: an element a[i] is not in one block.
long Generator::unit_of(const Node *index, Node *body) {
  const Symbol *s = indexed(index);
  if (!s || !((is_array(s->type) && is_shared(s->type)) || (is_pts(s->type) && is_steady(s, body))))
    return 0;
  const long block = block_of(index->type);
  const auto count = count_of(index->type);
  if (!count || *count == 0 || block <= 0 || has_threads(index->type)) return 0;
  return block % *count == 0 ? block / *count : 0;
}

// Where the elements that a pointer or array begins with lie: elements from the beginning of the
// row of blocks.
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

// In C, that a loop does not fit: its variable cannot get past the bound, as with i >= 0, i
// unsigned, or with i < 200, i a signed char, or a number is less than 0 where it is compared as an
// unsigned one.
std::string Generator::misses_end(const OwnLoop &l, bool is_signed) {
  const std::string past = l.down ? " - 1" : " + 1";
  const std::string end = "(long)(" + l.bound + ")" + (l.including ? past : "");
  return " || upcr_endless((long)" + l.counter + ", " + end + ", (long)(__typeof__(" + l.counter +
         "))(" + end + "), " + (is_signed ? "1)" : "0)");
}

// Whether an index is the loop's variable and an offset that stays; fills `l`.
bool Generator::takes_offset(Node *index, OwnLoop &l) {
  Node *fixed = beside(index->kids[1], l.variable);
  if (!fixed || l.elements != 1 || !is_fixed_bound(fixed, l.variable, l.body)) return false;
  if (!is_harmless(fixed)) return false;
  l.offset = fixed;
  l.ahead = "(long)(" + code(fixed) + ") + ";
  return true;
}

// Whether the loop has the pattern; fills `l`.
bool Generator::matches(Node *n, OwnLoop &l) {
  if (!matches_count(n, l)) return false;
  Node *affinity = bare(n->kids[3]), *body = l.body;
  l.unit = 1;
  if (is_variable(affinity, l.variable)) return true;
  if (affinity->kind != Nk::Decay && affinity->kind != Nk::AddressOf) return false;
  Node *index = first_index(bare(affinity->kids[0]));
  l.unit = index ? unit_of(index, body) : 0;
  if (l.unit == 0) return false;
  if (!l.step.empty() && l.unit > 1) // else most blocks would be looked at in vain
    l.fits += " || " + l.step + " / " + std::to_string(l.unit) + " > upcr_threads";
  l.elements = count_of(index->type).value_or(1);
  if (!is_variable(bare(index->kids[1]), l.variable) && !takes_offset(index, l)) return false;
  l.begins = l.ahead + start_of(indexed(index), block_of(index->type));
  if (l.elements > 1 && l.begins != "0L")
    l.fits += " || " + l.begins + " % " + std::to_string(l.elements) + " != 0";
  return true;
}

// This thread's iterations, which are those from `first` to before `last`, in the loop's order.
std::string Generator::own_loop(Node *n, OwnLoop &l) {
  const std::string i = l.counter, bound = "(long)(" + l.bound + ")";
  l.first = fresh("i");
  l.last = fresh("n");
  l.block = fresh("q");
  l.at = fresh("b");
  l.position = fresh("l");
  l.start = fresh("o");
  OwnLoop *outer = own_;
  own_ = &l;
  l.neighbours = l.unit > 1;
  const std::string body = own_body(n, l);
  l.neighbours = false;
  const std::string edges = l.lowest || l.highest ? edge_body(n, l) : "";
  own_ = outer;
  const std::string first = l.down ? bound + (l.including ? "" : " + 1") : "(long)" + i;
  const std::string last = l.down ? "(long)" + i + " + 1" : bound + (l.including ? " + 1" : "");
  std::string s = "const long " + l.first + " = " + first + ", " + l.last + " = " + last + ";" +
                  l.pointers + " const long " + l.at + " = " + l.start + " / " +
                  std::to_string(l.elements) + ";long " + l.block + " = " +
                  (l.down ? "upcr_last(" + l.last + " - 1" : "upcr_first(" + l.first) + " + " +
                  l.at + ", " + std::to_string(l.unit) + "L);";
  s += l.unit > 1       ? own_blocks(l, body, edges)
       : l.step.empty() ? own_singles(l, body)
                        : step_singles(l, body);
  if (l.declared) return s; // else it is in the end what it is on all threads
  if (!l.step.empty() && !l.pointer) return s + " " + i + " = " + l.end + ";";
  const std::string any = " " + i + " = " + l.first + " > " + l.last + " ? ";
  return s + any +
         (l.down ? l.last + " - 1 : " + l.first + " - 1;" : l.first + " : " + l.last + ";");
}

// The iterations of blocks of one index.
std::string Generator::own_singles(const OwnLoop &l, const std::string &body) {
  const std::string i = l.counter, end = fresh("e"), at = l.position, sign = l.down ? "-" : "+";
  const std::string count = l.down ? l.block + " + 1 - " + l.at + " - " + l.first
                                   : l.last + " + " + l.at + " - " + l.block;
  return i + " = " + l.block + " - " + l.at + "; for (long " + at + " = upcr_row_of(" + l.block +
         "), " + end + " = " + at + " " + sign + " upcr_rounds(" + count + "); " + at +
         (l.down ? " > " : " < ") + end + "; " + at + sign + sign + ", " + i + " " + sign +
         "= upcr_threads) {" + body + "}";
}

// The iterations of longer blocks: those of this thread in turn. `edges` is the body where
// neighbours may lie in another block; empty: it is the same.
std::string Generator::own_blocks(const OwnLoop &l, const std::string &body,
                                  const std::string &edges) {
  const std::string b = fresh("b"), low = fresh("i"), high = fresh("n"), row = fresh("r");
  const std::string unit = std::to_string(l.unit) + "L", block_end = b + " + " + unit;
  const std::string step = l.down ? " -= " : " += ";
  std::string s = "for (long " + b + ", " + row + " = upcr_row_of(" + l.block + ") * " + unit +
                  "; (" + b + " = " + l.block + " * " + unit + " - " + l.at + ")" +
                  (l.down ? " + " + unit + " > " + l.first : " < " + l.last) + "; " + l.block +
                  step + "upcr_threads, " + row + step + unit + ") { const long " + low + " = " +
                  b + " < " + l.first + " ? " + l.first + " : " + b + ", " + high + " = " +
                  block_end + " < " + l.last + " ? " + block_end + " : " + l.last + "; ";
  const auto part = [&](const std::string &from, const std::string &to, const std::string &text) {
    return own_part(l, row + " - " + b, from, to) + text + "} ";
  };
  if (edges.empty()) return s + part(low, high, body) + "}";
  // the indices of which a neighbour lies in another block are at the ends
  const std::string m = fresh("m"), n2 = fresh("m"), k = fresh("k");
  const std::string from = fresh("i"), to = fresh("n");
  s += "const long " + m + " = upcr_clamp(" + b + " - (" + std::to_string(l.lowest) + "L), " + low +
       ", " + high + "), " + n2 + " = upcr_clamp(" + block_end + " - " + std::to_string(l.highest) +
       "L, " + m + ", " + high + "); for (int " + k +
       (l.down ? " = 2; " + k + " >= 0; " + k + "--" : " = 0; " + k + " < 3; " + k + "++") +
       ") { const long " + from + " = " + k + " == 0 ? " + low + " : " + k + " == 1 ? " + m +
       " : " + n2 + ", " + to + " = " + k + " == 0 ? " + m + " : " + k + " == 1 ? " + n2 + " : " +
       high + "; if (" + k + " == 1) {" + part(from, to, body) + "} else {" +
       part(from, to, edges) + "} }";
  return s + "}";
}

// The head of a loop over the indices from `from` to before `to`; `row` is the position of index 0.
std::string Generator::own_part(const OwnLoop &l, const std::string &row, const std::string &from,
                                const std::string &to) {
  if (!l.step.empty()) return step_part(l, row, from, to);
  const std::string i = l.counter, end = fresh("e"), at = l.position, sign = l.down ? "-" : "+";
  const std::string begin = l.down ? to + " - 1" : from;
  return i + " = " + begin + "; for (long " + at + " = " + row + " + " + begin + ", " + end +
         " = " + at + " " + sign + " (" + to + " - " + from + "); " + at +
         (l.down ? " > " : " < ") + end + "; " + at + sign + sign + ", " + i + sign + sign + ") {";
}

// Whether a pointer goes on by the same number of elements each time; fills `l`.
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

// The body, behind what gives a loop's pointer its value.
std::string Generator::own_body(Node *n, OwnLoop &l) {
  const std::string body = code(n->kids[4]);
  if (!l.pointer) return body;
  const std::string size = elem_size(l.pointer->type->base);
  std::string value = "upcr_add0(" + l.origin + ", " + l.position + " * (long)" + size + ")";
  if (l.unit > 0)
    value = "upcr_make(" + l.row + " + (unsigned long)" + l.position + " * " + size + ", " +
            (l.unit == 1 ? "0"
                         : "(unsigned long)" + l.position + " % " + std::to_string(l.unit) + "UL") +
            ", (unsigned long)upcr_mythread)";
  return name_of(l.pointer) + " = " + value + "; {" + body + "}";
}

// The same where neighbours lie in another block, which is seldom where blocks are long.
std::string Generator::edge_body(Node *n, OwnLoop &l) {
  const bool outer = seldom_;
  seldom_ = outer || l.unit >= kLongBlock;
  const std::string s = own_body(n, l);
  seldom_ = outer;
  return s;
}

// All iterations in turn, where those of this thread are not known beforehand or all are.
std::string Generator::stepped_loop(Node *n, OwnLoop &l) {
  const std::string v = fresh("v"), k = l.counter, thread = fresh("t"), rest = fresh("r");
  l.position = fresh("l");
  OwnLoop *outer = own_;
  own_ = &l;
  const std::string body = own_body(n, l);
  own_ = outer;
  const std::string head = "for (; " + k + " < " + l.bound + "; " + k +
                           " += " + (l.step.empty() ? "1" : l.step) + ") { ";
  if (l.unit == 0)
    return "if (upcr_threadof(" + l.origin + ") == upcr_mythread) {" + l.pointers + head +
           "const long " + l.position + " = " + k + "; " + body + "} }";
  const std::string unit = std::to_string(l.unit) + "L";
  return l.pointers + head + "const long " + v + " = " + k + " + " + l.start + "; long " + thread +
         "; const long " + l.position + " = upcr_row(" + v + " / " + unit + ", &" + thread +
         ") * " + unit + " + " + v + " % " + unit + "; if (" + thread + " == upcr_mythread) {" +
         body + "} }";
}

// A loop over elements by a pointer. What it counts is the distance from where the pointer begins;
// if from there the limit cannot be reached, as with another phase, the loop runs as it stands.
std::string Generator::pointer_loop(Node *n, OwnLoop &l, const std::string &inner) {
  const std::string p = name_of(l.pointer), limit = fresh("p"), count = fresh("n");
  const Type *referent = l.pointer->type->base;
  const std::string size = elem_size(referent), step = l.step, block = std::to_string(l.unit);
  l.origin = fresh("p");
  l.row = fresh("r");
  l.counter = fresh("k");
  std::string s = " const upcr_pts_t " + l.origin + " = " + p + ", " + limit + " = " +
                  code(bare(n->kids[1])->kids[1]) + "; const long " + count + " = upcr_sub(" +
                  limit + ", " + l.origin + ", " + size + ", " + block + ");";
  std::string misfit = inner + " || " + add(l.origin, count, referent, true) + " != " + limit;
  if (l.unit > 1) misfit += " || upcr_phaseof(" + l.origin + ") >= " + block;
  if (!step.empty()) {
    l.step = fresh("s");
    s += " const long " + l.step + " = (long)(" + step + ");";
    misfit += " || " + l.step + " <= 0";
  }
  if (bare(n->kids[1])->op == "!=")
    misfit += " || " + count + " < 0" + (step.empty() ? "" : " || " + count + " % " + l.step);
  s += " if (__builtin_expect(" + misfit + ", 0)) {" +
       seldom_loop(n, inner + " || " + affinity(n->kids[3])) + "} else { long " + l.counter +
       " = 0; ";
  l.bound = l.including ? "(" + count + " + 1)" : count;
  l.including = false;
  if (l.unit > 0)
    s += "const unsigned long " + l.row + " = upcr_addrfield(" + l.origin + ") - upcr_phaseof(" +
         l.origin + ") * " + size + "; ";
  const std::string begins = "upcr_offset_of(" + l.origin + ", " + block + ")";
  const bool in_turn = l.unit == 0 || !step.empty();
  const bool declared = l.declared;
  l.declared = true; // the counter
  if (in_turn) l.start = fresh("o");
  const std::string loop = in_turn ? stepped_loop(n, l) : own_loop(n, l);
  if (l.unit > 0) s += "const long " + l.start + " = " + begins + "; ";
  s += loop;
  if (!declared) { // it is in the end what it is on all threads
    std::string k = l.bound;
    if (!step.empty()) k = "(" + k + " + " + l.step + " - 1) / " + l.step + " * " + l.step;
    s += " " + p + " = " + add(l.origin, l.bound + " > 0 ? " + k + " : 0L", referent, true) + ";";
  }
  return s + "}";
}

std::string Generator::affinity(Node *n) {
  if (is_pts(n->type)) return "upcr_threadof(" + code(n) + ") == upcr_mythread";
  if (n->type->kind == Ty::ULong || n->type->kind == Ty::ULLong)
    return "upcr_mine((long)((" + code(n) + ") % (unsigned long)upcr_threads))";
  return "upcr_mine((long)(" + code(n) + "))";
}

std::string Generator::plain_loop(Node *n, const std::string &test) {
  std::string s = "for (;";
  if (n->kids[1]) s += code(n->kids[1]);
  s += ";";
  if (n->kids[2]) s += code(n->kids[2]);
  return s + ")" + (test.empty() ? "" : " if (" + test + ")") + " {" + code(n->kids[4]) + "}";
}

// The same beside a loop that is better and nearly always fits: small, not fast.
std::string Generator::seldom_loop(Node *n, const std::string &test) {
  const bool outer = seldom_;
  seldom_ = true;
  const std::string s = plain_loop(n, test);
  seldom_ = outer;
  return s;
}

// A call of setjmp: where a longjmp comes back to, no more is controlled than was before.
std::string Generator::landing(Node *n) {
  const std::string before = fresh("f"), v = fresh("v");
  return "({ const int " + before + " = upcr_in_forall; const int " + v + " = " + splice(n) +
         "; upcr_in_forall = " + before + "; " + v + "; })";
}

// A loop with affinity; `inner`: a variable that says that all iterations are executed.
std::string Generator::controlled_loop(Node *n, const std::string &inner, bool optimise) {
  OwnLoop along, own;
  if (optimise && matches_pointer(n, along)) return pointer_loop(n, along, inner);
  if (!optimise || !matches(n, own)) return plain_loop(n, inner + " || " + affinity(n->kids[3]));
  const std::string loop = own_loop(n, own), test = own.fits.empty() ? "" : affinity(n->kids[3]);
  return own.before + " const long " + own.start + " = " + own.begins + "; if (__builtin_expect(" +
         inner + own.fits + ", 0)) {" + seldom_loop(n, test.empty() ? "" : inner + " || " + test) +
         "} else {" + loop + "}";
}

std::string Generator::forall(Node *n) {
  std::string s = place(n->begin) + " {";
  Node *init = n->kids[0];
  if (init) s += code(init) + (init->kind == Nk::Declaration ? "" : ";");
  if (!n->kids[3] || controlled_) return s + plain_loop(n, "") + " }";
  controlled_ = true;
  const std::string inner = fresh("f");
  const bool calls = n->has_call, leaves = n->kids[4]->leaves;
  s += " const int " + inner + (calls && leaves ? " __attribute__((cleanup(upcr_leave)))" : "") +
       " = upcr_in_forall;";
  if (calls) s += " upcr_in_forall = 1;";
  s += controlled_loop(n, inner, options_.optimise && !leaves);
  controlled_ = false;
  if (calls) s += " upcr_in_forall = " + inner + ";";
  return s + " }";
}

// Whether an index is that of the affinity.
bool Generator::is_own_index(Node *n, const OwnLoop &l) {
  if (!l.offset) return is_variable(n, l.variable);
  Node *fixed = beside(n, l.variable);
  return fixed && is_same(s_, fixed, l.offset);
}

// Whether an index is that of the affinity, or that and a constant, the distance.
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

// The element that a loop's pointer points to; empty: n is another one.
std::string Generator::own_target(Node *n) {
  Node *p = bare(n->kids[0]);
  if (!is_variable(p, own_->pointer)) return "";
  if (n->kind == Nk::Index) {
    const Node *index = bare(n->kids[1]);
    if (index->kind != Nk::Constant || s_[index->begin].text != "0") return "";
  } else if (n->kind != Nk::Deref && n->kind != Nk::Arrow) {
    return "";
  }
  Type *element = unqualified(own_->pointer->type->base);
  std::string &pointer = own_->arrays[own_->pointer];
  if (pointer.empty()) {
    pointer = fresh("a");
    own_->pointers += c_type(pointer_to(element), pointer) + " = (" + c_type(pointer_to(element)) +
                      ")(upcr_base[upcr_mythread] + " +
                      (own_->unit > 0 ? own_->row : "upcr_addrfield(" + own_->origin + ")") + ");";
  }
  return pointer + "[" + own_->position + "]";
}

// The local pointer to the array of an index expression, declared in front of the loop.
std::string Generator::own_array(Node *index) {
  const Symbol *base = indexed(index);
  std::string &pointer = own_->arrays[base];
  if (!pointer.empty()) return pointer;
  pointer = fresh("a");
  Type *row = unqualified(index->type);
  const long count = count_of(row).value_or(1);
  const std::string name = name_of(base);
  const std::string start = own_->ahead + start_of(base, block_of(index->type));
  own_->pointers +=
      c_type(pointer_to(row), pointer) + " = (" + c_type(pointer_to(row)) +
      ")(upcr_base[upcr_mythread] + upcr_addrfield(" + name + ")" +
      (is_array(base->type) ? "" : " - upcr_phaseof(" + name + ") * " + elem_size(index->type)) +
      ");";
  if (start != own_->begins || count > 1)
    own_->fits += " || (" + start + ") / " + std::to_string(count) + " != " + own_->start + " / " +
                  std::to_string(own_->elements);
  if (count > 1 && !is_array(base->type))
    own_->fits += " || " + start + " % " + std::to_string(count) + " != 0";
  return pointer;
}

// What own_lvalue gives for *p, p[0] and p->member, p being the loop's pointer.
std::string Generator::own_by_pointer(Node *n) {
  const std::string target = n->kids.empty() ? "" : own_target(n);
  if (target.empty() || n->kind != Nk::Arrow) return target;
  return n->member ? target + "." + std::string(n->member->name) : "";
}

std::string Generator::own_member(Node *n) {
  if (!n->member) return ""; // an error, which has been reported
  const std::string base = own_lvalue(n->kids[0]);
  return base.empty() ? "" : base + "." + std::string(n->member->name);
}

// The C lvalue of a shared element that the loop knows to be local; empty: it is not known.
std::string Generator::own_lvalue(Node *n) {
  n = bare(n);
  if (!own_ || n->strict_type()) return "";
  if (n->kind == Nk::Member) return own_member(n);
  if (own_->pointer) return own_by_pointer(n);
  if (n->kind != Nk::Index) return "";
  Node *index = first_index(n);
  long distance = 0;
  if (!index || !is_near(bare(index->kids[1]), *own_, distance)) return "";
  if (unit_of(index, own_->body) != own_->unit) return "";
  if (own_->offset && count_of(index->type).value_or(1) != 1) return "";
  const std::string pointer = own_array(index);
  std::string rest;
  for (Node *k = n; k != index; k = bare(k->kids[0]))
    if (k->kind == Nk::Index)
      rest = "[" + code(k->kids[1]) + "]" + rest;
    else if (k->kind != Nk::Decay)
      return "";
  own_->lowest = std::min(own_->lowest, distance);
  own_->highest = std::max(own_->highest, distance);
  return pointer + "[" + own_->position +
         (distance ? " + (" + std::to_string(distance) + ")" : "") + "]" + rest;
}
