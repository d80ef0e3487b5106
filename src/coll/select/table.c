/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsing tables of algorithms, see table.h.
 *
 * Owns nothing. Called by tuning.c and table_test.c. Calls: libc, select.h. Invariants: lines are
 * at most LINE_BYTES_MAX long; a rule has all its seven fields and nothing after them; an error
 * names the wrong word and the right ones.
 */
#include "coll/select/table.h"

#include "base/compiler.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES_MAX = 200, FIELDS = 7 };

uint32_t tmb_coll_kind_find(const char *name) {
  uint32_t kind = 0;
  while (kind < TMB_COLL_KINDS && strcmp(tmb_coll_kind_name(kind), name) != 0) kind++;
  return kind;
}

/* ---- errors */

TMB_PRINTF(2, 3) static bool wrong(struct tmb_coll_table_error *error, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  vsnprintf(error->why, sizeof error->why, fmt, args);
  va_end(args);
  return false;
}

static void append(char *list, size_t bytes, const char *name) {
  const size_t used = strlen(list);
  snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", name);
}

static bool wrong_kind(struct tmb_coll_table_error *error, const char *word) {
  char known[200] = "";
  for (uint32_t k = 0; k < TMB_COLL_KINDS; k++) append(known, sizeof known, tmb_coll_kind_name(k));
  return wrong(error, "'%.20s' is no collective; write one of %s", word, known);
}

static bool wrong_algorithm(struct tmb_coll_table_error *error, uint32_t kind, const char *word) {
  char known[160] = "";
  uint32_t count;
  const struct tmb_coll_alg *alg = tmb_coll_algs(&count);
  for (uint32_t i = 0; i < count; i++)
    if (alg[i].kind == kind) append(known, sizeof known, alg[i].name);
  return wrong(error, "'%.20s' is no algorithm of %s; write one of %s", word,
               tmb_coll_kind_name(kind), known);
}

/* ---- a rule */

static const uint64_t radix_range[2] = {2, 1024}, segment_range[2] = {1, UINT64_MAX};

/* A whole number of at least `least`, at most `most`. */
static bool number(struct tmb_coll_table_error *error, const char *field_name, const char *word,
                   const uint64_t range[2], uint64_t *out) {
  char *end = NULL;
  errno = 0;
  const uint64_t value = strtoull(word, &end, 10);
  if (word[0] < '0' || word[0] > '9' || *end || errno || value < range[0] || value > range[1])
    return wrong(error, "%s '%.30s' is not a whole number from %llu to %llu", field_name, word,
                 (unsigned long long)range[0], (unsigned long long)range[1]);
  *out = value;
  return true;
}

static bool parse_numbers(char *const field[FIELDS], struct tmb_coll_rule *rule,
                          struct tmb_coll_table_error *error) {
  static const uint64_t ranks[2] = {1, UINT32_MAX}, bytes[2] = {0, UINT64_MAX};
  uint64_t least = 0, most = 0, children = 0;
  if (!number(error, "ranks_min", field[1], ranks, &least) ||
      !number(error, "ranks_max", field[2], (uint64_t[2]){least, UINT32_MAX}, &most) ||
      !number(error, "bytes", field[3], bytes, &rule->bytes) ||
      !number(error, "radix", field[5], radix_range, &children) ||
      !number(error, "segment", field[6], segment_range, &rule->segment))
    return false;
  rule->size_min = (uint32_t)least;
  rule->size_max = (uint32_t)most;
  rule->radix = (uint32_t)children;
  return true;
}

/* ---- which jobs */

/* "N", "A-B" or "*". */
static bool parse_span(struct tmb_coll_table_error *error, const char *name, char *word,
                       uint32_t span[2]) {
  static const uint64_t any[2] = {1, UINT32_MAX};
  uint64_t least = 0, most = 0;
  span[0] = 1;
  span[1] = UINT32_MAX;
  if (strcmp(word, "*") == 0) return true;
  char *dash = strchr(word, '-');
  if (dash) *dash = 0;
  if (!number(error, name, word, any, &least)) return false;
  if (!number(error, name, dash ? dash + 1 : word, (uint64_t[2]){least, UINT32_MAX}, &most))
    return false;
  span[0] = (uint32_t)least;
  span[1] = (uint32_t)most;
  return true;
}

/* The words behind "where". */
static bool parse_site(char *const word[], int words, struct tmb_coll_site *site,
                       struct tmb_coll_table_error *error) {
  if (words != 4)
    return wrong(error, "%s than 4 words; write: where network hosts ranks_per_host",
                 words < 4 ? "fewer" : "more");
  if (strlen(word[1]) >= sizeof site->network)
    return wrong(error, "'%.30s' is no network; write the name of a conduit, none or *", word[1]);
  snprintf(site->network, sizeof site->network, "%s", strcmp(word[1], "*") == 0 ? "" : word[1]);
  return parse_span(error, "hosts", word[2], site->hosts) &&
         parse_span(error, "ranks_per_host", word[3], site->near);
}

static bool within(const uint32_t span[2], const uint32_t value[2]) {
  return value[0] >= span[0] && value[1] <= span[1];
}

void tmb_coll_table_keep(struct tmb_coll_rule *rules, uint32_t *count,
                         const struct tmb_coll_site *job) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++) {
    const struct tmb_coll_site *site = &rules[i].site;
    if (site->network[0] && strcmp(site->network, job->network) != 0) continue;
    if (within(site->hosts, job->hosts) && within(site->near, job->near)) rules[kept++] = rules[i];
  }
  *count = kept;
}

/* ---- lines */

/* One line without its comment, which it cuts into words. out *empty: there is no rule in it. */
static bool parse_line(char *line, struct tmb_coll_rule *rule, bool *empty,
                       struct tmb_coll_table_error *error) {
  char *field[FIELDS + 1], *save = NULL;
  int fields = 0;
  for (char *word = strtok_r(line, " \t\r", &save); word && fields <= FIELDS;
       word = strtok_r(NULL, " \t\r", &save))
    field[fields++] = word;
  *empty = fields == 0 || strcmp(field[0], "where") == 0;
  if (*empty) return fields == 0 || parse_site(field, fields, &rule->site, error);
  rule->kind = tmb_coll_kind_find(field[0]);
  if (rule->kind == TMB_COLL_KINDS) return wrong_kind(error, field[0]);
  if (fields != FIELDS)
    return wrong(error,
                 "%s than 7 words; write: collective ranks_min ranks_max bytes algorithm radix "
                 "segment",
                 fields < FIELDS ? "fewer" : "more");
  rule->alg = tmb_coll_alg_find(rule->kind, field[4]);
  if (!rule->alg) return wrong_algorithm(error, rule->kind, field[4]);
  return parse_numbers(field, rule, error);
}

/* Copy the line at *text without its comment and advance. Returns false when it is too long. */
static bool next_line(const char **text, char *line) {
  const size_t length = strcspn(*text, "\n");
  const size_t used = strcspn(*text, "#\n");
  const bool fits = used < LINE_BYTES_MAX;
  if (fits) {
    memcpy(line, *text, used);
    line[used] = 0;
  }
  *text += length + ((*text)[length] == '\n');
  return fits;
}

bool tmb_coll_table_parse(const char *text, struct tmb_coll_rule **rules, uint32_t *count,
                          struct tmb_coll_table_error *error) {
  struct tmb_coll_rule *list = NULL;
  struct tmb_coll_rule rule = {.site = {"", {1, UINT32_MAX}, {1, UINT32_MAX}}};
  char line[LINE_BYTES_MAX];
  uint32_t n = 0;
  bool empty = true;
  for (error->line = 1; *text; error->line++) {
    if (!next_line(&text, line)) {
      (void)wrong(error, "longer than %d characters", LINE_BYTES_MAX - 1);
      goto failed;
    }
    if (!parse_line(line, &rule, &empty, error)) goto failed;
    if (empty) continue;
    rule.line = error->line;
    struct tmb_coll_rule *more = realloc(list, (n + 1) * sizeof *more);
    if (!more) {
      (void)wrong(error, "out of memory");
      goto failed;
    }
    list = more;
    list[n++] = rule;
  }
  *rules = list;
  *count = n;
  return true;

failed:
  free(list);
  return false;
}

/* ---- forced algorithms */

/* The algorithm of a kind, or of every kind that has it. in word: its name. */
static bool set_forced(uint32_t kind, const char *word, struct tmb_coll_forced one,
                       struct tmb_coll_forced *found, struct tmb_coll_table_error *error) {
  const bool all = kind == TMB_COLL_KINDS;
  bool some = false;
  for (uint32_t k = all ? 0 : kind; k < (all ? TMB_COLL_KINDS : kind + 1); k++) {
    one.alg = tmb_coll_alg_find(k, word);
    if (!one.alg) continue;
    found[k] = one;
    some = true;
  }
  if (some) return true;
  if (!all) return wrong_algorithm(error, kind, word);
  return wrong(error, "'%.20s' is an algorithm of no collective", word);
}

/* The parameters of an algorithm, "radix" or "radix:segment"; NULL: none. */
static bool parse_parameters(char *text, struct tmb_coll_forced *one,
                             struct tmb_coll_table_error *error) {
  uint64_t children = 0;
  if (!text) return true;
  char *segment = strchr(text, ':');
  if (segment) *segment++ = 0;
  if (!number(error, "radix", text, radix_range, &children)) return false;
  one->radix = (uint32_t)children;
  return !segment || number(error, "segment", segment, segment_range, &one->segment);
}

/* One "kind=algorithm[:radix[:segment]]". */
static bool parse_forced(char *word, struct tmb_coll_forced *found,
                         struct tmb_coll_table_error *error) {
  struct tmb_coll_forced one = {NULL, 0, 0};
  char *equals = strchr(word, '=');
  if (!equals)
    return wrong(error, "'%.40s' is not collective=algorithm, as in broadcast=chain", word);
  *equals = 0;
  const uint32_t kind = tmb_coll_kind_find(word);
  if (kind == TMB_COLL_KINDS && strcmp(word, "all") != 0) return wrong_kind(error, word);
  char *colon = strchr(equals + 1, ':');
  if (colon) *colon++ = 0;
  return parse_parameters(colon, &one, error) && set_forced(kind, equals + 1, one, found, error);
}

bool tmb_coll_forced_parse(const char *text, struct tmb_coll_forced *forced,
                           struct tmb_coll_table_error *error) {
  struct tmb_coll_forced found[TMB_COLL_KINDS];
  memcpy(found, forced, sizeof found);
  error->line = 0;
  while (*text) {
    char word[LINE_BYTES_MAX];
    const size_t length = strcspn(text, ",");
    if (length >= sizeof word) return wrong(error, "'%.20s...' is too long", text);
    memcpy(word, text, length);
    word[length] = 0;
    if (!parse_forced(word, found, error)) return false;
    text += length + (text[length] == ',');
  }
  memcpy(forced, found, sizeof found);
  return true;
}
