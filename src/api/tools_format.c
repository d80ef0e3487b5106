/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of GASNet-EX arguments, and small memory helpers (API reference 09, section 14).
 *
 * Owns: the names of data types, opcodes and token-info bits. Called by clients that trace or test.
 * Calls libc. Invariants: a list entry takes at most ENTRY_BYTES, a head at most HEAD_BYTES; the
 * ..._bufsz functions add these up, and the writer stops at that size in any case.
 */
#define GASNET_PAR 1

#include "base/log.h"
#include "gasnet_tools.h"
#include "gasnetex.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

/* --- OR-sets --- */

struct bit_name {
  uint32_t bit;
  const char *name;
};

#define ROW(name) \
 { name, #name }

static const struct bit_name dt_names[] = {ROW(GEX_DT_I32), ROW(GEX_DT_U32), ROW(GEX_DT_I64),
                                           ROW(GEX_DT_U64), ROW(GEX_DT_FLT), ROW(GEX_DT_DBL),
                                           ROW(GEX_DT_USER)};

static const struct bit_name op_names[] = {
    ROW(GEX_OP_AND),   ROW(GEX_OP_OR),     ROW(GEX_OP_XOR),  ROW(GEX_OP_ADD),  ROW(GEX_OP_SUB),
    ROW(GEX_OP_MULT),  ROW(GEX_OP_MIN),    ROW(GEX_OP_MAX),  ROW(GEX_OP_INC),  ROW(GEX_OP_DEC),
    ROW(GEX_OP_FAND),  ROW(GEX_OP_FOR),    ROW(GEX_OP_FXOR), ROW(GEX_OP_FADD), ROW(GEX_OP_FSUB),
    ROW(GEX_OP_FMULT), ROW(GEX_OP_FMIN),   ROW(GEX_OP_FMAX), ROW(GEX_OP_FINC), ROW(GEX_OP_FDEC),
    ROW(GEX_OP_SET),   ROW(GEX_OP_CAS),    ROW(GEX_OP_GET),  ROW(GEX_OP_SWAP), ROW(GEX_OP_FCAS),
    ROW(GEX_OP_USER),  ROW(GEX_OP_USER_NC)};

static const struct bit_name ti_names[] = {ROW(GEX_TI_SRCRANK), ROW(GEX_TI_EP), ROW(GEX_TI_ENTRY),
                                           ROW(GEX_TI_IS_REQ), ROW(GEX_TI_IS_LONG)};

/* Appends text at *len when buf is not NULL; counts it in any case. */
static void append(char *buf, size_t *len, const char *text) {
  const size_t n = strlen(text);
  if (buf) memcpy(buf + *len, text, n + 1);
  *len += n;
}

static size_t format_bits(char *buf, uint32_t bits, const struct bit_name *names, size_t count) {
  uint32_t known = 0;
  size_t len = 0;
  for (size_t i = 0; i < count; i++) known |= names[i].bit;
  if (bits == 0)
    append(buf, &len, "(empty)");
  else if (bits & ~known)
    append(buf, &len, "(invalid)");
  else
    for (size_t i = 0; i < count; i++) {
      if (!(bits & names[i].bit)) continue;
      if (len > 0) append(buf, &len, "|");
      append(buf, &len, names[i].name);
    }
  return len + 1;
}

size_t gasnett_format_dt(char *buf, gex_DT_t dt) {
  return format_bits(buf, dt, dt_names, TMB_ARRAY_LEN(dt_names));
}

size_t gasnett_format_op(char *buf, gex_OP_t op) {
  return format_bits(buf, op, op_names, TMB_ARRAY_LEN(op_names));
}

size_t gasnett_format_ti(char *buf, gex_TI_t ti) {
  return format_bits(buf, ti, ti_names, TMB_ARRAY_LEN(ti_names));
}

/* --- lists --- */

enum { ENTRY_BYTES = 64, HEAD_BYTES = 192 };

/* A bounded text under construction. */
struct text {
  char *buf;
  size_t len, cap;
};

TMB_PRINTF(2, 3) static void add(struct text *t, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const int n = vsnprintf(t->buf + t->len, t->cap - t->len, fmt, args);
  va_end(args);
  if (n > 0) t->len += (size_t)n < t->cap - t->len ? (size_t)n : t->cap - t->len - 1;
}

static void count_entry(gexx_list_stats_t *s, size_t bytes) {
  s->min_bytes = s->count == 0 || bytes < s->min_bytes ? bytes : s->min_bytes;
  s->max_bytes = bytes > s->max_bytes ? bytes : s->max_bytes;
  s->total_bytes += bytes;
  s->count++;
}

static gexx_list_stats_t add_memvecs(struct text *t, size_t count, gex_Memvec_t const *list) {
  gexx_list_stats_t s = {0, 0, 0, 0};
  for (size_t i = 0; i < count; i++) count_entry(&s, list[i].gex_len);
  add(t, "%zu areas, %" PRIu64 " bytes (%zu to %zu each):", count, s.total_bytes, s.min_bytes,
      s.max_bytes);
  for (size_t i = 0; i < count; i++) add(t, " [%p, %zu]", list[i].gex_addr, list[i].gex_len);
  return s;
}

static gexx_list_stats_t add_addrs(struct text *t, size_t count, void *const *list, size_t len) {
  const gexx_list_stats_t s = {count, count ? len : 0, count ? len : 0, (uint64_t)count * len};
  add(t, "%zu areas of %zu bytes, %" PRIu64 " bytes:", count, len, s.total_bytes);
  for (size_t i = 0; i < count; i++) add(t, " %p", list[i]);
  return s;
}

static void add_strides(struct text *t, size_t count, const ptrdiff_t *list) {
  add(t, "[");
  for (size_t i = 0; i < count; i++) add(t, i ? ", %td" : "%td", list[i]);
  add(t, "]");
}

size_t gasnett_format_memveclist_bufsz(size_t count) {
  return HEAD_BYTES + count * ENTRY_BYTES;
}

gexx_list_stats_t gasnett_format_memveclist(char *buf, size_t count, gex_Memvec_t const *list) {
  struct text t = {buf, 0, gasnett_format_memveclist_bufsz(count)};
  return add_memvecs(&t, count, list);
}

size_t gasnett_format_addrlist_bufsz(size_t count) {
  return HEAD_BYTES + count * ENTRY_BYTES;
}

gexx_list_stats_t gasnett_format_addrlist(char *buf, size_t count, void *const *list, size_t len) {
  struct text t = {buf, 0, gasnett_format_addrlist_bufsz(count)};
  return add_addrs(&t, count, list, len);
}

size_t gasnett_format_strides_bufsz(size_t count) {
  return HEAD_BYTES + count * ENTRY_BYTES;
}

void gasnett_format_strides(char *buf, size_t count, const ptrdiff_t *list) {
  struct text t = {buf, 0, gasnett_format_strides_bufsz(count)};
  add_strides(&t, count, list);
}

/* --- calls --- */

static void add_peer(struct text *t, gex_TM_t tm, gex_Rank_t rank) {
  if (tm == GEX_TM_INVALID)
    add(t, "rank %" PRIu32, rank);
  else
    add(t, "rank %" PRIu32 " of %" PRIu32, rank, gex_TM_QuerySize(tm));
}

size_t gasnett_format_putvgetv_bufsz(size_t dstcount, size_t srccount) {
  return 3 * HEAD_BYTES + (dstcount + srccount) * ENTRY_BYTES;
}

size_t gasnett_format_putvgetv(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                               gex_Memvec_t const dstlist[], size_t srccount,
                               gex_Memvec_t const srclist[]) {
  struct text t = {buf, 0, gasnett_format_putvgetv_bufsz(dstcount, srccount)};
  add_peer(&t, tm, rank);
  add(&t, "\n  dst: ");
  const gexx_list_stats_t dst = add_memvecs(&t, dstcount, dstlist);
  add(&t, "\n  src: ");
  (void)add_memvecs(&t, srccount, srclist);
  return dst.total_bytes;
}

size_t gasnett_format_putigeti_bufsz(size_t dstcount, size_t srccount) {
  return 3 * HEAD_BYTES + (dstcount + srccount) * ENTRY_BYTES;
}

size_t gasnett_format_putigeti(char *buf, gex_TM_t tm, gex_Rank_t rank, size_t dstcount,
                               void *const dstlist[], size_t dstlen, size_t srccount,
                               void *const srclist[], size_t srclen) {
  struct text t = {buf, 0, gasnett_format_putigeti_bufsz(dstcount, srccount)};
  add_peer(&t, tm, rank);
  add(&t, "\n  dst: ");
  const gexx_list_stats_t dst = add_addrs(&t, dstcount, dstlist, dstlen);
  add(&t, "\n  src: ");
  (void)add_addrs(&t, srccount, srclist, srclen);
  return dst.total_bytes;
}

size_t gasnett_format_putsgets_bufsz(size_t stridelevels) {
  return 4 * HEAD_BYTES + 3 * stridelevels * ENTRY_BYTES;
}

size_t gasnett_format_putsgets(char *buf, void *pstats, gex_TM_t tm, gex_Rank_t rank, void *dstaddr,
                               const ptrdiff_t dststrides[], void *srcaddr,
                               const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                               size_t stridelevels) {
  struct text t = {buf, 0, gasnett_format_putsgets_bufsz(stridelevels)};
  size_t bytes = elemsz;
  (void)pstats;
  add_peer(&t, tm, rank);
  add(&t, ", %zu levels\n  dst: %p ", stridelevels, dstaddr);
  add_strides(&t, stridelevels, dststrides);
  add(&t, "\n  src: %p ", srcaddr);
  add_strides(&t, stridelevels, srcstrides);
  add(&t, "\n  count: %zu bytes x [", elemsz);
  for (size_t i = 0; i < stridelevels; i++) {
    add(&t, i ? ", %zu" : "%zu", count[i]);
    bytes *= count[i];
  }
  add(&t, "] = %zu bytes", bytes);
  return bytes;
}

/* --- memory --- */

void *gasnett_mmap(uintptr_t size) {
  void *const p =
      mmap(NULL, size ? size : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    tmb_fatal("gasnett_mmap(%" PRIuPTR "): %s: ask for less, or raise RLIMIT_AS", size,
              strerror(errno));
  return p;
}

/* The bytes of a value that a store of nbytes writes: the first ones, or the last ones. */
static char *low_bytes(uint64_t *value, size_t nbytes) {
  if (nbytes > sizeof *value) tmb_fatal("a value has at most 8 bytes, not %zu", nbytes);
  return (char *)value + (gasnett_isLittleEndian() ? 0 : sizeof *value - nbytes);
}

void gexx_tools_value_store(void *dest, uint64_t value, size_t nbytes) {
  memcpy(dest, low_bytes(&value, nbytes), nbytes);
}

uint64_t gexx_tools_value_load(const void *src, size_t nbytes) {
  uint64_t value = 0;
  memcpy(low_bytes(&value, nbytes), src, nbytes);
  return value;
}
