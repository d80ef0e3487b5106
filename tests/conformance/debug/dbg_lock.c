/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of handler-safe locks and no-interrupt sections in debug clients (API 01.9, 08.5, items
 * Dbg). Locks across threads: dbg_threads.c.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

static gex_HSL_t a = GEX_HSL_INITIALIZER, b = GEX_HSL_INITIALIZER;

DBG_CASE(recursion, "gex_HSL_Lock", "0x", "recursive") {
  gex_HSL_Lock(&a);
  gex_HSL_Lock(&a);
}
DBG_CASE(recursion_try, "gex_HSL_Trylock", "0x", "recursive") {
  gex_HSL_Lock(&a);
  (void)gex_HSL_Trylock(&a);
}
DBG_CASE(recursion_after_try, "gex_HSL_Lock", "0x", "recursive") {
  if (gex_HSL_Trylock(&a) == GASNET_OK) gex_HSL_Lock(&a);
}
DBG_CASE(unlock_free, "gex_HSL_Unlock", "0x", "not held") {
  gex_HSL_Unlock(&a);
}
DBG_CASE(unlock_twice, "gex_HSL_Unlock", "0x", "not held") {
  gex_HSL_Lock(&a);
  gex_HSL_Unlock(&a);
  gex_HSL_Unlock(&a);
}
DBG_CASE(wrong_order, DBG_WARNS, "gex_HSL_Unlock", "0x", "reverse order") {
  gex_HSL_Lock(&a);
  gex_HSL_Lock(&b);
  gex_HSL_Unlock(&a);
}
DBG_CASE(destroy_held, "gex_HSL_Destroy", "0x", "held") {
  gex_HSL_Lock(&a);
  gex_HSL_Destroy(&a);
}
DBG_CASE(null_lock, "gex_HSL_Lock", "hsl", "NULL") {
  gex_HSL_Lock(NULL);
}
DBG_CASE(null_init, "gex_HSL_Init", "hsl", "NULL") {
  gex_HSL_Init(NULL);
}
DBG_CASE(g1_recursion, "gex_HSL_Lock", "0x", "recursive") {
  gasnet_hsl_lock(&a);
  gasnet_hsl_lock(&a);
}
static void unlock_of_outer(gex_Token_t token) {
  (void)token;
  gex_HSL_Unlock(&b);
}
DBG_CASE(handler_unlocks_free, "gex_HSL_Unlock", "0x", "not held") {
  dbg_in_request(unlock_of_outer);
}

DBG_CASE(hold_twice, DBG_WARNS, "gasnet_hold_interrupts", "nest") {
  gasnet_hold_interrupts();
  gasnet_hold_interrupts();
}
DBG_CASE(resume_only, DBG_WARNS, "gasnet_resume_interrupts", "gasnet_hold_interrupts") {
  gasnet_resume_interrupts();
}
DBG_CASE(resume_twice, DBG_WARNS, "gasnet_resume_interrupts", "gasnet_hold_interrupts") {
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gasnet_resume_interrupts();
}

DBG_CASE(poll_held, DBG_WARNS, "gasnet_AMPoll", "gasnet_hold_interrupts") {
  gasnet_hold_interrupts();
  gasnet_AMPoll();
  gasnet_resume_interrupts();
}
DBG_CASE(init_twice, DBG_WARNS, "gex_HSL_Init", "0x", "initialised already") {
  gex_HSL_Init(&a);
  gex_HSL_Init(&a);
}
DBG_CASE(init_used, DBG_WARNS, "gex_HSL_Init", "0x", "initialised already") {
  gex_HSL_Lock(&b);
  gex_HSL_Unlock(&b);
  gex_HSL_Init(&b);
}
DBG_CASE(destroy_twice, DBG_WARNS, "gex_HSL_Destroy", "0x", "has been destroyed") {
  gex_HSL_Init(&a);
  gex_HSL_Destroy(&a);
  gex_HSL_Destroy(&a);
}
DBG_CASE(lock_destroyed, DBG_WARNS, "gex_HSL_Lock", "0x", "has been destroyed") {
  gex_HSL_Destroy(&a);
  gex_HSL_Lock(&a);
  gex_HSL_Unlock(&a);
}
DBG_CASE(held_long, DBG_WARNS, "gex_HSL_Unlock", "0x", "held for 1.1 s") {
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
DBG_CASE(legal, NULL) {
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

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
