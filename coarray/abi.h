/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of gfortran (11 to 14, which are alike, and 15 and 16) to a coarray run-time
 * library.
 *
 * Owns: the layouts and constants of the compiler's interface. Included by every file of coarray/.
 * Calls nothing. Invariants: layouts are the compiler's, checked by static assertions. Sources: the
 * chapter "Coarray Programming" of the GNU Fortran manual, and the calls that the compiler emits
 * (-fdump-tree-original).
 */
#ifndef CAF_ABI_H
#define CAF_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAF_RANK_MAX 15

/* Type codes of descriptors. */
enum caf_type {
  CAF_INTEGER = 1,
  CAF_LOGICAL = 2,
  CAF_REAL = 3,
  CAF_COMPLEX = 4,
  CAF_DERIVED = 5,
  CAF_CHARACTER = 6
};

/* Purposes of a call of `caf_register`. */
enum caf_register {
  CAF_STATIC = 0,
  CAF_ALLOC = 1,
  CAF_LOCK_STATIC = 2,
  CAF_LOCK_ALLOC = 3,
  CAF_CRITICAL = 4,
  CAF_EVENT_STATIC = 5,
  CAF_EVENT_ALLOC = 6,
  CAF_REGISTER_ONLY = 7, /* a component: a token without memory; local */
  CAF_ALLOCATE_ONLY = 8, /* memory for such a token; local */
  CAF_MAP_EXISTING = 9   /* a token for memory of a coarray, that of an associate name; local */
};

/* Values of STAT= (iso_fortran_env). */
enum caf_stat {
  CAF_STAT_NO_TEAM = 1, /* of gfortran: an image selector names no team; this is its number, too */
  CAF_STAT_LOCKED = 1,
  CAF_STAT_LOCKED_OTHER = 2,
  CAF_STAT_ERROR = 3,
  CAF_STAT_DUP_SYNC_IMAGES = 3, /* of gfortran; this is its number, too */
  CAF_STAT_STOPPED = 6000,
  CAF_STAT_FAILED = 6001
};

struct caf_dim {
  ptrdiff_t stride, lb, ub; /* stride in elements of span, or elem_len where span is 0, bytes */
};

/* An array descriptor. The compiler's have as many dim as ranks, then those of the codimensions:
 * one that it passes is read up to its rank, never copied whole. */
struct caf_desc {
  void *base;
  size_t offset;
  struct {
    size_t elem_len;
    int version;
    int8_t rank, type;
    int16_t attribute;
  } dtype;
  ptrdiff_t span;
  struct caf_dim dim[CAF_RANK_MAX];
};
_Static_assert(offsetof(struct caf_desc, span) == 32, "layout of gfortran 8 and later");
_Static_assert(offsetof(struct caf_desc, dim) == 40, "layout of gfortran 8 and later");

/* Subscripts of one dimension; nvec 0: the triplet counts. */
struct caf_vector {
  size_t nvec;
  union {
    struct {
      void *vector; /* [nvec] integers of `kind` bytes */
      int kind;
    } v;
    struct {
      ptrdiff_t lb, ub, stride;
    } triplet;
  } u;
};

enum caf_ref_type { CAF_REF_COMPONENT = 0, CAF_REF_ARRAY = 1, CAF_REF_STATIC_ARRAY = 2 };
enum caf_ref_mode {
  CAF_MODE_NONE = 0,
  CAF_MODE_VECTOR,
  CAF_MODE_FULL,
  CAF_MODE_RANGE,
  CAF_MODE_SINGLE,
  CAF_MODE_OPEN_END,
  CAF_MODE_OPEN_START
};

/* One step of a reference such as x%a(2:3)%b; the steps are linked. */
struct caf_ref {
  struct caf_ref *next;
  int type; /* enum caf_ref_type */
  size_t item_size;
  union {
    struct {
      ptrdiff_t offset, token_offset; /* token_offset not 0: allocatable or pointer */
    } c;
    struct {
      unsigned char mode[CAF_RANK_MAX];
      int static_array_type;
      union {
        struct {
          ptrdiff_t start, end, stride;
        } s;
        struct {
          void *vector;
          size_t nvec;
          int kind;
        } v;
      } dim[CAF_RANK_MAX];
    } a;
  } u;
};

#define CAF_EXPORT __attribute__((visibility("default")))
#define CAF(name)  _gfortran_caf_##name

#endif
