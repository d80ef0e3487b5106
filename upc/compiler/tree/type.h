// SPDX-License-Identifier: BSD-3-Clause
/*
 * Types of C with UPC's qualifiers, and how each is written in the C output.
 *
 * Owns: Type and the tags of structures. Called by the parser and the generator. Invariants: types
 * are never changed once an expression has them (qualifying makes a copy) and never freed;
 * `shared`, `strict` and the block size stand at the ultimate element of an array, as the language
 * says. A type with an `alias` is written by that name: it is a typedef's, or something that only
 * the C compiler understands.
 */
#ifndef UPCC_TYPE_H
#define UPCC_TYPE_H

#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct Node;
struct Type;

enum class Ty : unsigned char {
  Unknown, // known to the C compiler only
  Void,
  Bool,
  Char,
  SChar,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  LLong,
  ULLong,
  Int128,
  UInt128,
  Float,
  Double,
  LDouble,
  Complex,
  Enum,
  Pointer,
  Array,
  Struct,
  Union,
  Function,
};

constexpr long kNoBlock = -1;   // no layout was written
constexpr long kStarBlock = -2; // [*], until the object is known

// Representation of pointers-to-shared: packed in 64 bits, or in 128 (upcr.h, UPCR_WIDE).
struct PtsForm {
  long bytes = 8;
  long max_block = (1L << 20) - 1;
};
PtsForm &pts_form();

struct Member {
  std::string_view name; // empty: anonymous structure or padding
  Type *type;
  int bits = -1;       // width of a bit-field
  long offset = 0;     // bytes
  long bit_offset = 0; // of a bit-field, from the beginning of the structure
};

struct Tag {
  std::string name;
  bool made_up = false; // the source has no name
  bool in_system = false;
  bool local = false; // of a block
  bool complete = false, packed = false, is_union = false;
  bool negative = false; // an enumeration with constants below 0: it is signed
  bool layout_known = false;
  long size = 0, align = 1; // where layout_known
  long user_align = 0;
  long pack = 0; // of #pragma pack
  std::vector<Member> members;
};

struct Type {
  Ty kind = Ty::Unknown;
  bool is_const = false, is_volatile = false, is_restrict = false, is_atomic = false;
  bool shared = false, strict = false, relaxed = false;
  long block = kNoBlock;
  Type *base = nullptr; // element, referent, result
  // arrays
  Node *length = nullptr;
  long count = 0;
  bool times_threads = false, incomplete = false, variable = false;
  // functions
  std::vector<Type *> params;
  std::vector<std::string> param_names;
  bool variadic = false, prototype = false;
  Tag *tag = nullptr;
  long align = 0; // of an attribute or typedef
  std::string alias;
  bool local_alias = false; // of a block
};

Type *basic(Ty kind);
Type *copy(const Type *t);
Type *pointer_to(Type *t);
Type *unknown_type(std::string spelling);
Type *unqualified(Type *t); // without qualifiers at the top, and not shared

inline bool is_array(const Type *t) {
  return t->kind == Ty::Array;
}
inline bool is_pointer(const Type *t) {
  return t->kind == Ty::Pointer;
}
inline bool is_record(const Type *t) {
  return t->kind == Ty::Struct || t->kind == Ty::Union;
}
bool is_integer(const Type *t);
bool is_arithmetic(const Type *t);

const Type *element_of(const Type *t); // strips all dimensions
Type *element_of(Type *t);
bool is_shared(const Type *t);      // object of shared memory
bool is_pts(const Type *t);         // pointer-to-shared
long block_of(const Type *t);       // block size of a shared type; 0: indefinite
bool is_generic_pts(const Type *t); // shared void *

// Puts qualifiers of `q` (const ... shared and its layout) onto the ultimate element.
Type *qualified(Type *t, const Type &q);

// Bytes and alignment where they are known here; nothing for types that only the C compiler knows.
std::optional<long> size_of(const Type *t);
long align_of(const Type *t);
void lay_out(Tag *tag);

// Number of ultimate elements; under dynamic threads without the factor THREADS.
std::optional<long> count_of(const Type *t);
bool has_threads(const Type *t);
// The most elements that one thread has of an object, with `threads` of them; 0: not known.
long local_count(const Type *t, long threads);

bool same_type(const Type *a, const Type *b); // qualifiers of C at the top ignored
// Whether two types for which same_type() holds have equal qualifiers below the top: those of C,
// with `orders` also strict and relaxed.
bool same_qualifiers(const Type *a, const Type *b, bool orders);
// Whether the qualifiers of the objects themselves are equal.
bool same_top_qualifiers(const Type *a, const Type *b, bool orders);

// Whether the C declaration must differ from the source: something in it is shared.
bool needs_writing(const Type *t);
// Gives a type at file scope (`cell`, `struct cell`) a second name, because a block gives its name
// another meaning. hidden_type_names() returns the typedefs of second names that were written since
// its last call.
void hide_type_name(const std::string &name);
std::string hidden_type_names();

// Sets the function that writes the expression of an array's length. Call it once, before the first
// type is written.
void write_lengths_by(std::string (*writer)(Node *length));
// Declaration of `inner` in C; shared objects are written as private ones.
std::string c_type(const Type *t, const std::string &inner = "");
// The type's name in UPC, for messages.
std::string upc_name(const Type *t);

#endif
