// SPDX-License-Identifier: BSD-3-Clause
/*
 * Declaration specifiers: types, structures, qualifiers with layouts, attributes.
 *
 * Called by parse_decl.cc. Calls: the other parts of the parser. Invariants: the parts that the
 * output must repeat beside the type (storage classes, function specifiers, attributes) are kept as
 * token numbers in Declared::other, in order.
 */
#include "parse/parse.h"

#include <algorithm>

void Parser::layout(Type &q) {
  const int open = p_++;
  if (accept("]")) {
    q.block = 0;
    return;
  }
  long block;
  if (at("*") && ahead(1).is("]")) {
    p_++;
    block = kStarBlock;
  } else {
    const Constant c = evaluate(conditional());
    block = c.value;
    if (!c.known || c.threads || c.bad_threads) {
      s_.error(open, "the block size is not an integer constant expression");
      block = 1;
    } else if (block < 0) {
      s_.error(open, "the block size is negative");
      block = 1;
    } else if (block > pts_form().max_block) {
      s_.error(open, "the block size " + std::to_string(block) +
                         " is greater than UPC_MAX_BLOCK_SIZE (" +
                         std::to_string(pts_form().max_block) + ")");
      block = 1;
    }
  }
  expect("]");
  if (q.block != kNoBlock && q.block != block)
    s_.error(open, "two different block sizes for one type");
  q.block = block;
}

// A qualifier of C or UPC; false if there is none here.
bool Parser::qualifier(Type &q) {
  switch (cur().kw) {
  case KwQualifier:
    if (at("_Atomic") && ahead(1).is("(")) return false;
    if (cur().text.find("const") != std::string_view::npos)
      q.is_const = true;
    else if (cur().text.find("volatile") != std::string_view::npos)
      q.is_volatile = true;
    else if (cur().text.find("restrict") != std::string_view::npos)
      q.is_restrict = true;
    else
      q.is_atomic = true;
    break;
  case KwShared:
    q.shared = true;
    if (ahead(1).is("[")) {
      p_++;
      layout(q);
      return true;
    }
    break;
  case KwStrict: q.strict = true; break;
  case KwRelaxed: q.relaxed = true; break;
  default: return false;
  }
  p_++;
  return true;
}

void Parser::storage(Spec &s) {
  if (at("typedef")) s.d->is_typedef = true;
  if (at("extern")) s.d->is_extern = true;
  if (at("static")) s.d->is_static = true;
  if (at("constexpr")) s.d->is_constexpr = s.q.is_const = true;
  s.d->other.push_back(p_++);
}

// One word that is not a qualifier; false where the specifiers end.
bool Parser::specifier_word(Spec &s, std::vector<std::string_view> &words) {
  const Token &t = cur();
  switch (t.kw) {
  case KwStorage: storage(s); return true;
  case KwInline:
  case KwExtension: s.d->other.push_back(p_++); return true;
  case KwAttribute: attribute(s.d, &s.align, nullptr); return true;
  case KwAlignas: {
    const int begin = p_++;
    skip_balanced();
    const int end = p_;
    p_ = begin + 2;
    if (starts_type(p_)) {
      s.align = std::max(s.align, align_of(type_name()->operand));
    } else {
      const Constant c = evaluate(conditional());
      if (c.known) s.align = std::max(s.align, c.value);
    }
    p_ = end;
    for (int i = begin; i < p_; i++) s.d->other.push_back(i);
    return true;
  }
  case KwType: words.push_back(at("_BitInt") ? bit_int() : s_[p_++].text); return true;
  case KwQualifier: s.type = atomic_type(s); return true;
  case KwStruct:
  case KwUnion: s.type = record(s); return true;
  case KwEnum: s.type = enumeration(s); return true;
  case KwTypeof: s.type = typeof_type(s); return true;
  case KwAutoType:
    s.type = unknown_type("__auto_type");
    p_++;
    return true;
  default: break;
  }
  if (s.type || !words.empty() || t.kind != Tk::Name || t.kw != KwNone) return false;
  const Symbol *symbol = find(t.text);
  if (!symbol || symbol->kind != Sk::Typedef) return false;
  s.type = symbol->type;
  p_++;
  return true;
}

void Parser::specifiers(Spec &s) {
  std::vector<std::string_view> words;
  for (;;) {
    const int before = p_;
    if (cur().kw == KwShared && s.first_shared < 0) s.first_shared = p_;
    if (cur().kw == KwStrict && s.first_shared < 0) s.first_shared = p_;
    if (cur().kw == KwRelaxed && s.first_shared < 0) s.first_shared = p_;
    if (!qualifier(s.q) && !specifier_word(s, words)) break;
    if (p_ == before) break;
  }
  if (!words.empty()) s.type = words_type(words);
  if (!s.type) {
    s.implicit = true;
    s.type = basic(Ty::Int);
  }
  s.type = apply(s.type, s.q, s.first_shared);
  if (s.align) {
    s.type = copy(s.type);
    s.type->align = s.align;
  }
}

namespace {

Ty integer_kind(int longs, bool is_short, bool is_char, bool is_signed, bool is_unsigned) {
  if (is_char) return is_unsigned ? Ty::UChar : is_signed ? Ty::SChar : Ty::Char;
  if (is_short) return is_unsigned ? Ty::UShort : Ty::Short;
  if (longs >= 2) return is_unsigned ? Ty::ULLong : Ty::LLong;
  if (longs == 1) return is_unsigned ? Ty::ULong : Ty::Long;
  return is_unsigned ? Ty::UInt : Ty::Int;
}

bool has(const std::vector<std::string_view> &words, std::string_view w) {
  return std::find(words.begin(), words.end(), w) != words.end();
}

std::string joined(const std::vector<std::string_view> &words) {
  std::string text;
  for (auto w : words) text += (text.empty() ? "" : " ") + std::string(w);
  return text;
}

bool begins(std::string_view word, std::string_view with) {
  return word.compare(0, with.size(), with) == 0;
}

bool has_any(const std::vector<std::string_view> &words,
             std::initializer_list<std::string_view> these) {
  return std::any_of(these.begin(), these.end(),
                     [&words](std::string_view w) { return has(words, w); });
}

} // namespace

Type *Parser::words_type(const std::vector<std::string_view> &words) {
  const bool is_unsigned = has(words, "unsigned");
  const bool is_signed = has_any(words, {"signed", "__signed__", "__signed"});
  const int longs = static_cast<int>(std::count(words.begin(), words.end(), "long"));
  if (has_any(words, {"_Complex", "__complex__", "__complex"})) {
    Type *t = copy(basic(Ty::Complex));
    t->alias = joined(words);
    return t;
  }
  if (has(words, "void")) return basic(Ty::Void);
  if (has_any(words, {"_Bool", "bool"})) return basic(Ty::Bool);
  if (has(words, "float")) return basic(Ty::Float);
  if (has(words, "double")) return basic(longs ? Ty::LDouble : Ty::Double);
  if (has_any(words, {"__int128", "__int128_t"}))
    return basic(is_unsigned ? Ty::UInt128 : Ty::Int128);
  if (has(words, "__uint128_t")) return basic(Ty::UInt128);
  if (words[0][0] == '_' && !begins(words[0], "__signed")) return unknown_type(joined(words));
  return basic(
      integer_kind(longs, has(words, "short"), has(words, "char"), is_signed, is_unsigned));
}

void Parser::attribute_words(int begin, int end, long *align, bool *packed) {
  for (int i = begin; i < end; i++) {
    std::string_view w = s_[i].text;
    if (w == "vector_size" || w == "__vector_size__" || w == "mode" || w == "__mode__")
      reshaped_ = true;
    if (packed && (w == "packed" || w == "__packed__")) *packed = true;
    if (align && (w == "aligned" || w == "__aligned__")) {
      *align = 16;
      if (s_[i + 1].is("(")) {
        const int save = p_;
        p_ = i + 2;
        const Constant c = starts_type(p_) ? Constant() : evaluate(conditional());
        p_ = save;
        if (c.known) *align = c.value;
      }
    }
  }
}

void Parser::attribute(Declared *d, long *align, bool *packed) {
  const int begin = p_;
  if (!at("[")) p_++; // [[...]], else __attribute__((...))
  skip_balanced();
  attribute_words(begin, p_, align, packed);
  if (d)
    for (int i = begin; i < p_; i++) d->other.push_back(i);
}

std::string_view Parser::bit_int() { // _BitInt ( width )
  const int begin = p_++;
  expect("(");
  (void)conditional();
  expect(")");
  std::string text;
  for (int i = begin; i < p_; i++) text += std::string(s_[i].text);
  return *new std::string(text); // as the types of the text, for ever
}

Type *Parser::atomic_type(Spec &s) { // _Atomic ( type-name )
  p_++;
  expect("(");
  Node *n = type_name();
  expect(")");
  s.kids.push_back(n);
  Type *t = copy(n->operand);
  t->is_atomic = true;
  return t;
}

Type *Parser::typeof_type(Spec &s) {
  const int begin = p_++;
  expect("(");
  Node *n;
  if (starts_type(p_))
    n = type_name();
  else
    n = expression();
  expect(")");
  s.kids.push_back(n);
  Type *t = n->kind == Nk::TypeName ? n->operand : n->type;
  s.from_object = n->kind != Nk::TypeName && is_shared(t);
  s.d->rewritten = s.d->rewritten || n->dirty;
  for (Node *k : n->kids)
    if (n->kind == Nk::TypeName && k->kind == Nk::Record) s.d->definition = k;
  if (s_[begin].text.find("unqual") != std::string_view::npos) t = unqualified(t);
  if (t->kind != Ty::Unknown || !t->alias.empty()) return t;
  std::string text;
  for (int i = begin; i < p_; i++) text += std::string(s_[i].text) + " ";
  return unknown_type(text);
}

// ---- structures and enumerations

Type *Parser::record(Spec &s) {
  const int begin = p_;
  const bool is_union = cur().kw == KwUnion;
  long align = 0;
  bool packed = false;
  p_++;
  while (cur().kw == KwAttribute) attribute(nullptr, &align, &packed);
  std::string_view name;
  if (cur().kind == Tk::Name) name = s_[p_++].text;
  const bool defines = at("{");
  Type *t = nullptr;
  if (!name.empty()) {
    if (defines || at(";")) {
      auto f = scopes_.back().tags.find(name);
      if (f != scopes_.back().tags.end()) t = f->second;
    } else {
      t = find_tag(name);
    }
  }
  if (!t) {
    t = copy(basic(is_union ? Ty::Union : Ty::Struct));
    t->tag = new Tag;
    t->tag->is_union = is_union;
    t->tag->made_up = name.empty();
    t->tag->local = !file_scope();
    t->tag->in_system = s_.in_system(begin);
    t->tag->name = name.empty() ? "upcr_tag" + std::to_string(anonymous_++) : std::string(name);
    declare_tag(name, t);
  }
  if (!defines) return t;
  Node *n = make(Nk::Record, begin);
  n->operand = t;
  t->tag->packed = packed;
  members(t->tag, n);
  t->tag->pack = pack_; // the packing at its end
  while (cur().kw == KwAttribute) attribute(nullptr, &align, &packed);
  if (packed) t->tag->packed = true;
  t->tag->user_align = align;
  lay_out(t->tag);
  s.d->definition = done(n);
  s.kids.push_back(n);
  return t;
}

void Parser::members(Tag *tag, Node *node) {
  expect("{");
  while (!at("}")) {
    if (cur().kind == Tk::End) fail("a structure is not closed");
    if (accept(";")) continue;
    pragmas();
    if (cur().kw == KwStaticAssert) {
      node->kids.push_back(static_assertion());
      continue;
    }
    Node *d = declaration(true);
    node->kids.push_back(d);
    add_members(tag, d, false);
  }
  pragmas();
  expect("}");
}

void Parser::add_members(Tag *tag, Node *n, bool) {
  Declared *d = n->declared;
  if (d->list.empty()) { // anonymous structure
    Type *t = n->operand;
    if (t && is_record(t)) tag->members.push_back({{}, t});
    return;
  }
  for (Declarator &x : d->list) {
    Member m;
    m.name = x.name;
    m.type = x.type;
    if (x.init) { // width
      const Constant c = evaluate(x.init);
      m.bits = c.known ? static_cast<int>(c.value) : 1;
    }
    if (is_shared(x.type))
      s_.error(x.name_token, "a member of a structure or union cannot be shared (only a pointer to "
                             "shared can be one)");
    tag->members.push_back(m);
  }
}

Type *Parser::enumeration(Spec &s) {
  const int begin = p_++;
  while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  std::string_view name;
  if (cur().kind == Tk::Name) name = s_[p_++].text;
  Type *t = name.empty() ? nullptr : find_tag(name);
  if (!t || at("{")) {
    t = copy(basic(Ty::Enum));
    t->tag = new Tag;
    t->tag->made_up = name.empty();
    t->tag->local = !file_scope();
    t->tag->name = std::string(name);
    declare_tag(name, t);
  }
  if (!at("{")) return t;
  Node *n = make(Nk::Tokens, begin);
  enumerators(n, t->tag);
  while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
  s.d->definition = done(n);
  s.kids.push_back(n);
  return t;
}

void Parser::enumerators(Node *n, Tag *tag) {
  expect("{");
  long next = 0;
  while (!at("}")) {
    if (cur().kind != Tk::Name || cur().kw != KwNone)
      fail("expected the name of an enumeration constant before '" + std::string(cur().text) + "'");
    const std::string_view name = s_[p_++].text;
    while (cur().kw == KwAttribute) attribute(nullptr, nullptr, nullptr);
    if (accept("=")) {
      n->kids.push_back(conditional());
      next = evaluate(n->kids.back()).value;
    }
    tag->negative = tag->negative || next < 0;
    declare(name, Sk::Constant, basic(Ty::Int))->value = next++;
    if (!accept(",")) break;
  }
  expect("}");
}

Node *Parser::static_assertion() {
  Node *n = make(Nk::Tokens, p_++);
  expect("(");
  n->kids.push_back(conditional());
  while (accept(",") || cur().kind == Tk::String) {
    if (cur().kind == Tk::String) p_++;
  }
  expect(")");
  accept(";");
  return done(n);
}
