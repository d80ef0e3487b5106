// SPDX-License-Identifier: BSD-3-Clause
/*
 * Constant expressions, with THREADS as a factor that may be unknown.
 *
 * Called by the parser for sizes of arrays, layouts, widths and enumerations. Calls: type.cc.
 * Invariants: sizes that only the C compiler knows are not constant.
 */
#include "parse/parse.h"

#include <algorithm>
#include <cstdlib>

namespace {

Constant known(long value) {
  Constant c;
  c.known = true;
  c.value = value;
  return c;
}

long wrapping_product(long a, long b) {
  return static_cast<long>(static_cast<unsigned long>(a) * static_cast<unsigned long>(b));
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

// Value where an operand has THREADS as a factor: of products, exact quotients, and sums of like
// powers.
Constant combine_threads(std::string_view op, const Constant &a, const Constant &b) {
  Constant c = known(0);
  const bool divides = op == "/" && b.value && a.value % b.value == 0;
  if (op == "*") {
    c.threads = a.threads + b.threads;
    c.value = wrapping_product(a.value, b.value);
  } else if (divides && (a.threads == b.threads || !b.threads)) {
    c.threads = a.threads - b.threads;
    c.value = a.value / b.value;
  } else if ((op == "+" || op == "-") && a.threads == b.threads) {
    c.threads = a.threads;
    c.value = op == "+" ? a.value + b.value : a.value - b.value;
  } else {
    c.known = false;
    c.bad_threads = true;
  }
  return c;
}

Constant combine(std::string_view op, const Constant &a, const Constant &b) {
  Constant c;
  c.bad_threads = a.bad_threads || b.bad_threads;
  if (!a.known || !b.known) return c;
  if (a.threads || b.threads) {
    c = combine_threads(op, a, b);
    c.bad_threads = c.bad_threads || a.bad_threads || b.bad_threads;
    return c;
  }
  c.known =
      arithmetic_op(op, a.value, b.value, &c.value) || logic_op(op, a.value, b.value, &c.value);
  return c;
}

long as_char(long v, bool is_unsigned) {
  return is_unsigned ? static_cast<unsigned char>(v) : static_cast<signed char>(v);
}

long truncate(long v, const Type *t, bool unsigned_char) {
  switch (t->kind) {
  case Ty::Bool: return v != 0;
  case Ty::Char: return as_char(v, unsigned_char);
  case Ty::SChar: return static_cast<signed char>(v);
  case Ty::UChar: return static_cast<unsigned char>(v);
  case Ty::Short: return static_cast<short>(v);
  case Ty::UShort: return static_cast<unsigned short>(v);
  case Ty::Int: return static_cast<int>(v);
  case Ty::UInt: return static_cast<unsigned>(v);
  default: return v;
  }
}

long number(std::string_view t) {
  const bool binary = t.size() > 2 && t[0] == '0' && (t[1] == 'b' || t[1] == 'B');
  std::string digits(binary ? t.substr(2) : t);
  digits.erase(std::remove(digits.begin(), digits.end(), '\''), digits.end());
  return static_cast<long>(strtoull(digits.c_str(), nullptr, binary ? 2 : 0));
}

Constant bytes_of(const Node *n, long threads) {
  if (n->kind != Nk::UpcSizeof) {
    const auto bytes = n->postfix ? std::optional<long>(align_of(n->operand)) : size_of(n->operand);
    return bytes ? known(*bytes) : Constant();
  }
  if (n->op == "upc_blocksizeof") return known(block_of(n->operand));
  const auto bytes = size_of(element_of(n->operand));
  if (!bytes) return {};
  if (n->op == "upc_elemsizeof") return known(*bytes);
  return known(wrapping_product(*bytes, local_count(n->operand, threads)));
}

// Value of a cast or operator whose operands may not contain THREADS: none if they do.
Constant without_threads(Constant c) {
  if (!c.threads) return c;
  c.known = false;
  c.bad_threads = true;
  return c;
}

Constant apply_unary(std::string_view op, Constant c) {
  if (op != "+") c = without_threads(c);
  if (op == "-") c.value = wrapping_product(c.value, -1);
  if (op == "~") c.value = ~c.value;
  if (op == "!") c.value = !c.value;
  return c;
}

} // namespace

Constant Parser::evaluate(const Node *n) {
  switch (n->kind) {
  case Nk::Constant: return literal_value(n);
  case Nk::Threads: {
    Constant c = known(options_.threads ? options_.threads : 1);
    c.threads = options_.threads ? 0 : 1;
    return c;
  }
  case Nk::Value: return known(n->entries);
  case Nk::MaxBlock: return known(pts_form().max_block);
  case Nk::Name:
    return n->symbol && (n->symbol->kind == Sk::Constant || n->symbol->is_constexpr)
               ? known(n->symbol->value)
               : Constant();
  case Nk::Paren: return evaluate(n->kids[0]);
  case Nk::Unary: return apply_unary(n->op, evaluate(n->kids[0]));
  case Nk::Binary: return combine(n->op, evaluate(n->kids[0]), evaluate(n->kids[1]));
  case Nk::Conditional: {
    const Constant c = evaluate(n->kids[0]);
    if (!c.known || n->kids.size() < 3) return {};
    return evaluate(n->kids[c.value ? 1 : 2]);
  }
  case Nk::Cast: {
    Constant c = without_threads(evaluate(n->kids[1]));
    if (!is_integer(n->type)) return {};
    c.value = truncate(c.value, n->type, s_.unsigned_char());
    return c;
  }
  case Nk::SizeofType:
  case Nk::SizeofExpr:
  case Nk::UpcSizeof: return bytes_of(n, options_.threads);
  default: return {};
  }
}

Constant Parser::literal_value(const Node *n) {
  const Token &t = s_[n->begin];
  if (t.kind == Tk::Char) {
    const long value = character(t.text);
    return known(t.text[0] == '\'' ? as_char(value, s_.unsigned_char()) : value);
  }
  if (t.kind != Tk::Number || !is_integer(n->type)) return {};
  return known(number(t.text));
}

// __null, and nullptr, which is a constant where C23 is taken.
bool Parser::is_null_word(const Node *n) const {
  if (n->kind != Nk::Name) return false;
  if (!n->symbol) return s_[n->begin].text == "__null";
  return n->symbol->kind == Sk::Constant && is_pointer(n->type);
}

bool Parser::is_null_constant(const Node *n) {
  while (n->kind == Nk::Paren) n = n->kids[0];
  if (is_null_word(n)) return true;
  if (n->kind == Nk::Cast && is_pointer(n->type) && n->type->base->kind == Ty::Void &&
      !is_shared(n->type->base))
    return is_null_constant(n->kids[1]);
  if (!is_integer(n->type)) return false;
  const Constant c = evaluate(n);
  return c.known && c.value == 0 && c.threads == 0;
}
