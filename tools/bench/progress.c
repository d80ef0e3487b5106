/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of a long command's progress, see progress.h.
 *
 * Owns: no process state. Called as progress.h says. Calls: the clock. Invariants: the remaining
 * time is reckoned from the parts that are over, which took their time here and now; before the
 * first one is over there is no estimate.
 */
#include "bench/progress.h"

#include "os/os.h"

#include <stdio.h>
#include <unistd.h>

void bench_progress_begin(struct bench_progress *p, const char *command, uint32_t all) {
  *p = (struct bench_progress){
      .command = command, .all = all, .begun_ns = tmb_os_now_ns(), .shown = isatty(STDERR_FILENO)};
}

/* The line. in now_ns: the time; the part in progress is number done. out line: [bytes]. */
static void bench_progress_line(const struct bench_progress *p, const char *what, uint64_t now_ns,
                                char *line, size_t bytes) {
  const double spent = (double)(now_ns - p->begun_ns) / 1e9;
  const uint32_t over = p->done ? p->done - 1 : 0;
  char left[48] = "";
  if (over) {
    const double s = spent / over * (p->all - over);
    if (s < 90)
      snprintf(left, sizeof left, ", about %.0f s left", s);
    else
      snprintf(left, sizeof left, ", about %.0f min left", s / 60);
  }
  snprintf(line, bytes, "%s: %s (%u of %u)%s", p->command, what, p->done, p->all, left);
}

void bench_progress_next(struct bench_progress *p, const char *what) {
  char line[128];
  p->done++;
  if (!p->shown) return;
  bench_progress_line(p, what, tmb_os_now_ns(), line, sizeof line);
  fprintf(stderr, "\r\033[K%.78s\r", line); /* a message that comes begins in front */
  fflush(stderr);
}

void bench_progress_end(struct bench_progress *p) {
  if (p->shown && p->done) fputs("\r\033[K", stderr);
  fflush(stderr);
}
