// SPDX-License-Identifier: BSD-3-Clause
/*
 * Types: making, comparing, sizes and layout of structures (those of the psABIs of 64-bit Linux).
 *
 * Called by the parser and the generator. Calls: nothing. Invariants: size_of gives the C
 * compiler's answer; it is needed for constant expressions and for bit-fields only, other sizes are
 * left to the C compiler.
 */
#include "tree/type.h"

#include <algorithm>

Type *basic(Ty kind) {
  static Type table[static_cast<int>(Ty::Function) + 1];
  Type *t = &table[static_cast<int>(kind)];
  t->kind = kind;
  return t;
}

Type *copy(const Type *t) {
  return new Type(*t);
}

Type *pointer_to(Type *t) {
  Type *p = new Type;
  p->kind = Ty::Pointer;
  p->base = t;
  return p;
}

Type *unknown_type(std::string spelling) {
  Type *t = new Type;
  t->alias = std::move(spelling);
  return t;
}

Type *unqualified(Type *t) {
  if (!(t->is_const || t->is_volatile || t->is_restrict || t->is_atomic || is_shared(t))) return t;
  Type *u = copy(t);
  u->is_const = u->is_volatile = u->is_restrict = u->is_atomic = false;
  u->shared = u->strict = u->relaxed = false;
  u->block = kNoBlock;
  if (is_array(u)) u->base = unqualified(u->base);
  return u;
}

bool is_integer(const Type *t) {
  return (t->kind >= Ty::Bool && t->kind <= Ty::UInt128) || t->kind == Ty::Enum;
}

bool is_arithmetic(const Type *t) {
  return (t->kind >= Ty::Bool && t->kind <= Ty::Enum) || t->kind == Ty::Unknown;
}

const Type *element_of(const Type *t) {
  while (is_array(t)) t = t->base;
  return t;
}

Type *element_of(Type *t) {
  while (is_array(t)) t = t->base;
  return t;
}

bool is_shared(const Type *t) {
  return element_of(t)->shared;
}

bool is_pts(const Type *t) {
  return is_pointer(t) && is_shared(t->base);
}

long block_of(const Type *t) {
  const long block = element_of(t)->block;
  return block == kNoBlock ? 1 : block;
}

bool is_generic_pts(const Type *t) {
  return is_pts(t) && t->base->kind == Ty::Void;
}

Type *qualified(Type *t, const Type &q) {
  if (!(q.is_const || q.is_volatile || q.is_restrict || q.is_atomic || q.shared || q.strict ||
        q.relaxed))
    return t;
  Type *n = copy(t);
  if (is_array(t)) {
    n->base = qualified(t->base, q);
    n->alias.clear();
    return n;
  }
  n->is_const |= q.is_const;
  n->is_volatile |= q.is_volatile;
  n->is_restrict |= q.is_restrict;
  n->is_atomic |= q.is_atomic;
  n->shared |= q.shared;
  n->strict |= q.strict;
  n->relaxed |= q.relaxed;
  if (q.block != kNoBlock) n->block = q.block;
  return n;
}

PtsForm &pts_form() {
  static PtsForm form;
  return form;
}

std::optional<long> size_of(const Type *t) {
  switch (t->kind) {
  case Ty::Void:
  case Ty::Function: return 1;
  case Ty::Bool:
  case Ty::Char:
  case Ty::SChar:
  case Ty::UChar: return 1;
  case Ty::Short:
  case Ty::UShort: return 2;
  case Ty::Int:
  case Ty::UInt:
  case Ty::Enum:
  case Ty::Float: return 4;
  case Ty::Long:
  case Ty::ULong:
  case Ty::LLong:
  case Ty::ULLong:
  case Ty::Double: return 8;
  case Ty::Pointer: return is_pts(t) ? pts_form().bytes : 8;
  case Ty::Int128:
  case Ty::UInt128:
  case Ty::LDouble: return 16;
  default: break;
  }
  if (t->kind == Ty::Array) {
    const auto element = size_of(t->base);
    if (!element || t->incomplete || t->variable || t->times_threads) return {};
    return *element * t->count;
  }
  if (is_record(t) && t->tag && t->tag->complete && t->tag->layout_known) return t->tag->size;
  return {};
}

long align_of(const Type *t) {
  if (t->align) return t->align;
  if (is_array(t)) return align_of(t->base);
  if (is_record(t)) return t->tag ? t->tag->align : 1;
  return size_of(t).value_or(1);
}

namespace {

// Position of the next bit-field, in bits.
long place_bits(const Tag *tag, const Member &m, long bit) {
  const long unit = size_of(m.type).value_or(4) * 8;
  if (m.bits == 0) return (bit + unit - 1) / unit * unit;
  if (!tag->packed && !tag->pack && bit / unit != (bit + m.bits - 1) / unit)
    return (bit + unit - 1) / unit * unit;
  return bit;
}

long round_up(long n, long to) {
  return (n + to - 1) / to * to;
}

} // namespace

void lay_out(Tag *tag) {
  long bit = 0, size = 0;
  tag->align = 1;
  tag->layout_known = true;
  for (Member &m : tag->members) {
    const auto bytes = size_of(m.type);
    const bool open = is_array(m.type) && m.type->incomplete;
    if (!bytes && !open) tag->layout_known = false;
    long align = tag->packed && !m.type->align ? 1 : align_of(m.type);
    if (tag->pack && align > tag->pack) align = tag->pack;
    if (tag->is_union) bit = 0;
    if (m.bits >= 0) {
      bit = place_bits(tag, m, bit);
      m.bit_offset = bit;
      m.offset = bit / 8;
      bit += m.bits;
      if (m.name.empty()) align = 1;
    } else {
      bit = round_up(round_up(bit, 8) / 8, align) * 8;
      m.offset = bit / 8;
      bit += (open ? 0 : bytes.value_or(0)) * 8;
    }
    tag->align = std::max(tag->align, align);
    size = std::max(size, round_up(bit, 8) / 8);
  }
  tag->align = std::max(tag->align, tag->user_align);
  tag->size = round_up(size, tag->align);
  tag->complete = true;
}

std::optional<long> count_of(const Type *t) {
  long n = 1;
  for (; is_array(t); t = t->base) {
    if (t->incomplete || t->variable) return {};
    n *= t->count;
  }
  return n;
}

bool has_threads(const Type *t) {
  for (; is_array(t); t = t->base)
    if (t->times_threads) return true;
  return false;
}

long local_count(const Type *t, long threads) {
  const long block = block_of(t), n = count_of(t).value_or(1);
  if (!is_array(t) || block <= 0) return n;
  long blocks = (n + block - 1) / block;
  if (!has_threads(t) && threads) blocks = (blocks + threads - 1) / threads;
  return blocks * block;
}

namespace {

bool same_function(const Type *a, const Type *b) {
  if (!same_type(a->base, b->base)) return false;
  if (!a->prototype || !b->prototype) return true;
  if (a->params.size() != b->params.size() || a->variadic != b->variadic) return false;
  for (size_t i = 0; i < a->params.size(); i++)
    if (!same_type(a->params[i], b->params[i])) return false;
  return true;
}

} // namespace

static bool same_layout(const Type *a, const Type *b) {
  if (is_shared(a) != is_shared(b)) return false;
  return !is_shared(a) || block_of(a) == block_of(b);
}

// Whether two arrays may have as many elements.
static bool may_be_as_long(const Type *a, const Type *b) {
  if (a->incomplete || b->incomplete || a->variable || b->variable) return true;
  return a->count == b->count && a->times_threads == b->times_threads;
}

bool same_type(const Type *a, const Type *b) {
  if (a->kind == Ty::Unknown || b->kind == Ty::Unknown) return true;
  const auto enum_like = [](const Type *x, const Type *y) {
    return x->kind == Ty::Enum && (y->kind == Ty::Int || y->kind == Ty::UInt);
  };
  if (enum_like(a, b) || enum_like(b, a)) return same_layout(a, b);
  if (a->kind != b->kind || !same_layout(a, b)) return false;
  switch (a->kind) {
  case Ty::Pointer: return same_type(a->base, b->base);
  case Ty::Array: return may_be_as_long(a, b) && same_type(a->base, b->base);
  case Ty::Struct:
  case Ty::Union: return a->tag == b->tag;
  case Ty::Function: return same_function(a, b);
  default: return true;
  }
}

bool same_top_qualifiers(const Type *a, const Type *b, bool orders) {
  a = element_of(a), b = element_of(b);
  return a->is_const == b->is_const && a->is_volatile == b->is_volatile &&
         a->is_restrict == b->is_restrict && a->is_atomic == b->is_atomic &&
         (!orders || (a->strict == b->strict && a->relaxed == b->relaxed));
}

bool same_qualifiers(const Type *a, const Type *b, bool orders) {
  if (a->kind != b->kind || a->kind == Ty::Unknown) return true; // not for us to say
  if (is_array(a)) return same_qualifiers(a->base, b->base, orders);
  if (is_pointer(a))
    return same_top_qualifiers(a->base, b->base, orders) &&
           same_qualifiers(a->base, b->base, orders);
  if (a->kind != Ty::Function) return true;
  const size_t both = std::min(a->params.size(), b->params.size());
  for (size_t i = 0; i < both; i++)
    if (!same_qualifiers(a->params[i], b->params[i], orders)) return false;
  return same_qualifiers(a->base, b->base, orders);
}
