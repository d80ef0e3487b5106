/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings of a check, as text and as JSON.
 *
 * Owns nothing. Called by check.c. Calls: libc. A race is printed with both accesses, with what the
 * later rank last heard of the other one, and with what is missing. Invariant: each pair of lines
 * is printed once, in the order in which they were found.
 */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

static const char *verb(const struct chk_finding *f, int i) {
  if (f->flags[i] & CHK_ATOMIC) return "atomic access";
  return f->flags[i] & CHK_WRITE ? "write" : "read";
}

/* "CALL at FILE:LINE", or what is known of it. */
static void place(struct chk_area *area, const struct check_line *lines, uint32_t site, FILE *out) {
  if (!site || site >= area->sites) {
    fprintf(out, "a run-time library");
    return;
  }
  const struct chk_site *const s = chk_site_at(area, site);
  fprintf(out, "%s at ", chk_name_at(area, s->call));
  if (lines[site].file)
    fprintf(out, "%s:%u", lines[site].file, lines[site].line);
  else
    fprintf(out, "%s+0x%llx (no debug information: compile with -g)",
            chk_module_at(area, s->module), (unsigned long long)s->offset);
}

static bool between_threads(const struct chk_finding *f) {
  return f->rank[0] == f->rank[1] && f->thread[0] && f->thread[1];
}

/* Advice: the synchronisation that would have ordered the two accesses. */
static const char *missing(const struct chk_finding *f) {
  const bool transfer = (f->flags[0] & CHK_TRANSFER) != 0;
  if (f->open[0] && (f->flags[0] & CHK_SIGNALS))
    return "the wait for the signal or message that comes with the first";
  if (f->open[0] && transfer && (f->flags[0] & CHK_LOCAL))
    return "the local completion of the first: a wait for its event before its buffer is used";
  if (f->open[0] && transfer)
    return "the completion of the first: a wait for its event, or a fence, before the "
           "synchronisation that publishes it";
  if (between_threads(f))
    return "a mutex, condition, semaphore, join or atomic operation between the two threads";
  if (f->thread[0] || f->thread[1])
    return "a barrier, signal, message, lock or atomic operation between the two; one of another "
           "thread of the rank orders its own accesses alone";
  return "a barrier, signal, message, lock or atomic operation between the two";
}

static void print_race(struct chk_area *area, const struct check_line *lines,
                       const struct chk_finding *f, FILE *out) {
  if (between_threads(f))
    fprintf(out, "tombolo: race between thread %u and thread %u of rank %u at ", f->thread[0],
            f->thread[1], f->rank[0]);
  else
    fprintf(out, "tombolo: race between rank %u and rank %u at ", f->rank[0], f->rank[1]);
  if (f->offset != UINT64_MAX)
    fprintf(out, "offset %llu of the segment of rank %u", (unsigned long long)f->offset, f->owner);
  else
    fprintf(out, "address 0x%llx of rank %u", (unsigned long long)f->addr, f->owner);
  if (f->count > 1) fprintf(out, ", %u times", f->count);
  for (int i = 0; i < 2; i++) {
    fprintf(out, "\n  %s by rank %u, ", verb(f, i), f->rank[i]);
    if (f->thread[i]) fprintf(out, "thread %u, ", f->thread[i]);
    fprintf(out, "%llu bytes: ", (unsigned long long)f->bytes[i]);
    place(area, lines, f->site[i], out);
    if (f->open[i]) fprintf(out, ", not complete");
  }
  if (f->rank[0] != f->rank[1]) {
    fprintf(out, "\n  rank %u last heard of rank %u: ", f->rank[1], f->rank[0]);
    if (f->last)
      place(area, lines, f->last, out);
    else
      fprintf(out, "never");
  }
  fprintf(out, "\n  missing: %s\n", missing(f));
}

/* The blocks of a line that each rank has allocated, [ranks], to free; NULL: no memory. */
static uint32_t *blocks_of(struct chk_area *area, const struct chk_finding *f) {
  uint32_t *const blocks = calloc(area->ranks, sizeof *blocks);
  for (uint32_t i = 1; blocks && i < area->syncs; i++) {
    const struct chk_sync *const s = chk_sync_at(area, i);
    if (s->puts == CHK_BLOCK && s->site == f->site[0]) blocks[s->clock[0]]++;
  }
  return blocks;
}

static void print_memory(struct chk_area *area, const struct check_line *lines,
                         const struct chk_finding *f, FILE *out) {
  uint32_t *const blocks = blocks_of(area, f);
  fprintf(out, "tombolo: memory that was never freed: %u block%s by ", f->count,
          f->count > 1 ? "s" : "");
  place(area, lines, f->site[0], out);
  bool alike = blocks != NULL;
  for (uint32_t r = 0; alike && r < area->ranks; r++) alike = blocks[r] == blocks[0];
  if (alike) fprintf(out, ", %u of each rank", blocks[0]);
  for (uint32_t r = 0; blocks && !alike && r < area->ranks; r++)
    if (blocks[r]) fprintf(out, ", %u of rank %u", blocks[r], r);
  fprintf(out, "\n");
  free(blocks);
}

static void print_leak(struct chk_area *area, const struct check_line *lines,
                       const struct chk_finding *f, FILE *out) {
  fprintf(out, "tombolo: leak in rank %u: %s, made by ", f->rank[0], chk_name_at(area, f->what));
  place(area, lines, f->site[0], out);
  if (f->count > 1) fprintf(out, ", %u times", f->count);
  fprintf(out, "\n");
}

void check_print_text(struct chk_area *area, const struct check_line *lines, FILE *out) {
  static void (*const print[])(struct chk_area *, const struct check_line *,
                               const struct chk_finding *,
                               FILE *) = {print_race, print_leak, print_memory};
  uint32_t count[3] = {0};
  for (uint32_t i = 0; i < area->findings; i++) {
    const struct chk_finding *const f = chk_finding_at(area, i);
    print[f->kind](area, lines, f, out);
    count[f->kind]++;
  }
  if (count[CHK_RACE] + count[CHK_LEAK])
    fprintf(out, "tombolo: races: %u, leaks: %u\n", count[CHK_RACE], count[CHK_LEAK]);
  if (area->unkept)
    fprintf(out, "tombolo: there is more: the first %u findings are kept\n", CHK_FINDINGS);
  if (area->missed)
    fprintf(out, "tombolo: %llu accesses found no room in the checker's tables\n",
            (unsigned long long)area->missed);
}

static void json_text(const char *text, FILE *out) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    if ((unsigned char)*text >= 32) fputc(*text, out);
  }
  fputc('"', out);
}

static void json_place(struct chk_area *area, const struct check_line *lines, uint32_t site,
                       FILE *out) {
  const bool known = site && site < area->sites;
  fprintf(out, "\"call\": ");
  json_text(known ? chk_name_at(area, chk_site_at(area, site)->call) : "", out);
  fprintf(out, ", \"file\": ");
  json_text(known && lines[site].file ? lines[site].file : "", out);
  fprintf(out, ", \"line\": %u", known ? lines[site].line : 0);
}

static void json_memory(struct chk_area *area, const struct check_line *lines,
                        const struct chk_finding *f, FILE *out) {
  uint32_t *const blocks = blocks_of(area, f);
  fprintf(out, "  {\"kind\": \"memory\", \"count\": %u, \"ranks\": {", f->count);
  for (uint32_t r = 0, printed = 0; blocks && r < area->ranks; r++)
    if (blocks[r]) fprintf(out, "%s\"%u\": %u", printed++ ? ", " : "", r, blocks[r]);
  fprintf(out, "}, ");
  json_place(area, lines, f->site[0], out);
  fputc('}', out);
  free(blocks);
}

static void json_finding(struct chk_area *area, const struct check_line *lines,
                         const struct chk_finding *f, FILE *out) {
  if (f->kind == CHK_LEAK) {
    fprintf(out, "  {\"kind\": \"leak\", \"what\": ");
    json_text(chk_name_at(area, f->what), out);
    fprintf(out, ", \"rank\": %u, \"count\": %u, ", f->rank[0], f->count);
    json_place(area, lines, f->site[0], out);
    fputc('}', out);
    return;
  }
  if (f->kind == CHK_MEMORY) {
    json_memory(area, lines, f, out);
    return;
  }
  fprintf(out, "  {\"kind\": \"race\", \"owner\": %u, \"address\": %llu, \"count\": %u, ", f->owner,
          (unsigned long long)f->addr, f->count);
  if (f->offset != UINT64_MAX) fprintf(out, "\"offset\": %llu, ", (unsigned long long)f->offset);
  fprintf(out, "\"missing\": ");
  json_text(missing(f), out);
  fprintf(out, ",\n   \"accesses\": [");
  for (int i = 0; i < 2; i++) {
    fprintf(out, "%s{\"rank\": %u, ", i ? ", " : "", f->rank[i]);
    if (f->thread[i]) fprintf(out, "\"thread\": %u, ", f->thread[i]);
    fprintf(out, "\"access\": ");
    json_text(verb(f, i), out);
    fprintf(out, ", \"bytes\": %llu, \"complete\": %s, ", (unsigned long long)f->bytes[i],
            f->open[i] ? "false" : "true");
    json_place(area, lines, f->site[i], out);
    fputc('}', out);
  }
  fprintf(out, "]}");
}

void check_print_json(struct chk_area *area, const struct check_line *lines, FILE *out) {
  fprintf(out, "[\n");
  for (uint32_t i = 0; i < area->findings; i++) {
    json_finding(area, lines, chk_finding_at(area, i), out);
    fprintf(out, i + 1 < area->findings ? ",\n" : "\n");
  }
  fprintf(out, "]\n");
}
