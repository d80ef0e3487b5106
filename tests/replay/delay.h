/* SPDX-License-Identifier: BSD-3-Clause */
/* Random delays of programs that are recorded. */
#ifndef REPLAY_DELAY_H
#define REPLAY_DELAY_H

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* Wait for a random time, at most so many microseconds. */
static inline void delay(unsigned most_us) {
  unsigned r = 0;
  if (getrandom(&r, sizeof r, 0) != sizeof r) abort();
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_nsec += (long)(r % (most_us + 1)) * 1000;
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - end.tv_sec) * 1000000000L + now.tv_nsec - end.tv_nsec < 0);
}

#endif
