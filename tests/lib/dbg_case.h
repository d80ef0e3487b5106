/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse cases: each runs in a process of its own, which must die of SIGABRT after a message that
 * names the function, the argument and the value.
 *
 * The program calls itself once for each case, `<program> --case NAME`; that child is a job of its
 * own (1 rank unless the case says more) and never inherits the launcher's variables. A case with
 * no expected words is a control: it must not be reported and must end with code 0. A case whose
 * first word is DBG_WARNS or DBG_REFUSED must print its words and end with code 0; one whose first
 * word is DBG_SETTING must end with the code of wrong settings, 2.
 * Use: DBG_CASE(name, words...) { misuse }, for each case; int main(...) { return dbg_main(...); }
 */
#ifndef TMB_TEST_DBG_CASE_H
#define TMB_TEST_DBG_CASE_H

#include <gasnet.h>
#include <unistd.h>

enum { DBG_WORDS_MAX = 6, DBG_SURVIVED = 42 };
#define DBG_WARNS   "warning: "
#define DBG_REFUSED " returns GASNET_ERR_"
#define DBG_SETTING "setting "

struct dbg_case {
  const char *name;
  void (*run)(void);                /* commits the misuse; should not return */
  const char *words[DBG_WORDS_MAX]; /* all must be in the message; none: a control */
  int ranks;                        /* of the child's job */
  const char *env;                  /* "NAME=VALUE" for the child, or NULL */
  struct dbg_case *next;            /* of dbg_add */
};

/* A case: the words that its output must have; behind the macro, the body that commits the misuse.
 * Cases run in the order of the file. */
#define DBG_CASE(fn, ...) DBG_CASE_WITH(fn, 1, NULL, __VA_ARGS__)
/* On more ranks, or with a setting of the child. */
#define DBG_CASE_WITH(fn, ranks, env, ...)    \
 static void fn(void);                        \
 DBG_CASE_AS(fn, fn, ranks, env, __VA_ARGS__) \
 static void fn(void)
/* Another case with the body of `fn`. */
#define DBG_CASE_AS(id, fn, ranks, env, ...) DBG_CASE_NAMED(#id, id, fn, ranks, env, __VA_ARGS__)
#define DBG_CASE_NAMED(name, id, fn, ranks, env, ...)                            \
 static struct dbg_case id##_case = {name, fn, {__VA_ARGS__}, ranks, env, NULL}; \
 __attribute__((constructor)) static void id##_add(void) {                       \
  dbg_add(&id##_case);                                                           \
 }
/* Adds a case that the program makes itself. */
void dbg_add(struct dbg_case *c);

/* Runs all cases, or with `--case NAME` that one in this process. Returns the exit code of main.
 * in setup: run in the child before the case. */
int dbg_main(int argc, char **argv, void (*setup)(int *argc, char ***argv));

/* ---- for cases: the job that dbg_setup makes, 4 pages of segment on each rank */
struct dbg_job {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t seg;
  gex_Rank_t rank, size;
  char *base; /* own segment */
};
extern struct dbg_job dbg;
enum { DBG_SEG_BYTES = 4 * GASNET_PAGESIZE };

/* Client_Init with GEX_FLAG_USES_GASNET1, attach, barrier. */
void dbg_setup(int *argc, char ***argv);
/* Setup without a segment. */
void dbg_setup_no_segment(int *argc, char ***argv);
/* Nothing: the case initialises, or misuses the library before that. */
void dbg_setup_none(int *argc, char ***argv);
/* argc and argv of main, for cases that initialise. */
extern int *dbg_argc;
extern char ***dbg_argv;

/* Registers a handler at an index that the library chooses, which is returned. */
gex_AM_Index_t dbg_handler(gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs);

/* Runs `fn` inside a request handler, or in the handler of its reply, on this rank. */
void dbg_in_request(void (*fn)(gex_Token_t token));
void dbg_in_reply(void (*fn)(gex_Token_t token));

/* A put to this rank that is not complete: needs DBG_UNMAPPED as its setting. */
#define DBG_UNMAPPED "TOMBOLO_TEST_SHM_MAP=0"
gex_Event_t dbg_live_event(gex_Event_t *lc_opt);

#endif
