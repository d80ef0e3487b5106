/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the installed gasnet_tools.h alone: time must go on, an atomic must count. */
#include <gasnet_tools.h>

#include <stdio.h>

int main(void) {
  gasnett_tick_t start = gasnett_ticks_now();
  gasnett_atomic_t counter = gasnett_atomic_init(0);
  for (int i = 0; i < 1000; i++) gasnett_atomic_increment(&counter, 0);
  gasnett_nsleep(1000000);
  uint64_t ns = gasnett_ticks_to_ns(gasnett_ticks_now() - start);
  if (gasnett_atomic_read(&counter, 0) != 1000 || ns < 1000000) {
    printf("tools client: counter %u, %lu ns\n", (unsigned)gasnett_atomic_read(&counter, 0),
           (unsigned long)ns);
    return 1;
  }
  printf("tools client: ok\n");
  return 0;
}
