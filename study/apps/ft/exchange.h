/* SPDX-License-Identifier: BSD-3-Clause */
/* One all-to-all of a transform, and the schedules by which it can run.
 *
 * A stage produces its planes one after the other into send[slot][destination][piece]; when plane
 * p is done it says so with ft_exchange_plane, and after the last plane ft_exchange_finish returns
 * when all that others send here has arrived. Pieces land either by source, [source][plane][piece],
 * or by plane, [plane][source][piece], whichever the next stage reads. With a team of one rank
 * nothing moves: the stage writes its planes straight to where the next one reads.
 *
 * A schedule that streams does not wait in ft_exchange_finish. It sends pieces in parts, first
 * those that the next stage reads first; the next stage asks by ft_exchange_await for each of its
 * planes, and transforms the planes that have come while the others travel. ft_exchange_end ends
 * it. Where rows and columns both exchange, the second of a transform begins while the first is
 * still in progress; each then names the other, because they share the window of what travels.
 */
#ifndef FT_EXCHANGE_H
#define FT_EXCHANGE_H

#include "comm.h"
#include "phases.h"

#include <stdbool.h>

enum { FT_ALONE_TIMES = 4 };

enum ft_order { FT_BY_SOURCE, FT_BY_PLANE };

struct ft_exchange {
  struct ft_team *team;
  struct ft_phases *phases;
  int planes;          /* this rank's planes of the stage; the same number on all members */
  int rows;            /* of a piece; the next stage's plane q reads row q of pieces that land
                          FT_BY_SOURCE */
  size_t piece;        /* complex numbers for one destination from one plane */
  enum ft_order order; /* of what lands */
  struct cplx *send;   /* [planes][team size][piece], one slot a plane */
  int slot;            /* where the next plane goes */
  struct cplx *land;   /* [planes * team size * piece], in the segment */
  size_t land_offset;  /* its offset in the segment of every rank, bytes */
  struct cplx *pack; /* packed: [team size][planes][piece]; collective: [planes][team size][piece];
                        private */
  struct cplx *staging; /* packed and FT_BY_PLANE only: where it lands before it is unpacked, in the
                           segment */
  size_t staging_offset;
  uint64_t messages, bytes; /* put so far, to other ranks */
  /* of a schedule that streams */
  int parts;          /* in which it comes: divides rows, or planes where it lands by plane; 1: at
                         once */
  int made;           /* planes that have been produced */
  int sent[FT_PARTS]; /* planes of which the part has been sent */
  int come;           /* parts that have come from everybody */
  struct ft_exchange *before, *behind; /* that may be in progress at the same time, or NULL */
};

enum ft_extra {
  FT_NOTHING, /* beside what every schedule needs */
  FT_RESULT,  /* an array for the solution: `send` is in use while it is computed */
  FT_PACKS    /* the pack buffer and the staging zone */
};

struct ft_schedule {
  const char *name;
  const char *help;
  enum ft_extra extra; /* memory that it needs */
  void (*plane)(struct ft_exchange *x, int plane);
  void (*finish)(struct ft_exchange *x);
  void (*await)(struct ft_exchange *x, int plane); /* NULL: all has come after finish */
  bool (*come)(struct ft_exchange *x, int plane);  /* of a schedule with await */
  void (*end)(struct ft_exchange *x);              /* NULL: nothing is left to do */
};

/* The schedules, in the order of a comparison; ft_schedule_count of them. */
extern const struct ft_schedule ft_schedules[];
extern const int ft_schedule_count;

/* Where a stage must write plane p. */
struct cplx *ft_exchange_target(const struct ft_exchange *x, int plane);

void ft_exchange_plane(const struct ft_schedule *schedule, struct ft_exchange *x, int plane);
void ft_exchange_finish(const struct ft_schedule *schedule, struct ft_exchange *x);

/* Into how many parts the pieces of an exchange between ranks without common memory are divided. */
int ft_exchange_parts(const struct ft_exchange *x);

/* Seconds in which the data of an exchange go to all others while nothing is computed; the least of
 * FT_ALONE_TIMES. Collective over the job; changes what has landed. 0: there is nothing to send. */
double ft_exchange_alone(const struct ft_exchange *x);

/* After ft_exchange_finish: returns when what plane `plane` of the next stage reads has come;
 * planes in rising order. */
void ft_exchange_await(const struct ft_schedule *schedule, struct ft_exchange *x, int plane);

/* Whether ft_exchange_await would return at once; may be asked before ft_exchange_finish. false of
 * schedules that do not stream. */
bool ft_exchange_come(const struct ft_schedule *schedule, struct ft_exchange *x, int plane);

/* All has come, and `send` may be used again. */
void ft_exchange_end(const struct ft_schedule *schedule, struct ft_exchange *x);

#endif
