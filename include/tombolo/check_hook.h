/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/check_hook.h: how the checker of `tombolo run --check` hears of messages.
 *
 * Included by check/runtime and by the library (core/am/am_deliver.c); not by clients. The checker
 * stands before the calls of the library, so it sees what a program sends; it does not see when a
 * handler runs. Invariant: without a check nothing here is called.
 */
#ifndef GEXX_CHECK_HOOK_H
#define GEXX_CHECK_HOOK_H

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called before a handler of a client runs, by the thread that runs it. [in] from: jobrank of the
 * sender; reply: not 0 for a reply; msg: handler, nbytes, args, nargs, category. */
typedef void (*gexx_check_handler_fn)(gex_Rank_t from, int reply, const struct gexx_am_msg *msg);

/* Sets that function; NULL: none. Once, after initialisation. */
GEXX_API void gexx_check_handlers(gexx_check_handler_fn fn);

#ifdef __cplusplus
}
#endif

#endif
