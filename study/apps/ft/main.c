/* SPDX-License-Identifier: BSD-3-Clause */
/* NAS FT, the 3-D FFT benchmark, on Tombolo: joins the job, decides what to run or refuses with the
 * reason, runs the schedules and reports. Everything below is called from here; see README.md in
 * this folder for a map. Every rank takes the same decisions from the same arguments, so all leave
 * together by comm_exit and nothing waits for a rank that has ended; rank 0 alone prints. Exit
 * codes: 0 verified or nothing to verify, 1 verification failed, 2 refused, 3 a result file was not
 * written.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { EXIT_REFUSED = 2, EXIT_NO_FILE = 3, REASON_BYTES = 512 };

static _Noreturn void refuse(const char *reason, const char *advice) {
  if (comm_rank() == 0) fprintf(stderr, "ft: %s; %s\n", reason, advice);
  comm_exit(EXIT_REFUSED);
}

static void choose_grid(struct ft_setting *s, const struct ft_options *o) {
  char reason[REASON_BYTES], advice[REASON_BYTES];
  int ranks = comm_size(), ty = o->ty, tz = o->tz;
  ft_layout_advise(s->class, ranks, advice, sizeof advice);
  if (ty == 0 && !ft_layout_choose(s->class, ranks, &ty, &tz)) {
    snprintf(reason, sizeof reason, "class %c cannot be divided among %d ranks", s->class->name,
             ranks);
    refuse(reason, advice);
  }
  if (!ft_layout_possible(s->class, ty, tz, ranks, reason, sizeof reason)) refuse(reason, advice);
  ft_layout_init(&s->layout, s->class, ty, tz, comm_rank());
}

static struct ft_buffers check_memory(const struct ft_setting *s, const struct ft_options *o) {
  char reason[REASON_BYTES];
  struct ft_buffers need = ft_solver_buffers(&s->layout, ft_options_extra(o));
  uint64_t all = need.segment_bytes + need.private_bytes, limit = comm_segment_limit();
  if (all <= limit) return need;
  snprintf(
      reason, sizeof reason,
      "class %c on %d rank%s needs %.0f MiB of memory a rank, but %.0f MiB is the most a rank can "
      "have here (gasnet_getMaxGlobalSegmentSize)",
      s->class->name, comm_size(), comm_size() == 1 ? "" : "s", (double)all / 0x1p20,
      (double)limit / 0x1p20);
  refuse(reason,
         "take a smaller class, more machines, or raise GASNET_MAX_SEGSIZE or the memory limit");
}

/* The largest code matters most: a file that is missing is worth reporting only if the numbers are
 * right. */
static int write_files(const struct ft_setting *s, const struct ft_result *results, int count) {
  bool good = true;
  if (s->options->json) good = ft_json_write(s->options->json, s, results, count) && good;
  if (s->options->plot) good = ft_plot_write(s->options->plot, s, results, count) && good;
  return good ? 0 : EXIT_NO_FILE;
}

static int report(const struct ft_setting *s, const struct ft_result *results, int count) {
  int code = 0;
  for (int i = 0; i < count; i++)
    if (results[i].verification == FT_FAILED) code = 1;
  if (comm_rank() != 0) return code;
  bool text = !s->options->json || strcmp(s->options->json, "-") != 0;
  if (text && count > 1 && !s->options->quiet) ft_report_comparison(stdout, results, count);
  int files = write_files(s, results, count);
  return code ? code : files;
}

/* All ranks leave with rank 0's code: it alone knows about files. */
static _Noreturn void leave(int code) {
  comm_exit((int)comm_sum((struct cplx){.re = comm_rank() == 0 ? code : 0}).re);
}

static void run_all(struct ft_setting *s) {
  const struct ft_options *o = s->options;
  bool many = o->schedule == FT_ALL_SCHEDULES;
  int first = many ? 0 : o->schedule, count = many ? ft_schedule_count : 1;
  bool text = comm_rank() == 0 && (!o->json || strcmp(o->json, "-") != 0);
  struct ft_result *results = calloc((size_t)count, sizeof *results);
  if (!results) comm_fail("out of memory for the results", "free some memory");
  if (text && !o->quiet) ft_report_head(stdout, s);
  for (int i = 0; i < count; i++) {
    ft_run(s, &ft_schedules[first + i], &results[i]);
    if (text) ft_report_run(stdout, s, &results[i]);
  }
  int code = report(s, results, count);
  for (int i = 0; i < count; i++) ft_result_free(&results[i]);
  free(results);
  leave(code);
}

int main(int argc, char **argv) {
  struct ft_options options;
  comm_init(&argc, &argv);
  switch (ft_options_parse(&options, argc, argv, comm_rank() == 0)) {
  case FT_DONE: comm_exit(0);
  case FT_USAGE: comm_exit(EXIT_REFUSED);
  case FT_GO: break;
  }
  struct ft_setting setting = {.options = &options, .class = ft_class_find(options.class)};
  choose_grid(&setting, &options);
  struct ft_buffers need = check_memory(&setting, &options);
  bool drawable = !options.plot || comm_rank() != 0 || ft_plot_available();
  ft_solver_teams(setting.team, &setting.layout);
  setting.segment = comm_attach(need.segment_bytes);
  if (comm_sum((struct cplx){.re = drawable ? 0 : 1}).re != 0) comm_exit(EXIT_NO_FILE);
  run_all(&setting);
}
