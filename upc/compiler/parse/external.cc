// SPDX-License-Identifier: BSD-3-Clause
/*
 * External declarations, and text that cannot be parsed.
 *
 * Called by main.cc. Calls: parse_decl.cc, parse_spec.cc, names.cc, check.cc. Invariants: the nodes
 * that external() returns cover all tokens of the text, in order.
 */
#include "parse/parse.h"

Parser::Parser(Source &source, const Options &options) : s_(source), options_(options) {
  scopes_.emplace_back();
  if (!options.c23) return;
  declare("true", Sk::Constant, basic(Ty::Bool))->value = 1;
  declare("false", Sk::Constant, basic(Ty::Bool))->value = 0;
  declare("nullptr", Sk::Constant, pointer_to(basic(Ty::Void)))->value = 0;
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

// Whether a token is a word of UPC, or names a shared object or a pointer to one.
bool Parser::is_upc(const Token &t) const {
  if (t.kw >= KwUpcStatement || t.kw == KwShared) return true;
  const Symbol *symbol = t.kind == Tk::Name ? find(t.text) : nullptr;
  return symbol && symbol->type && (is_shared(symbol->type) || is_pts(symbol->type));
}

// Passes a declaration that cannot be parsed on as it is, up to its end. The C compiler accepts it
// or reports the error; where words of UPC are in it, upc1 does.
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
