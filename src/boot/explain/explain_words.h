/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks, teams and waits in words.
 *
 * Owns: declarations of explain_words.c. Called by explain_text.c. Calls: explain. Invariants: a
 * rank has the name of the program's language: rank 0, image 1, thread 0; the number of a team
 * member is never its number in the team.
 */
#ifndef TMB_BOOT_EXPLAIN_WORDS_H
#define TMB_BOOT_EXPLAIN_WORDS_H

#include "boot/explain/explain.h"

#define TMB_WORDS_BYTES 768
#define TMB_WORDS_NAME  (TMB_CTL_HOST_BYTES + 32) /* of a rank with its host */

/* List the marked ranks, as "ranks 0-2, 5" or "image 3". Returns buf. */
const char *tmb_words_ranks(const struct tmb_snapshot *s, const uint8_t *mark, char *buf,
                            size_t bytes);

/* Name of a rank, as "rank 3", or "rank 3 on b" in a job on several hosts. Returns buf. */
const char *tmb_words_name(const struct tmb_snapshot *s, uint32_t rank, char *buf, size_t bytes);

/* Whether the wait is for a call that all members of a team make. */
bool tmb_words_is_call(const struct tmb_status_wait *w);

/* Name of a collective call, as "barrier 3 of all ranks". */
void tmb_words_call(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                    char *buf, size_t bytes);

/* Purpose of a thread's wait. */
void tmb_words_wait(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                    char *buf, size_t bytes);

#endif
