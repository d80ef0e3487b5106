/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 */
/*
 * Tools that need GASNet-EX types (API reference 09, section 14): texts, values, mmap, and the
 * self-test with its messages and RMA. The tools header comes first: either order must do.
 */
#include <gasnet_tools.h>
#include <gasnetex.h>

#include "job.h"

#if GASNETT_MAX_THREADS != 1
# error "a SEQ client has one thread"
#endif

static void check_text(size_t (*format)(char *, uint32_t), uint32_t bits, const char *want) {
  char buf[1024];
  memset(buf, 'z', sizeof buf);
  CHECK_EQ(format(NULL, bits), strlen(want) + 1);
  CHECK_EQ(format(buf, bits), strlen(want) + 1);
  CHECK_STR(buf, want);
  CHECK_EQ(buf[strlen(want) + 1], 'z');
}

static size_t ti_text(char *buf, uint32_t bits) {
  return gasnett_format_ti(buf, (gex_TI_t)bits);
}

static void test_sets(void) {
  check_text(gasnett_format_dt, 0, "(empty)");
  check_text(gasnett_format_dt, GEX_DT_DBL, "GEX_DT_DBL");
  check_text(gasnett_format_dt, GEX_DT_I32 | GEX_DT_DBL, "GEX_DT_I32|GEX_DT_DBL");
  check_text(gasnett_format_dt, GEX_DT_U64 | 1u << 31, "(invalid)");
  check_text(gasnett_format_dt, GEX_DT_USER, "GEX_DT_USER");
  check_text(gasnett_format_op, 0, "(empty)");
  check_text(gasnett_format_op, GEX_OP_FADD, "GEX_OP_FADD");
  check_text(gasnett_format_op, GEX_OP_ADD | GEX_OP_CAS | GEX_OP_GET,
             "GEX_OP_ADD|GEX_OP_CAS|GEX_OP_GET");
  check_text(gasnett_format_op, 1u << 31, "(invalid)");
  check_text(ti_text, 0, "(empty)");
  check_text(ti_text, GEX_TI_SRCRANK | GEX_TI_IS_LONG, "GEX_TI_SRCRANK|GEX_TI_IS_LONG");
  check_text(ti_text, 1u << 30, "(invalid)");
  char buf[1024];
  CHECK(gasnett_format_op(buf, ~UINT32_C(0)) <= sizeof buf);
}

/* A buffer of exactly `bytes` with a guard behind. */
static char *guarded(size_t bytes) {
  char *const buf = malloc(bytes + 16);
  REQUIRE(buf != NULL);
  memset(buf, '#', bytes + 16);
  return buf;
}

static void release(char *buf, size_t bytes) {
  CHECK(strlen(buf) < bytes);
  CHECK_EQ(fill_diff(buf + bytes, 16, '#'), 16);
  free(buf);
}

enum { LONG_LIST = 100 };

static void test_lists(void) {
  gex_Memvec_t vec[LONG_LIST];
  void *addr[LONG_LIST];
  uint64_t total = 0;
  for (size_t i = 0; i < LONG_LIST; i++) {
    addr[i] = (void *)(uintptr_t)(UINT64_C(0xfffffffff0000000) + i);
    vec[i].gex_addr = addr[i];
    vec[i].gex_len = (SIZE_MAX >> 8) + i;
    total += vec[i].gex_len;
  }
  for (size_t n = 0; n <= LONG_LIST; n += 50) {
    size_t bytes = gasnett_format_memveclist_bufsz(n);
    char *buf = guarded(bytes);
    gasnett_format_memveclist(buf, n, vec);
    if (n > 0) CHECK(strstr(buf, "fffffffff0000000") != NULL);
    if (n == LONG_LIST) CHECK(strstr(buf, "fffffffff0000063") != NULL);
    release(buf, bytes);
    bytes = gasnett_format_addrlist_bufsz(n);
    buf = guarded(bytes);
    gasnett_format_addrlist(buf, n, addr, 12);
    if (n == LONG_LIST) CHECK(strstr(buf, "fffffffff0000063") != NULL);
    release(buf, bytes);
  }
  const size_t vbytes = gasnett_format_putvgetv_bufsz(LONG_LIST, 1);
  char *text = guarded(vbytes);
  CHECK_EQ(gasnett_format_putvgetv(text, job.tm, 0, LONG_LIST, vec, 1, vec), total);
  release(text, vbytes);
  const size_t ibytes = gasnett_format_putigeti_bufsz(LONG_LIST, 4);
  text = guarded(ibytes);
  CHECK_EQ(gasnett_format_putigeti(text, job.tm, 0, LONG_LIST, addr, 12, 4, addr, 300), 1200);
  release(text, ibytes);
}

static void test_strides(void) {
  const ptrdiff_t strides[4] = {PTRDIFF_MIN, -8, 0, PTRDIFF_MAX};
  const size_t count[4] = {2, 3, 5, 7};
  size_t bytes = gasnett_format_strides_bufsz(4);
  char *text = guarded(bytes);
  gasnett_format_strides(text, 4, strides);
  CHECK(strstr(text, "-9223372036854775808, -8, 0, 9223372036854775807") != NULL);
  release(text, bytes);
  bytes = gasnett_format_putsgets_bufsz(4);
  text = guarded(bytes);
  CHECK_EQ(
      gasnett_format_putsgets(text, NULL, job.tm, 0, text, strides, text, strides, 8, count, 4),
      8 * 210);
  release(text, bytes);
  bytes = gasnett_format_putsgets_bufsz(0);
  text = guarded(bytes);
  CHECK_EQ(gasnett_format_putsgets(text, NULL, job.tm, 0, text, NULL, text, NULL, 24, NULL, 0), 24);
  release(text, bytes);
}

static uint64_t value_of(const void *src, size_t nbytes) {
  GASNETT_VALUE_RETURN(src, nbytes);
}

static void test_memory(void) {
  char from[64], to[64];
  for (size_t n = 1; n <= 8; n++) {
    unsigned char cell[10];
    memset(cell, 0x77, sizeof cell);
    GASNETT_VALUE_ASSIGN(cell + 1, UINT64_C(0x1122334455667788), n);
    CHECK_EQ(cell[0], 0x77);
    CHECK_EQ(cell[n + 1], n < 9 ? 0x77 : 0);
    const uint64_t mask = n == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * n)) - 1;
    CHECK_EQ(value_of(cell + 1, n), UINT64_C(0x1122334455667788) & mask);
  }
  pattern_fill(from, sizeof from, 3);
  GASNETT_FAST_ALIGNED_MEMCPY(to, from, 64);
  CHECK_BYTES(to, 64, 3);
  memset(to, 0, sizeof to);
  GASNETT_FAST_UNALIGNED_MEMCPY(to + 1, from + 1, 7);
  CHECK(memcmp(to + 1, from + 1, 7) == 0 && to[8] == 0);
  unsigned char *const pages = gasnett_mmap(3 * GASNETT_PAGESIZE + 1);
  CHECK_EQ((uintptr_t)pages % GASNETT_PAGESIZE, 0);
  CHECK_EQ(fill_diff(pages, 3 * GASNETT_PAGESIZE + 1, 0), 3 * GASNETT_PAGESIZE + 1);
  pages[3 * GASNETT_PAGESIZE] = 1;
}

static void test_diagnostics(void) {
  const gex_Rank_t peer = (job.rank + 1) % job.size;
  CHECK_EQ(gasnett_run_diagnostics(500, 4, NULL, GEX_TM_INVALID, NULL, 0, NULL, 7), 0);
  CHECK_EQ(gasnett_run_diagnostics(200, 2, NULL, job.tm, job.base, peer, job.peer[peer], 11), 0);
  CHECK_EQ(gasnett_run_diagnostics(50, 1, "mr", job.tm, job.base, peer, job.peer[peer], 13), 0);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t *handlers;
  int count = 0;
  gasnett_diagnostic_gethandlers(&handlers, &count);
  job_start(&argc, &argv, GEXX_DIAG_BYTES, handlers, (size_t)count);
  test_sets();
  test_lists();
  test_strides();
  test_memory();
  test_diagnostics();
  return job_finish();
}
