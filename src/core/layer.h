/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layers: the modules that core calls without knowing them.
 *
 * Owns: struct tmb_layer; declarations of layer.c. A module that has handlers of internal messages,
 * something for progress to do, or something to end with a team or a peer, defines one constant
 * struct tmb_layer; src/api/layers.c lists all of them in one array, whose order is the order of
 * every call, and hands it to core when the client initialises. Called by client.c, progress.c,
 * team.c, failure.c and am.c. Calls: the functions that the array names. Invariants: the array does
 * not change after start; a kind of work, and the functions of counting and of signals, belong to
 * one layer each; without layers (unit tests) every call here does nothing.
 */
#ifndef TMB_CORE_LAYER_H
#define TMB_CORE_LAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tmb_am_in;
struct tmb_net_atomic;
struct tmb_team;

/* Kinds of work that progress advances beside messages; tmb_job.work counts the pending items of
 * each kind. */
enum tmb_work {
  TMB_WORK_BARRIERS,
  TMB_WORK_COLLS,
  TMB_WORK_PUTS,
  TMB_WORK_SHRINKS,
  TMB_WORK_KINDS
};

/* The handler of an internal message, and the form of such messages; others end the job before it
 * runs. A list ends with fn NULL. */
struct tmb_layer_handler {
  uint8_t index; /* enum tmb_kit_handler, below 128 */
  uint8_t takes; /* TMB_TAKES_*, and TMB_BY_THREAD or TMB_BY_THREAD_IF_ROOM */
  uint8_t nargs;
  uint16_t bytes_min; /* of the payload */
  void (*fn)(const struct tmb_am_in *in);
};

/* Categories of a message, as bits by enum tmb_am_category. */
enum {
  TMB_TAKES_SHORT = 1,
  TMB_TAKES_MEDIUM = 2,
  TMB_TAKES_SHORT_OR_LONG = 5,
  TMB_TAKES_MEDIUM_OR_LONG = 6,
  TMB_TAKES_ALL = 7
};

/* The handler may also run in a thread of the conduit, while the client is anywhere in the library
 * or computes. So it changes only memory that messages may name and data guarded by a lock, and
 * sends replies by kit.h, tmb_up_am_stage and tmb_up_am_send. It runs no function of the client,
 * and uses no record of a thread. With IF_ROOM it leaves a message to the client, by
 * tmb_up_am_later: it may run there only while few of them wait. */
enum { TMB_BY_THREAD = 128, TMB_BY_THREAD_IF_ROOM = 64 };

/* Every field but the name may be empty. */
struct tmb_layer {
  const char *name;
  const struct tmb_layer_handler *handlers; /* set before the first message can come */

  /* Once rank, size and settings are known, before the on-node engine is open: ask it for memory
   * (tmb_near_region). */
  void (*ask)(void);

  /* Once engine and conduit are open, before the client's objects are made. Returns 0, or a code of
   * base/error.def once the reason has been printed: then initialisation fails. */
  int (*init)(void);

  /* Called by progress while tmb_job.work[work] is not 0. in serve: TMB_SERVE_*. Returns TMB_FOUND_
   * bits. Any thread. */
  enum tmb_work work;
  int (*progress)(int serve);
  /* Advance in a thread of the conduit while the client computes: work that neither waits nor runs
   * a function of the client, towards ranks of other hosts. BUSY: some waits for room. */
  int (*thread_progress)(void);

  /* A team's handle is destroyed; messages of its members may still come. */
  void (*team_closed)(const struct tmb_team *team);
  /* The last call that makes teams has ended in this process. */
  void (*teams_made)(void);
  /* A team is about to be freed. */
  void (*team_freed)(struct tmb_team *team);

  /* A process is lost, and the teams know it. From progress, in normal context. */
  void (*peer_lost)(uint32_t jobrank);

  /* While tmb_job.signals_indexed: a signal of this process has changed. Any thread. */
  void (*signal)(const void *addr);

  /* Perform a peer's atomic operation on a word of this process, see tmb_net_up. Any thread. */
  bool (*atomic)(void *addr, const struct tmb_net_atomic *atomic, void *old);

  /* While tmb_job.recorded: an operation is done, or sent. in kind:
   * GEXX_STATS_. Any thread. */
  void (*count)(int kind, uint32_t jobrank, size_t bytes);
};

/* The layers of this process, before a message can come. in layers: [count]; they live as long as
 * the process. */
void tmb_layers_use(const struct tmb_layer *const *layers, size_t count);

/* Calls `set` for every handler of the layers, before a message can come. */
void tmb_layers_handlers(void (*set)(const struct tmb_layer_handler *handler));

/* The calls of struct tmb_layer to all layers that have them, in their order. */
void tmb_layers_ask(void);
int tmb_layers_init(void);
int tmb_layers_progress(int serve);
int tmb_layers_thread_progress(void);
void tmb_layers_peer_lost(uint32_t jobrank);

/* The calls that one layer takes. Those of teams: if there is one. */
void tmb_layers_team_closed(const struct tmb_team *team);
void tmb_layers_teams_made(void);
void tmb_layers_team_freed(struct tmb_team *team);
void tmb_layers_signal(const void *addr);
bool tmb_layers_atomic(void *addr, const struct tmb_net_atomic *atomic, void *old);
void tmb_layers_count(int kind, uint32_t jobrank, size_t bytes);

#endif
