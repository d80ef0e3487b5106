/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a trace: docs/TRACE_FORMAT.md.
 *
 * Owns: no process state. Called by set.c. Calls: words.c. Format: Trace Event Format (JSON object
 * form), one event on each line. Invariants: texts of the program are escaped, and bytes that are
 * no UTF-8 replaced.
 */
#define _GNU_SOURCE
#include "boot/trace/words.h"

#include "base/fmt.h"
#include "boot/explain/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES 512 /* places that are looked up */

struct source {
  const char *place;
  char words[TMB_SEEN_SOURCE];
};

struct out {
  FILE *file;
  const struct tmb_trace_set *set;
  bool any;      /* an event has been written */
  uint32_t flow; /* arrows so far */
  struct source *source;
  size_t sources;
};

static void put_us(FILE *f, const char *key, int64_t ns) {
  const int64_t at = ns < 0 ? 0 : ns;
  fprintf(f, ",\"%s\":%" PRId64 ".%03d", key, at / 1000, (int)(at % 1000));
}

/* The beginning of an event, up to its own keys. */
static void begin(struct out *o, const char *phase, uint32_t rank, unsigned thread) {
  fprintf(o->file, "%s{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u", o->any ? ",\n" : "", phase, rank,
          thread);
  o->any = true;
}

/* ---- arguments */

static void put_member(struct out *o, const char **comma, const char *key, uint64_t value) {
  fprintf(o->file, "%s\"%s\":%" PRIu64, *comma, key, value);
  *comma = ",";
}

static void put_words(struct out *o, const char **comma, const char *key, const char *text) {
  if (!text[0]) return;
  fprintf(o->file, "%s\"%s\":", *comma, key);
  tmb_fmt_json(o->file, text);
  *comma = ",";
}

static void put_object(struct out *o, const char **comma, uint64_t address) {
  char text[32];
  if (!address) return;
  snprintf(text, sizeof text, "0x%" PRIx64, address);
  put_words(o, comma, "object", text);
}

/* The rank that ended a wait: of its own operations it is the peer. */
static uint32_t ender(const struct tmb_trace_set *set, const struct tmb_trace_item *item) {
  if (item->cause == TMB_TRACE_NO_ITEM) return UINT32_MAX;
  const struct tmb_trace_item *cause = &set->item[item->cause];
  const bool own =
      cause->rank == item->rank && cause->event->kind == TMB_TRACE_OPERATION &&
      (item->event->what < TMB_WAIT_SIGNAL || item->event->what > TMB_WAIT_NOTIFICATION);
  return own ? cause->event->peer : cause->rank;
}

static void put_cause(struct out *o, const char **comma, const struct tmb_trace_item *item) {
  const uint32_t rank = ender(o->set, item);
  if (rank >= o->set->size) return;
  put_member(o, comma, "ended_by", rank);
  const int64_t at = TMB_MAX(o->set->item[item->cause].begin_ns, (int64_t)0);
  fprintf(o->file, ",\"ended_ts\":%" PRId64 ".%03d", at / 1000, (int)(at % 1000));
}

static void args_wait(struct out *o, const char **comma, const struct tmb_trace_item *item) {
  char words[TMB_TRACE_WORDS_BYTES];
  const struct tmb_trace_event *e = item->event;
  tmb_trace_waited_for(o->set, item, words);
  put_words(o, comma, "kind", tmb_trace_wait_kind(e));
  put_words(o, comma, "waited_for", words);
  put_cause(o, comma, item);
  if (e->peer < o->set->size) put_member(o, comma, "peer", e->peer);
  put_object(o, comma, e->object);
}

static void args_call(struct out *o, const char **comma, const struct tmb_trace_item *item) {
  const struct tmb_trace_event *e = item->event;
  const struct tmb_trace_area *area = o->set->rank[item->rank].area;
  const char *team = tmb_trace_name(area, e->number >> 32);
  char uid[32];
  snprintf(uid, sizeof uid, "%" PRIx64, e->object);
  put_words(o, comma, "team", team[0] ? team : e->object == 0 ? "all" : uid);
  put_member(o, comma, "number", (uint32_t)e->number);
  if (e->bytes) put_member(o, comma, "bytes", e->bytes);
  if (e->peer < o->set->size) put_member(o, comma, "root", e->peer);
  put_words(o, comma, "algorithm", tmb_trace_name(area, e->name & 0xffff));
  put_cause(o, comma, item);
}

/* A place as recorded, "FILE+0xADDRESS", in words for people; asked for once. */
static const char *source_of(struct out *o, const char *place) {
  const char *plus = strrchr(place, '+');
  if (!plus || plus == place) return place;
  for (size_t i = 0; i < o->sources; i++)
    if (strcmp(o->source[i].place, place) == 0) return o->source[i].words;
  if (o->sources == SOURCES) return place;
  struct source *s = &o->source[o->sources++];
  char *file = strndup(place, (size_t)(plus - place));
  s->place = place;
  if (file) tmb_source_words(file, strtoull(plus + 1, NULL, 16), s->words);
  free(file);
  return s->words;
}

static void args_statement(struct out *o, const char **comma, const struct tmb_trace_item *item) {
  const struct tmb_trace_event *e = item->event;
  const struct tmb_trace_area *area = o->set->rank[item->rank].area;
  put_words(o, comma, "source", source_of(o, tmb_trace_name(area, e->value)));
  put_words(o, comma, "object", tmb_trace_name(area, e->object));
  if (e->peer < o->set->size) put_member(o, comma, "peer", e->peer);
}

/* The statement of the program that ran. */
static void args_running(struct out *o, const char **comma, const struct tmb_trace_item *item) {
  const char *place = tmb_trace_name(o->set->rank[item->rank].area, item->event->name >> 16);
  const char *tab = strchr(place, '\t');
  char call[32];
  if (tab) {
    snprintf(call, sizeof call, "%.*s", (int)(tab - place), place);
    put_words(o, comma, "statement", call);
  }
  put_words(o, comma, "source", source_of(o, tab ? tab + 1 : place));
}

static void put_args(struct out *o, const struct tmb_trace_item *item) {
  const struct tmb_trace_event *e = item->event;
  const char *comma = "";
  fputs(",\"args\":{", o->file);
  switch (e->kind) {
  case TMB_TRACE_OPERATION:
  case TMB_TRACE_PACKET:
    if (e->peer < o->set->size) put_member(o, &comma, "peer", e->peer);
    put_member(o, &comma, "bytes", e->bytes);
    put_object(o, &comma, e->object);
    if (e->what >= TMB_WHAT_PUT_SIGNAL && e->what <= TMB_WHAT_GET_NOTIFY)
      put_member(o, &comma, "value", e->value);
    break;
  case TMB_TRACE_MESSAGE:
  case TMB_TRACE_HANDLER:
    if (e->peer < o->set->size) put_member(o, &comma, "peer", e->peer);
    put_member(o, &comma, "bytes", e->bytes);
    put_member(o, &comma, "handler", e->value);
    break;
  case TMB_TRACE_WAIT: args_wait(o, &comma, item); break;
  case TMB_TRACE_CALL: args_call(o, &comma, item); break;
  case TMB_TRACE_STATEMENT: args_statement(o, &comma, item); break;
  default: break;
  }
  args_running(o, &comma, item);
  if (!e->end) fprintf(o->file, "%s\"open\":true", comma);
  fputc('}', o->file);
}

/* ---- events */

/* The arrow of a message leads to its handler, not to the wait that the handler ends. */
static bool has_arrow(const struct tmb_trace_set *set, const struct tmb_trace_item *item) {
  if (item->cause == TMB_TRACE_NO_ITEM) return false;
  const struct tmb_trace_item *from = &set->item[item->cause];
  const bool message = from->event->kind == TMB_TRACE_MESSAGE;
  const bool own_call = from->event->kind == TMB_TRACE_CALL && from->rank == item->rank;
  return !own_call && (!message || item->event->kind == TMB_TRACE_HANDLER);
}

/* An arrow from the cause of an item to it. */
static void put_arrow(struct out *o, const struct tmb_trace_item *item) {
  const struct tmb_trace_item *from = &o->set->item[item->cause];
  const uint8_t kind = from->event->kind;
  const bool handler = item->event->kind == TMB_TRACE_HANDLER;
  const char *name = kind == TMB_TRACE_MESSAGE  ? "message"
                     : kind == TMB_TRACE_CALL   ? "collective"
                     : from->rank == item->rank ? "put"
                                                : "signal";
  const uint32_t id = ++o->flow;
  begin(o, "s", from->rank, from->event->thread);
  fprintf(o->file, ",\"cat\":\"flow\",\"name\":\"%s\",\"id\":%u", name, id);
  put_us(o->file, "ts", from->begin_ns);
  fputc('}', o->file);
  begin(o, "f", item->rank, item->event->thread);
  fprintf(o->file, ",\"bp\":\"e\",\"cat\":\"flow\",\"name\":\"%s\",\"id\":%u", name, id);
  put_us(o->file, "ts", TMB_MAX(handler ? item->begin_ns : item->end_ns, from->begin_ns));
  fputc('}', o->file);
}

static void put_item(struct out *o, const struct tmb_trace_item *item) {
  char buf[TMB_TRACE_WORDS_BYTES];
  const struct tmb_trace_event *e = item->event;
  const bool moment = e->kind == TMB_TRACE_MARK || e->kind == TMB_TRACE_PACKET;
  begin(o, moment ? "i" : "X", item->rank, e->thread);
  fprintf(o->file, ",\"cat\":\"%s\",\"name\":", tmb_trace_category(item));
  tmb_fmt_json(o->file, tmb_trace_title(o->set, item, buf));
  put_us(o->file, "ts", item->begin_ns);
  if (moment)
    fputs(",\"s\":\"t\"", o->file);
  else
    put_us(o->file, "dur", item->end_ns - item->begin_ns);
  put_args(o, item);
  fputc('}', o->file);
  if (has_arrow(o->set, item)) put_arrow(o, item);
}

static void put_name(struct out *o, uint32_t rank, const char *what, const char *text) {
  begin(o, "M", rank, 0);
  fprintf(o->file, ",\"name\":\"%s\",\"args\":{\"%s\":", what,
          strcmp(what, "process_labels") == 0 ? "labels" : "name");
  tmb_fmt_json(o->file, text);
  fputs("}}", o->file);
}

static void put_rank(struct out *o, uint32_t rank) {
  char text[64];
  const struct tmb_trace_set *set = o->set;
  const struct tmb_trace_rank *r = &set->rank[rank];
  snprintf(text, sizeof text, "%s %u", tmb_trace_member(set), rank + set->first_member);
  put_name(o, rank, "process_name", text);
  put_name(o, rank, "process_labels", set->host_name[r->host]);
  begin(o, "M", rank, 0);
  fprintf(o->file, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}}", rank);
  for (uint32_t i = r->first; i < r->first + r->count; i++) put_item(o, &set->item[i]);
}

/* ---- the whole */

/* Of each host, by the area of a rank on it; 0: not known. */
static void put_processors(const struct tmb_trace_set *set, FILE *f) {
  fputs("],\"processors\":[", f);
  for (uint32_t h = 0; h < set->hosts; h++) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < set->size && !count; r++)
      if (set->rank[r].area && set->rank[r].host == h) count = set->rank[r].area->processors;
    fprintf(f, "%s%u", h ? "," : "", count);
  }
}

static void put_other(const struct tmb_trace_set *set, FILE *f) {
  fprintf(f, "\"otherData\":{\"format\":\"tombolo-trace\",\"version\":1,\"program\":");
  tmb_fmt_json(f, set->command ? set->command : "");
  fprintf(f, ",\"ranks\":%u,\"hosts\":[", set->size);
  for (uint32_t h = 0; h < set->hosts; h++) {
    if (h) fputc(',', f);
    tmb_fmt_json(f, set->host_name[h]);
  }
  put_processors(set, f);
  fputs("],\"host_of\":[", f);
  for (uint32_t r = 0; r < set->size; r++) fprintf(f, "%s%u", r ? "," : "", set->rank[r].host);
  fputs("],\"dropped\":[", f);
  for (uint32_t r = 0; r < set->size; r++)
    fprintf(f, "%s%" PRIu64, r ? "," : "", set->rank[r].dropped);
  fputs("],\"missing\":[", f);
  const char *comma = "";
  for (uint32_t r = 0; r < set->size; r++) {
    if (set->rank[r].area) continue;
    fprintf(f, "%s%u", comma, r);
    comma = ",";
  }
  fputs("],\"clock_error_us\":[", f);
  for (uint32_t h = 0; h < set->hosts; h++) {
    char text[TMB_FMT_BYTES];
    tmb_fmt_print(text, sizeof text, "%.3f", set->offset[h].error_ns / 1e3);
    fprintf(f, "%s%s", h ? "," : "", text);
  }
  fprintf(f, "],\"arrows_dropped\":%" PRIu64 "},\n", set->arrows_dropped);
}

static bool put_all(struct tmb_trace_set *set, FILE *file) {
  struct source *source = calloc(SOURCES, sizeof *source);
  if (!source) {
    fclose(file);
    errno = ENOMEM;
    return false;
  }
  struct out out = {.file = file, .set = set, .source = source};
  fputs("{\"displayTimeUnit\":\"ns\",\n", file);
  put_other(set, file);
  fputs("\"traceEvents\":[\n", file);
  for (uint32_t r = 0; r < set->size; r++) put_rank(&out, r);
  fputs("\n]}\n", file);
  free(source);
  const bool good = !ferror(file);
  return fclose(file) == 0 && good;
}

int tmb_trace_write_json(struct tmb_trace_set *set, const char *path) {
  FILE *file = fopen(path, "we");
  return file && put_all(set, file) ? 0 : -1;
}
