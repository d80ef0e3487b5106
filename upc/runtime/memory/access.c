/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to shared memory that are not a few instructions: unmapped threads, bit-fields, copies.
 *
 * Called by compiled programs. Calls: far.c where the memory is not mapped here. Invariants: a
 * bit-field is changed within the bytes that it lies in.
 */
#include "rt.h"

#include <string.h>

RT_EXPORT void upc_memcpy(upcr_pts_t dst, upcr_pts_t src, size_t n);
RT_EXPORT void upc_memget(void *dst, upcr_pts_t src, size_t n);
RT_EXPORT void upc_memput(upcr_pts_t dst, const void *src, size_t n);
RT_EXPORT void upc_memset(upcr_pts_t dst, int c, size_t n);

/* Programs call these two where they do not copy in place. */
RT_EXPORT void upcr_memget(void *dst, upcr_pts_t src, unsigned long n)
    __attribute__((alias("upc_memget")));
RT_EXPORT void upcr_memput(upcr_pts_t dst, const void *src, unsigned long n)
    __attribute__((alias("upc_memput")));

RT_EXPORT void *upcr_local_slow(upcr_pts_t p) {
  if (p && upcr_threadof(p) < upcr_threads && rt_mapped(p)) return rt_mapped(p);
  /* A remote lock that a program prints or compares with null must not be null. */
  return upcr_addrfield(p) ? (void *)upcr_addrfield(p) : NULL;
}

/* ---- bit-fields: the bytes that hold one */

static unsigned long extract(const unsigned char *bytes, unsigned shift, int width, int is_signed) {
  unsigned __int128 all = 0;
  memcpy(&all, bytes, 9);
  unsigned long v = (unsigned long)(all >> shift);
  if (width >= 64) return v;
  v &= (1UL << width) - 1;
  if (is_signed && v >> (width - 1)) v |= ~0UL << width;
  return v;
}

RT_EXPORT unsigned long upcr_getbits(upcr_pts_t p, unsigned long first, int width, int is_signed,
                                     int strict) {
  unsigned char bytes[16] = {0};
  const unsigned shift = first % 8;
  const upcr_pts_t q = upcr_add0(p, (long)(first / 8));
  RT_SITE("bit-field");
  const size_t n = (shift + (unsigned)width + 7) / 8;
  if (strict)
    upcr_getns(bytes, q, n);
  else
    upcr_getn(bytes, q, n);
  return extract(bytes, shift, width, is_signed);
}

RT_EXPORT unsigned long upcr_putbits(upcr_pts_t p, unsigned long first, int width, int is_signed,
                                     int strict, unsigned long value) {
  unsigned char bytes[16] = {0};
  const unsigned shift = first % 8;
  const upcr_pts_t q = upcr_add0(p, (long)(first / 8));
  RT_SITE("bit-field");
  const size_t n = (shift + (unsigned)width + 7) / 8;
  const unsigned long mask = width >= 64 ? ~0UL : (1UL << width) - 1;
  if (strict)
    upcr_getns(bytes, q, n);
  else
    upcr_getn(bytes, q, n);
  unsigned __int128 all = 0;
  memcpy(&all, bytes, 9);
  all &= ~((unsigned __int128)mask << shift);
  all |= (unsigned __int128)(value & mask) << shift;
  memcpy(bytes, &all, 9);
  if (strict)
    upcr_putns(q, bytes, n);
  else
    upcr_putn(q, bytes, n);
  return extract(bytes, shift, width, is_signed);
}

/* ---- copies; those of a few words call nothing */

void upc_memget(void *dst, upcr_pts_t src, size_t n) {
  const char *from = upcr_mapped(src);
  upcr_serve();
  if (from) {
    gexx_rma_copy(dst, from, n);
  } else {
    RT_SITE("upc_memget");
    rt_far_getn(dst, src, n);
  }
}

void upc_memput(upcr_pts_t dst, const void *src, size_t n) {
  char *to = upcr_mapped(dst);
  if (to) {
    gexx_rma_copy(to, src, n);
  } else {
    RT_SITE("upc_memput");
    rt_far_putn(dst, src, n);
  }
}

/* A copy of which a side is not mapped here. */
static void copy_far(upcr_pts_t dst, upcr_pts_t src, size_t n) {
  char *to = upcr_mapped(dst), buffer[16384];
  const char *from = upcr_mapped(src);
  if (to)
    rt_far_getn(to, src, n);
  else if (from)
    rt_far_putn(dst, from, n);
  else
    for (size_t done = 0, k; done < n; done += k) {
      k = n - done < sizeof buffer ? n - done : sizeof buffer;
      rt_far_getn(buffer, upcr_add0(src, (long)done), k);
      rt_far_putn(upcr_add0(dst, (long)done), buffer, k);
    }
}

void upc_memcpy(upcr_pts_t dst, upcr_pts_t src, size_t n) {
  char *to = upcr_mapped(dst);
  const char *from = upcr_mapped(src);
  upcr_serve();
  if (to && from) {
    memmove(to, from, n);
  } else {
    RT_SITE("upc_memcpy");
    copy_far(dst, src, n);
  }
}

void upc_memset(upcr_pts_t dst, int c, size_t n) {
  char *to = upcr_mapped(dst), buffer[4096];
  if (to) {
    memset(to, c, n);
    return;
  }
  RT_SITE("upc_memset");
  memset(buffer, c, sizeof buffer);
  for (size_t done = 0, k; done < n; done += k) {
    k = n - done < sizeof buffer ? n - done : sizeof buffer;
    rt_far_putn(upcr_add0(dst, (long)done), buffer, k);
  }
}

RT_EXPORT void upcr_spread(upcr_pts_t p, const void *data, unsigned long count,
                           unsigned long elem_bytes, unsigned long block) {
  const char *from = data;
  if (block == 0) {
    upc_memput(p, data, count * elem_bytes);
    return;
  }
  for (unsigned long i = 0; i < count; i += block) {
    const unsigned long k = count - i < block ? count - i : block;
    upc_memput(upcr_addb(p, (long)i, elem_bytes, block), from + i * elem_bytes, k * elem_bytes);
  }
}
