/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: findings of the analysis in a trace.
 *
 * Owns: the types between analysis and output. Included by tools/view. Calls: nothing.
 * Invariants: ranks are indices into view_trace.rank; times are nanoseconds; all of a rank's
 * numbers are about its main track unless a field says otherwise. docs/OBSERVE.md defines the
 * terms (late sender, transfer, late receiver, ready, overlap, critical path) for readers.
 */
#ifndef TMB_TOOLS_VIEW_REPORT_H
#define TMB_TOOLS_VIEW_REPORT_H

#include "view/trace/trace.h"

#define VIEW_TOP     4u   /* reasons that are kept of one kind */
#define VIEW_BINS    128u /* of a histogram: two for each doubling */

/* A wake-up that takes longer has waited for a processor: on a free one a rank runs again well
 * before (`tombolo bench wake`). */
#define VIEW_WAKE_NS INT64_C(100000)

/* Where the time of a rank goes. */
struct view_share {
  int64_t begin, end, ns[VIEW_STATES];
  int64_t flight, overlapped; /* some transfer of it was in progress; it computed meanwhile */
  uint64_t sent_count, sent_bytes, received_count, received_bytes;
};

/* The largest sums by name or rank; a new one without room replaces the least. */
struct view_top {
  uint32_t key[VIEW_TOP];
  int64_t ns[VIEW_TOP];
  uint32_t used;
};

/* Time that one rank lost by waiting for another one, by the kind of event that ended the waits. */
struct view_blame {
  uint32_t waiter, culprit;
  uint32_t kind;  /* enum view_kind: of the operation; VIEW_COLLECTIVE: it came last */
  uint32_t count; /* waits */
  uint32_t late_count;
  uint32_t own;      /* waits for operations of the waiter, whose target the culprit is */
  int64_t waited;    /* all of it */
  int64_t late;      /* before the culprit began the operation */
  int64_t processor; /* behind its end: the waiter had no processor */
  int64_t transfer;  /* the rest */
  int64_t while_late[VIEW_STATES]; /* the culprit's activity in `late` */
  struct view_top regions;         /* it computed in these */
  struct view_top ranks;           /* it waited for these */
};

/* Messages whose handler ran late, and data that lay ready, by sender and receiver. */
struct view_delay {
  uint32_t sender, receiver, count;
  int64_t handler; /* the message was there, and the receiver computed */
  int64_t ready;   /* the data were sent before the receiver began to wait */
};

struct view_histogram {
  uint64_t count[VIEW_BINS]; /* bin b: from 2^(b/2) up to 2^((b+1)/2); 0 is in bin 0 */
  uint64_t total;
  double sum;
};

enum view_size { VIEW_SIZE_PUT, VIEW_SIZE_GET, VIEW_SIZE_MESSAGE, VIEW_SIZE_OTHER, VIEW_SIZES };
enum view_latency { VIEW_LATENCY_ARROW, VIEW_LATENCY_WAIT, VIEW_LATENCY_OPERATION, VIEW_LATENCIES };

/* A stretch of the critical path; it goes backwards in time from one to the next. */
struct view_step {
  uint32_t rank; /* where it is */
  uint32_t from; /* VIEW_NONE: work of the rank; else a transfer from this rank */
  uint32_t kind; /* of the transfer */
  int64_t start, end;
};

struct view_path {
  struct view_step *step;
  size_t steps, room;
  int64_t length, transfer, state[VIEW_STATES];
  int64_t *on_rank; /* [ranks]: without transfers */
  struct view_top regions;
};

/* One collective: the last rank, and the cost of its lateness. */
struct view_meeting {
  uint32_t name, count; /* count: how often */
  uint32_t *last;       /* [ranks]: how often each came last */
  int64_t waited;       /* of all ranks, until the last one came */
  int64_t inside;       /* of all ranks, all of it */
  int64_t processor;    /* of all ranks, the part of `inside` without a processor */
};

struct view_advice {
  char *text;
  char *title;
  int64_t weight; /* time that it is about; the list is sorted by it */
};

struct view_report {
  struct view_share *share; /* [ranks] */
  bool *crowded;            /* [ranks]: its host has more ranks than processors */
  uint64_t *count, *bytes;  /* [ranks * ranks]: from sender to receiver of the data */
  struct view_blame *blame; /* sorted by waited, the largest first */
  size_t blames, blame_room;
  struct tmb_hash blame_index, delay_index; /* until the tables are sorted */
  struct view_delay *delay;                 /* sorted by handler + ready */
  size_t delays, delay_room;
  struct view_meeting *meeting;
  size_t meetings, meeting_room;
  struct view_histogram size[VIEW_SIZES], latency[VIEW_LATENCIES];
  struct view_path path;
  struct view_advice *advice;
  size_t advices, advice_room;
  int64_t typical;      /* usual time from an operation to a wait that was there before it */
  uint64_t unexplained; /* waits of which nothing says who ended them */
  int64_t unexplained_ns;
};

/* measure.c: shares, matrix, histograms. overlap.c: transfers hidden by computation. */
void view_measure(const struct view_trace *t, struct view_report *r);
void view_overlap(const struct view_trace *t, struct view_report *r);
uint32_t view_bin(double value);
double view_quantile(const struct view_histogram *h, double q);

/* processor.c: fill in `crowded`. view_add_blame: add a wait or a collective of event `e`, of which
 * `late` passed before the culprit began, and whose data were there from `ready` on. */
void view_find_crowded(const struct view_trace *t, struct view_report *r);
void view_add_blame(const struct view_trace *t, const struct view_report *r, struct view_blame *b,
                    const struct view_event *e, int64_t late, int64_t ready);

/* blame.c: waits. meet.c: collectives. sums.c: the tables of both. */
void view_find_waits(const struct view_trace *t, struct view_report *r);
void view_find_meetings(const struct view_trace *t, struct view_report *r);
struct view_blame *view_blame_of(struct view_report *r, uint32_t waiter, uint32_t culprit,
                                 uint32_t kind);
struct view_delay *view_delay_of(struct view_report *r, uint32_t sender, uint32_t receiver);
struct view_meeting *view_meeting_of(const struct view_trace *t, struct view_report *r,
                                     uint32_t name);
void view_top_add(struct view_top *top, uint32_t key, int64_t ns);
void view_top_sort(struct view_top *top);
void view_sort_report(struct view_report *r);

/* Activity of a rank in [from, to), into ns[VIEW_STATES]; regions and ranks may be NULL. */
struct view_activity {
  int64_t ns[VIEW_STATES];
  struct view_top *regions, *ranks;
};
void view_activity(const struct view_trace *t, uint32_t rank, int64_t from, int64_t to,
                   struct view_activity *out);

/* Whether an event lies in a collective, whose time counts as the collective's. */
bool view_in_collective(const struct view_trace *t, uint32_t event);

/* Members of each collective, those of one call together. */
struct view_member {
  uint32_t name, detail, instance, event;
};
struct view_member *view_members(const struct view_trace *t, size_t *count);
/* The end of the group that begins at `at`, and who came last in it. */
size_t view_group(const struct view_trace *t, const struct view_member *m, size_t count, size_t at,
                  uint32_t *last);

/* critical.c, advice.c; view_analyse is all of it, in its order. */
void view_find_path(const struct view_trace *t, struct view_report *r);
void view_advise(const struct view_trace *t, struct view_report *r);
void view_analyse(const struct view_trace *t, struct view_report *r);
void view_report_free(struct view_report *r);

#endif
