/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interface of the bootstrap to the plug-in for an MPI library: who this process is, and an
 * exchange of texts.
 *
 * Owns nothing. Included by boot/pm/pm_mpi.c and by the plug-in (net/mpi), which is compiled once
 * for each binary interface of MPI. Calls libc only. Invariants: MPI is initialised and not
 * finalised when a function other than `begin` is called; all ranks make equal calls in equal
 * order. Each returns 0 or a code of MPI.
 */
#ifndef TMB_BASE_MPI_BOOT_H
#define TMB_BASE_MPI_BOOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TMB_MPI_BOOT_ABI    4 /* changes with this file */
#define TMB_MPI_BOOT_SYMBOL "tombolo_mpi_boot"

struct tmb_mpi_boot {
  uint32_t abi;   /* TMB_MPI_BOOT_ABI */
  uint32_t first; /* 1: MPI cannot be initialised any more where PMIx is in use, as Open MPI 5 */
  /* Initialise MPI. in level: thread level as TOMBOLO_MPI_THREAD has it, or NULL. */
  int (*begin)(const char *level);
  int (*open)(uint32_t *rank, uint32_t *size);
  /* All ranks' texts one behind the other. in mine: [bytes]; idle: called now and then while others
   * are late, or NULL. out all: [total], malloc'd. */
  int (*share)(const char *mine, size_t bytes, void (*idle)(void), char **all, size_t *total);
  /* out host_of: [size] lowest rank that shares memory with each. */
  int (*hosts)(uint32_t *host_of);
  /* MPI's text for a code that one of these has returned. out text: [bytes], terminated. */
  void (*explain)(int code, char *text, size_t bytes);
  /* Finalise the MPI that `begin` has initialised, unless the conduit has taken it over. */
  void (*end)(void);
};

/* The value of a key in texts of lines KEY=VALUE. in all: NULL: none. out value: [bytes]. Returns
 * whether the key is there. */
static inline bool tmb_mpi_boot_find(const char *all, const char *key, char *value, size_t bytes) {
  const size_t length = strlen(key);
  for (const char *at = all; at && *at; at = strchr(at, '\n') + 1) {
    if (strncmp(at, key, length) != 0 || at[length] != '=') continue;
    const char *from = at + length + 1;
    snprintf(value, bytes, "%.*s", (int)strcspn(from, "\n"), from);
    return true;
  }
  return false;
}

#endif
