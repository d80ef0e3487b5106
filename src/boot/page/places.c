/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places: the table, and reading a placement, see places.h.
 *
 * Owns: no process state. Called by boot (a rank joins) and by launchers. Calls: base. Invariants:
 * a table is complete or zeroed; a placement that was read is normal: hosts 0, 1, .. in the order
 * of their lowest rank, none of them empty.
 */
#include "boot/page/places.h"

#include "base/error.h"
#include "base/fmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tmb_places_open(struct tmb_places *p, uint32_t rank, uint32_t size, const uint32_t *host_of) {
  *p = (struct tmb_places){.size = size};
  p->host_of = calloc(size, sizeof *p->host_of);
  p->near_of = calloc(size, sizeof *p->near_of);
  uint32_t *count = calloc(size, sizeof *count); /* ranks of each host so far */
  if (!p->host_of || !p->near_of || !count) goto fail;
  for (uint32_t r = 0; r < size; r++) {
    const uint32_t host = host_of ? host_of[r] : 0;
    p->host_of[r] = host;
    p->near_of[r] = count[host]++;
    if (host >= p->hosts) p->hosts = host + 1;
  }
  p->host = p->host_of[rank];
  p->near_index = p->near_of[rank];
  p->near_count = count[p->host];
  p->near_rank = calloc(p->near_count, sizeof *p->near_rank);
  if (!p->near_rank) goto fail;
  for (uint32_t r = 0; r < size; r++)
    if (tmb_places_near(p, r)) p->near_rank[p->near_of[r]] = r;
  free(count);
  return TMB_OK;
fail:
  free(count);
  tmb_places_close(p);
  return TMB_E_NOMEM;
}

void tmb_places_close(struct tmb_places *p) {
  free(p->host_of);
  free(p->near_of);
  free(p->near_rank);
  *p = (struct tmb_places){0};
}

/* ---- reading a placement */

/* A rank and the host that the user has given it. */
struct wish {
  uint32_t rank, host;
};

static int by_host(const void *a, const void *b) {
  const struct wish *x = a, *y = b;
  if (x->host != y->host) return x->host < y->host ? -1 : 1;
  return x->rank < y->rank ? -1 : 1;
}

static int by_rank(const void *a, const void *b) {
  const struct wish *x = a, *y = b;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Gives hosts their normal numbers: each rank first names the lowest rank of its host. */
static int renumber(uint32_t size, uint32_t *host_of, uint32_t *hosts) {
  struct wish *wish = calloc(size, sizeof *wish);
  if (!wish) return TMB_E_NOMEM;
  for (uint32_t r = 0; r < size; r++) wish[r] = (struct wish){r, host_of[r]};
  qsort(wish, size, sizeof *wish, by_host);
  uint32_t given = 0, lowest = 0;
  for (uint32_t i = 0; i < size; i++) {
    if (i == 0 || wish[i].host != given) lowest = wish[i].rank;
    given = wish[i].host;
    wish[i].host = lowest;
  }
  qsort(wish, size, sizeof *wish, by_rank);
  *hosts = 0;
  for (uint32_t r = 0; r < size; r++)
    host_of[r] = wish[r].host == r ? (*hosts)++ : host_of[wish[r].host];
  free(wish);
  return TMB_OK;
}

/* "0,1,0,2": one number for each rank. */
static int parse_list(const char *text, uint32_t size, uint32_t *host_of, char *why,
                      size_t why_bytes) {
  for (uint32_t r = 0; r < size; r++) {
    char *end;
    const unsigned long host = strtoul(text, &end, 10);
    if (end == text || *text < '0' || *text > '9' || host > INT32_MAX ||
        (*end != ',' && *end != '\0')) {
      snprintf(why, why_bytes, "'%s' does not begin with the host of rank %u", text, r);
      return TMB_E_ARG;
    }
    if ((*end == '\0') != (r + 1 == size)) {
      snprintf(why, why_bytes, "the list names %s hosts than there are ranks (%u)",
               *end ? "more" : "fewer", size);
      return TMB_E_ARG;
    }
    host_of[r] = (uint32_t)host;
    text = end + 1;
  }
  return TMB_OK;
}

/* "H" or "cyclic:H". */
static int parse_count(const char *text, uint32_t size, uint32_t *host_of, char *why,
                       size_t why_bytes) {
  const bool cyclic = strncmp(text, "cyclic:", 7) == 0;
  const char *const number = cyclic ? text + 7 : text;
  int64_t asked;
  if (!*number || tmb_fmt_parse_int(number, 0, &asked) || asked < 1) {
    snprintf(why, why_bytes, "it is neither a number of hosts, nor cyclic:HOSTS, nor a list");
    return TMB_E_ARG;
  }
  const uint32_t count = asked > size ? size : (uint32_t)asked;
  for (uint32_t r = 0; r < size; r++)
    host_of[r] = cyclic ? r % count : (uint32_t)((uint64_t)r * count / size);
  return TMB_OK;
}

int tmb_places_parse(const char *text, uint32_t size, uint32_t *host_of, uint32_t *hosts, char *why,
                     size_t why_bytes) {
  if (!text || !*text) text = "1";
  int rc = strchr(text, ',') ? parse_list(text, size, host_of, why, why_bytes)
                             : parse_count(text, size, host_of, why, why_bytes);
  if (rc) return rc;
  rc = renumber(size, host_of, hosts);
  if (rc) snprintf(why, why_bytes, "out of memory for %u ranks", size);
  return rc;
}
