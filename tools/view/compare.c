/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view --compare`: two traces side by side, as text.
 *
 * Owns: nothing global. Called by view.c. Calls: words.c.
 * Rows are sums over the ranks of a trace. Regions and collectives of both belong together by
 * name. Invariants: a row that is zero in both traces is left out; of regions and of collectives
 * the ROWS with the largest change are shown.
 */
#include "view/output.h"
#include "view/trace/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 12u

typedef const char *words(double value, char *text);

/* A value in both traces. */
struct pair {
  const char *name;
  double before, after;
};

struct pairs {
  struct pair *pair;
  size_t count, room;
};

static const char *count_words(double value, char *text) {
  snprintf(text, VIEW_WORD_BYTES, "%.0f", value);
  return text;
}

static void write_change(const struct pair *p, char *text) {
  if (p->before == p->after)
    snprintf(text, VIEW_WORD_BYTES, "=");
  else if (p->before > 0 && p->after < 9.995 * p->before)
    snprintf(text, VIEW_WORD_BYTES, "%+.0f %%", 100 * (p->after - p->before) / p->before);
  else if (p->before > 0)
    snprintf(text, VIEW_WORD_BYTES, "%.0f times", p->after / p->before);
  else
    snprintf(text, VIEW_WORD_BYTES, "new");
}

static void write_row(FILE *to, struct pair p, words *in_words) {
  char before[VIEW_WORD_BYTES], after[VIEW_WORD_BYTES], change[VIEW_WORD_BYTES];
  if (p.before == 0 && p.after == 0) return;
  write_change(&p, change);
  fprintf(to, "  %-34.60s %12s %12s %10s\n", p.name, in_words(p.before, before),
          in_words(p.after, after), change);
}

/* The row of a name, made if there is none. */
static struct pair *pair_of(struct pairs *all, const char *name) {
  for (size_t i = 0; i < all->count; i++)
    if (strcmp(all->pair[i].name, name) == 0) return &all->pair[i];
  all->pair = view_more(all->pair, all->count, &all->room, sizeof *all->pair);
  all->pair[all->count] = (struct pair){.name = name};
  return &all->pair[all->count++];
}

static int by_change(const void *left, const void *right) {
  const struct pair *a = left, *b = right;
  const double x = fabs(a->after - a->before), y = fabs(b->after - b->before);
  if (x != y) return x > y ? -1 : 1;
  return strcmp(a->name, b->name);
}

static void write_pairs(FILE *to, const char *title, struct pairs *all) {
  if (all->count) fprintf(to, "\n%s\n", title);
  view_sort(all->pair, all->count, sizeof *all->pair, by_change);
  for (size_t i = 0; i < all->count && i < ROWS; i++) write_row(to, all->pair[i], view_time);
  if (all->count > ROWS) fprintf(to, "  ... and %zu more, which changed less\n", all->count - ROWS);
  free(all->pair);
}

/* Sums of one trace, over its ranks. */
struct sums {
  double ns[VIEW_STATES];
  double late, transfer, processor; /* parts of waits */
  double sent, bytes;
};

static struct sums sums_of(const struct view_trace *t, const struct view_report *r) {
  struct sums s = {.sent = 0};
  for (uint32_t i = 0; i < t->ranks; i++) {
    for (int k = 0; k < VIEW_STATES; k++) s.ns[k] += (double)r->share[i].ns[k];
    s.sent += (double)r->share[i].sent_count;
    s.bytes += (double)r->share[i].sent_bytes;
  }
  for (size_t i = 0; i < r->blames; i++) {
    s.late += (double)r->blame[i].late;
    s.transfer += (double)r->blame[i].transfer;
    s.processor += (double)r->blame[i].processor;
  }
  return s;
}

/* Time that main threads compute in each region, of one trace. */
static void add_regions(struct pairs *all, const struct view_trace *t, bool after) {
  double *ns = view_zeroed(t->names.count, sizeof *ns);
  for (uint32_t i = 0; i < t->ranks; i++) {
    if (t->rank[i].main == VIEW_NONE) continue;
    const struct view_track *track = &t->track[t->rank[i].main];
    for (uint32_t k = track->piece; k < track->piece + track->pieces; k++) {
      const struct view_piece *p = &t->piece[k];
      if (p->state == VIEW_COMPUTES && p->region != VIEW_NONE)
        ns[p->region] += (double)(p->end - p->start);
    }
  }
  for (uint32_t i = 0; i < t->names.count; i++) {
    if (ns[i] <= 0) continue;
    struct pair *p = pair_of(all, view_text(t, i));
    *(after ? &p->after : &p->before) += ns[i];
  }
  free(ns);
}

static void add_collectives(struct pairs *all, const struct view_trace *t,
                            const struct view_report *r, bool after) {
  for (size_t i = 0; i < r->meetings; i++) {
    struct pair *p = pair_of(all, view_text(t, r->meeting[i].name));
    *(after ? &p->after : &p->before) += (double)r->meeting[i].inside;
  }
}

static void write_sums(FILE *to, const struct sums *a, const struct sums *b) {
  static const char *const states[VIEW_STATES] = {"computing", "starting operations",
                                                  "running handlers", "in collectives", "waiting"};
  fputs("\nSum over the ranks\n", to);
  for (int k = 0; k < VIEW_STATES; k++)
    write_row(to, (struct pair){states[k], a->ns[k], b->ns[k]}, view_time);
  write_row(to, (struct pair){"waits: late sender", a->late, b->late}, view_time);
  write_row(to, (struct pair){"waits: transfer", a->transfer, b->transfer}, view_time);
  write_row(to, (struct pair){"waits: no processor", a->processor, b->processor}, view_time);
  write_row(to, (struct pair){"operations", a->sent, b->sent}, count_words);
  write_row(to, (struct pair){"bytes", a->bytes, b->bytes}, view_bytes);
}

int view_write_compare(const struct view_side *before, const struct view_side *after, FILE *to) {
  const struct sums a = sums_of(before->t, before->r), b = sums_of(after->t, after->r);
  const struct view_path *from = &before->r->path, *now = &after->r->path;
  struct pairs regions = {.count = 0}, collectives = {.count = 0};
  fprintf(to, "before: %s\nafter:  %s\n\n  %-34s %12s %12s %10s\n", before->file, after->file, "",
          "before", "after", "change");
  write_row(to, (struct pair){"time", (double)before->t->span, (double)after->t->span}, view_time);
  write_row(to, (struct pair){"ranks", (double)before->t->ranks, (double)after->t->ranks},
            count_words);
  write_row(to,
            (struct pair){"critical path, computing", (double)from->state[VIEW_COMPUTES],
                          (double)now->state[VIEW_COMPUTES]},
            view_time);
  write_row(
      to, (struct pair){"critical path, transfers", (double)from->transfer, (double)now->transfer},
      view_time);
  write_sums(to, &a, &b);
  add_regions(&regions, before->t, false);
  add_regions(&regions, after->t, true);
  write_pairs(to, "Computing in regions", &regions);
  add_collectives(&collectives, before->t, before->r, false);
  add_collectives(&collectives, after->t, after->r, true);
  write_pairs(to, "Collectives, with their waits", &collectives);
  return ferror(to) ? -1 : 0;
}
