// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parser: C11 with GNU's extensions and UPC, one external declaration at a time.
 *
 * Called by main.cc. Calls: the source for tokens and messages. Invariants: every expression has a
 * type (Unknown where only the C compiler knows); errors of UPC are reported here, those of C are
 * left to the C compiler; text that cannot be parsed and has none of UPC's words is passed through
 * as it stands.
 */
#ifndef UPCC_PARSE_H
#define UPCC_PARSE_H

#include "tree/ast.h"
#include "tree/source.h"

#include <unordered_map>

struct Options {
  long threads = 0; // 0: known at run time
  bool optimise = true, no_warnings = false, warnings_are_errors = false, pedantic = false;
  bool c23 = false; // its words are words of the language
};

// Value of a constant expression: value, times THREADS to a power.
struct Constant {
  bool known = false;
  bool bad_threads = false; // THREADS in another place than a product
  long value = 0;
  int threads = 0; // power
};

// Productions that files before their own call, because the grammar recurses. parse_expr.cc,
// parse_init.cc, parse_spec.cc, parse_decl.cc, parse_stmt.cc and external.cc else call only files
// before them in this order.
class Productions {
protected:
  ~Productions() = default;
  virtual Node *braced(Type *t) = 0;             // parse_init.cc
  virtual Node *type_name() = 0;                 // parse_decl.cc
  virtual Node *declaration(bool in_record) = 0; // parse_decl.cc
  virtual Node *block() = 0;                     // parse_stmt.cc
};

class Parser : Productions {
public:
  Parser(Source &source, const Options &options);

  // The next external declaration, or NULL at the end of the text.
  Node *external();

  Constant evaluate(const Node *n);
  bool is_null_word(const Node *n) const;
  bool is_null_constant(const Node *n);

private:
  Constant literal_value(const Node *n);
  struct Spec {
    Type q; // qualifiers
    Type *type = nullptr;
    int first_shared = -1;
    bool implicit = false;
    bool from_object = false; // typeof of a shared object
    Declared *d;
    std::vector<Node *> kids;
    long align = 0;
  };
  struct Scope {
    std::unordered_map<std::string_view, Symbol *> names;
    std::unordered_map<std::string_view, Type *> tags;
  };

  // tokens
  const Token &cur() const { return s_[p_]; }
  const Token &ahead(int n) const { return s_[std::min(p_ + n, s_.size() - 1)]; }
  bool at(std::string_view t) const { return cur().is(t); }
  bool accept(std::string_view t);
  void expect(std::string_view t);
  std::string_view word(const char *what); // the name that has to stand here, called `what` if not
  void skip_balanced();                    // ( ... ), [ ... ] or { ... }
  void pragmas();
  void pragma_pack(const std::string &text);
  void check_pragma(const Pragma &p, const char *word);
  [[noreturn]] void fail(const std::string &message);
  [[noreturn]] void fail_before(const std::string &what); // "expected `what` before" this

  // scopes
  Symbol *find(std::string_view name) const;
  Type *find_tag(std::string_view name) const;
  Symbol *declare(std::string_view name, Sk kind, Type *type);
  void declare_tag(std::string_view name, Type *type);
  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }
  bool file_scope() const { return scopes_.size() == 1; }

  // declarations
  int behind_attribute(int i) const;
  bool starts_type(int i) const;
  bool starts_declaration() const;
  void check_no_type(const Declared *d);
  Node *declaration(bool in_record) override;
  Node *external_or_pass();
  bool is_upc(const Token &t) const;
  Node *pass_through(int begin, const SyntaxError &e);
  void specifiers(Spec &s);
  bool specifier_word(Spec &s, std::vector<std::string_view> &words);
  void shared_qualifier(Spec &s);
  void layout(Type &q);
  bool qualifier(Type &q);
  void storage(Spec &s);
  Type *words_type(const std::vector<std::string_view> &words);
  void attribute(Declared *d, long *align, bool *packed);
  void attribute_words(int begin, int end, long *align, bool *packed);
  Type *record(Spec &s);
  void members(Tag *tag, Node *node);
  void add_members(Tag *tag, Node *declaration, bool packed);
  Type *enumeration(Spec &s);
  void enumerators(Node *n, Tag *tag);
  Type *typeof_type(Spec &s);
  Type *atomic_type(Spec &s);
  std::string_view bit_int();
  void declarator(Type *base, Declarator &d, bool abstract);
  Type *pointers(Type *t);
  Type *suffix(Type *t, Declarator &d, bool outer);
  Type *array_suffix(Type *t, Declarator &d, bool outer);
  Type *function_suffix(Type *t, Declarator &d);
  void parameter(Type *f, Declarator &d);
  Type *adjust(Type *t);
  void attributes_behind(Declared *d);
  void init_declarator(Spec &s, Declared *d);
  void introduce_typedef(Declarator &x);
  const Symbol *declared_before(const Declared *d, const Declarator &x) const;
  Symbol *declare_in(const Declared *d, const Declarator &x, Sk kind);
  void introduce(Declared *d, Declarator &x);
  void object_initializer(const Spec &s, Declarator &x);
  bool begins_body(const Declared *d) const;
  Node *function_body(Spec &s, Declared *d, Node *n);
  void old_style_parameters(Declared *d);
  Node *finish(Node *n, Spec &s, Declared *d);
  void member_declarator(Spec &s, Declared *d);
  Node *type_name() override;
  Node *static_assertion();

  // initialisers
  Node *initializer(Type *t);
  Node *braced(Type *t) override;
  Node *listed(Type *&part);
  long designator_value(int token) const;
  Type *designated(Type *t, Node *list, size_t *position);
  Type *slot(Type *t, size_t position);
  Type *flatten(Type *t, Node *value);
  std::vector<long> entries(const Node *list);
  void count_thread_entries(Declarator &x);

  // checks of UPC's rules (check.cc)
  void check_qualifiers(const Type &q, const Type *e, int token);
  Type *apply(Type *t, const Type &q, int token);
  void check_type(const Type *t, int token);
  void check_again(const Symbol *before, const Declarator &x);
  Type *referent(Type *t, int token);
  void check_initialised(const Declarator &x);
  void check_object(Declared *d, Declarator &x);
  void check_dimensions(const Declarator &x);
  void check_private_size(const Declarator &x);
  void check_definition(const Declared *d, const Declarator &x);
  void check_static_value(const Node *n, bool shared);
  void check_tentative();
  void check_array(const Type *t, int token);
  static bool is_open_star(const Type *t);
  Type *resolve_star(Type *t, int token);
  Type *set_star(Type *t, long block);

  // names that are not declared (names.cc)
  std::string argument_name(const Node *callee, size_t index) const;
  bool has_header(std::string_view header) const;
  std::string remedy_here(std::string_view name) const;
  bool report_unknown(int token);
  bool is_unknown_type(int token);
  bool report_unknown_in(int begin, int end);
  bool is_old_forall();

  // statements
  Node *statement();
  Node *block() override;
  Node *statement_word(Node *n);
  Node *condition_statement(Node *n);
  Node *for_statement(Node *n);
  Node *forall_statement();
  Node *loop_body(bool may_break);
  static void spins(Node *condition, Node *body);
  Node *upc_statement();
  Node *simple_statement(Node *n);
  Node *expression_statement(Node *n);
  Node *assembler(Node *n);
  void assembler_operand(Node *n, bool output);
  bool label(Node *n);
  void item(Node *parent);

  // expressions
  Node *expression();
  Node *assignment();
  Node *conditional();
  Node *binary(int level);
  Node *cast();
  Node *unary();
  Node *unary_word();
  Node *part(Node *n, Node *whole);
  Node *unary_operator();
  Node *address_of(Node *n, Node *k);
  Node *dereference(Node *n, Node *k);
  Node *postfix(Node *n);
  Node *index(Node *base);
  Node *call(Node *callee);
  Node *printed(Node *n);
  Node *member(Node *base, bool arrow);
  Node *primary();
  Node *name();
  Node *upc_number(Node *n);
  Node *constant();
  Type *number_type(const Node *n);
  Node *string();
  Node *parenthesised();
  Node *sizeof_expression();
  Node *upc_sizeof();
  void check_no_bits(const Node *n, const Node *operand);
  Node *generic();
  Node *choose(Node *n, Node *chosen, const Node *typical);
  Node *choose_expr();
  Node *builtin(std::string_view name);
  Node *label_address();
  void type_or_member(Node *n);

  Node *make(Nk kind, int begin);
  Node *done(Node *n);
  Node *value(Node *n); // load, decay
  Node *decay(Node *n, Type *to);
  Node *convert(Node *n, Type *to, int token, const char *where);
  Node *to_pts(Node *n, Type *to, int token, const char *where);
  void check_depths(const Type *from, const Type *to, int token, const char *where);
  void compatible(const Type *from, const Type *to, int token, const char *where);
  bool access_strict(const Type *t) const;
  Type *binary_type(Node *n, int token);
  void check_offset(const Node *n, int token);
  Type *difference_type(Node *n, int token);
  Type *additive_type(Node *n, int token);
  void check_steps(const Type *t, int token);
  Type *comparison(Node *n, int token);
  void assign_types(Node *n, int token);
  void change_types(const Node *n, const Type *t, int token);
  void conditional_types(Node *n, int token);
  void cast_types(Node *n, int token);
  Type *arithmetic(Type *a, Type *b);
  const Member *find_member(const Type *t, std::string_view name,
                            std::vector<const Member *> &path);

  Source &s_;
  Options options_;
  int p_ = 0;
  int pragma_done_ = 0;
  bool strict_ = false;
  bool old_style_ = false; // between the names and the body of an old-style function
  bool in_loop_ = false;   // or in a switch, within an upc_forall if there is one
  bool reshaped_ = false;  // an attribute makes another type of the one that was written
  long pack_ = 0;          // of #pragma pack; 0: none
  std::vector<long> packs_;
  int anonymous_ = 0;
  std::vector<std::string_view>
      reported_; // undeclared names of the library that have had a message
  bool forall_noted_ = false;
  std::vector<int> tentative_; // names of static shared arrays without a size so far
  Type *result_ = nullptr;     // of the function
  bool library_call_ = false;  // an argument of a function of our headers is converted
  std::vector<Scope> scopes_;
};

bool drops_phase(const Type *from, const Type *to);

#endif
