/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of PMIx's binary interface, versions 3 to 5, that this library uses.
 *
 * Owns: nothing. Included by pm_pmix.c, and by pmix_abi_test.c, which compares it with pmix.h.
 * Calls: nothing. Source: PMIx Standard 4.1, chapter 3 and appendix of data types. Invariant: the
 * sizes of the structs are those of the library.
 */
#ifndef TMB_BOOT_PMIX_ABI_H
#define TMB_BOOT_PMIX_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PMIX_ABI_BOOL = 1,
  PMIX_ABI_STRING = 3,
  PMIX_ABI_UINT32 = 14,
  PMIX_ABI_GLOBAL = 3,
  PMIX_ABI_SUCCEEDED = -157 /* the operation was done inside the call */
};
#define PMIX_ABI_RANK_WILDCARD (UINT32_MAX - 1)
#define PMIX_ABI_JOB_SIZE      "pmix.job.size"
#define PMIX_ABI_NODEID        "pmix.nodeid"
#define PMIX_ABI_COLLECT_DATA  "pmix.collect"
#define PMIX_ABI_IMMEDIATE     "pmix.immediate"

struct pmix_abi_proc {
  char nspace[256];
  uint32_t rank;
};

struct pmix_abi_value {
  uint16_t type;
  union {
    bool flag;
    char *string;
    uint32_t uint32;
    struct {
      char *name, *value;
      char separator;
    } largest;
  } data;
};

struct pmix_abi_info {
  char key[512];
  uint32_t flags;
  struct pmix_abi_value value;
};

#endif
