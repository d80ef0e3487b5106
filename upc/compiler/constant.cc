// SPDX-License-Identifier: BSD-3-Clause
/*
 * Constant expressions, with THREADS as a factor that may be unknown.
 *
 * Called by the parser for sizes of arrays, layouts, widths and enumerations. Calls: type.cc.
 * Invariants: what is not known here (sizes that only the C compiler knows) is not constant.
 */
#include "parse.h"

#include <cstdlib>

namespace {

Constant known(long value) {
  Constant c;
  c.known = true;
  c.value = value;
  return c;
}

long character(std::string_view t) {
  size_t i = t.find('\'') + 1;
  if (t[i] != '\\') return t[i];
  switch (t[++i]) {
  case 'n': return '\n';
  case 't': return '\t';
  case 'r': return '\r';
  case 'a': return '\a';
  case 'b': return '\b';
  case 'f': return '\f';
  case 'v': return '\v';
  case 'e': return 27;
  case 'x': return strtol(std::string(t.substr(i + 1)).c_str(), nullptr, 16);
  default: break;
  }
  if (t[i] >= '0' && t[i] <= '7') return strtol(std::string(t.substr(i, 3)).c_str(), nullptr, 8);
  return t[i];
}

bool arithmetic_op(std::string_view op, long a, long b, long *r) {
  const auto ua = static_cast<unsigned long>(a), ub = static_cast<unsigned long>(b);
  if (op == "+")
    *r = static_cast<long>(ua + ub);
  else if (op == "-")
    *r = static_cast<long>(ua - ub);
  else if (op == "*")
    *r = static_cast<long>(ua * ub);
  else if ((op == "/" || op == "%") && b != 0 && b != -1)
    *r = op == "/" ? a / b : a % b;
  else if (op == "<<")
    *r = static_cast<long>(ua << (b & 63));
  else if (op == ">>")
    *r = a >> (b & 63);
  else
    return false;
  return true;
}

bool logic_op(std::string_view op, long a, long b, long *r) {
  if (op == "&")
    *r = a & b;
  else if (op == "|")
    *r = a | b;
  else if (op == "^")
    *r = a ^ b;
  else if (op == "&&")
    *r = a && b;
  else if (op == "||")
    *r = a || b;
  else if (op == "==")
    *r = a == b;
  else if (op == "!=")
    *r = a != b;
  else if (op == "<")
    *r = a < b;
  else if (op == ">")
    *r = a > b;
  else if (op == "<=")
    *r = a <= b;
  else if (op == ">=")
    *r = a >= b;
  else
    return false;
  return true;
}

Constant combine(std::string_view op, const Constant &a, const Constant &b) {
  Constant c;
  c.bad_threads = a.bad_threads || b.bad_threads;
  if (!a.known || !b.known) return c;
  if (a.threads || b.threads) {
    c.known = true;
    c.threads = a.threads + b.threads;
    c.value = a.value * b.value;
    if (op == "/" && a.threads == b.threads && b.value && a.value % b.value == 0)
      return known(a.value / b.value);
    if (op == "/" && !b.threads && b.value && a.value % b.value == 0) {
      c.value = a.value / b.value;
      return c;
    }
    if ((op == "+" || op == "-") && a.threads == b.threads) {
      c.threads = a.threads;
      c.value = op == "+" ? a.value + b.value : a.value - b.value;
      return c;
    }
    if (op != "*") {
      c.known = false;
      c.bad_threads = true;
    }
    return c;
  }
  c.known =
      arithmetic_op(op, a.value, b.value, &c.value) || logic_op(op, a.value, b.value, &c.value);
  return c;
}

long truncate(long v, const Type *t) {
  switch (t->kind) {
  case Ty::Bool: return v != 0;
  case Ty::Char:
  case Ty::SChar: return static_cast<signed char>(v);
  case Ty::UChar: return static_cast<unsigned char>(v);
  case Ty::Short: return static_cast<short>(v);
  case Ty::UShort: return static_cast<unsigned short>(v);
  case Ty::Int: return static_cast<int>(v);
  case Ty::UInt: return static_cast<unsigned>(v);
  default: return v;
  }
}

} // namespace

Constant Parser::evaluate(const Node *n) {
  switch (n->kind) {
  case Nk::Constant: {
    const Token &t = s_[n->begin];
    if (t.kind == Tk::Char) return known(character(t.text));
    if (t.kind != Tk::Number || !is_integer(n->type)) return {};
    return known(static_cast<long>(
        strtoull(std::string(t.text).c_str(), nullptr, t.text.compare(0, 2, "0b") == 0 ? 2 : 0)));
  }
  case Nk::Threads: {
    if (options_.threads) return known(options_.threads);
    Constant c = known(1);
    c.threads = 1;
    return c;
  }
  case Nk::MaxBlock: return known(pts_form().max_block);
  case Nk::Name:
    return n->symbol && n->symbol->kind == Sk::Constant ? known(n->symbol->value) : Constant();
  case Nk::Paren: return evaluate(n->kids[0]);
  case Nk::Unary: {
    Constant c = evaluate(n->kids[0]);
    if (c.threads && n->op != "+") {
      c.known = false;
      c.bad_threads = true;
    }
    if (n->op == "-") c.value = -c.value;
    if (n->op == "~") c.value = ~c.value;
    if (n->op == "!") c.value = !c.value;
    return c;
  }
  case Nk::Binary: return combine(n->op, evaluate(n->kids[0]), evaluate(n->kids[1]));
  case Nk::Conditional: {
    const Constant c = evaluate(n->kids[0]);
    if (!c.known || n->kids.size() < 3) return {};
    return evaluate(n->kids[c.value ? 1 : 2]);
  }
  case Nk::Cast: {
    Constant c = evaluate(n->kids[1]);
    if (!is_integer(n->type)) return {};
    if (c.threads) {
      c.known = false;
      c.bad_threads = true;
    }
    c.value = truncate(c.value, n->type);
    return c;
  }
  case Nk::SizeofType:
  case Nk::SizeofExpr: {
    const auto bytes = n->postfix ? std::optional<long>(align_of(n->operand)) : size_of(n->operand);
    return bytes ? known(*bytes) : Constant();
  }
  case Nk::UpcSizeof: {
    if (n->op == "upc_blocksizeof") return known(block_of(n->operand));
    const auto bytes = size_of(element_of(n->operand));
    return bytes && n->op == "upc_elemsizeof" ? known(*bytes) : Constant();
  }
  default: return {};
  }
}

bool Parser::is_null_constant(const Node *n) {
  while (n->kind == Nk::Paren) n = n->kids[0];
  if (n->kind == Nk::Name && !n->symbol && s_[n->begin].text == "__null") return true;
  if (n->kind == Nk::Cast && is_pointer(n->type) && n->type->base->kind == Ty::Void &&
      !is_shared(n->type->base))
    return is_null_constant(n->kids[1]);
  if (!is_integer(n->type)) return false;
  const Constant c = evaluate(n);
  return c.known && c.value == 0 && c.threads == 0;
}
