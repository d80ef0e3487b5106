/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: events of a file in the Trace Event Format, see trace.h.
 *
 * Owns: nothing global. Called by view.c, once a file. Calls: json.c, names.c.
 * Source of the format: "Trace Event Format" (Google, 2016), and docs/TRACE_FORMAT.md for the
 * recorder's args. Invariants: regions that begin and end in two events (B, E) become one event; a
 * region without an end lasts as long as its thread's events; an end without a begin, whose begin
 * the ring has overwritten, is left out and counted.
 */
#include "view/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN      INT64_C(-2) /* duration of a region that has no end yet */
#define UNKNOWN   INT64_MIN
#define FAR_NS    (INT64_C(1) << 61) /* 73 years */
#define TEXT_MAX  1024
#define HOSTS_MAX 1024

/* Fields of one event of the file. */
struct fields {
  char phase;
  struct view_span name, category, id, detail, team, host, label;
  int64_t pid, tid, ts, dur, ended;
  int64_t peer, by, bytes, instance, lost;
  bool encloses; /* "bp": "e" */
};

static uint32_t intern(struct view_trace *t, struct view_span span) {
  char text[TEXT_MAX];
  if (!span.text) return VIEW_NONE;
  if (span.bytes >= sizeof text) span.bytes = sizeof text - 1;
  if (!memchr(span.text, '\\', span.bytes)) return view_name(&t->names, span.text, span.bytes);
  return view_name(&t->names, text, view_json_plain(span, text));
}

static uint32_t rank_at(struct view_trace *t, int64_t pid) {
  char text[32];
  const uint32_t fresh = (uint32_t)t->ranks;
  const uint32_t at = view_index(&t->rank_by_pid, (uint64_t)pid, fresh);
  if (at != fresh) return at;
  t->rank = view_more(t->rank, t->ranks, &t->rank_room, sizeof *t->rank);
  const int n = snprintf(text, sizeof text, "rank %lld", (long long)pid);
  t->rank[t->ranks++] = (struct view_rank){.number = (uint32_t)pid,
                                           .label = view_name(&t->names, text, (size_t)n),
                                           .host = VIEW_NONE,
                                           .main = VIEW_NONE,
                                           .pid = pid};
  return at;
}

/* The rank's record, until another rank is added. */
static struct view_rank *record_at(struct view_trace *t, int64_t pid) {
  const uint32_t at = rank_at(t, pid);
  return &t->rank[at];
}

static uint32_t track_at(struct view_trace *t, const struct fields *f) {
  const uint32_t thread = f->tid == UNKNOWN ? 0 : (uint32_t)f->tid;
  const uint32_t rank = rank_at(t, f->pid == UNKNOWN ? 0 : f->pid);
  const uint32_t fresh = (uint32_t)t->tracks;
  const uint32_t at = view_index(&t->track_by_ids, (uint64_t)rank << 32 | thread, fresh);
  if (at != fresh) return at;
  t->track = view_more(t->track, t->tracks, &t->track_room, sizeof *t->track);
  t->track[t->tracks++] =
      (struct view_track){.rank = rank, .thread = thread, .name = VIEW_NONE, .open = VIEW_NONE};
  return at;
}

/* A value as a whole number, if it is one; anything else is left out. */
static void whole(struct view_json *j, int64_t *out) {
  double value;
  const char c = view_json_peek(j);
  if (c != '-' && (c < '0' || c > '9')) {
    view_json_skip(j);
    return;
  }
  if (view_json_number(j, &value) && value >= -9e18 && value <= 9e18) *out = (int64_t)value;
}

/* A value as text: the inside of a string, or its text. */
static void words(struct view_json *j, struct view_span *out) {
  const char c = view_json_peek(j);
  if (c == '"') {
    view_json_string(j, out);
    return;
  }
  const char *from = j->at;
  if (view_json_skip(j) && c != '{' && c != '[')
    *out = (struct view_span){from, (size_t)(j->at - from)};
}

/* Members of args, and where their numbers or texts go. */
static bool read_number(struct view_json *j, struct view_span key, struct fields *f) {
  if (view_span_is(key, "peer"))
    whole(j, &f->peer);
  else if (view_span_is(key, "bytes"))
    whole(j, &f->bytes);
  else if (view_span_is(key, "ended_by"))
    whole(j, &f->by);
  else if (view_span_is(key, "ended_ts"))
    view_json_milli(j, &f->ended);
  else if (view_span_is(key, "number"))
    whole(j, &f->instance);
  else if (view_span_is(key, "lost"))
    whole(j, &f->lost);
  else
    return false;
  return true;
}

static bool read_text(struct view_json *j, struct view_span key, struct fields *f) {
  if (view_span_is(key, "waited_for") || view_span_is(key, "source"))
    words(j, &f->detail);
  else if (view_span_is(key, "team"))
    words(j, &f->team);
  else if (view_span_is(key, "host"))
    words(j, &f->host);
  else if (view_span_is(key, "name") || view_span_is(key, "labels"))
    words(j, &f->label);
  else if (!f->detail.text && (view_span_is(key, "object") || view_span_is(key, "algorithm")))
    words(j, &f->detail);
  else
    return false;
  return true;
}

static void read_args(struct view_json *j, struct fields *f) {
  struct view_span key;
  if (!view_json_enter(j, '{')) {
    view_json_skip(j);
    return;
  }
  while (view_json_member(j, &key))
    if (!read_number(j, key, f) && !read_text(j, key, f)) view_json_skip(j);
}

static void read_member(struct view_json *j, struct view_span key, struct fields *f) {
  struct view_span text = {"", 0};
  if (view_span_is(key, "name"))
    words(j, &f->name);
  else if (view_span_is(key, "cat"))
    words(j, &f->category);
  else if (view_span_is(key, "id"))
    words(j, &f->id);
  else if (view_span_is(key, "pid"))
    whole(j, &f->pid);
  else if (view_span_is(key, "tid"))
    whole(j, &f->tid);
  else if (view_span_is(key, "ts"))
    view_json_milli(j, &f->ts);
  else if (view_span_is(key, "dur"))
    view_json_milli(j, &f->dur);
  else if (view_span_is(key, "args"))
    read_args(j, f);
  else if (view_span_is(key, "ph")) {
    words(j, &text);
    f->phase = text.bytes ? text.text[0] : 0;
  } else if (view_span_is(key, "bp")) {
    words(j, &text);
    f->encloses = view_span_is(text, "e");
  } else {
    view_json_skip(j);
  }
}

/* "rank 12 ..." gives the rank's number. */
static bool number_in(const char *label, uint32_t *number) {
  const char *p = strncmp(label, "rank ", 5) == 0 ? label + 5 : NULL;
  char *end = NULL;
  if (!p || *p < '0' || *p > '9') return false;
  *number = (uint32_t)strtoul(p, &end, 10);
  return true;
}

static void add_metadata(struct view_trace *t, const struct fields *f) {
  if (f->pid == UNKNOWN) return;
  struct view_rank *r = record_at(t, f->pid);
  if (f->host.text) r->host = intern(t, f->host);
  if (f->lost > 0) r->lost += (uint64_t)f->lost;
  if (!f->label.text) return;
  if (view_span_is(f->name, "process_name")) {
    r->label = intern(t, f->label);
    number_in(view_text(t, r->label), &r->number);
  } else if (view_span_is(f->name, "thread_name")) {
    const uint32_t track = track_at(t, f);
    t->track[track].name = intern(t, f->label);
  } else if (view_span_is(f->name, "process_labels") && r->host == VIEW_NONE) {
    r->host = intern(t, f->label);
  }
}

static void add_point(struct view_trace *t, const struct fields *f, uint32_t track) {
  uint64_t id = tmb_hash_bytes(TMB_HASH_START, f->id.text, f->id.bytes);
  id = tmb_hash_bytes(id, f->category.text, f->category.bytes);
  t->point = view_more(t->point, t->points, &t->point_room, sizeof *t->point);
  t->point[t->points++] = (struct view_point){
      .id = id, .at = f->ts, .track = track, .sends = f->phase == 's', .encloses = f->encloses};
}

/* A time that no clock has, or no time at all: sums of such would not fit. */
static bool is_far(int64_t ns) {
  return ns > FAR_NS || ns < -FAR_NS;
}

static void take_args(struct view_trace *t, const struct fields *f, struct view_event *e) {
  const int64_t peer = f->by >= 0 ? f->by : f->peer;
  e->bytes = f->bytes > 0 ? (uint64_t)f->bytes : 0;
  e->detail = intern(t, f->detail);
  e->team = intern(t, f->team);
  e->peer = peer < 0 || peer >= VIEW_NONE ? VIEW_NONE : (uint32_t)peer;
  e->by_peer = f->by >= 0;
  e->instance = f->instance < 0 || f->instance >= UINT32_MAX ? 0 : (uint32_t)f->instance;
}

static void add_event(struct view_trace *t, const struct fields *f, uint32_t track) {
  t->event = view_more(t->event, t->events, &t->event_room, sizeof *t->event);
  struct view_event *e = &t->event[t->events];
  *e = (struct view_event){.start = f->ts,
                           .duration = f->phase == 'B'   ? OPEN
                                       : f->phase == 'X' ? (f->dur > 0 ? f->dur : 0)
                                                         : VIEW_MARK,
                           .ended = is_far(f->ended) ? VIEW_MARK : f->ended,
                           .track = track,
                           .name = intern(t, f->name),
                           .kind = (uint8_t)view_kind_of(f->category)};
  take_args(t, f, e);
  if (f->phase == 'B') { /* the open regions of a thread are a list */
    e->instance = t->track[track].open;
    t->track[track].open = (uint32_t)t->events;
  }
  t->events++;
}

static void end_event(struct view_trace *t, const struct fields *f, uint32_t track) {
  const uint32_t open = t->track[track].open;
  if (open == VIEW_NONE) {
    t->unused++;
    return;
  }
  struct view_event *e = &t->event[open];
  t->track[track].open = e->instance;
  e->instance = 0;
  e->duration = f->ts > e->start ? f->ts - e->start : 0;
  if (f->bytes > 0 || f->peer >= 0 || f->detail.text) take_args(t, f, e);
}

static void add(struct view_trace *t, const struct fields *f) {
  if (f->phase == 'M') {
    add_metadata(t, f);
    return;
  }
  if (!f->phase || !strchr("BEXiIRstf", f->phase) || is_far(f->ts) || is_far(f->dur)) {
    t->unused++;
    return;
  }
  const uint32_t track = track_at(t, f);
  if (f->phase == 'E')
    end_event(t, f, track);
  else if (strchr("stf", f->phase))
    add_point(t, f, track);
  else
    add_event(t, f, track);
}

static void load_events(struct view_trace *t, struct view_json *j) {
  struct view_span key;
  while (view_json_item(j)) {
    struct fields f = {.pid = UNKNOWN,
                       .tid = UNKNOWN,
                       .ts = UNKNOWN,
                       .dur = -1,
                       .ended = VIEW_MARK,
                       .peer = -1,
                       .by = -1,
                       .bytes = -1,
                       .instance = -1};
    if (!view_json_enter(j, '{')) {
      view_json_skip(j);
      continue;
    }
    while (view_json_member(j, &key)) read_member(j, key, &f);
    if (!j->error) add(t, &f);
    if (j->error) return;
  }
}

/* Regions that never end last until the last event of their thread. */
static void close_regions(struct view_trace *t) {
  int64_t *last = view_zeroed(t->tracks, sizeof *last);
  for (size_t i = 0; i < t->events; i++) {
    const struct view_event *e = &t->event[i];
    if (view_end(e) > last[e->track]) last[e->track] = view_end(e);
  }
  for (size_t i = 0; i < t->events; i++) {
    struct view_event *e = &t->event[i];
    if (e->duration != OPEN) continue;
    e->duration = last[e->track] > e->start ? last[e->track] - e->start : 0;
    e->instance = 0;
  }
  for (size_t i = 0; i < t->tracks; i++) t->track[i].open = VIEW_NONE;
  free(last);
}

/* Hosts of the file, by index. */
struct hosts {
  uint32_t name[HOSTS_MAX], processors[HOSTS_MAX];
  size_t count;
};

static void load_host_names(struct view_trace *t, struct view_json *j, struct hosts *h) {
  while (view_json_item(j)) {
    struct view_span text = {NULL, 0};
    words(j, &text);
    if (h->count < HOSTS_MAX) h->name[h->count++] = intern(t, text);
  }
}

static void load_processors(struct view_json *j, struct hosts *h) {
  for (size_t i = 0; view_json_item(j); i++) {
    int64_t count = 0;
    whole(j, &count);
    if (i < HOSTS_MAX && count > 0 && count < UINT32_MAX) h->processors[i] = (uint32_t)count;
  }
}

/* The index of each rank's host. */
static void load_host_of(struct view_trace *t, struct view_json *j, const struct hosts *h) {
  for (int64_t rank = 0; view_json_item(j); rank++) {
    int64_t index = -1;
    whole(j, &index);
    if (index < 0 || (size_t)index >= h->count) continue;
    struct view_rank *r = record_at(t, rank);
    r->host = h->name[index];
    r->processors = h->processors[index];
  }
}

static void load_other(struct view_trace *t, struct view_json *j) {
  struct hosts hosts = {.count = 0};
  struct view_span key, text = {NULL, 0};
  while (view_json_member(j, &key)) {
    if (view_span_is(key, "program")) {
      words(j, &text);
      t->program = intern(t, text);
    } else if (view_span_is(key, "hosts") && view_json_enter(j, '[')) {
      load_host_names(t, j, &hosts);
    } else if (view_span_is(key, "processors") && view_json_enter(j, '[')) {
      load_processors(j, &hosts);
    } else if (view_span_is(key, "host_of") && view_json_enter(j, '[')) {
      load_host_of(t, j, &hosts);
    } else if (view_span_is(key, "dropped") && view_json_enter(j, '[')) {
      for (int64_t rank = 0, lost = 0; view_json_item(j); rank++, lost = 0) {
        whole(j, &lost);
        record_at(t, rank)->lost = lost > 0 ? (uint64_t)lost : 0;
      }
    } else {
      view_json_skip(j);
    }
  }
}

int view_load(struct view_trace *t, const char *text, size_t bytes, char *why) {
  struct view_json j = {.at = text, .begin = text, .end = text + bytes};
  struct view_span key;
  const size_t before = t->events + t->points + t->ranks;
  if (view_json_enter(&j, '[')) {
    load_events(t, &j);
  } else if (view_json_enter(&j, '{')) {
    while (view_json_member(&j, &key)) {
      if (view_span_is(key, "traceEvents") && view_json_enter(&j, '['))
        load_events(t, &j);
      else if (view_span_is(key, "otherData") && view_json_enter(&j, '{'))
        load_other(t, &j);
      else
        view_json_skip(&j);
    }
  } else {
    snprintf(why, VIEW_WHY_BYTES, "it is no JSON: neither [ nor { is its first character");
    return -1;
  }
  close_regions(t);
  if (j.error && j.at < j.end) {
    size_t line = 1;
    for (const char *p = text; p < j.at; p++) line += *p == '\n';
    snprintf(why, VIEW_WHY_BYTES, "line %zu: %s", line, j.error);
    return -1;
  }
  if (t->events + t->points + t->ranks == before) {
    snprintf(why, VIEW_WHY_BYTES, "it has no trace events");
    return -1;
  }
  return 0;
}
