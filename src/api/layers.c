/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layers of the library, in the order in which each is called.
 *
 * Owns: the array. Called by gex_Client_Init and gasnet_init, once. Calls: core, which calls the
 * layers from here on (core/layer.h). The order: a layer comes after those that it uses. Being
 * reached from the initialisation by name, every layer is in every program that is linked with the
 * static library, also before the program's own constructors run. Invariant: a module of core or of
 * a folder above it that wants to be called is in this list and nowhere else.
 */
#include "coll/calls/start.h"
#include "core/am/kit.h"
#include "core/client/client.h"
#include "core/mk/mk_move.h"
#include "core/op/lost.h"
#include "core/team.h"
#include "core/team/barrier.h"
#include "core/team/shrink.h"
#include "net/defaults/defaults.h"
#include "notify/notify.h"
#include "notify/tagged.h"
#include "os/processor/fpu.h"
#include "ratomic/ratomic.h"
#include "vis/vis.h"

#include <gasnet.h>

static const struct tmb_layer *const layers[] = {
    &tmb_team_layer,          /* which teams have lost a member */
    &tmb_track_layer,         /* which operations have */
    &tmb_kit_layer,           /* internal messages: acknowledgement, pieces */
    &tmb_default_layer,       /* puts, gets and signals made of messages */
    &tmb_default_frag_layer,  /* Longs and puts with a signal in pieces */
    &tmb_stats_layer,         /* counts the messages of the layers before it */
    &tmb_team_gather_layer,   /* all-gather for the set-up of others */
    &tmb_barrier_words_layer, /* control words of barriers */
    &tmb_barrier_layer,       /* barriers of teams */
    &tmb_shrink_layer,        /* teams of survivors */
    &tmb_mk_layer,            /* puts and gets of device memory */
    &tmb_vis_layer,           /* non-contiguous transfers: origin */
    &tmb_vis_serve_layer,     /* and target */
    &tmb_ratomic_layer,       /* atomics without a domain, by message */
    &tmb_domain_layer,        /* atomic domains */
    &tmb_mk_signal_layer,     /* puts and gets of device memory with signals */
    &tmb_index_layer,         /* index of signals */
    &tmb_sem_layer,           /* semaphores */
    &tmb_deferred_layer,      /* puts with a signal that wait for room */
    &tmb_tagged_layer,        /* tagged notification: matching */
    &tmb_tagged_send_layer,   /* sending */
    &tmb_tagged_get_layer,    /* reading */
    &tmb_coll_layer,          /* collectives */
    &tmb_signature_layer,     /* compares the calls of a team's members, in debug jobs */
};

/* Sets the variables that the inlines of GASNet-1 read. After a failure those inlines, too, get the
 * team that leads to a check. */
static int begin_legacy(const struct gexx_client_args *init, int rc) {
  if (rc == GASNET_OK) {
    gasneti_mynode = tmb_job.rank;
    gasneti_nodes = tmb_job.size;
  }
  if (rc == GASNET_OK ? (init->flags & GEX_FLAG_USES_GASNET1) != 0 : !tmb_job_ready())
    gexx_legacy_tm = &tmb_job.tm;
  return rc;
}

/* Begins a client; its floating-point state stays as it is. */
typedef int begin_fn(const struct gexx_client_args *init, const struct tmb_layer *const *layers,
                     size_t count);

static int begin(const struct gexx_client_args *init, begin_fn *by) {
  struct tmb_fpu clients;
  tmb_fpu_hold(&clients);
  const int rc = begin_legacy(init, by(init, layers, TMB_ARRAY_LEN(layers)));
  tmb_fpu_restore(&clients);
  return rc;
}

int gexx_client_init(const struct gexx_client_args *init) {
  return begin(init, tmb_client_init);
}

int gexx_client_join(const struct gexx_client_args *init) {
  return begin(init, tmb_client_join);
}
