// SPDX-License-Identifier: BSD-3-Clause
/*
 * Expressions in C that read, write, compare or convert shared objects and pointers to them.
 *
 * Called by gen.cc. Calls: gen_address.cc, gen_access.cc, gen_forall.cc. Invariants: an
 * expression's code is one primary expression; operands are evaluated as often as in the source.
 */
#include "gen/gen.h"

namespace {

const Node *bit_field(const Node *n) {
  while (n->kind == Nk::Paren) n = n->kids[0];
  const bool member = n->kind == Nk::Member || n->kind == Nk::Arrow;
  return member && n->member && n->member->bits >= 0 ? n : nullptr;
}

bool is_signed(const Type *t) {
  switch (t->kind) {
  case Ty::SChar:
  case Ty::Short:
  case Ty::Int:
  case Ty::Long:
  case Ty::LLong: return true;
  case Ty::Enum: return t->tag && t->tag->negative;
  default: return false;
  }
}

// Arguments that describe a bit-field: first bit, width, whether signed.
std::string bit_arguments(const Node *n) {
  long first = n->member->bit_offset;
  for (size_t i = 0; i + 1 < n->path.size(); i++) first += n->path[i]->offset * 8;
  return std::to_string(first) + ", " + std::to_string(n->member->bits) + ", " +
         (n->member->type->kind == Ty::Char ? "(char)-1 < 0"
          : is_signed(n->member->type)      ? "1"
                                            : "0");
}

// The type of a bit-field's value: int for one narrower than int, signed or not.
std::string promoted(const Node *n) {
  return n->member->bits < 32 ? "int" : c_type(n->member->type);
}

} // namespace

std::string Generator::load(Node *n) {
  Node *k = n->kids[0];
  const auto kept = kept_.find(n);
  if (kept != kept_.end()) return "(" + kept->second + ")";
  if (!n->strict) {
    const std::string own = own_lvalue(k);
    if (!own.empty()) return "(" + own + ")";
  }
  if (const Node *b = bit_field(k))
    return "((" + promoted(b) + ")upcr_getbits(" + code(k) + ", " + bit_arguments(b) + ", " +
           (n->strict ? "1" : "0") + "))";
  return get_from(n->type, k, n->strict);
}

std::string Generator::assign(Node *n) {
  Node *left = n->kids[0];
  if (!is_shared(left->type))
    return is_pts(left->type) && n->op != "=" ? change_private(n) : splice(n);
  const std::string own = n->strict ? "" : own_lvalue(left);
  if (!own.empty() && !is_pts(left->type)) {
    if (n->kind == Nk::Assign)
      return "(" + own + " " + std::string(n->op) + " (" + code(n->kids[1]) + "))";
    return n->postfix ? "(" + own + std::string(n->op) + ")" : "(" + std::string(n->op) + own + ")";
  }
  if (n->op != "=") return change(n);
  const std::string v = fresh("v");
  std::string s = "({ " + c_type(n->type, v) + " = (" + code(n->kids[1]) + "); ";
  if (const Node *b = bit_field(left))
    return s + "(" + promoted(b) + ")upcr_putbits(" + code(left) + ", " + bit_arguments(b) + ", " +
           (n->strict ? "1" : "0") + ", (unsigned long)" + v + "); })";
  return s + put_to(n->type, left, v, n->strict) + " " + v + "; })";
}

// The right side of a compound assignment, 1 of a step. One that calls functions is evaluated first
// by code added to `before`: a function may change the assigned object, and C compilers read that
// last.
std::string Generator::right_side(Node *n, std::string &before) {
  if (n->kind == Nk::Step) return "1";
  const std::string right = code(n->kids[1]);
  if (!n->kids[1]->has_call) return right;
  const std::string v = fresh("v");
  before += "__auto_type " + v + " = +(" + right + "); ";
  return v;
}

// New value of a compound assignment or step, made of the old one.
std::string Generator::new_value(Node *n, const std::string &old, const std::string &right) {
  const bool minus = n->op[0] == '-';
  const std::string op(n->op.substr(0, n->op.size() - 1));
  if (is_pts(n->type))
    return add(old, (minus ? "-(long)(" : "(") + right + ")", n->type->base, false);
  return old + " " + op + " (" + right + ")";
}

std::string Generator::change(Node *n) {
  Node *left = n->kids[0];
  const std::string p = fresh("p"), o = fresh("v"), v = fresh("v"), type = c_type(n->type);
  const Node *b = bit_field(left);
  const std::string bits = b ? bit_arguments(b) + ", " + (n->strict ? "1" : "0") : "";
  std::string s = "({ upcr_pts_t " + p + " = " + code(left) + "; ";
  const std::string right = right_side(n, s);
  s += (b ? promoted(b) + " " + o : c_type(n->type, o)) + " = ";
  s += b ? "(" + type + ")upcr_getbits(" + p + ", " + bits + ")" : get(n->type, p, n->strict);
  s += "; " + c_type(n->type, v) + " = " + new_value(n, o, right) + "; ";
  if (b)
    s += v + " = (" + type + ")upcr_putbits(" + p + ", " + bits + ", (unsigned long)" + v + ");";
  else
    s += put(n->type, p, v, n->strict);
  return s + " " + (n->postfix ? o : b ? "(" + promoted(b) + ")" + v : v) + "; })";
}

// New value of a pointer-to-shared in private memory.
std::string Generator::change_private(Node *n) {
  Node *left = n->kids[0];
  Node *plain = left;
  while (plain->kind == Nk::Paren) plain = plain->kids[0];
  const std::string o = fresh("v");
  std::string s = "({ ", target;
  if (plain->kind == Nk::Name) {
    target = code(plain);
  } else {
    const std::string p = fresh("p");
    s += "__typeof__(" + code(left) + ") *" + p + " = &(" + code(left) + "); ";
    target = "*" + p;
  }
  const std::string right = right_side(n, s);
  s += "upcr_pts_t " + o + " = " + target + "; ";
  const std::string v = fresh("v");
  s += "upcr_pts_t " + v + " = " + new_value(n, o, right) + "; " + target + " = " + v + "; ";
  return s + (n->postfix ? o : v) + "; })";
}

// a - b, or how that compares with 0.
std::string Generator::difference(const Node *n, Node *a, Node *b) {
  const Type *t = a->type->base;
  const std::string s = "upcr_sub(" + code(a) + ", " + code(b) + ", " + elem_size(t) + ", " +
                        std::to_string(block_of(t)) + ")";
  if (n->op != "-") return "(" + s + " " + std::string(n->op) + " 0)";
  return is_array(t) ? "(" + s + " / " + count_code(t) + ")" : "(" + s + ")";
}

// Whether p is null, or how it compares with a null pointer, below which nothing is: p > 0.
std::string Generator::with_null(const Node *n, Node *p, bool p_first) {
  const std::string is_null = "upcr_eq(" + code(p) + ", (upcr_pts_t)0)";
  if (n->op == "==") return "(" + is_null + ")";
  if (n->op == "!=" || n->op == (p_first ? ">" : "<")) return "(!" + is_null + ")";
  if (n->op == (p_first ? "<=" : ">=")) return "(" + is_null + ")";
  return "(" + is_null + (n->op.size() == 2 ? ", 1)" : ", 0)");
}

std::string Generator::binary(Node *n) {
  Node *a = n->kids[0], *b = n->kids[1];
  const bool first = is_pts(a->type), second = is_pts(b->type);
  if ((!first && !second) || n->op == "&&" || n->op == "||") return splice(n);
  if (first && second) {
    if (n->op != "==" && n->op != "!=") return difference(n, a, b);
    return (n->op == "!=" ? "(!upcr_eq(" : "(upcr_eq(") + code(a) + ", " + code(b) + "))";
  }
  Node *p = first ? a : b, *i = first ? b : a;
  if (n->op != "+" && n->op != "-") return with_null(n, p, first);
  const std::string index = (n->op == "-" ? "-(long)(" : "(") + code(i) + ")";
  return add(code(p), index, p->type->base, false);
}

std::string Generator::cast(Node *n) {
  Node *k = n->kids[1];
  const Type *to = n->operand;
  if (is_pts(to)) {
    if (!is_pts(k->type))
      return "((upcr_pts_t)" +
             std::string(is_integer(k->type) || is_pointer(k->type) ? "0" : code(k)) + ")";
    return drops_phase(k->type, to) ? "upcr_nophase(" + code(k) + ")" : "(" + code(k) + ")";
  }
  if (!is_pts(k->type) || to->kind == Ty::Void) return splice(n);
  const std::string type = code(n->kids[0]);
  if (is_pointer(to)) return "((" + type + ")upcr_local(" + code(k) + "))";
  if (to->kind == Ty::Bool) return "((" + code(k) + ") != 0)";
  return "((" + type + ")upcr_addrfield(" + code(k) + "))";
}

std::string Generator::convert(Node *n) {
  Node *k = n->kids[0];
  if (!is_pts(n->type)) return "((void *)upcr_local(" + code(k) + "))";
  if (!is_pts(k->type)) return "((upcr_pts_t)0)";
  return "upcr_nophase(" + code(k) + ")";
}

std::string Generator::size(Node *n) {
  const Type *t = n->operand;
  if (n->op == "upc_blocksizeof") return "((unsigned long)" + std::to_string(block_of(t)) + ")";
  if (n->op == "upc_elemsizeof") return elem_size(t);
  if (n->op == "upc_localsizeof") return local_size(t);
  if (n->postfix && n->kind == Nk::SizeofType && !is_shared(t))
    return "_Alignof(" + code(n->kids[0]) + ")";
  if (n->postfix) return "_Alignof(" + c_type(unqualified(const_cast<Type *>(element_of(t)))) + ")";
  if (is_shared(t)) {
    for (const Type *a = t; is_array(a); a = a->base)
      if (a->incomplete)
        s_.error(n->begin, "sizeof is applied to the incomplete type '" + upc_name(t) + "'");
    return total_size(t);
  }
  if (n->kind == Nk::SizeofType) return "sizeof(" + code(n->kids[0]) + ")";
  if (t->kind == Ty::Unknown) return splice(n);
  return "sizeof(" + c_type(t) + ")";
}
