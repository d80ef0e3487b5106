/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the HTML page, one file with its data, its program and its style.
 *
 * Owns: nothing global. Called by view.c. Calls: columns.c, words.c.
 * Invariants: nothing is fetched: the page works from disk without a network. Events are columns of
 * numbers in base64, which a browser decodes at once; all that is counted is counted here. Times
 * are in steps of `quantum_ns`, so that 32 bits hold the longest trace.
 */
#define _GNU_SOURCE
#include "view/columns.h"
#include "view/output.h"
#include "view/trace/words.h"

#include <string.h>

static void write_texts(const struct view_trace *t, FILE *to) {
  fputs("\"names\":[", to);
  for (size_t i = 0; i < t->names.count; i++) {
    if (i) fputs(",\n", to);
    view_json_text(to, t->names.text[i]);
  }
  fputs("],\n\"kinds\":[", to);
  for (uint32_t k = 0; k < VIEW_KINDS; k++)
    fprintf(to, "%s[\"%s\",%d]", k ? "," : "", view_kind_name(k), (int)view_state_of(k));
  fputs("],\n\"states\":[", to);
  for (uint32_t s = 0; s < VIEW_STATES; s++)
    fprintf(to, "%s\"%s\"", s ? "," : "", view_state_name(s));
  fputs("],\n", to);
}

static int64_t index_or(uint32_t name) {
  return name == VIEW_NONE ? -1 : (int64_t)name;
}

static void write_ranks(const struct view_trace *t, const struct view_report *r, FILE *to) {
  fputs("\"ranks\":[", to);
  for (uint32_t i = 0; i < t->ranks; i++) {
    const struct view_rank *k = &t->rank[i];
    const struct view_share *s = &r->share[i];
    fprintf(to,
            "%s\n{\"label\":%u,\"host\":%lld,\"main\":%lld,\"lost\":%llu,\"time\":%lld,"
            "\"flight\":%lld,\"overlapped\":%lld,\"sent\":[%llu,%llu],\"received\":[%llu,%llu],"
            "\"path\":%lld,\"crowded\":%d,\"ns\":[",
            i ? "," : "", k->label, (long long)index_or(k->host), (long long)index_or(k->main),
            (unsigned long long)k->lost, (long long)(s->end - s->begin), (long long)s->flight,
            (long long)s->overlapped, (unsigned long long)s->sent_count,
            (unsigned long long)s->sent_bytes, (unsigned long long)s->received_count,
            (unsigned long long)s->received_bytes, (long long)r->path.on_rank[i], r->crowded[i]);
    for (int state = 0; state < VIEW_STATES; state++)
      fprintf(to, "%s%lld", state ? "," : "", (long long)s->ns[state]);
    fputs("]}", to);
  }
  fputs("],\n\"tracks\":[", to);
  for (uint32_t i = 0; i < t->tracks; i++)
    fprintf(to, "%s\n[%u,%u,%lld,%u,%u]", i ? "," : "", t->track[i].rank, t->track[i].thread,
            (long long)index_or(t->track[i].name), t->track[i].first, t->track[i].count);
  fputs("],\n", to);
}

static void write_top(const char *name, const struct view_top *top, FILE *to) {
  fprintf(to, "\"%s\":[", name);
  for (uint32_t i = 0; i < top->used; i++)
    fprintf(to, "%s[%u,%lld]", i ? "," : "", top->key[i], (long long)top->ns[i]);
  fputs("]", to);
}

static void write_waits(const struct view_report *r, FILE *to) {
  fputs("\"waits\":[", to);
  for (size_t i = 0; i < r->blames; i++) {
    const struct view_blame *b = &r->blame[i];
    fprintf(to,
            "%s\n{\"waiter\":%u,\"for\":%u,\"kind\":%u,\"count\":%u,\"late_count\":%u,"
            "\"waited\":%lld,\"late\":%lld,\"processor\":%lld,\"did\":[",
            i ? "," : "", b->waiter, b->culprit, b->kind, b->count, b->late_count,
            (long long)b->waited, (long long)b->late, (long long)b->processor);
    for (int s = 0; s < VIEW_STATES; s++)
      fprintf(to, "%s%lld", s ? "," : "", (long long)b->while_late[s]);
    fputs("],", to);
    write_top("regions", &b->regions, to);
    fputs(",", to);
    write_top("ranks", &b->ranks, to);
    fputs("}", to);
  }
  fputs("],\n\"delays\":[", to);
  for (size_t i = 0; i < r->delays; i++)
    fprintf(to, "%s\n[%u,%u,%u,%lld,%lld]", i ? "," : "", r->delay[i].sender, r->delay[i].receiver,
            r->delay[i].count, (long long)r->delay[i].handler, (long long)r->delay[i].ready);
  fputs("],\n", to);
}

static void write_meetings(const struct view_trace *t, const struct view_report *r, FILE *to) {
  fputs("\"collectives\":[", to);
  for (size_t i = 0; i < r->meetings; i++) {
    const struct view_meeting *m = &r->meeting[i];
    fprintf(to, "%s\n{\"name\":%u,\"count\":%u,\"waited\":%lld,\"inside\":%lld,\"last\":[",
            i ? "," : "", m->name, m->count, (long long)m->waited, (long long)m->inside);
    for (uint32_t k = 0; k < t->ranks; k++) fprintf(to, "%s%u", k ? "," : "", m->last[k]);
    fputs("]}", to);
  }
  fputs("],\n", to);
}

static void write_matrix(const struct view_trace *t, const struct view_report *r, FILE *to) {
  bool some = false;
  fputs("\"matrix\":[", to);
  for (size_t i = 0; i < t->ranks * t->ranks; i++) {
    if (!r->count[i]) continue;
    fprintf(to, "%s[%zu,%zu,%llu,%llu]", some ? "," : "", i / t->ranks, i % t->ranks,
            (unsigned long long)r->count[i], (unsigned long long)r->bytes[i]);
    some = true;
  }
  fputs("],\n", to);
}

static void write_histogram(const char *name, const struct view_histogram *h, FILE *to) {
  uint32_t first = VIEW_BINS, last = 0;
  for (uint32_t b = 0; b < VIEW_BINS; b++) {
    if (!h->count[b]) continue;
    if (first == VIEW_BINS) first = b;
    last = b;
  }
  fprintf(to, "{\"name\":\"%s\",\"total\":%llu,\"sum\":%.17g,\"first\":%u,\"count\":[", name,
          (unsigned long long)h->total, h->sum, h->total ? first : 0);
  for (uint32_t b = first; b <= last && h->total; b++)
    fprintf(to, "%s%llu", b > first ? "," : "", (unsigned long long)h->count[b]);
  fputs("]}", to);
}

static void write_histograms(const struct view_report *r, FILE *to) {
  static const char *const sizes[VIEW_SIZES] = {"puts", "gets", "messages", "other"};
  static const char *const latencies[VIEW_LATENCIES] = {"operation to its receiver", "waits",
                                                        "operations"};
  fputs("\"sizes\":[", to);
  for (int i = 0; i < VIEW_SIZES; i++) {
    if (i) fputs(",\n", to);
    write_histogram(sizes[i], &r->size[i], to);
  }
  fputs("],\n\"latencies\":[", to);
  for (int i = 0; i < VIEW_LATENCIES; i++) {
    if (i) fputs(",\n", to);
    write_histogram(latencies[i], &r->latency[i], to);
  }
  fputs("],\n", to);
}

static void write_path(const struct view_report *r, FILE *to) {
  const struct view_path *p = &r->path;
  fprintf(to, "\"path\":{\"length\":%lld,\"transfer\":%lld,\"ns\":[", (long long)p->length,
          (long long)p->transfer);
  for (int s = 0; s < VIEW_STATES; s++) fprintf(to, "%s%lld", s ? "," : "", (long long)p->state[s]);
  fputs("],", to);
  write_top("regions", &p->regions, to);
  fputs("},\n\"advice\":[", to);
  for (size_t i = 0; i < r->advices; i++) {
    fputs(i ? ",\n[" : "[", to);
    view_json_text(to, r->advice[i].title);
    fputs(",", to);
    view_json_text(to, r->advice[i].text);
    fputs("]", to);
  }
  fputs("]\n", to);
}

static void write_data(const struct view_trace *t, const struct view_report *r, FILE *to) {
  const int64_t quantum = view_quantum(t);
  fputs("<script type=\"application/json\" id=\"meta\">{\n\"program\":", to);
  view_json_text(to, view_text(t, t->program));
  fprintf(to,
          ",\n\"span\":%lld,\"quantum_ns\":%lld,\"events\":%zu,\"arrows\":%zu,\"steps\":%zu,"
          "\"guessed\":%u,\"typical\":%lld,\"wake_ns\":%lld,\"unexplained\":[%llu,%lld],\n",
          (long long)t->span, (long long)quantum, t->events, t->arrows, r->path.steps, t->guessed,
          (long long)r->typical, (long long)VIEW_WAKE_NS, (unsigned long long)r->unexplained,
          (long long)r->unexplained_ns);
  write_texts(t, to);
  write_ranks(t, r, to);
  write_waits(r, to);
  write_meetings(t, r, to);
  write_matrix(t, r, to);
  write_histograms(r, to);
  write_path(r, to);
  fputs("}</script>\n", to);
  view_write_columns(t, r, to);
}

static void write_part(const struct view_trace *t, const struct view_report *r, const char *title,
                       struct view_span part, FILE *to) {
  if (view_span_is(part, "title")) {
    view_xml_text(to, title);
    return;
  }
  if (view_span_is(part, "data")) {
    write_data(t, r, to);
    return;
  }
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)part.bytes, part.text);
  const struct view_asset *a = view_asset(name);
  if (a) fwrite(a->text, 1, (size_t)(a->end - a->text), to);
}

int view_write_page(const struct view_trace *t, const struct view_report *r, const char *title,
                    FILE *to) {
  const struct view_asset *page = view_asset("page.html");
  const char *at = page->text;
  while (at < page->end) {
    const char *open = memmem(at, (size_t)(page->end - at), "{{", 2);
    const char *close = open ? memmem(open, (size_t)(page->end - open), "}}", 2) : NULL;
    if (!close) break;
    fwrite(at, 1, (size_t)(open - at), to);
    write_part(t, r, title, (struct view_span){open + 2, (size_t)(close - open - 2)}, to);
    at = close + 2;
  }
  fwrite(at, 1, (size_t)(page->end - at), to);
  return ferror(to) ? -1 : 0;
}
