// SPDX-License-Identifier: BSD-3-Clause
/*
 * The generator's table: which function writes which kind of node. External declarations.
 *
 * Called by main.cc. Calls: gen_base.cc; by the table gen_expr.cc, gen_decl.cc, gen_forall.cc and
 * gen_reuse.cc. Invariants: see ast.h.
 */
#include "gen/gen.h"

Generator::Generator(Source &s, const Options &o) : s_(s), options_(o), writers_(table()) {
  write_lengths_by(code_of);
}

// Functions that write a kind of node. Other nodes are written as their tokens, with their kids.
const std::map<Nk, Generator::Write> &Generator::table() {
  static const std::map<Nk, Write> table = {
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
  return table;
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

// A for loop that declares variables. Where upc1 changes the declaration, it moves to a block
// around the loop.
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

// The program's main gets another name, by which the main of crt.c calls it. A void main gets a
// wrapper that returns 0.
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
