/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx: the library libpmix.so.2, loaded when used; one for this library and for an MPI in this
 * process, which counts its initialisations.
 *
 * Owns: struct pmix, one for the process. Called through its table. Calls: libpmix, base. The few
 * types and constants of its binary interface are declared here (pmix_abi.h), so that nothing of it
 * is needed to build; a test compares them with pmix.h where that is installed. Source: PMIx
 * Standard 4.1. Invariants: leaves at most once. Open MPI 5 fails in MPI_Init where PMIx is
 * initialised already, so PMIx is finalised where the bootstrap needs it no more.
 */
#define _GNU_SOURCE
#include "boot/pm/pm.h"
#include "boot/pm/pmix_abi.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "os/process/code.h"
#include "os/sync/futex.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pending {
  uint32_t done;
  int status;
};

struct pmix {
  void *library; /* stays loaded: threads of its own may run in it */
  int (*init)(struct pmix_abi_proc *self, void *info, size_t count);
  int (*finalize)(const void *info, size_t count);
  int (*put)(uint8_t scope, const char *key, struct pmix_abi_value *value);
  int (*commit)(void);
  int (*fence_nb)(const struct pmix_abi_proc *procs, size_t count, const struct pmix_abi_info *info,
                  size_t infos, void (*done)(int, void *), void *arg);
  int (*get)(const struct pmix_abi_proc *proc, const char *key, const struct pmix_abi_info *info,
             size_t count, struct pmix_abi_value **value);
  const char *(*error_text)(int status);
  struct pmix_abi_proc self;
  struct pending fence; /* one at a time; the library may answer after we have given up */
  uint32_t left;
};

static int fail(const struct tmb_pm *pm, const char *what, int status) {
  const struct pmix *p = pm->state;
  tmb_print("rank %u: %s: %s: %s", pm->rank, pm->who, what,
            p->error_text ? p->error_text(status) : "failed");
  return TMB_E_PROTOCOL;
}

/* ---- opening */

static int load(struct pmix *p) {
  const struct {
    void **to;
    const char *name;
  } symbols[] = {{(void **)&p->init, "PMIx_Init"},
                 {(void **)&p->finalize, "PMIx_Finalize"},
                 {(void **)&p->put, "PMIx_Put"},
                 {(void **)&p->commit, "PMIx_Commit"},
                 {(void **)&p->fence_nb, "PMIx_Fence_nb"},
                 {(void **)&p->get, "PMIx_Get"},
                 {(void **)&p->error_text, "PMIx_Error_string"}};
  const bool alone = tmb_os_program_is_static();
  p->library = alone ? NULL : dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
  const char *why = p->library ? NULL
                    : alone    ? "it is linked with -static; link it without"
                               : dlerror();
  for (size_t i = 0; p->library && i < TMB_ARRAY_LEN(symbols); i++)
    if (!(*symbols[i].to = dlsym(p->library, symbols[i].name)) && !why) why = dlerror();
  if (!why) return TMB_OK;
  const char *rank = tmb_env_get("PMIX_RANK"), *version = tmb_env_get("PMIX_VERSION");
  tmb_print(
      "this program was started through PMIx %s as rank %s, but libpmix.so.2 cannot be loaded "
      "(%s); install it (Debian: libpmix2) or add its folder to LD_LIBRARY_PATH",
      version ? version : "", rank ? rank : "?", why);
  return TMB_E_NOT_FOUND;
}

static struct pmix_abi_info flag_info(const char *key) {
  struct pmix_abi_info info = {.value = {.type = PMIX_ABI_BOOL, .data.flag = true}};
  snprintf(info.key, sizeof info.key, "%s", key);
  return info;
}

/* A number that the manager knows. in rank: of whom; PMIX_ABI_RANK_WILDCARD: of the job. */
static int get_number(const struct pmix *p, uint32_t rank, const char *key, uint32_t *number) {
  struct pmix_abi_proc proc = p->self;
  struct pmix_abi_value *value = NULL;
  proc.rank = rank;
  int rc = p->get(&proc, key, NULL, 0, &value);
  if (rc == 0 && value && value->type == PMIX_ABI_UINT32)
    *number = value->data.uint32;
  else
    rc = rc ? rc : -1;
  free(value);
  return rc;
}

static int pmix_open(struct tmb_pm *pm) {
  struct pmix *p = pm->state;
  snprintf(pm->who, sizeof pm->who, "%s (PMIx)",
           tmb_env_get("OMPI_COMM_WORLD_SIZE") ? "mpirun"
           : tmb_env_get("SLURM_STEP_ID")      ? "srun"
                                               : "the process manager");
  int rc = load(p);
  if (rc) return rc;
  rc = p->init(&p->self, NULL, 0);
  if (rc) return fail(pm, "PMIx_Init", rc);
  pm->rank = p->self.rank;
  rc = get_number(p, PMIX_ABI_RANK_WILDCARD, PMIX_ABI_JOB_SIZE, &pm->size);
  return rc ? fail(pm, "the number of ranks", rc) : TMB_OK;
}

/* ---- making room for MPI */

/* Whether the MPI that this program has, or is started by, does not share PMIx. */
static bool mpi_is_first(void) {
  char text[8192] = ""; /* the most of all MPIs; Open MPI writes 256 at most */
  int length = 0;
  void *library = tmb_pm_mpi_library();
  if (!library) {
    const char *job = tmb_env_get("PMIX_NAMESPACE"); /* its launcher is called prterun */
    return job && strncmp(job, "prterun", 7) == 0;
  }
  int (*const ask)(char *, int *) =
      (int (*)(char *, int *))(uintptr_t)dlsym(library, "MPI_Get_library_version");
  if (ask) (void)ask(text, &length);
  dlclose(library);
  return strncmp(text, "Open MPI v", 10) == 0 && strtol(text + 10, NULL, 10) >= 5;
}

static void pmix_leave(struct tmb_pm *pm) {
  struct pmix *p = pm->state;
  if (!tmb_xchg_acq_rel(&p->left, 1u)) (void)p->finalize(NULL, 0);
}

static void pmix_rest(struct tmb_pm *pm) {
  if (mpi_is_first()) pmix_leave(pm);
}

/* ---- the store */

static int pmix_put(struct tmb_pm *pm, const char *key, const char *text) {
  struct pmix *p = pm->state;
  struct pmix_abi_value value = {.type = PMIX_ABI_STRING};
  value.data.string = (char *)(uintptr_t)text;
  const int rc = p->put(PMIX_ABI_GLOBAL, key, &value);
  return rc ? fail(pm, "PMIx_Put", rc) : TMB_OK;
}

static void on_fence(int status, void *arg) {
  struct pending *f = arg;
  f->status = status;
  tmb_store_rel(&f->done, 1u);
  (void)tmb_futex_wake(&f->done, 1);
}

static int pmix_fence(struct tmb_pm *pm) {
  struct pmix *p = pm->state;
  struct pending *fence = &p->fence;
  struct pmix_abi_proc all = p->self;
  const struct pmix_abi_info collect = flag_info(PMIX_ABI_COLLECT_DATA);
  int rc = p->commit();
  if (rc) return fail(pm, "PMIx_Commit", rc);
  all.rank = PMIX_ABI_RANK_WILDCARD;
  *fence = (struct pending){0};
  rc = p->fence_nb(&all, 1, &collect, 1, on_fence, fence);
  if (rc == PMIX_ABI_SUCCEEDED) return TMB_OK; /* done at once: nobody calls back */
  if (rc) return fail(pm, "PMIx_Fence", rc);
  for (uint64_t since_ns = 0; !tmb_load_acq(&fence->done);)
    (void)tmb_futex_wait(&fence->done, 0, tmb_pm_wait_ns(pm, &since_ns));
  return fence->status ? fail(pm, "PMIx_Fence", fence->status) : TMB_OK;
}

static int pmix_get(struct tmb_pm *pm, uint32_t owner, const char *key, char *text) {
  struct pmix *p = pm->state;
  struct pmix_abi_proc proc = p->self;
  struct pmix_abi_value *value = NULL;
  const struct pmix_abi_info at_once = flag_info(PMIX_ABI_IMMEDIATE);
  proc.rank = owner;
  const int rc = p->get(&proc, key, &at_once, 1, &value);
  const bool good = rc == 0 && value && value->type == PMIX_ABI_STRING && value->data.string;
  if (good) snprintf(text, TMB_PM_VALUE_BYTES, "%s", value->data.string);
  if (good) free(value->data.string);
  free(value);
  return good ? TMB_OK : TMB_E_NOT_FOUND;
}

static int pmix_hosts(struct tmb_pm *pm, uint32_t *host_of) {
  int rc = 0;
  for (uint32_t r = 0; r < pm->size && !rc; r++)
    rc = get_number(pm->state, r, PMIX_ABI_NODEID, &host_of[r]);
  return rc ? TMB_E_NOT_FOUND : TMB_OK;
}

const struct tmb_pm_ops tmb_pm_pmix = {TMB_PM_MANDATORY("pmix", struct pmix, pmix),
                                       .rest = pmix_rest};
