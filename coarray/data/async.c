/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous transfers: the object behind a handle.
 *
 * Owns: the table of transfers in progress. Called by notified.c, which begins them, by Fortran
 * programs through the module tombolo_caf, and by image control, which completes all. Calls: events
 * of the layer. Invariants: a handle is 0 or the number of a slot and the generation in which it
 * was given; a handle of an earlier generation is done, so it may be waited for any number of
 * times, and copied.
 */
#include "data/pending.h"
#include "inside.h"

#include <stdlib.h>

CAF_EXPORT void tombolo_caf_async_wait(int64_t *handle);
CAF_EXPORT bool tombolo_caf_async_test(int64_t *handle);

struct slot {
  gex_Event_t event;
  void *memory; /* malloc'ed, freed when done */
  uint32_t generation;
  bool busy;
};

static struct {
  struct slot *slot; /* [count] */
  uint32_t count, busy;
} table;

static void finish(struct slot *s) {
  free(s->memory);
  s->memory = NULL;
  s->busy = false;
  s->generation++;
  table.busy--;
}

/* A slot that is free, NULL: no memory for more. */
static struct slot *find_free(void) {
  for (uint32_t i = 0; table.busy < table.count && i < table.count; i++)
    if (!table.slot[i].busy) return &table.slot[i];
  const uint32_t count = table.count ? 2 * table.count : 16;
  struct slot *more = realloc(table.slot, count * sizeof *more);
  if (!more) return NULL;
  for (uint32_t i = table.count; i < count; i++) more[i] = (struct slot){.generation = 1};
  table.slot = more;
  table.count = count;
  return &more[count / 2 < 16 ? 0 : count / 2];
}

int64_t caf_async_add(gex_Event_t event, void *memory) {
  struct slot *s = event == GEX_EVENT_INVALID ? NULL : find_free();
  if (!s) {
    gex_Event_Wait(event);
    free(memory);
    return 0;
  }
  s->event = event;
  s->memory = memory;
  s->busy = true;
  table.busy++;
  caf.pending |= CAF_UNDER_WAY;
  return (int64_t)((uint64_t)s->generation << 32 | (uint32_t)(s - table.slot + 1));
}

void caf_async_complete(void) {
  for (uint32_t i = 0; table.busy && i < table.count; i++) {
    if (!table.slot[i].busy) continue;
    gex_Event_Wait(table.slot[i].event);
    finish(&table.slot[i]);
  }
}

/* The transfer of a handle, NULL: it is done. */
static struct slot *in_flight(int64_t handle) {
  const uint32_t index = (uint32_t)handle - 1, generation = (uint32_t)((uint64_t)handle >> 32);
  if (handle == 0 || index >= table.count) return NULL;
  struct slot *s = &table.slot[index];
  return s->busy && s->generation == generation ? s : NULL;
}

void tombolo_caf_async_wait(int64_t *handle) {
  CAF_INSIDE;
  struct slot *s = in_flight(*handle);
  *handle = 0;
  if (!s) return;
  gex_Event_Wait(s->event);
  finish(s);
}

bool tombolo_caf_async_test(int64_t *handle) {
  CAF_INSIDE;
  struct slot *s = in_flight(*handle);
  if (s) {
    caf_poll();
    if (gex_Event_Test(s->event) != GASNET_OK) return false;
    finish(s);
  }
  *handle = 0;
  return true;
}
