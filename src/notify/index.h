/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Index of the signals of a range that may not be zero, so that WaitSome need not look at all.
 *
 * Owns: struct tmb_watch. Called by some.c (owner) and by whoever changes signals (producers,
 * message handlers). Calls nothing. Invariants: see index.c.
 */
#ifndef TMB_NOTIFY_INDEX_H
#define TMB_NOTIFY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Signals of this process, `stride` bytes apart. */
struct tmb_range {
  const char *sigs;
  size_t count, stride;
};

/* The first signal in [from, to) that is not zero; `to` when there is none. out value: its value.
 */
size_t tmb_range_scan(const struct tmb_range *r, size_t from, size_t to, uint64_t *value);

/* A range with an index; owner. */
struct tmb_watch;

/* The index of a range, made when it has none and there is room; NULL: there is none. It remains
 * that of the range until it is released. Any thread. */
struct tmb_watch *tmb_index_of(const struct tmb_range *r);
void tmb_index_release(struct tmb_watch *w);

/* Search for a signal that is not zero from *at, round to it again. On success *at is its place.
 * Returns false when the index names none. */
bool tmb_index_find(struct tmb_watch *w, size_t *at, uint64_t *value);

/* Look at the next `count` signals themselves, going round; enters the first that is not zero. */
void tmb_index_sweep(struct tmb_watch *w, size_t count);

/* The signal at `addr` of process jobrank, in its address space, has changed. Any thread. */
void tmb_index_mark(uint32_t jobrank, const void *addr);

#endif
