/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of calls that may poll and whose result depends on nothing else, and of strided and
 * tagged transfers, which may be refused.
 *
 * Owns nothing. Each is a row of points.def: a position, in which handlers may run. A wrapper
 * begins with rpl_enter and ends with rpl_leave; the calls of the library that it makes inside have
 * no position.
 */
#include "replay/runtime/rpl.h"

#define PARAMS_0()                              void
#define PARAMS_1(A)                             A a
#define PARAMS_2(A, B)                          A a, B b
#define PARAMS_3(A, B, C)                       A a, B b, C c
#define PARAMS_4(A, B, C, D)                    A a, B b, C c, D d
#define PARAMS_5(A, B, C, D, E)                 A a, B b, C c, D d, E e
#define PARAMS_6(A, B, C, D, E, F)              A a, B b, C c, D d, E e, F f
#define PARAMS_7(A, B, C, D, E, F, G)           A a, B b, C c, D d, E e, F f, G g
#define PARAMS_8(A, B, C, D, E, F, G, H)        A a, B b, C c, D d, E e, F f, G g, H h
#define PARAMS_9(A, B, C, D, E, F, G, H, I)     A a, B b, C c, D d, E e, F f, G g, H h, I i
#define PARAMS_10(A, B, C, D, E, F, G, H, I, J) A a, B b, C c, D d, E e, F f, G g, H h, I i, J j
#define ARGS_0
#define ARGS_1  a
#define ARGS_2  a, b
#define ARGS_3  a, b, c
#define ARGS_4  a, b, c, d
#define ARGS_5  a, b, c, d, e
#define ARGS_6  a, b, c, d, e, f
#define ARGS_7  a, b, c, d, e, f, g
#define ARGS_8  a, b, c, d, e, f, g, h
#define ARGS_9  a, b, c, d, e, f, g, h, i
#define ARGS_10 a, b, c, d, e, f, g, h, i, j

#define RPL_POINT(n, ret, name, ...) \
 ret name(PARAMS_##n(__VA_ARGS__)) { \
  RPL_ENTER(name);                   \
  (void)outer;                       \
  return rpl_real.name(ARGS_##n);    \
 }

/* The result of a call that is refused, by its type; and the flags, the last parameter. */
#define REFUSED_int         1
#define REFUSED_gex_Event_t GEX_EVENT_NO_OP
#define FLAGS_7             g
#define FLAGS_8             h
#define FLAGS_9             i
#define FLAGS_10            j

#define RPL_TRANSFER(n, ret, category, name, ...)             \
 ret name(PARAMS_##n(__VA_ARGS__)) {                          \
  RPL_ENTER(name);                                            \
  const gex_Flags_t asked = FLAGS_##n;                        \
  if (outer && rpl_refused(&FLAGS_##n)) return REFUSED_##ret; \
  if (outer) rpl_own->nbi |= (category);                      \
  const ret result = rpl_real.name(ARGS_##n);                 \
  if (outer) rpl_answered(asked, result != REFUSED_##ret);    \
  return result;                                              \
 }
#define RPL_OTHER(name)
#include "replay/runtime/points.def"
