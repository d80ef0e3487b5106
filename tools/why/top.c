/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo top`: activity of the ranks of a running job, again and again.
 *
 * Owns: nothing global. Called by main.c. Calls: look, boot's snapshot and explain, choose.c,
 * top_screen.c. Each frame compares two looks at the status pages. Invariants: no rank is asked or
 * stopped; where standard input or output is no terminal, frames are plain text, one after the
 * other.
 */
#define _GNU_SOURCE
#include "agent/look.h"
#include "tool.h"
#include "why/choose.h"
#include "why/top_screen.h"

#include "base/error.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/explain/explain_words.h"
#include "os/os.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NS   UINT64_C(200000000) /* between the first two looks */
#define LINE_BYTES 512
#define HEAD_LINES 3u

enum sort { SORT_RANK, SORT_CPU, SORT_MESSAGES, SORTS };

struct top {
  const char *job; /* NULL: the only one */
  const struct tmb_ctl *ctl;
  uint64_t interval_ns;
  long count; /* frames, 0: until the end */
  bool on_screen;
  enum sort sort;
  uint32_t first; /* row at the top */
  struct tmb_snapshot before, now;
  struct tmb_explain explained;
};

/* A row, as it is sorted. */
struct row {
  uint32_t rank, host;
  double cpu, messages, bytes; /* share of a processor; a second */
  enum sort sort;
};

static error_t parse_top(int key, char *arg, struct argp_state *state) {
  struct top *t = state->input;
  char *end;
  switch (key) {
  case 'i':
    if (*arg == '\0' || tmb_fmt_parse_duration(arg, 1000000000, &t->interval_ns) != 0 ||
        t->interval_ns < 1000000) {
      tmb_print(
          "top: --interval %s: not a time of at least 1 ms; give seconds, or a number with ms "
          "or s",
          arg);
      exit(TOOL_EXIT_USAGE);
    }
    return 0;
  case 'n':
    t->count = strtol(arg, &end, 10);
    if (*end || end == arg || t->count < 1) {
      tmb_print("top: --count %s: give a number of frames, at least 1", arg);
      exit(TOOL_EXIT_USAGE);
    }
    return 0;
  default: return tool_job_option(key, arg, state, &t->job);
  }
}

/* ---- rows */

static double rate(uint64_t before, uint64_t now, uint64_t ns) {
  return ns && now > before ? (double)(now - before) * 1e9 / (double)ns : 0;
}

static struct row row_of(const struct top *t, uint32_t rank) {
  const struct tmb_seen *a = &t->before.rank[rank], *b = &t->now.rank[rank];
  const uint64_t *x = a->status.net, *y = b->status.net;
  const uint64_t ns = a->here && b->here && b->at_ns > a->at_ns ? b->at_ns - a->at_ns : 0;
  return (struct row){
      .rank = rank,
      .host = t->now.host_of[rank],
      .sort = t->sort,
      .cpu = rate(a->cpu_ns, b->cpu_ns, ns) / 1e9,
      .messages = rate(a->passed + x[TMB_STATUS_NET_SENT], b->passed + y[TMB_STATUS_NET_SENT], ns),
      .bytes = rate(x[TMB_STATUS_NET_BYTES_OUT] + x[TMB_STATUS_NET_BYTES_IN],
                    y[TMB_STATUS_NET_BYTES_OUT] + y[TMB_STATUS_NET_BYTES_IN], ns)};
}

/* By host and rank, or those that do most first. */
static int compare(const void *left, const void *right) {
  const struct row *a = left, *b = right;
  const double x = a->sort == SORT_CPU ? a->cpu : a->messages;
  const double y = a->sort == SORT_CPU ? b->cpu : b->messages;
  if (a->sort != SORT_RANK && x != y) return x > y ? -1 : 1;
  if (a->sort == SORT_RANK && a->host != b->host) return a->host > b->host ? 1 : -1;
  return a->rank > b->rank ? 1 : -1;
}

/* Purpose of a rank's wait, or why it is not seen to wait. */
static void wait_text(const struct top *t, uint32_t rank, char *buf, size_t bytes) {
  const struct tmb_snapshot *s = &t->now;
  char text[TMB_WORDS_BYTES];
  buf[0] = '\0';
  for (int i = 0; i < TMB_STATUS_WAITS; i++) {
    const struct tmb_status_wait *w = tmb_explain_wait(s, rank, i);
    if (!w) continue;
    tmb_words_wait(s, rank, w, text, sizeof text);
    const uint64_t at = s->rank[rank].at_ns;
    snprintf(buf, bytes, "%.1f s: %s", (double)(at - TMB_MIN(w->since_ns, at)) / 1e9, text);
    return;
  }
  const uint64_t polls = tmb_explain_polls(s, rank);
  if (polls) snprintf(buf, bytes, "%.1f s: polls find nothing", (double)polls / 1e9);
}

static void print_row(const struct top *t, const struct row *row, char *line) {
  static const char *const states[TMB_SEEN_COUNT] = {
      "not seen", "absent", "ended", "stopped", "run", "poll", "sleep", "wait", "wait"};
  const struct tmb_seen *seen = &t->now.rank[row->rank];
  char memory[TMB_FMT_BYTES], bytes[TMB_FMT_BYTES], wait[TMB_WORDS_BYTES + 32];
  const enum tmb_condition is = t->explained.condition[row->rank];
  const bool hangs = is == TMB_SEEN_WAITS && !t->explained.live[row->rank];
  const uint32_t first = seen->status.member[0] ? seen->status.first : 0;
  const char *host = t->now.hosts > 1 ? t->now.host_name[row->host] : seen->status.host;
  tmb_fmt_bytes(seen->memory, memory, sizeof memory);
  tmb_fmt_bytes((uint64_t)row->bytes, bytes, sizeof bytes);
  wait_text(t, row->rank, wait, sizeof wait);
  snprintf(line, LINE_BYTES, "%5u %-12.12s %-8s %5.0f %9s %10.0f %9s %8llu  %.360s",
           row->rank + first, host, hangs ? "hangs" : states[is], 100 * row->cpu, memory,
           row->messages, bytes, (unsigned long long)seen->status.net[TMB_STATUS_NET_RETRANSMITS],
           wait);
}

/* ---- frames */

/* Put a line into a frame, cut to the width of the screen; control characters are left out. */
static void put_line(FILE *out, const char *line, unsigned columns) {
  for (unsigned i = 0; line[i] && i < columns; i++)
    fputc((unsigned char)line[i] < ' ' || line[i] == 127 ? '?' : line[i], out);
  fputc('\n', out);
}

static void put_head(const struct top *t, FILE *out, unsigned columns) {
  static const char *const verdicts[] = {"ranks go on", "ranks wait for others", "HANGS"};
  static const char *const sorts[] = {"host and rank", "processor time", "messages"};
  const struct tmb_snapshot *s = &t->now;
  const char *member = s->rank[0].status.member;
  char line[LINE_BYTES], name[TMB_STATUS_MEMBER + 1];
  uint32_t waiting = 0;
  for (uint32_t r = 0; r < s->size; r++)
    waiting +=
        t->explained.condition[r] == TMB_SEEN_WAITS || t->explained.condition[r] == TMB_SEEN_MOVES;
  snprintf(name, sizeof name, "%.*s", TMB_STATUS_MEMBER, member[0] ? member : "rank");
  snprintf(line, sizeof line, "job %d: %u %ss on %u host%s, %.1f s, %u wait: %s", (int)s->launcher,
           s->size, name, s->hosts, s->hosts > 1 ? "s" : "", (double)(s->at_ns - s->start_ns) / 1e9,
           waiting, verdicts[t->explained.verdict]);
  put_line(out, line, columns);
  if (t->on_screen) {
    snprintf(line, sizeof line, "by %s; keys: q quit, s other order, arrows and pages move",
             sorts[t->sort]);
    put_line(out, line, columns);
  }
  for (char *c = name; *c; c++) *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
  snprintf(line, sizeof line, "%5.5s %-12s %-8s %5s %9s %10s %9s %8s  %s", name, "HOST", "STATE",
           "CPU %", "MEMORY", "MSG/s", "NET B/s", "RESENT", "WAITS FOR");
  put_line(out, line, columns);
}

/* Draw the last observation. Returns false without memory. */
static bool draw(struct top *t) {
  unsigned rows = UINT32_MAX, columns = LINE_BYTES;
  char *text = NULL, line[LINE_BYTES];
  size_t bytes = 0;
  const uint32_t size = t->now.size;
  struct row *row = calloc(size, sizeof *row);
  FILE *out = row ? open_memstream(&text, &bytes) : NULL;
  if (!out) {
    free(row);
    return false;
  }
  if (t->on_screen) top_screen_size(&rows, &columns);
  const uint32_t room = rows > HEAD_LINES ? rows - HEAD_LINES : 0;
  t->first = TMB_MIN(t->first, size > room ? size - room : 0);
  for (uint32_t r = 0; r < size; r++) row[r] = row_of(t, r);
  qsort(row, size, sizeof *row, compare);
  put_head(t, out, columns);
  for (uint32_t i = t->first; i < size && i - t->first < room; i++) {
    print_row(t, &row[i], line);
    put_line(out, line, columns);
  }
  free(row);
  const bool good = fclose(out) == 0;
  if (good && t->on_screen)
    top_screen_show(text);
  else if (good)
    fputs(text, stdout);
  fflush(stdout);
  free(text);
  return good;
}

/* Serve keys until the next reading is due. Returns false when the command is to end. */
static bool serve_keys(struct top *t, uint64_t until_ns) {
  unsigned rows, columns;
  int key;
  while ((key = top_screen_key(until_ns)) != TOP_KEY_NONE) {
    top_screen_size(&rows, &columns);
    const uint32_t page = rows > HEAD_LINES ? rows - HEAD_LINES : 1;
    switch (key) {
    case 'q':
    case TOP_KEY_QUIT: return false;
    case 's': t->sort = (t->sort + 1) % SORTS; break;
    case 'k':
    case TOP_KEY_UP: t->first -= t->first ? 1 : 0; break;
    case 'j':
    case TOP_KEY_DOWN: t->first++; break;
    case TOP_KEY_PAGE_UP: t->first -= TMB_MIN(t->first, page); break;
    case ' ':
    case TOP_KEY_PAGE_DOWN: t->first += page; break;
    case TOP_KEY_HOME: t->first = 0; break;
    default: break;
    }
    if (!draw(t)) return false;
  }
  return true;
}

/* Look at the job. Places in the program are not looked up: that takes too long for each frame. */
static bool look(const struct top *t, struct tmb_snapshot *s) {
  if (look_ask(t->ctl, LOOK_MEMORY, s) == TMB_E_NOMEM) return false;
  for (uint32_t r = 0; r < s->size; r++) s->rank[r].source[0] = '\0';
  return true;
}

static bool has_ended(const struct top *t) {
  return kill(t->ctl->supervisor_pid, 0) != 0;
}

/* Wait for the next frame. Returns false when the command is to end. */
static bool pause_until(struct top *t, uint64_t until_ns) {
  const uint64_t now = tmb_os_now_ns();
  if (t->on_screen) return serve_keys(t, until_ns);
  if (until_ns > now) (void)tmb_os_nsleep(until_ns - now);
  return true;
}

/* One frame after the other. Returns false without memory. */
static bool watch(struct top *t) {
  if (!look(t, &t->before)) return false;
  uint64_t next_ns = tmb_os_now_ns() + TMB_MIN(t->interval_ns, FIRST_NS);
  (void)tmb_os_nsleep(TMB_MIN(t->interval_ns, FIRST_NS));
  bool good = true, on = true;
  for (long frame = 1; good && on && !has_ended(t); frame++) {
    next_ns += t->interval_ns;
    if (!look(t, &t->now)) return false;
    good = tmb_explain(&t->explained, &t->before, &t->now, false) == TMB_OK;
    if (good) {
      good = draw(t);
      on = (!t->count || frame < t->count) && pause_until(t, next_ns);
      tmb_explain_free(&t->explained);
    }
    tmb_snapshot_free(&t->before);
    t->before = t->now;
  }
  tmb_snapshot_free(&t->before);
  return good;
}

int tool_top_main(int argc, char **argv) {
  static const struct argp_option options[] = {
      {"interval", 'i', "TIME", 0, "time between two frames (default 1 s)", 0},
      {"count", 'n', "N", 0, "end after N frames (default: when the job ends)", 0},
      TOOL_VERSION_OPTION,
      {0}};
  static const char doc[] =
      "Show what the ranks of a running job do, until the job ends."
      "\v"
      "JOB is the process number of the launcher or of a rank, see 'tombolo ps'; it may be left "
      "out when there is only one job. MSG/s counts slots of 64 bytes that pass through shared "
      "memory into a rank, and messages that it sends to other hosts. NET B/s counts the bytes to "
      "and from other hosts, RESENT the retransmitted packets. Keys: q quits, s changes the order, "
      "arrow and page keys scroll. A file or a pipe gets plain frames. No rank is interrupted.";
  static const struct argp parser = {options, parse_top, "[JOB]", doc, 0, 0, 0};
  struct top t = {.interval_ns = UINT64_C(1000000000)};
  struct tmb_job_found *jobs = NULL;
  if (tool_parse(&parser, argc, argv, 0, &t) != 0) return TOOL_EXIT_USAGE;
  const int count = tmb_jobs_find(&jobs);
  t.ctl = why_choose(jobs, count, t.job, "top");
  int rc = TOOL_EXIT_FAILED;
  if (t.ctl) {
    t.on_screen = top_screen_open();
    const bool good = watch(&t);
    const bool ended = has_ended(&t);
    top_screen_close();
    if (ended && good) puts("the job has ended");
    if (!good) tmb_print("top: out of memory");
    rc = good ? 0 : TOOL_EXIT_FAILED;
  }
  if (count > 0) tmb_jobs_free(jobs, count);
  return rc;
}
