// SPDX-License-Identifier: BSD-3-Clause
/*
 * The generator: C text for the nodes of the tree.
 *
 * Called by main.cc for each external declaration. Calls: the types of tree/. Invariants: text of
 * expressions holds marks (mark()) where a token of the source stands; Writer turns them into line
 * markers; a deferred initialiser runs before main of the program, when shared objects have their
 * addresses.
 */
#ifndef UPCC_GEN_H
#define UPCC_GEN_H

#include "parse/parse.h"

#include <map>
#include <set>
#include <string>

class Generator {
public:
  Generator(Source &s, const Options &o);
  std::string external(Node *n);
  std::string end_of_file(); // deferred initialisers

  std::string code(Node *n);

private:
  // Writers of nodes, each of one or more kinds (the table in gen.cc).
  using Write = std::string (Generator::*)(Node *);
  static const std::map<Nk, Write> &table();
  std::string name_code(Node *n);
  std::string index_code(Node *n);
  std::string field_code(Node *n);
  std::string deref_code(Node *n);
  std::string address_of_code(Node *n);
  std::string decay_code(Node *n);
  std::string chosen_code(Node *n);
  std::string type_name_code(Node *n);
  std::string word_code(Node *n);
  std::string for_code(Node *n);
  std::string type_name(Node *n);
  std::string user_main(Type *t);

  // nodes as their tokens (gen_base.cc)
  std::string tokens(int begin, int end);
  std::string splice(Node *n);
  std::string splice(int begin, int end, const std::vector<Node *> &kids);
  std::string mark(int token) const;
  std::string place(int token) const; // line and pragmas, without the token
  std::string line(int token) const;  // line alone
  std::string front(int token) const; // pragmas in front of a statement
  std::string with_pragmas(Node *n);
  std::string fresh(const char *stem);

  // addresses and sizes (gen_address.cc)
  const char *called(bool strict) const;
  Node *address_terms(Node *n, std::vector<std::string> &terms);
  Node *indexed_from(Node *n, std::string &sum);
  std::string address(Node *n);
  std::string add(const std::string &p, const std::string &index, const Type *referent,
                  bool scaled);
  std::string count_code(const Type *t);
  std::string elem_size(const Type *t);
  std::string total_size(const Type *t);
  std::string local_size(const Type *t);
  std::string member_code(Node *n);
  std::string part_code(Node *n);

  // expressions (gen_expr.cc)
  std::string load(Node *n);
  std::string bits_of(Node *n, std::string &p);
  std::string assign(Node *n);
  std::string change(Node *n); // compound assignment and steps
  std::string change_private(Node *n);
  std::string right_side(Node *n, std::string &before);
  std::string new_value(Node *n, const std::string &old, const std::string &right);
  std::string difference(const Node *n, Node *a, Node *b);
  std::string with_null(const Node *n, Node *p, bool p_first);
  std::string binary(Node *n);
  std::string cast(Node *n);
  std::string convert(Node *n);
  std::string size(Node *n);

  // reads and writes (gen_access.cc)
  struct Place {
    std::string form, arguments; // of the function that reaches it
    std::string bytes;           // that are added to that; empty: none
  };
  std::string get(const Type *t, const std::string &p, bool strict);
  std::string put(const Type *t, const std::string &p, const std::string &v, bool strict);
  Place element_place(Node *n);
  Place place_of(Node *n);
  std::string place_code(const Place &place);
  std::string get_from(const Type *t, Node *lvalue, bool strict);
  std::string put_to(const Type *t, Node *lvalue, const std::string &v, bool strict);

  // reads that are not repeated (gen_reuse.cc)
  struct Kept {
    Node *statement; // before which it is read
    std::vector<Node *> reads;
  };
  void collect_reads(Node *n, std::vector<Node *> &reads);
  void add_reads(Node *statement, const std::vector<Node *> &reads, std::vector<Kept> &kept);
  bool keep_reads(Node *statement, std::vector<Kept> &kept, std::vector<Kept> &ready);
  std::vector<Kept> repeated_reads(Node *n);
  std::string block(Node *n);

  // upc_forall (gen_forall.cc)
  struct OwnLoop {
    const Symbol *variable = nullptr;
    bool declared = false; // in the loop
    Node *body = nullptr;
    long unit = 0, elements = 1;  // indices to a block; elements to an index
    bool including = false;       // the bound is one more iteration
    bool down = false;            // from high indices to low ones
    std::string counter, bound;   // the variable; where it ends
    std::string begins = "0L";    // where the affinity's array or pointer begins
    std::string start, position;  // names of variables
    std::string first, last;      // variables: the lowest index, and that behind the highest
    std::string block, at;        // variables: the thread's block in hand; indices before index 0
    std::string pointers, fits;   // declarations of local pointers to arrays; unfit if true
    Node *offset = nullptr;       // value that the affinity's index adds to the variable
    std::string ahead;            // that in C, to add to
    bool neighbours = false;      // a[i + constant] is in one block with a[i], too
    long lowest = 0, highest = 0; // constants that occur
    std::map<const Symbol *, std::string> arrays;
    // of a loop over elements by a pointer; `unit` is 0 where they are all one thread's
    const Symbol *pointer = nullptr;
    std::string origin, row; // where it begins; offset of the row of blocks there
    std::string step;        // from one iteration to the next, elements or indices; empty: 1
    std::string before;      // declarations of `step` and `end`, of a loop by an index
    std::string end;         // a variable: the final value of the loop's variable
  };
  std::string forall(Node *n);
  std::string affinity(Node *n);
  std::string landing(Node *n);
  std::string plain_loop(Node *n, const std::string &test);
  std::string seldom_loop(Node *n, const std::string &test);
  std::string own_loop(Node *n, OwnLoop &l);
  void take_step(Node *step, OwnLoop &l, bool is_signed);
  std::string step_singles(const OwnLoop &l, const std::string &body);
  std::string step_part(const OwnLoop &l, const std::string &row, const std::string &from,
                        const std::string &to);
  std::string own_singles(const OwnLoop &l, const std::string &body);
  std::string own_blocks(const OwnLoop &l, const std::string &body, const std::string &edges);
  std::string own_part(const OwnLoop &l, const std::string &row, const std::string &from,
                       const std::string &to);
  std::string own_lvalue(Node *n);
  std::string controlled_loop(Node *n, const std::string &inner, bool optimise);
  std::string own_array(Node *index);
  std::string own_by_pointer(Node *n);
  std::string own_member(Node *n);
  std::string own_body(Node *n, OwnLoop &l);
  std::string edge_body(Node *n, OwnLoop &l);
  std::string stepped_loop(Node *n, OwnLoop &l);
  std::string pointer_loop(Node *n, OwnLoop &l, const std::string &inner);
  std::string own_target(Node *n);

  // which loops and elements are a thread's own (gen_pattern.cc)
  bool is_own_index(Node *n, const OwnLoop &l);
  bool is_near(Node *n, const OwnLoop &l, long &distance);
  bool matches(Node *n, OwnLoop &l);
  bool takes_offset(Node *index, OwnLoop &l);
  bool matches_count(Node *n, OwnLoop &l);
  static std::string misses_end(const OwnLoop &l, bool is_signed);
  bool matches_pointer(Node *n, OwnLoop &l);
  bool matches_step(Node *step, Node *body, OwnLoop &l);
  static Node *first_index(Node *n);
  static const Symbol *indexed(const Node *index);
  static long unit_of(const Node *index, Node *body);
  static std::string start_of(const Symbol *s, long block);

  // statements and declarations (gen_decl.cc)
  std::string barrier(Node *n);
  bool writes(const Node *n) const;
  bool copies(int token) const;
  std::string counted(std::string s, const Node *body);
  std::string declaration(Node *n);
  std::string written(Node *n);
  std::string declarator(Declared *d, Declarator &x);
  std::string function(Declared *d, Declarator &x);
  std::string old_style(Declared *d, Declarator &x);
  std::string others(const Declared *d, const char *without = nullptr);
  std::string static_init(Declared *d, Declarator &x);
  std::string init_body(Declarator &x);
  std::string record(Node *n);

  // shared objects (gen_object.cc)
  static std::string name_of(const Symbol *s);
  static Type *copy_type(const Type *t, long entries);
  std::string spread(const Declarator &x, const Type *t, const std::string &v);
  std::string object(Declared *d, Declarator &x);
  std::string object_init(Declared *d, Declarator &x, bool hoisted, std::string &fields);
  bool at_run_time(const Node *n) const;
  bool defers(const Declared *d, const Declarator &x) const;

  Source &s_;
  Options options_;
  const std::map<Nk, Write> &writers_;
  int number_ = 0;
  int fronted_ = -1; // the first token of the statement in hand, whose pragmas are written
  std::string deferred_;
  std::string hoisted_; // text in front of the external declaration in hand
  bool has_main_ = false;
  bool controlled_ = false; // inside the body of an upc_forall with affinity
  bool seldom_ = false;     // in the copy of a loop that runs where the other one does not fit
  OwnLoop *own_ = nullptr;
  std::map<const Node *, std::string> kept_; // reads, and the variables that hold their values
};

// A node in parentheses; a Node or a const Node.
template <class N> N *bare(N *n) {
  while (n && n->kind == Nk::Paren) n = n->kids[0];
  return n;
}

bool is_variable(const Node *n, const Symbol *s);

// The name of the object that an lvalue lies in; NULL: it is reached through a pointer.
const Node *named_object(const Node *lvalue);

// The generator in use, for the lengths of arrays in types.
std::string code_of(Node *n);
void use_generator(Generator *g);

// Columns of tokens in the lines of their source files, from 0, which the preprocessor changes.
class Columns {
public:
  static constexpr size_t kNone = static_cast<size_t>(-1); // not known: of a macro or system header
  explicit Columns(const Source &s) : s_(s) {}
  size_t of(int token);
  // Blanks that fill a token's line from one column to another.
  std::string blanks(const Token &t, size_t from, size_t to);

private:
  const std::string &line_of(const Token &t);
  void find_line(int token);
  const Source &s_;
  std::vector<size_t> columns_; // of each token so far
  int known_ = 0;
  std::map<int, std::vector<std::string>> lines_; // of files
};

// Turns text with marks into C with line markers.
class Writer {
public:
  explicit Writer(const Source &s) : s_(s), columns_(s) {}
  void write(const std::string &text);
  const std::string &output() const { return out_; }

private:
  void mark(int token, bool with_token);
  void begin_line(const Token &t);
  void sync(int token);
  void align(int token);
  void pragmas(const Token &t);
  size_t obey(const std::string &text, size_t i);
  const Source &s_;
  Columns columns_;
  std::string out_;
  int file_ = -1, line_ = 0, last_ = -2;
  std::set<int> fronts_; // tokens whose pragmas stand in front of their statement
};

#endif
