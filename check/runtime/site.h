/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of the program.
 *
 * Owns: the declarations of site.c. Included by chk.h. Calls nothing. Invariant: a site is a line
 * for the whole job.
 */
#ifndef TMB_CHK_SITE_H
#define TMB_CHK_SITE_H

#include "check/runtime/state.h"

#define CHK_KNOWN   4096u /* return addresses at hand; power of two */
#define CHK_RUNTIME UINT32_MAX

extern struct chk_known {
  const void *pc;
  const char *call;
  uint32_t site;  /* CHK_RUNTIME: in a run-time library; 0: not known yet */
  uint64_t epoch; /* of its accesses, where all are alike, see epoch.c; 0: not known */
} chk_known[CHK_KNOWN];

static inline uint32_t chk_known_place(const void *pc) {
  _Static_assert(CHK_KNOWN == 1 << (64 - 52), "as the shift");
  return (uint32_t)((uintptr_t)pc * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* The site of a call of the library. in call: name of the call, a literal; pc: return address of
 * the wrapper. Where that is in a run-time library of ours, the site is the program's call of that
 * library. */
uint32_t chk_site_find(const char *call, const void *pc);

static inline uint32_t chk_site(const char *call, const void *pc) {
  const struct chk_known *const k = &chk_known[chk_known_place(pc)];
  const bool found = k->pc == pc && k->call == call && k->site - 1 < CHK_RUNTIME - 1;
  return CHK_LIKELY(found) ? k->site : chk_site_find(call, pc);
}

/* Whether each call with this return address has this site. */
static inline bool chk_site_stays(const void *pc, uint32_t site) {
  const struct chk_known *const k = &chk_known[chk_known_place(pc)];
  return k->pc == pc && k->site == site;
}

/* This thread is in a call that has recorded all that it does; its library calls others itself. */
extern _Thread_local CHK_FAST bool chk_within;
/* Whether a call with this return address is one of those, and no handler's. */
bool chk_inner_of(const void *pc);

static inline bool chk_inner(const void *pc) {
  return CHK_UNLIKELY(chk_within) && chk_inner_of(pc);
}

/* Whether a return address is in the library or a run-time library: the call is its own. */
bool chk_of_library(const void *pc);
/* Text in the area. */
uint32_t chk_name(const char *text);

#define CHK_SITE(call) chk_site(call, __builtin_return_address(0))

#endif
