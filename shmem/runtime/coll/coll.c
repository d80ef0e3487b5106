/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of teams that move data (OpenSHMEM 1.6, 9.9).
 *
 * Owns nothing. Called by programs and active.c. Calls: collectives of the layer below on the
 * team's own team there. Invariant: a routine returns when its result is there and its source may
 * be changed.
 */
#include "../sh.h"

#include <stdlib.h>
#include <string.h>

static void *memory(const char *call, size_t bytes) {
  void *p = malloc(bytes ? bytes : 1);
  if (!p) sh_fatal(call, "out of memory for %zu bytes [TMB-0001]", bytes);
  return p;
}

static int broadcast(struct shmem_team_s *t, void *dest, const void *source, size_t bytes,
                     int root) {
  if (!t) return 1;
  if ((uint32_t)root >= t->size)
    sh_fatal("broadcast", "argument PE_root is %d; the team has PEs 0 to %u [TMB-2327]", root,
             t->size - 1);
  sh_complete(gex_Coll_BroadcastNB(t->tm, (gex_Rank_t)root, dest, source, bytes, 0));
  return 0;
}

int sh_fcollect(struct shmem_team_s *t, void *dest, const void *source, size_t bytes) {
  if (!t) return 1;
  sh_complete(gexx_Coll_AllGatherNB(t->tm, dest, source, bytes, 0));
  return 0;
}

int sh_collect(struct shmem_team_s *t, void *dest, const void *source, size_t bytes) {
  if (!t) return 1;
  size_t *lengths = memory("collect", 2 * t->size * sizeof *lengths), *places = lengths + t->size;
  sh_complete(gexx_Coll_AllGatherNB(t->tm, lengths, &bytes, sizeof bytes, 0));
  for (size_t i = 0, at = 0; i < t->size; at += lengths[i++]) places[i] = at;
  sh_complete(gexx_Coll_AllGatherVNB(t->tm, dest, lengths, places, source, 0));
  free(lengths);
  return 0;
}

int sh_alltoall(struct shmem_team_s *t, void *dest, const void *source, size_t bytes) {
  if (!t) return 1;
  sh_complete(gexx_Coll_ExchangeNB(t->tm, dest, source, bytes, 0));
  return 0;
}

/* Copies `count` elements that are apart by the strides, in bytes. */
static void copy_strided(char *to, size_t to_stride, const char *from, size_t from_stride,
                         const struct sh_strides *s) {
  for (size_t i = 0; i < s->count; i++)
    memcpy(to + i * to_stride, from + i * from_stride, s->bytes);
}

int sh_alltoalls(struct shmem_team_s *t, void *dest, const void *source,
                 const struct sh_strides *s) {
  if (!t) return 1;
  if (s->dst < 1 || s->sst < 1)
    sh_fatal("alltoalls",
             "arguments dst and sst are %td and %td; they must be at least 1 [TMB-2326]", s->dst,
             s->sst);
  const size_t block = s->count * s->bytes;
  const size_t dst = (size_t)s->dst * s->bytes, sst = (size_t)s->sst * s->bytes;
  char *out = memory("alltoalls", 2 * block * t->size), *in = out + block * t->size;
  for (size_t i = 0; i < t->size; i++)
    copy_strided(out + i * block, s->bytes, (const char *)source + i * s->count * sst, sst, s);
  sh_alltoall(t, in, out, block);
  for (size_t i = 0; i < t->size; i++)
    copy_strided((char *)dest + i * s->count * dst, dst, in + i * block, s->bytes, s);
  free(out);
  return 0;
}

/* The team of a call, whose arrays are checked: they have so many blocks of `bytes`, of which there
 * are as many as members where `of_all` says so. */
static struct shmem_team_s *team_of(const char *call, shmem_team_t team, struct sh_arrays arrays,
                                    bool dest_of_all, bool source_of_all) {
  struct shmem_team_s *const t = sh_member(call, team);
  if (!sh.debug) return t;
  if (dest_of_all) arrays.dest_bytes *= t->size;
  if (source_of_all) arrays.source_bytes *= t->size;
  sh_arrays_check(call, &arrays);
  return t;
}
#define TEAM(CALL, DEST, SOURCE, SAME, OF_ALL, FROM_ALL) \
 team_of(CALL, team, (struct sh_arrays){dest, source, DEST, SOURCE, SAME}, OF_ALL, FROM_ALL)

#define DEFINE(N, T, E, BYTES)                                                                     \
 SH_DEF(int, N##broadcast##E,                                                                      \
        (shmem_team_t team, T * dest, const T *source, size_t nelems, int PE_root)) {              \
  return broadcast(                                                                                \
      TEAM(#N "broadcast" #E, nelems * (BYTES), nelems * (BYTES), true, false, false), dest,       \
      source, nelems * (BYTES), PE_root);                                                          \
 }                                                                                                 \
 SH_DEF(int, N##collect##E, (shmem_team_t team, T * dest, const T *source, size_t nelems)) {       \
  return sh_collect(                                                                               \
      TEAM(#N "collect" #E, nelems * (BYTES), nelems * (BYTES), false, false, false), dest,        \
      source, nelems * (BYTES));                                                                   \
 }                                                                                                 \
 SH_DEF(int, N##fcollect##E, (shmem_team_t team, T * dest, const T *source, size_t nelems)) {      \
  return sh_fcollect(                                                                              \
      TEAM(#N "fcollect" #E, nelems * (BYTES), nelems * (BYTES), false, true, false), dest,        \
      source, nelems * (BYTES));                                                                   \
 }                                                                                                 \
 SH_DEF(int, N##alltoall##E, (shmem_team_t team, T * dest, const T *source, size_t nelems)) {      \
  return sh_alltoall(                                                                              \
      TEAM(#N "alltoall" #E, nelems * (BYTES), nelems * (BYTES), false, true, true), dest, source, \
      nelems * (BYTES));                                                                           \
 }                                                                                                 \
 SH_DEF(int, N##alltoalls##E,                                                                      \
        (shmem_team_t team, T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,               \
         size_t nelems)) {                                                                         \
  return sh_alltoalls(TEAM(#N "alltoalls" #E, BYTES, BYTES, true, false, false), dest, source,     \
                      &(struct sh_strides){dst, sst, nelems, BYTES});                              \
 }
#define DEFINE_TYPE(N, T) DEFINE(N##_, T, , sizeof(T))
SHMEM_TYPES_RMA_(DEFINE_TYPE)
DEFINE(, void, mem, 1)

int sh_reduce(struct shmem_team_s *t, void *dest, const void *source, size_t count,
              const struct sh_op *op) {
  if (!t) return 1;
  if (!count) return 0;
  const bool user = op->dt == GEX_DT_USER;
  sh_complete(gex_Coll_ReduceToAllNB(t->tm, dest, source, op->dt, op->bytes, count,
                                     user ? GEX_OP_USER : op->op, user ? op->fn : NULL, NULL, 0));
  return 0;
}
