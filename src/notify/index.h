/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Index of a range of signals: which of them may be other than zero, so that gexx_Signal_WaitSome
 * need not read them all.
 *
 * Owns: struct tmb_signal_index. Called by some.c (owner) and by whoever changes signals
 * (producers, message handlers). Calls nothing. Invariants: see index.c.
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
struct tmb_signal_index;

/* The index of a range, made now when the range has none. NULL when no index is free or the
 * conduit does not announce changes: then the caller reads all signals. The index stays with this
 * range until tmb_index_release. Any thread. */
struct tmb_signal_index *tmb_index_of(const struct tmb_range *r);
void tmb_index_release(struct tmb_signal_index *w);

/* Search for a signal that is not zero: from *at to the end of the range, then from its
 * beginning to *at. Returns true with its index in *at and its value in *value; false when the
 * index has no mark of one. */
bool tmb_index_find(struct tmb_signal_index *w, size_t *at, uint64_t *value);

/* Read the next `count` signals after those of the previous call, starting over at the end of
 * the range, and mark the first that is not zero. This finds signals that were changed by plain
 * stores, which set no mark. */
void tmb_index_sweep(struct tmb_signal_index *w, size_t count);

/* The signal at `addr` of process jobrank, in its address space, has changed. Any thread. */
void tmb_index_mark(uint32_t jobrank, const void *addr);

#endif
