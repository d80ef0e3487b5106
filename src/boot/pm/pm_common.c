/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common code of the interfaces to process managers: the MPI library of this process, waits, and
 * the map of hosts as process managers write it.
 *
 * Owns: no state. Called by pm.c and by the tables of pm.h. Calls: dl, base, os. Invariant: a
 * library that is not in the process yet is not loaded.
 */
#define _GNU_SOURCE
#include "boot/pm/pm.h"

#include "base/error.h"
#include "base/log.h"
#include "os/os.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define IDLE_NS 1000000u /* between calls of `idle`; chosen */

/* ---- MPI in this process */

struct search {
  char path[4096];
};

static int look_for_mpi(struct dl_phdr_info *info, size_t bytes, void *arg) {
  struct search *s = arg;
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *file = slash ? slash + 1 : info->dlpi_name;
  (void)bytes;
  if (strncmp(file, "libmpi.so", 9) != 0 && strncmp(file, "libmpich.so", 11) != 0) return 0;
  snprintf(s->path, sizeof s->path, "%s", info->dlpi_name);
  return 1;
}

void *tmb_pm_mpi_library(void) {
  struct search s = {""};
  if (!dl_iterate_phdr(look_for_mpi, &s)) return NULL;
  return dlopen(s.path, RTLD_NOW | RTLD_NOLOAD);
}

/* MPI_Initialized and MPI_Finalized have this interface in all MPIs. */
static bool ask_mpi(void *library, const char *name) {
  int (*const function)(int *) = (int (*)(int *))(uintptr_t)dlsym(library, name);
  int answer = 0;
  return function && function(&answer) == 0 && answer;
}

bool tmb_pm_mpi_begun(bool *finalized) {
  void *library = tmb_pm_mpi_library();
  *finalized = library && ask_mpi(library, "MPI_Finalized");
  const bool begun = library && ask_mpi(library, "MPI_Initialized");
  if (library) dlclose(library);
  return begun;
}

/* ---- waits */

uint64_t tmb_pm_wait_ns(const struct tmb_pm *pm, uint64_t *since_ns) {
  const uint64_t now_ns = tmb_os_now_ns(), note_ns = TMB_PM_NOTE_S * UINT64_C(1000000000);
  if (pm->idle) pm->idle();
  if (!*since_ns) *since_ns = now_ns;
  if (*since_ns <= now_ns && now_ns - *since_ns >= note_ns) {
    tmb_print("rank %u has waited %d s for others of the %u ranks that %s has started; every "
              "program of the job must use this library and initialise it",
              pm->rank, TMB_PM_NOTE_S, pm->size, pm->who);
    *since_ns = UINT64_MAX; /* it is said */
  }
  return pm->idle ? IDLE_NS : note_ns;
}

/* ---- hosts */

int tmb_pm_parse_mapping(const char *text, uint32_t size, uint32_t *host_of) {
  uint32_t rank = 0;
  const char *const list = text + strcspn(text, ",");
  if (strncmp(text, "(vector,", 8) != 0) return TMB_E_ARG;
  /* The list is used anew for ranks beyond its end. */
  while (rank < size) {
    const uint32_t before = rank;
    for (const char *at = strchr(list, '('); at; at = strchr(at + 1, '(')) {
      unsigned first, hosts, each;
      if (sscanf(at, "(%u,%u,%u)", &first, &hosts, &each) != 3) return TMB_E_ARG;
      for (uint64_t i = 0; i < (uint64_t)hosts * each && rank < size; i++)
        host_of[rank++] = first + (uint32_t)(i / each);
    }
    if (rank == before) return TMB_E_ARG;
  }
  return TMB_OK;
}
