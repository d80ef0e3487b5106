/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: texts, each kept once, indices by number, and memory.
 *
 * Owns: nothing global. Called by load.c and whoever prints a text. Calls: libc,
 * base/container/hash.h. Invariants: an index never changes. Without memory the command ends, as it
 * can do nothing useful then.
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

struct name {
  const char *text; /* [bytes], without an end where it is only looked for */
  size_t bytes;
  uint32_t index;
};

static uint64_t hash_name(const void *entry) {
  const struct name *n = entry;
  return tmb_hash_bytes(TMB_HASH_START, n->text, n->bytes);
}

static bool same_name(const void *left, const void *right) {
  const struct name *a = left, *b = right;
  return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

uint32_t view_name(struct view_names *n, const char *text, size_t bytes) {
  static const struct tmb_hash_kind kind = {sizeof(struct name), hash_name, same_name};
  const struct name like = {text, bytes, (uint32_t)n->count};
  const size_t used = n->index.used;
  struct name *at = checked(tmb_hash_add(&n->index, &kind, &like));
  if (n->index.used == used) return at->index;
  char *copy = view_zeroed(bytes + 1, 1);
  at->text = memcpy(copy, text, bytes);
  n->text = view_more(n->text, n->count, &n->room, sizeof *n->text);
  n->text[n->count++] = copy;
  return at->index;
}

struct index {
  uint64_t after; /* index + 1 */
  uint64_t key;
};

static uint64_t hash_index(const void *entry) {
  return tmb_hash_word(((const struct index *)entry)->key);
}

static bool same_index(const void *a, const void *b) {
  return ((const struct index *)a)->key == ((const struct index *)b)->key;
}

uint32_t view_index(struct tmb_hash *map, uint64_t key, uint32_t fresh) {
  static const struct tmb_hash_kind kind = {sizeof(struct index), hash_index, same_index};
  const struct index like = {(uint64_t)fresh + 1, key};
  const struct index *at = checked(tmb_hash_add(map, &kind, &like));
  return (uint32_t)(at->after - 1);
}

const char *view_text(const struct view_trace *t, uint32_t name) {
  return name == VIEW_NONE ? "" : t->names.text[name];
}

void view_names_free(struct view_names *n) {
  for (size_t i = 0; i < n->count; i++) free(n->text[i]);
  free(n->text);
  tmb_hash_free(&n->index);
}
