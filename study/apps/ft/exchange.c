/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication schedules of FT as one table at the end of the file: packed, collective, slabs,
 * slabs-blocking, slabs-signal. Called by transform.c; calls comm.c. After Bell, Bonachea,
 * Nishtala, Yelick: Optimizing bandwidth limited problems using one-sided communication and overlap
 * (IPDPS 2006). Destinations are staggered: member m starts with member m + 1, so that no member is
 * everybody's target at once. Invariants: a landing zone is written by others only between two
 * synchronisations of the job that enclose one use of it (the sum of each iteration's checksum, or
 * the barrier after the forward transform), so a fast rank cannot overwrite what a slow one still
 * reads; `send` is reused only after comm_put_wait, a blocking put, or ft_exchange_end.
 *
 * slabs-signal streams. At most FT_WINDOW bytes are in flight; whenever there is room, the next
 * part in the order of the receiver's planes goes, of the planes produced so far. So a slow link
 * carries first what the receiver transforms first, and a fast one is never idle while something is
 * ready. Where pieces land by source, the receiver's first planes are the first rows of all pieces,
 * so pieces travel in parts; where they land by plane, its planes are the sender's, so pieces
 * travel whole, and a part is some planes. Two exchanges may be in progress at once: a rank that
 * waits for one sends for both, else two ranks could wait for each other.
 */
#include "exchange.h"

#include <string.h>

enum {
  FT_WINDOW = 2 << 20,      /* bytes: 16 ms at 1 Gbit/s, longer than any plane takes */
  FT_PART_BYTES = 32 << 10, /* of a part, at least; */
  FT_HALF_BYTES = 16 << 10  /* but pieces of twice this have two */
};

static size_t land_index(const struct ft_exchange *x, int source, int plane) {
  size_t slot = x->order == FT_BY_PLANE ? (size_t)plane * (size_t)x->team->size + (size_t)source
                                        : (size_t)source * (size_t)x->planes + (size_t)plane;
  return slot * x->piece;
}

static struct cplx *send_piece(const struct ft_exchange *x, int slot, int member) {
  return x->send + ((size_t)slot * (size_t)x->team->size + (size_t)member) * x->piece;
}

static int rank_of(const struct ft_team *team, int member) {
  return team->first + member * team->stride;
}

static void count_put(struct ft_exchange *x, size_t bytes) {
  x->messages++;
  x->bytes += bytes;
}

typedef void put_fn(const struct ft_team *team, int rank, size_t offset, const void *src,
                    size_t bytes);

static void put_later(const struct ft_team *team, int rank, size_t offset, const void *src,
                      size_t bytes) {
  (void)team;
  comm_put_start(rank, offset, src, bytes);
}

static void put_now(const struct ft_team *team, int rank, size_t offset, const void *src,
                    size_t bytes) {
  (void)team;
  comm_put(rank, offset, src, bytes);
}

/* Sends one plane's pieces to the others, then copies the own one. */
static void send_plane(struct ft_exchange *x, int plane, put_fn *put) {
  const struct ft_team *team = x->team;
  size_t bytes = x->piece * sizeof(struct cplx);
  size_t index = land_index(x, team->me, plane);
  ft_phases_enter(x->phases, FT_COMM);
  for (int i = 1; i < team->size; i++) {
    int member = (team->me + i) % team->size;
    put(team, rank_of(team, member), x->land_offset + index * sizeof(struct cplx),
        send_piece(x, x->slot, member), bytes);
    count_put(x, bytes);
  }
  ft_phases_enter(x->phases, FT_MOVE);
  memcpy(x->land + index, send_piece(x, x->slot, team->me), bytes);
}

/* When all puts have completed already (on one node they have) the buffer of this plane is used
 * again, while it is in cache; else the next plane takes the next one. There is one for each plane,
 * so nothing ever waits for a buffer. */
static void slabs_plane(struct ft_exchange *x, int plane) {
  send_plane(x, plane, put_later);
  x->slot = comm_puts_done() ? 0 : x->slot + 1;
}

static void blocking_plane(struct ft_exchange *x, int plane) {
  send_plane(x, plane, put_now);
}

static void slabs_finish(struct ft_exchange *x) {
  ft_phases_enter(x->phases, FT_COMM);
  comm_put_wait();
  x->slot = 0;
  ft_phases_enter(x->phases, FT_SYNC);
  comm_team_sync(x->team);
}

/* Into how many a piece is cut in flight. */
static int cuts(const struct ft_exchange *x) {
  return x->order == FT_BY_PLANE ? 1 : x->parts;
}

/* Planes of a part, of an exchange that lands by plane. */
static int planes_of_part(const struct ft_exchange *x) {
  return x->planes / x->parts;
}

/* Sends one cut of a plane's pieces. `slot`: where the plane is in `send`. */
static void send_part(struct ft_exchange *x, int plane, int slot, int cut) {
  const struct ft_team *team = x->team;
  const int part = x->order == FT_BY_PLANE ? plane / planes_of_part(x) : cut;
  const size_t points = x->piece / (size_t)cuts(x), first = (size_t)cut * points;
  const size_t at = x->land_offset + (land_index(x, team->me, plane) + first) * sizeof(struct cplx);
  for (int i = 1; i < team->size; i++) {
    const int member = (team->me + i) % team->size;
    comm_put_signal(team, rank_of(team, member), at, send_piece(x, slot, member) + first,
                    points * sizeof(struct cplx), part);
    count_put(x, points * sizeof(struct cplx));
  }
}

/* Sends what is ready of one exchange while there is room in the window. Returns whether there is
 * more room. */
static bool pump_one(struct ft_exchange *x, bool room) {
  for (int cut = 0; cut < cuts(x) && room; cut++)
    for (; x->sent[cut] < x->made && room; room = comm_flight(false) < FT_WINDOW) {
      const int plane = x->sent[cut]++;
      send_part(x, plane, plane, cut);
    }
  return room;
}

/* Sends what is ready, first of the exchange that was begun first. */
static void pump(struct ft_exchange *x) {
  const bool room = comm_flight(true) < FT_WINDOW;
  struct ft_exchange *const first = x->before ? x->before : x;
  if (pump_one(first, room) && first->behind) (void)pump_one(first->behind, true);
}

/* Nothing that has been produced is left to be sent. */
static bool all_sent(const struct ft_exchange *x) {
  return x->sent[cuts(x) - 1] == x->made;
}

static bool idle(const struct ft_exchange *x) {
  return all_sent(x) && (!x->before || all_sent(x->before)) && (!x->behind || all_sent(x->behind));
}

/* Pieces that travel whole go at once: where puts are copies the buffer is used again while it is
 * in cache. */
static void signal_plane(struct ft_exchange *x, int plane) {
  ft_phases_enter(x->phases, FT_COMM);
  if (x->parts == 1) {
    send_part(x, plane, x->slot, 0);
    x->sent[0] = x->made = plane + 1;
  }
  ft_phases_enter(x->phases, FT_MOVE);
  memcpy(x->land + land_index(x, x->team->me, plane), send_piece(x, x->slot, x->team->me),
         x->piece * sizeof(struct cplx));
  if (x->parts == 1) {
    x->slot = comm_flight(true) ? x->slot + 1 : 0;
    return;
  }
  x->made = x->slot = plane + 1;
  ft_phases_enter(x->phases, FT_COMM);
  pump(x);
}

static void signal_finish(struct ft_exchange *x) {
  ft_phases_enter(x->phases, FT_COMM);
  pump(x);
}

/* Whether the next part has come, and counts it. */
static bool next_part(struct ft_exchange *x, bool wait) {
  const int planes = x->order == FT_BY_PLANE ? planes_of_part(x) : x->planes;
  const uint64_t puts = (uint64_t)planes * (uint64_t)(x->team->size - 1);
  if (!comm_signals_come(x->team, x->come, puts, wait)) return false;
  x->come++;
  return true;
}

/* Waits until all of a part is here. The wait is over as soon as the last piece is counted. */
static void await_part(struct ft_exchange *x, int part) {
  while (x->come <= part) {
    ft_phases_enter(x->phases, FT_COMM);
    pump(x);
    const bool wait = idle(x);
    if (wait) ft_phases_enter(x->phases, FT_SYNC);
    if (next_part(x, wait)) continue;
    ft_phases_enter(x->phases, FT_SYNC);
    comm_rest();
  }
}

/* The part in which the next stage's plane comes last. */
static int part_of(const struct ft_exchange *x, int plane) {
  if (x->parts == 1) return 0;
  return plane / (x->order == FT_BY_PLANE ? planes_of_part(x) : x->rows / x->parts);
}

static void signal_await(struct ft_exchange *x, int plane) {
  if (x->parts > 1) {
    ft_phases_enter(x->phases, FT_COMM);
    pump(x);
  }
  await_part(x, part_of(x, plane));
}

static bool signal_come(struct ft_exchange *x, int plane) {
  const int part = part_of(x, plane);
  ft_phases_enter(x->phases, FT_COMM);
  pump(x);
  while (x->come <= part)
    if (!next_part(x, false)) return false;
  return true;
}

static void signal_end(struct ft_exchange *x) {
  await_part(x, x->parts - 1);
  ft_phases_enter(x->phases, FT_COMM);
  while (pump(x), !all_sent(x) || comm_flight(true)) comm_rest();
  memset(x->sent, 0, sizeof x->sent);
  x->slot = x->made = x->come = 0;
}

int ft_exchange_parts(const struct ft_exchange *x) {
  if (x->order == FT_BY_PLANE) {
    int parts = x->planes < FT_PARTS ? x->planes : FT_PARTS;
    while (x->planes % parts) parts--;
    return parts;
  }
  const size_t bytes = x->piece * sizeof(struct cplx);
  int parts = x->rows < FT_PARTS ? x->rows : FT_PARTS;
  while (parts > 2 && (x->rows % parts != 0 || bytes / (size_t)parts < FT_PART_BYTES)) parts--;
  if (x->rows % parts != 0 || bytes / (size_t)parts < FT_HALF_BYTES) return 1;
  return parts;
}

static void packed_plane(struct ft_exchange *x, int plane) {
  x->slot = plane + 1;
}

/* Own pieces go straight to their place, the others' into one message for each destination. */
static void pack(struct ft_exchange *x) {
  const struct ft_team *team = x->team;
  size_t bytes = x->piece * sizeof(struct cplx);
  for (int member = 0; member < team->size; member++)
    for (int plane = 0; plane < x->planes; plane++) {
      size_t slot = (size_t)member * (size_t)x->planes + (size_t)plane;
      struct cplx *to =
          member == team->me ? x->land + land_index(x, team->me, plane) : x->pack + slot * x->piece;
      memcpy(to, send_piece(x, plane, member), bytes);
    }
}

/* [source][plane] to [plane][source]; where the next stage reads by source the data landed in
 * place. */
static void unpack(struct ft_exchange *x) {
  const struct ft_team *team = x->team;
  for (int plane = 0; plane < x->planes; plane++)
    for (int source = 0; source < team->size; source++) {
      if (source == team->me) continue;
      size_t slot = (size_t)source * (size_t)x->planes + (size_t)plane;
      memcpy(x->land + land_index(x, source, plane), x->staging + slot * x->piece,
             x->piece * sizeof(struct cplx));
    }
}

static void packed_finish(struct ft_exchange *x) {
  const struct ft_team *team = x->team;
  size_t block = (size_t)x->planes * x->piece;
  size_t bytes = block * sizeof(struct cplx);
  size_t zone = x->order == FT_BY_PLANE ? x->staging_offset : x->land_offset;
  ft_phases_enter(x->phases, FT_MOVE);
  pack(x);
  ft_phases_enter(x->phases, FT_COMM);
  for (int i = 1; i < team->size; i++) {
    int member = (team->me + i) % team->size;
    comm_put_start(rank_of(team, member), zone + (size_t)team->me * bytes,
                   x->pack + (size_t)member * block, bytes);
    count_put(x, bytes);
  }
  slabs_finish(x);
  if (x->order != FT_BY_PLANE) return;
  ft_phases_enter(x->phases, FT_MOVE);
  unpack(x);
}

/* Of one plane, into its place where it lands by plane; else to where collective_finish finds it.
 */
static void collective_plane(struct ft_exchange *x, int plane) {
  const struct ft_team *team = x->team;
  const size_t all = x->piece * (size_t)team->size, bytes = x->piece * sizeof(struct cplx);
  struct cplx *const to = (x->order == FT_BY_PLANE ? x->land : x->pack) + (size_t)plane * all;
  ft_phases_enter(x->phases, FT_COMM);
  comm_exchange_start(team, to, send_piece(x, x->slot, 0), bytes);
  x->messages += (uint64_t)team->size - 1;
  x->bytes += ((uint64_t)team->size - 1) * bytes;
  x->slot = plane + 1;
}

static void collective_finish(struct ft_exchange *x) {
  ft_phases_enter(x->phases, FT_COMM);
  comm_exchange_wait();
  x->slot = 0;
  ft_phases_enter(x->phases, FT_MOVE);
  for (int plane = 0; x->order != FT_BY_PLANE && plane < x->planes; plane++)
    for (int source = 0; source < x->team->size; source++)
      memcpy(x->land + land_index(x, source, plane),
             x->pack + ((size_t)plane * (size_t)x->team->size + (size_t)source) * x->piece,
             x->piece * sizeof(struct cplx));
}

double ft_exchange_alone(const struct ft_exchange *x) {
  const struct ft_team *team = x->team;
  const size_t bytes = (size_t)x->planes * x->piece * sizeof(struct cplx);
  double least = 0;
  for (int k = 0; k < FT_ALONE_TIMES && team->size > 1; k++) {
    comm_barrier();
    const double start = ft_now();
    for (int i = 1; i < team->size; i++)
      comm_put_start(rank_of(team, (team->me + i) % team->size),
                     x->land_offset + (size_t)team->me * bytes, x->send, bytes);
    comm_put_wait();
    comm_barrier();
    const double seconds = ft_now() - start;
    if (k == 0 || seconds < least) least = seconds;
  }
  return least;
}

struct cplx *ft_exchange_target(const struct ft_exchange *x, int plane) {
  if (x->team->size == 1) return x->land + (size_t)plane * x->piece;
  return send_piece(x, x->slot, 0);
}

void ft_exchange_plane(const struct ft_schedule *schedule, struct ft_exchange *x, int plane) {
  if (x->team->size > 1) schedule->plane(x, plane);
}

void ft_exchange_finish(const struct ft_schedule *schedule, struct ft_exchange *x) {
  if (x->team->size > 1) schedule->finish(x);
}

void ft_exchange_await(const struct ft_schedule *schedule, struct ft_exchange *x, int plane) {
  if (x->team->size > 1 && schedule->await) schedule->await(x, plane);
}

bool ft_exchange_come(const struct ft_schedule *schedule, struct ft_exchange *x, int plane) {
  return x->parts > 1 && schedule->come && schedule->come(x, plane);
}

void ft_exchange_end(const struct ft_schedule *schedule, struct ft_exchange *x) {
  if (x->team->size > 1 && schedule->end) schedule->end(x);
}

const struct ft_schedule ft_schedules[] = {
    {.name = "packed",
     .help = "transform all planes, pack, one large put to each rank, unpack",
     .extra = FT_PACKS,
     .plane = packed_plane,
     .finish = packed_finish},
    {.name = "collective",
     .help = "an exchange of the row's or column's ranks for each plane, as a collective",
     .extra = FT_PACKS,
     .plane = collective_plane,
     .finish = collective_finish},
    {.name = "slabs-blocking",
     .help = "a blocking put of each plane's pieces as soon as it is transformed",
     .plane = blocking_plane,
     .finish = slabs_finish},
    {.name = "slabs-signal",
     .help =
         "puts with signal of parts of planes; what has come is transformed while the rest comes",
     .extra = FT_RESULT,
     .plane = signal_plane,
     .finish = signal_finish,
     .await = signal_await,
     .come = signal_come,
     .end = signal_end},
    {.name = "slabs",
     .help = "non-blocking puts of each plane's pieces, overlapped with the next plane",
     .plane = slabs_plane,
     .finish = slabs_finish},
};
const int ft_schedule_count = sizeof ft_schedules / sizeof ft_schedules[0];
