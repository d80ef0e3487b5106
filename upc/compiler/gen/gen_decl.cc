// SPDX-License-Identifier: BSD-3-Clause
/*
 * Statements and declarations in C: shared objects, initialisers that run at start, upc_forall.
 *
 * Called by gen.cc. Calls: gen_base.cc, gen_object.cc. Invariants: a shared object is a variable
 * that holds its address, filled at start from a descriptor in the section upc_objects.
 */
#include "gen/gen.h"

std::string Generator::barrier(Node *n) {
  const std::string s = place(n->begin);
  if (n->op == "upc_fence") return s + " upcr_fence_statement();";
  const std::string name = "upcr" + std::string(n->op.substr(3));
  if (n->kids.empty()) return s + " " + name + "(0, 0);";
  return s + " " + name + "(1, (int)(" + code(n->kids[0]) + "));";
}

bool Generator::defers(const Declared *d, const Declarator &x) const {
  return (d->file_scope || d->is_static) && x.init && at_run_time(x.init);
}

// Whether the declaration in C differs from that of the source.
bool Generator::writes(const Node *n) const {
  const Declared *d = n->declared;
  if (!d) return false;
  if (d->rewritten) return true;
  for (const Declarator &x : d->list)
    if (needs_writing(x.type) || is_shared(x.type) || defers(d, x) ||
        (x.symbol && x.symbol->kind == Sk::Typedef && is_shared(x.symbol->type)))
      return true;
  for (int i = d->spec_begin; i < d->spec_end && !d->definition; i++) {
    const Kw kw = s_[i].kw;
    if (kw == KwShared || kw == KwStrict || kw == KwRelaxed) return true;
  }
  return false;
}

// Whether a token is the name of an upc_memget that is called, not declared.
bool Generator::copies(int token) const {
  const Token &before = s_[token - 1];
  const bool begins =
      before.kind == Tk::Punct ? !before.is("*") : before.text == "else" || before.text == "do";
  return begins && s_[token].is("upc_memget") && s_[token + 1].is("(");
}

// A function whose calls of upc_memget are counted in a local variable. The count tells when a
// thread that spins on them must serve other threads; a counter in memory would take longer than a
// short copy.
std::string Generator::counted(std::string s, const Node *body) {
  const std::string begin = mark(body->begin);
  const size_t head = s.find(begin);
  bool counts = false;
  for (int i = body->begin + 1; head != std::string::npos && i < body->end; i++) {
    if (!copies(i)) continue;
    const std::string call = mark(i) + mark(i + 1);
    const std::string own = line(i) + " upcr_memget_counted" + mark(i + 1) + "&upcr_copies, ";
    for (size_t at = head; (at = s.find(call, at)) != std::string::npos; at += own.size()) {
      s.replace(at, call.size(), own);
      counts = true;
    }
  }
  if (counts) s.insert(head + begin.size(), " unsigned upcr_copies = upcr_copies_begin();");
  return s;
}

std::string Generator::declaration(Node *n) {
  const std::string s = writes(n) ? written(n) : splice(n);
  const Declared *const d = n->declared;
  return d && d->body ? counted(s, d->body) : s;
}

std::string Generator::others(const Declared *d, const char *without) {
  std::string s;
  for (int i : d->other)
    if (!without || !s_[i].is(without)) s += mark(i);
  return s;
}

std::string Generator::written(Node *n) {
  Declared *d = n->declared;
  std::string s = place(n->begin);
  if (d->definition) s += code(d->definition) + ";";
  if (d->function()) return s + function(d, d->list[0]);
  for (Declarator &x : d->list) s += declarator(d, x);
  return s;
}

// Callers of an old-style function pass promoted arguments, so the C that is written is old-style,
// too.
std::string Generator::old_style(Declared *d, Declarator &x) {
  std::string names, declarations;
  for (const Symbol *p : x.params) {
    names += (names.empty() ? "" : ", ") + std::string(p->name);
    declarations += c_type(p->type, std::string(p->name)) + "; ";
  }
  const std::string head = std::string(x.name) + "(" + names + ") ";
  return others(d) + " " + c_type(x.type->base, head) + declarations + code(d->body);
}

std::string Generator::function(Declared *d, Declarator &x) {
  if (!d->old_style.empty()) return old_style(d, x);
  Type *t = copy(x.type);
  t->prototype = true;
  return others(d) + " " + c_type(t, std::string(x.name)) + " " + code(d->body);
}

std::string Generator::declarator(Declared *d, Declarator &x) {
  const std::string name(x.name);
  if (d->is_typedef && is_array(x.type) && is_shared(x.type)) return "";
  const bool object_here = is_shared(x.type) && !d->is_typedef && x.type->kind != Ty::Function;
  if (object_here && x.symbol) return object(d, x);
  if (defers(d, x)) return static_init(d, x);
  std::string s = others(d) + " " + c_type(x.type, name) + tokens(x.tail, x.end);
  const bool width = x.init && !x.symbol; // of a bit-field: among the tokens
  if (x.init && !width) s += " = " + code(x.init);
  return s + ";";
}

// A private variable whose initialiser runs at start.
std::string Generator::static_init(Declared *d, Declarator &x) {
  Type *t = copy(x.type);
  t->is_const = false;
  if (is_array(t)) t->base = unqualified(t->base);
  x.type = t;
  const std::string s =
      others(d) + " " + c_type(t, std::string(x.name)) + tokens(x.tail, x.end) + ";";
  const std::string body = init_body(x);
  if (d->file_scope) {
    deferred_ += body;
    return s;
  }
  const std::string flag = fresh("d");
  return s + " static char " + flag + "; if (!" + flag + ") { " + flag + " = 1; " + body + "}";
}

std::string Generator::init_body(Declarator &x) {
  const std::string v = fresh("v"), name(x.name);
  return "{ " + c_type(x.type, v) + " = " + code(x.init) + "; __builtin_memcpy((void *)&" + name +
         ", (void *)&" + v + ", sizeof " + name + "); }";
}

// The definition of a structure; one without a name that other declarations may need gets one.
std::string Generator::record(Node *n) {
  if (!n->postfix) return splice(n);
  int brace = n->begin + 1; // behind the attributes
  while (!s_[brace].is("{")) brace++;
  return tokens(n->begin, brace) + " " + n->operand->tag->name + " " +
         splice(brace, n->end, n->kids);
}
