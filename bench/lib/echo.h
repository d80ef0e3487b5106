/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two handlers for benchmarks: a short question, and the answer that it is given at once.
 *
 * Owns: the counters of both. Included by programs that have included gasnetex.h. Calls: the public
 * API. A program puts ECHO_ENTRIES first in its handler table; its own indices begin at H_ECHO_END.
 */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

enum { H_ASK = 200, H_ANSWER, H_ECHO_END };

static volatile uint64_t asked, answered;

static void on_ask(gex_Token_t token) {
  asked++;
  gex_AM_ReplyShort(token, H_ANSWER, 0);
}

static void on_answer(gex_Token_t token) {
  (void)token;
  answered++;
}

#define ECHO_ENTRIES                                                                         \
 {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"}, {    \
  H_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer" \
 }

#endif
