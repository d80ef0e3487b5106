// SPDX-License-Identifier: BSD-3-Clause
/*
 * Statements, those of UPC among them.
 *
 * Called by parse_decl.cc and for statement expressions. Calls: the other parts of the parser.
 * Invariants: a pragma at the head of a block is forgotten at its end.
 */
#include "parse/parse.h"

Node *Parser::block() {
  Node *n = make(Nk::Block, p_);
  const bool strict = strict_;
  expect("{");
  enter();
  while (!at("}")) {
    if (cur().kind == Tk::End)
      fail("the block that begins in line " + std::to_string(s_[n->begin].line) +
           " is not closed: a '}' is missing");
    item(n);
  }
  pragmas();
  expect("}");
  leave();
  strict_ = strict;
  if (!n->kids.empty()) n->type = n->kids.back()->type;
  return done(n);
}

// A declaration or statement of a block.
void Parser::item(Node *parent) {
  pragmas();
  if (cur().kw == KwLabel) {
    while (!at(";") && cur().kind != Tk::End) p_++;
    expect(";");
    return;
  }
  parent->kids.push_back(starts_declaration() ? declaration(false) : statement());
}

bool Parser::label(Node *n) {
  if (at("case")) {
    p_++;
    n->kids.push_back(conditional());
    if (accept("...")) n->kids.push_back(conditional());
    expect(":");
    return true;
  }
  if (at("default") || (cur().kind == Tk::Name && cur().kw == KwNone && ahead(1).is(":"))) {
    p_++;
    expect(":");
    while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
    return true;
  }
  return false;
}

Node *Parser::statement() {
  pragmas();
  if (cur().kw == KwAttribute && !starts_declaration())
    while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  if (at("{")) return block();
  if (cur().kw == KwForall || is_old_forall()) return forall_statement();
  if (cur().kw == KwUpcStatement) return upc_statement();
  Node *n = make(Nk::Tokens, p_);
  if (label(n)) {
    n->not_copied = !s_[n->begin].is("case") && !s_[n->begin].is("default");
    if (!at("}")) item(n);
    return done(n);
  }
  if (cur().kw == KwAsm) return assembler(n);
  if (cur().kw == KwStatement) return statement_word(n);
  return expression_statement(n);
}

// An operand of assembler behind its constraint: inputs are values, outputs must be private.
void Parser::assembler_operand(Node *n, bool output) {
  expect("(");
  const int token = p_;
  Node *k = expression();
  if (output && is_shared(k->type)) s_.error(token, "an output of asm cannot be a shared object");
  if (k->kind == Nk::Name && k->symbol) k->symbol->address_taken = true; // it may be changed
  n->kids.push_back(output ? k : value(k));
  expect(")");
}

// asm QUALIFIERS ( TEXT : OUTPUTS : INPUTS : CLOBBERED : LABELS )
Node *Parser::assembler(Node *n) {
  n->has_call = true; // it may do anything
  while (!at("(") && cur().kind != Tk::End) p_++;
  expect("(");
  for (int section = 0; !at(")");) {
    if (cur().kind == Tk::End) fail("asm is not closed");
    if (at("(") && (section == 1 || section == 2)) {
      assembler_operand(n, section == 1);
    } else if (at("(")) {
      skip_balanced();
    } else {
      section += at(":") ? 1 : 0;
      p_++;
    }
  }
  expect(")");
  expect(";");
  return done(n);
}

Node *Parser::expression_statement(Node *n) {
  if (!at(";")) {
    n->kids = {value(expression())};
    n->type = n->kids[0]->type;
  }
  expect(";");
  return done(n);
}

Node *Parser::statement_word(Node *n) {
  if (at("if") || at("while") || at("switch")) return condition_statement(n);
  if (at("for")) return for_statement(n);
  if (accept("do")) {
    n->kids.push_back(loop_body(true));
    expect("while");
    expect("(");
    n->kids.push_back(value(expression()));
    expect(")");
    expect(";");
    spins(n->kids[1], n->kids[0]);
    return done(n);
  }
  return simple_statement(n);
}

// Whether a part of a loop has no assignment and no step, so that it changes nothing itself.
static bool is_idle(const Node *n) {
  if (n->kind == Nk::Assign || n->kind == Nk::Step || n->kind == Nk::Declaration) return false;
  for (const Node *k : n->kids)
    if (k && !is_idle(k)) return false;
  return true;
}

static void read_strictly(Node *n) {
  if (n->kind == Nk::Load) n->strict = true;
  for (Node *k : n->kids)
    if (k) read_strictly(k);
}

// A loop that changes nothing waits for another thread, also where its variables are relaxed. Its
// reads become strict ones: each reads memory again and serves other threads.
void Parser::spins(Node *condition, Node *body) {
  if ((condition && !is_idle(condition)) || !is_idle(body)) return;
  if (condition) read_strictly(condition);
  read_strictly(body);
}

Node *Parser::condition_statement(Node *n) {
  const bool is_if = at("if"), is_switch = at("switch");
  p_++;
  expect("(");
  const int token = p_;
  enter(); // enumeration constants may be declared in the condition
  n->kids.push_back(value(expression()));
  if (is_switch && is_pts(n->kids[0]->type))
    s_.error(token,
             "the value of switch is the pointer to shared '" + upc_name(n->kids[0]->type) + "'");
  expect(")");
  n->kids.push_back(is_if ? statement() : loop_body(true));
  if (!is_if && !is_switch) spins(n->kids[0], n->kids[1]);
  if (is_if && accept("else")) n->kids.push_back(statement());
  leave();
  return done(n);
}

Node *Parser::for_statement(Node *n) {
  p_++;
  expect("(");
  enter();
  if (starts_declaration()) {
    n->kids.push_back(declaration(false));
    const Declared *d = n->kids[0]->declared;
    if (d && (d->list.size() > 1 || d->definition)) n->kind = Nk::ForDeclaration;
  } else {
    if (!at(";")) n->kids.push_back(value(expression()));
    expect(";");
  }
  Node *condition = at(";") ? nullptr : value(expression());
  if (condition) n->kids.push_back(condition);
  expect(";");
  const bool has_step = !at(")");
  if (has_step) n->kids.push_back(value(expression()));
  expect(")");
  n->kids.push_back(loop_body(true));
  if (!has_step) spins(condition, n->kids.back());
  leave();
  return done(n);
}

// The body of a loop or switch. `may_break`: a break only leaves this C loop. upc_forall becomes
// several C loops, so a break in its body counts as a statement that leaves it.
Node *Parser::loop_body(bool may_break) {
  const bool outer = in_loop_;
  in_loop_ = may_break;
  Node *n = statement();
  in_loop_ = outer;
  return n;
}

// break, continue, goto, return
Node *Parser::simple_statement(Node *n) {
  const bool is_return = at("return"), is_goto = at("goto");
  n->leaves = is_return || is_goto || (at("break") && !in_loop_);
  if (at("else")) fail("'else' without 'if'");
  p_++;
  if (is_return && !at(";")) {
    const int token = p_;
    Node *v = value(expression());
    if (result_) v = convert(v, result_, token, "return");
    n->kids.push_back(v);
  } else if (at("*")) { // computed goto
    p_++;
    n->kids.push_back(value(expression()));
  } else if (is_goto) {
    word("the name of a label");
  }
  expect(";");
  return done(n);
}

Node *Parser::upc_statement() {
  Node *n = make(Nk::Barrier, p_);
  n->op = cur().text;
  p_++;
  const std::string name(n->op);
  if (at("(") && ahead(1).is(")")) {
    s_.error(p_, name + " is a statement, not a function: write '" + name + ";'");
    p_ += 2;
  } else if (!at(";")) {
    const int token = p_;
    Node *v = value(expression());
    if (n->op == "upc_fence")
      s_.error(token, "upc_fence has no operand");
    else if (!is_arithmetic(v->type))
      s_.error(token,
               "the value of " + name + " is not an integer, but '" + upc_name(v->type) + "'");
    n->kids.push_back(v);
  }
  expect(";");
  n->dirty = true;
  n->has_call = true;
  return done(n);
}

// Children: initialisation, condition, step, affinity, body; NULL where there is none.
Node *Parser::forall_statement() {
  Node *n = make(Nk::Forall, p_++);
  n->kids.assign(5, nullptr);
  expect("(");
  enter();
  if (starts_declaration()) {
    n->kids[0] = declaration(false);
  } else {
    if (!at(";")) n->kids[0] = value(expression());
    expect(";");
  }
  if (!at(";")) n->kids[1] = value(expression());
  expect(";");
  if (!at(";")) n->kids[2] = value(expression());
  if (at(")"))
    s_.error(p_,
             "the affinity of upc_forall is missing: a fourth part, behind a semicolon, that is "
             "an integer, a pointer to shared or 'continue'");
  else
    expect(";");
  const int token = p_;
  if (at("continue"))
    p_++;
  else if (!at(")"))
    n->kids[3] = value(expression());
  if (n->kids[3]) {
    const Type *t = n->kids[3]->type;
    if (!is_pts(t) && !is_integer(t) && t->kind != Ty::Unknown)
      s_.error(token,
               "the affinity of upc_forall is neither an integer nor a pointer to shared, but '" +
                   upc_name(t) + "'");
  }
  expect(")");
  n->kids[4] = loop_body(false);
  leave();
  n->dirty = true;
  return done(n);
}
