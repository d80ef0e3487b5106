/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the program defines a routine of OpenSHMEM: in the static library.
 *
 * Owns nothing. Called by inline.c. Calls nothing. The linker has put the program's routine in the
 * place of this library's weak one. Invariant: the list has each routine with an inline body.
 */
#include "../sh.h"

#define BLOCK(F, E)     ROW(F##put##E) ROW(F##get##E) ROW(F##put##E##_nbi) ROW(F##get##E##_nbi)
#define TYPED(N)        BLOCK(N##_, ) ROW(N##_p) ROW(N##_g)
#define PAIRS(N, T)     TYPED(N) TYPED(ctx_##N)
#define SIZED(B, BYTES) BLOCK(, B) BLOCK(ctx_, B)
#define ATOMIC(N, NAME) ROW(N##_atomic##NAME) ROW(ctx_##N##_atomic##NAME)
#define EXTENDED(N, T)  ATOMIC(N, _fetch) ATOMIC(N, _swap) ATOMIC(N, _set)
#define STANDARD(N, T)    \
 ATOMIC(N, _compare_swap) \
 ATOMIC(N, _fetch_inc) ATOMIC(N, _fetch_add) ATOMIC(N, _inc) ATOMIC(N, _add)
#define BITWISE(N, T)  \
 ATOMIC(N, _fetch_and) \
 ATOMIC(N, _fetch_or) ATOMIC(N, _fetch_xor) ATOMIC(N, _and) ATOMIC(N, _or) ATOMIC(N, _xor)
#define ROWS                    \
 SHMEM_TYPES_RMA_(PAIRS)        \
 SHMEM_SIZES_(SIZED)            \
 SIZED(mem, 1)                  \
 SHMEM_TYPES_AMO_EXT_(EXTENDED) \
 SHMEM_TYPES_AMO_(STANDARD) SHMEM_TYPES_AMO_BIT_(BITWISE)

typedef void (*routine)(void);
#define ROW(NAME) SH_HIDDEN void sh_at_##NAME(void);
ROWS
#undef ROW
#define ROW(NAME) {(routine)shmem_##NAME, sh_at_##NAME},
    static const struct {
  routine called, ours;
} routines[] = {ROWS};

bool sh_interposed(void) {
  for (size_t i = 0; i < sizeof routines / sizeof routines[0]; i++)
    if (routines[i].called != routines[i].ours) return true;
  return false;
}
