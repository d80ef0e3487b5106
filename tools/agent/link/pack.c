/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that agents send to each other, see pack.h.
 *
 * Owns: nothing global. Called by the tree of agents. Calls: libc, base/log. Invariants: see
 * pack.h.
 */
#include "agent/link/pack.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX (1u << 24)

void pack_bytes(struct pack *p, const void *data, size_t bytes) {
  if (p->capacity - p->bytes < bytes) {
    const size_t capacity = TMB_MAX(2 * p->capacity, p->bytes + bytes + 64);
    char *more = realloc(p->data, capacity);
    if (!more) tmb_fatal_nopos("out of memory for a message of %zu bytes", capacity);
    p->data = more;
    p->capacity = capacity;
  }
  if (bytes) memcpy(p->data + p->bytes, data, bytes);
  p->bytes += bytes;
}

void pack_u32(struct pack *p, uint32_t value) {
  pack_bytes(p, &value, sizeof value);
}

void pack_u64(struct pack *p, uint64_t value) {
  pack_bytes(p, &value, sizeof value);
}

void pack_text(struct pack *p, const char *text) {
  const size_t bytes = text ? strlen(text) : 0;
  pack_u32(p, (uint32_t)bytes);
  pack_bytes(p, text, bytes);
}

void pack_free(struct pack *p) {
  free(p->data);
  *p = (struct pack){0};
}

struct pack pack_reader(const void *data, size_t bytes) {
  return (struct pack){.data = (char *)(uintptr_t)data, .bytes = bytes};
}

void unpack_bytes(struct pack *p, void *data, size_t bytes) {
  if (p->bad || p->bytes - p->at < bytes) {
    p->bad = true;
    memset(data, 0, bytes);
    return;
  }
  if (bytes) memcpy(data, p->data + p->at, bytes);
  p->at += bytes;
}

uint32_t unpack_u32(struct pack *p) {
  uint32_t value;
  unpack_bytes(p, &value, sizeof value);
  return value;
}

uint64_t unpack_u64(struct pack *p) {
  uint64_t value;
  unpack_bytes(p, &value, sizeof value);
  return value;
}

char *unpack_text(struct pack *p) {
  uint32_t bytes = unpack_u32(p);
  if (bytes > TEXT_BYTES_MAX || p->bytes - p->at < bytes) {
    p->bad = true;
    bytes = 0;
  }
  char *text = malloc(bytes + 1u);
  if (!text) tmb_fatal_nopos("out of memory for a text of %u bytes", bytes);
  unpack_bytes(p, text, bytes);
  text[bytes] = '\0';
  return text;
}
