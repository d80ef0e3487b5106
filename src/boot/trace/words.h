/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and words of the events of a trace.
 *
 * Owns: declarations of words.c. Called by write.c. Calls: set.h. Invariants: names and categories
 * are those of docs/TRACE_FORMAT.md; a text that does not fit is cut.
 */
#ifndef TMB_BOOT_TRACE_WORDS_H
#define TMB_BOOT_TRACE_WORDS_H

#include "boot/trace/set.h"

#define TMB_TRACE_WORDS_BYTES 256

/* Category and name of an item. in buf: [TMB_TRACE_WORDS_BYTES], where a name may be put together.
 */
const char *tmb_trace_category(const struct tmb_trace_item *item);
const char *tmb_trace_title(const struct tmb_trace_set *set, const struct tmb_trace_item *item,
                            char *buf);

/* Purpose of a wait, in one word, and in words for people. */
const char *tmb_trace_wait_kind(const struct tmb_trace_event *wait);
void tmb_trace_waited_for(const struct tmb_trace_set *set, const struct tmb_trace_item *item,
                          char *buf);

/* Names of the ranks of the job: "rank", "image". */
const char *tmb_trace_member(const struct tmb_trace_set *set);

#endif
