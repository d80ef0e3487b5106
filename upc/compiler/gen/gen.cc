// SPDX-License-Identifier: BSD-3-Clause
/*
 * The generator's base: nodes as their tokens, and which function writes which kind.
 *
 * Called by main.cc. Calls: gen_expr.cc, gen_decl.cc, gen_object.cc, gen_forall.cc. Invariants: see
 * ast.h.
 */
#include "gen/gen.h"

namespace {
Generator *in_use;
}

void use_generator(Generator *g) {
  in_use = g;
}

const Node *named_object(const Node *lvalue) {
  const Node *n = lvalue;
  while (n->kind == Nk::Index || n->kind == Nk::Member || n->kind == Nk::Paren ||
         n->kind == Nk::Decay) {
    const Node *k = n->kids[0];
    while (k->kind == Nk::Paren) k = k->kids[0];
    if (n->kind == Nk::Index && k->kind != Nk::Decay) return nullptr; // of a pointer
    n = k;
  }
  return n->kind == Nk::Name ? n : nullptr;
}

std::string code_of(Node *n) {
  return in_use->code(n);
}

Generator::Generator(Source &s, const Options &o) : s_(s), options_(o) {
  write_lengths_by(code_of);
}

std::string Generator::mark(int token) const {
  return "\1" + std::to_string(token) + "\2";
}

std::string Generator::place(int token) const {
  return "\1p" + std::to_string(token) + "\2";
}

std::string Generator::line(int token) const {
  return "\1l" + std::to_string(token) + "\2";
}

std::string Generator::front(int token) const {
  return "\1s" + std::to_string(token) + "\2";
}

std::string Generator::fresh(const char *stem) {
  return std::string("upcr_") + stem + std::to_string(number_++);
}

std::string Generator::tokens(int begin, int end) {
  std::string s;
  for (int i = begin; i < end; i++) s += mark(i);
  return s;
}

// The tokens, with the code of dirty children in their places.
std::string Generator::splice(int begin, int end, const std::vector<Node *> &kids) {
  std::string s;
  int at = begin;
  for (Node *k : kids) {
    if (!k || !k->dirty || k->begin < at) continue;
    s += tokens(at, k->begin);
    s += code(k);
    at = k->end;
  }
  return s + tokens(at, end);
}

std::string Generator::splice(Node *n) {
  return splice(n->begin, n->end, n->kids);
}

// Functions that write a kind of node; the tokens of other nodes are written, and their kids.
const std::map<Nk, Generator::Write> Generator::writers_ = {
    {Nk::Name, &Generator::name_code},
    {Nk::Index, &Generator::index_code},
    {Nk::Member, &Generator::field_code},
    {Nk::Arrow, &Generator::field_code},
    {Nk::Part, &Generator::part_code},
    {Nk::Deref, &Generator::deref_code},
    {Nk::AddressOf, &Generator::address_of_code},
    {Nk::Setjmp, &Generator::landing},
    {Nk::Step, &Generator::assign},
    {Nk::Assign, &Generator::assign},
    {Nk::Binary, &Generator::binary},
    {Nk::Cast, &Generator::cast},
    {Nk::Convert, &Generator::convert},
    {Nk::Load, &Generator::load},
    {Nk::Decay, &Generator::decay_code},
    {Nk::SizeofType, &Generator::size},
    {Nk::SizeofExpr, &Generator::size},
    {Nk::UpcSizeof, &Generator::size},
    {Nk::MyThread, &Generator::word_code},
    {Nk::Threads, &Generator::word_code},
    {Nk::MaxBlock, &Generator::word_code},
    {Nk::Value, &Generator::word_code},
    {Nk::Chosen, &Generator::chosen_code},
    {Nk::TypeName, &Generator::type_name_code},
    {Nk::Declaration, &Generator::declaration},
    {Nk::Record, &Generator::record},
    {Nk::ForDeclaration, &Generator::for_code},
    {Nk::Block, &Generator::block},
    {Nk::Forall, &Generator::forall},
    {Nk::Barrier, &Generator::barrier},
};

// A node as its tokens. The pragmas in front of a statement stand there, also where text of upcc
// stands in front of its first token.
std::string Generator::with_pragmas(Node *n) {
  if (n->kind != Nk::Tokens || !s_[n->begin].pragma_count || fronted_ == n->begin) return splice(n);
  const int outer = fronted_;
  fronted_ = n->begin;
  const std::string s = front(n->begin) + splice(n);
  fronted_ = outer;
  return s;
}

std::string Generator::code(Node *n) {
  if (!n->dirty) return tokens(n->begin, n->end);
  const auto found = writers_.find(n->kind);
  if (found == writers_.end()) return with_pragmas(n);
  // Text emitted before the first token gets that token's line number.
  const bool access = n->kind == Nk::Load || n->kind == Nk::Assign || n->kind == Nk::Step;
  return (access ? line(n->begin) : "") + (this->*found->second)(n);
}

std::string Generator::name_code(Node *n) {
  const bool renamed = n->symbol && !n->symbol->c_name.empty();
  return renamed ? place(n->begin) + name_of(n->symbol) : splice(n);
}

std::string Generator::index_code(Node *n) {
  return is_shared(n->type) ? address(n) : splice(n);
}

std::string Generator::field_code(Node *n) {
  return is_shared(n->type) ? member_code(n) : splice(n);
}

std::string Generator::deref_code(Node *n) {
  return is_shared(n->type) ? code(n->kids[0]) : splice(n);
}

std::string Generator::address_of_code(Node *n) {
  return is_shared(n->kids[0]->type) ? code(n->kids[0]) : splice(n);
}

std::string Generator::decay_code(Node *n) {
  return code(n->kids[0]);
}

std::string Generator::chosen_code(Node *n) {
  return "(" + code(n->kids[0]) + ")";
}

std::string Generator::type_name_code(Node *n) {
  return place(n->begin) + type_name(n);
}

// MYTHREAD, THREADS and constants.
std::string Generator::word_code(Node *n) {
  switch (n->kind) {
  case Nk::MyThread: return "upcr_mythread";
  case Nk::Threads: return options_.threads ? std::to_string(options_.threads) : "upcr_threads";
  case Nk::MaxBlock: return std::to_string(pts_form().max_block);
  default: return std::to_string(n->entries);
  }
}

// A loop that declares its variables: those that are written, and structures that get a name, lie
// in a block around it.
std::string Generator::for_code(Node *n) {
  const Node *d = n->kids[0]->declared->definition;
  if (!writes(n->kids[0]) && !(d && d->dirty)) return splice(n);
  return place(n->begin) + " {" + code(n->kids[0]) + " for (;" +
         splice(n->kids[0]->end, n->end, n->kids) + "}";
}

// A type's name may hold the definition of a structure.
std::string Generator::type_name(Node *n) {
  std::string s = c_type(n->operand);
  for (Node *k : n->kids) {
    if (!k || k->kind != Nk::Record) continue;
    const Tag *tag = k->operand->tag;
    const std::string name = (tag->is_union ? "union " : "struct ") + tag->name;
    const size_t at = s.find(name);
    if (at != std::string::npos) s.replace(at, name.size(), code(k));
  }
  return s;
}

std::string Generator::external(Node *n) {
  hoisted_.clear();
  std::string s = code(n);
  if (n->declared && n->declared->function() && n->declared->list[0].name == "main" && !has_main_)
    s += user_main(n->declared->list[0].type);
  return hidden_type_names() + hoisted_ + s;
}

// main itself is in crt.c, which calls the program's by another name. One without a value ends with
// status 0; the code behind it calls it.
std::string Generator::user_main(Type *t) {
  has_main_ = true;
  const bool has_value = t->base->kind != Ty::Void;
  const std::string name = has_value ? "upcr_user_main" : "upcr_void_main";
  hoisted_ += c_type(t, "main") + " __asm__(\"" + name + "\");";
  if (has_value) return "";
  return "\nvoid upcr_void_main(int, char **, char **); int upcr_user_main(int, char **, char **); "
         "int upcr_user_main(int upcr_argc, char **upcr_argv, char **upcr_envp) { "
         "upcr_void_main(upcr_argc, upcr_argv, upcr_envp); return 0; }";
}

std::string Generator::end_of_file() {
  if (options_.threads) // the run-time library compares
    deferred_.insert(0, "static const char upcr_text[] __attribute__((used)) = \"$UpcThreads: " +
                            std::to_string(options_.threads) + " $\"; upcr_check_threads(" +
                            std::to_string(options_.threads) + ");");
  if (deferred_.empty()) return "";
  return "\nstatic void upcr_file_init(void) {" + deferred_ +
         "}\nstatic void (*const upcr_file_init_ref)(void) __attribute__((section(\"upc_inits\"), "
         "used)) = upcr_file_init;\n";
}
