/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parsing tables of algorithms, see table.h.
 *
 * Owns nothing. Called by tuning.c and table_test.c. Calls: libc, select.h. Invariants: lines are
 * at most LINE_MAX_BYTES long; a rule has all its seven fields and nothing after them.
 */
#include "coll/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 200
#define WORD_BYTES     32 /* the widths in the sscanf formats below are one less */

uint32_t tmb_coll_kind_find(const char *name) {
  uint32_t kind = 0;
  while (kind < TMB_COLL_KINDS && strcmp(tmb_coll_kind_name(kind), name) != 0) kind++;
  return kind;
}

/* Copy the line at *text without its comment and advance. Returns false when it is too long. */
static bool next_line(const char **text, char *line) {
  const size_t length = strcspn(*text, "\n");
  const size_t used = strcspn(*text, "#\n");
  const bool fits = used < LINE_MAX_BYTES;
  if (fits) {
    memcpy(line, *text, used);
    line[used] = 0;
  }
  *text += length + ((*text)[length] == '\n');
  return fits;
}

static bool blank(const char *line) {
  return line[strspn(line, " \t\r")] == 0;
}

static bool parse_rule(const char *line, struct tmb_coll_rule *rule) {
  char kind[WORD_BYTES], alg[WORD_BYTES], more;
  unsigned long long bytes, segment;
  unsigned least, most, radix;
  const int fields = sscanf(line, "%31s %u %u %llu %31s %u %llu %c", kind, &least, &most, &bytes,
                            alg, &radix, &segment, &more);
  if (fields != 7) return false;
  *rule = (struct tmb_coll_rule){.kind = tmb_coll_kind_find(kind),
                                 .size_min = least,
                                 .size_max = most,
                                 .bytes = bytes,
                                 .radix = radix,
                                 .segment = segment};
  rule->alg = tmb_coll_alg_find(rule->kind, alg);
  return rule->alg && least <= most && radix >= 2 && segment > 0;
}

uint32_t tmb_coll_table_parse(const char *text, struct tmb_coll_rule **rules, uint32_t *count) {
  struct tmb_coll_rule *list = NULL, rule;
  char line[LINE_MAX_BYTES];
  uint32_t n = 0, number = 1;
  for (; *text; number++) {
    if (!next_line(&text, line)) goto wrong;
    if (blank(line)) continue;
    if (!parse_rule(line, &rule)) goto wrong;
    struct tmb_coll_rule *more = realloc(list, (n + 1) * sizeof *more);
    if (!more) goto wrong;
    list = more;
    list[n++] = rule;
  }
  *rules = list;
  *count = n;
  return 0;

wrong:
  free(list);
  return number;
}

bool tmb_coll_forced_parse(const char *text, const struct tmb_coll_alg **forced, char *bad,
                           size_t bytes) {
  const struct tmb_coll_alg *found[TMB_COLL_KINDS] = {NULL};
  while (*text) {
    const size_t length = strcspn(text, ",");
    char word[2 * WORD_BYTES], kind[WORD_BYTES], alg[WORD_BYTES], more;
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
             text);
    const int fields = sscanf(word, "%31[a-z-]=%31[a-z-]%c", kind, alg, &more);
    const uint32_t k = fields == 2 ? tmb_coll_kind_find(kind) : TMB_COLL_KINDS;
    if (k < TMB_COLL_KINDS) found[k] = tmb_coll_alg_find(k, alg);
    if (k == TMB_COLL_KINDS || !found[k]) {
      snprintf(bad, bytes, "%s", word);
      return false;
    }
    text += length + (text[length] == ',');
  }
  for (uint32_t k = 0; k < TMB_COLL_KINDS; k++)
    if (found[k]) forced[k] = found[k];
  return true;
}
