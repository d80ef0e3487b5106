/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of hosts, see hosts.h.
 *
 * Owns: nothing global. Called by run_hosts.c. Calls: base/error, libc.
 * Invariants: a list that was refused is left as far as it was read; the caller frees it.
 */
#define _GNU_SOURCE
#include "hosts/hosts.h"

#include "base/error.h"
#include "base/log.h"
#include "boot/boot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS ", \t\r\n;"

static void add(struct host_list *list, const char *name, size_t bytes, uint32_t ranks) {
  struct host_entry *more = realloc(list->entry, (list->count + 1) * sizeof *more);
  char *copy = strndup(name, bytes);
  if (!more || !copy) tmb_fatal_nopos("out of memory for a list of hosts");
  list->entry = more;
  list->entry[list->count++] = (struct host_entry){copy, ranks};
}

/* A word NAME[:RANKS] in its parts: the name, and the text of the number, NULL if there is none. */
struct word_parts {
  const char *name, *name_end, *number;
};

/* in word: up to `end`. Returns false if brackets do not fit. */
static bool split_word(const char *word, const char *end, struct word_parts *p) {
  const char *const close = memchr(word, ']', (size_t)(end - word));
  const char *colon = memrchr(word, ':', (size_t)(end - word));
  if (word[0] == '[') {
    *p = (struct word_parts){word + 1, close, NULL};
    if (!close || (close + 1 != end && close[1] != ':')) return false;
    if (close + 1 != end) p->number = close + 2;
    return true;
  }
  if (colon && memchr(word, ':', (size_t)(colon - word))) colon = NULL; /* an address of IPv6 */
  *p = (struct word_parts){word, colon ? colon : end, colon ? colon + 1 : NULL};
  return true;
}

/* Whether a name has no control character, as a binary file has. */
static bool is_text(const char *name, const char *end) {
  for (; name < end; name++)
    if ((unsigned char)*name < ' ' || *name == 0x7f) return false;
  return true;
}

/* One NAME[:RANKS]. in word: [bytes]. */
static int parse_host(struct host_list *list, const char *word, size_t bytes, char *why) {
  struct word_parts p;
  unsigned long ranks = 0;
  char *stop = NULL;
  bool good = split_word(word, word + bytes, &p) && p.name_end != p.name && *p.name != '-';
  if (good && p.number) {
    ranks = strtoul(p.number, &stop, 10);
    good = stop == word + bytes && stop != p.number && ranks >= 1 && ranks <= TMB_BOOT_RANKS_MAX;
  }
  if (!is_text(word, word + bytes)) {
    snprintf(why, HOSTS_WHY_BYTES, "no NAME or NAME:RANKS, but control characters");
    return TMB_E_ARG;
  }
  if (!good) {
    snprintf(why, HOSTS_WHY_BYTES, "'%.*s' is no NAME or NAME:RANKS with RANKS from 1 to %d",
             (int)TMB_MIN(bytes, (size_t)80), word, TMB_BOOT_RANKS_MAX);
    return TMB_E_ARG;
  }
  add(list, p.name, (size_t)(p.name_end - p.name), (uint32_t)ranks);
  return TMB_OK;
}

/* Puts the number of the line of `text` that `at` is in before `why`, if there are several. */
static void name_line(const char *text, const char *at, char *why) {
  char reason[HOSTS_WHY_BYTES];
  unsigned line = 1;
  if (!strchr(text, '\n')) return;
  for (; text < at; text++) line += *text == '\n';
  snprintf(reason, sizeof reason, "%s", why);
  snprintf(why, HOSTS_WHY_BYTES, "line %u: %.200s", line, reason);
}

int hosts_parse(struct host_list *list, const char *text, char *why) {
  const char *const begin = text;
  while (*text) {
    text += strspn(text, SEPARATORS);
    if (*text == '#') text += strcspn(text, "\n");
    if (*text == '\0' || *text == '\n') continue;
    const size_t bytes = strcspn(text, SEPARATORS "#");
    const int rc = parse_host(list, text, bytes, why);
    if (rc) {
      name_line(begin, text, why);
      return rc;
    }
    text += bytes;
  }
  return TMB_OK;
}

void hosts_free(struct host_list *list) {
  for (uint32_t i = 0; i < list->count; i++) free(list->entry[i].name);
  free(list->entry);
  *list = (struct host_list){0};
}

/* Number of ranks of each host. Returns 0, or TMB_E_ARG if they do not fit. */
static int share(struct host_list *list, bool even, uint32_t *ranks, char *why) {
  uint32_t said = 0, unsaid = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    if (even) list->entry[i].ranks = 0;
    said += list->entry[i].ranks;
    unsaid += list->entry[i].ranks == 0;
  }
  if (*ranks == 0) *ranks = said + unsaid;
  if (*ranks > TMB_BOOT_RANKS_MAX) {
    snprintf(why, HOSTS_WHY_BYTES, "%u ranks; a job has at most %d", *ranks, TMB_BOOT_RANKS_MAX);
    return TMB_E_ARG;
  }
  if (unsaid == 0 && *ranks > said) {
    snprintf(why, HOSTS_WHY_BYTES,
             "-n %u, but the list has room for %u ranks; raise the numbers "
             "behind the names, or leave them out",
             *ranks, said);
    return TMB_E_ARG;
  }
  uint32_t left = *ranks, rest = *ranks > said ? *ranks - said : 0, others = unsaid;
  for (uint32_t i = 0; i < list->count; i++) {
    struct host_entry *e = &list->entry[i];
    if (e->ranks == 0 && others) {
      e->ranks = (rest + others - 1) / others; /* the first ones get one more */
      rest -= e->ranks;
      others--;
    }
    e->ranks = TMB_MIN(e->ranks, left);
    left -= e->ranks;
  }
  return TMB_OK;
}

static void drop_empty(struct host_list *list) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->entry[i].ranks)
      list->entry[kept++] = list->entry[i];
    else
      free(list->entry[i].name);
  }
  list->count = kept;
}

/* A host that is named twice is one host. */
static void merge_same(struct host_list *list) {
  for (uint32_t i = 0; i < list->count; i++)
    for (uint32_t k = i + 1; k < list->count; k++) {
      struct host_entry *x = &list->entry[i], *y = &list->entry[k];
      if (!y->name || !x->name || strcmp(x->name, y->name) != 0) continue;
      x->ranks = (x->ranks ? x->ranks : 1) + (y->ranks ? y->ranks : 1);
      y->name[0] = '\0';
    }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->entry[i].name[0])
      list->entry[kept++] = list->entry[i];
    else
      free(list->entry[i].name);
  }
  list->count = kept;
}

int hosts_place(struct host_list *list, uint32_t most, bool cyclic, uint32_t *ranks,
                uint32_t **host_of, char *why) {
  merge_same(list);
  if (most > list->count) {
    snprintf(why, HOSTS_WHY_BYTES, "-N %u, but the list has %u host%s", most, list->count,
             list->count == 1 ? "" : "s");
    return TMB_E_ARG;
  }
  while (most && list->count > most) free(list->entry[--list->count].name);
  if (list->count == 0) {
    snprintf(why, HOSTS_WHY_BYTES, "the list of hosts is empty");
    return TMB_E_ARG;
  }
  const int rc = share(list, most && *ranks, ranks, why);
  if (rc) return rc;
  drop_empty(list);
  uint32_t *left = calloc(list->count, sizeof *left);
  *host_of = calloc(*ranks, sizeof **host_of);
  if (!left || !*host_of) tmb_fatal_nopos("out of memory for %u ranks", *ranks);
  for (uint32_t i = 0; i < list->count; i++) left[i] = list->entry[i].ranks;
  for (uint32_t r = 0, h = 0; r < *ranks; r++) {
    while (left[h % list->count] == 0) h++;
    (*host_of)[r] = h % list->count;
    left[h % list->count]--;
    if (cyclic) h++;
  }
  free(left);
  return TMB_OK;
}
