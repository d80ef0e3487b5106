/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The compiler's calls in place of atomic operations of 16 bytes.
 *
 * Owns nothing. Called by code that is compiled with -fsanitize=thread. Calls: the checker, see
 * atomic.h. All are made of a compare and exchange, which x86-64 has as an instruction; elsewhere
 * the compiler may call libatomic, which the program that has such operations links anyway.
 */
#include "check/client/client.h"

#ifdef __SIZEOF_INT128__

typedef unsigned __int128 wide;

# if defined __x86_64__
__attribute__((target("cx16")))
# endif
static wide
swap(volatile wide *at, wide expected, wide wanted) {
  return __sync_val_compare_and_swap(at, expected, wanted);
}

enum { SET, add, sub, and, or, xor, nand };

static wide result(int what, wide old, wide value) {
  switch (what) {
  case add: return old + value;
  case sub: return old - value;
  case and: return old & value;
  case or: return old | value;
  case xor: return old ^ value;
  case nand: return ~(old & value);
  default: return value;
  }
}

/* Returns the value before. */
static wide change(volatile wide *at, int what, wide value) {
  wide old = swap(at, 0, 0);
  for (;;) {
    const wide found = swap(at, old, result(what, old, value));
    if (found == old) return old;
    old = found;
  }
}

# define LOAD(at)                   swap((volatile wide *)(uintptr_t)(at), 0, 0)
# define EXCHANGE(at, value)        change(at, SET, value)
# define SWAP(at, expected, wanted) swap(at, expected, wanted)
# define FETCH(what, at, value)     change(at, what, value)
# define TYPE                       wide
# define BITS                       128
# include "check/client/atomic.h"

#endif
