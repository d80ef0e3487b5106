/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process manager that has started this process, and code that all of them share: values of any
 * length.
 *
 * Owns: no state. Called by boot and bootstrap_pm. Calls: the tables of pm.h, pm_common.c, base.
 * Invariants:
 * a process that a rank starts is no rank, although it inherits the manager's variables: the rank
 * has left its process number in TOMBOLO_BOOT_TAKEN; an MPI that has been initialised is used
 * before anything else, because it may hold the manager's only connection.
 */
#include "boot/pm/pm.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/boot.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAKEN_ENV "TOMBOLO_BOOT_TAKEN" /* process that the manager's variables belong to */

/* As TOMBOLO_LAUNCHER spells them. */
enum launcher {
  LAUNCHER_AUTO,
  LAUNCHER_NONE,
  LAUNCHER_PMIX,
  LAUNCHER_PMI1,
  LAUNCHER_PMI2,
  LAUNCHER_MPI
};

/* ---- variables of the environment */

static bool is_there(const char *name) {
  const char *text = tmb_env_get(name);
  return text && *text;
}

static uint32_t number(const char *name) {
  const char *text = tmb_env_get(name);
  return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

/* Whether the manager's variables belong to a rank that has started this process. */
static bool taken_by_parent(void) {
  const char *text = tmb_env_get(TAKEN_ENV);
  return text && strtol(text, NULL, 10) != (long)getpid();
}

static bool has_pmix(void) {
  return is_there("PMIX_NAMESPACE") && is_there("PMIX_RANK");
}

static bool has_pmi(void) {
  return is_there("PMI_FD") && is_there("PMI_RANK") && is_there("PMI_SIZE");
}

const char *tmb_pm_started_by(uint32_t *rank, uint32_t *size) {
  static const struct {
    const char *who, *rank, *size;
  } known[] = {{"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
               {"mpiexec", "PMI_RANK", "PMI_SIZE"},
               {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  *rank = *size = 0;
  if (tmb_cfg_enum(TMB_CFG_LAUNCHER) == LAUNCHER_NONE || taken_by_parent()) return NULL;
  const bool slurm = is_there("SLURM_STEP_NUM_TASKS") && !is_there("OMPI_COMM_WORLD_SIZE");
  for (size_t i = 0; i < TMB_ARRAY_LEN(known); i++) {
    if (!is_there(known[i].rank) || number(known[i].size) < 2) continue;
    *rank = number(known[i].rank);
    *size = number(known[i].size);
    return slurm ? "srun" : known[i].who;
  }
  return NULL;
}

void tmb_pm_pass(void) {
  char text[16];
  if (!has_pmix() && !has_pmi() && !is_there("SLURM_PROCID")) return;
  snprintf(text, sizeof text, "%d", (int)getppid());
  tmb_env_set(TAKEN_ENV, text);
}

void tmb_pm_mark_taken(void) {
  char text[16];
  snprintf(text, sizeof text, "%d", (int)getpid());
  tmb_env_set(TAKEN_ENV, text);
}

/* ---- MPI in this process */

const char *tmb_boot_mpi_abi(void) {
  const char *asked = tmb_cfg_str(TMB_CFG_MPI_ABI), *own = tmb_pm_mpi_abi();
  if (asked && *asked && strcmp(asked, "auto") != 0) return asked;
  if (own) return own;
  return is_there("OMPI_COMM_WORLD_SIZE") || (has_pmix() && !has_pmi()) ? "openmpi" : "mpich";
}

/* ---- choosing */

/* MPICH speaks PMI-1, and comes after us on this descriptor. */
static const struct tmb_pm_ops *pmi_ops(void) {
  void *library = tmb_pm_mpi_library();
  if (library) dlclose(library);
  return is_there("SLURM_STEP_ID") && !library ? &tmb_pm_pmi2 : &tmb_pm_pmi1;
}

/* Whether the environment says that the job has one rank. Its manager is not even greeted: an MPI
 * that the program initialises later finds the connection unused, and cannot use one that has been
 * left. */
static bool is_alone(const struct tmb_pm_ops *ops) {
  if (ops == &tmb_pm_pmi1 || ops == &tmb_pm_pmi2) return number("PMI_SIZE") == 1;
  if (ops != &tmb_pm_pmix) return false;
  if (is_there("OMPI_COMM_WORLD_SIZE")) return number("OMPI_COMM_WORLD_SIZE") == 1;
  return number("SLURM_STEP_NUM_TASKS") == 1;
}

/* Whether a job of PMIx may have several hosts, which a conduit connects. */
static bool is_spread(void) {
  const char *places = tmb_cfg_str(TMB_CFG_PLACES);
  if (places && *places) return true;
  if (is_there("OMPI_COMM_WORLD_SIZE"))
    return number("OMPI_COMM_WORLD_LOCAL_SIZE") != number("OMPI_COMM_WORLD_SIZE");
  return number("SLURM_STEP_NUM_NODES") != 1;
}

/* Whether the conduit mpi is to be used over an MPI that PMIx keeps from starting: ranks meet
 * through this MPI. */
static bool mpi_comes_first(void) {
  const char *conduit = tmb_cfg_str(TMB_CFG_CONDUIT), *abi = tmb_boot_mpi_abi();
  const bool over_mpi = conduit && strcmp(conduit, "mpi") == 0 && strcmp(abi, "openmpi") == 0;
  return over_mpi && !is_alone(&tmb_pm_pmix) && is_spread() && tmb_pm_mpi_first(abi);
}

static const struct tmb_pm_ops *automatic(void) {
  bool finalized;
  if (tmb_pm_mpi_begun(&finalized) && !finalized) return &tmb_pm_mpi;
  if (has_pmix()) return mpi_comes_first() ? &tmb_pm_mpi : &tmb_pm_pmix;
  return has_pmi() ? pmi_ops() : NULL;
}

/* The launcher that the user asks for, if possible. */
static const struct tmb_pm_ops *asked(enum launcher launcher) {
  bool finalized;
  const char *missing = NULL;
  if ((launcher == LAUNCHER_PMI1 || launcher == LAUNCHER_PMI2) && !has_pmi())
    missing = "PMI_FD, PMI_RANK and PMI_SIZE are not all set";
  if (launcher == LAUNCHER_PMIX && !has_pmix())
    missing = "PMIX_NAMESPACE and PMIX_RANK are not both set";
  if (launcher == LAUNCHER_MPI && (!tmb_pm_mpi_begun(&finalized) || finalized))
    missing = "the program has not called MPI_Init";
  if (missing)
    tmb_wrong_setting(
        "TOMBOLO_LAUNCHER=%s: %s; unset it, or start the program with a launcher that "
        "provides it",
        tmb_cfg_str(TMB_CFG_LAUNCHER), missing);
  if (launcher == LAUNCHER_PMI1) return &tmb_pm_pmi1;
  if (launcher == LAUNCHER_PMI2) return &tmb_pm_pmi2;
  return launcher == LAUNCHER_PMIX ? &tmb_pm_pmix : &tmb_pm_mpi;
}

/* Each of these processes would be a job of its own, unnoticed. */
static int refuse_singletons(const char *who, uint32_t rank, uint32_t size) {
  const bool slurm = strcmp(who, "srun") == 0;
  tmb_print("this program was started by %s as rank %u of %u, through which its ranks cannot "
            "exchange addresses: %s, or use 'tombolo run -n %u', or set TOMBOLO_LAUNCHER=none to "
            "start %u "
            "separate programs",
            who, rank, size,
            slurm ? "use srun --mpi=pmix or --mpi=pmi2"
                  : "PMIx or PMI through a descriptor (PMI_FD) is needed",
            size, size);
  return TMB_E_UNSUPPORTED;
}

void tmb_pm_close(struct tmb_pm *pm) {
  if (pm->ops->close) pm->ops->close(pm);
}

int tmb_pm_find(struct tmb_pm *pm) {
  const enum launcher launcher = (enum launcher)tmb_cfg_enum(TMB_CFG_LAUNCHER);
  memset(pm, 0, sizeof *pm);
  if (launcher == LAUNCHER_NONE || taken_by_parent()) return TMB_E_NOT_FOUND;
  pm->ops = launcher == LAUNCHER_AUTO ? automatic() : asked(launcher);
  if (!pm->ops) {
    uint32_t rank, size;
    const char *who = tmb_pm_started_by(&rank, &size);
    return who ? refuse_singletons(who, rank, size) : TMB_E_NOT_FOUND;
  }
  if (is_alone(pm->ops)) return TMB_E_NOT_FOUND;
  pm->state = calloc(1, pm->ops->state_bytes);
  if (!pm->state) {
    tmb_print("out of memory for the process manager (%s)", pm->ops->name);
    return TMB_E_NOMEM;
  }
  int rc = pm->ops->open(pm);
  if (!rc && pm->size > 1) return TMB_OK;
  if (!rc) {
    pm->ops->leave(pm);
    tmb_pm_close(pm);
    rc = TMB_E_NOT_FOUND;
  }
  free(pm->state);
  pm->state = NULL;
  return rc;
}

/* ---- values */

enum { CHUNK_BYTES = (TMB_PM_VALUE_BYTES - 1) / 2 };

static void chunk_key(char *text, const char *key, size_t index) {
  snprintf(text, TMB_PM_KEY_BYTES, "%.24s.%zu", key, index);
}

int tmb_pm_put_data(struct tmb_pm *pm, const char *key, const void *data, size_t bytes) {
  char name[TMB_PM_KEY_BYTES], value[TMB_PM_VALUE_BYTES];
  const uint8_t *from = data;
  int rc = TMB_OK;
  for (size_t at = 0; at < bytes && !rc; at += CHUNK_BYTES) {
    const size_t n = TMB_MIN(bytes - at, (size_t)CHUNK_BYTES);
    for (size_t i = 0; i < n; i++) snprintf(value + 2 * i, 3, "%02x", from[at + i]);
    chunk_key(name, key, at / CHUNK_BYTES);
    rc = pm->ops->put(pm, name, value);
  }
  return rc;
}

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(const char *text, uint8_t *to, size_t bytes) {
  if (strlen(text) != 2 * bytes) return false;
  for (size_t i = 0; i < bytes; i++) {
    const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    to[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

int tmb_pm_get_data(struct tmb_pm *pm, uint32_t owner, const char *key, void *data, size_t bytes) {
  char name[TMB_PM_KEY_BYTES], value[TMB_PM_VALUE_BYTES];
  for (size_t at = 0; at < bytes; at += CHUNK_BYTES) {
    const size_t n = TMB_MIN(bytes - at, (size_t)CHUNK_BYTES);
    chunk_key(name, key, at / CHUNK_BYTES);
    const int rc = pm->ops->get(pm, owner, name, value);
    if (rc) return rc;
    if (!decode(value, (uint8_t *)data + at, n)) return TMB_E_NOT_FOUND;
  }
  return TMB_OK;
}
