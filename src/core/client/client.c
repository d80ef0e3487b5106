/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initialisation: from main's first call to a rank with a client, an endpoint and a team.
 *
 * Owns: tmb_job. Called by gex_Client_Init and gasnet_init (api/layers.c), once. Calls: boot,
 * settings, conduit open, exit handlers. Order: check the client's mode; boot (may fork); settings;
 * signal handlers; conduit; objects; barrier. Invariants: on failure nothing is left running, the
 * reason has been printed, and each later call that needs the job ends the process with code 1;
 * nobody returns before everybody can receive messages.
 */
#include "core/client/client.h"

#include "core/am/am.h"
#include "core/check.h"
#include "core/client/attach.h"
#include "core/client/conduit.h"
#include "core/client/exit.h"
#include "core/client/join.h"
#include "core/client/last_thread.h"
#include "core/job.h"
#include "core/op/op.h"
#include "core/op/record.h"
#include "core/op/status.h"
#include "core/progress/net_sleep.h"
#include "core/progress/place.h"
#include "core/progress/wait.h"
#include "core/rma/cross_read.h"
#include "core/segment/segment.h"
#include "core/segment/segment_table.h"
#include "core/shared.h"
#include "core/team/endpoint.h"
#include "core/team/groups.h"

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "boot/launch/spawn.h"
#include "net/defaults/defaults.h"
#include "os/os.h"
#include "os/process/debug.h"
#include "os/sync/lock.h"

#include <gasnet.h>

#include <stdlib.h>
#include <string.h>

/* Checks are on until the client's build is known: calls before initialisation are reported in
 * every build. */

static bool boot_agree(void *ctx, bool ok) {
  const uint8_t mine = ok;
  uint8_t all[TMB_BOOT_RANKS_MAX];
  tmb_boot_allgather(ctx, &mine, sizeof mine, all);
  bool good = true;
  for (uint32_t r = 0; r < tmb_job.size; r++) good = good && all[r];
  return good;
}

/* The addresses are those of the segments of all ranks. */
static bool near_share(void *ctx, uint64_t mine, uint64_t *near) {
  const struct tmb_places *places = &tmb_job.boot.places;
  uint64_t all[TMB_BOOT_RANKS_MAX];
  bool good = true;
  tmb_boot_allgather(ctx, &mine, sizeof mine, all);
  for (uint32_t r = 0; r < tmb_job.size; r++) good = good && all[r];
  for (uint32_t r = 0; r < tmb_job.size && good; r++)
    tmb_job.peer_segment[r].base = (uintptr_t)all[r];
  for (uint32_t i = 0; i < places->near_count; i++) near[i] = all[places->near_rank[i]];
  return good;
}

/* Refuse a client whose headers do not fit this library. */
static void check_mode(const struct gexx_client_mode *mode) {
  if (mode->abi_version != GEXX_ABI_VERSION)
    tmb_fatal_nopos(
        "this program was compiled with headers of object layout %u, but this libtombolo has "
        "layout %u; recompile it with the headers of this library",
        mode->abi_version, GEXX_ABI_VERSION);
  if (mode->thread_mode < 1 || mode->thread_mode > 3)
    tmb_fatal_nopos(
        "this program asks for thread mode %u; define one of GASNET_SEQ, GASNET_PARSYNC and "
        "GASNET_PAR when compiling",
        mode->thread_mode);
}

/* An inline of one file would do nothing where that of another takes a lock. */
void gexx_client_files(const uint32_t *first, const uint32_t *last) {
  static const char *const name[] = {"no", "GASNET_SEQ", "GASNET_PARSYNC", "GASNET_PAR"};
  for (const uint32_t *mode = first; mode < last; mode++)
    if (*mode != *first)
      tmb_fatal_nopos(
          "this program has files that were compiled with %s and files with %s; compile all of "
          "them for one thread mode",
          name[*first & 3], name[*mode & 3]);
}

/* Once there is a rank: the text asks for [A-Z][A-Z0-9_]+, released clients pass "upcxx". */
static void advise_name(const char *name) {
  const size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  if (tmb_job.rank || (name[0] >= 'A' && name[0] <= 'Z' && n >= 2 && !name[n])) return;
  tmb_advise(TMB_ADVICE_CLIENT_NAME,
             "gex_Client_Init: argument clientName is \"%s\"; the API asks for [A-Z][A-Z0-9_]+",
             name);
}

static void check_init(const struct gexx_client_args *init) {
  if (!init->name) tmb_fatal_nopos("gex_Client_Init: argument clientName is NULL");
  if (!init->client_p || !init->ep_p || !init->tm_p)
    tmb_fatal_nopos("gex_Client_Init: argument %s is NULL", !init->client_p ? "client_p"
                                                            : !init->ep_p   ? "ep_p"
                                                                            : "tm_p");
}

/* Tables with one entry per rank. */
static int make_tables(void) {
  const uint32_t size = tmb_job.size, near = tmb_job.boot.places.near_count;
  tmb_job.delta = malloc(size * sizeof *tmb_job.delta);
  tmb_job.mapped_delta = malloc(near * sizeof *tmb_job.mapped_delta);
  tmb_job.peer_segment = calloc(size, sizeof *tmb_job.peer_segment);
  if (!tmb_job.delta || !tmb_job.mapped_delta || !tmb_job.peer_segment) {
    tmb_print("out of memory for the tables of %u ranks", size);
    return TMB_E_NOMEM;
  }
  for (uint32_t r = 0; r < size; r++) tmb_job.delta[r] = GEXX_UNMAPPED;
  for (uint32_t i = 0; i < near; i++) tmb_job.mapped_delta[i] = GEXX_UNMAPPED;
  return 0;
}

static int make_objects(const struct gexx_client_args *init) {
  char *name = strdup(init->name);
  if (!name) {
    tmb_print("out of memory for the client's name (%zu bytes)", strlen(init->name));
    return TMB_E_NOMEM;
  }
  advise_name(name);
  tmb_check_flags("gex_Client_Init", init->flags, GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS);
  tmb_job.client =
      (struct gexx_client_s){.magic = TMB_MAGIC_CLIENT, .flags = init->flags, .name = name};
  int rc = tmb_segtab_init();
  if (!rc) rc = tmb_op_init();
  if (rc) return rc;
  tmb_job.ep.capabilities = GEX_EP_CAPABILITY_ALL;
  tmb_ep_init(&tmb_job.ep, 0, &tmb_job.client);
  tmb_team_init_primordial(&tmb_job.team);
  tmb_place_begin(); /* the next call measures between two processors */
  tmb_shared_init();
  return tmb_groups_init(&tmb_job.team);
}

static int open_near(void) {
  const struct tmb_places *places = &tmb_job.boot.places;
  const struct tmb_near_env env = {.rank = tmb_job.rank,
                                   .index = places->near_index,
                                   .count = places->near_count,
                                   .arena_fd = tmb_job.boot.arena_fd,
                                   .segment_fd = tmb_job.boot.segment_fd,
                                   .bell_fd = tmb_job.boot.bell_fd,
                                   .handled = tmb_job.status->rings.handled,
                                   .threads = tmb_job.threads,
                                   .ctx = &tmb_job.boot,
                                   .agree = boot_agree,
                                   .share = near_share};
  const struct tmb_near *near = &tmb_job.near;
  tmb_layers_ask();
  tmb_shared_ask();
  const int rc = tmb_near_open(&tmb_job.near, &env);
  if (rc) return rc;
  struct tmb_status_rings rings = {.fd = env.arena_fd, .slots = {near->slots[0], near->slots[1]}};
  for (uint32_t reply = 0; reply < 2; reply++)
    rings.offset[reply] =
        (uint64_t)((const char *)tmb_near_ring(near, env.index, reply) - near->arena);
  tmb_status_rings(&rings);
  return 0;
}

/* The client's own default of GASNET_MAX_SEGSIZE. */
static void client_defaults(void) {
  char text[32];
  if (gasnet_max_segsize_str) {
    tmb_cfg_override(TMB_CFG_MAX_SEGSIZE, gasnet_max_segsize_str, "client (gasnet_max_segsize_str)",
                     false);
  } else if (gasnet_max_segsize) {
    snprintf(text, sizeof text, "%llu/P", (unsigned long long)gasnet_max_segsize);
    tmb_cfg_override(TMB_CFG_MAX_SEGSIZE, text, "client (gasnet_max_segsize)", false);
  }
}

static int open_conduit(void) {
  if (tmb_job.boot.places.hosts == 1) return 0;
  tmb_last_thread_network(false);
  const int rc = tmb_conduit_open();
  tmb_last_thread_network(true);
  return rc;
}

/* Switches for TOMBOLO_CHECK, record and replay: the inline forms come to it, and
 * events are live. The runtimes are loaded before the program (check/runtime, replay/runtime). */
static void checker_init(void) {
  const char *const what = tmb_cfg_str(TMB_CFG_CHECK);
  const bool ordered = tmb_cfg_str(TMB_CFG_REPLAY_AREA) != NULL;
  if (what && strstr(what, "misuse")) tmb_job.debug = true;
  tmb_job.live_events = tmb_job.debug;
  if (!ordered && (!what || (!strstr(what, "races") && !strstr(what, "leaks")))) {
    if (what && tmb_job.debug) tmb_job.counted = true;
    return;
  }
  tmb_job.live_events = true;
  tmb_job.counted = true;
}

/* Engine, conduit, layers and the client's objects, once the settings are known. */
static int open_all(const struct gexx_client_args *init) {
  int rc = tmb_nbrhd_init();
  if (!rc) rc = tmb_wait_policy_init();
  if (rc) return rc;
  tmb_cross_read_init();
  rc = make_tables();
  if (!rc) rc = open_near();
  if (!rc) rc = open_conduit();
  if (!rc) tmb_net_sleep_init();
  if (!rc) rc = tmb_layers_init();
  if (!rc) rc = make_objects(init);
  if (rc) return rc;
  tmb_segment_limits(); /* exchanges them, so all can receive messages from here on */
  tmb_place_begin();
  return 0;
}

static int bring_up(const struct gexx_client_args *init) {
  if (init->mode.conduit == GEXX_CONDUIT_UDP) tmb_boot_spawn(init->argc, init->argv);
  if (init->mode.conduit == GEXX_CONDUIT_OFI)
    tmb_cfg_override(TMB_CFG_CONDUIT, "ofi", "client (its build fragment)", false);
  if (init->mode.conduit == GEXX_CONDUIT_MPI)
    tmb_cfg_override(TMB_CFG_CONDUIT, "mpi", "client (its build fragment)", false);
  int rc = tmb_boot_start(&tmb_job.boot);
  if (rc) return rc;
  tmb_job.rank = tmb_job.boot.rank;
  tmb_job.size = tmb_job.boot.size;
  tmb_log_set_rank(tmb_job.rank);
  tmb_status_init();
  client_defaults();
  tmb_cfg_init();
  tmb_job.thread_mode = init->mode.thread_mode;
  tmb_job.threads = init->mode.thread_mode == 3;
  /* A conduit may have a thread of its own, which asks for segments and changes signals. */
  tmb_lock_init(tmb_job.threads || tmb_job.boot.places.hosts > 1);
  tmb_job.threads_max =
      init->mode.thread_mode == 1 ? 1 : (uint64_t)tmb_cfg_int(TMB_CFG_MAX_THREADS);
  tmb_job.debug = init->mode.debug != 0;
  rc = tmb_record_init();
  if (rc) return rc;
  checker_init();
  tmb_job.handlers_watched = tmb_job.debug || tmb_job.trace;
  tmb_os_freeze_set_flag(&gasnet_frozen, "gasnet_frozen");
  tmb_os_debug_init();
  tmb_exit_install(&tmb_job.boot);
  tmb_last_thread_begin();
  return open_all(init);
}

/* Initialisation has failed. A client that does not check the error goes on with the objects that
 * it gets: with checks on, each call finds that and ends the process. Inline functions reach a call
 * because the team reports every rank as unmapped (docs/DECISIONS/0091). */
static void give_up(void) {
  static const intptr_t unmapped[] = {[0 ... TMB_BOOT_RANKS_MAX - 1] = GEXX_UNMAPPED};
  tmb_job.tm = (struct gexx_tm_s){.delta = unmapped, .magic = GEXX_MAGIC_TM};
  tmb_boot_note_explained(&tmb_job.boot);
  tmb_job.state = TMB_JOB_FAILED;
  tmb_job.debug = tmb_job.live_events = true;
}

int tmb_client_init(const struct gexx_client_args *init, const struct tmb_layer *const *layers,
                    size_t count) {
  check_mode(&init->mode);
  if (tmb_job.state == TMB_JOB_READY && tmb_job.joined) {
    const int rc = tmb_client_add("gex_Client_Init", init);
    if (rc == GASNET_OK) tmb_job.joined = false;
    return rc;
  }
  if (tmb_job.state == TMB_JOB_FAILED)
    return tmb_refuse("initialisation", GASNET_ERR_NOT_INIT,
                      "it has failed before, for the reason above; a process tries once");
  if (tmb_job.state != TMB_JOB_NONE)
    return tmb_refuse(
        "initialisation", GASNET_ERR_NOT_INIT,
        "gex_Client_Init or gasnet_init was called before; a process calls one of them "
        "once");
  check_init(init);
  tmb_job.state = TMB_JOB_STARTING;
  tmb_layers_use(layers, count);
  tmb_layers_handlers(tmb_am_set_internal);
  const bool good = bring_up(init) == 0;
  if (good)
    tmb_job.state = TMB_JOB_READY;
  else
    give_up();
  *init->client_p = &tmb_job.client;
  *init->ep_p = &tmb_job.ep;
  *init->tm_p = &tmb_job.tm;
  return good ? GASNET_OK : GASNET_ERR_RESOURCE;
}

int tmb_client_join(const struct gexx_client_args *init, const struct tmb_layer *const *layers,
                    size_t count) {
  if (tmb_job.state == TMB_JOB_READY) return tmb_client_add("gexx_Client_Join", init);
  const int rc = tmb_client_init(init, layers, count);
  tmb_job.joined = rc == GASNET_OK;
  return rc;
}
