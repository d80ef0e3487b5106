/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contexts.c: teams of every second PE, a context of a team, and a program's older names.
 *
 * Compile: oshcc contexts.c -o contexts
 * Run:     oshrun -np 4 ./contexts
 */
/* ranks: 1 4 */
#include <shmem.h>
#include <stdio.h>

/* Puts to the next member of the team; only these are completed, not those of other contexts. */
static int pass_on(shmem_team_t team, int *word) {
  shmem_ctx_t context;
  if (shmem_team_create_ctx(team, SHMEM_CTX_PRIVATE, &context)) return 0;
  const int me = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
  shmem_ctx_int_p(context, word, me, (me + 1) % size);
  shmem_ctx_quiet(context);
  shmem_team_sync(team);
  shmem_ctx_destroy(context);
  return *word == (me + size - 1) % size;
}

/* PEs 0, 2, 4, ... */
static shmem_team_t every_second(void) {
  shmem_team_t team;
  const int size = (shmem_n_pes() + 1) / 2;
  if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, size, NULL, 0, &team)) shmem_global_exit(1);
  return team; /* SHMEM_TEAM_INVALID at the other PEs */
}

/* As programs of SHMEM before OpenSHMEM begin. */
static int *start(void) {
  start_pes(0);
  int *word = shmalloc(sizeof *word);
  if (!word) shmem_global_exit(2);
  *word = -1;
  shmem_barrier_all();
  return word;
}

int main(void) {
  int *word = start(), good = 1;
  shmem_team_t team = every_second();
  if (team != SHMEM_TEAM_INVALID) {
    good = pass_on(team, word);
    printf("PE %d is %d of %d: %s\n", _my_pe(), shmem_team_my_pe(team), shmem_team_n_pes(team),
           good ? "right" : "wrong");
    shmem_team_destroy(team);
  }
  shmem_barrier_all();
  shfree(word);
  shmem_finalize();
  return good ? 0 : 1;
}
