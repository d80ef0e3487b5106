/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/check_hook.h: how the checker of `tombolo run --check`, and record and replay, hear of
 * messages, and of what run-time libraries do without a call.
 *
 * Included by check/runtime, replay/runtime, the library (core/am/am_deliver.c, core/am/gate.c) and
 * the run-time libraries of UPC and OpenSHMEM, Python's, and the headers of C++; not by clients.
 * The checker and replay stand before the calls of the library, so they see what a program sends;
 * they do not see when a handler runs, nor loads and stores that synchronise. Invariant: without
 * them nothing here is called, but for programs compiled with `--check`; the functions gexx_check_*
 * but for the first do nothing in the library, and the checker's stand before them.
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
 * [in] number: of the message, among those that its sender has sent over a network, requests and
 * replies each, from 1; 0: messages have none and come in the order in which they were sent;
 * UINT32_MAX: this one has none. Returns whether the library keeps the message, so that the handler
 * does not run now. Also called behind a handler, and in a poll, with msg NULL and reply
 * GEXX_GATE_...: it may release some. In a poll it returns whether one of this thread has run since
 * the last one. */
enum { GEXX_GATE_RAN = 0, GEXX_GATE_POLLS = -1 };
typedef int (*gexx_gate_fn)(gex_Rank_t from, int reply, const struct gexx_am_msg *msg,
                            uint32_t number);

/* Sets that function; NULL: none. Once, after initialisation. */
GEXX_API void gexx_gate_set(gexx_gate_fn fn);

/* Takes the oldest message that is kept from this jobrank. [in] reply: not 0: of the replies;
 * number: of the message, if it has one; 0: any. Returns NULL if there is none, else what
 * gexx_gate_run needs. Any thread. */
GEXX_API void *gexx_gate_take(gex_Rank_t from, int reply, uint32_t number);

/* Passes a message that was taken to the gate again, which may keep it. Normal context. */
GEXX_API void gexx_gate_run(void *message);

/* Memory of the ranks of a team, or domain, that the checker accesses itself, as the inline forms
 * do without a check: what to add to an address of a rank, [size], or GEXX_UNMAPPED. NULL: each
 * access is to come to the library. Read an entry once for each access. */
GEXX_API const intptr_t *gexx_check_near(gex_TM_t tm);
struct gexx_ad_s;
GEXX_API const intptr_t *gexx_check_near_ad(struct gexx_ad_s *ad);
/* The root event of a new operation that is complete. */
GEXX_API gex_Event_t gexx_check_event(void);
/* So many atomic operations were done without the library: it may poll. Normal context. */
GEXX_API void gexx_check_polls(uint32_t operations);

/* Operations of a run-time library on a word that orders ranks. */
enum { GEXX_CHECK_GIVE = 1, GEXX_CHECK_TAKE = 2 };

/* A word was read or is about to be written: what was done before it was given is before what takes
 * it. [in] rank: whose memory it is, in the job; word: address there; how: GEXX_CHECK_... */
GEXX_API void gexx_check_word(gex_Rank_t rank, const void *word, int how);
/* From here on a put of at most 8 bytes gives to the word that it writes. */
GEXX_API void gexx_check_words(void);
/* Memory of a rank's segment, this one's or another's, is at a second place, where the program uses
 * it. Further calls for one place do nothing. [in] rank: in the job; at: the place, in this
 * process; memory: in the segment, as that rank has it. */
GEXX_API void gexx_check_alias(gex_Rank_t rank, const void *at, size_t bytes, const void *memory);
/* The program is about to read or write memory of a rank's segment, where the compiler cannot say
 * so. [in] rank: in the job; memory: as that rank has it; writes: not 0: a write. */
GEXX_API void gexx_check_access(gex_Rank_t rank, const void *memory, size_t bytes, int writes);
/* The accesses of this thread are a strict one of UPC, until it is called with 0. [in] how:
 * GEXX_CHECK_GIVE for a write, GEXX_CHECK_TAKE for a read. */
GEXX_API void gexx_check_strict(int how);
/* The program has made an object with a run-time library, which this rank is to end, or it holds
 * one; and its end. [in] rank, object: name it in this rank: jobrank and address of what may lie at
 * another rank, 0 and the address of others; what: literal, as "team". */
GEXX_API void gexx_check_made(gex_Rank_t rank, const void *object, const char *what);
GEXX_API void gexx_check_ended(gex_Rank_t rank, const void *object);
/* The program has allocated a block of shared memory, which any rank may free; and its end. [in]
 * rank, block: name it in the job; block: 0: there is none. */
GEXX_API void gexx_check_allocated(gex_Rank_t rank, uintptr_t block);
GEXX_API void gexx_check_freed(gex_Rank_t rank, uintptr_t block);

#ifdef __cplusplus
}
#endif

#endif
