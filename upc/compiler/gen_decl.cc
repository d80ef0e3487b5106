// SPDX-License-Identifier: BSD-3-Clause
/*
 * Statements and declarations in C: shared objects, initialisers that run at start, upc_forall.
 *
 * Called by gen.cc. Calls: gen_expr.cc. Invariants: a shared object is a variable that holds its
 * address, filled at start from a descriptor in the section upc_objects.
 */
#include "gen.h"

std::string Generator::barrier(Node *n) {
  const std::string s = place(n->begin);
  if (n->op == "upc_fence") return s + " upcr_fence();";
  const std::string name = "upcr" + std::string(n->op.substr(3));
  if (n->kids.empty()) return s + " " + name + "(0, 0);";
  return s + " " + name + "(1, (int)(" + code(n->kids[0]) + "));";
}

// Whether an initialiser needs what is known only when the program runs.
bool Generator::at_run_time(const Node *n) const {
  if (!n->dirty) return false;
  switch (n->kind) {
  case Nk::Load:
  case Nk::MyThread: return true;
  case Nk::Threads: return options_.threads == 0;
  case Nk::Name: return true;
  case Nk::SizeofType:
  case Nk::SizeofExpr:
  case Nk::UpcSizeof: return n->operand && has_threads(n->operand) && options_.threads == 0;
  default: break;
  }
  for (const Node *k : n->kids)
    if (k && at_run_time(k)) return true;
  return false;
}

bool Generator::defers(const Declared *d, const Declarator &x) const {
  return (d->file_scope || d->is_static) && x.init && at_run_time(x.init);
}

// Whether a declaration in C differs from its text.
bool Generator::writes(const Node *n) const {
  const Declared *d = n->declared;
  if (!d) return false;
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

std::string Generator::declaration(Node *n) {
  return writes(n) ? written(n) : splice(n);
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

std::string Generator::function(Declared *d, Declarator &x) {
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
  return "{ " + c_type(x.type, v) + " = " + code(x.init) + "; __builtin_memcpy(&" + name + ", &" +
         v + ", sizeof " + name + "); }";
}

// The initialiser of a shared object: a private copy that thread 0 distributes.
std::string Generator::object_init(Declared *d, Declarator &x, std::string &fields) {
  Type *t = unqualified(x.type);
  if (is_array(t)) {
    t = copy(t);
    t->incomplete = t->incomplete || t->times_threads;
    t->times_threads = false;
  }
  const std::string v = fresh("v"), size = elem_size(t), block = std::to_string(block_of(x.type));
  const std::string definition = c_type(t, v) + " = " + code(x.init) + "; ";
  if (!at_run_time(x.init)) {
    fields = ", &" + v + ", sizeof " + v + " / " + size + ", " + size + ", " + block;
    return "static " + definition;
  }
  fields = ", 0, 0, 0, 0";
  if (!d->file_scope) {
    s_.error(x.name_token, "the initialiser of a shared variable in a function must be constant");
    return "";
  }
  deferred_ += "if (upcr_mythread == 0) { " + definition + "upcr_spread(" + std::string(x.name) +
               ", &" + v + ", sizeof " + v + " / " + size + ", " + size + ", " + block + "); }";
  return "";
}

std::string Generator::object(Declared *d, Declarator &x) {
  const std::string name(x.name);
  const bool open = is_array(x.type) && x.type->incomplete;
  if ((d->is_extern && !x.init) || open) return "extern upcr_pts_t " + name + ";";
  std::string fields = ", 0, 0, 0, 0";
  std::string s = x.init ? object_init(d, x, fields) : "";
  if (d->is_static)
    s += "static upcr_pts_t " + name + ";";
  else
    s += "upcr_pts_t " + name + " __attribute__((common));";
  const std::string object = fresh("object");
  s += " static const struct upcr_object " + object + " = { &" + name + ", \"" + name + "\", " +
       local_size(x.type) + fields + " }; static const struct upcr_object *const " + object +
       "_ref __attribute__((section(\"upc_objects\"), used)) = &" + object + ";";
  return s;
}

// The definition of a structure; one without a name that other declarations may need gets one.
std::string Generator::record(Node *n) {
  if (!n->postfix) return splice(n);
  return mark(n->begin) + " " + n->operand->tag->name + " " + splice(n->begin + 1, n->end, n->kids);
}
