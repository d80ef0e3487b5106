/* SPDX-License-Identifier: BSD-3-Clause */
/* One all-to-all of a transform, and the schedules by which it can run.
 *
 * A stage produces its planes one after the other into send[slot][destination][piece]; when plane
 * p is done it says so with ft_exchange_plane, and after the last plane ft_exchange_finish returns
 * when all that others send here has arrived. Pieces land either by source, [source][plane][piece],
 * or by plane, [plane][source][piece], whichever the next stage reads. With a team of one rank
 * nothing moves: the stage writes its planes straight to where the next one reads.
 */
#ifndef FT_EXCHANGE_H
#define FT_EXCHANGE_H

#include "comm.h"
#include "phases.h"

#include <stdbool.h>

enum ft_order { FT_BY_SOURCE, FT_BY_PLANE };

struct ft_exchange {
  struct ft_team *team;
  struct ft_phases *phases;
  int planes;           /* this rank's planes of the stage; the same number on all members */
  size_t piece;         /* complex numbers for one destination from one plane */
  enum ft_order order;  /* of what lands */
  struct cplx *send;    /* [planes][team size][piece], one slot a plane */
  int slot;             /* where the next plane goes */
  struct cplx *land;    /* [planes * team size * piece], in the segment */
  size_t land_offset;   /* its offset in the segment of every rank, bytes */
  struct cplx *pack;    /* packed only: [team size][planes][piece], private */
  struct cplx *staging; /* packed and FT_BY_PLANE only: where it lands before it is unpacked, in the
                           segment */
  size_t staging_offset;
  uint64_t messages, bytes; /* put so far, to other ranks */
};

struct ft_schedule {
  const char *name;
  const char *help;
  bool packs; /* needs the pack and staging buffers */
  void (*plane)(struct ft_exchange *x, int plane);
  void (*finish)(struct ft_exchange *x);
};

/* The schedules, in the order of a comparison; ft_schedule_count of them. */
extern const struct ft_schedule ft_schedules[];
extern const int ft_schedule_count;

/* Where a stage must write plane p. */
struct cplx *ft_exchange_target(const struct ft_exchange *x, int plane);

void ft_exchange_plane(const struct ft_schedule *schedule, struct ft_exchange *x, int plane);
void ft_exchange_finish(const struct ft_schedule *schedule, struct ft_exchange *x);

#endif
