// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tree that the parser makes: nodes with ranges of tokens, and symbols.
 *
 * Called by the parser and the generator. Invariants: the children of a node lie within its range,
 * in order, and do not overlap; a node that is not `dirty` is written as its tokens, one that is
 * dirty as its kind says; kind Tokens as its tokens with its children in their places. An
 * expression of a shared type is an lvalue, whose code is a pointer-to-shared.
 */
#ifndef UPCC_AST_H
#define UPCC_AST_H

#include "tree/type.h"

enum class Nk : unsigned char {
  Tokens, // written as it stands, children in their places
  // expressions
  Name,
  Constant,
  Paren,
  Index,
  Call,
  Setjmp, // a call of setjmp
  Member, // a.b
  Arrow,  // a->b
  Part,   // __real__ a, __imag__ a, a shared and complex
  Unary,  // + - ~ !
  Deref,
  AddressOf,
  Step, // ++ and --
  Binary,
  Assign,
  Conditional,
  Comma,
  Cast,
  Convert, // implicit
  Load,    // value of a shared lvalue
  Decay,   // array to pointer
  SizeofType,
  SizeofExpr,
  UpcSizeof,
  MyThread,
  Threads,
  MaxBlock,
  TypeName,
  Value,  // a number that is known here
  Chosen, // of a _Generic or __builtin_choose_expr: the chosen operand alone
  // declarations
  Declaration,
  Record, // structure definition
  // statements
  Block,
  ForDeclaration, // for with several declarators or a structure in its first clause
  Forall,
  Barrier,
};

enum class Sk : unsigned char { Variable, Function, Typedef, Constant, Builtin };

struct Symbol {
  Sk kind = Sk::Variable;
  std::string_view name;
  std::string c_name; // where it differs
  Type *type = nullptr;
  long value = 0;
  bool file_scope = false, is_extern = false, is_static = false, is_register = false;
  bool is_constexpr = false; // `value` is its value
  bool is_parameter = false, address_taken = false;
  bool ours = false;   // a header of UPC declares it
  int init_token = -1; // the name where the object is initialised; -1: not so far
};

struct Node {
  Nk kind = Nk::Tokens;
  int begin = 0, end = 0;
  bool dirty = false;
  bool strict = false; // the pragma in force
  bool postfix = false, has_call = false;
  bool leaves = false;     // return, goto, or break out of an upc_forall, in it or below
  bool not_copied = false; // a label or static variable: its text may stand once only
  std::vector<Node *> kids;
  Type *type = nullptr;
  Type *operand = nullptr; // type named by sizeof, a cast or a type name
  Symbol *symbol = nullptr;
  const Member *member = nullptr;
  std::vector<const Member *> path; // through anonymous structures
  std::string_view op;
  int op_token = 0;
  long entries = 0; // of a list in braces for an array: up to the last that it names; of a Value
  struct Declared *declared = nullptr;

  bool strict_type() const { return strict || (type && element_of(type)->strict); }
};

// One declarator of a declaration.
struct Declarator {
  int begin = 0, end = 0; // without the initialiser
  int tail = 0;           // first token behind the declarator proper: attributes, asm
  std::string_view name;
  int name_token = 0;
  Type *type = nullptr;
  Symbol *symbol = nullptr;
  const Symbol *before = nullptr; // its earlier declaration in the file
  Node *init = nullptr;
  std::vector<Symbol *> params; // of a function
  std::vector<Node *> kids;     // expressions in array bounds
  long thread_entries = 0;      // most values for a row of an inner dimension with THREADS
  bool flat_threads = false;    // no braces around such rows
};

struct Declared {
  int spec_begin = 0, spec_end = 0;
  std::vector<int> other;     // tokens of storage classes, attributes, function specifiers
  Node *definition = nullptr; // of a structure or enumeration in the specifiers
  std::vector<Declarator> list;
  Node *body = nullptr;          // of a function
  std::vector<Node *> old_style; // declarations of parameters before the body
  bool rewritten = false;        // the specifiers are not written as they stand
  bool file_scope = false, is_typedef = false, is_extern = false, is_static = false;
  bool is_constexpr = false;
  bool function() const { return body != nullptr; }
};

#endif
