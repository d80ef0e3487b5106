/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of handler-safe locks and no-interrupt sections in debug clients (API 01.9, 08.5, items
 * Dbg). Locks across threads: dbg_threads.c.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static gex_HSL_t a = GEX_HSL_INITIALIZER, b = GEX_HSL_INITIALIZER;

static void recursion(void) {
  gex_HSL_Lock(&a);
  gex_HSL_Lock(&a);
}
static void recursion_try(void) {
  gex_HSL_Lock(&a);
  (void)gex_HSL_Trylock(&a);
}
static void recursion_after_try(void) {
  if (gex_HSL_Trylock(&a) == GASNET_OK) gex_HSL_Lock(&a);
}
static void unlock_free(void) {
  gex_HSL_Unlock(&a);
}
static void unlock_twice(void) {
  gex_HSL_Lock(&a);
  gex_HSL_Unlock(&a);
  gex_HSL_Unlock(&a);
}
static void wrong_order(void) {
  gex_HSL_Lock(&a);
  gex_HSL_Lock(&b);
  gex_HSL_Unlock(&a);
}
static void destroy_held(void) {
  gex_HSL_Lock(&a);
  gex_HSL_Destroy(&a);
}
static void null_lock(void) {
  gex_HSL_Lock(NULL);
}
static void null_init(void) {
  gex_HSL_Init(NULL);
}
static void g1_recursion(void) {
  gasnet_hsl_lock(&a);
  gasnet_hsl_lock(&a);
}
static void unlock_of_outer(gex_Token_t token) {
  (void)token;
  gex_HSL_Unlock(&b);
}
static void handler_unlocks_free(void) {
  dbg_in_request(unlock_of_outer);
}

static void hold_twice(void) {
  gasnet_hold_interrupts();
  gasnet_hold_interrupts();
}
static void resume_only(void) {
  gasnet_resume_interrupts();
}
static void resume_twice(void) {
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gasnet_resume_interrupts();
}

static void poll_held(void) {
  gasnet_hold_interrupts();
  gasnet_AMPoll();
  gasnet_resume_interrupts();
}
static void init_twice(void) {
  gex_HSL_Init(&a);
  gex_HSL_Init(&a);
}
static void init_used(void) {
  gex_HSL_Lock(&b);
  gex_HSL_Unlock(&b);
  gex_HSL_Init(&b);
}
static void destroy_twice(void) {
  gex_HSL_Init(&a);
  gex_HSL_Destroy(&a);
  gex_HSL_Destroy(&a);
}
static void lock_destroyed(void) {
  gex_HSL_Destroy(&a);
  gex_HSL_Lock(&a);
  gex_HSL_Unlock(&a);
}
static void held_long(void) {
  gex_HSL_Lock(&a);
  usleep(1100000);
  gex_HSL_Unlock(&a);
}

static void legal_handler(gex_Token_t token) {
  (void)token;
  gex_HSL_Lock(&a);
  gex_HSL_Lock(&b);
  gex_HSL_Unlock(&b);
  gex_HSL_Unlock(&a);
  gasnet_hold_interrupts();
  gasnet_hold_interrupts(); /* ignored in handlers */
}
static void legal(void) {
  gex_HSL_t own;
  gex_HSL_Init(&own);
  gex_HSL_Lock(&a);
  gex_HSL_Lock(&own);
  gasnet_resume_interrupts(); /* ignored with a lock held */
  gex_HSL_Unlock(&own);
  gex_HSL_Unlock(&a);
  gex_HSL_Destroy(&own);
  gex_HSL_Init(&own);
  gex_HSL_Destroy(&own);
  dbg_in_request(legal_handler);
  gasnet_hold_interrupts();
  gex_HSL_Lock(&a);
  gex_HSL_Unlock(&a);
  gasnet_resume_interrupts();
  gasnet_AMPoll();
}

#define ROW(fn, ...) \
 { #fn, fn, {__VA_ARGS__ }, 0, NULL }

static const struct dbg_case cases[] = {
    ROW(recursion, "gex_HSL_Lock", "0x", "recursive"),
    ROW(recursion_try, "gex_HSL_Trylock", "0x", "recursive"),
    ROW(recursion_after_try, "gex_HSL_Lock", "0x", "recursive"),
    ROW(unlock_free, "gex_HSL_Unlock", "0x", "not held"),
    ROW(unlock_twice, "gex_HSL_Unlock", "0x", "not held"),
    ROW(wrong_order, DBG_WARNS, "gex_HSL_Unlock", "0x", "reverse order"),
    ROW(destroy_held, "gex_HSL_Destroy", "0x", "held"),
    ROW(null_lock, "gex_HSL_Lock", "hsl", "NULL"),
    ROW(null_init, "gex_HSL_Init", "hsl", "NULL"),
    ROW(g1_recursion, "gex_HSL_Lock", "0x", "recursive"),
    ROW(handler_unlocks_free, "gex_HSL_Unlock", "0x", "not held"),
    ROW(hold_twice, DBG_WARNS, "gasnet_hold_interrupts", "nest"),
    ROW(resume_only, DBG_WARNS, "gasnet_resume_interrupts", "gasnet_hold_interrupts"),
    ROW(resume_twice, DBG_WARNS, "gasnet_resume_interrupts", "gasnet_hold_interrupts"),
    ROW(poll_held, DBG_WARNS, "gasnet_AMPoll", "gasnet_hold_interrupts"),
    ROW(init_twice, DBG_WARNS, "gex_HSL_Init", "0x", "initialised already"),
    ROW(init_used, DBG_WARNS, "gex_HSL_Init", "0x", "initialised already"),
    ROW(destroy_twice, DBG_WARNS, "gex_HSL_Destroy", "0x", "has been destroyed"),
    ROW(lock_destroyed, DBG_WARNS, "gex_HSL_Lock", "0x", "has been destroyed"),
    ROW(held_long, DBG_WARNS, "gex_HSL_Unlock", "0x", "held for 1.1 s"),
    ROW(legal, NULL),
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup, cases, sizeof cases / sizeof *cases);
}
