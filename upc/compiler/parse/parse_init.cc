// SPDX-License-Identifier: BSD-3-Clause
/*
 * Initialisers: which type each value of a list initialises (C11 6.7.9), for the conversions of
 * pointers-to-shared.
 *
 * Called by parse_decl.cc and for compound literals. Calls: the other parts of the parser.
 * Invariants: lists without inner braces are followed scalar by scalar; where the type is not known
 * here, values are not converted.
 */
#include "parse/parse.h"

#include <algorithm>
#include <cstdlib>

namespace {

// Number of scalars in a type, as a list without inner braces gives them; 0: not known.
size_t scalars(const Type *t) {
  if (is_array(t)) {
    if (t->incomplete || t->variable || t->times_threads) return 0;
    return static_cast<size_t>(t->count) * scalars(t->base);
  }
  if (!is_record(t)) return 1;
  if (!t->tag->complete) return 0;
  size_t n = 0;
  for (const Member &m : t->tag->members) {
    if (m.name.empty() && m.bits >= 0) continue;
    const size_t k = scalars(m.type);
    n = t->kind == Ty::Union ? (n ? n : k) : n + k;
  }
  return n;
}

// The scalar number `at` of a type.
Type *scalar_at(Type *t, size_t at) {
  if (is_array(t)) {
    const size_t k = scalars(t->base);
    return k ? scalar_at(t->base, at % k) : nullptr;
  }
  if (!is_record(t)) return t;
  for (Member &m : t->tag->members) {
    if (m.name.empty() && m.bits >= 0) continue;
    const size_t k = scalars(m.type);
    if (at < k) return scalar_at(m.type, at);
    at -= k;
  }
  return nullptr;
}

// Offset in scalars and type of a member; NULL if there is none.
Type *member_at(Type *t, std::string_view name, size_t *at) {
  size_t n = 0;
  for (Member &m : t->tag->members) {
    if (m.name.empty() && m.bits >= 0) continue;
    if (m.name == name) {
      *at += n;
      return m.type;
    }
    if (m.name.empty() && is_record(m.type)) {
      size_t inner = *at + n;
      if (Type *found = member_at(m.type, name, &inner)) {
        *at = inner;
        return found;
      }
    }
    if (t->kind != Ty::Union) n += scalars(m.type);
  }
  return nullptr;
}

// The largest part of t that begins at scalar `at`. The next braces of the list initialise it.
Type *part_at(Type *t, size_t at) {
  if (is_array(t)) {
    const size_t k = scalars(t->base);
    if (!k) return nullptr;
    return at % k == 0 ? t->base : part_at(t->base, at % k);
  }
  if (!is_record(t)) return t;
  for (Member &m : t->tag->members) {
    if (m.name.empty() && m.bits >= 0) continue;
    const size_t k = scalars(m.type);
    if (at == 0) return m.type;
    if (at < k) return part_at(m.type, at);
    at -= k;
  }
  return nullptr;
}

// The array of characters that t is or begins with, which a string fills; NULL: there is none.
Type *text_part(Type *t) {
  while (t && (is_array(t) || is_record(t))) {
    if (is_array(t) && is_integer(t->base)) return t;
    t = part_at(t, 0);
  }
  return nullptr;
}

} // namespace

Type *Parser::slot(Type *t, size_t position) {
  if (!t) return nullptr;
  Type *plain = is_shared(t) ? unqualified(t) : t;
  return part_at(plain, position);
}

// [1].x = : returns the type designated and sets the position.
Type *Parser::designated(Type *t, Node *list, size_t *position) {
  size_t at_scalar = 0;
  Type *target = t;
  for (;;) {
    if (accept("[")) {
      Node *n = conditional();
      list->kids.push_back(n);
      long i = evaluate(n).value;
      if (accept("...")) {
        list->kids.push_back(n = conditional());
        i = evaluate(n).value;
      }
      expect("]");
      target = target && is_array(target) ? target->base : nullptr;
      if (target) at_scalar += static_cast<size_t>(i) * scalars(target);
    } else if (accept(".")) {
      const std::string_view name = word("the name of a member");
      target = target && is_record(target) ? member_at(target, name, &at_scalar) : nullptr;
    } else {
      break;
    }
  }
  accept("=");
  *position = at_scalar;
  return target;
}

// A value without braces in an initialiser list. It initialises the whole `part`, or the part's
// first scalar, which becomes `part`.
Node *Parser::listed(Type *&part) {
  Node *v = assignment();
  Type *const text =
      v->kind == Nk::Constant && s_[v->begin].kind == Tk::String ? text_part(part) : nullptr;
  if (text) {
    part = text;
    return v;
  }
  v = value(v);
  const bool whole = (part && is_record(part) && v->type && is_record(v->type));
  Type *scalar = whole || !part ? part : scalar_at(part, 0);
  if (scalar && !is_array(scalar) && !is_record(scalar))
    v = convert(v, scalar, v->begin, "initialisation");
  if (!whole && scalar) part = scalar;
  return v;
}

Node *Parser::braced(Type *t) {
  Node *n = make(Nk::Tokens, p_);
  expect("{");
  size_t position = 0, most = 0;
  const bool aggregate = t && (is_array(t) || is_record(t));
  while (!at("}")) {
    Type *part = aggregate ? slot(t, position) : t;
    if (at("[") || at("."))
      part = designated(t, n, &position);
    else if (cur().kind == Tk::Name && ahead(1).is(":")) {
      p_ += 2; // old GNU designator
      part = nullptr;
    }
    n->kids.push_back(at("{") ? braced(part) : listed(part));
    position += part ? std::max<size_t>(scalars(part), 1) : 1;
    most = std::max(most, position);
    if (!accept(",")) break;
  }
  expect("}");
  n->type = t;
  const size_t entry = t && is_array(t) ? scalars(t->base) : 0;
  n->entries = entry ? static_cast<long>((most + entry - 1) / entry) : 0;
  return done(n);
}

Node *Parser::initializer(Type *t) {
  Type *plain = is_shared(t) ? unqualified(t) : t;
  if (at("{")) return braced(plain);
  const int begin = p_;
  Node *n = assignment();
  if (is_array(plain)) return n;
  return convert(value(n), plain, begin, "initialisation");
}

namespace {

bool is_one_of(const Token &t, std::initializer_list<const char *> texts) {
  return std::any_of(texts.begin(), texts.end(), [&t](const char *s) { return t.is(s); });
}

} // namespace

// The index of a designator, which is a number or the name of a constant.
long Parser::designator_value(int token) const {
  const Symbol *c = find(s_[token].text);
  if (c && c->kind == Sk::Constant) return c->value;
  return strtol(std::string(s_[token].text).c_str(), nullptr, 0);
}

// Most entries of the lists at each depth of braces.
std::vector<long> Parser::entries(const Node *list) {
  std::vector<long> most, at{0};
  bool begins = false; // a value of a list
  const auto count = [&] {
    most.resize(std::max(most.size(), at.size()));
    most[at.size() - 1] = std::max(most[at.size() - 1], at.back());
  };
  for (int i = list->begin; i < list->end; i++) {
    const Token &t = s_[i];
    if (begins && t.is("[")) at.back() = designator_value(i + 1);
    if (begins && !t.is("}")) at.back()++;
    count();
    if (is_one_of(t, {"{", "(", "["})) at.push_back(0);
    begins = is_one_of(t, {"{", ","});
    if (is_one_of(t, {"}", ")", "]"}) && at.size() > 1) at.pop_back();
    if (at.size() == 1) break;
  }
  return most;
}

// Counts the initialisers of an array with THREADS in an inner dimension, for the private copy that
// holds them until they are stored.
void Parser::count_thread_entries(Declarator &x) {
  size_t depth = 0;
  const Type *t = x.type;
  for (; is_array(t) && !t->times_threads; t = t->base) depth++;
  if (!is_array(t) || depth == 0) return;
  const std::vector<long> most = entries(x.init);
  if (depth + 1 < most.size())
    x.thread_entries = most[depth + 1];
  else
    x.flat_threads = true;
  if (x.type->incomplete && most.size() > 1) {
    Type *sized = copy(x.type);
    sized->incomplete = false;
    sized->count = most[1];
    x.type = x.symbol->type = sized;
  }
}
