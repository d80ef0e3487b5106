/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo doctor`: the list of what the checks have found.
 *
 * Owns: nothing global. Called by every check. Calls: jansson. Invariants: what was found is one
 * line of printable text.
 */
#include "doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>

/* The word for a state, as it is printed. */
static const char *doctor_state_name(enum doctor_state state) {
  static const char *const names[DOCTOR_STATES] = {"ok", "warning", "error"};
  return names[state];
}

void doctor_add(struct doctor *d, enum doctor_state state, const char *name, const char *remedy,
                const char *fmt, ...) {
  char found[1024];
  va_list args;
  va_start(args, fmt);
  vsnprintf(found, sizeof found, fmt, args);
  va_end(args);
  for (char *p = found; *p; p++)
    if ((unsigned char)*p < ' ') *p = ' ';
  json_t *text = json_string(found);
  if (!text) text = json_string("(it is not valid UTF-8)");
  json_array_append_new(d->checks, json_pack("{s:s, s:s, s:o, s:o}", "name", name, "state",
                                             doctor_state_name(state), "found", text, "remedy",
                                             remedy ? json_string(remedy) : json_null()));
  d->count[state]++;
}
