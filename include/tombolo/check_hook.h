/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/check_hook.h: how the checker of `tombolo run --check`, and record and replay, hear of
 * messages.
 *
 * Included by check/runtime, replay/runtime and the library (core/am/am_deliver.c, core/am/gate.c);
 * not by clients. These runtimes stand before the calls of the library, so they see what a program
 * sends; they do not see when a handler runs. Invariant: without them nothing here is called.
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

/* Called before a handler of a client runs, by the thread that would run it; arguments as above.
 * Returns whether the library keeps the message, so that the handler does not run now. */
typedef int (*gexx_gate_fn)(gex_Rank_t from, int reply, const struct gexx_am_msg *msg);

/* Sets that function; NULL: none. Once, after initialisation. */
GEXX_API void gexx_gate_set(gexx_gate_fn fn);

/* Passes the oldest message that is kept from this jobrank to the gate again, which may keep it.
 * [in] reply: not 0: of the replies. Returns whether there was one. Normal context. */
GEXX_API int gexx_gate_release(gex_Rank_t from, int reply);

#ifdef __cplusplus
}
#endif

#endif
