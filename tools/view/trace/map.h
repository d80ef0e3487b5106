/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: a hash table from 64-bit keys to indices.
 *
 * Owns: its two arrays, freed by view_map_free. Called by load.c and sums.c. Calls: libc.
 * Invariants: at most half full; linear probing; a table of zeros is empty.
 */
#ifndef TMB_TOOLS_VIEW_MAP_H
#define TMB_TOOLS_VIEW_MAP_H

#include <stddef.h>
#include <stdint.h>

struct view_map {
  uint64_t *key;
  uint32_t *value; /* index + 1; 0: the slot is free */
  size_t slots, used;
};

/*
 * The index of a key. in fresh: index for a new key, at most UINT32_MAX - 1. Returns the index; it
 * is `fresh` when the key was new. Ends the command when there is no memory.
 */
uint32_t view_map_index(struct view_map *map, uint64_t key, uint32_t fresh);

void view_map_free(struct view_map *map);

#endif
