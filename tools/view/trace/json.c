/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading JSON text from memory, see json.h.
 *
 * Owns: nothing. Called by load.c. Calls: libc.
 * Invariants: the text need not end with a zero byte; nesting is followed without recursion.
 */
#include "view/trace/json.h"

#include <string.h>

static bool fail(struct view_json *j, const char *error) {
  if (!j->error) j->error = error;
  return false;
}

static void blanks(struct view_json *j) {
  while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\r' || *j->at == '\t'))
    j->at++;
}

char view_json_peek(struct view_json *j) {
  blanks(j);
  return j->at < j->end && !j->error ? *j->at : 0;
}

bool view_json_enter(struct view_json *j, char open) {
  if (view_json_peek(j) != open) return false;
  j->at++;
  return true;
}

bool view_json_item(struct view_json *j) {
  char c = view_json_peek(j);
  if (c == ',') {
    j->at++;
    c = view_json_peek(j);
  }
  if (c == 0) return false;
  if (c != ']' && c != '}') return true;
  j->at++;
  return false;
}

bool view_json_member(struct view_json *j, struct view_span *key) {
  if (!view_json_item(j)) return false;
  if (!view_json_string(j, key)) return fail(j, "a member without a name");
  if (view_json_peek(j) != ':') return fail(j, "a ':' is missing");
  j->at++;
  return true;
}

bool view_json_string(struct view_json *j, struct view_span *out) {
  if (view_json_peek(j) != '"') return fail(j, "a string is missing");
  const char *p = j->at + 1;
  while (p < j->end && *p != '"') p += *p == '\\' ? 2 : 1;
  if (p >= j->end) {
    j->at = j->end;
    return fail(j, "a string does not end");
  }
  *out = (struct view_span){j->at + 1, (size_t)(p - j->at - 1)};
  j->at = p + 1;
  return true;
}

/* The characters of a number; a string's inside is taken, too. */
static bool digits(struct view_json *j, struct view_span *out) {
  if (view_json_peek(j) == '"') return view_json_string(j, out);
  const char *p = j->at;
  while (p < j->end && *p && strchr("+-.0123456789eE", *p)) p++;
  if (p == j->at) return fail(j, "a number is missing");
  *out = (struct view_span){j->at, (size_t)(p - j->at)};
  j->at = p;
  return true;
}

static double power_of_ten(long exponent) {
  double power = 1;
  if (exponent > 308) exponent = 308;
  if (exponent < -308) exponent = -308;
  for (long i = 0; i < (exponent < 0 ? -exponent : exponent); i++) power *= 10;
  return exponent < 0 ? 1 / power : power;
}

/* The digits before an exponent as a whole number; scale: the power of ten behind it. */
static const char *read_digits(const char *p, const char *end, int64_t *value, long *scale) {
  bool point = false;
  for (; p < end && (*p == '.' || (*p >= '0' && *p <= '9')); p++) {
    if (*p == '.') {
      if (point) break;
      point = true;
    } else if (*value < INT64_MAX / 10 - 1) {
      *value = *value * 10 + (*p - '0');
      *scale -= point;
    } else {
      *scale += !point;
    }
  }
  return p;
}

static const char *read_exponent(const char *p, const char *end, long *exponent) {
  if (p == end || (*p != 'e' && *p != 'E')) return p;
  const bool minus = ++p < end && *p == '-';
  p += p < end && (*p == '-' || *p == '+');
  for (; p < end && *p >= '0' && *p <= '9'; p++)
    if (*exponent < 1000) *exponent = *exponent * 10 + (*p - '0');
  if (minus) *exponent = -*exponent;
  return p;
}

/* A number as whole digits times a power of ten. */
static bool decimal(struct view_span s, int64_t *mantissa, long *exponent) {
  const char *end = s.text + s.bytes;
  const bool minus = s.bytes && *s.text == '-';
  const char *first = s.text + minus;
  int64_t value = 0;
  long scale = 0, given = 0;
  const char *behind = read_digits(first, end, &value, &scale);
  const char *p = read_exponent(behind, end, &given);
  *mantissa = minus ? -value : value;
  *exponent = scale + given;
  return behind > first && p == end;
}

/* A number of the text: mantissa * 10^exponent. */
static bool number(struct view_json *j, int64_t *mantissa, long *exponent) {
  struct view_span s;
  if (!digits(j, &s)) return false;
  return decimal(s, mantissa, exponent) || fail(j, "this is no number");
}

bool view_json_number(struct view_json *j, double *out) {
  int64_t mantissa;
  long exponent;
  if (!number(j, &mantissa, &exponent)) return false;
  *out = (double)mantissa * power_of_ten(exponent);
  return true;
}

bool view_json_milli(struct view_json *j, int64_t *out) {
  int64_t mantissa;
  long exponent;
  if (!number(j, &mantissa, &exponent)) return false;
  for (exponent += 3; exponent > 0 && mantissa < INT64_MAX / 10 && mantissa > INT64_MIN / 10;
       exponent--)
    mantissa *= 10;
  for (; exponent < 0 && mantissa; exponent++) mantissa /= 10;
  *out = mantissa;
  return true;
}

bool view_json_skip(struct view_json *j) {
  long depth = 0;
  struct view_span unused;
  do {
    const char c = view_json_peek(j);
    if (c == 0) return fail(j, "the text ends within a value");
    if (c == '"') {
      if (!view_json_string(j, &unused)) return false;
      continue;
    }
    if (c == '{' || c == '[') depth++;
    if (c == '}' || c == ']') depth--;
    j->at++;
    if (depth || c == '}' || c == ']') continue;
    while (j->at < j->end && *j->at && !strchr(",]} \n\r\t", *j->at)) j->at++;
  } while (depth > 0);
  return true;
}

static size_t hex4(const char *p, const char *end, uint32_t *out) {
  uint32_t value = 0;
  if (end - p < 4) return 0;
  for (int i = 0; i < 4; i++) {
    const char c = p[i];
    const char *found = strchr("0123456789abcdef", c >= 'A' && c <= 'F' ? c + 32 : c);
    if (!c || !found) return 0;
    value = value * 16 + (uint32_t)(found - "0123456789abcdef");
  }
  *out = value;
  return 4;
}

static size_t utf8(uint32_t c, char *to) {
  if (c < 0x80) {
    to[0] = (char)c;
    return 1;
  }
  if (c < 0x800) {
    to[0] = (char)(0xc0 | c >> 6);
    to[1] = (char)(0x80 | (c & 0x3f));
    return 2;
  }
  to[0] = (char)(0xe0 | c >> 12);
  to[1] = (char)(0x80 | (c >> 6 & 0x3f));
  to[2] = (char)(0x80 | (c & 0x3f));
  return 3;
}

size_t view_json_plain(struct view_span span, char *text) {
  static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
  const char *p = span.text, *end = span.text + span.bytes;
  size_t at = 0;
  while (p < end) {
    uint32_t code;
    if (*p != '\\' || p + 1 == end) {
      text[at++] = *p++;
      continue;
    }
    p++;
    if (*p == 'u' && hex4(p + 1, end, &code)) {
      at += utf8(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, text + at);
      p += 5;
      continue;
    }
    const char *known = *p ? strchr(from, *p) : NULL;
    text[at++] = known ? to[known - from] : *p;
    p++;
  }
  text[at] = 0;
  return at;
}

bool view_span_is(struct view_span span, const char *text) {
  return strlen(text) == span.bytes && memcmp(span.text, text, span.bytes) == 0;
}
