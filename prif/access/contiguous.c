/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get of bytes that lie together: prif_get, prif_put, their indirect forms, and puts with
 * notification.
 *
 * Owns nothing. Called by programs. Calls: puts and gets of coarray/, which keep the order of the
 * program to each image (data/pending.h); puts with signal. Invariants: a get is complete when it
 * returns; a put has read its source, and is complete at the next image control statement; a
 * notification is counted when its data are visible, also where there are none.
 */
#include "access/contiguous.h"

#include "data/attach.h"
#include "sync/post.h"

void prif_get_bytes(const struct prif_place *p, void *to, size_t bytes) {
  if (bytes == 0) return;
  caf_get(to, p->rank, p->at, bytes, 0);
  if (caf_attached(p->rank, CAF_ATTACH_READ))
    caf_attach_post(p->rank, &(struct caf_section){.base = p->at, .elem_len = bytes},
                    CAF_ATTACH_READ);
}

void prif_put_bytes(const struct prif_place *p, const void *data, size_t bytes) {
  if (bytes == 0) return;
  if (caf_attached(p->rank, CAF_ATTACH_WRITE))
    caf_attach_put(p->rank, p->at, data, bytes, 0);
  else
    caf_put(p->rank, p->at, data, bytes, 0);
}

/* Data and notification are one operation where posts are signals. */
void prif_put_notify(const struct prif_place *p, const void *data, size_t bytes, void *notify) {
  if (caf.events != CAF_EVENTS_SIGNAL || caf_attached(p->rank, CAF_ATTACH_WRITE)) {
    prif_put_bytes(p, data, bytes);
    if (!caf_is_near(p->rank)) caf_complete();
    caf_post(p->rank, notify);
  } else if (caf_is_near(p->rank)) {
    gexx_RMA_PutSignalBlocking(caf.tm, p->rank, p->at, (void *)(uintptr_t)data, bytes,
                               GEX_EVENT_NOW, notify, GEXX_SIG_ADD, 1, 0);
  } else {
    caf_await(p->rank, p->at, bytes);
    gexx_RMA_PutSignalNBI(caf.tm, p->rank, p->at, (void *)(uintptr_t)data, bytes, GEX_EVENT_NOW,
                          notify, GEXX_SIG_ADD, 1, 0);
    caf_pending_add(p->rank, p->at, bytes);
  }
}

static inline void get(const struct prif_where *where, void *buffer, size_t bytes,
                       const struct prif_status *to) {
  struct prif_place place;
  if (!prif_find(&place, where, bytes, to) || !prif_has_buffer(buffer, bytes, to)) return;
  prif_get_bytes(&place, buffer, bytes);
  prif_finish(place.rank, to);
}

static inline void put(const struct prif_where *where, const void *buffer, size_t bytes,
                       const struct prif_status *to) {
  struct prif_place place;
  if (!prif_find(&place, where, bytes, to) || !prif_has_buffer(buffer, bytes, to)) return;
  prif_put_bytes(&place, buffer, bytes);
  prif_finish(place.rank, to);
}

static void put_with(const struct prif_where *where, const void *buffer, size_t bytes,
                     const struct prif_where *notify, const struct prif_status *to) {
  struct prif_place place, count;
  if (!prif_find(&place, where, bytes, to) || !prif_has_buffer(buffer, bytes, to)) return;
  if (!prif_find_word(&count, notify, to)) return;
  prif_put_notify(&place, buffer, bytes, count.at);
  prif_finish(place.rank, to);
}

void PRIF(get)(PRIF_VARIABLE, PRIF_BYTES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_get");
  get(PRIF_WHERE, *current_image_buffer, *size_in_bytes, PRIF_TO);
}

void PRIF(put)(PRIF_VARIABLE, PRIF_BYTES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put");
  put(PRIF_WHERE, *current_image_buffer, *size_in_bytes, PRIF_TO);
}

void PRIF(get_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_get_indirect");
  get(PRIF_WHERE_AT(remote_ptr), *current_image_buffer, *size_in_bytes, PRIF_TO);
}

void PRIF(put_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_indirect");
  put(PRIF_WHERE_AT(remote_ptr), *current_image_buffer, *size_in_bytes, PRIF_TO);
}

void PRIF(put_with_notify)(PRIF_VARIABLE, PRIF_BYTES, PRIF_NOTIFY, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_with_notify");
  put_with(PRIF_WHERE, *current_image_buffer, *size_in_bytes, PRIF_WHERE_NOTIFY, PRIF_TO);
}

void PRIF(put_with_notify_indirect)(PRIF_VARIABLE, PRIF_BYTES, const intptr_t *notify_ptr,
                                    PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_with_notify_indirect");
  put_with(PRIF_WHERE, *current_image_buffer, *size_in_bytes, PRIF_WHERE_AT(notify_ptr), PRIF_TO);
}

void PRIF(put_indirect_with_notify)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES, PRIF_NOTIFY,
                                    PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_indirect_with_notify");
  put_with(PRIF_WHERE_AT(remote_ptr), *current_image_buffer, *size_in_bytes, PRIF_WHERE_NOTIFY,
           PRIF_TO);
}

void PRIF(put_indirect_with_notify_indirect)(PRIF_ADDRESS(remote_ptr), PRIF_BYTES,
                                             const intptr_t *notify_ptr, PRIF_STATUS) {
  PRIF_STATEMENT("prif_put_indirect_with_notify_indirect");
  put_with(PRIF_WHERE_AT(remote_ptr), *current_image_buffer, *size_in_bytes,
           PRIF_WHERE_AT(notify_ptr), PRIF_TO);
}
