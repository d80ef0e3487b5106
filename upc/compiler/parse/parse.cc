// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parser's base: tokens, scopes, pragmas, and external declarations.
 *
 * Called by main.cc. Calls: parse_*.cc. Invariants: the pragmas in front of a token are obeyed when
 * a declaration or statement begins with it.
 */
#include "parse/parse.h"

#include <cstdlib>
#include <cstring>

Parser::Parser(Source &source, const Options &options) : s_(source), options_(options) {
  scopes_.emplace_back();
  if (!options.c23) return;
  declare("true", Sk::Constant, basic(Ty::Bool))->value = 1;
  declare("false", Sk::Constant, basic(Ty::Bool))->value = 0;
  declare("nullptr", Sk::Constant, pointer_to(basic(Ty::Void)))->value = 0;
}

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

// A word behind `#pragma upc` that nobody knows, a slip of the pen most likely.
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

Node *Parser::external() {
  while (at(";")) {
    p_++;
  }
  if (cur().kind == Tk::End) {
    check_tentative();
    return nullptr;
  }
  pragmas();
  return external_or_pass();
}

Node *Parser::external_or_pass() {
  const int begin = p_;
  const size_t depth = scopes_.size();
  try {
    if (cur().kw == KwAsm) {
      Node *n = make(Nk::Tokens, p_);
      while (!at(";") && cur().kind != Tk::End) p_++;
      accept(";");
      return done(n);
    }
    if (cur().kw == KwStaticAssert) return static_assertion();
    return declaration(false);
  } catch (const SyntaxError &e) {
    scopes_.resize(depth);
    return pass_through(begin, e);
  }
}

// A word of UPC, or a name of an object that is shared or points to one.
bool Parser::is_upc(const Token &t) const {
  if (t.kw >= KwUpcStatement || t.kw == KwShared) return true;
  const Symbol *symbol = t.kind == Tk::Name ? find(t.text) : nullptr;
  return symbol && symbol->type && (is_shared(symbol->type) || is_pts(symbol->type));
}

// Text that cannot be parsed: to its end. The C compiler will accept it or report the error, unless
// UPC is in it.
Node *Parser::pass_through(int begin, const SyntaxError &e) {
  p_ = begin;
  Node *n = make(Nk::Tokens, begin);
  const bool reported = report_unknown_in(begin, e.token + 1);
  bool upc = false;
  while (cur().kind != Tk::End) {
    upc = upc || is_upc(cur());
    if (accept(";")) break;
    if (at("{")) {
      const int before = p_;
      try {
        skip_balanced();
      } catch (const SyntaxError &) { // at the end of the text
        s_.error(e.place, e.what());
        return done(n);
      }
      for (int i = before; i < p_; i++)
        upc = upc || s_[i].kw >= KwUpcStatement || s_[i].kw == KwShared;
      if (!at(";") && !at("=") && !at(",")) break;
    } else {
      p_++;
    }
  }
  if (!reported && (upc || p_ >= s_.size() - 1)) s_.error(e.place, e.what());
  return done(n);
}
