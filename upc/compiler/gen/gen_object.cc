// SPDX-License-Identifier: BSD-3-Clause
/*
 * Shared objects in C: a variable that holds the object's address, a descriptor, initial values.
 *
 * Called by gen_decl.cc. Calls: gen_address.cc. Invariants: the address is filled at start from a
 * descriptor in the section upc_objects; initial values that hold addresses or that are spread over
 * rows of THREADS elements are stored by code that runs at start. The variable of an object that is
 * initialised is no common symbol, so that the linker finds a second one. A function's static
 * object stands at file scope, in front of the function, unless its type or initialiser has names
 * that only the function knows.
 */
#include "gen/gen.h"

#include <algorithm>

namespace {

// Whether a type is written with names of a block.
bool has_local_names(const Type *t) {
  if (!t) return false;
  if (!t->alias.empty() && (t->local_alias || t->kind == Ty::Unknown)) return true;
  if (t->tag && t->tag->local) return true;
  if (!t->alias.empty()) return false;
  return has_local_names(t->base) ||
         std::any_of(t->params.begin(), t->params.end(), has_local_names);
}

bool has_local_names(const Node *n) {
  if (!n) return false;
  if (n->kind == Nk::Name && n->symbol && !n->symbol->file_scope && n->symbol->c_name.empty())
    return true;
  if (n->operand && n->kind == Nk::TypeName && has_local_names(n->operand)) return true;
  return std::any_of(n->kids.begin(), n->kids.end(),
                     [](const Node *k) { return has_local_names(k); });
}

} // namespace

// Whether an initialiser needs a value that is known only when the program runs.
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

std::string Generator::name_of(const Symbol *s) {
  return s->c_name.empty() ? std::string(s->name) : s->c_name;
}

// A copy of an object's type with `entries` instead of THREADS; 0: as many as are initialised.
Type *Generator::copy_type(const Type *t, long entries) {
  Type *c = copy(t);
  if (!is_array(t)) return unqualified(c);
  c->alias.clear();
  c->base = copy_type(t->base, entries);
  if (t->times_threads) {
    c->count = entries;
    c->incomplete = entries == 0;
  }
  c->times_threads = false;
  return c;
}

// Code that stores the values of the private copy `v` of the type `t`.
std::string Generator::spread(const Declarator &x, const Type *t, const std::string &v) {
  const std::string size = elem_size(x.type), block = std::to_string(block_of(x.type));
  const std::string name = name_of(x.symbol), tail = ", " + size + ", " + block + ");";
  const auto least = [](const std::string &a, const std::string &b) {
    return "(" + a + " < " + b + " ? " + a + " : " + b + ")";
  };
  const std::string given = "(long)(sizeof " + v + " / " + size + ")";
  if (x.thread_entries == 0)
    return "upcr_spread(" + name + ", &" + v + ", " + least(given, count_code(x.type)) + tail;
  const Type *row = x.type, *row_copy = t; // the dimension with THREADS
  long outer = 1;
  for (; !row->times_threads; row = row->base, row_copy = row_copy->base) outer *= row->count;
  const std::string i = fresh("i"), there = count_code(row), here = count_code(row_copy);
  return "for (long " + i + " = 0; " + i + " < " + std::to_string(outer) + "; " + i +
         "++) upcr_spread(" + add(name, i + " * " + there, element_of(x.type), true) +
         ", (const char *)&" + v + " + " + i + " * " + here + " * " + size + ", " +
         least(here, there) + tail;
}

// The initialiser of a shared object: a private copy that thread 0 distributes.
std::string Generator::object_init(Declared *d, Declarator &x, bool hoisted, std::string &fields) {
  Type *t = copy_type(x.type, x.thread_entries);
  if (x.flat_threads) { // all rows in one list
    Type *inner = t;
    for (const Type *o = x.type; !o->times_threads; o = o->base) inner = inner->base;
    t = inner;
  }
  const std::string v = fresh("v"), size = elem_size(t), block = std::to_string(block_of(x.type));
  const std::string definition = c_type(t, v) + " = " + code(x.init) + "; ";
  if (!at_run_time(x.init) && x.thread_entries == 0) {
    fields = ", &" + v + ", sizeof " + v + " / " + size + ", " + size + ", " + block;
    return "static " + definition;
  }
  if (!d->file_scope && !hoisted) {
    s_.error(x.name_token,
             "the initialiser of a shared variable in a function must be constant, or "
             "name objects outside of the function only");
    return "";
  }
  deferred_ += "if (upcr_mythread == 0) { " + definition + spread(x, t, v) + " }";
  return "";
}

std::string Generator::object(Declared *d, Declarator &x) {
  const bool open = is_array(x.type) && x.type->incomplete;
  if ((d->is_extern && !x.init) || open)
    return (d->is_static ? "static" : "extern") + (" upcr_pts_t " + std::string(x.name)) + ";";
  const bool hoist = !d->file_scope && !has_local_names(x.type) && !has_local_names(x.init);
  if (hoist) x.symbol->c_name = fresh("static") + "_" + std::string(x.name);
  const std::string name = name_of(x.symbol);
  std::string fields = ", 0, 0, 0, 0";
  std::string s = x.init ? object_init(d, x, hoist, fields) : "";
  if (d->is_static)
    s += "static upcr_pts_t " + name + ";";
  else
    s += "upcr_pts_t " + name + " __attribute__((" + (x.init ? "no" : "") + "common));";
  const std::string object = fresh("object");
  s += " static const struct upcr_object " + object + " = { &" + name + ", \"" +
       std::string(x.name) + "\", " + local_size(x.type) + fields +
       " }; static const struct upcr_object *const " + object +
       "_ref __attribute__((section(\"upc_objects\"), used)) = &" + object + ";";
  if (!hoist) return s;
  hoisted_ += s;
  return "";
}
