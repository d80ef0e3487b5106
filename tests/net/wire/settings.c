/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings of the emulated link as text: delay=100us, rate=1gbit, loss=1%.
 *
 * Owns: the table of names and units. Called by wire.c, for its arguments and for `set`. Calls:
 * libc. Invariants: a value that is not understood changes nothing.
 */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit {
  const char *name;
  double factor;
};

static const struct unit times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
static const struct unit rates[] = {{"bit", 1},    {"kbit", 1e3}, {"mbit", 1e6},
                                    {"gbit", 1e9}, {"", 1},       {NULL, 0}};
static const struct unit chances[] = {{"", 1}, {"%", 0.01}, {NULL, 0}};
static const struct unit counts[] = {{"", 1}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1}, {"k", 1024}, {"m", 1048576}, {NULL, 0}};

/* Number with one of the units behind; negative: it is not one. */
static double parse(const char *text, const struct unit *units) {
  char *end;
  const double value = strtod(text, &end);
  if (end == text || !isfinite(value) || value < 0) return -1;
  for (; units->name; units++)
    if (strcmp(end, units->name) == 0) return value * units->factor;
  return value > 0 || *end ? -1 : 0; /* 0 needs no unit */
}

bool wire_setting(struct wire_settings *s, const char *text) {
  const struct {
    const char *name;
    const struct unit *units;
    uint64_t *number;
    double *chance;
  } rows[] = {
      {"delay", times, &s->delay_ns, NULL},    {"jitter", times, &s->jitter_ns, NULL},
      {"rate", rates, &s->rate_bps, NULL},     {"queue", sizes, &s->queue_bytes, NULL},
      {"loss", chances, NULL, &s->loss},       {"duplicate", chances, NULL, &s->duplicate},
      {"reorder", chances, NULL, &s->reorder}, {"hold", times, &s->hold_ns, NULL},
      {"corrupt", chances, NULL, &s->corrupt}, {"udp_only", counts, &s->udp_only, NULL},
      {"forge", chances, NULL, &s->forge},
  };
  const char *equals = strchr(text, '=');
  if (!equals) return false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strlen(rows[i].name) != (size_t)(equals - text) ||
        strncmp(text, rows[i].name, (size_t)(equals - text)) != 0)
      continue;
    const double value = parse(equals + 1, rows[i].units);
    if (value < 0 || value > 1e18 || (rows[i].chance && value > 1)) return false;
    if (rows[i].chance)
      *rows[i].chance = value;
    else
      *rows[i].number = (uint64_t)value;
    return true;
  }
  return false;
}
