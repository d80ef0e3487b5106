/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collecting the areas of ranks, and the course from areas to a file: see set.h.
 *
 * Owns: no process state. Called as set.h says. Calls: match.c, align.c, write.c, the clock,
 * settings. Ticks become nanoseconds by two moments of the rank's host: when the area was made, and
 * when it was collected. Invariants: an event that the rank was writing when it ended is left out.
 */
#include "boot/trace/set.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a set */

int tmb_trace_set_open(struct tmb_trace_set *set, const struct tmb_ctl *ctl) {
  *set = (struct tmb_trace_set){.size = ctl->size, .hosts = ctl->hosts};
  set->rank = calloc(set->size, sizeof *set->rank);
  set->member = calloc(1, sizeof *set->member);
  set->offset = calloc(set->hosts, sizeof *set->offset);
  set->host_name = calloc(set->hosts, sizeof *set->host_name);
  if (!set->rank || !set->member || !set->offset || !set->host_name) {
    tmb_trace_set_free(set);
    return TMB_E_NOMEM;
  }
  for (uint32_t r = 0; r < set->size; r++)
    set->rank[r].host = TMB_MIN(tmb_ctl_host_of(ctl)[r], set->hosts - 1);
  for (uint32_t h = 0; h < set->hosts; h++)
    memcpy(set->host_name[h], tmb_ctl_host_name(ctl, h), TMB_CTL_HOST_BYTES - 1);
  return TMB_OK;
}

void tmb_trace_set_free(struct tmb_trace_set *set) {
  for (uint32_t r = 0; set->rank && r < set->size; r++) free(set->rank[r].owned);
  free(set->rank);
  free(set->member);
  free(set->offset);
  free(set->host_name);
  free(set->item);
  *set = (struct tmb_trace_set){0};
}

const struct tmb_trace_area *tmb_trace_of(const struct tmb_ctl *ctl, uint32_t rank) {
  const struct tmb_trace_area *area = tmb_ctl_trace(ctl, rank);
  const uint64_t most = ctl->trace_bytes / sizeof(struct tmb_trace_event);
  if (!area) return NULL;
  const uint64_t capacity = area->capacity;
  const bool good = capacity && !(capacity & (capacity - 1)) && capacity <= most &&
                    tmb_trace_bytes(capacity) <= ctl->trace_bytes;
  return good ? area : NULL;
}

void tmb_trace_set_here(struct tmb_trace_set *set, const struct tmb_ctl *ctl) {
  const struct tmb_trace_moment now = tmb_trace_moment_now();
  for (uint32_t r = 0; r < set->size; r++) {
    const struct tmb_trace_area *area = tmb_trace_of(ctl, r);
    if (!area) continue;
    set->rank[r].area = area;
    set->rank[r].end = now;
    const struct tmb_status *page = tmb_ctl_status(ctl, r);
    if (!page->member[0] || set->member[0][0]) continue;
    memcpy(set->member[0], page->member, TMB_STATUS_MEMBER - 1);
    set->first_member = page->first;
  }
}

/* ---- items */

/* A tick of a rank on the launcher's clock. */
static double launcher_ns(const struct tmb_trace_set *set, const struct tmb_trace_rank *rank,
                          uint64_t ticks) {
  const struct tmb_trace_area *a = rank->area;
  const struct tmb_trace_offset *o = &set->offset[rank->host];
  const double whole = (double)(rank->end.ticks - a->tick0);
  const double scale = whole > 0 ? (double)(rank->end.ns - a->ns0) / whole : 1;
  const double there = (double)a->ns0 + (double)(int64_t)(ticks - a->tick0) * scale;
  return there - o->offset_ns - o->drift * (there - (double)o->at_ns);
}

/* The oldest event that is still there, and how many there are. */
static void window(struct tmb_trace_rank *rank, uint64_t *from, uint64_t *count) {
  const struct tmb_trace_area *a = rank->area;
  const uint64_t next = a ? tmb_load_acq(&a->next) : 0;
  *count = a ? TMB_MIN(next, a->capacity) : 0;
  *from = next - *count;
  rank->dropped = *from;
}

/* Whole nanoseconds; a damaged event gives a number, too. */
static int64_t whole_ns(double ns) {
  const double most = 4e18;
  return (int64_t)TMB_MAX(-most, TMB_MIN(ns, most));
}

static bool is_whole(const struct tmb_trace_event *e, uint64_t number) {
  return tmb_load_acq(&e->seq) == (uint32_t)(number + 1) && e->kind > TMB_TRACE_NONE &&
         e->kind < TMB_TRACE_KINDS;
}

/* A slice that was not ended lasts as long as anything of its rank. */
static void end_open(struct tmb_trace_set *set, const struct tmb_trace_rank *rank) {
  int64_t last = INT64_MIN;
  for (uint32_t i = 0; i < rank->count; i++)
    last = TMB_MAX(last, set->item[rank->first + i].end_ns);
  for (uint32_t i = 0; i < rank->count; i++)
    if (!set->item[rank->first + i].event->end) set->item[rank->first + i].end_ns = last;
}

static void add_items(struct tmb_trace_set *set, uint32_t r, double zero) {
  struct tmb_trace_rank *rank = &set->rank[r];
  uint64_t from, count;
  window(rank, &from, &count);
  rank->first = set->items;
  for (uint64_t n = from; n < from + count; n++) {
    const struct tmb_trace_event *e = &rank->area->event[n & (rank->area->capacity - 1)];
    if (!is_whole(e, n)) continue;
    struct tmb_trace_item *item = &set->item[set->items++];
    item->event = e;
    item->rank = r;
    item->cause = TMB_TRACE_NO_ITEM;
    item->begin_ns = whole_ns(launcher_ns(set, rank, e->begin) - zero);
    item->end_ns = e->end ? whole_ns(launcher_ns(set, rank, e->end) - zero) : item->begin_ns;
  }
  rank->count = set->items - rank->first;
  end_open(set, rank);
}

/* Begin of the first event of the job. */
static double first_ns(struct tmb_trace_set *set, uint64_t *total) {
  double first = 0;
  bool any = false;
  *total = 0;
  for (uint32_t r = 0; r < set->size; r++) {
    uint64_t from, count;
    struct tmb_trace_rank *rank = &set->rank[r];
    window(rank, &from, &count);
    *total += count;
    for (uint64_t n = from; n < from + count; n++) {
      const struct tmb_trace_event *e = &rank->area->event[n & (rank->area->capacity - 1)];
      if (!is_whole(e, n)) continue;
      const double at = launcher_ns(set, rank, e->begin);
      if (!any || at < first) first = at;
      any = true;
    }
  }
  return first;
}

int tmb_trace_set_items(struct tmb_trace_set *set) {
  uint64_t total;
  const double zero = first_ns(set, &total);
  if (total >= TMB_TRACE_NO_ITEM) return TMB_E_NOMEM;
  set->item = malloc((total + 1) * sizeof *set->item);
  if (!set->item) return TMB_E_NOMEM;
  for (uint32_t r = 0; r < set->size; r++) add_items(set, r, zero);
  int rc = tmb_trace_match(set, true);
  if (!rc) rc = tmb_trace_align(set);
  return rc ? rc : tmb_trace_match(set, false);
}

/* ---- the file */

int tmb_trace_check_file(void) {
  const char *path = tmb_trace_path();
  if (!path) return TMB_OK;
  int fd = open(path, O_WRONLY | O_CLOEXEC); /* an earlier trace stays until there is a new one */
  const bool fresh = fd < 0 && errno == ENOENT;
  if (fresh) fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd >= 0) {
    close(fd);
    if (fresh) unlink(path);
    return TMB_OK;
  }
  tmb_print("cannot write the trace %s: %s; give a file in a folder that you may write to, by "
            "--trace or TOMBOLO_TRACE",
            path, strerror(errno));
  return TMB_E_SYS;
}

int tmb_trace_set_write(struct tmb_trace_set *set) {
  const char *path = set->path ? set->path : tmb_trace_path();
  int rc = tmb_trace_set_items(set);
  if (rc) {
    tmb_print("out of memory for the trace %s; set TOMBOLO_TRACE_EVENTS lower", path);
    return rc;
  }
  if (tmb_trace_write_json(set, path) == 0) return TMB_OK;
  tmb_print("cannot write the trace %s: %s", path, strerror(errno));
  return TMB_E_SYS;
}

char *tmb_trace_command(char *const *argv) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = argv ? open_memstream(&text, &bytes) : NULL;
  if (!out) return NULL;
  for (int i = 0; argv[i]; i++) fprintf(out, "%s%s", i ? " " : "", argv[i]);
  fclose(out);
  return text;
}

void tmb_trace_write_here(const struct tmb_ctl *ctl, char *const *argv) {
  struct tmb_trace_set set;
  if (!ctl->trace_bytes || tmb_trace_set_open(&set, ctl)) return;
  char *command = tmb_trace_command(argv), path[4096];
  set.command = command;
  if (ctl->here < ctl->size) { /* others write their own, perhaps into this folder */
    snprintf(path, sizeof path, "%s.%s", tmb_trace_path(), tmb_os_hostname());
    set.path = path;
  }
  tmb_trace_set_here(&set, ctl);
  (void)tmb_trace_set_write(&set);
  tmb_trace_set_free(&set);
  free(command);
}

void tmb_trace_write_alone(const struct tmb_trace_area *area) {
  struct tmb_trace_rank rank = {.area = area, .end = tmb_trace_moment_now()};
  struct tmb_trace_offset offset = {0};
  char host[1][TMB_CTL_HOST_BYTES] = {""}, member[1][TMB_STATUS_MEMBER] = {""};
  struct tmb_trace_set set = {
      .size = 1, .hosts = 1, .host_name = host, .offset = &offset, .rank = &rank, .member = member};
  snprintf(host[0], sizeof host[0], "%s", tmb_os_hostname());
  (void)tmb_trace_set_write(&set);
  free(set.item);
}
