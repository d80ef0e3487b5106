/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/am/am_cxx.h: the unsuffixed active-message calls for C++ (API 02), as variadic templates.
 *
 * Included by inline_am.h when compiling C++. Each template packs its trailing
 * arguments into an array, each cast to gex_AM_Arg_t (commits: to 64 bits), and calls the same
 * inline that the C macros call. A macro of the same name casts the arguments before (am_each.h).
 * Invariants: at most 16 arguments, checked at compile time; every argument is evaluated once;
 * usable even when a client wraps the headers in extern "C"; no name of one letter, because clients
 * define such macros.
 */
#ifndef GEXX_AM_CXX_H
#define GEXX_AM_CXX_H

#if __cplusplus >= 201103L
# define GEXX_AT_MOST_16(pack) \
  static_assert(sizeof...(pack) <= 16, "an active message takes at most 16 arguments")
#else
/* Compilers know variadic templates in C++98 too, and would warn of each. */
# pragma GCC system_header
# define GEXX_AT_MOST_16(pack) \
  typedef char gexx_at_most_16_arguments[sizeof...(pack) <= 16 ? 1 : -1] __attribute__((unused))
#endif

GEXX_CASTS_BEGIN
extern "C++" {

/* C++ form of gex_AM_RequestShort; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_RequestShort(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                               gex_Flags_t flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)flags, (gex_AM_Arg_t)a...};
  return gexx_am_req_short(tm, rank, handler, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gex_AM_RequestMedium; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_RequestMedium(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler,
                                const void *src, size_t nbytes, gex_Event_t *lc_opt,
                                gex_Flags_t flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)flags, (gex_AM_Arg_t)a...};
  return gexx_am_req_medium(tm, rank, handler, src, nbytes, lc_opt, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gex_AM_RequestLong; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_RequestLong(gex_TM_t tm, gex_Rank_t rank, gex_AM_Index_t handler, const void *src,
                              size_t nbytes, void *dest_addr, gex_Event_t *lc_opt,
                              gex_Flags_t flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)flags, (gex_AM_Arg_t)a...};
  return gexx_am_req_long(tm, rank, handler, src, nbytes, dest_addr, lc_opt,
                          (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gex_AM_ReplyShort; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_ReplyShort(gex_Token_t token, gex_AM_Index_t handler, gex_Flags_t flags,
                             GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)flags, (gex_AM_Arg_t)a...};
  return gexx_am_rep_short(token, handler, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gex_AM_ReplyMedium; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_ReplyMedium(gex_Token_t token, gex_AM_Index_t handler, const void *src,
                              size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)flags, (gex_AM_Arg_t)a...};
  return gexx_am_rep_medium(token, handler, src, nbytes, lc_opt, (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gex_AM_ReplyLong; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_ReplyLong(gex_Token_t token, gex_AM_Index_t handler, const void *src,
                            size_t nbytes, void *dest_addr, gex_Event_t *lc_opt, gex_Flags_t flags,
                            GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const gex_AM_Arg_t v[] = {(gex_AM_Arg_t)flags, (gex_AM_Arg_t)a...};
  return gexx_am_rep_long(token, handler, src, nbytes, dest_addr, lc_opt,
                          (unsigned)sizeof...(GexxA), v);
}

/* C++ form of gex_AM_CommitRequestMedium; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline void gex_AM_CommitRequestMedium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                       GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)a...};
  (void)gexx_am_com(sd, handler, 0, (unsigned)sizeof...(GexxA) + 1, v);
}

/* C++ form of gex_AM_CommitReplyMedium; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline void gex_AM_CommitReplyMedium(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                     GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)a...};
  (void)gexx_am_com(sd, handler, 1, (unsigned)sizeof...(GexxA) + 1, v);
}

/* C++ form of gex_AM_CommitRequestLong; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline void gex_AM_CommitRequestLong(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                     void *dest_addr, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)(uintptr_t)dest_addr, (uint64_t)a...};
  (void)gexx_am_com(sd, handler, 2, (unsigned)sizeof...(GexxA) + 2, v);
}

/* C++ form of gex_AM_CommitReplyLong; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline void gex_AM_CommitReplyLong(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                   void *dest_addr, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)(uintptr_t)dest_addr, (uint64_t)a...};
  (void)gexx_am_com(sd, handler, 3, (unsigned)sizeof...(GexxA) + 2, v);
}

/* C++ form of gex_AM_CommitRequestMedium_v2; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_CommitRequestMedium_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                         gex_Flags_t commit_flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)commit_flags, (uint64_t)a...};
  return gexx_am_com(sd, handler, 4, (unsigned)sizeof...(GexxA) + 2, v);
}

/* C++ form of gex_AM_CommitReplyMedium_v2; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_CommitReplyMedium_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                       gex_Flags_t commit_flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)commit_flags, (uint64_t)a...};
  return gexx_am_com(sd, handler, 5, (unsigned)sizeof...(GexxA) + 2, v);
}

/* C++ form of gex_AM_CommitRequestLong_v2; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_CommitRequestLong_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                       void *dest_addr, gex_Flags_t commit_flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)(uintptr_t)dest_addr, (uint64_t)commit_flags,
                        (uint64_t)a...};
  return gexx_am_com(sd, handler, 6, (unsigned)sizeof...(GexxA) + 3, v);
}

/* C++ form of gex_AM_CommitReplyLong_v2; same contract as the C one (API 02.3, 02.5). */
template <class... GexxA>
inline int gex_AM_CommitReplyLong_v2(gex_AM_SrcDesc_t sd, gex_AM_Index_t handler, size_t nbytes,
                                     void *dest_addr, gex_Flags_t commit_flags, GexxA... a) {
  GEXX_AT_MOST_16(GexxA);
  const uint64_t v[] = {(uint64_t)nbytes, (uint64_t)(uintptr_t)dest_addr, (uint64_t)commit_flags,
                        (uint64_t)a...};
  return gexx_am_com(sd, handler, 7, (unsigned)sizeof...(GexxA) + 3, v);
}

} /* extern "C++" */
GEXX_CASTS_END

/* The names that clients write: macros, as in C, that cast each argument before it is copied. */
#define GEXX_CXX(...) GEXX_TAIL(gex_AM_Arg_t, __VA_ARGS__)
#define gex_AM_RequestShort(tm, rank, handler, ...) \
 gex_AM_RequestShort(tm, rank, handler, GEXX_CXX(__VA_ARGS__))
#define gex_AM_RequestMedium(tm, rank, handler, src, nbytes, lc_opt, ...) \
 gex_AM_RequestMedium(tm, rank, handler, src, nbytes, lc_opt, GEXX_CXX(__VA_ARGS__))
#define gex_AM_RequestLong(tm, rank, handler, src, nbytes, dest_addr, lc_opt, ...) \
 gex_AM_RequestLong(tm, rank, handler, src, nbytes, dest_addr, lc_opt, GEXX_CXX(__VA_ARGS__))
#define gex_AM_ReplyShort(token, handler, ...) \
 gex_AM_ReplyShort(token, handler, GEXX_CXX(__VA_ARGS__))
#define gex_AM_ReplyMedium(token, handler, src, nbytes, lc_opt, ...) \
 gex_AM_ReplyMedium(token, handler, src, nbytes, lc_opt, GEXX_CXX(__VA_ARGS__))
#define gex_AM_ReplyLong(token, handler, src, nbytes, dest_addr, lc_opt, ...) \
 gex_AM_ReplyLong(token, handler, src, nbytes, dest_addr, lc_opt, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitRequestMedium(sd, handler, ...) \
 gex_AM_CommitRequestMedium(sd, handler, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitReplyMedium(sd, handler, ...) \
 gex_AM_CommitReplyMedium(sd, handler, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitRequestLong(sd, handler, nbytes, ...) \
 gex_AM_CommitRequestLong(sd, handler, nbytes, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitReplyLong(sd, handler, nbytes, ...) \
 gex_AM_CommitReplyLong(sd, handler, nbytes, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitRequestMedium_v2(sd, handler, nbytes, ...) \
 gex_AM_CommitRequestMedium_v2(sd, handler, nbytes, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitReplyMedium_v2(sd, handler, nbytes, ...) \
 gex_AM_CommitReplyMedium_v2(sd, handler, nbytes, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitRequestLong_v2(sd, handler, nbytes, dest_addr, ...) \
 gex_AM_CommitRequestLong_v2(sd, handler, nbytes, dest_addr, GEXX_CXX(__VA_ARGS__))
#define gex_AM_CommitReplyLong_v2(sd, handler, nbytes, dest_addr, ...) \
 gex_AM_CommitReplyLong_v2(sd, handler, nbytes, dest_addr, GEXX_CXX(__VA_ARGS__))

#endif
