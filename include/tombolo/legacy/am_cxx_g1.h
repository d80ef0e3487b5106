/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/legacy/am_cxx_g1.h: the variadic GASNet-1 active-message calls for C++ (API 08.4), as
 * templates.
 *
 * Included by gasnet.h when compiling C++. The explicit argument count is element 0
 * of the array and is checked against the number of arguments by the library. Invariants: at most
 * 16 arguments; every argument is evaluated once.
 */
#ifndef GEXX_AM_CXX_G1_H
#define GEXX_AM_CXX_G1_H

#if __cplusplus < 201103L /* compilers know variadic templates there too, and would warn of each \
                           */
# pragma GCC system_header
#endif

GEXX_CASTS_BEGIN
extern "C++" {

/* C++ form of gasnet_AMRequestShort; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMRequestShort(gasnet_node_t dest, gasnet_handler_t handler, int count,
                                 GexxA... a) {
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)count, (gex_AM_Arg_t)a...};
  return gexx_g1_request(0, dest, handler, NULL, 0, NULL, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gasnet_AMRequestMedium; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMRequestMedium(gasnet_node_t dest, gasnet_handler_t handler, const void *src,
                                  size_t nbytes, int count, GexxA... a) {
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)count, (gex_AM_Arg_t)a...};
  return gexx_g1_request(1, dest, handler, src, nbytes, NULL, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gasnet_AMRequestLong; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMRequestLong(gasnet_node_t dest, gasnet_handler_t handler, const void *src,
                                size_t nbytes, void *to, int count, GexxA... a) {
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)count, (gex_AM_Arg_t)a...};
  return gexx_g1_request(2, dest, handler, src, nbytes, to, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gasnet_AMRequestLongAsync; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMRequestLongAsync(gasnet_node_t dest, gasnet_handler_t handler, const void *src,
                                     size_t nbytes, void *to, int count, GexxA... a) {
  return gasnet_AMRequestLong(dest, handler, src, nbytes, to, count, a...);
}

/* C++ form of gasnet_AMReplyShort; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMReplyShort(gasnet_token_t token, gasnet_handler_t handler, int count,
                               GexxA... a) {
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)count, (gex_AM_Arg_t)a...};
  return gexx_g1_reply(0, token, handler, NULL, 0, NULL, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gasnet_AMReplyMedium; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMReplyMedium(gasnet_token_t token, gasnet_handler_t handler, const void *src,
                                size_t nbytes, int count, GexxA... a) {
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)count, (gex_AM_Arg_t)a...};
  return gexx_g1_reply(1, token, handler, src, nbytes, NULL, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gasnet_AMReplyLong; same contract as the C one (API 08.4). */
template <class... GexxA>
inline int gasnet_AMReplyLong(gasnet_token_t token, gasnet_handler_t handler, const void *src,
                              size_t nbytes, void *to, int count, GexxA... a) {
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)count, (gex_AM_Arg_t)a...};
  return gexx_g1_reply(2, token, handler, src, nbytes, to, (unsigned)sizeof...(GexxA), v);
}

} /* extern "C++" */
GEXX_CASTS_END

/* The names that clients write: macros that cast each argument before it is copied (am_cxx.h). */
#define gasnet_AMRequestShort(dest, handler, ...) \
 gasnet_AMRequestShort(dest, handler, GEXX_CXX(__VA_ARGS__))
#define gasnet_AMRequestMedium(dest, handler, src, nbytes, ...) \
 gasnet_AMRequestMedium(dest, handler, src, nbytes, GEXX_CXX(__VA_ARGS__))
#define gasnet_AMRequestLong(dest, handler, src, nbytes, to, ...) \
 gasnet_AMRequestLong(dest, handler, src, nbytes, to, GEXX_CXX(__VA_ARGS__))
#define gasnet_AMRequestLongAsync(dest, handler, src, nbytes, to, ...) \
 gasnet_AMRequestLongAsync(dest, handler, src, nbytes, to, GEXX_CXX(__VA_ARGS__))
#define gasnet_AMReplyShort(token, handler, ...) \
 gasnet_AMReplyShort(token, handler, GEXX_CXX(__VA_ARGS__))
#define gasnet_AMReplyMedium(token, handler, src, nbytes, ...) \
 gasnet_AMReplyMedium(token, handler, src, nbytes, GEXX_CXX(__VA_ARGS__))
#define gasnet_AMReplyLong(token, handler, src, nbytes, to, ...) \
 gasnet_AMReplyLong(token, handler, src, nbytes, to, GEXX_CXX(__VA_ARGS__))

#endif
