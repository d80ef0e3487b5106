/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a run goes. A stopwatch that is always in exactly one phase: entering a phase
 * charges the time since the last change to the phase that is left, so the phases add up to the
 * whole run and cost one clock read a change. Owned by the solver of a rank; written by that rank
 * only.
 */
#ifndef FT_PHASES_H
#define FT_PHASES_H

enum ft_phase {
  FT_SETUP,    /* making the initial data */
  FT_FFT,      /* one-dimensional transforms in local memory */
  FT_EVOLVE,   /* multiplying the spectrum by the decay factors */
  FT_MOVE,     /* copies inside a rank: transposes, pack, unpack, own piece of an exchange */
  FT_COMM,     /* starting puts and waiting for their completion */
  FT_SYNC,     /* waiting for other ranks: arrival of data, barriers, reductions */
  FT_CHECKSUM, /* adding up the points of the checksum */
  FT_PHASES
};

struct ft_phases {
  double seconds[FT_PHASES];
  double since; /* clock at the last change, in seconds */
  enum ft_phase current;
};

/* Seconds of a monotonic clock. */
double ft_now(void);

/* Clears the totals and starts in phase `first`. */
void ft_phases_start(struct ft_phases *phases, enum ft_phase first);

/* Leaves the current phase for `next` (entering the current one again is harmless). */
void ft_phases_enter(struct ft_phases *phases, enum ft_phase next);

/* Name of a phase for tables ("local FFT"), and a one-word name for files ("fft"). */
const char *ft_phase_title(enum ft_phase phase);
const char *ft_phase_key(enum ft_phase phase);

#endif
