/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effect of instructions on memory, decoded from made-up contexts of signals, and from real faults
 * on this processor.
 *
 * Owns: pages that fault. The instructions are those that the assemblers of GNU binutils 2.40 make
 * of the texts beside them.
 */
#include "context.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct instruction {
  uint32_t word;
  int access;
  const char *text;
};

static const struct instruction a64[] = {
    {0xb9400020, RT_ACCESS_READ, "ldr w0, [x1]"},
    {0xf9400420, RT_ACCESS_READ, "ldr x0, [x1, #8]"},
    {0x38626820, RT_ACCESS_READ, "ldrb w0, [x1, x2]"},
    {0xb8804c20, RT_ACCESS_READ, "ldrsw x0, [x1, #4]!"},
    {0x38c01420, RT_ACCESS_READ, "ldrsb w0, [x1], #1"},
    {0xf85fd020, RT_ACCESS_READ, "ldur x0, [x1, #-3]"},
    {0xf8400820, RT_ACCESS_READ, "ldtr x0, [x1]"},
    {0xfd400020, RT_ACCESS_READ, "ldr d0, [x1]"},
    {0x3dc00420, RT_ACCESS_READ, "ldr q0, [x1, #16]"},
    {0x3ce26820, RT_ACCESS_READ, "ldr q0, [x1, x2]"},
    {0x58000000, RT_ACCESS_READ, "ldr x0, 28"},
    {0xa9400440, RT_ACCESS_READ, "ldp x0, x1, [x2]"},
    {0x69400440, RT_ACCESS_READ, "ldpsw x0, x1, [x2]"},
    {0xac400440, RT_ACCESS_READ, "ldnp q0, q1, [x2]"},
    {0xc85f7c20, RT_ACCESS_READ, "ldxr x0, [x1]"},
    {0xc87f8440, RT_ACCESS_READ, "ldaxp x0, x1, [x2]"},
    {0xc8dffc20, RT_ACCESS_READ, "ldar x0, [x1]"},
    {0xc8df7c20, RT_ACCESS_READ, "ldlar x0, [x1]"},
    {0xf8bfc020, RT_ACCESS_READ, "ldapr x0, [x1]"},
    {0xd9401020, RT_ACCESS_READ, "ldapur x0, [x1, #1]"},
    {0x99801020, RT_ACCESS_READ, "ldapursw x0, [x1, #1]"},
    {0xf8201420, RT_ACCESS_READ, "ldraa x0, [x1, #8]"},
    {0xf8201c20, RT_ACCESS_READ, "ldraa x0, [x1, #8]!"},
    {0x4c407020, RT_ACCESS_READ, "ld1 {v0.16b}, [x1]"},
    {0x4cdf0820, RT_ACCESS_READ, "ld4 {v0.4s-v3.4s}, [x1], #64"},
    {0x0d409020, RT_ACCESS_READ, "ld1 {v0.s}[1], [x1]"},
    {0x4d40c420, RT_ACCESS_READ, "ld1r {v0.8h}, [x1]"},
    {0xf83fd020, RT_ACCESS_READ, "ld64b x0, [x1]"},
    {0xa5e0a000, RT_ACCESS_READ, "ld1d {z0.d}, p0/z, [x0]"},
    {0x85014000, RT_ACCESS_READ, "ld1w {z0.s}, p0/z, [x0, z1.s, uxtw]"},
    {0xc5c1c000, RT_ACCESS_READ, "ld1d {z0.d}, p0/z, [x0, z1.d]"},
    {0x85804000, RT_ACCESS_READ, "ldr z0, [x0]"},
    {0xb9000020, RT_ACCESS_WRITE, "str w0, [x1]"},
    {0xf9000420, RT_ACCESS_WRITE, "str x0, [x1, #8]"},
    {0x38226820, RT_ACCESS_WRITE, "strb w0, [x1, x2]"},
    {0x78004c20, RT_ACCESS_WRITE, "strh w0, [x1, #4]!"},
    {0xf8008420, RT_ACCESS_WRITE, "str x0, [x1], #8"},
    {0xf81fd020, RT_ACCESS_WRITE, "stur x0, [x1, #-3]"},
    {0xf8000820, RT_ACCESS_WRITE, "sttr x0, [x1]"},
    {0xfd000020, RT_ACCESS_WRITE, "str d0, [x1]"},
    {0x3d800420, RT_ACCESS_WRITE, "str q0, [x1, #16]"},
    {0x3ca26820, RT_ACCESS_WRITE, "str q0, [x1, x2]"},
    {0x3c9ff020, RT_ACCESS_WRITE, "stur q0, [x1, #-1]"},
    {0xa9000440, RT_ACCESS_WRITE, "stp x0, x1, [x2]"},
    {0xac000440, RT_ACCESS_WRITE, "stnp q0, q1, [x2]"},
    {0x28810440, RT_ACCESS_WRITE, "stp w0, w1, [x2], #8"},
    {0xc8037c20, RT_ACCESS_WRITE, "stxr w3, x0, [x1]"},
    {0xc8238440, RT_ACCESS_WRITE, "stlxp w3, x0, x1, [x2]"},
    {0xc89ffc20, RT_ACCESS_WRITE, "stlr x0, [x1]"},
    {0xc89f7c20, RT_ACCESS_WRITE, "stllr x0, [x1]"},
    {0xd9001020, RT_ACCESS_WRITE, "stlur x0, [x1, #1]"},
    {0x4c007020, RT_ACCESS_WRITE, "st1 {v0.16b}, [x1]"},
    {0x0d209020, RT_ACCESS_WRITE, "st2 {v0.s, v1.s}[1], [x1]"},
    {0xf83f9020, RT_ACCESS_WRITE, "st64b x0, [x1]"},
    {0xf822b024, RT_ACCESS_WRITE, "st64bv x2, x4, [x1]"},
    {0xc8a07c41, RT_ACCESS_WRITE, "cas x0, x1, [x2]"},
    {0x88e0fc41, RT_ACCESS_WRITE, "casal w0, w1, [x2]"},
    {0x48207c82, RT_ACCESS_WRITE, "casp x0, x1, x2, x3, [x4]"},
    {0xf8200041, RT_ACCESS_WRITE, "ldadd x0, x1, [x2]"},
    {0xb8e03041, RT_ACCESS_WRITE, "ldsetal w0, w1, [x2]"},
    {0xf8208041, RT_ACCESS_WRITE, "swp x0, x1, [x2]"},
    {0x38a08041, RT_ACCESS_WRITE, "swpab w0, w1, [x2]"},
    {0xf820005f, RT_ACCESS_WRITE, "stadd x0, [x2]"},
    {0xd50b7420, RT_ACCESS_WRITE, "dc zva, x0"},
    {0xe5e0e000, RT_ACCESS_WRITE, "st1d {z0.d}, p0, [x0]"},
    {0xe5804000, RT_ACCESS_WRITE, "str z0, [x0]"},
    {0xe5418000, RT_ACCESS_WRITE, "st1w {z0.s}, p0, [x0, z1.s, uxtw]"},
    {0x8b020020, RT_ACCESS_UNKNOWN, "add x0, x1, x2"},
    {0xaa0103e0, RT_ACCESS_UNKNOWN, "mov x0, x1"},
    {0x14000000, RT_ACCESS_UNKNOWN, "b 11c"},
    {0xd65f03c0, RT_ACCESS_UNKNOWN, "ret"},
    {0xd503201f, RT_ACCESS_UNKNOWN, "nop"},
    {0x1e622820, RT_ACCESS_UNKNOWN, "fadd d0, d1, d2"},
    {0x9b027c20, RT_ACCESS_UNKNOWN, "mul x0, x1, x2"},
    {0xd5033bbf, RT_ACCESS_UNKNOWN, "dmb ish"},
    {0xd4000001, RT_ACCESS_UNKNOWN, "svc #0x0"},
    {0x92400820, RT_ACCESS_UNKNOWN, "and x0, x1, #0x7"},
};

static const struct instruction riscv[] = {
    {0x00058503, RT_ACCESS_READ, "lb a0,0(a1)"},
    {0x0005c503, RT_ACCESS_READ, "lbu a0,0(a1)"},
    {0x00059503, RT_ACCESS_READ, "lh a0,0(a1)"},
    {0x51e8, RT_ACCESS_READ, "lw a0,100(a1)"},
    {0x0005e503, RT_ACCESS_READ, "lwu a0,0(a1)"},
    {0x000f3f83, RT_ACCESS_READ, "ld t6,0(t5)"},
    {0x0005a007, RT_ACCESS_READ, "flw ft0,0(a1)"},
    {0x000f3f87, RT_ACCESS_READ, "fld ft11,0(t5)"},
    {0x1005a52f, RT_ACCESS_READ, "lr.w a0,(a1)"},
    {0x1605b52f, RT_ACCESS_READ, "lr.d.aqrl a0,(a1)"},
    {0x4188, RT_ACCESS_READ, "lw a0,0(a1)"},
    {0x6188, RT_ACCESS_READ, "ld a0,0(a1)"},
    {0x2188, RT_ACCESS_READ, "fld fa0,0(a1)"},
    {0x6522, RT_ACCESS_READ, "ld a0,8(sp)"},
    {0x4522, RT_ACCESS_READ, "lw a0,8(sp)"},
    {0x2522, RT_ACCESS_READ, "fld fa0,8(sp)"},
    {0x00a58023, RT_ACCESS_WRITE, "sb a0,0(a1)"},
    {0x00a59023, RT_ACCESS_WRITE, "sh a0,0(a1)"},
    {0xd1e8, RT_ACCESS_WRITE, "sw a0,100(a1)"},
    {0x01ff3023, RT_ACCESS_WRITE, "sd t6,0(t5)"},
    {0x0005a027, RT_ACCESS_WRITE, "fsw ft0,0(a1)"},
    {0x01ff3027, RT_ACCESS_WRITE, "fsd ft11,0(t5)"},
    {0x18a5a62f, RT_ACCESS_WRITE, "sc.w a2,a0,(a1)"},
    {0x18a5b62f, RT_ACCESS_WRITE, "sc.d a2,a0,(a1)"},
    {0x00b6352f, RT_ACCESS_WRITE, "amoadd.d a0,a1,(a2)"},
    {0x0cb6252f, RT_ACCESS_WRITE, "amoswap.w.aq a0,a1,(a2)"},
    {0xe0b6352f, RT_ACCESS_WRITE, "amomaxu.d a0,a1,(a2)"},
    {0xc188, RT_ACCESS_WRITE, "sw a0,0(a1)"},
    {0xe188, RT_ACCESS_WRITE, "sd a0,0(a1)"},
    {0xa188, RT_ACCESS_WRITE, "fsd fa0,0(a1)"},
    {0xe42a, RT_ACCESS_WRITE, "sd a0,8(sp)"},
    {0xc42a, RT_ACCESS_WRITE, "sw a0,8(sp)"},
    {0xa42a, RT_ACCESS_WRITE, "fsd fa0,8(sp)"},
    {0x00c58533, RT_ACCESS_UNKNOWN, "add a0,a1,a2"},
    {0x952e, RT_ACCESS_UNKNOWN, "add a0,a0,a1"},
    {0x852e, RT_ACCESS_UNKNOWN, "mv a0,a1"},
    {0x8502, RT_ACCESS_UNKNOWN, "jr a0"},
    {0x0505, RT_ACCESS_UNKNOWN, "add a0,a0,1"},
    {0x0028, RT_ACCESS_UNKNOWN, "add a0,sp,8"},
    {0xa001, RT_ACCESS_UNKNOWN, "j 7a"},
    {0x050e, RT_ACCESS_UNKNOWN, "sll a0,a0,0x3"},
    {0x000000ef, RT_ACCESS_UNKNOWN, "jal 7e"},
    {0x0330000f, RT_ACCESS_UNKNOWN, "fence rw,rw"},
    {0x6505, RT_ACCESS_UNKNOWN, "lui a0,0x1"},
    {0x02c5f553, RT_ACCESS_UNKNOWN, "fadd.d fa0,fa1,fa2"},
    {0x9002, RT_ACCESS_UNKNOWN, "ebreak"},
};

static void check_table(const struct instruction *table, size_t count,
                        enum rt_access (*decode)(uint32_t)) {
  for (size_t i = 0; i < count; i++) {
    const int access = decode(table[i].word);
    if (access != table[i].access) print_error("%s (%#x)\n", table[i].text, table[i].word);
    assert_int_equal(access, table[i].access);
  }
}

static void arm_instructions(void **state) {
  (void)state;
  check_table(a64, sizeof a64 / sizeof a64[0], rt_access_by_a64);
}

static void riscv_instructions(void **state) {
  (void)state;
  check_table(riscv, sizeof riscv / sizeof riscv[0], rt_access_by_riscv);
  /* of a compressed one the bytes behind it do not count */
  assert_int_equal(rt_access_by_riscv(0x0000e188), RT_ACCESS_WRITE);
  assert_int_equal(rt_access_by_riscv(0xffff6188), RT_ACCESS_READ);
}

/* ---- the records behind the registers of ARM */

enum { FLOATS = 0x46508001, SYNDROME = 0x45535201, FLOATS_BYTES = 528, RECORDS_BYTES = 4096 };

struct records {
  char bytes[RECORDS_BYTES];
  size_t used;
};

static void add_record(struct records *r, uint32_t kind, uint32_t bytes, uint64_t value) {
  const uint32_t head[2] = {kind, bytes};
  memcpy(r->bytes + r->used, head, sizeof head);
  memcpy(r->bytes + r->used + sizeof head, &value, sizeof value);
  r->used += bytes;
}

/* A context as Linux writes it: floats, the syndrome, an end. */
static enum rt_access with_syndrome(uint64_t esr) {
  struct records r = {{0}, 0};
  add_record(&r, FLOATS, FLOATS_BYTES, 0);
  add_record(&r, SYNDROME, 16, esr);
  return rt_access_by_esr(r.bytes, sizeof r.bytes);
}

static void arm_syndrome(void **state) {
  (void)state;
  assert_int_equal(with_syndrome(UINT64_C(0x92000007)), RT_ACCESS_READ);    /* translation fault */
  assert_int_equal(with_syndrome(UINT64_C(0x92000047)), RT_ACCESS_WRITE);   /* and WnR */
  assert_int_equal(with_syndrome(UINT64_C(0x9200004f)), RT_ACCESS_WRITE);   /* permission fault */
  assert_int_equal(with_syndrome(UINT64_C(0x96000044)), RT_ACCESS_WRITE);   /* of this level */
  assert_int_equal(with_syndrome(UINT64_C(0x82000047)), RT_ACCESS_UNKNOWN); /* of instructions */
}

static void arm_no_syndrome(void **state) {
  (void)state;
  struct records r = {{0}, 0};
  assert_int_equal(rt_access_by_esr(r.bytes, sizeof r.bytes), RT_ACCESS_UNKNOWN); /* empty */
  add_record(&r, FLOATS, FLOATS_BYTES, 0);                                        /* as of QEMU 7 */
  assert_int_equal(rt_access_by_esr(r.bytes, sizeof r.bytes), RT_ACCESS_UNKNOWN);
  r.used += 16; /* behind the end */
  add_record(&r, SYNDROME, 16, UINT64_C(0x92000047));
  assert_int_equal(rt_access_by_esr(r.bytes, sizeof r.bytes), RT_ACCESS_UNKNOWN);
}

/* Sizes that lead nowhere end the search, and nothing behind the records is read. */
static void arm_broken_records(void **state) {
  (void)state;
  for (uint32_t bytes = 0; bytes < 8; bytes++) {
    struct records r = {{0}, 0};
    add_record(&r, FLOATS, bytes, 0);
    assert_int_equal(rt_access_by_esr(r.bytes, sizeof r.bytes), RT_ACCESS_UNKNOWN);
  }
  struct records r = {{0}, 0};
  add_record(&r, FLOATS, UINT32_MAX, 0);
  assert_int_equal(rt_access_by_esr(r.bytes, sizeof r.bytes), RT_ACCESS_UNKNOWN);
  struct records full = {{0}, 0};
  add_record(&full, FLOATS, RECORDS_BYTES - 16, 0);
  add_record(&full, SYNDROME, 16, UINT64_C(0x92000047));
  assert_int_equal(rt_access_by_esr(full.bytes, RECORDS_BYTES), RT_ACCESS_WRITE);
  assert_int_equal(rt_access_by_esr(full.bytes, RECORDS_BYTES - 1), RT_ACCESS_UNKNOWN);
}

/* ---- faults of this processor */

static sigjmp_buf back;
static volatile uintptr_t seen_pc, seen_stack;
static volatile int seen_access;

static void on_fault(int sig, siginfo_t *info, void *context) {
  (void)info;
  seen_pc = rt_context_pc(context);
  seen_stack = rt_context_stack(context);
  seen_access = (int)rt_context_access(context);
  siglongjmp(back, sig);
}

static long sum(const volatile char *at) {
  return *at;
}
static long sum_words(const volatile char *at) {
  return *(const volatile long *)(const volatile void *)at;
}
static long sum_floats(const volatile char *at) {
  return (long)*(const volatile double *)(const volatile void *)at;
}
static long copy_from(const volatile char *at) {
  static char to[256];
  memcpy(to, (const void *)(uintptr_t)at, sizeof to);
  return to[0];
}
static long set(const volatile char *at) {
  *(char *)(uintptr_t)at = 1;
  return 0;
}
static long set_words(const volatile char *at) {
  *(volatile long *)(uintptr_t)at = 1;
  return 0;
}
static long set_floats(const volatile char *at) {
  *(volatile double *)(uintptr_t)at = 1;
  return 0;
}
static long clear(const volatile char *at) {
  memset((void *)(uintptr_t)at, 0, 4096);
  return 0;
}
static long add(const volatile char *at) {
  return __atomic_fetch_add((long *)(uintptr_t)at, 1, __ATOMIC_SEQ_CST);
}

/* Direction of this access by the context; a page of read-only memory faults only when written. */
static int access_of(long (*volatile use)(const volatile char *), const volatile char *page) {
  seen_pc = seen_stack = 0;
  seen_access = -1;
  if (sigsetjmp(back, 1) == 0) (void)use(page);
  return seen_access;
}

static void faults(void **state) {
  (void)state;
  const struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  struct sigaction before;
  const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  const char local = 0;
  char *none = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *readable = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(none, MAP_FAILED);
  assert_ptr_not_equal(readable, MAP_FAILED);
  sigaction(SIGSEGV, &action, &before);
  const int reads[] = {access_of(sum, none), access_of(sum_words, none),
                       access_of(sum_floats, none), access_of(copy_from, none)};
  const int writes[] = {access_of(clear, none),      access_of(set_words, none),
                        access_of(set_floats, none), access_of(clear, readable),
                        access_of(add, readable),    access_of(set, readable)};
  const uintptr_t pc = seen_pc, stack = seen_stack;
  sigaction(SIGSEGV, &before, NULL);
  for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
    assert_int_equal(reads[i], RT_ACCESS_READ);
  for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++)
    assert_int_equal(writes[i], RT_ACCESS_WRITE);
  assert_in_range(pc, (uintptr_t)set, (uintptr_t)set + 256); /* the last one was in set() */
  assert_in_range(stack, (uintptr_t)&local - 65536, (uintptr_t)&local + 65536);
  munmap(none, bytes);
  munmap(readable, bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arm_instructions),   cmocka_unit_test(riscv_instructions),
      cmocka_unit_test(arm_syndrome),       cmocka_unit_test(arm_no_syndrome),
      cmocka_unit_test(arm_broken_records), cmocka_unit_test(faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
