// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parser's base: tokens, scopes, pragmas, nodes, and the beginnings of types and declarations.
 *
 * Called by all files of parse/. Calls: none of them. Invariants: the pragmas in front of a token
 * are obeyed when a declaration or statement begins with it.
 */
#include "parse/parse.h"

#include <cstdlib>
#include <cstring>

bool Parser::accept(std::string_view t) {
  if (!at(t)) return false;
  p_++;
  return true;
}

void Parser::fail(const std::string &message) {
  throw SyntaxError(p_, p_, message);
}

void Parser::expect(std::string_view t) {
  if (!accept(t)) fail_before("'" + std::string(t) + "'");
}

std::string_view Parser::word(const char *what) {
  if (cur().kind != Tk::Name) fail_before(what);
  return s_[p_++].text;
}

// A token missing at the end of a line is reported there.
void Parser::fail_before(const std::string &what) {
  if (p_ > 0 && is_unknown_type(p_ - 1))
    throw SyntaxError(p_, p_ - 1,
                      "the type '" + std::string(s_[p_ - 1].text) + "' is not declared");
  if (p_ > 0 && s_[p_ - 1].file == cur().file && s_[p_ - 1].line < cur().line)
    throw SyntaxError(p_, p_ - 1,
                      "expected " + what + " behind '" + std::string(s_[p_ - 1].text) + "'");
  const std::string found =
      cur().kind == Tk::End ? "the end of the file" : "'" + std::string(cur().text) + "'";
  fail("expected " + what + " before " + found);
}

void Parser::skip_balanced() {
  int depth = 0;
  do {
    if (cur().kind == Tk::End) fail("a bracket is not closed");
    if (at("(") || at("[") || at("{")) depth++;
    if (at(")") || at("]") || at("}")) depth--;
    p_++;
  } while (depth > 0);
}

// pack(N), pack(), pack(push), pack(push, N), pack(pop)
void Parser::pragma_pack(const std::string &text) {
  const size_t open = text.find('(');
  if (open == std::string::npos) return;
  const std::string inner = text.substr(open + 1);
  const size_t digit = inner.find_first_of("0123456789");
  if (inner.find("pop") != std::string::npos) {
    if (packs_.empty()) return;
    pack_ = packs_.back();
    packs_.pop_back();
    return;
  }
  const bool push = inner.find("push") != std::string::npos;
  if (push) packs_.push_back(pack_);
  if (digit != std::string::npos)
    pack_ = strtol(inner.c_str() + digit, nullptr, 10);
  else if (!push)
    pack_ = 0;
}

// Warns of an unknown word behind `#pragma upc`, which is probably a slip of the pen.
void Parser::check_pragma(const Pragma &p, const char *word) {
  static const char *const known[] = {"strict", "relaxed", "c_code", "upc_code", "detect_upc"};
  for (const char *k : known)
    if (strcmp(word, k) == 0) return;
  s_.warning(p, "'#pragma upc " + std::string(word) + "' is unknown and changes nothing");
}

// Obey the pragmas up to this token.
void Parser::pragmas() {
  const Token &t = cur();
  if (t.pragma < 0) return;
  for (int i = std::max(t.pragma, pragma_done_); i < t.pragma + t.pragma_count; i++) {
    char a[32] = "", b[32] = "";
    sscanf(s_.pragma(i).text.c_str(), "#pragma %31s %31s", a, b);
    if (strcmp(a, "upc") == 0) check_pragma(s_.pragma(i), b);
    if (strcmp(a, "upc") == 0 && strcmp(b, "strict") == 0) strict_ = true;
    if (strcmp(a, "upc") == 0 && strcmp(b, "relaxed") == 0) strict_ = false;
    if (strncmp(a, "pack", 4) == 0) pragma_pack(s_.pragma(i).text);
    pragma_done_ = i + 1;
  }
}

Symbol *Parser::find(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    auto f = scopes_[i].names.find(name);
    if (f != scopes_[i].names.end()) return f->second;
  }
  return nullptr;
}

Type *Parser::find_tag(std::string_view name) const {
  for (size_t i = scopes_.size(); i-- > 0;) {
    auto f = scopes_[i].tags.find(name);
    if (f != scopes_[i].tags.end()) return f->second;
  }
  return nullptr;
}

Symbol *Parser::declare(std::string_view name, Sk kind, Type *type) {
  Symbol *s = new Symbol;
  s->kind = kind;
  s->name = name;
  s->type = type;
  s->file_scope = file_scope();
  if (name.empty()) return s;
  scopes_.back().names[name] = s;
  const auto &outside = scopes_.front().names;
  const auto type_there = file_scope() ? outside.end() : outside.find(name);
  if (type_there != outside.end() && type_there->second->kind == Sk::Typedef)
    hide_type_name(std::string(name));
  return s;
}

// A structure or enumeration of a block, which may hide one of the file.
void Parser::declare_tag(std::string_view name, Type *type) {
  if (name.empty()) return;
  scopes_.back().tags[name] = type;
  const auto &outside = scopes_.front().tags;
  const auto there = file_scope() ? outside.end() : outside.find(name);
  if (there != outside.end()) hide_type_name(upc_name(there->second));
}

// Whether a token stands for a type that nobody declared: a name or `*` follows, and no earlier
// declaration has it.
bool Parser::is_unknown_type(int token) {
  const Token &t = s_[token], &next = s_[token + 1];
  if (t.kind != Tk::Name || t.kw != KwNone || t.text.compare(0, 2, "__") == 0) return false;
  if (!next.is("*") && (next.kind != Tk::Name || next.kw != KwNone)) return false;
  const Symbol *s = find(t.text);
  return !s || s->name.data() == t.text.data();
}

// The token behind an attribute: __attribute__((...)) or [[...]].
int Parser::behind_attribute(int i) const {
  if (!s_[i].is("[")) i++;
  for (int depth = 0; s_[i].kind != Tk::End; i++) {
    if (s_[i].is("(") || s_[i].is("[")) depth++;
    if ((s_[i].is(")") || s_[i].is("]")) && --depth == 0) return i + 1;
  }
  return i;
}

bool Parser::starts_type(int i) const {
  while (s_[i].kw == KwAttribute) i = behind_attribute(i);
  const Token &t = s_[i];
  switch (t.kw) {
  case KwType:
  case KwQualifier:
  case KwShared:
  case KwStrict:
  case KwRelaxed:
  case KwStruct:
  case KwUnion:
  case KwEnum:
  case KwTypeof:
  case KwAlignas:
  case KwAutoType: return true;
  case KwNone: break;
  default: return false;
  }
  if (t.kind != Tk::Name) return false;
  const Symbol *s = find(t.text);
  return s && s->kind == Sk::Typedef;
}

bool Parser::starts_declaration() const {
  int i = p_;
  while (s_[i].kw == KwExtension) i++;
  const Token &t = s_[i];
  if (t.kw == KwStorage || t.kw == KwInline || t.kw == KwAlignas || t.kw == KwStaticAssert)
    return true;
  if (t.kw == KwAttribute) { // of a declaration, or of a statement
    int behind = i;
    while (s_[behind].kw == KwAttribute) behind = behind_attribute(behind);
    const Token &next = s_[behind];
    return !next.is("{") && next.kw != KwAsm && next.kw != KwStatement && next.kw != KwForall &&
           next.kw != KwUpcStatement;
  }
  if (!starts_type(i)) return false;
  return !(t.kw == KwNone && ahead(1).is(":"));
}

Node *Parser::make(Nk kind, int begin) {
  Node *n = new Node;
  n->kind = kind;
  n->begin = begin;
  n->op_token = begin;
  n->strict = strict_;
  return n;
}

Node *Parser::done(Node *n) {
  n->end = p_;
  for (const Node *k : n->kids)
    if (k) {
      n->dirty = n->dirty || k->dirty;
      n->has_call = n->has_call || k->has_call;
      n->leaves = n->leaves || k->leaves;
    }
  if (!n->type) n->type = basic(Ty::Unknown);
  return n;
}
