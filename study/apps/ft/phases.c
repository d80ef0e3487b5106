/* SPDX-License-Identifier: BSD-3-Clause */
/* The stopwatch of phases.h and the names of the phases.
 * Called everywhere in the solver, about three times a tile of the transforms; calls clock_gettime.
 * Invariant: the sum of seconds[] is the time from start to the last change.
 */
#include "phases.h"

#include <time.h>

static const struct {
  const char *title, *key;
} names[FT_PHASES] = {
    [FT_SETUP] = {"initial data", "setup"},
    [FT_FFT] = {"local FFT", "fft"},
    [FT_EVOLVE] = {"evolve", "evolve"},
    [FT_MOVE] = {"in-memory movement", "movement"},
    [FT_COMM] = {"communication", "communication"},
    [FT_SYNC] = {"synchronisation", "synchronisation"},
    [FT_CHECKSUM] = {"checksum", "checksum"},
};

double ft_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ft_phases_start(struct ft_phases *phases, enum ft_phase first) {
  *phases = (struct ft_phases){.since = ft_now(), .current = first};
}

void ft_phases_enter(struct ft_phases *phases, enum ft_phase next) {
  double now = ft_now();
  phases->seconds[phases->current] += now - phases->since;
  phases->since = now;
  phases->current = next;
}

const char *ft_phase_title(enum ft_phase phase) {
  return names[phase].title;
}

const char *ft_phase_key(enum ft_phase phase) {
  return names[phase].key;
}
