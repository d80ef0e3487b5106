/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that the checkers of a job share: what `tombolo run --check` makes and reads at the
 * end.
 *
 * Owns: its layout. Included by check/runtime, which is loaded into each rank, and by tools/check.
 * The launcher makes one file without a name, sparse, and names it in TOMBOLO_CHECK_AREA; each rank
 * maps it. All ranks are on one machine. Tables have a fixed place and grow by being touched:
 * accesses (a ring), pages of shadow found by (owner, page), synchronisation objects found by key,
 * sites, modules, findings. Invariants: indices begin at 1, so that zero memory is empty; words
 * that several ranks change are atomic or guarded by the lock that is named beside them; a rank
 * that dies with a lock stops nobody, because a lock is broken after CHK_LOCK_NS.
 */
#ifndef TMB_CHECK_AREA_H
#define TMB_CHECK_AREA_H

#include <stddef.h>
#include <stdint.h>

#define CHK_MAGIC        0x63686b31u
#define CHK_LOCK_NS      1000000000u /* a rank has waited so long before it looks for the owner */

#define CHK_MODULES      256u
#define CHK_PATH_BYTES   1024u
#define CHK_NAME_BYTES   (1u << 20)
#define CHK_SITES        (1u << 16)
#define CHK_ORIGINS      (1u << 16)
#define CHK_FINDINGS     1024u
#define CHK_ACCESSES     (1u << 18) /* newest accesses; older ones are forgotten; power of two */
#define CHK_PAGES        (1u << 20) /* pages of 4 KiB that have a shadow; power of two */
#define CHK_PAGE_BYTES   4096u
#define CHK_GRANULE      8u
#define CHK_CELLS        (CHK_PAGE_BYTES / CHK_GRANULE)
#define CHK_PARTS        32u /* of a page, whose granules are often alike */
#define CHK_PART         (CHK_CELLS / CHK_PARTS)
#define CHK_SLOTS        3u         /* accesses that a granule remembers */
#define CHK_SPILLS       16u        /* and a page, that found no room in their granules */
#define CHK_SYNC_BUCKETS (1u << 14) /* power of two */
#define CHK_SYNCS        (1u << 18)
#define CHK_SYNC_PUTS    16u
#define CHK_MESSAGES     3u         /* without an object, in a bucket */
#define CHK_PAST_MOST    (1u << 16) /* clocks that a rank keeps, at most; power of two */
#define CHK_PAST_BYTES   (1u << 28) /* those of all ranks take so much, at most */
#define CHK_PAST_RANKS   255u       /* jobs of more ranks keep none */
#define CHK_MET_RANKS    64u        /* jobs of more ranks do not say what all have met */
#define CHK_QUEUE        2048u      /* requests of a queue; power of two */
#define CHK_THREADS      64u        /* of a rank that have clocks */
#define CHK_COLUMNS      128u       /* threads of all ranks whose ticks others hear of */
#define CHK_NO_COLUMN    UINT16_MAX /* a thread that found no room */

/* Properties of an access. */
enum {
  CHK_WRITE = 1,
  CHK_ATOMIC = 2,
  CHK_LOCAL = 4,    /* by the program itself, or the local side of a transfer */
  CHK_TRANSFER = 8, /* has a completion: put, get, collective */
  CHK_SIGNALS = 16  /* a put with a signal, or the payload of a message */
};

#define CHK_OPEN UINT64_MAX

/* One access, or several that one line made between two synchronisations of its rank. */
struct chk_access {
  uint64_t number; /* in the ring, from 1; 0: none */
  uint32_t rank, site;
  uint64_t done;        /* clock of `rank` at completion, CHK_OPEN before */
  uint64_t accept;      /* clock of accept_rank since which it is ordered; CHK_OPEN: none */
  uint16_t accept_rank; /* waiter of the signal, or handler of the message */
  uint16_t owner;       /* rank whose memory it is */
  uint16_t flags;       /* CHK_WRITE... */
  uint8_t thread;       /* of `rank`, at completion; 0: before all that its rank does next */
  uint8_t accept_thread;
  uint64_t addr, bytes; /* of the newest access */
  uint32_t tick;        /* of the thread, at completion */
  uint32_t accept_tick;
};

/* A rank's report at a barrier: its accesses with lower numbers are complete at this clock. And its
 * process, see lock.c. */
struct chk_floor {
  uint64_t clock; /* CHK_OPEN while it changes */
  uint64_t number;
  uint64_t begun, space; /* of the process and its ID; 0: not known */
  uint32_t pid, unused[7];
};

/* What a rank says it has heard of, which it never forgets: complete accesses with numbers below
 * `number`, and those of each rank up to a clock, are before all that it does next. */
struct chk_met {
  uint64_t number;
  uint64_t clock[]; /* [ranks] */
};

/* A page that has a shadow. Until it is shared, its owner alone has accessed it, with loads, stores
 * and what was complete at once. */
struct chk_page {
  uint64_t key;    /* owner and page, + 1; 0: free */
  uint32_t shadow; /* index of its words, 0: none yet */
  uint32_t lock;   /* of this and of the shadow */
  uint8_t uniform, shared;
  uint8_t spills;               /* in use */
  uint32_t alike;               /* parts, a bit each */
  uint32_t more[CHK_SLOTS - 1]; /* parts whose granules have second, third words, a bit each */
};

/* A line of a rank, whose accesses need no record. */
struct chk_origin {
  uint32_t site;
  uint16_t rank, flags;
};

/* A word of a granule: number of the access in the upper 48 bits, bytes of the granule as a mask in
 * the next 8, flags. Or CHK_EPOCH, the clock of a rank and, in two parts, an origin in place of the
 * number; the flags are CHK_WRITE and CHK_ATOMIC. */
#define CHK_EPOCH             (UINT64_C(1) << 63)
#define CHK_EPOCH_CLOCK_SHIFT 26
#define CHK_EPOCH_CLOCK       (UINT64_MAX >> (CHK_EPOCH_CLOCK_SHIFT + 1)) /* the greatest */

/* The words of granules are in planes: the first ones of all pages, then the second ones, then the
 * third ones. The last plane has what ranks have given to granules, see word.c; 0: nothing. So a
 * page needs no memory for what its granules do not have, and neighbours share a cache line. A
 * plane begins some lines behind the last one's, so that one granule's words do not compete. */
#define CHK_SKEW              40u
#define CHK_PLANE             ((uint64_t)CHK_PAGES * CHK_CELLS + CHK_SKEW) /* words */
#define CHK_GIVEN             (CHK_SLOTS * CHK_PLANE)

/* What else the shadow of a page has. While it is uniform, `whole` holds for all granules; else
 * `part` holds for those of a part whose bit is set in `alike`. Where a bit of `more` is clear,
 * these words of the part mean nothing. */
struct chk_rest {
  uint64_t part[CHK_PARTS][CHK_SLOTS];
  uint64_t whole[CHK_SLOTS];
  struct chk_spill {
    uint64_t word;         /* 0: free */
    uint16_t first, count; /* granules */
  } spill[CHK_SPILLS];
  uint32_t oldest; /* of these */
};

/* The clock that ranks have given to a synchronisation object. Guarded by the lock of its bucket.
 */
struct chk_sync {
  uint64_t key;
  uint32_t next, left; /* in the bucket; members that have left a collective, or: puts were taken */
  uint32_t puts, site; /* given, until one is given after a take; of the last one that gave */
  uint64_t clock[];    /* [ranks], and then the numbers of CHK_SYNC_PUTS puts */
};

/* Clocks of ranks, and of threads of ranks that have several: what was given, or heard of. */
struct chk_clocks {
  uint64_t *rank; /* [ranks] */
  uint32_t *tick; /* [CHK_COLUMNS] */
};

/* `puts` of an object that is a block of shared memory, which is not freed: `site` has allocated
 * it, by the rank clock[0]. */
#define CHK_BLOCK UINT32_MAX

/* The clocks of a rank at its release with number `since`, and at those that follow, until the next
 * one. The last one of each rank has the maximum of all of them, and grows. */
struct chk_past {
  uint64_t since;   /* 0: it changes */
  uint64_t clock[]; /* [ranks] */
};

/* Requests from one rank to another, see runtime/queue.c. */
struct chk_queue {
  uint64_t taken; /* so many have come, or some more; by the target; atomic */
  uint64_t unused[7];
  struct chk_request {
    uint64_t given, form; /* see runtime/past.c; a hash of what the request is */
  } request[CHK_QUEUE];
};

/* Synchronisation objects whose keys end alike. Messages that need none are older than those that
 * have one; `given` of them: see past.c. */
struct chk_bucket {
  uint32_t lock, first;
  uint64_t key[CHK_MESSAGES], given[CHK_MESSAGES]; /* oldest first; key 0: none */
  uint32_t last;                                   /* object; 0: none */
} __attribute__((aligned(64)));

struct chk_site {
  uint32_t module, call; /* index; offset of the call's name */
  uint64_t offset;       /* of the return address in its module, as addr2line takes it */
};

/* Or the number of a line, with this bit: the module is a file of Python. */
#define CHK_SCRIPT (UINT64_C(1) << 63)

enum chk_kind { CHK_RACE, CHK_LEAK, CHK_MEMORY };

struct chk_finding {
  uint32_t kind, owner;
  uint32_t rank[2], site[2], flags[2];
  uint32_t thread[2]; /* of the rank, from 1 on; 0: not known, or no matter */
  uint64_t bytes[2];
  uint64_t addr, offset; /* of the first granule; in the segment, UINT64_MAX: outside */
  uint32_t open[2];      /* the transfer had not completed */
  uint32_t last;         /* where rank[1] last heard of rank[0], a site; 0: never */
  uint32_t what;         /* of a leak: offset of its name */
  uint32_t count;
};

struct chk_area {
  uint32_t magic, ranks;
  uint32_t attached; /* ranks that have mapped it; atomic */
  uint32_t refused;  /* of these, whose program is of another layout, see local.h; atomic */
  uint64_t bytes;
  uint32_t modules, sites, names, findings; /* in use */
  uint32_t pages, syncs, free_sync, lock;   /* in use; list of free ones; of modules...findings */
  uint32_t origins, unused;                 /* in use; atomic */
  uint64_t accesses;                        /* numbers given so far, in groups; atomic */
  uint64_t missed;                          /* accesses that found no room; atomic */
  uint64_t unkept;  /* findings behind the last that is kept, each time; under lock */
  uint64_t columns; /* in use, of threads; or more: there are no more; atomic */
  uint64_t where_module, where_name, where_site, where_origin, where_finding, where_access,
      where_floor, where_met, where_table, where_bucket, where_sync, where_past, where_queue,
      where_column, where_sync_tick, where_past_tick, where_rest, where_shadow, sync_bytes,
      past_bytes, past_count; /* clocks that a rank keeps; power of two, 0: none */
};

/* Number of clocks of `bytes` that each of these ranks keeps. */
static inline uint64_t chk_past_count(uint64_t ranks, uint64_t bytes) {
  uint64_t count = CHK_PAST_MOST;
  while (count * bytes * ranks > CHK_PAST_BYTES) count /= 2;
  return ranks > CHK_PAST_RANKS ? 0 : count;
}

/* Ticks of a synchronisation object, or of the clocks that a rank keeps. */
static const uint64_t chk_tick_bytes = CHK_COLUMNS * sizeof(uint32_t);

/* Give the tables of an area their places. Returns its size in bytes. */
static inline uint64_t chk_area_layout(struct chk_area *a, uint32_t ranks) {
  uint64_t at = 4096;
  const uint64_t up = 4095;
  a->magic = CHK_MAGIC;
  a->ranks = ranks;
  a->sync_bytes = sizeof(struct chk_sync) + (ranks + CHK_SYNC_PUTS) * sizeof(uint64_t);
  a->sync_bytes = (a->sync_bytes + 63) & ~UINT64_C(63);
  a->where_module = at;
  a->where_name = at += (uint64_t)CHK_MODULES * CHK_PATH_BYTES;
  a->where_site = at += CHK_NAME_BYTES;
  a->where_origin = at += ((uint64_t)CHK_SITES * sizeof(struct chk_site) + up) & ~up;
  a->where_finding = at += CHK_ORIGINS * sizeof(struct chk_origin);
  a->where_access = at += ((uint64_t)CHK_FINDINGS * sizeof(struct chk_finding) + up) & ~up;
  a->where_floor = at += (uint64_t)CHK_ACCESSES * sizeof(struct chk_access);
  a->where_met = at += (ranks * sizeof(struct chk_floor) + up) & ~up;
  const uint64_t met = ranks > CHK_MET_RANKS ? 0 : ranks;
  a->where_table = at += (met * (met + 1) * sizeof(uint64_t) + up) & ~up;
  a->where_bucket = at += (uint64_t)CHK_PAGES * sizeof(struct chk_page);
  a->where_sync = at += (uint64_t)CHK_SYNC_BUCKETS * sizeof(struct chk_bucket);
  a->past_bytes = sizeof(struct chk_past) + ranks * sizeof(uint64_t);
  a->past_count = chk_past_count(ranks, a->past_bytes);
  a->where_past = at += (CHK_SYNCS * a->sync_bytes + up) & ~up;
  a->where_queue = at += (ranks * a->past_bytes * (a->past_count + 1) + up) & ~up;
  const uint64_t queues = ranks > CHK_PAST_RANKS ? 0 : (uint64_t)ranks * ranks;
  a->where_column = at += (queues * sizeof(struct chk_queue) + up) & ~up;
  a->where_sync_tick = at += (ranks * CHK_THREADS * sizeof(uint16_t) + up) & ~up;
  a->where_past_tick = at += CHK_SYNCS * chk_tick_bytes;
  a->where_rest = at += (ranks * chk_tick_bytes * (a->past_count + 1) + up) & ~up;
  at += ((uint64_t)CHK_PAGES * sizeof(struct chk_rest) + up) & ~up;
  a->where_shadow = at += CHK_SKEW * sizeof(uint64_t);
  at += (CHK_SLOTS + 1) * CHK_PLANE * sizeof(uint64_t);
  a->bytes = (at + up) & ~up;
  a->names = a->sites = a->pages = a->syncs = a->origins = 1;
  return a->bytes;
}

static inline void *chk_at(struct chk_area *a, uint64_t where) {
  return (char *)a + where;
}

static inline struct chk_site *chk_site_at(struct chk_area *a, uint32_t site) {
  return (struct chk_site *)chk_at(a, a->where_site) + site;
}

static inline struct chk_finding *chk_finding_at(struct chk_area *a, uint32_t index) {
  return (struct chk_finding *)chk_at(a, a->where_finding) + index;
}

static inline struct chk_sync *chk_sync_at(struct chk_area *a, uint32_t index) {
  return (struct chk_sync *)chk_at(a, a->where_sync + index * a->sync_bytes);
}

static inline uint32_t *chk_ticks_at(struct chk_area *a, uint64_t where, uint64_t index) {
  return (uint32_t *)chk_at(a, where + index * chk_tick_bytes);
}

/* Of a thread of a rank its column, + 1; 0: none yet. */
static inline uint16_t *chk_column_at(struct chk_area *a, uint32_t rank, uint32_t thread) {
  return (uint16_t *)chk_at(a, a->where_column) + (uint64_t)rank * CHK_THREADS + thread;
}

static inline char *chk_name_at(struct chk_area *a, uint32_t name) {
  return (char *)chk_at(a, a->where_name) + name;
}

static inline char *chk_module_at(struct chk_area *a, uint32_t module) {
  return (char *)chk_at(a, a->where_module) + (size_t)module * CHK_PATH_BYTES;
}

#endif
