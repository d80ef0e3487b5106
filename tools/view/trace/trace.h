/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: a trace in memory, and sums about it.
 *
 * Owns: the types that loading, analysis and output share. Included by tools/view. Calls: nothing.
 * Invariants: after view_arrange events are sorted by track, then by start, an enclosing one before
 * those in it; the pieces of a track lie one behind the other without a gap from its begin to its
 * end, and name the innermost event. Times are nanoseconds since the first event of the trace.
 */
#ifndef TMB_TOOLS_VIEW_TRACE_H
#define TMB_TOOLS_VIEW_TRACE_H

#include "base/container/hash.h"
#include "view/trace/json.h"

#define VIEW_NONE UINT32_MAX  /* no event, no rank, no name */
#define VIEW_MARK INT64_C(-1) /* duration of a moment */

/* Kind of an event. The order is that of kind_rows in kinds.c and of the page. */
enum view_kind {
  VIEW_REGION,
  VIEW_STATEMENT,
  VIEW_PUT,
  VIEW_GET,
  VIEW_MESSAGE,
  VIEW_ATOMIC,
  VIEW_SIGNAL,
  VIEW_HANDLER,
  VIEW_COLLECTIVE,
  VIEW_WAIT,
  VIEW_PACKET,
  VIEW_KINDS
};

/* Activity of a thread at a moment: the state of its innermost event. */
enum view_state { VIEW_COMPUTES, VIEW_SENDS, VIEW_HANDLES, VIEW_COLLECTS, VIEW_WAITS, VIEW_STATES };

struct view_event {
  int64_t start, duration; /* VIEW_MARK: a moment */
  int64_t ended;           /* end of the action that ended the wait; VIEW_MARK: not said */
  uint64_t bytes;
  uint32_t track, name, detail; /* detail: its subject: object, source line, purpose of the wait */
  uint32_t peer;                /* rank: the other side, or who ended it */
  uint32_t team, instance;      /* of a collective: name of the team; number, from 1, 0: not said */
  uint8_t kind, depth;
  bool by_peer; /* the file says that `peer` ended it */
};

/* From the event that sends to the one that sees it: a wait, or a handler. */
struct view_arrow {
  uint32_t from, to; /* events */
};

struct view_piece {
  int64_t start, end;
  uint32_t event;  /* innermost, VIEW_NONE: none */
  uint32_t region; /* name of the innermost region around it, VIEW_NONE: none */
  uint8_t state;
};

/* One thread of a rank. */
struct view_track {
  uint32_t rank, thread;
  uint32_t name;  /* VIEW_NONE: not said */
  uint32_t first; /* its events: count of them from this one on */
  uint32_t count;
  uint32_t piece, pieces; /* its pieces */
  uint32_t open;          /* while loading: the innermost region that has begun */
};

struct view_rank {
  uint32_t number;     /* as the library counts */
  uint32_t label;      /* name, as "rank 3" */
  uint32_t host;       /* name; VIEW_NONE: not said */
  uint32_t processors; /* of its host; 0: not said */
  uint32_t main;       /* its track that the analysis follows */
  int64_t pid;         /* in the file */
  uint64_t lost;       /* events that the recorder had no room for */
};

struct view_names {
  char **text;
  size_t count, room;
  struct tmb_hash index; /* by text */
};

/* An end of an arrow, before the events are sorted. */
struct view_point {
  uint64_t id;
  int64_t at;
  uint32_t track;
  bool sends, encloses;
};

struct view_trace {
  struct view_event *event;
  struct view_track *track;
  struct view_rank *rank;
  struct view_arrow *arrow;
  struct view_piece *piece;
  struct view_point *point;
  size_t events, tracks, ranks, arrows, pieces, points;
  size_t event_room, track_room, rank_room, arrow_room, piece_room, point_room;
  struct view_names names;
  struct tmb_hash rank_by_pid, track_by_ids; /* while loading */
  uint32_t program;                          /* name: its command line; VIEW_NONE: not said */
  int64_t zero;                              /* time of the first event in the file */
  int64_t span;                              /* from the first begin to the last end */
  uint64_t unused;                           /* events of the file that could not be used */
  uint32_t *parent;                          /* [events]: the event around it, VIEW_NONE: none */
  uint32_t *arrow_of; /* [events]: the arrow that ends in it and was sent last, VIEW_NONE: none */
  uint32_t guessed;   /* arrows that the file does not have, see guess.c */
};

/* names.c: one index for each text. view_name gives the index of a new or known text. */
uint32_t view_name(struct view_names *names, const char *text, size_t bytes);
const char *view_text(const struct view_trace *t, uint32_t name);
void view_names_free(struct view_names *names);

/* The index of a key in a table, which the key gets as `fresh` where it is new: then the index is
 * that. Ends the command when there is no memory. */
uint32_t view_index(struct tmb_hash *map, uint64_t key, uint32_t fresh);

/* Make room for one more. in array, room: of elements of `bytes`. Returns the array; ends the
 * command when there is no memory. */
void *view_more(void *array, size_t count, size_t *room, size_t bytes);
void *view_zeroed(size_t count, size_t bytes);

/* qsort that takes an array without elements, which may be NULL. */
void view_sort(void *array, size_t count, size_t bytes, int (*order)(const void *, const void *));

/* load.c: add the events of a file's text to `t`. out why: the fault, [VIEW_WHY_BYTES]. Returns 0
 * or -1. A text that ends early, as after a crash, is no error. */
#define VIEW_WHY_BYTES 256
int view_load(struct view_trace *t, const char *text, size_t bytes, char *why);

/* arrange.c: sort, nest, bind arrows, cut pieces. Call it once, behind all view_load. */
void view_arrange(struct view_trace *t);
void view_trace_free(struct view_trace *t);

/* guess.c: add an arrow to each wait that says who ended it, and to each handler that says who sent
 * the message, when the file has none for it. Called by view_arrange. */
void view_guess_arrows(struct view_trace *t);
void view_add_arrow(struct view_trace *t, uint32_t from, uint32_t to);

/* kinds.c */
const char *view_kind_name(uint32_t kind);
const char *view_state_name(uint32_t state); /* "computes" */
enum view_kind view_kind_of(struct view_span category);
enum view_state view_state_of(uint32_t kind);
bool view_kind_sends(uint32_t kind);

static inline int64_t view_end(const struct view_event *e) {
  return e->start + (e->duration > 0 ? e->duration : 0);
}

static inline uint32_t view_event_rank(const struct view_trace *t, uint32_t event) {
  return t->track[t->event[event].track].rank;
}

#endif
