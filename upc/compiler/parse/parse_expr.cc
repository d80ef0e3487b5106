// SPDX-License-Identifier: BSD-3-Clause
/*
 * Expressions: their grammar.
 *
 * Called by the other parts of the parser. Calls: types.cc for the types of operators. Invariants:
 * operands that are read are wrapped in Load where they are shared, arrays that decay in Decay.
 */
#include "parse/parse.h"

#include <algorithm>
#include <cstring>

Node *Parser::expression() {
  Node *n = assignment();
  while (at(",")) {
    Node *c = make(Nk::Comma, n->begin);
    p_++;
    c->kids = {value(n), value(assignment())};
    c->type = c->kids[1]->type;
    n = done(c);
  }
  return n;
}

Node *Parser::assignment() {
  static const char *const operators[] = {
      "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  Node *left = conditional();
  for (const char *op : operators) {
    if (cur().kind != Tk::Punct || cur().text != op) continue;
    Node *n = make(Nk::Assign, left->begin);
    n->op = cur().text;
    const int token = n->op_token = p_++;
    n->kids = {left, value(assignment())};
    n->type = left->type;
    assign_types(n, token);
    return done(n);
  }
  return left;
}

Node *Parser::conditional() {
  Node *c = binary(0);
  if (!at("?")) return c;
  Node *n = make(Nk::Conditional, c->begin);
  n->op_token = p_++;
  n->kids.push_back(value(c));
  if (!at(":")) n->kids.push_back(value(expression()));
  expect(":");
  n->kids.push_back(value(conditional()));
  conditional_types(n, n->op_token);
  return done(n);
}

namespace {

int precedence(const Token &t) {
  static const char *const levels[10][5] = {
      {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="},
      {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
  if (t.kind != Tk::Punct) return -1;
  for (int i = 0; i < 10; i++)
    for (const char *op : levels[i])
      if (op && t.text == op) return i;
  return -1;
}

} // namespace

Node *Parser::binary(int level) {
  Node *left = cast();
  for (;;) {
    const int at_level = precedence(cur());
    if (at_level < level) return left;
    Node *n = make(Nk::Binary, left->begin);
    n->op = cur().text;
    n->op_token = p_++;
    Node *right = binary(at_level + 1);
    n->kids = {value(left), value(right)};
    n->type = binary_type(n, n->op_token);
    left = done(n);
  }
}

Node *Parser::cast() {
  if (!at("(") || !starts_type(p_ + 1)) return unary();
  const int begin = p_++;
  Node *type = type_name();
  expect(")");
  if (at("{")) { // compound literal
    Node *n = make(Nk::Tokens, begin);
    Node *list = braced(type->operand);
    if (is_shared(type->operand)) s_.error(begin, "a compound literal cannot be shared");
    n->kids = {type, list};
    n->type = type->operand;
    if (is_array(n->type) && n->type->incomplete) n->type = flatten(n->type, list);
    return postfix(done(n));
  }
  Node *n = make(Nk::Cast, begin);
  n->operand = type->operand;
  n->kids = {type, value(cast())};
  n->type = type->operand;
  cast_types(n, begin);
  return done(n);
}

Node *Parser::unary() {
  switch (cur().kw) {
  case KwSizeof:
  case KwAlignof: return sizeof_expression();
  case KwUpcSizeof: return upc_sizeof();
  case KwExtension:
  case KwRealImag: return unary_word();
  default: break;
  }
  if (cur().kind == Tk::Punct) {
    if (at("&&")) return label_address();
    if (at("++") || at("--") || (strchr("+-~!*&", cur().text[0]) && cur().text.size() == 1))
      return unary_operator();
  }
  return postfix(primary());
}

Node *Parser::unary_word() {
  const bool extension = cur().kw == KwExtension;
  Node *n = make(Nk::Tokens, p_++);
  Node *k = cast();
  if (!extension && k->type->kind == Ty::Complex && is_shared(k->type)) return part(n, k);
  k = value(k);
  n->kids = {k};
  if (extension) n->type = k->type;
  return done(n);
}

// __real__ or __imag__ of a shared complex object, which is an object itself.
Node *Parser::part(Node *n, Node *whole) {
  n->kind = Nk::Part;
  n->op = s_[n->begin].text;
  n->kids = {whole};
  n->type = unknown_type("__typeof__(__real__ *(" + c_type(unqualified(whole->type)) + " *)0)");
  n->type->is_const = whole->type->is_const;
  n->type->is_volatile = whole->type->is_volatile;
  n->type->shared = true;
  n->type->strict = whole->type->strict;
  n->type->relaxed = whole->type->relaxed;
  n->type->block = 0;
  n->dirty = true;
  return done(n);
}

Node *Parser::label_address() {
  Node *n = make(Nk::Tokens, p_++);
  word("the name of a label");
  n->type = pointer_to(basic(Ty::Void));
  return done(n);
}

Node *Parser::address_of(Node *n, Node *k) {
  n->kind = Nk::AddressOf;
  if (k->kind == Nk::MyThread || k->kind == Nk::Threads)
    s_.error(n->begin, "the address of MYTHREAD or THREADS cannot be taken");
  if (k->member && k->member->bits >= 0 && is_shared(k->type))
    s_.error(n->begin, "the address of a bit-field cannot be taken");
  if (k->kind == Nk::Name && k->symbol) k->symbol->address_taken = true;
  n->kids = {k};
  n->type = pointer_to(k->type);
  n->dirty = is_shared(k->type);
  return done(n);
}

Node *Parser::dereference(Node *n, Node *k) {
  n->kind = Nk::Deref;
  n->type = is_pointer(k->type) ? k->type->base : basic(Ty::Unknown);
  if (n->type->kind == Ty::Function) n->type = k->type;
  n->dirty = is_shared(n->type);
  if (is_generic_pts(k->type))
    s_.error(n->begin, "a pointer to shared void cannot be dereferenced");
  return done(n);
}

Node *Parser::unary_operator() {
  Node *n = make(Nk::Unary, p_);
  n->op = cur().text;
  p_++;
  if (n->op == "++" || n->op == "--") {
    n->kind = Nk::Step;
    n->kids = {unary()};
    n->type = unqualified(n->kids[0]->type);
    assign_types(n, n->begin);
    return done(n);
  }
  Node *k = cast();
  if (n->op == "&") return address_of(n, k);
  k = value(k);
  n->kids = {k};
  if (n->op == "*") return dereference(n, k);
  if (is_pts(k->type) && n->op != "!")
    s_.error(n->begin,
             "operator " + std::string(n->op) + " has a pointer to shared as its operand");
  n->type = n->op == "!" ? basic(Ty::Int) : arithmetic(k->type, basic(Ty::Int));
  return done(n);
}

Node *Parser::postfix(Node *n) {
  for (;;) {
    if (at("[")) {
      n = index(n);
    } else if (at("(")) {
      n = call(n);
    } else if (at(".") || at("->")) {
      n = member(n, at("->"));
    } else if (at("++") || at("--")) {
      Node *step = make(Nk::Step, n->begin);
      step->op = cur().text;
      step->op_token = p_++;
      step->postfix = true;
      step->kids = {n};
      step->type = unqualified(n->type);
      assign_types(step, step->op_token);
      n = done(step);
    } else {
      return n;
    }
  }
}

Node *Parser::index(Node *base) {
  Node *n = make(Nk::Index, base->begin);
  n->op_token = p_++;
  Node *a = value(base), *i = value(expression());
  expect("]");
  n->kids = {a, i};
  const Type *p = is_pointer(a->type) ? a->type : i->type;
  n->type = is_pointer(p) ? p->base : basic(Ty::Unknown);
  n->dirty = is_shared(n->type);
  if (is_pts(a->type) || is_pts(i->type)) check_offset(is_pointer(a->type) ? i : a, n->op_token);
  if (is_pts(p) && p->base->kind == Ty::Void)
    s_.error(n->op_token, "a pointer to shared void cannot be indexed");
  return done(n);
}

namespace {

// Whether a function's arguments behind its parameters are printed as C's types only.
bool is_printf(const Node *callee) {
  static const char *const functions[] = {"printf",   "fprintf", "sprintf",
                                          "snprintf", "dprintf", "syslog"};
  const Symbol *s = callee->symbol;
  return s && s->kind == Sk::Function &&
         std::any_of(std::begin(functions), std::end(functions),
                     [s](const char *name) { return s->name == name; });
}

// Whether a longjmp may return to the call.
bool is_setjmp(const Node *callee) {
  static const char *const functions[] = {"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp"};
  const Symbol *s = callee->symbol;
  return s && s->kind == Sk::Function && s->file_scope &&
         std::any_of(std::begin(functions), std::end(functions),
                     [s](const char *name) { return s->name == name; });
}

} // namespace

// A pointer-to-shared that %p prints: its address here.
Node *Parser::printed(Node *n) {
  if (!is_pts(n->type)) return n;
  Node *c = make(Nk::Convert, n->begin);
  c->kids = {n};
  c->type = pointer_to(basic(Ty::Void));
  c->end = n->end;
  c->dirty = true;
  c->has_call = n->has_call;
  return c;
}

// Name of an argument of a call in messages.
std::string Parser::argument_name(const Node *callee, size_t index) const {
  const std::string number = "argument " + std::to_string(index + 1);
  if (callee->kind != Nk::Name) return number;
  return number + " of '" + std::string(s_[callee->begin].text) + "'";
}

Node *Parser::call(Node *callee) {
  Node *n = make(Nk::Call, callee->begin);
  n->op_token = p_++;
  Node *f = callee->type->kind == Ty::Function ? callee : value(callee);
  n->kids = {f};
  const Type *t = f->type;
  if (is_pointer(t)) t = t->base;
  const bool known = t->kind == Ty::Function;
  size_t i = 0;
  while (!at(")")) {
    const int token = p_;
    Node *a = value(assignment());
    library_call_ = callee->symbol && callee->symbol->ours;
    if (known && t->prototype && i < t->params.size())
      a = convert(a, t->params[i], token, argument_name(callee, i).c_str());
    else if (is_printf(callee))
      a = printed(a);
    library_call_ = false;
    n->kids.push_back(a);
    i++;
    if (!accept(",")) break;
  }
  expect(")");
  n->type = known ? t->base : basic(Ty::Unknown);
  n->has_call = true;
  if (is_setjmp(callee) && n->type->kind != Ty::Void) {
    n->kind = Nk::Setjmp;
    n->dirty = true;
  }
  return done(n);
}

const Member *Parser::find_member(const Type *t, std::string_view name,
                                  std::vector<const Member *> &path) {
  if (!is_record(t) || !t->tag) return nullptr;
  for (const Member &m : t->tag->members) {
    if (m.name == name) {
      path.push_back(&m);
      return &m;
    }
    if (!m.name.empty() || m.bits >= 0 || !is_record(m.type)) continue;
    path.push_back(&m);
    if (const Member *found = find_member(m.type, name, path)) return found;
    path.pop_back();
  }
  return nullptr;
}

Node *Parser::member(Node *base, bool arrow) {
  Node *n = make(arrow ? Nk::Arrow : Nk::Member, base->begin);
  n->op_token = p_++;
  if (arrow) base = value(base);
  n->kids = {base};
  const std::string_view name = word("the name of a member");
  const Type *t = base->type;
  if (arrow) t = is_pointer(t) ? t->base : basic(Ty::Unknown);
  n->member = find_member(t, name, n->path);
  n->operand = const_cast<Type *>(t);
  if (is_shared(t) && !n->member) {
    if (is_record(t) && t->tag->complete)
      s_.error(p_ - 1, "'" + upc_name(t) + "' has no member '" + std::string(name) + "'");
    else
      s_.error(n->op_token, "'" + upc_name(t) + "' is no complete structure or union");
    n->type = copy(basic(Ty::Int));
    n->type->shared = true;
  } else if (n->member) {
    Type q;
    q.is_const = t->is_const;
    q.is_volatile = t->is_volatile;
    q.shared = t->shared;
    q.strict = t->strict;
    q.relaxed = t->relaxed;
    if (t->shared) q.block = 0;
    n->type = qualified(n->member->type, q);
  }
  n->dirty = is_shared(t);
  return done(n);
}

Node *Parser::primary() {
  switch (cur().kind) {
  case Tk::Number:
  case Tk::Char: return constant();
  case Tk::String: return string();
  case Tk::Name:
    if (cur().kw == KwGeneric) return generic();
    return name();
  default: break;
  }
  if (at("(")) return parenthesised();
  fail("expected an expression before '" + std::string(cur().text) + "'");
}

Node *Parser::parenthesised() {
  const int begin = p_++;
  if (at("{")) { // statement expression
    Node *n = make(Nk::Tokens, begin);
    Node *b = block();
    n->kids = {b};
    n->type = b->type;
    expect(")");
    return done(n);
  }
  Node *n = make(Nk::Paren, begin);
  Node *e = expression();
  expect(")");
  n->kids = {e};
  n->type = e->type;
  n->member = e->member;
  n->op = e->op;
  return done(n);
}

namespace {

// GNU's imaginary constants: 2i, 1.5fi.
Type *imaginary_type(std::string_view t) {
  const bool real =
      t.find('.') != std::string_view::npos || t.find_first_of("eE") != std::string_view::npos;
  const char *part = t.find_first_of("lL") != std::string_view::npos
                         ? (real ? "long double" : "long")
                     : t.find_first_of("fF") != std::string_view::npos ? "float"
                     : real                                            ? "double"
                                                                       : "int";
  Type *c = copy(basic(Ty::Complex));
  c->alias = std::string("__complex__ ") + part;
  return c;
}

} // namespace

namespace {

bool has_any(std::string_view text, const char *characters) {
  return text.find_first_of(characters) != std::string_view::npos;
}

Ty floating_kind(std::string_view t) {
  switch (t.back()) {
  case 'f':
  case 'F': return Ty::Float;
  case 'l':
  case 'L': return Ty::LDouble;
  default: return Ty::Double;
  }
}

} // namespace

// The type of the number that the node n stands for.
Type *Parser::number_type(const Node *n) {
  const std::string_view t = s_[n->begin].text;
  if (has_any(t, "ijIJ")) return imaginary_type(t);
  const bool hex = t.size() > 1 && (t[1] == 'x' || t[1] == 'X');
  if (has_any(t, hex ? ".pP" : ".eE")) return basic(floating_kind(t));
  const bool u = has_any(t, "uU");
  const long value = evaluate(n).value;
  if (has_any(t, "lL") || value < 0 || value > (u || hex ? 0xffffffffL : 0x7fffffffL))
    return basic(u ? Ty::ULong : Ty::Long);
  return basic(u || value > 0x7fffffffL ? Ty::UInt : Ty::Int);
}

Node *Parser::constant() {
  Node *n = make(Nk::Constant, p_);
  n->type = basic(Ty::Int); // of a character, and while a number is evaluated
  n->end = p_ + 1;
  if (cur().kind == Tk::Number) n->type = number_type(n);
  p_++;
  return done(n);
}

namespace {

// Behind an escape sequence whose backslash stands at `i`: its last character.
size_t end_of_escape(std::string_view t, size_t i) {
  const auto octal = [&](size_t k) { return t[k] >= '0' && t[k] <= '7'; };
  i++;
  if (t[i] == 'x')
    while (isxdigit(static_cast<unsigned char>(t[i + 1]))) i++;
  else
    for (int k = 0; k < 2 && octal(i) && octal(i + 1); k++) i++;
  return i;
}

} // namespace

Node *Parser::string() {
  Node *n = make(Nk::Constant, p_);
  long length = 1;
  bool wide = false;
  while (cur().kind == Tk::String) {
    const std::string_view t = cur().text;
    wide = wide || t[0] == 'L' || t[0] == 'U' || (t[0] == 'u' && t[1] != '8');
    for (size_t i = t.find('"') + 1; i + 1 < t.size(); i++, length++)
      if (t[i] == '\\') i = end_of_escape(t, i);
    p_++;
  }
  Type *a = new Type;
  a->kind = Ty::Array;
  a->base = basic(wide ? Ty::Int : Ty::Char);
  a->count = length;
  n->type = a;
  return done(n);
}

// MYTHREAD, THREADS, UPC_MAX_BLOCK_SIZE
Node *Parser::upc_number(Node *n) {
  const Kw kw = cur().kw;
  n->kind = kw == KwMyThread ? Nk::MyThread : kw == KwThreads ? Nk::Threads : Nk::MaxBlock;
  n->type = basic(Ty::Int);
  n->dirty = true;
  p_++;
  return done(n);
}

Node *Parser::name() {
  Node *n = make(Nk::Name, p_);
  const Kw kw = cur().kw;
  if (kw == KwMyThread || kw == KwThreads || kw == KwMaxBlock) return upc_number(n);
  if (kw != KwNone) fail("expected an expression before '" + std::string(cur().text) + "'");
  const std::string_view text = cur().text;
  if (text.compare(0, 10, "__builtin_") == 0)
    if (Node *b = text == "__builtin_choose_expr" ? choose_expr() : builtin(text)) return b;
  p_++;
  const Symbol *symbol = n->symbol = find(text); // NULL: implicitly declared
  if (!symbol) report_unknown(n->begin);
  n->type = symbol && symbol->type ? symbol->type : basic(Ty::Unknown);
  if (is_open_star(n->type))
    fail("the initialiser that gives '" + std::string(text) +
         "' its size, and [*] its value, names the array itself");
  n->dirty = symbol && symbol->kind == Sk::Variable && is_shared(n->type);
  return done(n);
}

// Built-in functions whose arguments are not all expressions, or whose results are known.
Node *Parser::builtin(std::string_view name) {
  static const struct {
    const char *name;
    int form; // t: type, e: expression; 1: (e, t), 2: (t, member), 3: (t, t)
  } forms[] = {{"__builtin_va_arg", 1},
               {"__builtin_offsetof", 2},
               {"__builtin_types_compatible_p", 3},
               {"__builtin_convertvector", 1}};
  for (const auto &f : forms) {
    if (name != f.name) continue;
    Node *n = make(Nk::Tokens, p_++);
    expect("(");
    Node *first = f.form == 1 ? value(assignment()) : type_name();
    n->kids.push_back(first);
    expect(",");
    n->type = basic(Ty::ULong);
    if (f.form == 2) {
      type_or_member(n);
    } else {
      Node *t = type_name();
      n->kids.push_back(t);
      n->type = f.form == 1 ? unqualified(t->operand) : basic(Ty::Int);
      if (f.form == 3 && (first->dirty || t->dirty)) { // C cannot distinguish pointers-to-shared
        n->kind = Nk::Value;
        n->entries = same_type(first->operand, t->operand) &&
                     same_qualifiers(first->operand, t->operand, true);
      }
    }
    expect(")");
    n->op = name;
    return done(n);
  }
  return nullptr;
}

Node *Parser::choose_expr() {
  Node *n = make(Nk::Tokens, p_++);
  expect("(");
  n->kids.push_back(assignment());
  for (int i = 0; i < 2; i++) {
    expect(",");
    n->kids.push_back(assignment());
  }
  expect(")");
  const Constant c = evaluate(n->kids[0]);
  Node *chosen = n->kids[c.value ? 1 : 2];
  bool in_upc = false;
  for (const Node *k : n->kids) in_upc = in_upc || is_pts(k->type) || is_shared(k->type);
  return choose(n, in_upc && c.known ? chosen : nullptr, chosen);
}

// The member designator of offsetof.
void Parser::type_or_member(Node *n) {
  while (!at(")")) {
    if (accept("[")) {
      n->kids.push_back(value(expression()));
      expect("]");
    } else {
      if (cur().kind == Tk::End) fail("a parenthesis is not closed");
      p_++;
    }
  }
}

Node *Parser::generic() {
  Node *n = make(Nk::Tokens, p_++);
  expect("(");
  const Type *of = unqualified(n->kids.emplace_back(value(assignment()))->type);
  Node *chosen = nullptr, *otherwise = nullptr;
  bool in_upc = is_pts(of); // the C compiler cannot choose
  while (accept(",")) {
    const Type *t = nullptr;
    if (at("default")) {
      p_++;
    } else {
      n->kids.push_back(type_name());
      t = n->kids.back()->operand;
      in_upc = in_upc || n->kids.back()->dirty;
    }
    expect(":");
    // Not value(): a choice may be an object
    n->kids.push_back(assignment());
    in_upc = in_upc || is_pts(n->kids.back()->type) || is_shared(n->kids.back()->type);
    if (t && !chosen && t->kind == of->kind && same_type(t, of) && same_qualifiers(t, of, true))
      chosen = n->kids.back();
    if (!t) otherwise = n->kids.back();
  }
  expect(")");
  if (!chosen) chosen = otherwise;
  return choose(n, in_upc && of->kind != Ty::Unknown ? chosen : nullptr, chosen);
}

// Ends the node of _Generic or __builtin_choose_expr: it becomes the chosen expression, or stays as
// it is where only the C compiler can choose.
Node *Parser::choose(Node *n, Node *chosen, const Node *typical) {
  n->type = typical ? typical->type : unknown_type(""); // without a choice the C compiler objects
  if (chosen) {
    n->kind = Nk::Chosen;
    n->kids = {chosen};
    n->dirty = true;
    n->symbol = chosen->symbol;
  } else {
    for (Node *&k : n->kids)
      if (k->kind != Nk::TypeName) k = value(k);
    if (is_shared(n->type)) n->type = unqualified(n->type);
  }
  return done(n);
}

Node *Parser::sizeof_expression() {
  const bool align = cur().kw == KwAlignof;
  Node *n = make(Nk::SizeofExpr, p_++);
  n->postfix = align;
  n->type = basic(Ty::ULong);
  if (at("(") && starts_type(p_ + 1)) {
    const int begin = p_++;
    Node *t = type_name();
    expect(")");
    if (!at("{")) {
      n->kids = {t};
      n->operand = t->operand;
      n->kind = Nk::SizeofType;
      done(n);
      n->dirty = n->dirty || is_shared(n->operand);
      return n;
    }
    p_ = begin;
  }
  Node *e = at("(") && starts_type(p_ + 1) ? cast() : unary();
  n->kids = {e};
  n->operand = e->type;
  if (is_shared(e->type)) check_no_bits(n, e);
  done(n);
  n->has_call = false;
  return n;
}

// A bit-field has no size in bytes.
void Parser::check_no_bits(const Node *n, const Node *operand) {
  if (operand->member && operand->member->bits >= 0)
    s_.error(n->begin, std::string(s_[n->begin].text) + " is applied to a bit-field");
}

namespace {

std::string why_incomplete(const Type *t) {
  if (is_record(t)) return ": '" + upc_name(t) + "' has no definition up to here";
  return t->kind == Ty::Void ? ": void has no size" : ": the array has no size";
}

} // namespace

Node *Parser::upc_sizeof() {
  Node *n = make(Nk::UpcSizeof, p_);
  n->op = cur().text;
  p_++;
  if (at("(") && starts_type(p_ + 1)) {
    p_++;
    n->kids = {type_name()};
    n->operand = n->kids[0]->operand;
    expect(")");
  } else {
    n->kids = {unary()};
    n->operand = n->kids[0]->type;
    check_no_bits(n, n->kids[0]);
  }
  n->type = basic(Ty::ULong);
  const std::string op(n->op);
  if (op != "upc_elemsizeof") n->operand = resolve_star(n->operand, n->begin);
  const Type *e = element_of(n->operand);
  if (!is_shared(n->operand))
    s_.error(n->begin, "the operand of " + op + " is not a shared type");
  else if (e->kind == Ty::Void || (is_record(e) && !e->tag->complete) ||
           (op == "upc_localsizeof" && is_array(n->operand) && n->operand->incomplete))
    s_.error(n->begin, "the operand of " + op + " has an incomplete type" + why_incomplete(e));
  n->dirty = true;
  return done(n);
}
