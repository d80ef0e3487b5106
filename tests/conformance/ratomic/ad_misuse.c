/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of atomic domains in debug clients (API 05.3, 05.4, items Dbg): creation, handles,
 * opcodes, types, ranks, promises, addresses, results, context.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

#define NB "gex_AD_OpNB_U64"

#include <gasnet_ratomic.h>

static gex_AD_t make(gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, dbg.tm, dt, ops, flags);
  return ad;
}

static gex_AD_t usual(void) {
  return make(GEX_DT_U64, GEX_OP_FADD | GEX_OP_ADD | GEX_OP_GET, 0);
}

static uint64_t result;

/* One operation on a usual domain. */
static void operate(gex_Rank_t rank, void *addr, gex_OP_t op, uint64_t *result_p,
                    gex_Flags_t flags) {
  gex_Event_Wait(gex_AD_OpNB_U64(usual(), result_p, rank, addr, op, 1, 0, flags));
}

DBG_CASE(create_null, "gex_AD_Create", "ad_p", "NULL") {
  gex_AD_Create(NULL, dbg.tm, GEX_DT_U64, GEX_OP_ADD, 0);
}
DBG_CASE(create_pair, "gex_AD_Create", "tm", "TM-pair") {
  gex_AD_t ad;
  gex_AD_Create(&ad, gex_TM_Pair(dbg.ep, 0), GEX_DT_U64, GEX_OP_ADD, 0);
}
DBG_CASE(create_user, "gex_AD_Create", "dt", "0x40") {
  (void)make(GEX_DT_USER, GEX_OP_ADD, 0);
}
DBG_CASE(create_two_types, "gex_AD_Create", "dt", "0xc") {
  (void)make(GEX_DT_U64 | GEX_DT_I64, GEX_OP_ADD, 0);
}
DBG_CASE(create_no_ops, "gex_AD_Create", "ops", "0x0") {
  (void)make(GEX_DT_U64, 0, 0);
}
DBG_CASE(create_user_op, "gex_AD_Create", "ops", "0x1008") {
  (void)make(GEX_DT_U64, GEX_OP_ADD | GEX_OP_USER, 0);
}
DBG_CASE(create_real_and, "gex_AD_Create", "ops", "integers") {
  (void)make(GEX_DT_DBL, GEX_OP_ADD | GEX_OP_FAND, 0);
}
DBG_CASE(create_flags, DBG_WARNS, "gex_AD_Create", "flags", "0x10") {
  (void)make(GEX_DT_U64, GEX_OP_ADD, GEX_FLAG_AD_MY_RANK);
}
DBG_CASE(create_two_hints, "gex_AD_Create", "flags", "FAVOR") {
  (void)make(GEX_DT_U64, GEX_OP_ADD, GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_REMOTE);
}
DBG_CASE_WITH(create_unequal, 2, NULL, "gex_AD_Create", "ops", "same on all ranks") {
  (void)make(GEX_DT_U64, dbg.rank ? GEX_OP_ADD : GEX_OP_SUB, 0);
}
static void create_in_handler_body(gex_Token_t token) {
  (void)token;
  (void)usual();
}
DBG_CASE(create_in_handler, "gex_AD_Create", "handler") {
  dbg_in_request(create_in_handler_body);
}
DBG_CASE(destroy_invalid, "gex_AD_Destroy", "ad", "INVALID") {
  gex_AD_Destroy(GEX_AD_INVALID);
}
DBG_CASE(destroy_twice, "gex_AD_Destroy", "ad", "not the handle") {
  const gex_AD_t ad = usual();
  gex_AD_Destroy(ad);
  gex_AD_Destroy(ad);
}
DBG_CASE(query_invalid, "gex_AD_QueryDT", "ad", "INVALID") {
  (void)gex_AD_QueryDT(GEX_AD_INVALID);
}
DBG_CASE(op_invalid, "gex_AD_OpNBI_DBL", "ad", "INVALID") {
  (void)gex_AD_OpNBI_DBL(GEX_AD_INVALID, NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
DBG_CASE(op_stale, "gex_AD_OpNBI_U64", "ad", "not the handle") {
  const gex_AD_t ad = usual();
  gex_AD_Destroy(ad);
  (void)gex_AD_OpNBI_U64(ad, NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
DBG_CASE(op_type, "gex_AD_OpNBI_I64", "data type 0x8", "0x4") {
  (void)gex_AD_OpNBI_I64(usual(), NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
DBG_CASE(op_two, NB, "opcode", "0x80008") {
  operate(0, dbg.base, GEX_OP_ADD | GEX_OP_FADD, &result, 0);
}
DBG_CASE(op_unknown, NB, "opcode", "0x10") {
  operate(0, dbg.base, GEX_OP_SUB, &result, 0);
}
DBG_CASE(op_rank, NB, "rank is 7") {
  operate(7, dbg.base, GEX_OP_ADD, NULL, 0);
}
DBG_CASE(op_jobrank, NB, "tgt_rank is 7") {
  operate(7, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_RANK_IS_JOBRANK);
}
DBG_CASE_WITH(op_not_member, 2, NULL, "gex_AD_OpNBI_U32", "tgt_rank", "no member") {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_AD_t ad;
  (void)gex_TM_Split(&tm, dbg.tm, (int)dbg.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_AD_Create(&ad, tm, GEX_DT_U32, GEX_OP_INC, 0);
  (void)gex_AD_OpNBI_U32(ad, NULL, 1 - dbg.rank, dbg.base, GEX_OP_INC, 0, 0,
                         GEX_FLAG_RANK_IS_JOBRANK);
}
DBG_CASE(op_flags, DBG_WARNS, NB, "flags", "0x40000000") {
  operate(0, dbg.base, GEX_OP_ADD, NULL, 1u << 30);
}
DBG_CASE(op_both_my, NB, "flags", "exclude") {
  operate(0, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD);
}
DBG_CASE_WITH(op_my_rank, 2, NULL, NB, "flags", "promises", "caller") {
  operate(1 - dbg.rank, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_RANK);
}
DBG_CASE_WITH(op_my_nbrhd, 2, "TOMBOLO_TEST_SHM=0", NB, "flags", "neighbourhood") {
  operate(1 - dbg.rank, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_NBRHD);
}
DBG_CASE(op_misaligned, NB, "tgt_addr", "aligned to 8") {
  operate(0, dbg.base + 4, GEX_OP_ADD, NULL, 0);
}
DBG_CASE(op_outside, NB, "tgt_addr", "outside the segment") {
  operate(0, dbg.base + DBG_SEG_BYTES, GEX_OP_ADD, NULL, 0);
}
DBG_CASE(op_offset, NB, "tgt_addr", "outside the segment") {
  operate(0, (void *)(uintptr_t)DBG_SEG_BYTES, GEX_OP_ADD, NULL, GEX_FLAG_PEER_SEG_OFFSET);
}
DBG_CASE(op_null_result, NB, "result_p", "NULL") {
  operate(0, dbg.base, GEX_OP_FADD, NULL, 0);
}
DBG_CASE(op_result_offset, NB, "result_p", "outside the segment") {
  operate(0, dbg.base, GEX_OP_FADD, (uint64_t *)(uintptr_t)DBG_SEG_BYTES, GEX_FLAG_SELF_SEG_OFFSET);
}
DBG_CASE(op_lock, "gex_AD_OpNBI_U64", "lock") {
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  const gex_AD_t ad = usual();
  gex_HSL_Lock(&lock);
  (void)gex_AD_OpNBI_U64(ad, NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
DBG_CASE(op_synced_twice, "gex_Event_Wait", "synchronised before") {
  const gex_Event_t event = gex_AD_OpNB_U64(usual(), NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
DBG_CASE(legal, NULL) {
  operate(dbg.rank, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_RANK);
  operate(dbg.rank, dbg.base + DBG_SEG_BYTES - 8, GEX_OP_FADD, &result,
          GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
  operate(0, NULL, GEX_OP_GET, &result, GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_AD_MY_NBRHD);
  gex_AD_Destroy(make(GEX_DT_FLT, GEX_OP_FCAS, GEX_FLAG_AD_FAVOR_MY_RANK));
}

DBG_CASE_AS(op_synced_twice_far, op_synced_twice, 1, DBG_UNMAPPED, "gex_Event_Wait",
            "synchronised before")
DBG_CASE_AS(legal_far, legal, 2, DBG_UNMAPPED, NULL)

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup);
}
