/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The job of an application on MPI, see lib/links.h: what the applications are compared with.
 *
 * Owns: what struct job does not show. Compiled by study/compare/apps.py with study/lib/app.c and
 * an application, by the mpicc of each MPI. Ways: non-blocking two-sided, and MPI's one-sided calls
 * in a window that is locked throughout: put, flush, put of a flag, flush; the target polls the
 * flag.
 */
#include "lib/links.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TWO_SIDED, ONE_SIDED, WAYS, SENDS = 64, LINE = 64 };

const int job_way_count = WAYS;
const struct job_way job_way_table[] = {
    {"mpi", "MPI_Irecv, MPI_Isend, MPI_Wait"},
    {"mpi-rma", "MPI_Put, MPI_Win_flush, MPI_Put of a flag that the target polls"}};

static struct {
  MPI_Win window;
  char *head;
  MPI_Request receive[JOB_LINKS], send[SENDS];
  uint64_t waited[JOB_LINKS];
  int sends;
} self;

void job_start(struct job *job, const char *program, int *argc, char ***argv) {
  MPI_Init(argc, argv);
  *job = (struct job){.program = program};
  MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job->size);
}

void job_attach(struct job *job, size_t bytes) {
  MPI_Win_allocate((MPI_Aint)(bytes + JOB_HEAD_BYTES), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &self.head,
                   &self.window);
  memset(self.head, 0, JOB_HEAD_BYTES);
  job->mine = self.head + JOB_HEAD_BYTES;
  MPI_Win_lock_all(0, self.window);
  job_barrier(job);
}

void job_links(struct job *job, int way) {
  job_flush(job);
  job_barrier(job);
  job->way = way;
  memset(self.waited, 0, sizeof self.waited);
  memset(self.head, 0, JOB_HEAD_BYTES);
  MPI_Win_sync(self.window);
  job_barrier(job);
}

struct job_link job_link_open(struct job *job, int peer, int index) {
  (void)job;
  return (struct job_link){.peer = peer, .index = index};
}

void job_expect(struct job *job, int peer, int index, size_t offset, size_t bytes) {
  self.receive[index] = MPI_REQUEST_NULL;
  if (peer >= 0 && job->way == TWO_SIDED)
    MPI_Irecv(job->mine + offset, (int)bytes, MPI_BYTE, peer, index, MPI_COMM_WORLD,
              &self.receive[index]);
}

void job_send(struct job *job, struct job_link *link, size_t offset, const void *src,
              size_t bytes) {
  if (link->peer < 0) return;
  if (job->way == TWO_SIDED) {
    if (self.sends == SENDS) job_flush(job);
    MPI_Isend(src, (int)bytes, MPI_BYTE, link->peer, link->index, MPI_COMM_WORLD,
              &self.send[self.sends++]);
    return;
  }
  link->sent++;
  MPI_Put(src, (int)bytes, MPI_BYTE, link->peer, (MPI_Aint)(JOB_HEAD_BYTES + offset), (int)bytes,
          MPI_BYTE, self.window);
  MPI_Win_flush(link->peer, self.window);
  MPI_Put(&link->sent, 1, MPI_UINT64_T, link->peer, (MPI_Aint)link->index * LINE, 1, MPI_UINT64_T,
          self.window);
  MPI_Win_flush(link->peer, self.window);
}

void job_flush(struct job *job) {
  MPI_Status status[SENDS];
  (void)job;
  MPI_Waitall(self.sends, self.send, status);
  self.sends = 0;
}

void job_wait(struct job *job, int index) {
  if (job->way == TWO_SIDED) {
    MPI_Wait(&self.receive[index], MPI_STATUS_IGNORE);
    return;
  }
  const uint64_t want = ++self.waited[index];
  const uint64_t *const flag = (const uint64_t *)(const void *)(self.head + (size_t)index * LINE);
  int arrived;
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) < want)
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
  MPI_Win_sync(self.window);
}

bool job_has_steps(const struct job *job) {
  (void)job;
  return false;
}

void job_step(struct job *job) {
  (void)job;
}

void job_barrier(struct job *job) {
  (void)job;
  MPI_Barrier(MPI_COMM_WORLD);
}

double job_reduce(double value, enum job_operator op) {
  double all = 0;
  MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, op == JOB_SUM ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
  return all;
}

int job_neighbours(void) {
  MPI_Comm host;
  int count;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &count);
  MPI_Comm_free(&host);
  return count;
}

void job_region(const char *name) {
  (void)name; /* there is no trace */
}

void job_region_end(void) {}

double job_now(void) {
  return MPI_Wtime();
}

_Noreturn void job_exit(struct job *job, int code) {
  fflush(stdout);
  if (job->mine) {
    MPI_Win_unlock_all(self.window);
    MPI_Win_free(&self.window);
  }
  MPI_Finalize();
  exit(code);
}
