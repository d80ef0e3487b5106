/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of tests to the mock CUDA driver, beside the driver's own functions.
 */
#ifndef TMB_TEST_CUDA_MOCK_H
#define TMB_TEST_CUDA_MOCK_H

#include <stddef.h>

/* Devices that work; one more exists that has no unified addressing. */
#define CUDA_MOCK_DEVICES 4

/* Objects that exist, and calls that were made. */
struct cuda_mock_counts {
  unsigned retains, streams, allocations, imports;
  unsigned long long copies_in, copies_out, copies, sync_memops;
  size_t pinned; /* bytes of host memory */
};

struct cuda_mock {
  void (*counts)(struct cuda_mock_counts *out);
  /* The function `symbol` fails with `result` from now on; NULL: none does. */
  void (*fail)(const char *symbol, unsigned result);
  /* Copy beside the driver; sides are device memory or not, as they are. Returns whether it could.
   */
  int (*move)(void *dest, const void *src, size_t bytes);
  /* Whether a range is device memory of this process. */
  int (*holds)(const void *addr, size_t bytes);
  /* Make a context of device 0 current that is not the primary one. NULL: none. */
  void (*select)(int other);
  /* The current context is that one, and the thread's stack has no more. */
  int (*selected)(void);
  /* Allocate in that context. */
  void *(*alloc_other)(size_t bytes);
};

#define CUDA_MOCK_ENTRY "cuda_mock"

#endif
