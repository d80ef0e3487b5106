/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * On which processor a thread waits: ranks that talk to each other are kept apart.
 *
 * Owns: declarations of place.c. Called by waits, and by collectives about caches. Calls: os.
 * Invariants: a thread asks for another processor at most once in MOVE_EVERY_NS, and never leaves
 * the processors that its launcher or user allows; where yields do not pay, they take at most a
 * sixteenth of its time.
 */
#ifndef TMB_CORE_PLACE_H
#define TMB_CORE_PLACE_H

#include "boot/boot.h"

#include <stdbool.h>

/* The number of the processor, modulo their count, that belongs to a rank where there is one for
 * each. Hosts begin at different ones: namespaces of one machine are hosts that share it. */
static inline uint32_t tmb_place_home(const struct tmb_boot *boot) {
  const uint32_t before = boot->here == boot->size ? 0 : boot->places.host * boot->here;
  return before + boot->here_index;
}

/* Processors that a rank may use, one bit each: as many as cpu_set_t has. Chosen. */
#define TMB_PLACE_BYTES 128

/* A rank's report about its processors. */
struct tmb_place_rank {
  const uint8_t *bits; /* [TMB_PLACE_BYTES] those that it may use; ranks may share an array */
  uint32_t cpu;        /* that which runs it now */
  double quota;        /* processors that its cgroup may use at a time; 0: no limit */
  uint64_t kernel;     /* tmb_os_kernel; 0: not known, or all ranks are here */
};

/* Where the ranks of a machine are to run. */
struct tmb_place_plan {
  uint32_t cpus; /* processors that they may use together */
  uint32_t home; /* of this rank: index in its mask, modulo their number */
  bool spread;   /* ranks go to their homes: two share a processor, or they need most of them */
  bool crowded;  /* they outnumber the processors, or what a cgroup of one of them allows. Equal on
                    all ranks: barriers and collectives depend on it */
};

/* This process's report. in kernel: whether ranks of other hosts may run on it. in bits:
 * [TMB_PLACE_BYTES] room for its processors. */
void tmb_place_rank_read(struct tmb_place_rank *mine, bool kernel, uint8_t *bits);

/* in ranks: [count] those of this machine, in the order of their numbers; in mine: index of this
 * one. The homes of ranks with the same mask follow each other from the processor of the first
 * one, so two jobs of one machine begin at different ones. Equal data give equal answers on all
 * ranks. */
struct tmb_place_plan tmb_place_plan(const struct tmb_place_rank *ranks, uint32_t count,
                                     uint32_t mine);

/* Whether the ranks of the kernel that runs rank `mine` outnumber the processors that they may use
 * together, on whatever hosts they are: containers and namespaces are hosts that share processors.
 * in ranks: [count] of the job. False where the kernel is not known. */
bool tmb_place_outnumber(const struct tmb_place_rank *ranks, uint32_t count, uint32_t mine);

/* Of `here` ranks that may use so many processors together, those that run on `sharers` of them, at
 * most: they share a cache. */
uint32_t tmb_place_beside(uint32_t here, uint32_t cpus, uint32_t sharers);

/* Collective: say whether ranks outnumber processors, and find this rank's home. */
int tmb_place_init(void);

/*
 * Go to this rank's home, if ranks are to be spread. Ranks that have just been forked, or woken by
 * one that ends a barrier, may share a processor, and the kernel needs some 50 ms to part them. The
 * mask stays as it is. Called at the end of set-up calls. Cost: two system calls if the rank is
 * there already, and otherwise a migration.
 */
void tmb_place_begin(void);

/*
 * Give the processor away, unless that was lately, again and again, to processes that compute: for
 * each yield the kernel charges a whole turn, so a thread that goes on yielding beside such
 * processes comes last again and again, but one that sleeps comes soon after it was woken. Returns
 * whether it yielded; if not, the caller sleeps next. Cost: two reads of the clock and a system
 * call.
 */
bool tmb_place_yield(void);

/* Count a turn of this rank that ends without a yield, for others that yield on this processor. */
void tmb_place_turn(void);

/* Whether yields of this thread went to processes that compute, so that waits sleep without
 * yielding for a time. Then a spin takes the processor from them, too, who keep it as long when
 * their turn comes, whether this rank or the one that it waits for needs it. */
bool tmb_place_is_busy(void);

/* Whether this thread's last yield ran a thread that soon gave the processor back, because it
 * waits, too. So this thread shares its processor, perhaps with the rank that it waits for. */
bool tmb_place_shared(void);

/* Whether this thread may use one processor only, on which other ranks have their turns: nobody can
 * end a wait while it spins. Yields tell, also where it was bound after the start. */
bool tmb_place_confined(void);

/* Find that out by a yield, where processors are enough for the ranks. Returns tmb_place_confined.
 */
bool tmb_place_ask(void);

/* A wait is over or has made progress. in yielded: its last step was a yield. */
void tmb_place_learn(bool yielded);

#endif
