/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attached events (module tombolo_caf): notified access for coarray programs.
 *
 * Owns: this image's list of attached sections, and copies of the others' lists. Called by Fortran
 * programs through the module, and by every remote assignment where a list is known. Calls:
 * signals, gets. Invariants: attaching is local: it changes the own list and sends every image the
 * list's version by a put that ends at the next image control statement, so images that synchronise
 * with this one afterwards know it; a reader copies a list whose version did not change meanwhile
 * (an odd version: a change is in progress). A section is described by counts and strides; those of
 * one array nest, largest first, so membership of an address is found dimension by dimension.
 */
#include "data/attach.h"
#include "data/pending.h"
#include "inside.h"
#include "sync/post.h"

#include <ISO_Fortran_binding.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX CAF_ATTACH_MAX
#define LEVELS_MAX  CAF_RANK_MAX

struct entry {
  uint64_t event; /* address of the event's word, owner's address space */
  uint64_t base;  /* lowest address of the section */
  uint64_t bytes; /* of an element, after joining dimensions that continue each other */
  uint32_t kind, levels;
  uint64_t count[LEVELS_MAX], stride[LEVELS_MAX]; /* largest stride first */
};

struct caf_attach_list {
  uint64_t version;
  uint64_t count;
  struct entry entry[ENTRIES_MAX];
};

/* The list of another image, in memory of malloc. */
struct caf_attach_copy {
  struct caf_attach_range range;
  struct caf_attach_list list;
};

CAF_EXPORT void tombolo_caf_attach_write(intptr_t event, const CFI_cdesc_t *section, int *stat,
                                         CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_attach_read(intptr_t event, const CFI_cdesc_t *section, int *stat,
                                        CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_detach(intptr_t event, int *stat, CFI_cdesc_t *errmsg);
/* Attaches a variable of type NOTIFY_TYPE. */
CAF_EXPORT void tombolo_caf_attach_write_notify(const void *notify, const CFI_cdesc_t *section,
                                                int *stat, CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_attach_read_notify(const void *notify, const CFI_cdesc_t *section,
                                               int *stat, CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_detach_notify(const void *notify, int *stat, CFI_cdesc_t *errmsg);

/* STAT of the module's procedures. */
enum { NOT_EVENT = 1, EMPTY_SECTION, NOT_COARRAY, TOO_MANY, NOT_ATTACHED };

/* ---- the own list */

int caf_attach_init(void) {
  caf.attach_list = caf_heap_alloc(sizeof *caf.attach_list);
  caf.attach_copy = calloc(caf.size, sizeof *caf.attach_copy);
  if (!caf.attach_list || !caf.attach_copy) return CAF_STAT_ERROR;
  caf.attach_list->version = 0;
  caf.attach_list->count = 0;
  caf.shared->attach_list = (uintptr_t)caf.attach_list;
  return 0;
}

/* Send all images the version and the kinds of the list. */
static void publish(void) {
  const struct caf_attach_list *list = caf.attach_list;
  uint64_t word = list->version << 2;
  for (uint64_t i = 0; i < list->count; i++) word |= list->entry[i].kind;
  caf.shared->attach_word = word;
  caf.pending |= CAF_UNDER_WAY; /* the next image control statement waits for the puts */
  for (uint32_t r = 0; r < caf.size; r++) {
    struct caf_shared *there = (struct caf_shared *)caf.shared_addr[r];
    if (!caf.lost[r])
      gex_RMA_PutNBI(caf.tm, r, &there->word[caf.size + caf.rank], &caf.shared->attach_word,
                     sizeof word, GEX_EVENT_DEFER, 0);
  }
}

/* Each change makes the version odd first, and even again after. The fence keeps changes behind the
 * odd version for images that read the list where it lies. */
static void begin_change(void) {
  gex_NBI_Wait(GEX_EC_PUT, 0); /* the word is the source of earlier puts */
  __atomic_store_n(&caf.attach_list->version, caf.attach_list->version + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(void) {
  __atomic_store_n(&caf.attach_list->version, caf.attach_list->version + 1, __ATOMIC_RELEASE);
  publish();
}

/* Insert a dimension so that strides fall. */
static void add_level(struct entry *e, uint64_t count, uint64_t stride) {
  uint32_t at = e->levels++;
  for (; at > 0 && e->stride[at - 1] < stride; at--) {
    e->stride[at] = e->stride[at - 1];
    e->count[at] = e->count[at - 1];
  }
  e->stride[at] = stride;
  e->count[at] = count;
}

/* The innermost dimensions that continue the element become part of it. */
static void join_levels(struct entry *e) {
  while (e->levels && e->stride[e->levels - 1] == e->bytes) {
    e->levels--;
    e->bytes *= e->count[e->levels];
  }
}

static bool describe(struct entry *e, const CFI_cdesc_t *section) {
  e->base = (uintptr_t)section->base_addr;
  e->bytes = section->elem_len;
  e->levels = 0;
  if (!section->base_addr) return false;
  for (int d = 0; d < section->rank; d++) {
    const CFI_index_t count = section->dim[d].extent, sm = section->dim[d].sm;
    if (count <= 0) return false;
    if (count == 1) continue;
    if (sm < 0) e->base += (uint64_t)((count - 1) * sm);
    add_level(e, (uint64_t)count, (uint64_t)(sm < 0 ? -sm : sm));
  }
  join_levels(e);
  return e->bytes > 0;
}

static bool in_segment(uint64_t at) {
  return at - (uintptr_t)caf.segment < caf.segment_bytes;
}

static int attach(intptr_t event, const CFI_cdesc_t *section, uint32_t kind) {
  struct caf_attach_list *list = caf.attach_list;
  struct entry e = {.event = (uint64_t)event, .kind = kind};
  if (!in_segment(e.event) || e.event % sizeof(uint64_t)) return NOT_EVENT;
  if (!describe(&e, section)) return EMPTY_SECTION;
  if (!in_segment(e.base)) return NOT_COARRAY;
  if (list->count == ENTRIES_MAX) return TOO_MANY;
  begin_change();
  list->entry[list->count++] = e;
  end_change();
  return 0;
}

static int detach(intptr_t event) {
  struct caf_attach_list *list = caf.attach_list;
  uint64_t kept = 0;
  begin_change();
  for (uint64_t i = 0; i < list->count; i++)
    if (list->entry[i].event != (uint64_t)event) list->entry[kept++] = list->entry[i];
  const bool found = kept < list->count;
  list->count = kept;
  end_change();
  return found ? 0 : NOT_ATTACHED;
}

static void finish(const char *name, int code, int *stat, const CFI_cdesc_t *errmsg) {
  static const char *const text[] = {
      [NOT_EVENT] = "argument event is not LOC of an event variable of this image [TMB-2001]",
      [EMPTY_SECTION] = "argument section is empty or not allocated [TMB-2002]",
      [NOT_COARRAY] = "argument section is not part of a coarray of this image [TMB-2003]",
      [TOO_MANY] = "this image has 64 attachments already; detach some [TMB-2004]",
      [NOT_ATTACHED] = "argument event has no attachment [TMB-2005]"};
  const struct caf_status to = {stat, errmsg ? errmsg->base_addr : NULL,
                                errmsg ? errmsg->elem_len : 0};
  if (code)
    caf_fail(&to, code, "%s: %s", name, text[code]);
  else
    caf_ok(stat);
}

void tombolo_caf_attach_write(intptr_t event, const CFI_cdesc_t *section, int *stat,
                              CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  finish("event_attach", attach(event, section, CAF_ATTACH_WRITE), stat, errmsg);
}

void tombolo_caf_attach_read(intptr_t event, const CFI_cdesc_t *section, int *stat,
                             CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  finish("event_attach_read", attach(event, section, CAF_ATTACH_READ), stat, errmsg);
}

void tombolo_caf_detach(intptr_t event, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  finish("event_detach", detach(event), stat, errmsg);
}

void tombolo_caf_attach_write_notify(const void *notify, const CFI_cdesc_t *section, int *stat,
                                     CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  tombolo_caf_attach_write((intptr_t)notify, section, stat, errmsg);
}

void tombolo_caf_attach_read_notify(const void *notify, const CFI_cdesc_t *section, int *stat,
                                    CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  tombolo_caf_attach_read((intptr_t)notify, section, stat, errmsg);
}

void tombolo_caf_detach_notify(const void *notify, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  tombolo_caf_detach((intptr_t)notify, stat, errmsg);
}

size_t caf_attach_own(unsigned kind, struct caf_attachment *at) {
  const struct caf_attach_list *list = caf.attach_list;
  size_t found = 0;
  for (uint64_t i = 0; i < list->count; i++) {
    const struct entry *e = &list->entry[i];
    if (!(e->kind & kind)) continue;
    struct caf_section *s = &at[found].section;
    at[found++].event = (uint64_t *)(uintptr_t)e->event;
    *s = (struct caf_section){
        .base = (char *)(uintptr_t)e->base, .levels = e->levels, .elem_len = e->bytes};
    for (unsigned d = 0; d < e->levels; d++) {
      s->count[d] = e->count[d];
      s->stride[d] = (ptrdiff_t)e->stride[d];
    }
  }
  return found;
}

/* ---- the lists of others */

/* Bytes from the first to behind the last of the section. */
static uint64_t extent_of(const struct entry *e) {
  uint64_t extent = e->bytes;
  for (uint32_t d = 0; d < e->levels; d++) extent += (e->count[d] - 1) * e->stride[d];
  return extent;
}

/* Reads the list of a rank where it lies. Data read between two equal, even versions belong to
 * them: a blocking get has no fence for that where memory is shared. */
static void read_list(struct caf_attach_list *into, uint32_t rank) {
  struct caf_shared *there = (struct caf_shared *)caf.shared_addr[rank];
  const size_t head = offsetof(struct caf_attach_list, entry);
  const size_t count = offsetof(struct caf_attach_list, count);
  uint64_t at, after;
  gex_RMA_GetBlocking(caf.tm, &at, rank, &there->attach_list, sizeof at, 0);
  do {
    gex_RMA_GetBlocking(caf.tm, &into->version, rank, (void *)at, sizeof after, 0);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    gex_RMA_GetBlocking(caf.tm, &into->count, rank, (char *)at + count, sizeof(uint64_t), 0);
    if (into->count <= ENTRIES_MAX)
      gex_RMA_GetBlocking(caf.tm, into->entry, rank, (char *)at + head,
                          into->count * sizeof(struct entry), 0);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    gex_RMA_GetBlocking(caf.tm, &after, rank, (void *)at, sizeof after, 0);
  } while (after != into->version || after % 2);
}

static void find_range(struct caf_attach_copy *copy) {
  struct caf_attach_range *range = &copy->range;
  *range = (struct caf_attach_range){copy->list.version, UINT64_MAX, 0};
  for (uint64_t i = 0; i < copy->list.count; i++) {
    const struct entry *e = &copy->list.entry[i];
    if (e->base < range->low) range->low = e->base;
    if (e->base + extent_of(e) > range->high) range->high = e->base + extent_of(e);
  }
}

static bool is_known(const struct caf_attach_copy *copy, uint32_t rank) {
  return copy && copy->range.version == caf.attached[rank] >> 2;
}

/* The list of a rank, as of the version in its word. NULL: out of memory. */
static const struct caf_attach_list *list_of(uint32_t rank) {
  struct caf_attach_copy **copy = &caf.attach_copy[rank];
  if (is_known(*copy, rank)) return &(*copy)->list;
  if (!*copy) *copy = malloc(sizeof **copy);
  if (!*copy) return NULL;
  read_list(&(*copy)->list, rank);
  find_range(*copy);
  return &(*copy)->list;
}

bool caf_attached_within(uint32_t rank, unsigned kind, const void *at, size_t bytes) {
  CAF_INSIDE;
  const struct caf_attach_list *list = list_of(rank);
  bool found = !list;
  for (uint64_t i = 0; list && i < list->count && !found; i++) {
    const struct entry *e = &list->entry[i];
    found =
        e->kind & kind && (uintptr_t)at < e->base + extent_of(e) && (uintptr_t)at + bytes > e->base;
  }
  return found;
}

/* Whether the bytes [at, at + bytes) hold some of the section. */
static bool touches(const struct entry *e, uint64_t at, uint64_t bytes) {
  uint64_t low = e->base;
  if (at >= low + extent_of(e) || at + bytes <= low) return false;
  if (at <= low) return true; /* the first element */
  /* Go down to the part of the section that begins last at or before `at`; a part that begins after
   * it, at the next index of a dimension, may lie in the range, too. */
  for (uint32_t d = 0; d < e->levels; d++) {
    uint64_t i = (at - low) / e->stride[d];
    if (i >= e->count[d]) i = e->count[d] - 1;
    if (i + 1 < e->count[d] && low + (i + 1) * e->stride[d] < at + bytes) return true;
    low += i * e->stride[d];
  }
  return at < low + e->bytes;
}

/* An access of an assignment: its pieces, and the range that they lie in. */
struct access {
  struct caf_section pieces; /* dimensions that continue the element are part of it */
  uint64_t low, high;
};

static struct access access_of(const struct caf_section *section) {
  struct access a = {*section, (uintptr_t)section->base, (uintptr_t)section->base};
  struct caf_section *p = &a.pieces;
  if (p->indexed) {
    a.low = 0; /* anywhere */
    a.high = UINT64_MAX;
    return a;
  }
  while (p->levels && p->stride[0] == (ptrdiff_t)p->elem_len) {
    p->elem_len *= p->count[0];
    p->levels--;
    memmove(p->count, p->count + 1, p->levels * sizeof p->count[0]);
    memmove(p->stride, p->stride + 1, p->levels * sizeof p->stride[0]);
    memset(p->index, 0, sizeof p->index);
  }
  for (unsigned d = 0; d < p->levels; d++) {
    const ptrdiff_t span = (ptrdiff_t)(p->count[d] - 1) * p->stride[d];
    *(span < 0 ? &a.low : &a.high) += (uint64_t)span;
  }
  a.high += p->elem_len;
  return a;
}

struct search {
  const struct entry *entry;
  size_t bytes;
  bool found;
};

static void look_at(void *arg, char *element) {
  struct search *s = arg;
  if (!s->found) s->found = touches(s->entry, (uintptr_t)element, s->bytes);
}

/* Events that an access to a section posts, each once. out events: [ENTRIES_MAX]. */
static size_t events_of(uint32_t rank, const struct caf_section *section, unsigned kind,
                        uint64_t *events) {
  const struct caf_attach_list *list = list_of(rank);
  const struct access access = access_of(section);
  size_t count = 0;
  for (uint64_t i = 0; list && i < list->count; i++) {
    const struct entry *e = &list->entry[i];
    bool skip = !(e->kind & kind) || access.high <= e->base || access.low >= e->base + extent_of(e);
    for (size_t k = 0; k < count; k++) skip = skip || events[k] == e->event; /* posted anyway */
    if (skip) continue;
    struct search s = {e, access.pieces.elem_len, false};
    caf_section_each(&access.pieces, look_at, &s);
    if (s.found) events[count++] = e->event;
  }
  return count;
}

static void post(uint32_t rank, uint64_t event) {
  caf_post(rank, (void *)event);
}

void caf_attach_post(uint32_t rank, const struct caf_section *section, unsigned kind) {
  uint64_t events[ENTRIES_MAX];
  const size_t count = events_of(rank, section, kind, events);
  for (size_t i = 0; i < count; i++) post(rank, events[i]);
}

/* As events_of, for contiguous bytes. */
static size_t events_at(uint32_t rank, uint64_t at, uint64_t bytes, uint64_t *events) {
  const struct caf_attach_list *list = list_of(rank);
  size_t count = 0;
  for (uint64_t i = 0; list && i < list->count; i++) {
    const struct entry *e = &list->entry[i];
    if (!(e->kind & CAF_ATTACH_WRITE) || !touches(e, at, bytes)) continue;
    bool posted = false;
    for (size_t k = 0; k < count; k++) posted = posted || events[k] == e->event;
    if (!posted) events[count++] = e->event;
  }
  return count;
}

void caf_attach_put(uint32_t rank, void *remote, const void *data, size_t bytes,
                    gex_Flags_t flags) {
  uint64_t events[ENTRIES_MAX];
  const size_t count = events_at(rank, (uintptr_t)remote, bytes, events);
  if (count == 0) {
    caf_put(rank, remote, data, bytes, flags);
    return;
  }
  if (caf.events != CAF_EVENTS_SIGNAL) { /* put, and when it is complete, the posts */
    caf_put(rank, remote, data, bytes, flags);
    caf_complete();
    for (size_t i = 0; i < count; i++) post(rank, events[i]);
    return;
  }
  uint64_t *first = (uint64_t *)events[0];
  if (caf_is_near(rank)) {
    caf_post_with(rank, remote, data, bytes, first);
  } else { /* data and post are one message */
    caf_await(rank, remote, bytes);
    gexx_RMA_PutSignalNBI(caf.tm, rank, remote, data, bytes, GEX_EVENT_NOW, first, GEXX_SIG_ADD, 1,
                          0);
    caf_pending_add(rank, remote, bytes);
    if (count > 1) caf_complete(); /* the other posts come after the data */
  }
  for (size_t i = 1; i < count; i++) post(rank, events[i]);
}
