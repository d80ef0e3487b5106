// SPDX-License-Identifier: BSD-3-Clause
/*
 * upc_forall in C: the loop with its affinity test, or, where the pattern allows it, a loop over
 * this thread's iterations alone, in which elements that are known to be local are accessed like
 * private ones.
 *
 * Called by gen.cc. Calls: gen_expr.cc, gen_pattern.cc. The pattern: `i = FIRST; i < LAST; i++;
 * AFFINITY` or that by another step (gen_step.cc), or downwards, `i = FIRST; i >= LAST; i--;
 * AFFINITY`, if i can get below LAST, where nothing in the body changes i or LAST, and AFFINITY is
 * i or &a[i]..., each a[i] lying in one block of a, which is an array or a pointer variable that
 * the body does not change, or &a[F + i], F being invariant, as i * N in a loop over j.
 * Invariants: with `unit` indices to a block, and v = i + (the place that a points to, counted in
 * indices from the block row's beginning), index i belongs to thread (v / unit) % THREADS, where it
 * is number (v / unit / THREADS) * unit + v % unit. Pointers that begin elsewhere than the
 * affinity's do not fit, which is known when the loop runs: then the plain loop runs, as it does
 * inside the body of another upc_forall, also one further up in the calls, where every iteration is
 * executed. A loop `p = FIRST; p < LAST; p++; p` over a pointer-to-shared has a counter in p's
 * place, counted from where p begins, if LAST can be reached from there; else the plain loop runs.
 * It is a second copy of the body; bodies with labels, static variables or a case of a switch
 * around the loop are not copied.
 */
#include "gen/gen.h"

#include <algorithm>

// The loop over this thread's iterations, from `first` to before `last`, in the order of the
// source's loop.
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
  if (l.declared) return s; // else it ends with its value on all threads
  if (!l.step.empty() && !l.pointer) return s + " " + i + " = " + l.end + ";";
  const std::string any = " " + i + " = " + l.first + " > " + l.last + " ? ";
  return s + any +
         (l.down ? l.last + " - 1 : " + l.first + " - 1;" : l.first + " : " + l.last + ";");
}

// This thread's iterations where a block has one index.
std::string Generator::own_singles(const OwnLoop &l, const std::string &body) {
  const std::string i = l.counter, end = fresh("e"), at = l.position, sign = l.down ? "-" : "+";
  const std::string count = l.down ? l.block + " + 1 - " + l.at + " - " + l.first
                                   : l.last + " + " + l.at + " - " + l.block;
  return i + " = " + l.block + " - " + l.at + "; for (long " + at + " = upcr_row_of(" + l.block +
         "), " + end + " = " + at + " " + sign + " upcr_rounds(" + count + "); " + at +
         (l.down ? " > " : " < ") + end + "; " + at + sign + sign + ", " + i + " " + sign +
         "= upcr_threads) {" + body + "}";
}

// This thread's iterations where a block has several indices, block by block. `edges` is the body
// for indices at the ends of a block, whose neighbours may lie in another block; empty: they take
// the usual body.
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

// The body, behind the assignment of the loop's pointer. A position without use is named, since gcc
// from 16 on warns of variables that are only counted.
std::string Generator::own_body(Node *n, OwnLoop &l) {
  const std::string body = code(n->kids[4]);
  if (!l.pointer)
    return (body.find(l.position) == std::string::npos ? "(void)" + l.position + "; " : "") + body;
  const std::string size = elem_size(l.pointer->type->base);
  std::string value = "upcr_add0(" + l.origin + ", " + l.position + " * (long)" + size + ")";
  if (l.unit > 0)
    value = "upcr_make(" + l.row + " + (unsigned long)" + l.position + " * " + size + ", " +
            (l.unit == 1 ? "0"
                         : "(unsigned long)" + l.position + " % " + std::to_string(l.unit) + "UL") +
            ", (unsigned long)upcr_mythread)";
  return name_of(l.pointer) + " = " + value + "; {" + body + "}";
}

// The body for indices at the ends of a block. It calls functions for accesses; that hardly costs
// time even in blocks of 8.
std::string Generator::edge_body(Node *n, OwnLoop &l) {
  const bool outer = seldom_;
  seldom_ = true;
  const std::string s = own_body(n, l);
  seldom_ = outer;
  return s;
}

// The loop over all iterations, where upc1 does not know which are this thread's, or where all are.
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

// A loop that moves a pointer over elements. It counts the distance from the pointer's first value.
// Where the pointer can never reach the limit, for example with another phase, the loop runs as the
// source has it.
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
  if (!declared) { // it ends with its value on all threads
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

// The copy of a loop for the rare case in which the fast one does not fit: small, not fast.
std::string Generator::seldom_loop(Node *n, const std::string &test) {
  const bool outer = seldom_;
  seldom_ = true;
  const std::string s = plain_loop(n, test);
  seldom_ = outer;
  return s;
}

// A call of setjmp. A longjmp to it leaves loops, so it also restores upcr_in_forall.
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

// C code of n, if n is the element that the loop's pointer points to; else empty.
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
    own_->pointers += c_type(pointer_to(element), pointer) + " __attribute__((__unused__)) = (" +
                      c_type(pointer_to(element)) + ")(upcr_base[upcr_mythread] + " +
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
      c_type(pointer_to(row), pointer) + " __attribute__((__unused__)) = (" +
      c_type(pointer_to(row)) + ")(upcr_base[upcr_mythread] + upcr_addrfield(" + name + ")" +
      (is_array(base->type) ? "" : " - upcr_phaseof(" + name + ") * " + elem_size(index->type)) +
      ");";
  if (start != own_->begins || count > 1)
    own_->fits += " || (" + start + ") / " + std::to_string(count) + " != " + own_->start + " / " +
                  std::to_string(own_->elements);
  if (count > 1 && !is_array(base->type))
    own_->fits += " || " + start + " % " + std::to_string(count) + " != 0";
  return pointer;
}

// Result of own_lvalue for *p, p[0] and p->member, p being the loop's pointer.
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
