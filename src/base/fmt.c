/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsing and formatting of numbers, sizes, durations, booleans, rank lists and texts of JSON: see
 * fmt.h.
 *
 * Owns: the tables of unit suffixes. Called by config, api, tools; calls libc only.
 * Invariants: a size is value * unit computed exactly for integers and in long double (64 bits of
 * significand on x86-64) for fractions; results outside int64_t are refused, never wrapped. The
 * edit distance is the optimal string alignment distance (Boytsov 2011,
 * doi:10.1145/1963190.1963191).
 */
#include "base/fmt.h"

#include "base/ascii.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
  const char *name;
  uint64_t factor;
};

static const struct unit size_units[] = {
    {"b", 1},
    {"k", 1ull << 10},
    {"kb", 1ull << 10},
    {"kib", 1ull << 10},
    {"m", 1ull << 20},
    {"mb", 1ull << 20},
    {"mib", 1ull << 20},
    {"g", 1ull << 30},
    {"gb", 1ull << 30},
    {"gib", 1ull << 30},
    {"t", 1ull << 40},
    {"tb", 1ull << 40},
    {"tib", 1ull << 40},
    {"p", 1ull << 50},
    {"pb", 1ull << 50},
    {"pib", 1ull << 50},
};

static const struct unit time_units[] = {
    {"ns", 1},           {"us", 1000},          {"ms", 1000000},         {"s", 1000000000},
    {"sec", 1000000000}, {"m", 60000000000ull}, {"min", 60000000000ull}, {"h", 3600000000000ull},
};

/* First character of `text` that is not blank. */
static const char *skip_blanks(const char *text) {
  while (tmb_ascii_is_blank(*text)) text++;
  return text;
}

/* Copies `text` without surrounding blanks; false if it does not fit. */
static bool copy_trimmed(const char *text, char *out, size_t out_bytes) {
  text = skip_blanks(text);
  size_t len = strlen(text);
  while (len > 0 && tmb_ascii_is_blank(text[len - 1])) len--;
  if (len >= out_bytes) return false;
  memcpy(out, text, len);
  out[len] = '\0';
  return true;
}

/* Factor of the suffix at `text`: `none` for an empty one, 0 for an unknown one. */
static uint64_t suffix_factor(const char *text, const struct unit *units, size_t count,
                              uint64_t none) {
  if (*text == '\0') return none;
  for (size_t i = 0; i < count; i++) {
    if (tmb_ascii_same(text, units[i].name)) return units[i].factor;
  }
  return 0;
}

/* Parses digits with an optional sign, decimal or 0x, up to the end of `text`. */
static int parse_plain(const char *text, int64_t *value) {
  const char *digits = text + (*text == '+' || *text == '-');
  const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  const unsigned char first = (unsigned char)digits[hex ? 2 : 0];
  if (hex ? !isxdigit(first) : !isdigit(first)) return TMB_E_ARG;
  char *end;
  errno = 0;
  const unsigned long long magnitude = strtoull(hex ? digits + 2 : digits, &end, hex ? 16 : 10);
  if (errno == ERANGE || *end != '\0') return TMB_E_ARG;
  const bool negative = *text == '-';
  /* Hexadecimal may spell all 64 bits, as gasnett_format_number prints them. */
  if (!(hex && !negative) && magnitude > (unsigned long long)INT64_MAX + negative) return TMB_E_ARG;
  *value = (int64_t)(negative ? 0 - magnitude : magnitude);
  return TMB_OK;
}

/* The number in front of a unit: digits, a point, digits. */
struct decimal {
  unsigned long long whole;
  long double fraction; /* 0 <= fraction < 1 */
};

/* Reads an unsigned decimal at the start of `text`. */
static int read_decimal(const char *text, size_t len, struct decimal *out) {
  struct decimal d = {0, 0};
  long double weight = 1;
  bool point = false;
  size_t digits = 0;
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '.') {
      if (point) return TMB_E_ARG;
      point = true;
      continue;
    }
    const unsigned digit = (unsigned)(text[i] - '0');
    digits++;
    if (point) {
      d.fraction += (weight /= 10) * digit;
    } else if (__builtin_mul_overflow(d.whole, 10, &d.whole) ||
               __builtin_add_overflow(d.whole, digit, &d.whole)) {
      return TMB_E_ARG;
    }
  }
  *out = d;
  return digits > 0 ? TMB_OK : TMB_E_ARG;
}

/* Units of one kind, and the factor of a number without a unit (0: not allowed). */
struct unit_set {
  const struct unit *units;
  size_t count;
  uint64_t none;
};

/* Parses a decimal number, with fraction, and a unit; exact where the number is an integer. */
static int parse_scaled(const char *text, const struct unit_set *set, int64_t *value) {
  const char *digits = text + (*text == '+' || *text == '-');
  const size_t len = strspn(digits, "0123456789.");
  const uint64_t factor =
      suffix_factor(skip_blanks(digits + len), set->units, set->count, set->none);
  struct decimal d;
  if (factor == 0 || read_decimal(digits, len, &d) != TMB_OK) return TMB_E_ARG;
  if (d.whole > (uint64_t)INT64_MAX / factor) return TMB_E_ARG;
  const uint64_t part = (uint64_t)(d.fraction * (long double)factor + 1e-9L);
  const uint64_t magnitude = d.whole * factor + part;
  if (magnitude > INT64_MAX) return TMB_E_ARG;
  *value = *text == '-' ? -(int64_t)magnitude : (int64_t)magnitude;
  return TMB_OK;
}

int tmb_fmt_parse_int(const char *text, uint64_t unit_bytes, int64_t *value) {
  char trimmed[96];
  if (!text) text = "";
  if (!copy_trimmed(text, trimmed, sizeof trimmed)) return TMB_E_ARG;
  if (*trimmed == '\0') {
    *value = 0;
    return TMB_OK;
  }
  const char *digits = trimmed + (*trimmed == '+' || *trimmed == '-');
  const bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
  if (unit_bytes == 0 || (hex && unit_bytes == 1)) return parse_plain(trimmed, value);
  if (hex) {
    int64_t plain;
    if (parse_plain(trimmed, &plain) != TMB_OK) return TMB_E_ARG;
    return __builtin_mul_overflow(plain, unit_bytes, value) ? TMB_E_ARG : TMB_OK;
  }
  const struct unit_set set = {size_units, TMB_ARRAY_LEN(size_units), unit_bytes};
  return parse_scaled(trimmed, &set, value);
}

/* Parses one finite floating-point number that fills `text`. */
static int parse_float(const char *text, double *value) {
  char *end;
  if (*text == '\0') return TMB_E_ARG;
  const double v = tmb_ascii_strtod(text, &end);
  if (end == text || *end != '\0' || isnan(v) || isinf(v)) return TMB_E_ARG;
  *value = v;
  return TMB_OK;
}

int tmb_fmt_parse_dbl(const char *text, double *value) {
  char trimmed[96];
  if (!text || !copy_trimmed(text, trimmed, sizeof trimmed)) return TMB_E_ARG;
  char *slash = strchr(trimmed, '/');
  if (!slash) return parse_float(trimmed, value);
  *slash = '\0';
  double num, den;
  if (parse_float(trimmed, &num) != TMB_OK || parse_float(slash + 1, &den) != TMB_OK || den == 0)
    return TMB_E_ARG;
  *value = num / den;
  return TMB_OK;
}

int tmb_fmt_parse_bool(const char *text, bool *value) {
  static const char *const words[] = {"0",   "1",     "n",    "y",   "no",
                                      "yes", "false", "true", "off", "on"};
  char trimmed[16];
  if (!text || !copy_trimmed(text, trimmed, sizeof trimmed)) return TMB_E_ARG;
  for (size_t i = 0; i < TMB_ARRAY_LEN(words); i++) {
    if (tmb_ascii_same(trimmed, words[i])) {
      *value = i % 2;
      return TMB_OK;
    }
  }
  return TMB_E_ARG;
}

int tmb_fmt_parse_duration(const char *text, uint64_t unit_ns, uint64_t *ns) {
  char trimmed[96];
  int64_t value;
  if (!text || !copy_trimmed(text, trimmed, sizeof trimmed)) return TMB_E_ARG;
  const struct unit_set set = {time_units, TMB_ARRAY_LEN(time_units), unit_ns};
  if (parse_scaled(trimmed, &set, &value) != TMB_OK || value < 0) return TMB_E_ARG;
  *ns = (uint64_t)value;
  return TMB_OK;
}

/* Parses the amount of a segment limit, without /P or /H. */
static int parse_amount(char *text, struct tmb_segsize *out) {
  const size_t len = strlen(text);
  double number;
  int64_t bytes;
  if (len == 0) return TMB_E_ARG;
  if (text[len - 1] == '%') {
    text[len - 1] = '\0';
    if (parse_float(text, &number) != TMB_OK || number <= 0 || number > 100) return TMB_E_ARG;
    out->fraction = number / 100;
    return TMB_OK;
  }
  if (tmb_fmt_parse_dbl(text, &number) == TMB_OK && number > 0 && number <= 1) {
    out->fraction = number;
    return TMB_OK;
  }
  if (tmb_fmt_parse_int(text, 1, &bytes) != TMB_OK || bytes <= 0) return TMB_E_ARG;
  out->bytes = (uint64_t)bytes;
  return TMB_OK;
}

int tmb_fmt_parse_segsize(const char *text, struct tmb_segsize *out) {
  char trimmed[96];
  struct tmb_segsize result = {0};
  if (!text || !copy_trimmed(text, trimmed, sizeof trimmed)) return TMB_E_ARG;
  char *slash = strrchr(trimmed, '/');
  if (slash && slash[1] && strchr("pPhH", slash[1]) && slash[2] == '\0') {
    result.per_host = slash[1] == 'h' || slash[1] == 'H';
    *slash = '\0';
  }
  if (parse_amount(trimmed, &result) != TMB_OK) return TMB_E_ARG;
  *out = result;
  return TMB_OK;
}

/* Reads one "a" or "a-b" at *text and advances it behind the item. */
static int read_range(const char **text, unsigned long long *low, unsigned long long *high) {
  char *end;
  const char *p = skip_blanks(*text);
  if (!isdigit((unsigned char)*p)) return TMB_E_ARG;
  *low = *high = strtoull(p, &end, 10);
  p = skip_blanks(end);
  if (*p == '-') {
    p = skip_blanks(p + 1);
    if (!isdigit((unsigned char)*p)) return TMB_E_ARG;
    *high = strtoull(p, &end, 10);
    p = skip_blanks(end);
  }
  *text = p;
  return *low <= *high ? TMB_OK : TMB_E_ARG;
}

int tmb_fmt_rank_listed(const char *list, uint32_t rank) {
  if (!list) return 1;
  const char *p = skip_blanks(list);
  if (*p == '\0') return 1;
  int found = 0;
  for (;;) {
    if (*p == '*') {
      found = 1;
      p = skip_blanks(p + 1);
    } else {
      unsigned long long low, high;
      if (read_range(&p, &low, &high) != TMB_OK) return TMB_E_ARG;
      if (rank >= low && rank <= high) found = 1;
    }
    if (*p == '\0') return found;
    if (*p != ',') return TMB_E_ARG;
    p = skip_blanks(p + 1);
  }
}

char *tmb_fmt_number(int64_t value, char *buf, size_t buf_bytes, bool is_mem_size) {
  static const char *const names[] = {"B", "KB", "MB", "GB", "TB"};
  if (!is_mem_size) {
    snprintf(buf, buf_bytes, "%lld", (long long)value);
    return buf;
  }
  const char *sign = value < 0 ? "-" : "";
  const uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  if (magnitude >= 1ull << 50) {
    snprintf(buf, buf_bytes, "%s0x%llx", sign, (unsigned long long)magnitude);
    return buf;
  }
  int i = TMB_ARRAY_LEN(names) - 1;
  for (; i > 0; i--) {
    const uint64_t unit = 1ull << (10 * i);
    if (magnitude >= 10 * unit || (magnitude >= unit && magnitude % unit == 0)) break;
  }
  snprintf(buf, buf_bytes, "%s%llu %s", sign, (unsigned long long)(magnitude >> (10 * i)),
           names[i]);
  return buf;
}

int tmb_fmt_print(char *buf, size_t buf_bytes, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const locale_t before = tmb_ascii_enter();
  const int n = vsnprintf(buf, buf_bytes, fmt, args);
  tmb_ascii_leave(before);
  va_end(args);
  return n;
}

char *tmb_fmt_bytes(uint64_t bytes, char *buf, size_t buf_bytes) {
  static const char *const names[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
  size_t i = 0;
  double value = (double)bytes;
  for (; value >= 1024 && i + 1 < TMB_ARRAY_LEN(names); i++) value /= 1024;
  if (i == 0) {
    snprintf(buf, buf_bytes, "%llu B", (unsigned long long)bytes);
    return buf;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  tmb_fmt_print(buf, buf_bytes, "%.*f %s", decimals, value, names[i]);
  return buf;
}

unsigned tmb_fmt_edit_distance(const char *a, const char *b) {
  enum { MAX = 63 };
  const size_t a_len = strnlen(a, MAX), b_len = strnlen(b, MAX);
  unsigned rows[3][MAX + 1]; /* rows i-2, i-1, i of the distance matrix, in rotation */
  for (size_t j = 0; j <= b_len; j++) rows[0][j] = (unsigned)j;
  for (size_t i = 1; i <= a_len; i++) {
    unsigned *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
    const int ca = tmb_ascii_lower(a[i - 1]);
    row[0] = (unsigned)i;
    for (size_t j = 1; j <= b_len; j++) {
      const int cb = tmb_ascii_lower(b[j - 1]);
      unsigned best = up[j - 1] + (ca != cb);
      best = TMB_MIN(best, TMB_MIN(up[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && ca == tmb_ascii_lower(b[j - 2]) && cb == tmb_ascii_lower(a[i - 2]))
        best = TMB_MIN(best, up2[j - 2] + 1);
      row[j] = best;
    }
  }
  return rows[a_len % 3][b_len];
}

/* Bytes of the UTF-8 character at s; 0: it is none. */
static unsigned utf8_bytes(const unsigned char *s) {
  const unsigned n = s[0] < 0x80                   ? 1
                     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                     : (s[0] & 0xf0) == 0xe0       ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
  for (unsigned i = 1; i < n; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  return n;
}

void tmb_fmt_json(FILE *f, const char *text) {
  fputc('"', f);
  for (const unsigned char *s = (const unsigned char *)text; *s;) {
    const unsigned n = utf8_bytes(s);
    if (*s == '"' || *s == '\\')
      fprintf(f, "\\%c", *s);
    else if (*s < 0x20 || *s == 0x7f)
      fprintf(f, "\\u%04x", *s);
    else if (n)
      fwrite(s, 1, n, f);
    else
      fputs("\\ufffd", f);
    s += n ? n : 1;
  }
  fputc('"', f);
}
