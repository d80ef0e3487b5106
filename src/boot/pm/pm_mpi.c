/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI as process manager: for a program that has called MPI_Init before it initialises this
 * library, and for the conduit mpi over an MPI that cannot be initialised later. MPI may then hold
 * the launcher's only connection (PMI_FD), so that ranks meet through MPI itself.
 *
 * Owns: struct store, one for the process. Called through its table. Calls: the plug-in
 * tombolo-net-mpi-ABI.so (net/mpi), which is linked with the MPI library of the program. Values are
 * collected in a text, "KEY=VALUE" lines; a fence exchanges the texts. Invariants: the plug-in
 * finds the MPI library of the process and never loads another; where there is none, it brings it.
 */
#define _GNU_SOURCE
#include "boot/pm/pm.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mpi_boot.h"
#include "os/process/code.h"

#include "build_info.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  WHY_BYTES = 256, /* of MPI's text for an error */
  FILE_BYTES = 64  /* of the plug-in's name */
};

struct store {
  const struct tmb_mpi_boot *mpi;
  char *mine, *all; /* texts; mine: since the last fence; all: of all fences so far */
  size_t mine_bytes, all_bytes;
  int line;    /* MPICH's descriptor of PMI-1, on which its launcher expects a report of the end */
  ino_t inode; /* of it */
};

/* ---- the plug-in */

const char *tmb_pm_mpi_abi(void) {
  void *library = tmb_pm_mpi_library();
  if (!library) return NULL;
  const bool open = dlsym(library, "ompi_mpi_comm_world") != NULL;
  dlclose(library);
  return open ? "openmpi" : "mpich";
}

static void *open_in(const char *folder, int length, const char *below, const char *file) {
  char path[PATH_MAX];
  const int n = snprintf(path, sizeof path, "%.*s/%s%s", length, folder, below, file);
  if (n >= (int)sizeof path || access(path, F_OK) != 0) return NULL;
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Beside this library, where it is installed, or where the loader looks. */
static void *open_plugin(const char *file) {
  Dl_info self;
  const char *slash = dladdr((const void *)&tmb_pm_mpi, &self) && self.dli_fname
                          ? strrchr(self.dli_fname, '/')
                          : NULL;
  const int length = slash ? (int)(slash - self.dli_fname) : 0;
  void *library = length ? open_in(self.dli_fname, length, "tombolo/", file) : NULL;
  if (!library && length) library = open_in(self.dli_fname, length, "", file);
  if (!library) library = open_in(TMB_LIBRARY_DIR, (int)strlen(TMB_LIBRARY_DIR), "tombolo/", file);
  return library ? library : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static const char remedy[] =
    "initialise this library before MPI_Init, or start the program by `tombolo run`";

/* MPI's text for its code. */
static const char *explain(const struct store *s, int code, char *text, size_t bytes) {
  s->mpi->explain(code, text, bytes);
  return text;
}

/* The plug-in's table for an MPI, NULL if there is none. out file: the plug-in's name; library:
 * NULL, and dlerror says why. */
static const struct tmb_mpi_boot *find_plugin(const char *abi, char file[FILE_BYTES],
                                              void **library) {
  snprintf(file, FILE_BYTES, "tombolo-net-mpi-%s.so", abi);
  *library = open_plugin(file);
  const struct tmb_mpi_boot *mpi = *library ? dlsym(*library, TMB_MPI_BOOT_SYMBOL) : NULL;
  return mpi && mpi->abi == TMB_MPI_BOOT_ABI ? mpi : NULL;
}

bool tmb_pm_mpi_first(const char *abi) {
  char file[FILE_BYTES];
  void *library;
  if (tmb_os_program_is_static()) return false;
  const struct tmb_mpi_boot *mpi = find_plugin(abi, file, &library);
  return mpi && mpi->first;
}

/* Initialise MPI, unless the program has done so. */
static int begin(const struct tmb_pm *pm, const struct store *s) {
  bool finalized;
  const int rc = tmb_pm_mpi_begun(&finalized) ? 0 : s->mpi->begin(tmb_cfg_str(TMB_CFG_MPI_THREAD));
  if (rc)
    tmb_print("%s cannot be initialised (MPI_Init_thread returns %d); choose another network by "
              "TOMBOLO_CONDUIT",
              pm->who, rc);
  return rc;
}

static int mpi_open(struct tmb_pm *pm) {
  struct store *s = pm->state;
  char file[FILE_BYTES], text[WHY_BYTES];
  void *library;
  snprintf(pm->who, sizeof pm->who, "MPI (%s)", tmb_pm_mpi_abi());
  s->mpi = find_plugin(tmb_pm_mpi_abi(), file, &library);
  if (!s->mpi) {
    tmb_print(
        "this program has called MPI_Init before it initialised this library, which then needs "
        "its plug-in %s in the folder 'tombolo' beside it: %s; install it, or initialise this "
        "library first",
        file, library ? "it is of another version" : dlerror());
    return TMB_E_NOT_FOUND;
  }
  tmb_pm_pmi1_find(&s->line, &s->inode);
  if (tmb_env_get("SLURM_STEP_ID")) s->line = -1; /* srun speaks PMI-2, and needs no report */
  if (begin(pm, s)) return TMB_E_SYS;
  const int rc = s->mpi->open(&pm->rank, &pm->size);
  if (rc)
    tmb_print("%s refuses to duplicate MPI_COMM_WORLD (MPI_Comm_dup): %s; %s", pm->who,
              explain(s, rc, text, sizeof text), remedy);
  return rc ? TMB_E_SYS : TMB_OK;
}

/* ---- the store */

static bool append(char **text, size_t *bytes, const char *more, size_t count) {
  char *longer = realloc(*text, *bytes + count + 1);
  if (!longer) return false;
  memcpy(longer + *bytes, more, count);
  *text = longer;
  *bytes += count;
  longer[*bytes] = '\0';
  return true;
}

static int mpi_put(struct tmb_pm *pm, const char *key, const char *value) {
  struct store *s = pm->state;
  char line[TMB_PM_KEY_BYTES + TMB_PM_VALUE_BYTES + 2];
  const int n = snprintf(line, sizeof line, "%s=%s\n", key, value);
  if (n < (int)sizeof line && append(&s->mine, &s->mine_bytes, line, (size_t)n)) return TMB_OK;
  tmb_print("out of memory for what rank %u sends the others", pm->rank);
  return TMB_E_NOMEM;
}

static int mpi_fence(struct tmb_pm *pm) {
  struct store *s = pm->state;
  char *got = NULL, text[WHY_BYTES];
  size_t bytes = 0;
  int rc = s->mpi->share(s->mine ? s->mine : "", s->mine_bytes, pm->idle, &got, &bytes);
  if (rc)
    tmb_print("rank %u cannot exchange data through %s (MPI_Allgather): %s; %s", pm->rank, pm->who,
              explain(s, rc, text, sizeof text), remedy);
  else if (!append(&s->all, &s->all_bytes, got, bytes))
    rc = TMB_E_NOMEM;
  free(got);
  s->mine_bytes = 0;
  return rc ? TMB_E_SYS : TMB_OK;
}

static int mpi_get(struct tmb_pm *pm, uint32_t owner, const char *key, char *value) {
  const struct store *s = pm->state;
  (void)owner;
  return tmb_mpi_boot_find(s->all, key, value, TMB_PM_VALUE_BYTES) ? TMB_OK : TMB_E_NOT_FOUND;
}

static int mpi_hosts(struct tmb_pm *pm, uint32_t *host_of) {
  const struct store *s = pm->state;
  return s->mpi->hosts(host_of) ? TMB_E_NOT_FOUND : TMB_OK;
}

static void mpi_leave(struct tmb_pm *pm) {
  const struct store *s = pm->state;
  if (tmb_cfg_bool(TMB_CFG_MPI_FINALIZE)) s->mpi->end();
  tmb_pm_pmi1_end(pm, s->line, s->inode);
}

static void mpi_close(struct tmb_pm *pm) {
  struct store *s = pm->state;
  free(s->mine);
  free(s->all);
  *s = (struct store){.mpi = s->mpi, .line = s->line, .inode = s->inode};
}

const struct tmb_pm_ops tmb_pm_mpi = {TMB_PM_MANDATORY("mpi", struct store, mpi),
                                      .close = mpi_close};
