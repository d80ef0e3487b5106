/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo run --bind`: which processors each rank gets.
 *
 * Owns: nothing. Called by run.c. Calls: libc, /sys (siblings of a hardware thread).
 * With at least as many cores as ranks every rank gets an equal number of whole cores, with all of
 * their hardware threads; with fewer cores but enough hardware threads, one thread each, first
 * threads of all cores before second ones. Invariants: only processors of our own affinity mask are
 * given out, none of them twice.
 */
#define _GNU_SOURCE
#include "ranks/run.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

struct cpu {
  int number;
  int core;   /* lowest usable hardware thread of this core */
  int thread; /* place among the usable threads of its core */
};

/* Usable hardware threads of the core that `number` belongs to. */
static void read_siblings(int number, const cpu_set_t *usable, cpu_set_t *siblings) {
  char path[96];
  CPU_ZERO(siblings);
  CPU_SET(number, siblings);
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
           number);
  FILE *file = fopen(path, "re");
  if (!file) return;
  int first, last;
  while (fscanf(file, "%d", &first) == 1) {
    int separator = getc(file);
    last = first;
    if (separator == '-') {
      if (fscanf(file, "%d", &last) != 1) break;
      separator = getc(file);
    }
    for (int i = first; i <= last && i < CPU_SETSIZE; i++)
      if (i >= 0 && CPU_ISSET(i, usable)) CPU_SET(i, siblings);
    if (separator != ',') break;
  }
  fclose(file);
}

/* Lists the usable processors by (thread, number). Returns how many; out cores: how many cores. */
static uint32_t list_cpus(struct cpu *list, uint32_t *cores) {
  cpu_set_t usable, siblings;
  uint32_t count = 0;
  *cores = 0;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return 0;
  for (int number = 0; number < CPU_SETSIZE; number++) {
    if (!CPU_ISSET(number, &usable)) continue;
    read_siblings(number, &usable, &siblings);
    struct cpu *cpu = &list[count++];
    *cpu = (struct cpu){.number = number, .core = number};
    for (int i = 0; i < number; i++) {
      if (!CPU_ISSET(i, &siblings)) continue;
      if (cpu->thread++ == 0) cpu->core = i;
    }
    if (cpu->thread == 0) ++*cores;
  }
  return count;
}

static int by_thread(const void *a, const void *b) {
  const struct cpu *x = a, *y = b;
  if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
  return x->number < y->number ? -1 : 1;
}

cpu_set_t *run_bind_plan(uint32_t ranks) {
  struct cpu *list = calloc(CPU_SETSIZE, sizeof *list);
  cpu_set_t *plan = calloc(ranks, sizeof *plan);
  if (!list || !plan) {
    tmb_warn("run: not binding ranks to processors: out of memory");
    goto fail;
  }
  uint32_t cores;
  const uint32_t count = list_cpus(list, &cores);
  if (count < ranks) {
    tmb_warn("run: not binding: %u ranks, but only %u usable processors", ranks, count);
    goto fail;
  }
  qsort(list, count, sizeof *list, by_thread);
  if (cores < ranks) {
    for (uint32_t r = 0; r < ranks; r++) CPU_SET(list[r].number, &plan[r]);
  } else {
    const uint32_t share = cores / ranks; /* list[0..cores) are the cores' first threads */
    for (uint32_t c = 0; c < share * ranks; c++)
      for (uint32_t i = 0; i < count; i++)
        if (list[i].core == list[c].core) CPU_SET(list[i].number, &plan[c / share]);
  }
  free(list);
  return plan;
fail:
  free(list);
  free(plan);
  return NULL;
}
