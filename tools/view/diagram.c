/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view --diagram`: who computes, waits and sends in a stretch of time, as an SVG drawing.
 *
 * Owns: nothing global. Called by view.c. Calls: words.c.
 * Invariants: one lane a rank, its main thread; an arrow runs from an operation to who sees it.
 * A bar narrower than a quarter of a pixel is joined with its neighbour. Colours can be
 * distinguished apart with any colour blindness (Okabe and Ito), and waits are hatched as well.
 */
#include "view/output.h"
#include "view/trace/words.h"

#define WIDTH     900.0
#define LEFT      84.0
#define RIGHT     16.0
#define TOP       44.0
#define LANE      26.0
#define STEP      40.0
#define NARROW    0.25
#define ARROWS    400u
#define TICKS     6.0
#define TICK      1.5 /* width of a short operation */
#define TICKS_MAX 600u

static const char *const fills[VIEW_STATES] = {
    [VIEW_COMPUTES] = "#9db8d2", [VIEW_SENDS] = "#0072b2",    [VIEW_HANDLES] = "#009e73",
    [VIEW_COLLECTS] = "#cc79a7", [VIEW_WAITS] = "url(#wait)",
};

struct drawing {
  const struct view_trace *t;
  FILE *to;
  int64_t from, until;
};

static double x_of(const struct drawing *d, int64_t at) {
  if (at < d->from) at = d->from;
  if (at > d->until) at = d->until;
  return LEFT + (WIDTH - LEFT - RIGHT) * (double)(at - d->from) / (double)(d->until - d->from);
}

static double y_of(uint32_t rank) {
  return TOP + STEP * rank;
}

static void write_head(const struct drawing *d) {
  fprintf(d->to,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
          "font-family=\"system-ui, sans-serif\" font-size=\"12\">\n"
          "<title>Execution diagram of %zu ranks</title>\n"
          "<defs><pattern id=\"wait\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
          "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#f6d9a8\"/>"
          "<rect width=\"2\" height=\"6\" fill=\"#d55e00\"/></pattern>\n"
          "<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"7\" "
          "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#222\"/></marker>"
          "</defs>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
          WIDTH, y_of((uint32_t)d->t->ranks) + 28, d->t->ranks);
}

static void write_legend(const struct drawing *d, const bool *used) {
  double x = LEFT;
  for (uint32_t s = 0; s < VIEW_STATES; s++) {
    if (!used[s]) continue;
    fprintf(d->to,
            "<rect x=\"%.0f\" y=\"10\" width=\"16\" height=\"12\" fill=\"%s\" stroke=\"#444\" "
            "stroke-width=\".5\"/><text x=\"%.0f\" y=\"20\" fill=\"#222\">%s</text>\n",
            x, fills[s], x + 22, view_state_name(s));
    x += 132;
  }
}

static void write_rect(const struct drawing *d, uint32_t rank, double a, double b, uint32_t state) {
  fprintf(d->to, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" fill=\"%s\"/>\n", a,
          y_of(rank), b - a, LANE, fills[state]);
}

/* Neighbouring pieces of one state are one rectangle; a narrow piece takes the state before it. */
static void write_lane(const struct drawing *d, uint32_t rank, bool *used) {
  const struct view_trace *t = d->t;
  fprintf(d->to, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\" fill=\"#222\">", LEFT - 10,
          y_of(rank) + LANE / 2 + 4);
  view_xml_text(d->to, view_text(t, t->rank[rank].label));
  fputs("</text>\n", d->to);
  if (t->rank[rank].main == VIEW_NONE) return;
  const struct view_track *track = &t->track[t->rank[rank].main];
  double begin = 0, end = 0;
  uint32_t state = VIEW_STATES;
  for (uint32_t i = track->piece; i < track->piece + track->pieces; i++) {
    const struct view_piece *p = &t->piece[i];
    if (p->end <= d->from || p->start >= d->until) continue;
    const double a = x_of(d, p->start), b = x_of(d, p->end);
    if (state < VIEW_STATES && p->state != state && b - a >= NARROW) {
      write_rect(d, rank, begin, end > a ? a : end, state);
      state = VIEW_STATES;
    }
    if (state == VIEW_STATES) {
      begin = a;
      state = p->state;
      used[state] = true;
    }
    end = b;
  }
  if (state < VIEW_STATES) write_rect(d, rank, begin, end, state);
}

/* Operations that are too short to be seen in their lane. */
static void write_ticks(const struct drawing *d, bool *used) {
  size_t count = 0;
  for (int draw = 0; draw < 2 && count <= TICKS_MAX; draw++) {
    for (uint32_t i = 0; i < d->t->events; i++) {
      const struct view_event *e = &d->t->event[i];
      const uint32_t rank = view_event_rank(d->t, i);
      if (e->duration < 0 || e->start < d->from || view_end(e) > d->until) continue;
      if (!view_kind_sends(e->kind) || e->track != d->t->rank[rank].main) continue;
      const double a = x_of(d, e->start);
      if (x_of(d, view_end(e)) - a >= TICK) continue;
      if (!draw)
        count++;
      else
        write_rect(d, rank, a, a + TICK, VIEW_SENDS);
      used[VIEW_SENDS] = true;
    }
  }
}

static bool shown(const struct drawing *d, const struct view_arrow *a, int64_t *sent,
                  int64_t *seen) {
  const struct view_event *from = &d->t->event[a->from], *to = &d->t->event[a->to];
  *sent = from->start;
  *seen = to->kind == VIEW_HANDLER || to->start > view_end(from) ? to->start : view_end(to);
  if (view_event_rank(d->t, a->from) == view_event_rank(d->t, a->to)) return false;
  return *sent >= d->from && *seen <= d->until;
}

static void write_arrows(const struct drawing *d) {
  int64_t sent, seen;
  size_t count = 0;
  for (size_t i = 0; i < d->t->arrows; i++) count += shown(d, &d->t->arrow[i], &sent, &seen);
  if (count > ARROWS) {
    fprintf(d->to,
            "<text x=\"%.0f\" y=\"20\" text-anchor=\"end\" fill=\"#555\">%zu arrows are not "
            "drawn</text>\n",
            WIDTH - RIGHT, count);
    return;
  }
  for (size_t i = 0; i < d->t->arrows; i++) {
    const struct view_arrow *a = &d->t->arrow[i];
    if (!shown(d, a, &sent, &seen)) continue;
    const uint32_t from = view_event_rank(d->t, a->from), to = view_event_rank(d->t, a->to);
    fprintf(d->to,
            "<line x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\" stroke=\"#222\" "
            "marker-end=\"url(#head)\"/>\n",
            x_of(d, sent), y_of(from) + (from < to ? LANE : 0), x_of(d, seen),
            y_of(to) + (from < to ? 0 : LANE));
  }
}

/* Moments that the program, or `--check races`, has marked: a triangle above the lane, and a name.
 */
static void write_marks(const struct drawing *d) {
  for (uint32_t i = 0; i < d->t->events; i++) {
    const struct view_event *e = &d->t->event[i];
    if (e->duration != VIEW_MARK || e->kind == VIEW_PACKET) continue;
    if (e->start < d->from || e->start > d->until) continue;
    const double x = x_of(d, e->start), y = y_of(view_event_rank(d->t, i));
    const bool left = x > (LEFT + WIDTH) / 2; /* the name is left of the triangle */
    fprintf(d->to,
            "<path d=\"M%.2f %.1fl-5 -9h10z\" fill=\"#d00\"/><text x=\"%.2f\" y=\"%.1f\" "
            "font-size=\"11\" text-anchor=\"%s\" fill=\"#a00\">",
            x, y, x + (left ? -8 : 8), y - 4, left ? "end" : "start");
    view_xml_text(d->to, view_text(d->t, e->name));
    fputs("</text>\n", d->to);
  }
}

/* A step of 1, 2 or 5 times a power of ten. */
static int64_t tick_step(int64_t span) {
  int64_t step = 1;
  while ((double)span / (double)step > TICKS) {
    if ((double)span / (double)(step * 2) <= TICKS) return step * 2;
    if ((double)span / (double)(step * 5) <= TICKS) return step * 5;
    step *= 10;
  }
  return step;
}

static void write_axis(const struct drawing *d) {
  char text[VIEW_WORD_BYTES];
  const double y = y_of((uint32_t)d->t->ranks);
  const int64_t step = tick_step(d->until - d->from);
  for (int64_t at = 0; at <= d->until - d->from; at += step) {
    const double x = x_of(d, d->from + at);
    fprintf(d->to,
            "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" stroke=\"#bbb\"/>"
            "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#444\">%s</text>\n",
            x, TOP - 6, x, y, x, y + 16, view_time_of_axis((double)at, (double)step, text));
  }
}

int view_write_diagram(const struct view_trace *t, const struct view_report *r, int64_t from,
                       int64_t until, FILE *to) {
  bool used[VIEW_STATES] = {false};
  (void)r;
  struct drawing d = {t, to, from, until > 0 && until < t->span ? until : t->span};
  if (d.until <= d.from) d.until = d.from + 1;
  write_head(&d);
  write_axis(&d);
  for (uint32_t i = 0; i < t->ranks; i++) write_lane(&d, i, used);
  write_ticks(&d, used);
  write_arrows(&d);
  write_marks(&d);
  write_legend(&d, used);
  fputs("</svg>\n", to);
  return ferror(to) ? -1 : 0;
}
