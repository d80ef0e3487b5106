/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: numbers as words, and texts inside JSON and XML.
 *
 * Owns: nothing. Called by advice.c and the writers. Calls: libc.
 * Invariants: three digits are shown; a text of a trace cannot end the script or the element that
 * it is written into.
 */
#include "view/trace/words.h"

#include <stdint.h>
#include <string.h>

static const char *scaled(double value, const char *const *units, double step, char *text) {
  while (value >= step * 0.9995 && units[1]) {
    value /= step;
    units++;
  }
  const int digits = value >= 99.95 || value == (double)(int64_t)value ? 0 : value >= 9.995 ? 1 : 2;
  snprintf(text, VIEW_WORD_BYTES, "%.*f %s", digits, value, *units);
  return text;
}

const char *view_time(double ns, char *text) {
  static const char *const units[] = {"ns", "us", "ms", "s", NULL};
  return scaled(ns, units, 1000, text);
}

const char *view_time_of_axis(double ns, double step, char *text) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  for (; step >= 1000 && unit < 3; unit++) {
    step /= 1000;
    ns /= 1000;
  }
  snprintf(text, VIEW_WORD_BYTES, "%.0f %s", ns, units[unit]);
  return text;
}

const char *view_bytes(double bytes, char *text) {
  static const char *const units[] = {"B", "KB", "MB", "GB", "TB", NULL};
  return scaled(bytes, units, 1024, text);
}

const char *view_percent(double part, double whole, char *text) {
  const double percent = whole > 0 ? 100 * part / whole : 0;
  snprintf(text, VIEW_WORD_BYTES, "%.*f %%", percent > 0 && percent < 9.95 ? 1 : 0, percent);
  return text;
}

void view_json_text(FILE *to, const char *text) {
  fputc('"', to);
  for (const char *p = text; *p; p++) {
    const unsigned char c = (unsigned char)*p;
    if (c < 0x20 || strchr("\"\\<>&", c))
      fprintf(to, "\\u%04x", c);
    else
      fputc(c, to);
  }
  fputc('"', to);
}

void view_xml_text(FILE *to, const char *text) {
  for (const char *p = text; *p; p++) {
    const unsigned char c = (unsigned char)*p;
    if (c < 0x20)
      fputc(' ', to);
    else if (strchr("\"'<>&", c))
      fprintf(to, "&#%u;", (unsigned)c);
    else
      fputc(c, to);
  }
}
