// SPDX-License-Identifier: BSD-3-Clause
/*
 * UPC's restrictions of declarations.
 *
 * Called by the parser where a type or object is complete. Calls: messages. Invariants: each rule
 * is that of UPC 1.3 section 6.5 or 6.6; after a message the type is made harmless, so that one
 * mistake gives one message.
 */
#include "parse/parse.h"

#include <algorithm>

// Checks the qualifiers q beside those of the element type e.
void Parser::check_qualifiers(const Type &q, const Type *e, int token) {
  if (q.strict && q.relaxed) s_.error(token, "a type cannot be both strict and relaxed");
  if ((q.strict || q.relaxed) && !q.shared && !e->shared)
    s_.error(token, std::string(q.strict ? "strict" : "relaxed") + " without shared");
  if ((q.strict && e->relaxed) || (q.relaxed && e->strict))
    s_.error(token, "a type cannot be both strict and relaxed");
}

// Adds qualifiers to those that the type has already.
Type *Parser::apply(Type *t, const Type &q, int token) {
  if (token < 0) token = p_;
  const Type *e = element_of(t);
  check_qualifiers(q, e, token);
  if (q.shared && t->kind == Ty::Function) s_.error(token, "a function cannot be shared");
  if (q.shared && e->shared && q.block != kNoBlock && e->block != kNoBlock && q.block != e->block)
    s_.error(token, "two different block sizes for one type");
  Type plain = q;
  if (!q.shared && !e->shared) plain.strict = plain.relaxed = false;
  return qualified(t, plain);
}

void Parser::check_array(const Type *t, int token) {
  if (!is_array(t->base)) return;
  if (t->times_threads && has_threads(t->base))
    s_.error(token, "THREADS stands twice in the dimensions of an array");
}

// Target of a pointer: [*] of an array of known size gets its value, others are refused.
Type *Parser::referent(Type *t, int token) {
  if (!is_shared(t)) return t;
  const Type *e = element_of(t);
  if (e->kind == Ty::Void && e->block != kNoBlock)
    s_.error(token, "shared void cannot have a block size");
  if (e->block != kStarBlock) return t;
  if (is_array(t) && count_of(t)) return resolve_star(t, token);
  s_.error(token, "the layout [*] may not be used for what a pointer points to");
  return set_star(t, 1);
}

// Checks a type that a declaration gives.
void Parser::check_type(const Type *t, int token) {
  while (is_pointer(t)) t = t->base;
  if (!is_shared(t)) return;
  if (block_of(t) == 0 && has_threads(t))
    s_.error(token, "an array of indefinite block size cannot have THREADS in its dimensions");
}

namespace {

bool names_shared(const Type *t) {
  if (!t) return false;
  return t->shared || names_shared(t->base) ||
         std::any_of(t->params.begin(), t->params.end(), names_shared);
}

} // namespace

// Earlier declarations of a name; those without shared are left to the C compiler. Our own headers
// declare some functions for C and for UPC.
void Parser::check_again(const Symbol *before, const Declarator &x) {
  if (!before || !before->type || before->kind == Sk::Typedef || before->kind == Sk::Constant)
    return;
  if (!names_shared(before->type) && !names_shared(x.type)) return;
  if (s_.file(s_[x.name_token].file).ours) return;
  const std::string text = "'" + std::string(x.name) + "' is declared as '" + upc_name(x.type) +
                           "', but was declared as '" + upc_name(before->type) + "'";
  const auto alike = [&](bool orders) {
    return same_top_qualifiers(before->type, x.type, orders) &&
           same_qualifiers(before->type, x.type, orders);
  };
  if (!same_type(before->type, x.type) || !alike(false))
    s_.error(x.name_token, text);
  else if (!alike(true))
    s_.warning(x.name_token, text);
}

// The C compiler does not see that a shared object has two initialisers.
void Parser::check_initialised(const Declarator &x) {
  if (x.symbol->init_token >= 0) {
    const Token &first = s_[x.symbol->init_token];
    s_.error(x.name_token, "'" + std::string(x.name) + "' is initialised twice, first in " +
                               s_.file(first.file).name + ":" + std::to_string(first.line));
  }
  x.symbol->init_token = x.name_token;
}

Type *Parser::set_star(Type *t, long block) {
  Type *n = copy(t);
  if (is_array(t))
    n->base = set_star(t->base, block);
  else
    n->block = block;
  return n;
}

// Whether a type has the layout [*] and no size, which the initialiser of an object gives.
bool Parser::is_open_star(const Type *t) {
  return is_array(t) && t->incomplete && is_shared(t) && element_of(t)->block == kStarBlock;
}

// Gives [*] its value, where the object is known.
Type *Parser::resolve_star(Type *t, int token) {
  if (!is_shared(t) || element_of(t)->block != kStarBlock) return t;
  const auto n = count_of(t);
  if (!n) {
    s_.error(token, "the layout [*] needs an array of known size");
    return set_star(t, 1);
  }
  const long threads = options_.threads;
  long block = *n;
  if (!has_threads(t)) {
    if (!threads) {
      s_.error(token, "the layout [*] needs THREADS in a dimension of the array, or a fixed number "
                      "of threads (-T)");
      return set_star(t, 1);
    }
    block = (*n + threads - 1) / threads;
  }
  if (block > pts_form().max_block) {
    s_.error(token, "the block size " + std::to_string(block) +
                        " of [*] is greater than UPC_MAX_BLOCK_SIZE (" +
                        std::to_string(pts_form().max_block) + ")");
    block = 1;
  }
  return set_star(t, block);
}

void Parser::check_object(Declared *d, Declarator &x) {
  if (!is_shared(x.type)) return;
  const Type *e = element_of(x.type);
  if (e->kind == Ty::Void) s_.error(x.name_token, "an object cannot have the type shared void");
  const bool incomplete = !d->is_extern && is_record(e) && !e->tag->complete;
  const bool lock = incomplete && upc_name(e).find("upc_lock_t") != std::string::npos;
  if (!lock && !d->file_scope && !d->is_static && !d->is_extern)
    s_.error(x.name_token, "the automatic variable '" + std::string(x.name) +
                               "' cannot be shared; make it static");
  if (std::any_of(d->other.begin(), d->other.end(), [this](int token) {
        return s_[token].is("_Thread_local") || s_[token].is("__thread");
      }))
    s_.error(x.name_token, "'" + std::string(x.name) + "' cannot be both shared and thread-local");
  if (incomplete)
    s_.error(x.name_token, "the object '" + std::string(x.name) + "' has the incomplete type '" +
                               upc_name(e) + "'" +
                               (lock ? ": let 'upc_lock_t *" + std::string(x.name) +
                                           "' point to what upc_all_lock_alloc() makes"
                                     : ""));
  if (is_array(x.type)) check_dimensions(x);
}

namespace {

// A name in an expression that no declaration has given; NULL: none.
const Node *undeclared_in(const Node *n) {
  if (n->kind == Nk::Name && !n->symbol) return n;
  for (const Node *k : n->kids)
    if (const Node *found = k ? undeclared_in(k) : nullptr) return found;
  return nullptr;
}

bool names_threads(const Node *n) {
  return n->kind == Nk::Threads || n->kind == Nk::MyThread ||
         std::any_of(n->kids.begin(), n->kids.end(),
                     [](const Node *k) { return k && names_threads(k); });
}

} // namespace

// Checks a private array of static storage: the C compiler must know its size.
void Parser::check_private_size(const Declarator &x) {
  for (const Type *a = x.type; is_array(a); a = a->base) {
    const bool threads = (a->times_threads && !options_.threads) ||
                         (a->variable && a->length && names_threads(a->length));
    if (!threads) continue;
    s_.error(x.name_token, "the size of the private array '" + std::string(x.name) +
                               "' is not constant: THREADS is so with -T N alone, and MYTHREAD "
                               "never; make the array shared, or allocate it");
    return;
  }
}

// Checks the dimensions of a shared array.
void Parser::check_dimensions(const Declarator &x) {
  for (const Type *a = x.type; is_array(a); a = a->base)
    if (a->variable && a->length) {
      const Node *unknown = undeclared_in(a->length);
      s_.error(
          x.name_token,
          "the size of the shared array '" + std::string(x.name) + "' is not constant" +
              (unknown ? ": '" + std::string(s_[unknown->begin].text) + "' is not declared" : ""));
      return;
    }
  for (const Type *a = x.type; is_array(a); a = a->base)
    if (!a->incomplete && a->count <= 0)
      s_.error(x.name_token, "the shared array '" + std::string(x.name) + "' has no elements");
  if (options_.threads || block_of(x.type) == 0 || has_threads(x.type)) return;
  if (x.type->incomplete) return;
  s_.error(x.name_token,
           "the shared array '" + std::string(x.name) +
               "' must have THREADS in one dimension, unless the number of threads is "
               "fixed (-T)");
}

// Checks a declarator with its initialiser.
void Parser::check_definition(const Declared *d, const Declarator &x) {
  if (d->is_typedef || x.type->kind == Ty::Function) return;
  if (is_shared(x.type)) {
    if (x.init) check_static_value(x.init, true);
    if (!is_array(x.type) || d->is_extern) return;
    if (x.init) return check_dimensions(x);
    if (!x.type->incomplete) return;
    if (d->file_scope)
      tentative_.push_back(x.name_token);
    else
      s_.error(x.name_token, "the static shared array '" + std::string(x.name) + "' has no size");
  } else if (d->file_scope || d->is_static) {
    check_private_size(x);
    if (x.init) check_static_value(x.init, false);
  }
}

// An initialiser of a static variable: constants, and addresses of shared objects, which are known
// at start. That of a shared object may name THREADS, and MYTHREAD, which is 0 there.
void Parser::check_static_value(const Node *n, bool shared) {
  if (!n || is_pts(n->type)) return;
  const char *what = nullptr;
  switch (n->kind) {
  case Nk::SizeofType:
  case Nk::SizeofExpr:
  case Nk::UpcSizeof: return;
  case Nk::MyThread: what = shared ? nullptr : "MYTHREAD"; break;
  case Nk::Threads: what = shared || options_.threads ? nullptr : "THREADS"; break;
  case Nk::Load: what = "the value of a shared object"; break;
  default: break;
  }
  if (what)
    s_.error(n->begin, std::string(what) + " is no constant, which the initialiser of a static " +
                           "variable has to be");
  for (size_t i = 0; i < n->kids.size() && !what; i++) check_static_value(n->kids[i], shared);
}

// At the end of the text: shared arrays whose size no declaration has given.
void Parser::check_tentative() {
  for (int token : tentative_) {
    const Symbol *s = find(s_[token].text);
    if (s && s->type->incomplete)
      s_.error(token, "the shared array '" + std::string(s->name) + "' has no size");
  }
  tentative_.clear();
}
