/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: texts, each kept once, and memory.
 *
 * Owns: nothing global. Called by load.c and whoever prints a text. Calls: libc.
 * Invariants: an index never changes; the hash table is at most half full. Without memory the
 * command ends, as it can do nothing useful then.
 */
#include "tool.h"
#include "view/trace/trace.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *memory) {
  if (memory) return memory;
  tmb_print("view: out of memory; trace fewer events (TOMBOLO_TRACE_EVENTS), or fewer ranks");
  exit(TOOL_EXIT_FAILED);
}

void *view_more(void *array, size_t count, size_t *room, size_t bytes) {
  if (count < *room) return array;
  *room = *room ? *room * 2 : 256;
  return checked(realloc(array, *room * bytes));
}

void *view_zeroed(size_t count, size_t bytes) {
  return checked(calloc(count ? count : 1, bytes));
}

void view_sort(void *array, size_t count, size_t bytes, int (*order)(const void *, const void *)) {
  if (count > 1) qsort(array, count, bytes, order);
}

static uint64_t hash(const char *text, size_t bytes) {
  uint64_t h = UINT64_C(14695981039346656037); /* FNV-1a */
  for (size_t i = 0; i < bytes; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
  return h ^ h >> 32;
}

static void insert(struct view_names *n, uint32_t index) {
  size_t at = hash(n->text[index], strlen(n->text[index])) & (n->slots - 1);
  while (n->slot[at]) at = (at + 1) & (n->slots - 1);
  n->slot[at] = index + 1;
}

static void widen(struct view_names *n) {
  free(n->slot);
  n->slots = n->slots ? n->slots * 2 : 1024;
  n->slot = view_zeroed(n->slots, sizeof *n->slot);
  for (size_t i = 0; i < n->count; i++) insert(n, (uint32_t)i);
}

uint32_t view_name(struct view_names *n, const char *text, size_t bytes) {
  if (n->count * 2 >= n->slots) widen(n);
  for (size_t at = hash(text, bytes) & (n->slots - 1); n->slot[at];
       at = (at + 1) & (n->slots - 1)) {
    const char *known = n->text[n->slot[at] - 1];
    if (strncmp(known, text, bytes) == 0 && known[bytes] == 0) return n->slot[at] - 1;
  }
  n->text = view_more(n->text, n->count, &n->room, sizeof *n->text);
  char *copy = view_zeroed(bytes + 1, 1);
  memcpy(copy, text, bytes);
  n->text[n->count++] = copy;
  insert(n, (uint32_t)n->count - 1);
  return (uint32_t)n->count - 1;
}

const char *view_text(const struct view_trace *t, uint32_t name) {
  return name == VIEW_NONE ? "" : t->names.text[name];
}

void view_names_free(struct view_names *n) {
  for (size_t i = 0; i < n->count; i++) free(n->text[i]);
  free(n->text);
  free(n->slot);
}
