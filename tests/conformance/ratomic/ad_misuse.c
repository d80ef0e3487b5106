/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse of atomic domains in debug clients (API 05.3, 05.4, items Dbg): creation, handles,
 * opcodes, types, ranks, promises, addresses, results, context.
 */
/* ranks: 1 */
/* debug: yes */
#include "dbg_case.h"

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

static void create_null(void) {
  gex_AD_Create(NULL, dbg.tm, GEX_DT_U64, GEX_OP_ADD, 0);
}
static void create_pair(void) {
  gex_AD_t ad;
  gex_AD_Create(&ad, gex_TM_Pair(dbg.ep, 0), GEX_DT_U64, GEX_OP_ADD, 0);
}
static void create_user(void) {
  (void)make(GEX_DT_USER, GEX_OP_ADD, 0);
}
static void create_two_types(void) {
  (void)make(GEX_DT_U64 | GEX_DT_I64, GEX_OP_ADD, 0);
}
static void create_no_ops(void) {
  (void)make(GEX_DT_U64, 0, 0);
}
static void create_user_op(void) {
  (void)make(GEX_DT_U64, GEX_OP_ADD | GEX_OP_USER, 0);
}
static void create_real_and(void) {
  (void)make(GEX_DT_DBL, GEX_OP_ADD | GEX_OP_FAND, 0);
}
static void create_flags(void) {
  (void)make(GEX_DT_U64, GEX_OP_ADD, GEX_FLAG_AD_MY_RANK);
}
static void create_two_hints(void) {
  (void)make(GEX_DT_U64, GEX_OP_ADD, GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_REMOTE);
}
static void create_unequal(void) {
  (void)make(GEX_DT_U64, dbg.rank ? GEX_OP_ADD : GEX_OP_SUB, 0);
}
static void create_in_handler_body(gex_Token_t token) {
  (void)token;
  (void)usual();
}
static void create_in_handler(void) {
  dbg_in_request(create_in_handler_body);
}
static void destroy_invalid(void) {
  gex_AD_Destroy(GEX_AD_INVALID);
}
static void destroy_twice(void) {
  const gex_AD_t ad = usual();
  gex_AD_Destroy(ad);
  gex_AD_Destroy(ad);
}
static void query_invalid(void) {
  (void)gex_AD_QueryDT(GEX_AD_INVALID);
}
static void op_invalid(void) {
  (void)gex_AD_OpNBI_DBL(GEX_AD_INVALID, NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
static void op_stale(void) {
  const gex_AD_t ad = usual();
  gex_AD_Destroy(ad);
  (void)gex_AD_OpNBI_U64(ad, NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
static void op_type(void) {
  (void)gex_AD_OpNBI_I64(usual(), NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
static void op_two(void) {
  operate(0, dbg.base, GEX_OP_ADD | GEX_OP_FADD, &result, 0);
}
static void op_unknown(void) {
  operate(0, dbg.base, GEX_OP_SUB, &result, 0);
}
static void op_rank(void) {
  operate(7, dbg.base, GEX_OP_ADD, NULL, 0);
}
static void op_jobrank(void) {
  operate(7, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_RANK_IS_JOBRANK);
}
static void op_not_member(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_AD_t ad;
  (void)gex_TM_Split(&tm, dbg.tm, (int)dbg.rank, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_AD_Create(&ad, tm, GEX_DT_U32, GEX_OP_INC, 0);
  (void)gex_AD_OpNBI_U32(ad, NULL, 1 - dbg.rank, dbg.base, GEX_OP_INC, 0, 0,
                         GEX_FLAG_RANK_IS_JOBRANK);
}
static void op_flags(void) {
  operate(0, dbg.base, GEX_OP_ADD, NULL, 1u << 30);
}
static void op_both_my(void) {
  operate(0, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD);
}
static void op_my_rank(void) {
  operate(1 - dbg.rank, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_RANK);
}
static void op_my_nbrhd(void) {
  operate(1 - dbg.rank, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_NBRHD);
}
static void op_misaligned(void) {
  operate(0, dbg.base + 4, GEX_OP_ADD, NULL, 0);
}
static void op_outside(void) {
  operate(0, dbg.base + DBG_SEG_BYTES, GEX_OP_ADD, NULL, 0);
}
static void op_offset(void) {
  operate(0, (void *)(uintptr_t)DBG_SEG_BYTES, GEX_OP_ADD, NULL, GEX_FLAG_PEER_SEG_OFFSET);
}
static void op_null_result(void) {
  operate(0, dbg.base, GEX_OP_FADD, NULL, 0);
}
static void op_result_offset(void) {
  operate(0, dbg.base, GEX_OP_FADD, (uint64_t *)(uintptr_t)DBG_SEG_BYTES, GEX_FLAG_SELF_SEG_OFFSET);
}
static void op_lock(void) {
  gex_HSL_t lock = GEX_HSL_INITIALIZER;
  const gex_AD_t ad = usual();
  gex_HSL_Lock(&lock);
  (void)gex_AD_OpNBI_U64(ad, NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
}
static void op_synced_twice(void) {
  const gex_Event_t event = gex_AD_OpNB_U64(usual(), NULL, 0, dbg.base, GEX_OP_ADD, 1, 0, 0);
  gex_Event_Wait(event);
  gex_Event_Wait(event);
}
static void legal(void) {
  operate(dbg.rank, dbg.base, GEX_OP_ADD, NULL, GEX_FLAG_AD_MY_RANK);
  operate(dbg.rank, dbg.base + DBG_SEG_BYTES - 8, GEX_OP_FADD, &result,
          GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
  operate(0, NULL, GEX_OP_GET, &result, GEX_FLAG_PEER_SEG_OFFSET | GEX_FLAG_AD_MY_NBRHD);
  gex_AD_Destroy(make(GEX_DT_FLT, GEX_OP_FCAS, GEX_FLAG_AD_FAVOR_MY_RANK));
}

#define NB "gex_AD_OpNB_U64"
static const struct dbg_case cases[] = {
    {"create_null", create_null, {"gex_AD_Create", "ad_p", "NULL"}, 0, NULL},
    {"create_pair", create_pair, {"gex_AD_Create", "tm", "TM-pair"}, 0, NULL},
    {"create_user", create_user, {"gex_AD_Create", "dt", "0x40"}, 0, NULL},
    {"create_two_types", create_two_types, {"gex_AD_Create", "dt", "0xc"}, 0, NULL},
    {"create_no_ops", create_no_ops, {"gex_AD_Create", "ops", "0x0"}, 0, NULL},
    {"create_user_op", create_user_op, {"gex_AD_Create", "ops", "0x1008"}, 0, NULL},
    {"create_real_and", create_real_and, {"gex_AD_Create", "ops", "integers"}, 0, NULL},
    {"create_flags", create_flags, {DBG_WARNS, "gex_AD_Create", "flags", "0x10"}, 0, NULL},
    {"create_two_hints", create_two_hints, {"gex_AD_Create", "flags", "FAVOR"}, 0, NULL},
    {"create_unequal", create_unequal, {"gex_AD_Create", "ops", "same on all ranks"}, 2, NULL},
    {"create_in_handler", create_in_handler, {"gex_AD_Create", "handler"}, 0, NULL},
    {"destroy_invalid", destroy_invalid, {"gex_AD_Destroy", "ad", "INVALID"}, 0, NULL},
    {"destroy_twice", destroy_twice, {"gex_AD_Destroy", "ad", "not the handle"}, 0, NULL},
    {"query_invalid", query_invalid, {"gex_AD_QueryDT", "ad", "INVALID"}, 0, NULL},
    {"op_invalid", op_invalid, {"gex_AD_OpNBI_DBL", "ad", "INVALID"}, 0, NULL},
    {"op_stale", op_stale, {"gex_AD_OpNBI_U64", "ad", "not the handle"}, 0, NULL},
    {"op_type", op_type, {"gex_AD_OpNBI_I64", "data type 0x8", "0x4"}, 0, NULL},
    {"op_two", op_two, {NB, "opcode", "0x80008"}, 0, NULL},
    {"op_unknown", op_unknown, {NB, "opcode", "0x10"}, 0, NULL},
    {"op_rank", op_rank, {NB, "rank is 7"}, 0, NULL},
    {"op_jobrank", op_jobrank, {NB, "tgt_rank is 7"}, 0, NULL},
    {"op_not_member", op_not_member, {"gex_AD_OpNBI_U32", "tgt_rank", "no member"}, 2, NULL},
    {"op_flags", op_flags, {DBG_WARNS, NB, "flags", "0x40000000"}, 0, NULL},
    {"op_both_my", op_both_my, {NB, "flags", "exclude"}, 0, NULL},
    {"op_my_rank", op_my_rank, {NB, "flags", "promises", "caller"}, 2, NULL},
    {"op_my_nbrhd", op_my_nbrhd, {NB, "flags", "neighbourhood"}, 2, "TOMBOLO_SHM=0"},
    {"op_misaligned", op_misaligned, {NB, "tgt_addr", "aligned to 8"}, 0, NULL},
    {"op_outside", op_outside, {NB, "tgt_addr", "outside the segment"}, 0, NULL},
    {"op_offset", op_offset, {NB, "tgt_addr", "outside the segment"}, 0, NULL},
    {"op_null_result", op_null_result, {NB, "result_p", "NULL"}, 0, NULL},
    {"op_result_offset", op_result_offset, {NB, "result_p", "outside the segment"}, 0, NULL},
    {"op_lock", op_lock, {"gex_AD_OpNBI_U64", "lock"}, 0, NULL},
    {"op_synced_twice", op_synced_twice, {"gex_Event_Wait", "synchronised before"}, 0, NULL},
    {"op_synced_twice_far",
     op_synced_twice,
     {"gex_Event_Wait", "synchronised before"},
     0,
     DBG_UNMAPPED},
    {"legal", legal, {NULL}, 0, NULL},
    {"legal_far", legal, {NULL}, 2, DBG_UNMAPPED},
};

int main(int argc, char **argv) {
  return dbg_main(argc, argv, dbg_setup, cases, sizeof cases / sizeof *cases);
}
