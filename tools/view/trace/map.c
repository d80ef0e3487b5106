/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: a hash table from 64-bit keys to indices, see map.h.
 *
 * Owns: nothing global. Called by load.c and sums.c. Calls: names.c for memory.
 * Invariants: keys are spread by the finaliser of splitmix64 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", 2014, doi:10.1145/2714064.2660195).
 */
#include "view/trace/map.h"
#include "view/trace/trace.h"

#include <stdlib.h>

static size_t slot_of(const struct view_map *map, uint64_t key) {
  uint64_t h = key + UINT64_C(0x9e3779b97f4a7c15);
  h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
  size_t at = (size_t)(h ^ h >> 31) & (map->slots - 1);
  while (map->value[at] && map->key[at] != key) at = (at + 1) & (map->slots - 1);
  return at;
}

static void widen(struct view_map *map) {
  const struct view_map old = *map;
  map->slots = old.slots ? old.slots * 2 : 64;
  map->key = view_zeroed(map->slots, sizeof *map->key);
  map->value = view_zeroed(map->slots, sizeof *map->value);
  for (size_t i = 0; i < old.slots; i++) {
    if (!old.value[i]) continue;
    const size_t at = slot_of(map, old.key[i]);
    map->key[at] = old.key[i];
    map->value[at] = old.value[i];
  }
  free(old.key);
  free(old.value);
}

uint32_t view_map_index(struct view_map *map, uint64_t key, uint32_t fresh) {
  if (map->used * 2 >= map->slots) widen(map);
  const size_t at = slot_of(map, key);
  if (!map->value[at]) {
    map->key[at] = key;
    map->value[at] = fresh + 1;
    map->used++;
  }
  return map->value[at] - 1;
}

void view_map_free(struct view_map *map) {
  free(map->key);
  free(map->value);
}
