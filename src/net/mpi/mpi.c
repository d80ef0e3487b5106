/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mpi conduit: networks on which MPI alone may talk. Begins MPI where the program has not,
 * makes a communicator of its own, and exports the table.
 *
 * Owns the exported symbol tombolo_net. Called by core through the table. Calls the files of this
 * folder and MPI, whose library is in the process before this plug-in, or comes with it.
 * docs/NETWORK_MPI.md describes it. Invariants: no message of this conduit meets the program's; a
 * failure of one rank ends the opening on all, and that rank has said why.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "net/mpi/mpi_engine.h"
#include "net/plugin/progress_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Credit of a peer in units of NMPI_UNIT bytes. Chosen, not measured. */
#define CREDIT_UNITS 1024u
/* ---- agreement of the ranks */

static bool agree(const struct tmb_net *net, bool ok) {
  const struct tmb_net_env *env = &net->env;
  const uint8_t mine = ok;
  env->allgather(env->ctx, &mine, 1, net->agreed);
  for (uint32_t i = 0; i < env->size; i++) ok = ok && net->agreed[i];
  return ok;
}

/* ---- threads */

/* The level that MPI is begun with here. */
static int level_wanted(const struct tmb_net *net) {
  const char *text = net->env.up->setting("TOMBOLO_MPI_THREAD");
  const int level = nmpi_level(text);
  if (level >= 0) return level;
  net->env.up->print("mpi: TOMBOLO_MPI_THREAD=%s is not SINGLE, FUNNELED, SERIALIZED or MULTIPLE; "
                     "SERIALIZED is used",
                     text);
  return MPI_THREAD_SERIALIZED;
}

/* Threads take turns in MPI because of the lock; the thread level that MPI has is another matter.
 */
static void warn_of_threads(const struct tmb_net *net, int level) {
  if (!net->env.threads || level >= MPI_THREAD_SERIALIZED || net->env.rank) return;
  net->env.up->print(
      "mpi: MPI was initialised with MPI_THREAD_%s, but this program's threads may all be in this "
      "library (GASNET_PAR); they take turns in MPI, which most MPI libraries tolerate; call "
      "MPI_Init_thread with MPI_THREAD_SERIALIZED, or MPI_THREAD_MULTIPLE if threads of the "
      "program use MPI meanwhile",
      nmpi_level_name(level));
}

/* ---- MPI */

/* Whether MPI_Init would fail: Open MPI takes no identity from a PMIx that others have begun, as
 * the bootstrap of a rank that its launcher has started. */
static bool is_late(void) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
  int (*const begun)(void) = (int (*)(void))(uintptr_t)dlsym(RTLD_DEFAULT, "PMIx_Initialized");
  return begun && begun();
#else
  return false;
#endif
}

/* See that MPI is initialised. Returns whether it is. */
static bool begin(struct tmb_net *net) {
  const struct tmb_net_up *up = net->env.up;
  int begun = 0, over = 0, level = MPI_THREAD_SINGLE;
  if (MPI_Initialized(&begun) || MPI_Finalized(&over) || over) {
    up->print("mpi: this program has called MPI_Finalize; call it later, or choose another network "
              "by TOMBOLO_CONDUIT");
    return false;
  }
  if (!begun && is_late()) {
    up->print(
        "mpi: Open MPI 5 and later cannot be initialised once PMIx is in use; unset "
        "TOMBOLO_LAUNCHER and TOMBOLO_NET_PLUGIN, or call MPI_Init before gex_Client_Init, or "
        "choose another network by TOMBOLO_CONDUIT");
    return false;
  }
  int rc = MPI_SUCCESS;
  net->owns = nmpi_boot_take() || !begun;
  const int wanted = net->owns ? level_wanted(net) : level;
  if (!begun && !agree(net, nmpi_manager_start(net))) return false;
  if (!begun) rc = MPI_Init_thread(NULL, NULL, wanted, &level);
  nmpi_manager_begun();
  if (rc != MPI_SUCCESS) return nmpi_says(net, "MPI_Init_thread", rc);
  (void)MPI_Query_thread(&level);
  warn_of_threads(net, level);
  return true;
}

/* Whether MPI has the ranks that the job has. */
static bool has_all(const struct tmb_net *net) {
  int size = 0;
  (void)MPI_Comm_size(MPI_COMM_WORLD, &size);
  if ((uint32_t)size == net->env.size) return true;
  if (!net->env.rank)
    net->env.up->print(
        "mpi: %s knows of %d ranks, but this job has %u; start it with the launcher of %s (%s -n "
        "%u), whose programs must all use this library, or choose another network by "
        "TOMBOLO_CONDUIT",
        MPI_NAME, size, net->env.size, MPI_NAME, MPI_LAUNCHER, net->env.size);
  return false;
}

/* A communicator whose ranks are numbered as the job's. Collective. */
static bool connect_all(struct tmb_net *net) {
  const char *call = "MPI_Comm_split";
  int rc = MPI_Comm_split(MPI_COMM_WORLD, 0, (int)net->env.rank, &net->comm);
  if (rc == MPI_SUCCESS) {
    call = "MPI_Comm_set_errhandler";
    rc = MPI_Comm_set_errhandler(net->comm, MPI_ERRORS_RETURN);
  }
  if (rc == MPI_SUCCESS) {
    call = "MPI_Comm_set_attr";
    rc = nmpi_watch_end(net);
  }
  return rc == MPI_SUCCESS || nmpi_says(net, call, rc);
}

static bool begin_receives(struct tmb_net *net) {
  tmb_lock_acquire(&net->lock);
  const int rc = nmpi_inbox_begin(net);
  tmb_lock_release(&net->lock);
  return rc == MPI_SUCCESS || nmpi_says(net, "MPI_Recv_init", rc);
}

/* ---- the slots */

/* Returns false when there is no memory for them. */
static bool make_buffers(struct tmb_net *net) {
  const struct tmb_net_up *up = net->env.up;
  const int64_t credit = up->setting_int("TOMBOLO_TEST_MPI_CREDITS");
  const uint32_t receives = (uint32_t)up->setting_int("TOMBOLO_TEST_MPI_RECEIVES");
  const uint32_t sends = (uint32_t)up->setting_int("TOMBOLO_TEST_MPI_SENDS");
  net->direct_bytes = (size_t)up->setting_int("TOMBOLO_TEST_MPI_DIRECT");
  net->credit = credit > 0 ? (uint32_t)credit : CREDIT_UNITS;
  net->credit_due = tmb_net_credit_due(net->credit, 1 + TMB_AM_MEDIUM_BYTES_MAX / NMPI_UNIT);
  net->agreed = calloc(net->env.size, 1);
  return net->agreed && nmpi_peers_make(&net->peers, net->env.size) &&
         nmpi_inbox_make(&net->in, receives) && nmpi_outbox_make(&net->out, sends);
}

/* Serve peers while the client computes, where MPI may be called by several threads: the program
 * may use MPI at any time, too. */
static void start_thread(struct tmb_net *net) {
  int level = MPI_THREAD_SINGLE;
  (void)MPI_Query_thread(&level);
  const uint32_t share = (uint32_t)net->env.up->setting_int("TOMBOLO_PROGRESS_SHARE");
  if (level != MPI_THREAD_MULTIPLE || !share) return;
  net->thread = tmb_progress_thread_start(&(struct tmb_progress_work){
      .net = net, .tick = &net->tick, .tend = nmpi_tend, .share = share});
  if (!net->thread)
    net->env.up->print("mpi: no progress thread: %s; raise what refuses it (ulimit -u, ulimit -n, "
                       "pids.max of the cgroup), or set TOMBOLO_PROGRESS_SHARE=0",
                       strerror(errno));
}

static void free_buffers(struct tmb_net *net) {
  nmpi_inbox_free(&net->in);
  nmpi_outbox_free(&net->out);
  nmpi_peers_free(&net->peers, net->env.size);
  free(net->agreed);
  free(net);
}

/* The requests are MPI's until it ends, and with them the buffers that it may still write to. */
static void net_close(struct tmb_net *net) {
  nmpi_leave(net, 0);
  if (net->ended) free_buffers(net);
}

static int no_memory(const struct tmb_net_env *env) {
  env->up->print("mpi: out of memory for the buffers and tables of %u ranks", env->size);
  return TMB_E_NOMEM;
}

static int net_open(const struct tmb_net_env *env, struct tmb_net **out) {
  struct tmb_net *net = aligned_alloc(TMB_CACHE_LINE, TMB_ALIGN_UP(sizeof *net, TMB_CACHE_LINE));
  if (!net) return no_memory(env);
  memset(net, 0, sizeof *net);
  net->env = *env;
  if (!make_buffers(net)) {
    free_buffers(net);
    return no_memory(env);
  }
  const bool begun = begin(net);
  bool good = agree(net, begun && has_all(net));
  if (good) good = agree(net, connect_all(net) && begin_receives(net));
  if (good) {
    start_thread(net);
    *out = net;
    return 0;
  }
  return TMB_E_SYS; /* the process ends: MPI keeps its requests */
}

const struct tmb_net_ops tombolo_net =
    TMB_NET_TABLE("mpi", net_open, net_close, nmpi_am_send, nmpi_progress, .joins_mpi = true,
                  .whole = true, .put = nmpi_put, .get = nmpi_get, .put_signal = nmpi_put_signal,
                  .get_signal = nmpi_get_signal, .am_long = nmpi_am_long, .drained = nmpi_drained,
                  .lost = nmpi_lost, .explain = nmpi_explain, .leave = nmpi_leave);
