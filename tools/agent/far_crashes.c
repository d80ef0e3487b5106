/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Crashes of ranks of other hosts, see far_crashes.h.
 *
 * Owns: nothing. Called as far_crashes.h says. Calls: tree, link, boot/explain/crashes. A frame has
 * the text, then the number of each rank. Invariants: what has come is taken for no rank unchecked;
 * the limit is below ENDING_S of tree.c, after which the launcher leaves a silent agent.
 */
#include "agent/far_crashes.h"

#include "base/log.h"
#include "boot/explain/crashes.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT_MS  4000
#define KINDS_MAX 64 /* texts; more are printed as they come */

static void send_one(void *arg, uint32_t size, const pid_t *ranks, const char *text) {
  struct tree *t = arg;
  struct pack p = {0};
  pack_text(&p, text);
  for (uint32_t r = 0; r < size; r++)
    if (ranks[r]) pack_u32(&p, r);
  link_send(&t->up,
            (struct frame){.type = FRAME_CRASH, .bytes = (uint32_t)p.bytes, .data = p.data});
  pack_free(&p);
}

void far_crashes_send(struct tree *t) {
  if (t->launch) tmb_crashes_each(t->launch->ctl, LIMIT_MS, send_one, t);
}

/* The entry of a text, a new one if need be; NULL: there are too many. Takes over the text. */
static struct far_crash *entry_of(struct far_crashes *all, uint32_t size, char *text) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (strcmp(all->list[i].text, text) != 0) continue;
    free(text);
    return &all->list[i];
  }
  if (!all->list) all->list = calloc(KINDS_MAX, sizeof *all->list);
  pid_t *ranks = calloc(size, sizeof *ranks);
  if (!all->list || !ranks) tmb_fatal_nopos("out of memory for a crash of %u ranks", size);
  if (all->count == KINDS_MAX) far_crashes_print(all, size);
  struct far_crash *made = &all->list[all->count++];
  *made = (struct far_crash){.text = text, .ranks = ranks};
  return made;
}

void far_crashes_keep(struct far_crashes *all, uint32_t size, const struct frame *f) {
  struct pack p = pack_reader(f->data, f->bytes);
  char *text = unpack_text(&p);
  if (p.bad) {
    free(text);
    return;
  }
  struct far_crash *entry = entry_of(all, size, text);
  while (!p.bad && p.at < p.bytes) {
    const uint32_t rank = unpack_u32(&p);
    if (!p.bad && rank < size) entry->ranks[rank] = 1;
  }
}

void far_crashes_print(struct far_crashes *all, uint32_t size) {
  for (uint32_t i = 0; i < all->count; i++) {
    tmb_crash_print(NULL, size, all->list[i].ranks, all->list[i].text);
    free(all->list[i].text);
    free(all->list[i].ranks);
  }
  all->count = 0;
}
