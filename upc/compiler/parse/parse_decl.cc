// SPDX-License-Identifier: BSD-3-Clause
/*
 * Declarations: declarators, parameters, functions.
 *
 * Called by parse.cc and parse_stmt.cc. Calls: the other parts of the parser. Invariants: the
 * children of a declaration's node are all expressions and definitions in it, so that it can be
 * written as its tokens where nothing in it is shared.
 */
#include "parse/parse.h"

#include <algorithm>

Type *Parser::pointers(Type *t) {
  while (at("*") || at("^")) {
    const int star = p_++;
    t = pointer_to(referent(t, star));
    Type q;
    int first = p_;
    while (qualifier(q) || cur().kw == KwAttribute)
      if (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
    t = apply(t, q, first);
  }
  return t;
}

// The declarator's type, inside out: the part behind a parenthesis belongs to the base.
void Parser::declarator(Type *base, Declarator &d, bool abstract) {
  while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  base = pointers(base);
  while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  const bool grouped = at("(") && !(abstract && (ahead(1).is(")") || starts_type(p_ + 1)));
  if (grouped) {
    const int open = p_;
    skip_balanced();
    base = suffix(base, d, false);
    const int end = p_;
    p_ = open + 1;
    declarator(base, d, abstract);
    expect(")");
    p_ = end;
    std::stable_sort(d.kids.begin(), d.kids.end(),
                     [](const Node *a, const Node *b) { return a->begin < b->begin; });
    return;
  }
  if (cur().kind == Tk::Name && cur().kw == KwNone) {
    d.name = cur().text;
    d.name_token = p_++;
    while (at("[") && cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  } else if (!abstract) {
    fail("expected a name in a declaration before '" + std::string(cur().text) + "'");
  }
  d.type = suffix(base, d, true);
}

Type *Parser::suffix(Type *t, Declarator &d, bool outer) {
  if (at("[") && cur().kw != KwAttribute) return array_suffix(t, d, outer);
  if (at("(")) return function_suffix(t, d);
  return t;
}

Type *Parser::array_suffix(Type *t, Declarator &d, bool) {
  const int open = p_;
  expect("[");
  Type *a = new Type;
  a->kind = Ty::Array;
  while (cur().kw == KwQualifier || at("static")) p_++;
  if (at("]")) {
    a->incomplete = true;
  } else if (at("*") && ahead(1).is("]")) {
    p_++;
    a->incomplete = true;
  } else {
    a->length = value(assignment());
    d.kids.push_back(a->length);
    const Constant c = evaluate(a->length);
    a->variable = !c.known;
    a->count = c.value;
    a->times_threads = c.threads > 0;
    if (is_shared(t)) {
      if (c.bad_threads)
        s_.error(open + 1, "THREADS may only be multiplied by constants in the size of an array");
      if (c.threads > 1) s_.error(open + 1, "THREADS stands twice in the dimensions of an array");
    } else if (c.bad_threads || c.threads > 1) { // of private memory: any size
      a->variable = true;
      a->times_threads = false;
    }
  }
  expect("]");
  a->base = at("[") || at("(") ? suffix(t, d, false) : t;
  if (is_shared(t)) check_array(a, open);
  return a;
}

Type *Parser::function_suffix(Type *t, Declarator &d) {
  const int open = p_;
  expect("(");
  Type *f = new Type;
  f->kind = Ty::Function;
  if (is_shared(t)) s_.error(open, "a function cannot return a shared object");
  d.params.clear();
  enter();
  if (at("void") && ahead(1).is(")")) {
    f->prototype = true;
    p_++;
  } else if (cur().kind == Tk::Name && cur().kw == KwNone && !starts_type(p_)) {
    while (cur().kind == Tk::Name) { // names only: the declarations follow
      d.params.push_back(declare(cur().text, Sk::Variable, basic(Ty::Int)));
      f->params.push_back(basic(Ty::Int));
      f->param_names.push_back(std::string(s_[p_++].text));
      if (!accept(",")) break;
    }
  } else {
    while (!at(")")) {
      f->prototype = true;
      if (accept("..."))
        f->variadic = true;
      else
        parameter(f, d);
      if (accept(";")) { // GNU C: declared ahead, for the sizes of arrays before it
        f->params.clear();
        f->param_names.clear();
        d.params.clear();
      } else if (!accept(",")) {
        break;
      }
    }
  }
  leave();
  expect(")");
  f->base = at("[") || at("(") ? suffix(t, d, false) : t;
  return f;
}

Type *Parser::adjust(Type *t) {
  if (is_array(t)) {
    Type *p = pointer_to(t->base);
    return p;
  }
  return t->kind == Ty::Function ? pointer_to(t) : t;
}

void Parser::parameter(Type *f, Declarator &d) {
  Declared declared;
  Spec s;
  s.d = &declared;
  const int begin = p_;
  specifiers(s);
  Declarator x;
  x.name_token = begin;
  declarator(s.type, x, true);
  while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  if (is_array(x.type)) x.type = referent(x.type, x.name_token); // it becomes a pointer
  Type *t = adjust(x.type);
  if (is_shared(t)) {
    s_.error(x.name_token, "a parameter cannot be a shared object (only a pointer to shared)");
    t = unqualified(t);
  }
  check_type(t, x.name_token);
  for (Node *n : s.kids) d.kids.push_back(n);
  for (Node *n : x.kids) d.kids.push_back(n);
  f->params.push_back(t);
  f->param_names.push_back(std::string(x.name));
  Symbol *symbol = declare(x.name, Sk::Variable, t);
  symbol->is_parameter = true;
  d.params.push_back(symbol);
}

void Parser::attributes_behind(Declared *) {
  for (;;) {
    if (cur().kw == KwAttribute) {
      attribute(nullptr, nullptr, nullptr);
    } else if (cur().kw == KwAsm) {
      p_++;
      skip_balanced();
    } else {
      return;
    }
  }
}

void Parser::introduce_typedef(Declarator &x) {
  Type *t = copy(x.type);
  if (reshaped_ && !is_array(t)) t->kind = Ty::Unknown; // a vector, or of another size
  t->alias = std::string(x.name);
  t->local_alias = !file_scope();
  x.symbol = declare(x.name, Sk::Typedef, t);
  check_type(t, x.name_token);
}

// The symbol of a declarator with the storage classes of its declaration.
Symbol *Parser::declare_in(const Declared *d, const Declarator &x, Sk kind) {
  Symbol *s = declare(x.name, kind, x.type);
  s->is_extern = d->is_extern;
  s->is_static = d->is_static;
  s->ours = s_.file(s_[x.name_token].file).ours;
  if (x.before) s->init_token = x.before->init_token;
  s->is_register = std::any_of(d->other.begin(), d->other.end(),
                               [this](int token) { return s_[token].is("register"); });
  return s;
}

// Earlier declarations of the object or function that a declarator names.
const Symbol *Parser::declared_before(const Declared *d, const Declarator &x) const {
  const auto &outside = scopes_.front().names;
  const auto found = outside.find(x.name);
  return found != outside.end() && (file_scope() || d->is_extern) ? found->second : nullptr;
}

// Declare the symbol, so that its initialiser may name it.
void Parser::introduce(Declared *d, Declarator &x) {
  if (d->is_typedef) return introduce_typedef(x);
  const Sk kind = x.type->kind == Ty::Function ? Sk::Function : Sk::Variable;
  const bool sized_later = at("=") && is_open_star(x.type);
  if (kind == Sk::Variable && !sized_later) x.type = resolve_star(x.type, x.name_token);
  const Symbol *before = x.before = declared_before(d, x);
  x.symbol = declare_in(d, x, kind);
  if (before && before->type && is_array(before->type) && is_array(x.type) && x.type->incomplete &&
      !before->type->incomplete)
    x.symbol->type = before->type;
  check_type(x.type, x.name_token);
  if (!sized_later) check_again(before, x);
  if (kind == Sk::Variable) check_object(d, x);
}

// An initialiser of the object `x`, which may give an array its size, and with it [*] its value.
void Parser::object_initializer(const Spec &s, Declarator &x) {
  x.init = initializer(x.type);
  if (is_shared(x.type)) check_initialised(x);
  if (is_shared(x.type)) count_thread_entries(x);
  if (s.type->alias == "__auto_type" && x.symbol && x.init->type) x.symbol->type = x.init->type;
  if (!is_array(x.type) || !x.symbol) return;
  if (x.type->incomplete) x.symbol->type = x.type = flatten(x.type, x.init);
  if (!is_shared(x.type) || element_of(x.type)->block != kStarBlock) return;
  x.symbol->type = x.type = resolve_star(x.type, x.name_token);
  check_again(x.before, x);
}

void Parser::init_declarator(Spec &s, Declared *d) {
  Declarator x;
  x.begin = p_;
  declarator(s.type, x, false);
  x.tail = p_;
  attributes_behind(d);
  x.end = p_;
  if (old_style_) x.type = adjust(is_array(x.type) ? referent(x.type, x.name_token) : x.type);
  if (s.from_object && !d->file_scope && !d->is_static && !d->is_extern)
    x.type = unqualified(x.type); // a variable for a copy of the object
  introduce(d, x);
  for (Node *n : x.kids) s.kids.push_back(n);
  if (accept("=")) {
    object_initializer(s, x);
    s.kids.push_back(x.init);
    if (d->is_constexpr && x.symbol && x.init && is_integer(x.type)) {
      const Constant c = evaluate(x.init);
      x.symbol->is_constexpr = c.known && !c.threads;
      x.symbol->value = c.value;
    }
  }
  check_definition(d, x);
  d->list.push_back(x);
}

void Parser::member_declarator(Spec &s, Declared *d) {
  Declarator x;
  x.begin = x.name_token = p_;
  x.type = s.type;
  if (!at(":")) declarator(s.type, x, false);
  x.tail = p_;
  if (accept(":")) {
    x.init = conditional();
    s.kids.push_back(x.init);
  }
  long align = 0;
  while (cur().kw == KwAttribute) attribute(nullptr, &align, nullptr);
  if (align) {
    x.type = copy(x.type);
    x.type->align = align;
  }
  x.end = p_;
  check_type(x.type, x.name_token);
  for (Node *n : x.kids) s.kids.push_back(n);
  d->list.push_back(x);
}

Node *Parser::finish(Node *n, Spec &s, Declared *d) {
  n->declared = d;
  n->not_copied = d->is_static || d->function();
  n->operand = s.type;
  n->kids = s.kids;
  Node *r = d->definition;
  if (r && r->kind == Nk::Record && r->operand->tag->made_up && !d->list.empty() &&
      !r->operand->tag->in_system)
    r->postfix = r->dirty = true; // other declarations may have to name it
  done(n);
  for (const Declarator &x : d->list)
    n->dirty = n->dirty || needs_writing(x.type) || is_shared(x.type) ||
               (d->is_typedef && x.symbol && is_shared(x.symbol->type));
  n->dirty = n->dirty || s.first_shared >= 0;
  return n;
}

// Whether the only declarator so far is that of a function that is defined here.
bool Parser::begins_body(const Declared *d) const {
  if (d->list.size() != 1 || d->list[0].type->kind != Ty::Function || d->is_typedef) return false;
  return at("{") || (starts_declaration() && !at(";"));
}

// A declaration without specifiers: valid in old C at file scope, else an error.
void Parser::check_no_type(const Declared *d) {
  if (!d->file_scope || cur().kind != Tk::Name)
    fail("expected a declaration before '" + std::string(cur().text) + "'");
  if (report_unknown(p_)) fail("the type '" + std::string(cur().text) + "' is not known");
}

Node *Parser::declaration(bool in_record) {
  Node *n = make(Nk::Declaration, p_);
  Declared *d = new Declared;
  d->file_scope = file_scope() && !in_record;
  Spec s;
  s.d = d;
  d->spec_begin = p_;
  reshaped_ = false;
  if (cur().kw == KwStaticAssert) return static_assertion();
  specifiers(s);
  d->spec_end = p_;
  if (s.implicit && p_ == d->spec_begin) check_no_type(d);
  if (s.implicit && is_unknown_type(p_))
    fail("the type '" + std::string(cur().text) + "' is not declared");
  if (accept(";")) return finish(n, s, d);
  for (;;) {
    while (cur().kw == KwAttribute) attribute(d, nullptr, nullptr);
    if (in_record)
      member_declarator(s, d);
    else
      init_declarator(s, d);
    if (!in_record && begins_body(d)) return function_body(s, d, n);
    if (!accept(",")) break;
  }
  expect(";");
  return finish(n, s, d);
}

// Parameters of an old-style function get the types that are declared behind the names.
void Parser::old_style_parameters(Declared *d) {
  Declarator &f = d->list[0];
  old_style_ = true;
  while (!at("{")) {
    Node *n = declaration(false);
    d->old_style.push_back(n);
    if (!n->declared) continue;
    for (const Declarator &x : n->declared->list)
      for (size_t i = 0; i < f.params.size(); i++)
        if (f.params[i]->name == x.name) {
          f.params[i]->type = adjust(x.type);
          f.type->params[i] = f.params[i]->type;
          scopes_.back().names[x.name] = f.params[i];
        }
  }
  old_style_ = false;
}

Node *Parser::function_body(Spec &s, Declared *d, Node *n) {
  Declarator &f = d->list[0];
  enter();
  for (Symbol *symbol : f.params)
    if (!symbol->name.empty()) scopes_.back().names[symbol->name] = symbol;
  old_style_parameters(d);
  for (Symbol *symbol : f.params) symbol->is_parameter = true;
  Type *outer = result_;
  const bool strict = strict_;
  result_ = f.type->base;
  for (Node *k : d->old_style) s.kids.push_back(k);
  d->body = block();
  s.kids.push_back(d->body);
  result_ = outer;
  strict_ = strict;
  leave();
  return finish(n, s, d);
}

Node *Parser::type_name() {
  Node *n = make(Nk::TypeName, p_);
  Declared d;
  Spec s;
  s.d = &d;
  specifiers(s);
  Declarator x;
  x.name_token = n->begin;
  declarator(s.type, x, true);
  n->operand = x.type;
  for (Node *k : s.kids) n->kids.push_back(k);
  for (Node *k : x.kids) n->kids.push_back(k);
  check_type(x.type, n->begin);
  done(n);
  n->dirty = n->dirty || needs_writing(x.type) || is_shared(x.type) || s.first_shared >= 0;
  Node *r = d.definition;
  if (r && r->kind == Nk::Record && r->operand->tag->made_up && n->dirty)
    r->postfix = r->dirty = true; // it is written with its name
  return n;
}
