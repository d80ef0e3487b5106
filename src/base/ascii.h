/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text as the C locale reads and prints it, whatever locale the client has set.
 *
 * Owns nothing. Included by every layer, plug-ins too. Calls libc only. A client may call
 * setlocale before it starts the library: then strtod wants a decimal comma, snprintf prints one,
 * and in Turkish strcasecmp keeps "I" and "i" apart. Invariants: no function here depends on the
 * locale; the thread's own locale is as before when a function returns. newlocale of "C" neither
 * allocates nor fails in glibc and musl, so that its result is not freed.
 */
#ifndef TMB_BASE_ASCII_H
#define TMB_BASE_ASCII_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Gives the calling thread the C locale. Returns its former one, for tmb_ascii_leave. */
static inline locale_t tmb_ascii_enter(void) {
  return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void tmb_ascii_leave(locale_t before) {
  (void)uselocale(before);
}

/* strtod with a decimal point. */
static inline double tmb_ascii_strtod(const char *text, char **end) {
  const locale_t before = tmb_ascii_enter();
  const double value = strtod(text, end);
  tmb_ascii_leave(before);
  return value;
}

static inline int tmb_ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

static inline bool tmb_ascii_is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether the first `bytes` characters of two texts, or all where one ends before, are equal but
 * for the case of A to Z. */
static inline bool tmb_ascii_same_n(const char *a, const char *b, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (tmb_ascii_lower(a[i]) != tmb_ascii_lower(b[i])) return false;
    if (!a[i]) return true;
  }
  return true;
}

/* Whether two texts are equal but for the case of A to Z. */
static inline bool tmb_ascii_same(const char *a, const char *b) {
  return tmb_ascii_same_n(a, b, (size_t)-1);
}

#endif
