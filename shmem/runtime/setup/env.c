/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of OpenSHMEM programs (OpenSHMEM 1.6, 8): SHMEM_SYMMETRIC_SIZE, SHMEM_VERSION,
 * SHMEM_INFO, SHMEM_DEBUG, and their older names that begin with SMA_.
 *
 * Owns nothing. Called by start.c. Calls: getenv. Invariant: a value that cannot be read ends the
 * program with its name, the value and the allowed values.
 */
#include "../sh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The variable SHMEM_NAME, or SMA_NAME. out name: that which is set. */
static const char *value_of(const char *suffix, char *name, size_t name_bytes) {
  const char *const prefix[] = {"SHMEM_", "SMA_"};
  for (size_t i = 0; i < 2; i++) {
    snprintf(name, name_bytes, "%s%s", prefix[i], suffix);
    const char *value = getenv(name);
    if (value) return value;
  }
  return NULL;
}

uint64_t sh_env_heap(void) {
  char name[64];
  const char *const text = value_of("SYMMETRIC_SIZE", name, sizeof name);
  if (!text || !*text) return 0;
  char *end = NULL;
  double value = strtod(text, &end);
  const char units[] = "kmgt";
  const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
  if (unit) value *= (double)((uint64_t)1 << (10 * (unit - units + 1)));
  const bool read_all = end != text && (*end == '\0' || (unit && end[1] == '\0'));
  if (!read_all || !(value >= 1 && value < 0x1p62))
    sh_fatal(NULL,
             "%s is '%s'; a positive number is needed, with k, m, g or t behind it for KiB to TiB "
             "[TMB-2316]",
             name, text);
  return (uint64_t)ceil(value);
}

static void print_info(void) {
  printf("%s, OpenSHMEM %d.%d\n"
         "  SHMEM_SYMMETRIC_SIZE=SIZE  bytes of the symmetric heap of each PE, with k, m, g or t; "
         "here %llu\n"
         "  SHMEM_DEBUG=1              check the arguments of each call\n"
         "  SHMEM_VERSION=1            print the version of the library at start\n"
         "  SHMEM_INFO=1               print this\n"
         "Settings of the layer below: tombolo info --config\n",
         SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION,
         (unsigned long long)(sh.bytes - sh.heap));
  fflush(stdout);
}

void sh_env_read(void) {
  char name[64];
  sh.debug = value_of("DEBUG", name, sizeof name) != NULL;
  if (sh.pe != 0) return;
  if (value_of("VERSION", name, sizeof name)) {
    printf("%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    fflush(stdout);
  }
  if (value_of("INFO", name, sizeof name)) print_info();
}
