/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorded order of a run: one file `rank.N` for each rank, and the memory that ranks share.
 *
 * Owns: their layout. Included by replay/runtime, which writes and reads them in each rank, and by
 * tools/replay. A file is a head of RPL_HEAD_BYTES and then groups of events of 16 bytes. A group
 * begins with RPL_SUMS_BYTES of the hashes of its blocks, but for the last block of the file, whose
 * hash is in the head. A file is mapped while it is written, and its count is raised after each
 * event, so it can be read up to the last event of a rank that has died. The file `sites.N` has a
 * line of text for each call of the program that has an event: number, name of the call, offset in
 * its module, hash of the line without it, path of the module. The threads that the program has
 * made have a file `rank.N.ID` each, and a line with the number 0, RPL_THREAD_FILE and ID in place
 * of the offset; a line with RPL_NO_ORDER says that their calls have none; the order in which those
 * of a rank take locks, send requests and take signals is in the files `locks.N`, `sends.N` and
 * `takes.N`. Invariants: numbers of sites begin at 1; positions of events never fall; one of the
 * two counts of a head holds for the events that are there, at any time.
 */
#ifndef TMB_REPLAY_LOG_H
#define TMB_REPLAY_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RPL_MAGIC        0x72706c34u
#define RPL_HEAD_BYTES   4096u
#define RPL_SUMS_BYTES   4096u
#define RPL_BLOCK_EVENTS 256u   /* that have one hash */
#define RPL_GROW_EVENTS  65536u /* of a group */
#define RPL_GROW_THREAD  4096u  /* of a group in the file of a thread */
#define RPL_PATH_BYTES   1024u
#define RPL_NAME_BYTES   48u

enum rpl_kind {
  RPL_REQUEST = 1, /* a handler of a request ran; arg: sender, detail: handler */
  RPL_REPLY,       /* that of a reply */
  RPL_RESULT,      /* of a call that may report "not yet"; arg: what it returned */
  RPL_INDEX,       /* of several events one is complete, or of several signals one; arg: index */
  RPL_VALUE,   /* a value that was read; arg: the lower 32 bits; detail: where a call has written
                  it, one more than the writes to the word's bucket since the last such value of
                  the word, else 0 */
  RPL_HIGH,    /* the upper 32 bits of the value before, where they are not zero */
  RPL_TICKET,  /* an operation on a word; arg: its number among those of the word's bucket */
  RPL_VERSION, /* behind a value whose writes are more; arg: writes to the word's bucket */
  RPL_LOSS,    /* the library reported a loss; arg: the rank, detail: its state */
  RPL_THREAD,  /* behind a handler that ran in another thread; arg: its ID */
  RPL_RAN,     /* of that thread: it ran the handler; arg: number of the event, modulo 2^32 */
  RPL_NUMBER,  /* behind a handler, and its thread: its message is not the one that its sender
                  has sent behind the last one of it that ran; arg: number of the message */
  RPL_TURN,    /* arg: ID of the thread, or RPL_ID_HANDLERS; run: how often; repeat: a failure */
  RPL_CUT, /* in no file, added when it is read: the rank was killed in this call or behind it */
  RPL_KINDS
};

#define RPL_BETWEEN 0x80u /* bit of kind: between two calls, after that of the position */

/* The position of an event is the call in which it happened: a run is a series of calls of the
 * same function; repeat counts its calls, and the locks taken behind them. So a loop that polls
 * memory changes repeat alone. */
struct rpl_event {
  uint32_t run, repeat; /* modulo 2^32; repeat stays at its largest value */
  uint32_t arg;
  uint16_t site; /* the call, 0: unknown */
  uint8_t kind, detail;
};

/* IDs of threads: the one that has started the job, and handlers, whoever runs them. */
#define RPL_ID_FIRST    0u
#define RPL_ID_HANDLERS 1u

/* Hash of bytes behind those of `h`: FNV-1a over words (draft-eastlake-fnv), each followed by a
 * shift, so that the upper bits reach the lower ones. It changes with each word that changes. */
static inline uint64_t rpl_hash(uint64_t h, const void *at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += sizeof h) {
    uint64_t word = 0;
    memcpy(&word, (const char *)at + i, bytes - i < sizeof word ? bytes - i : sizeof word);
    h = (h ^ word) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
  }
  return h;
}
#define RPL_HASH_START UINT64_C(0xcbf29ce484222325)

/* So many events there are, and the hash of those of the last block. */
struct rpl_count {
  uint64_t events, hash;
};

struct rpl_head {
  struct rpl_identity {
    uint32_t magic, event_bytes;
    uint32_t rank, ranks;
    uint32_t group;     /* events of a group */
    uint32_t thread;    /* ID of the thread, 0: the file is of the rank */
    char name[8];       /* of the file, without rank and thread */
    uint64_t recording; /* the same in all files of one */
  } is;
  struct rpl_count count[2]; /* one of those with more events holds; both if the file has ended */
  uint64_t ended;            /* rpl_end_mark: the rank has reached its end in good order; else 0 */
  struct rpl_reached {
    uint64_t at;    /* run above, repeat below: the call that has begun last */
    uint64_t again; /* its complement, written behind it */
  } reached;
};

/* The hash of a block without events. */
static inline uint64_t rpl_block_hash(const struct rpl_identity *is, uint64_t block) {
  return rpl_hash(rpl_hash(RPL_HASH_START, is, sizeof *is), &block, sizeof block);
}

static inline uint64_t rpl_end_mark(const struct rpl_count *last) {
  return rpl_hash(RPL_HASH_START, last, sizeof *last) | 1;
}

/* Whether the two words of a position belong together: of the same call, or, if the rank was killed
 * between the two, the second of the call before. */
static inline int rpl_reached_holds(const struct rpl_head *h) {
  const uint64_t at = h->reached.at, before = ~h->reached.again;
  if (at == before) return 1;
  return !h->ended && (at == before + 1 || at == ((before >> 32) + 1) << 32);
}

static inline uint64_t rpl_group_bytes(const struct rpl_identity *is) {
  return RPL_SUMS_BYTES + (uint64_t)is->group * sizeof(struct rpl_event);
}

/* Bytes of a file of so many events, without room for more. */
static inline uint64_t rpl_file_bytes(const struct rpl_identity *is, uint64_t events) {
  const uint64_t groups = (events + is->group - 1) / is->group;
  return RPL_HEAD_BYTES + groups * RPL_SUMS_BYTES + events * sizeof(struct rpl_event);
}

#define RPL_THREAD_FILE "thread"
#define RPL_NO_ORDER    "no_order"

/* The hash of a line of `sites.N`; in place: offset or ID; module: text without the end of line. */
static inline uint64_t rpl_site_hash(uint64_t recording, uint32_t rank, uint64_t number,
                                     const char *call, uint64_t place, const char *module) {
  const uint64_t words[4] = {recording, rank, number, place};
  uint64_t h = rpl_hash(RPL_HASH_START, words, sizeof words);
  h = rpl_hash(h, call, strlen(call) + 1);
  return rpl_hash(h, module, strlen(module) + 1);
}

/* A call of the program, or what took its place. */
struct rpl_place {
  char call[RPL_NAME_BYTES];
  char module[RPL_PATH_BYTES];
  uint64_t offset; /* of the return address in its module; 0: unknown */
  char detail[96]; /* what happened there, as text */
};

/* The event at which a rank has left the recorded order. */
struct rpl_deviation {
  uint32_t set;
  uint64_t event; /* its number in the rank, from 0 */
  struct rpl_place expected, found;
};

#define RPL_BUCKETS (1u << 16) /* of words that calls change; power of two */

/* Words of a bucket: how many atomic operations there were, and how many calls that write. */
struct rpl_bucket {
  uint32_t lock, count, writes;
};

#define RPL_TAKEN 1024u

/* A decision: its kind above RPL_CHAOS_SHIFT, its number below; as text a letter and the number. */
enum rpl_chaos_kind { RPL_CHAOS_DELAY, RPL_CHAOS_MESSAGE, RPL_CHAOS_RESULT };
#define RPL_CHAOS_KINDS  "dmr"
#define RPL_CHAOS_SHIFT  28
#define RPL_CHAOS_NUMBER ((UINT32_C(1) << RPL_CHAOS_SHIFT) - 1)

/* Decisions of a rank under --chaos that were taken, the first ones. */
struct rpl_taken {
  uint32_t count, number[RPL_TAKEN];
};

/* Where a rank of a replay stands. */
struct rpl_stand {
  uint32_t moves;  /* calls that it has begun, and events that it has taken */
  uint32_t steps;  /* of loops that wait: polls, and steps of a wait for a condition */
  uint32_t inside; /* a call or such a step is in progress */
};

struct rpl_rank {
  struct rpl_stand stand;
  struct rpl_deviation deviation;
  struct rpl_deviation cut; /* where its recording breaks off, once the replay is behind that */
  struct rpl_taken taken;
};

struct rpl_area {
  uint32_t magic, ranks;
  uint64_t bytes;
  uint64_t recording; /* see struct rpl_head */
  uint32_t only;      /* not 0: a rank stands in a debugger: others wait without a limit */
  uint32_t attached;  /* ranks that have mapped it; atomic */
  struct rpl_bucket bucket[RPL_BUCKETS];
  struct rpl_rank rank[]; /* [ranks] */
};

static inline uint64_t rpl_area_bytes(uint32_t ranks) {
  return (sizeof(struct rpl_area) + ranks * sizeof(struct rpl_rank) + 4095) & ~UINT64_C(4095);
}

#endif
