/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of collectives in this process, all of it but the tuning (select/tuning.c).
 *
 * Owns: struct tmb_coll_state and the lock that guards it. Each member is written by the file that
 * it names. Called by the files of engine/ and shared/. Calls nothing. Invariants: guarded by
 * tmb_coll_guard; zero and empty until the first collective; state of one team is in struct
 * tmb_coll_team instead, state of one collective in struct tmb_coll_op.
 */
#ifndef TMB_COLL_STATE_H
#define TMB_COLL_STATE_H

#include "coll/select/select.h"
#include "os/sync/lock.h"

struct tmb_apply;
struct tmb_coll_boards;
struct tmb_coll_op;
struct tmb_coll_shared_op;
struct tmb_coll_staged;
struct tmb_stash;
struct tmb_team;

struct tmb_coll_state {
  /* device.c: collectives in flight whose results go to device memory or whose sources were there.
   */
  struct tmb_coll_staged *staged;
  /* engine.c: a free list; ops whose next step sends; fences that are complete, whose references to
   * teams are released outside of the lock. */
  struct {
    struct tmb_coll_op *free, *run, **run_end, *fences;
  } ops;
  struct {
    struct tmb_apply *first, **end;
  } calls;                    /* apply.c: calls that are posted, in order */
  struct tmb_stash *spare;    /* stash.c: a free list of messages of at most SMALL_BYTES */
  struct tmb_team *published; /* signature.c: teams with calls that have not been compared */
  uint64_t
      past_bytes;   /* pull.c: data of an exchange from which on they pass the caches; 0: unknown */
  uint8_t *refuses; /* pull.c: [size] peers whose memory may no longer be read; NULL: none */
  struct {
    struct tmb_team *teams; /* with ops that wait for other members */
    struct tmb_coll_shared_op *free;
  } shared;                             /* shared.c */
  const struct tmb_coll_boards *boards; /* set when the layer begins */
  uint8_t announced[TMB_COLL_ALGS_MAX]; /* plan.c: of each algorithm, a bit for each reason */
};

extern struct tmb_coll_state tmb_colls;
extern struct tmb_lock tmb_coll_guard;

#endif
