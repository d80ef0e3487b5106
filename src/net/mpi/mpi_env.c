/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words of the mpi conduit: errors, and names of thread levels.
 *
 * Owns nothing. Called by the other files of this conduit. Calls: MPI, env->up, and no other file
 * of this folder. Invariant: code that ends the job gives the lock back before core does so,
 * because the end asks `drained`.
 */
#include "base/ascii.h"
#include "base/compiler.h"
#include "net/mpi/mpi_engine.h"

/* ---- thread levels */

static const struct {
  const char *name;
  int level;
} levels[] = {{"SINGLE", MPI_THREAD_SINGLE},
              {"FUNNELED", MPI_THREAD_FUNNELED},
              {"SERIALIZED", MPI_THREAD_SERIALIZED},
              {"MULTIPLE", MPI_THREAD_MULTIPLE}};

const char *nmpi_level_name(int level) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(levels); i++)
    if (levels[i].level == level) return levels[i].name;
  return "?";
}

int nmpi_level(const char *text) {
  if (!text || !*text) return MPI_THREAD_SERIALIZED;
  if (tmb_ascii_same_n(text, "MPI_THREAD_", 11)) text += 11;
  for (size_t i = 0; i < TMB_ARRAY_LEN(levels); i++)
    if (tmb_ascii_same(text, levels[i].name)) return levels[i].level;
  return -1;
}

/* ---- errors */

bool nmpi_says(const struct tmb_net *net, const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  (void)MPI_Error_string(code, text, &length);
  net->env.up->print("mpi: %s failed: %s (%s)", call, text, MPI_NAME);
  return false;
}

/* Not analysed: their callers hold the lock, which their types do not express. */
TMB_NO_LOCK_CHECK _Noreturn void nmpi_fatal(struct tmb_net *net, const char *call, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  net->ended = true;
  (void)MPI_Error_string(code, text, &length);
  tmb_lock_release(&net->lock);
  net->env.up->fatal("mpi: %s failed: %s (%s)", call, text, MPI_NAME);
}

TMB_NO_LOCK_CHECK _Noreturn void nmpi_no_memory(struct tmb_net *net, const char *what) {
  net->ended = true;
  tmb_lock_release(&net->lock);
  net->env.up->fatal("mpi: out of memory for %s", what);
}
