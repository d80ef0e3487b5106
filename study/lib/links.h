/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts that the applications of study/apps share: the job, its segment, sums over ranks, and
 * links.
 *
 * Owns: struct job, one per process. Called by study/apps/<name>. Implemented twice: by links.c on
 * the public API, and by study/compare/links_mpi.c on MPI, so that the same application is measured
 * on both. A link carries data from one rank into the memory of another, and then the notice that
 * they are there, in one of several ways; an application written on links is measured with each of
 * them, and nothing else differs. Invariants: segments have the same layout on all ranks, so an
 * offset names the same thing everywhere; an incoming link has one sender; a rank names each
 * message that it will get by job_expect, in the order in which they are sent.
 */
#ifndef TMB_BENCH_LINKS_H
#define TMB_BENCH_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_LINKS      8    /* incoming links of a rank, at most */
#define JOB_HEAD_BYTES 4096 /* head of each segment: words and handles of links */

#define JOB_PHASES     4 /* what time is charged to, see app.h */

struct job {
  int rank, size;
  const char *program; /* for messages */
  char *mine;          /* own segment after its head */
  int way;             /* of all links: how a rank learns that data have come */

  /* The stopwatch of app_enter. */
  bool watched;
  bool marked; /* a region of the trace is open: an iteration */
  int phase;
  double since, spent[JOB_PHASES];
  double started; /* the timed iterations; then seconds of one, on the slowest rank */
  double seconds;
};

/* One outgoing link: to incoming link `index` of rank `peer`. */
struct job_link {
  int peer, index;    /* peer -1: nobody, nothing is sent */
  uint64_t sent;      /* notices so far */
  uint64_t handle[2]; /* of the way */
};

/* The ways in which a link works: name, and what it does. */
struct job_way {
  const char *name, *help;
};
extern const int job_way_count;
extern const struct job_way job_way_table[];

/* Join the job. in program: a literal. */
void job_start(struct job *job, const char *program, int *argc, char ***argv);

/* Make segments of `bytes` after the head, the same on all ranks; collective. Ends the job with
 * code 2 and the reason if ranks cannot have so much. */
void job_attach(struct job *job, size_t bytes);

/* Begin to use links in one way; collective. Earlier links are void. */
void job_links(struct job *job, int way);

/* Open a link. in peer: -1 for none. */
struct job_link job_link_open(struct job *job, int peer, int index);

/* The next message of incoming link `index`: `bytes` bytes at `offset` (after the head) of the own
 * segment, from rank `peer` (-1: none). Before job_wait; as early as possible. */
void job_expect(struct job *job, int peer, int index, size_t offset, size_t bytes);

/* Put `bytes` at `offset` of the peer's segment and give notice. `src` may be changed after
 * job_flush. */
void job_send(struct job *job, struct job_link *link, size_t offset, const void *src, size_t bytes);
void job_flush(struct job *job);

/* Wait until the message of job_expect is there. Nothing with a way that uses steps. */
void job_wait(struct job *job, int index);

/* Whether the way has global steps: what has been sent is there after job_step, which all ranks
 * call equally often. Nothing otherwise. */
bool job_has_steps(const struct job *job);
void job_step(struct job *job);

void job_barrier(struct job *job);

/* Ranks of this host, this one included. */
int job_neighbours(void);

/* Sum and largest value over all ranks, on all of them. */
enum job_operator { JOB_SUM, JOB_MAX };
double job_reduce(double value, enum job_operator op);
static inline double job_sum(struct job *job, double value) {
  (void)job;
  return job_reduce(value, JOB_SUM);
}
static inline double job_max(struct job *job, double value) {
  (void)job;
  return job_reduce(value, JOB_MAX);
}

/* Seconds since some moment. */
double job_now(void);

/* Marks what happens from here to the matching end, for `tombolo run --trace`; they nest. name: a
 * constant. */
void job_region(const char *name);
void job_region_end(void);

/* Say on rank 0 why, and end the job with code 2; all ranks call. */
enum { JOB_REFUSED = 2 }; /* exit code */
_Noreturn void job_refuse(struct job *job, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* End the job; all ranks call with the same code. */
_Noreturn void job_exit(struct job *job, int code);

#endif
