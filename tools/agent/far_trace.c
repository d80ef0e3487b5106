/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces from other hosts, see far_trace.h.
 *
 * Owns: no process state. Called as far_trace.h says. Calls: tree, pack, boot/trace. A frame TRACE
 * names a rank in `a`; with b 0 it brings the head of its area, the clock and the names, with b 1
 * events, in order. Invariants: a rank whose head has not come has no area.
 */
#include "agent/far_trace.h"

#include "base/atomic.h"
#include "base/container/hash.h"
#include "os/os.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUESTIONS    8u
#define ANSWER_NS    UINT64_C(1000000000) /* the launcher has so long at the end */
#define EVENTS_FRAME 65536u               /* events of one frame */
#define CAPACITY_MAX (UINT64_C(1) << 26)

/* Names the clock of this process: its kernel and its time namespace. 0: not known. */
static uint64_t clock_id(void) {
  char text[64];
  struct stat space = {0};
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof text);
  if (fd >= 0) close(fd);
  if (bytes <= 0) return 0;
  uint64_t id = tmb_hash_bytes(TMB_HASH_START, text, (size_t)bytes);
  if (stat("/proc/self/ns/time", &space) == 0) id += space.st_ino; /* since Linux 5.6 */
  return id ? id : 1;
}

/* ---- an agent asks */

static void ask(struct far_clock *c, struct tree *t) {
  c->asked_ns = tmb_os_now_ns();
  link_send(&t->up, (struct frame){.type = FRAME_CLOCK, .a = t->host});
}

void far_trace_answered(struct far_clock *c, struct tree *t, const struct frame *f) {
  struct pack p = pack_reader(f->data, f->bytes);
  const uint64_t now = tmb_os_now_ns(), there = unpack_u64(&p), id = unpack_u64(&p);
  if (!c->asked_ns || p.bad) return;
  if (c->answers == 0) c->same = id && id == clock_id();
  const double took = (double)(now - c->asked_ns);
  struct far_sample *s = &c->sample[c->at_end];
  if (!s->known || took / 2 < s->error_ns)
    *s = (struct far_sample){.at_ns = now,
                             .offset_ns = (double)(int64_t)(c->asked_ns - there) + took / 2,
                             .error_ns = took / 2,
                             .known = true};
  c->asked_ns = 0;
  if (++c->answers < QUESTIONS) ask(c, t);
}

/* Whether a sample says that the clocks differ. */
static bool differs(const struct far_sample *s) {
  return s->known && (s->offset_ns > s->error_ns || -s->offset_ns > s->error_ns);
}

/* The offset and drift of the clocks from both times of asking. One clock is believed to be one
 * unless a sample refutes it: a library that is loaded before others may change it. */
static struct tmb_trace_offset compare(const struct far_clock *c) {
  const struct far_sample *from = &c->sample[0], *to = &c->sample[1];
  if (c->same && !differs(from) && !differs(to)) return (struct tmb_trace_offset){0};
  if (!from->known) from = to;
  if (!to->known) to = from;
  const double between = (double)(int64_t)(to->at_ns - from->at_ns);
  const double error = TMB_MAX(from->error_ns, to->error_ns);
  const double moved = to->offset_ns - from->offset_ns;
  /* A difference within the error of asking is no drift: it is shared between the two. */
  if (moved <= from->error_ns + to->error_ns && -moved <= from->error_ns + to->error_ns)
    return (struct tmb_trace_offset){.offset_ns = from->error_ns <= to->error_ns ? from->offset_ns
                                                                                 : to->offset_ns,
                                     .error_ns = error,
                                     .at_ns = from->at_ns};
  return (struct tmb_trace_offset){.offset_ns = from->offset_ns,
                                   .drift = between > 0 ? moved / between : 0,
                                   .error_ns = error,
                                   .at_ns = from->at_ns};
}

/* ---- an agent sends */

static void send_events(struct tree *t, uint32_t rank, const struct tmb_trace_area *area) {
  const uint64_t next = tmb_load_acq(&area->next), count = TMB_MIN(next, area->capacity);
  for (uint64_t n = next - count; n < next;) {
    const uint64_t slot = n & (area->capacity - 1);
    uint64_t many = TMB_MIN(next - n, (uint64_t)EVENTS_FRAME);
    many = TMB_MIN(many, area->capacity - slot);
    struct pack p = {0};
    pack_u64(&p, n);
    pack_bytes(&p, &area->event[slot], many * sizeof area->event[0]);
    link_send(
        &t->up,
        (struct frame){
            .type = FRAME_TRACE, .a = rank, .b = 1, .bytes = (uint32_t)p.bytes, .data = p.data});
    pack_free(&p);
    n += many;
  }
}

static void send_head(struct tree *t, uint32_t rank, const struct tmb_trace_area *area,
                      const struct tmb_trace_offset *offset) {
  const struct tmb_trace_moment now = tmb_trace_moment_now();
  const struct tmb_status *page = tmb_ctl_status(t->launch->ctl, rank);
  const uint32_t names = TMB_MIN(area->names_used, TMB_TRACE_NAMES_BYTES);
  struct pack p = {0};
  pack_bytes(&p, offset, sizeof *offset);
  pack_bytes(&p, &now, sizeof now);
  pack_bytes(&p, page->member, sizeof page->member);
  pack_u32(&p, page->first);
  pack_u64(&p, area->capacity);
  pack_u64(&p, area->tick0);
  pack_u64(&p, area->ns0);
  pack_u32(&p, area->processors);
  pack_u64(&p, tmb_load_acq(&area->next));
  pack_u32(&p, names);
  pack_bytes(&p, area->names, names);
  link_send(
      &t->up,
      (struct frame){.type = FRAME_TRACE, .a = rank, .bytes = (uint32_t)p.bytes, .data = p.data});
  pack_free(&p);
}

static void send_all(const struct far_clock *c, struct tree *t) {
  const struct tmb_trace_offset offset = compare(c);
  for (uint32_t r = 0; r < t->job.size; r++) {
    const struct tmb_trace_area *area = tmb_trace_of(t->launch->ctl, r);
    if (!area) continue;
    send_head(t, r, area, &offset);
    send_events(t, r, area);
  }
}

bool far_trace_step(struct far_clock *c, struct tree *t, bool ended) {
  if (c->sent || !t->launch || !t->launch->ctl->trace_bytes) return true;
  if (ended && !c->at_end) {
    c->at_end = true;
    c->end_ns = tmb_os_now_ns();
    c->answers = 0;
    c->asked_ns = 0;
  }
  const bool late = c->at_end && tmb_os_now_ns() - c->end_ns > ANSWER_NS;
  if (!c->asked_ns && c->answers == 0 && !late) ask(c, t);
  if (!c->at_end || (c->answers < QUESTIONS && !late)) return false;
  c->sent = true;
  send_all(c, t);
  return true;
}

/* ---- the launcher */

void far_trace_answer(struct tree *t, const struct frame *f) {
  struct pack p = {0};
  if (f->a >= t->job.hosts) return;
  const uint64_t id = clock_id();
  pack_u64(&p, tmb_os_now_ns());
  pack_u64(&p, id);
  tree_send_to(
      t, f->a,
      (struct frame){.type = FRAME_CLOCK, .a = f->a, .bytes = (uint32_t)p.bytes, .data = p.data});
  pack_free(&p);
}

static void keep_head(struct tmb_trace_set *set, struct tmb_trace_rank *rank, struct pack *p) {
  char member[TMB_STATUS_MEMBER];
  struct tmb_trace_offset offset;
  struct tmb_trace_moment end;
  unpack_bytes(p, &offset, sizeof offset);
  unpack_bytes(p, &end, sizeof end);
  unpack_bytes(p, member, sizeof member);
  const uint32_t first = unpack_u32(p);
  const uint64_t capacity = unpack_u64(p);
  if (p->bad || rank->owned || capacity == 0 || capacity > CAPACITY_MAX ||
      (capacity & (capacity - 1)))
    return;
  struct tmb_trace_area *area = calloc(1, tmb_trace_bytes(capacity));
  if (!area) return;
  area->capacity = capacity;
  area->tick0 = unpack_u64(p);
  area->ns0 = unpack_u64(p);
  area->processors = unpack_u32(p);
  area->next = unpack_u64(p);
  area->names_used = unpack_u32(p);
  if (area->names_used <= TMB_TRACE_NAMES_BYTES) unpack_bytes(p, area->names, area->names_used);
  rank->area = rank->owned = area;
  rank->end = end;
  set->offset[rank->host] = offset;
  if (set->member[0][0]) return;
  memcpy(set->member[0], member, TMB_STATUS_MEMBER - 1);
  set->first_member = member[0] ? first : 0;
}

static void keep_events(struct tmb_trace_area *area, struct pack *p) {
  for (uint64_t n = unpack_u64(p); area && p->at < p->bytes && !p->bad; n++)
    unpack_bytes(p, &area->event[n & (area->capacity - 1)], sizeof area->event[0]);
}

void far_trace_keep(struct tmb_trace_set *set, const struct frame *f) {
  struct pack p = pack_reader(f->data, f->bytes);
  if (f->a >= set->size) return;
  if (f->b == 0)
    keep_head(set, &set->rank[f->a], &p);
  else
    keep_events(set->rank[f->a].owned, &p);
}
