/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view --summary`: the content of the page, as plain text.
 *
 * Owns: nothing. Called by view.c. Calls: words.c.
 * Invariants: lines have at most 100 columns but for names; tables show the largest ROWS rows and
 * say how many are left out.
 */
#include "view/output.h"
#include "view/trace/words.h"

#include <ctype.h>
#include <string.h>

#define ROWS  16u
#define WIDTH 96u

/* Bytes of the next word; a number and the unit behind it are one. */
static size_t word_bytes(const char *text) {
  static const char *const units[] = {"%", "ns", "us", "ms", "s", "B", "KB", "MB", "GB", "TB"};
  const size_t word = strcspn(text, " ");
  const char *unit = text + word + 1;
  if (!text[word] || text[word - 1] < '0' || text[word - 1] > '9') return word;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const size_t bytes = strlen(units[i]);
    if (strncmp(unit, units[i], bytes) == 0 && !isalnum((unsigned char)unit[bytes]))
      return word + 1 + strcspn(unit, " ");
  }
  return word;
}

/* Text in lines of WIDTH, indented. */
static void wrap(FILE *to, const char *text) {
  size_t column = 0;
  while (*text) {
    const size_t word = word_bytes(text);
    if (column && column + 1 + word > WIDTH) {
      fputc('\n', to);
      column = 0;
    }
    fputs(column ? " " : "  ", to);
    fwrite(text, 1, word, to);
    column += word + (column ? 1 : 2);
    text += word;
    text += strspn(text, " ");
  }
  fputc('\n', to);
}

static void left_out(FILE *to, size_t count) {
  if (count > ROWS) fprintf(to, "  ... and %zu more\n", count - ROWS);
}

static void write_ranks(const struct view_trace *t, const struct view_report *r, FILE *to) {
  char time[VIEW_WORD_BYTES], part[VIEW_STATES + 1][VIEW_WORD_BYTES], sent[VIEW_WORD_BYTES];
  fprintf(to, "\n%-12s %-12s %10s %9s %9s %9s %9s %9s %9s %9s %9s\n", "RANK", "HOST", "TIME",
          "COMPUTES", "SENDS", "HANDLES", "COLLECT.", "WAITS", "OVERLAP", "SENT", "OPERATIONS");
  for (uint32_t i = 0; i < t->ranks && i < ROWS; i++) {
    const struct view_share *s = &r->share[i];
    const double all = (double)(s->end - s->begin);
    for (int k = 0; k < VIEW_STATES; k++) view_percent((double)s->ns[k], all, part[k]);
    if (s->flight)
      view_percent((double)s->overlapped, (double)s->flight, part[VIEW_STATES]);
    else
      snprintf(part[VIEW_STATES], VIEW_WORD_BYTES, "-");
    const char *host = t->rank[i].host == VIEW_NONE ? "-" : view_text(t, t->rank[i].host);
    fprintf(to, "%-12s %-12s %10s %9s %9s %9s %9s %9s %9s %9s %9llu\n",
            view_text(t, t->rank[i].label), host, view_time(all, time), part[VIEW_COMPUTES],
            part[VIEW_SENDS], part[VIEW_HANDLES], part[VIEW_COLLECTS], part[VIEW_WAITS],
            part[VIEW_STATES], view_bytes((double)s->sent_bytes, sent),
            (unsigned long long)s->sent_count);
  }
  left_out(to, t->ranks);
}

static void write_waits(const struct view_trace *t, const struct view_report *r, FILE *to) {
  char waited[VIEW_WORD_BYTES], part[VIEW_WORD_BYTES], of[3][VIEW_WORD_BYTES];
  if (!r->blames) return;
  fprintf(to, "\n%-12s %-12s %-11s %8s %10s %9s %9s %9s %9s\n", "RANK", "WAITS FOR", "BY", "WAITS",
          "TIME", "OF ITS", "LATE", "TRANSFER", "NO CPU");
  for (size_t i = 0; i < r->blames && i < ROWS; i++) {
    const struct view_blame *b = &r->blame[i];
    const struct view_share *s = &r->share[b->waiter];
    const int64_t parts[] = {b->late, b->transfer, b->processor};
    for (int k = 0; k < 3; k++) view_percent((double)parts[k], (double)b->waited, of[k]);
    fprintf(to, "%-12s %-12s %-11s %8u %10s %9s %9s %9s %9s\n",
            view_text(t, t->rank[b->waiter].label), view_text(t, t->rank[b->culprit].label),
            view_kind_name(b->kind), b->count, view_time((double)b->waited, waited),
            view_percent((double)b->waited, (double)(s->end - s->begin), part), of[0], of[1],
            of[2]);
  }
  left_out(to, r->blames);
}

static void write_histogram(const char *name, const struct view_histogram *h, bool bytes,
                            FILE *to) {
  char a[3][VIEW_WORD_BYTES];
  if (!h->total) return;
  fprintf(to, "%-28s %10llu", name, (unsigned long long)h->total);
  for (int i = 0; i < 3; i++) {
    const double q = view_quantile(h, i == 0 ? 0.1 : i == 1 ? 0.5 : 0.9);
    fprintf(to, " %9s", bytes ? view_bytes(q, a[i]) : view_time(q, a[i]));
  }
  fputc('\n', to);
}

int view_write_summary(const struct view_trace *t, const struct view_report *r, FILE *to) {
  char span[VIEW_WORD_BYTES];
  if (t->program != VIEW_NONE) fprintf(to, "%s\n", view_text(t, t->program));
  fprintf(to, "%zu ranks, %zu events, %zu arrows (%u guessed), %s\n", t->ranks, t->events,
          t->arrows, t->guessed, view_time((double)t->span, span));
  for (size_t i = 0; i < r->advices; i++) {
    fprintf(to, "\n* %s\n", r->advice[i].title);
    wrap(to, r->advice[i].text);
  }
  write_ranks(t, r, to);
  write_waits(t, r, to);
  fprintf(to, "\n%-28s %10s %9s %9s %9s\n", "SIZES, TIMES", "COUNT", "10 %", "50 %", "90 %");
  write_histogram("bytes of a put", &r->size[VIEW_SIZE_PUT], true, to);
  write_histogram("bytes of a get", &r->size[VIEW_SIZE_GET], true, to);
  write_histogram("bytes of a message", &r->size[VIEW_SIZE_MESSAGE], true, to);
  write_histogram("time of an operation", &r->latency[VIEW_LATENCY_OPERATION], false, to);
  write_histogram("from it to its receiver", &r->latency[VIEW_LATENCY_ARROW], false, to);
  write_histogram("time of a wait", &r->latency[VIEW_LATENCY_WAIT], false, to);
  return ferror(to) ? -1 : 0;
}
