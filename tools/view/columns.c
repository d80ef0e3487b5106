/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: columns of numbers in base64, see columns.h.
 *
 * Owns: nothing global. Called by page.c. Calls: libc.
 * Invariants: numbers are written little-endian on every machine; all ones mean "none", and in the
 * durations "a moment".
 */
#include "view/columns.h"

#include <string.h>

#define CHUNK 3072u /* bytes that are encoded together, a multiple of 3 */

enum column {
  START,
  DURATION,
  KIND,
  DEPTH,
  NAME,
  DETAIL,
  PEER,
  BYTES,
  ARROW_FROM,
  ARROW_TO,
  STEP_RANK,
  STEP_FROM,
  STEP_START,
  STEP_END,
  COLUMNS
};

struct base64 {
  FILE *to;
  unsigned char data[CHUNK];
  size_t used;
};

static const char *const column_names[COLUMNS] = {
    "start", "duration",   "kind",     "depth",     "name",      "detail",     "peer",
    "bytes", "arrow-from", "arrow-to", "step-rank", "step-from", "step-start", "step-end"};

int64_t view_quantum(const struct view_trace *t) {
  return t->span / INT64_C(0xfffffff0) + 1;
}

static void flush_base64(struct base64 *b) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char out[CHUNK / 3 * 4];
  size_t n = 0;
  const size_t used = b->used;
  memset(b->data + used, 0, CHUNK - used < 2 ? CHUNK - used : 2);
  for (size_t i = 0; i < used; i += 3) {
    const uint32_t three =
        (uint32_t)b->data[i] << 16 | (uint32_t)b->data[i + 1] << 8 | (uint32_t)b->data[i + 2];
    for (int shift = 18; shift >= 0; shift -= 6) out[n++] = digits[three >> shift & 63];
  }
  for (size_t pad = (3 - used % 3) % 3; pad > 0; pad--) out[n - pad] = '=';
  fwrite(out, 1, n, b->to);
  b->used = 0;
}

static void put(struct base64 *b, uint64_t value, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; i++) {
    b->data[b->used++] = (unsigned char)(value >> 8 * i);
    if (b->used == CHUNK) flush_base64(b);
  }
}

static uint32_t float_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static uint64_t of_event(const struct view_event *e, enum column column, int64_t quantum) {
  switch (column) {
  case START: return (uint64_t)(e->start / quantum);
  case DURATION:
    return e->duration < 0 ? UINT32_MAX : (uint64_t)(view_end(e) / quantum - e->start / quantum);
  case KIND: return e->kind;
  case DEPTH: return e->depth;
  case NAME: return e->name;
  case DETAIL: return e->detail;
  case PEER: return e->peer;
  default: return float_bits((float)e->bytes);
  }
}

static uint64_t of_step(const struct view_step *s, enum column column, int64_t quantum) {
  switch (column) {
  case STEP_RANK: return s->rank;
  case STEP_FROM: return s->from;
  case STEP_START: return (uint64_t)(s->start / quantum);
  default: return (uint64_t)(s->end / quantum);
  }
}

static uint32_t width_of(const struct view_trace *t, enum column column) {
  const bool few = t->names.count < UINT16_MAX;
  switch (column) {
  case KIND:
  case DEPTH: return 1;
  case NAME:
  case DETAIL: return few ? 2 : 4;
  case PEER:
  case STEP_RANK:
  case STEP_FROM: return 2;
  default: return 4;
  }
}

static void write_column(const struct view_trace *t, const struct view_report *r,
                         enum column column, FILE *to) {
  const uint32_t width = width_of(t, column);
  const int64_t quantum = view_quantum(t);
  struct base64 b = {.to = to};
  const char *type = column == BYTES ? "f32" : width == 1 ? "u8" : width == 2 ? "u16" : "u32";
  fprintf(to, "<script type=\"text/plain\" id=\"column-%s\" data-type=\"%s\">",
          column_names[column], type);
  if (column >= STEP_RANK)
    for (size_t i = 0; i < r->path.steps; i++)
      put(&b, of_step(&r->path.step[i], column, quantum), width);
  else if (column >= ARROW_FROM)
    for (size_t i = 0; i < t->arrows; i++)
      put(&b, column == ARROW_FROM ? t->arrow[i].from : t->arrow[i].to, width);
  else
    for (size_t i = 0; i < t->events; i++) put(&b, of_event(&t->event[i], column, quantum), width);
  flush_base64(&b);
  fputs("</script>\n", to);
}

void view_write_columns(const struct view_trace *t, const struct view_report *r, FILE *to) {
  for (int column = 0; column < COLUMNS; column++) write_column(t, r, (enum column)column, to);
}
