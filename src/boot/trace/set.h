/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace areas of a job's ranks, and the file that is made of them.
 *
 * Owns: struct tmb_trace_set and its items. Called by `tombolo run`, by programs that start their
 * own ranks, and by watchers. Calls: ctl, source, the clock. Course: areas are collected when the
 * ranks of a host have ended; events become items with times of one clock; match.c finds the cause
 * of each item; align.c corrects the clocks by that; write.c writes. Invariants: data of an area
 * are checked before they are an index or a length, for a rank may have been killed while it wrote,
 * or have damaged its memory.
 */
#ifndef TMB_BOOT_TRACE_SET_H
#define TMB_BOOT_TRACE_SET_H

#include "boot/page/ctl.h"
#include "boot/trace.h"

#define TMB_TRACE_NO_ITEM UINT32_MAX

/* One moment on both clocks of a host. */
struct tmb_trace_moment {
  uint64_t ticks, ns;
};

/* The launcher's estimate of a host's monotonic clock: there - here = offset + drift * (there -
 * at_ns), within error_ns. */
struct tmb_trace_offset {
  double offset_ns, drift, error_ns;
  uint64_t at_ns;
};

struct tmb_trace_rank {
  const struct tmb_trace_area *area; /* NULL: nothing is known of this rank */
  struct tmb_trace_area *owned;      /* area, if the set must free it */
  uint32_t host;
  struct tmb_trace_moment end; /* when its host was collected */
  uint64_t dropped;            /* events that its ring had no room for */
  uint32_t first, count;       /* its items */
};

/* An event, with times of the launcher's clock. */
struct tmb_trace_item {
  const struct tmb_trace_event *event;
  int64_t begin_ns, end_ns; /* since the first event of the job */
  uint32_t rank;
  uint32_t cause; /* the item that ended this one, or TMB_TRACE_NO_ITEM */
};

struct tmb_trace_set {
  uint32_t size, hosts;
  const char *command; /* line of the program, or NULL */
  const char *path;    /* NULL: as the settings say */
  char (*host_name)[TMB_CTL_HOST_BYTES];
  struct tmb_trace_offset *offset;   /* [hosts] */
  struct tmb_trace_rank *rank;       /* [size] */
  char (*member)[TMB_STATUS_MEMBER]; /* names of ranks in the language, "" for rank */
  uint32_t first_member;
  struct tmb_trace_item *item; /* [items], rank by rank */
  uint32_t items;
  uint64_t arrows_dropped;
  bool doubt; /* the pass of match.c that allows for errors of the clocks */
};

/* The file of the settings, NULL: nothing is recorded. */
const char *tmb_trace_path(void);

/* Make a set without areas. Returns 0 or TMB_E_NOMEM. */
int tmb_trace_set_open(struct tmb_trace_set *set, const struct tmb_ctl *ctl);
void tmb_trace_set_free(struct tmb_trace_set *set);

/* The area of a rank of this machine that has ended. NULL: it has none, or has damaged its head. */
const struct tmb_trace_area *tmb_trace_of(const struct tmb_ctl *ctl, uint32_t rank);

/* The present moment on both clocks of this host. */
struct tmb_trace_moment tmb_trace_moment_now(void);

/* Add the ranks of this machine. The control block must live as long as the set. */
void tmb_trace_set_here(struct tmb_trace_set *set, const struct tmb_ctl *ctl);

/* Make the items and find their causes. Returns 0 or TMB_E_NOMEM. */
int tmb_trace_set_items(struct tmb_trace_set *set);

/* Text of a name of a rank's area; "" for none. Valid as long as the area. */
const char *tmb_trace_name(const struct tmb_trace_area *area, uint64_t name);

/* Write the file of the settings. Prints an error. Returns 0 or a negative code. */
int tmb_trace_set_write(struct tmb_trace_set *set);

/* The words of a command, with a space between them; malloc'd, or NULL. */
char *tmb_trace_command(char *const *argv);

/* All of it for the ranks on this machine, if its control block has areas. Where other machines
 * have ranks, too, the name of this one follows that of the file. */
void tmb_trace_write_here(const struct tmb_ctl *ctl, char *const *argv);

/* Whether the file of the settings can be written; says if not. */
int tmb_trace_check_file(void);

/* ---- match.c */

/* Fill in the causes anew. doubt: a cause on another host may lie behind its effect, as far as
 * tmb_trace_doubt_ns says. Returns 0 or TMB_E_NOMEM. */
int tmb_trace_match(struct tmb_trace_set *set, bool doubt);

/* Largest time by which an event of one host may lie behind its effect on another, by errors of
 * their clocks. */
int64_t tmb_trace_doubt_ns(const struct tmb_trace_set *set, uint32_t host, uint32_t other);

/* ---- align.c */

/* Move the items of hosts, within the errors of their clocks, so that causes do not lie behind
 * their effects; tmb_trace_match with `doubt` has found these. Returns 0 or TMB_E_NOMEM. */
int tmb_trace_align(struct tmb_trace_set *set);

/* ---- write.c */

/* Write the items. Returns 0, or -1 with errno set. */
int tmb_trace_write_json(struct tmb_trace_set *set, const char *path);

#endif
