/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FT's communication on MPI: what comm.c and exchange.c are on Tombolo.
 *
 * Owns: the communicators of rows and columns. Compiled by study/compare/net.py, in place of those
 * two files, with the rest of study/apps/ft and the mpicc of an MPI. Calls: MPI. Schedules: the
 * packed one (transform all planes, pack, MPI_Alltoall, unpack where the data do not land in their
 * place), and slabs by non-blocking point-to-point (each plane's pieces are sent as soon as it is
 * transformed, into receives that were posted before). Invariants: those of comm.h; puts do not
 * exist here.
 */
#include "apps/ft/comm.h"
#include "apps/ft/exchange.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  int rank, size;
  MPI_Comm teams[FT_TEAMS];
  MPI_Request *requests; /* of one exchange by point-to-point: [room], `count` used */
  size_t room, count;
} job;

_Noreturn void comm_fail(const char *problem, const char *remedy) {
  fprintf(stderr, "ft: rank %d: %s: %s\n", job.rank, problem, remedy);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

void comm_init(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
}

int comm_rank(void) {
  return job.rank;
}

int comm_size(void) {
  return job.size;
}

uint64_t comm_segment_limit(void) {
  return UINT64_C(1) << 40;
}

void *comm_attach(size_t bytes) {
  void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!memory) comm_fail("out of memory", "use a smaller class or more ranks");
  return memory;
}

void comm_team_init(struct ft_team *team, enum ft_team_id id) {
  team->id = id;
  team->rounds = 0;
  MPI_Comm_split(MPI_COMM_WORLD, team->first, team->me, &job.teams[id]);
}

void comm_team_sync(struct ft_team *team) {
  MPI_Barrier(job.teams[team->id]);
}

void comm_barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

struct cplx comm_sum(struct cplx mine) {
  struct cplx sum;
  MPI_Allreduce(&mine, &sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

size_t comm_gather_bytes(int count) {
  return (size_t)job.size * (size_t)count * sizeof(double);
}

void comm_gather(const double *mine, int count, double *all) {
  MPI_Gather(mine, count, MPI_DOUBLE, all, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

_Noreturn void comm_exit(int code) {
  fflush(NULL);
  MPI_Finalize();
  exit(code);
}

/* ---- the schedule */

static void alltoall_plane(struct ft_exchange *x, int plane) {
  x->slot = plane + 1;
}

static void copy_piece(const struct ft_exchange *x, struct cplx *to, const struct cplx *from) {
  memcpy(to, from, x->piece * sizeof(struct cplx));
}

static void alltoall_finish(struct ft_exchange *x) {
  const size_t size = (size_t)x->team->size, planes = (size_t)x->planes;
  const size_t block = planes * x->piece * sizeof(struct cplx);
  struct cplx *zone = x->order == FT_BY_PLANE ? x->staging : x->land;
  ft_phases_enter(x->phases, FT_MOVE);
  for (size_t member = 0; member < size; member++)
    for (size_t plane = 0; plane < planes; plane++)
      copy_piece(x, x->pack + (member * planes + plane) * x->piece,
                 x->send + (plane * size + member) * x->piece);
  ft_phases_enter(x->phases, FT_COMM);
  if (block > INT32_MAX) comm_fail("a block is too long for MPI_Alltoall", "use more ranks");
  MPI_Alltoall(x->pack, (int)block, MPI_BYTE, zone, (int)block, MPI_BYTE, job.teams[x->team->id]);
  x->messages += size - 1;
  x->bytes += (size - 1) * block;
  x->slot = 0;
  ft_phases_enter(x->phases, FT_MOVE);
  for (size_t source = 0; x->order == FT_BY_PLANE && source < size; source++)
    for (size_t plane = 0; plane < planes; plane++)
      copy_piece(x, x->land + (plane * size + source) * x->piece,
                 zone + (source * planes + plane) * x->piece);
}

/* Room for the requests of an exchange: a send and a receive for each piece. */
static void reserve_requests(const struct ft_exchange *x) {
  const size_t needed = 2 * (size_t)x->planes * (size_t)x->team->size;
  job.count = 0;
  if (job.room >= needed) return;
  free(job.requests);
  job.requests = malloc(needed * sizeof(MPI_Request));
  if (!job.requests) comm_fail("out of memory", "use a smaller class or more ranks");
  job.room = needed;
}

static size_t land_index(const struct ft_exchange *x, int source, int plane) {
  const size_t size = (size_t)x->team->size, planes = (size_t)x->planes;
  const size_t by_plane = (size_t)plane * size + (size_t)source;
  const size_t by_source = (size_t)source * planes + (size_t)plane;
  return (x->order == FT_BY_PLANE ? by_plane : by_source) * x->piece;
}

static void post_receives(struct ft_exchange *x) {
  const struct ft_team *const team = x->team;
  const int bytes = (int)(x->piece * sizeof(struct cplx));
  reserve_requests(x);
  for (int plane = 0; plane < x->planes; plane++)
    for (int i = 1; i < team->size; i++) {
      const int source = (team->me + team->size - i) % team->size;
      MPI_Irecv(x->land + land_index(x, source, plane), bytes, MPI_BYTE, source, plane,
                job.teams[team->id], &job.requests[job.count++]);
    }
}

static void p2p_plane(struct ft_exchange *x, int plane) {
  const struct ft_team *const team = x->team;
  const size_t bytes = x->piece * sizeof(struct cplx);
  struct cplx *const pieces = x->send + (size_t)plane * (size_t)team->size * x->piece;
  ft_phases_enter(x->phases, FT_COMM);
  if (bytes > INT32_MAX) comm_fail("a piece is too long for MPI_Isend", "use more ranks");
  if (plane == 0) post_receives(x);
  for (int i = 1; i < team->size; i++) {
    const int member = (team->me + i) % team->size;
    MPI_Isend(pieces + (size_t)member * x->piece, (int)bytes, MPI_BYTE, member, plane,
              job.teams[team->id], &job.requests[job.count++]);
    x->messages++;
    x->bytes += bytes;
  }
  ft_phases_enter(x->phases, FT_MOVE);
  copy_piece(x, x->land + land_index(x, team->me, plane), pieces + (size_t)team->me * x->piece);
  x->slot = plane + 1;
}

static void p2p_finish(struct ft_exchange *x) {
  ft_phases_enter(x->phases, FT_COMM);
  MPI_Waitall((int)job.count, job.requests, MPI_STATUSES_IGNORE);
  x->slot = 0;
}

struct cplx *ft_exchange_target(const struct ft_exchange *x, int plane) {
  const size_t slot = x->team->size == 1 ? (size_t)plane : (size_t)x->slot * (size_t)x->team->size;
  return (x->team->size == 1 ? x->land : x->send) + slot * x->piece;
}

void ft_exchange_plane(const struct ft_schedule *schedule, struct ft_exchange *x, int plane) {
  if (x->team->size > 1) schedule->plane(x, plane);
}

void ft_exchange_finish(const struct ft_schedule *schedule, struct ft_exchange *x) {
  if (x->team->size > 1) schedule->finish(x);
}

void ft_exchange_await(const struct ft_schedule *schedule, struct ft_exchange *x, int plane) {
  (void)schedule; /* finish has waited */
  (void)x;
  (void)plane;
}

bool ft_exchange_come(const struct ft_schedule *schedule, struct ft_exchange *x, int plane) {
  (void)schedule, (void)x, (void)plane;
  return false;
}

void ft_exchange_end(const struct ft_schedule *schedule, struct ft_exchange *x) {
  (void)schedule;
  (void)x;
}

double ft_exchange_alone(const struct ft_exchange *x) {
  (void)x;
  return 0; /* not measured */
}

int ft_exchange_parts(const struct ft_exchange *x) {
  (void)x;
  return 1;
}

void comm_region(const char *name) {
  (void)name;
}

void comm_region_end(void) {}

bool comm_all_near(void) {
  return false;
}

const struct ft_schedule ft_schedules[] = {
    {.name = "alltoall",
     .help = "transform all planes, pack, MPI_Alltoall, unpack",
     .extra = FT_PACKS,
     .plane = alltoall_plane,
     .finish = alltoall_finish},
    {.name = "p2p",
     .help = "non-blocking sends of each plane's pieces, overlapped with the next plane",
     .plane = p2p_plane,
     .finish = p2p_finish},
};
const int ft_schedule_count = sizeof ft_schedules / sizeof ft_schedules[0];
