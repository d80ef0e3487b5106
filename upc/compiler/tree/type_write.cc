// SPDX-License-Identifier: BSD-3-Clause
/*
 * Types as text: declarations of the C output, and names for messages.
 *
 * Called by the generator and for messages. Calls: the function that the generator names, for the
 * lengths of arrays. Invariants: a pointer-to-shared is written upcr_pts_t; an object of shared
 * memory like a private one of its type.
 */
#include "tree/ast.h"
#include "tree/type.h"

#include <algorithm>
#include <map>

namespace {

std::string (*length_writer)(Node *length);

const char *const basic_names[] = {
    "int",         "void",
    "_Bool",       "char",
    "signed char", "unsigned char",
    "short",       "unsigned short",
    "int",         "unsigned int",
    "long",        "unsigned long",
    "long long",   "unsigned long long",
    "__int128",    "unsigned __int128",
    "float",       "double",
    "long double", "_Complex double",
    "int",
};

std::string qualifiers(const Type *t) {
  std::string s;
  if (t->is_const) s += "const ";
  if (t->is_volatile) s += "volatile ";
  if (t->is_restrict && is_pointer(t) && !is_pts(t)) s += "restrict ";
  if (t->is_atomic) s += "_Atomic ";
  return s;
}

std::string base_name(const Type *t) {
  if (!t->alias.empty()) return t->alias;
  if (is_record(t)) return (t->kind == Ty::Union ? "union " : "struct ") + t->tag->name;
  if (t->kind == Ty::Enum && t->tag && !t->tag->made_up) return "enum " + t->tag->name;
  return basic_names[static_cast<int>(t->kind)];
}

struct HiddenName {
  std::string second;
  bool written = false, given = false;
};

std::map<std::string, HiddenName> &hidden() {
  static std::map<std::string, HiddenName> names;
  return names;
}

// Variant for C, where a name may be hidden.
std::string c_name(const Type *t) {
  const std::string name = base_name(t);
  const bool local = t->alias.empty() ? t->tag && t->tag->local : t->local_alias;
  const auto found = local ? hidden().end() : hidden().find(name);
  if (found == hidden().end()) return name;
  found->second.written = true;
  return found->second.second;
}

std::string with_space(const std::string &base, const std::string &inner) {
  return inner.empty() ? base : base + " " + inner;
}

std::string function_params(const Type *t) {
  if (!t->prototype) return "";
  std::string s;
  for (size_t i = 0; i < t->params.size(); i++)
    s += (i ? ", " : "") + c_type(t->params[i], t->param_names[i]);
  if (t->variadic) s += s.empty() ? "..." : ", ...";
  return s.empty() ? "void" : s;
}

} // namespace

void write_lengths_by(std::string (*writer)(Node *length)) {
  length_writer = writer;
}

void hide_type_name(const std::string &name) {
  std::string second = "upcr_type_" + name;
  std::replace(second.begin(), second.end(), ' ', '_');
  hidden()[name].second = second;
}

std::string hidden_type_names() {
  std::string s;
  for (auto &[name, h] : hidden()) {
    if (h.written && !h.given) s += "typedef " + name + " " + h.second + "; ";
    h.given = h.given || h.written;
  }
  return s;
}

std::string c_type(const Type *t, const std::string &inner) {
  if (!t->alias.empty()) return with_space(qualifiers(t) + c_name(t), inner);
  switch (t->kind) {
  case Ty::Pointer: {
    if (is_pts(t)) return with_space(qualifiers(t) + "upcr_pts_t", inner);
    const std::string star = "*" + qualifiers(t) + inner;
    const bool wrap =
        t->base->alias.empty() && (t->base->kind == Ty::Array || t->base->kind == Ty::Function);
    return c_type(t->base, wrap ? "(" + star + ")" : star);
  }
  case Ty::Array: {
    std::string n;
    if (!t->incomplete)
      n = t->variable && t->length ? length_writer(t->length) : std::to_string(t->count);
    if (t->times_threads) n = std::to_string(t->count) + " * upcr_threads";
    return c_type(t->base, inner + "[" + n + "]");
  }
  case Ty::Function: return c_type(t->base, inner + "(" + function_params(t) + ")");
  default: return with_space(qualifiers(t) + c_name(t), inner);
  }
}

bool needs_writing(const Type *t) {
  if (!t->alias.empty()) return false;
  switch (t->kind) {
  case Ty::Pointer: return is_shared(t->base) || needs_writing(t->base);
  case Ty::Array: return is_shared(t) || needs_writing(t->base);
  case Ty::Function: {
    bool needs = needs_writing(t->base);
    for (const Type *p : t->params) needs = needs || needs_writing(p);
    return needs;
  }
  default: return t->shared;
  }
}

namespace {

std::string upc_qualifiers(const Type *t) {
  std::string s;
  if (t->strict) s += "strict ";
  if (t->relaxed) s += "relaxed ";
  if (t->shared) {
    s += "shared ";
    if (t->block == 0)
      s += "[] ";
    else if (t->block == kStarBlock)
      s += "[*] ";
    else if (t->block > 1)
      s += "[" + std::to_string(t->block) + "] ";
  }
  return s + qualifiers(t);
}

std::string upc_text(const Type *t, const std::string &inner);

std::string upc_params(const Type *t) {
  if (!t->prototype) return "";
  std::string s;
  for (const Type *p : t->params) s += (s.empty() ? "" : ", ") + upc_name(p);
  if (t->variadic) s += s.empty() ? "..." : ", ...";
  return s.empty() ? "void" : s;
}

std::string upc_text(const Type *t, const std::string &inner) {
  switch (t->kind) {
  case Ty::Pointer: {
    const std::string star = "*" + upc_qualifiers(t) + inner;
    const bool wrap = t->base->kind == Ty::Array || t->base->kind == Ty::Function;
    return upc_text(t->base, wrap ? "(" + star + ")" : star);
  }
  case Ty::Array: {
    std::string n = t->incomplete || t->variable ? "" : std::to_string(t->count);
    if (t->times_threads) n = (t->count == 1 ? "" : n + "*") + "THREADS";
    return upc_text(t->base, inner + "[" + n + "]");
  }
  case Ty::Function: return upc_text(t->base, inner + "(" + upc_params(t) + ")");
  default: return with_space(upc_qualifiers(t) + base_name(t), inner);
  }
}

} // namespace

std::string upc_name(const Type *t) {
  std::string s = upc_text(t, "");
  while (!s.empty() && s.back() == ' ') s.pop_back();
  return s;
}
