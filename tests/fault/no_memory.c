/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client in which memory runs out: `no_memory N` refuses the N-th request of the library's code
 * on the last rank, during initialisation, attach and publication; 0: none. Prints the call that
 * has returned an error and its code, or "all is well" and how many requests there were. Driven by
 * memory.py.
 */
/* mode: PAR */
/* ranks: 2 */
#define _GNU_SOURCE
#include <gasnetex.h>

#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);

static struct { uintptr_t begin, end; } code[8]; /* of the library and its conduits */
static int codes;
static bool counts;
static long asked, refused; /* by calls of that code */

static int find_code(struct dl_phdr_info *info, size_t bytes, void *arg) {
  (void)bytes, (void)arg;
  if (!strstr(info->dlpi_name, "libtombolo") && !strstr(info->dlpi_name, "tombolo-net-")) return 0;
  for (int i = 0; i < info->dlpi_phnum && codes < 8; i++) {
    const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
    if (p->p_type != PT_LOAD || !(p->p_flags & PF_X)) continue;
    code[codes].begin = info->dlpi_addr + p->p_vaddr;
    code[codes++].end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
  }
  return 0;
}

/* Conduits are loaded later, so the code is looked for again. */
static bool refuses(const void *caller) {
  const uintptr_t at = (uintptr_t)caller;
  if (!counts) return false;
  codes = 0;
  dl_iterate_phdr(find_code, NULL);
  for (int i = 0; i < codes; i++)
    if (at >= code[i].begin && at < code[i].end) {
      if (++asked != refused) return false;
      errno = ENOMEM;
      return true;
    }
  return false;
}

#define CALLER __builtin_return_address(0)

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
# define REPLACES 1

void *malloc(size_t bytes) {
  return refuses(CALLER) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  return refuses(CALLER) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  return refuses(CALLER) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t bytes) {
  return refuses(CALLER) ? NULL : __libc_memalign(align, bytes);
}

#else
# define REPLACES 0 /* a sanitizer, or another C library, has an allocator of its own */
#endif

static int report(const char *call, int rc) {
  counts = false;
  printf("%s: %s\n", call, gasnet_ErrorName(rc));
  return 7;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  const char *const rank = getenv("TOMBOLO_BOOT"); /* VERSION:RANK:... */
  if (argc > 1 && !REPLACES) return 77;
  if (rank && rank[2] == '1' && argc > 1) {
    refused = atol(argv[1]);
    counts = true;
  }
  int rc = gex_Client_Init(&client, &ep, &tm, "POOR", NULL, NULL, 0);
  if (rc != GASNET_OK) return report("gex_Client_Init", rc);
  rc = gex_Segment_Attach(&segment, tm, GASNET_PAGESIZE);
  if (rc != GASNET_OK) return report("gex_Segment_Attach", rc);
  rc = gex_EP_PublishBoundSegment(tm, &ep, 1, 0);
  if (rc != GASNET_OK) return report("gex_EP_PublishBoundSegment", rc);
  counts = false;
  if (gex_TM_QueryRank(tm) == 1) printf("all is well after %ld requests\n", asked);
  gasnet_exit(0);
}
