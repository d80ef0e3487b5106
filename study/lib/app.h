/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command line and report of the applications that are written on links (lib/links.h).
 *
 * Owns nothing. Called by study/apps/<name>. Calls: links.h, argp. Every rank reads the same
 * arguments, so all leave together. Report: one line a way, or with --json one JSON object a line,
 * which study/compare reads.
 */
#ifndef TMB_BENCH_APP_H
#define TMB_BENCH_APP_H

#include "lib/links.h"

#define APP_NUMBERS 4
#define APP_TEXTS   2

/* An option that is a whole number. */
struct app_number {
  const char *name;
  char key;
  long normal, least, most; /* most 0: any that is an int */
  const char *help;
};

/* An option that is any text. */
struct app_text {
  const char *name;
  char key;
  const char *normal, *argument, *help;
};

struct app_program {
  const char *name, *help;
  const struct app_number *numbers; /* [count], count <= APP_NUMBERS */
  int count;
  long iterations;            /* without --iterations */
  const struct job_way *ways; /* [way_count] the program's own ways; NULL: those of links */
  int way_count;
  const char *unit;             /* of work, in millions a second; NULL: MFlop/s */
  const struct app_text *texts; /* [text_count], text_count <= APP_TEXTS */
  int text_count;
};

/* A program; behind the iterations other members. */
#define APP_PROGRAM(name_, help_, numbers_, ...)                                   \
 {                                                                                 \
  .name = (name_), .help = (help_), .numbers = (numbers_),                         \
  .count = (int)(sizeof(numbers_) / sizeof *(numbers_)), .iterations = __VA_ARGS__ \
 }
#define APP_WAYS(ways_) .ways = (ways_), .way_count = (int)(sizeof(ways_) / sizeof *(ways_))

/* Goes through those of `count` ways that the options choose. */
#define APP_EACH_WAY(options, count)     \
 for (int way = 0; way < (count); way++) \
  if ((options)->way < 0 || (options)->way == way)

struct app_options {
  const struct app_program *program;
  long n[APP_NUMBERS];         /* in the order of program->numbers */
  const char *text[APP_TEXTS]; /* in the order of program->texts */
  long iterations;
  int way; /* -1: each */
  bool inject_error, json;
};

struct app_result {
  double seconds; /* of one iteration, on the slowest rank */
  double work;    /* floating-point operations, or units, of one iteration, all ranks */
  bool verified;
  double share; /* of what the processors do without communication; 0: not known */
};

/* Read the command line; ends the job where there is nothing to run. */
void app_options(struct job *job, const struct app_program *program, struct app_options *options,
                 int argc, char **argv);
/* Start the job, read the command line, call `run`, end the job: with 0 if it returns true, else
 * with 1. Ends the job without `run` where there is nothing to run. */
_Noreturn void app_main(int argc, char **argv, const struct app_program *program,
                        bool (*run)(struct job *job, const struct app_options *options));

/* Refuse a problem for which a rank needs about `bytes` of memory, its segment included, where its
 * host has less for each of its ranks: what the system promises and cannot give would end the job
 * without a word. Collective, before job_attach; a double, so that sizes do not wrap round. */
void app_need(struct job *job, double bytes);

/* Where the time of an iteration goes. */
enum app_phase {
  APP_COMPUTE, /* the work itself */
  APP_COPY,    /* packing and unpacking in local memory */
  APP_SEND,    /* starting transfers, blocking ones to their end */
  APP_WAIT     /* until data or other ranks have come */
};

/* Begin iteration `i` of the way job->way; after the timed ones, 1 to options->iterations, comes
 * one that is watched: a clock read at each change would be part of what is measured. Says now and
 * then on rank 0 how far a long run is. Returns whether there is such an iteration. */
bool app_iteration(struct job *job, const struct app_options *options, long i);

/* Say on standard error, every two seconds at most, how far rank 0 is. app_iteration does it. */
void app_progress(const struct job *job, const struct app_options *options, long i);

/* Leave the current phase for `next`; nothing in an iteration that is not watched. A trace shows
 * the phases of that one as regions, and each iteration as a region with the name of the way. */
void app_charge(struct job *job, enum app_phase next);
static inline void app_enter(struct job *job, enum app_phase next) {
  if (__builtin_expect(job->watched, 0)) app_charge(job, next);
}

/* Seconds that the computation of an iteration takes by itself, on the slowest rank: processor
 * time, and where ranks share processors, the time until all have had their turn. The median of
 * some samples, which all ranks take at once: the best would be one in which another rank did not
 * run and left its part of the memory's rate. Collective. in about: given to `compute`. */
double app_alone(struct job *job, void (*compute)(void *about), void *about);

/* The watched iteration is over, the rest is not charged to any phase. */
void app_stop(struct job *job);

/* Print on rank 0: what is run; a result of the way job->way, with the
 * phases of its watched iteration (collective). */
void app_head(const struct job *job, const struct app_options *options);
void app_report(struct job *job, const struct app_options *options,
                const struct app_result *result);

#endif
