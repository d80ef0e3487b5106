/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Procedures of the module tombolo_caf that move data: notified_put and notified_get, put_async and
 * get_async, notify_wait.
 *
 * Owns nothing beyond a call. Called by Fortran programs through the module. Calls: put and get
 * with signal, section.c. Invariants: the section that a program passes is that of the calling
 * image; that part of the coarray on the image it names is meant, so only coarrays that all images
 * have can be named, not allocatable components. Data are in place before the event is posted, or
 * have been read.
 */
#include "data/attach.h"
#include "data/pending.h"
#include "inside.h"
#include "sync/post.h"

#include <ISO_Fortran_binding.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

CAF_EXPORT void tombolo_caf_put_event(const CFI_cdesc_t *section, int image,
                                      const CFI_cdesc_t *value, void *event, int *stat,
                                      CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_put_notify(const CFI_cdesc_t *section, int image,
                                       const CFI_cdesc_t *value, void *notify, int *stat,
                                       CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_get_event(const CFI_cdesc_t *section, int image,
                                      const CFI_cdesc_t *into, void *event, int *stat,
                                      CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_get_notify(const CFI_cdesc_t *section, int image,
                                       const CFI_cdesc_t *into, void *notify, int *stat,
                                       CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_put_async(const CFI_cdesc_t *section, int image,
                                      const CFI_cdesc_t *value, int64_t *handle, int *stat,
                                      CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_get_async(const CFI_cdesc_t *section, int image,
                                      const CFI_cdesc_t *into, int64_t *handle, int *stat,
                                      CFI_cdesc_t *errmsg);
CAF_EXPORT void tombolo_caf_notify_wait(uint64_t *notify, const int *until, int *stat,
                                        CFI_cdesc_t *errmsg);

/* Operands of a call: a section of `rank`, and a local one. */
struct move {
  const char *name; /* of the procedure, for messages */
  uint32_t rank;
  struct caf_section remote, local;
  struct caf_elem remote_elem, local_elem;
  uint64_t *signal; /* of `rank`, NULL: none */
  struct caf_status to;
};

/* Arguments of the program, in one piece. */
struct request {
  const char *name;
  const CFI_cdesc_t *section, *local;
  int image;
  void *signal;
};

static struct caf_elem elem_of(const CFI_cdesc_t *d) {
  static const int types[] = {[CFI_type_Integer] = CAF_INTEGER,
                              [CFI_type_Logical] = CAF_LOGICAL,
                              [CFI_type_Real] = CAF_REAL,
                              [CFI_type_Complex] = CAF_COMPLEX,
                              [CFI_type_Character] = CAF_CHARACTER};
  const int type = d->type & CFI_type_mask, kind = d->type >> CFI_type_kind_shift;
  const bool known = type >= CFI_type_Integer && type <= CFI_type_Character;
  return (struct caf_elem){known ? types[type] : CAF_DERIVED, known ? kind : 0, d->elem_len};
}

static void section_of(struct caf_section *s, const CFI_cdesc_t *d) {
  *s = (struct caf_section){.base = d->base_addr, .levels = d->rank, .elem_len = d->elem_len};
  for (unsigned i = 0; i < s->levels; i++) {
    s->count[i] = d->dim[i].extent > 0 ? (size_t)d->dim[i].extent : 0;
    s->stride[i] = d->dim[i].sm;
  }
}

/* Address on a rank that corresponds to `here` in a coarray of this image. NULL after caf_fail. */
static void *counterpart(const struct move *m, const char *here, const char *argument) {
  const struct caf_token *t = caf_token_at(here);
  if (!t) {
    caf_fail(&m->to, CAF_STAT_ERROR,
             "%s: argument %s is not part of a coarray of this image [TMB-2019]", m->name,
             argument);
    return NULL;
  }
  return caf_address(t, (size_t)(here - (const char *)t->base), 1, m->rank, &m->to);
}

/* Whether Fortran would assign one element to the other. */
static bool assignable(const struct caf_elem *a, const struct caf_elem *b) {
  if (a->type == CAF_DERIVED || b->type == CAF_DERIVED)
    return a->type == b->type && a->len == b->len;
  if (a->type == CAF_CHARACTER || b->type == CAF_CHARACTER) return a->type == b->type;
  return true;
}

/* Whether the local side has the shape of the section, or is a scalar that all elements get. */
static bool conforms(const struct move *m, bool put) {
  if (m->local.levels == 0 && put) return true;
  bool same = m->local.levels == m->remote.levels;
  for (unsigned d = 0; same && d < m->local.levels; d++)
    same = m->local.count[d] == m->remote.count[d];
  return same;
}

/* Whether the address of a scalar is the value of an expression, as gfortran 16 passes it. Such a
 * number is no address of anything, save by chance in programs that are loaded so low. */
static bool is_value(const CFI_cdesc_t *local) {
  const intptr_t address = (intptr_t)local->base_addr;
  if (local->rank != 0 || address != (int32_t)address) return false;
  void *const page = (void *)(address & -(intptr_t)sysconf(_SC_PAGESIZE));
  return msync(page, 1, MS_ASYNC) != 0 && errno == ENOMEM;
}

/* Determine the data to be moved. Returns false after caf_fail. */
static bool prepare(struct move *m, const struct request *r, bool put) {
  m->name = r->name;
  m->rank = caf_rank(r->image, &m->to);
  m->signal = NULL;
  if (m->rank == UINT32_MAX) return false;
  if (put && is_value(r->local)) {
    caf_fail(
        &m->to, CAF_STAT_ERROR,
        "%s: the value is an expression, of which gfortran 16 passes no address: assign it to a "
        "variable first [TMB-2071]",
        m->name);
    return false;
  }
  section_of(&m->remote, r->section);
  section_of(&m->local, r->local);
  m->remote_elem = elem_of(r->section);
  m->local_elem = elem_of(r->local);
  if (!assignable(&m->remote_elem, &m->local_elem)) {
    caf_fail(&m->to, CAF_STAT_ERROR,
             "%s: the types of the section and of the local data differ [TMB-2018]", m->name);
    return false;
  }
  if (!conforms(m, put)) {
    caf_fail(&m->to, CAF_STAT_ERROR,
             "%s: the shapes of the section and of the local data differ [TMB-2017]", m->name);
    return false;
  }
  if (r->signal && !(m->signal = counterpart(m, r->signal, "event or notify"))) return false;
  if (caf_section_elements(&m->remote) == 0) return true;
  return (m->remote.base = counterpart(m, m->remote.base, "section")) != NULL;
}

static void finish(const struct move *m) {
  if (caf.lost_count && caf.lost[m->rank])
    caf_fail(&m->to, caf.lost[m->rank], "%s: image %u of the initial team has %s [TMB-2016]",
             m->name, m->rank + 1, caf_end_name(caf.lost[m->rank]));
  else
    caf_ok(m->to.stat);
}

static struct caf_status status_of(int *stat, const CFI_cdesc_t *errmsg) {
  return (struct caf_status){stat, errmsg ? errmsg->base_addr : NULL,
                             errmsg ? errmsg->elem_len : 0};
}

static void post(const struct move *m) {
  if (!caf_is_near(m->rank)) caf_complete(); /* the data have arrived before the post is sent */
  caf_post(m->rank, m->signal);
}

/* ---- notified put and get */

/* Whether both sides are one piece of memory each, of one type. */
static bool one_piece(const struct move *m) {
  return caf_same_elem(&m->remote_elem, &m->local_elem) && m->local.levels == m->remote.levels &&
         caf_section_contiguous(&m->local) && caf_section_contiguous(&m->remote);
}

static void notified_put(const struct request *r, const struct caf_status *to) {
  struct move m = {.to = *to};
  if (!prepare(&m, r, true)) return;
  const size_t bytes = caf_section_elements(&m.remote) * m.remote.elem_len;
  if (caf.events != CAF_EVENTS_SIGNAL || !one_piece(&m) || caf_attached(m.rank, CAF_ATTACH_WRITE)) {
    if (bytes) caf_assign_remote(m.rank, &m.remote, &m.remote_elem, &m.local, &m.local_elem);
    post(&m);
  } else if (caf_is_near(m.rank)) {
    caf_post_with(m.rank, m.remote.base, m.local.base, bytes, m.signal);
  } else {
    caf_await(m.rank, m.remote.base, bytes);
    gexx_RMA_PutSignalNBI(caf.tm, m.rank, m.remote.base, m.local.base, bytes, GEX_EVENT_NOW,
                          m.signal, GEXX_SIG_ADD, 1, 0);
    caf_pending_add(m.rank, m.remote.base, bytes);
  }
  finish(&m);
}

static void notified_get(const struct request *r, const struct caf_status *to) {
  struct move m = {.to = *to};
  if (!prepare(&m, r, false)) return;
  if (caf_section_elements(&m.remote))
    caf_assign_local(&m.local, &m.local_elem, m.rank, &m.remote, &m.remote_elem);
  caf_post(m.rank, m.signal);
  finish(&m);
}

void tombolo_caf_put_event(const CFI_cdesc_t *section, int image, const CFI_cdesc_t *value,
                           void *event, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  const struct caf_status to = status_of(stat, errmsg);
  notified_put(&(struct request){"notified_put", section, value, image, event}, &to);
}

void tombolo_caf_put_notify(const CFI_cdesc_t *section, int image, const CFI_cdesc_t *value,
                            void *notify, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  tombolo_caf_put_event(section, image, value, notify, stat, errmsg);
}

void tombolo_caf_get_event(const CFI_cdesc_t *section, int image, const CFI_cdesc_t *into,
                           void *event, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  const struct caf_status to = status_of(stat, errmsg);
  notified_get(&(struct request){"notified_get", section, into, image, event}, &to);
}

void tombolo_caf_get_notify(const CFI_cdesc_t *section, int image, const CFI_cdesc_t *into,
                            void *notify, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  tombolo_caf_get_event(section, image, into, notify, stat, errmsg);
}

void tombolo_caf_notify_wait(uint64_t *notify, const int *until, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  CAF_STATEMENT("notify_wait");
  const struct caf_status to = status_of(stat, errmsg);
  const struct caf_token *t = caf_token_at((const char *)notify);
  if (!t) {
    caf_fail(&to, CAF_STAT_ERROR,
             "notify_wait: argument notify is not a coarray of this image [TMB-2015]");
    return;
  }
  caf_complete();
  caf_consume(notify, until ? *until : 1, "notify_wait", &to);
}

/* ---- asynchronous put and get */

/* Whether a transfer can be left to the layer: both sides have one element type and one shape. */
static bool left_to_layer(const struct move *m) {
  return caf_same_elem(&m->remote_elem, &m->local_elem) && m->local.levels == m->remote.levels;
}

static gex_Event_t begin_put(const struct move *m) {
  const struct caf_section *r = &m->remote, *l = &m->local;
  const size_t bytes = caf_section_elements(r) * r->elem_len;
  if (one_piece(m))
    return gex_RMA_PutNB(caf.tm, m->rank, r->base, l->base, bytes, GEX_EVENT_DEFER, 0);
  return gex_VIS_StridedPutNB(caf.tm, m->rank, r->base, r->stride, l->base, l->stride, r->elem_len,
                              r->count, r->levels, 0);
}

static gex_Event_t begin_get(const struct move *m) {
  const struct caf_section *r = &m->remote, *l = &m->local;
  const size_t bytes = caf_section_elements(r) * r->elem_len;
  if (one_piece(m)) return gex_RMA_GetNB(caf.tm, l->base, m->rank, r->base, bytes, 0);
  return gex_VIS_StridedGetNB(caf.tm, l->base, l->stride, m->rank, r->base, r->stride, r->elem_len,
                              r->count, r->levels, 0);
}

void tombolo_caf_put_async(const CFI_cdesc_t *section, int image, const CFI_cdesc_t *value,
                           int64_t *handle, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  struct move m = {.to = status_of(stat, errmsg)};
  *handle = 0;
  if (!prepare(&m, &(struct request){"put_async", section, value, image, NULL}, true)) return;
  if (caf_section_elements(&m.remote) == 0) {
    finish(&m);
    return;
  }
  if (caf_is_near(m.rank) || !left_to_layer(&m) || caf_attached(m.rank, CAF_ATTACH_WRITE)) {
    caf_assign_remote(m.rank, &m.remote, &m.remote_elem, &m.local, &m.local_elem);
  } else {
    caf_section_await(m.rank, &m.remote);
    *handle = caf_async_add(begin_put(&m), NULL);
    caf_section_pending(m.rank, &m.remote);
  }
  finish(&m);
}

void tombolo_caf_get_async(const CFI_cdesc_t *section, int image, const CFI_cdesc_t *into,
                           int64_t *handle, int *stat, CFI_cdesc_t *errmsg) {
  CAF_INSIDE;
  struct move m = {.to = status_of(stat, errmsg)};
  *handle = 0;
  if (!prepare(&m, &(struct request){"get_async", section, into, image, NULL}, false)) return;
  if (caf_section_elements(&m.remote) == 0) {
    finish(&m);
    return;
  }
  if (caf_is_near(m.rank) || !left_to_layer(&m) || caf_attached(m.rank, CAF_ATTACH_READ)) {
    caf_assign_local(&m.local, &m.local_elem, m.rank, &m.remote, &m.remote_elem);
  } else {
    caf_section_await(m.rank, &m.remote);
    *handle = caf_async_add(begin_get(&m), NULL);
  }
  finish(&m);
}
