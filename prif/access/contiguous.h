/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put and get of bytes that lie together, and the notification of a put.
 *
 * Owns nothing. Included by the files of this room. Calls nothing. Invariants: places and buffers
 * have been checked; a get is complete when it returns, a put at the next image control statement.
 */
#ifndef PRIF_CONTIGUOUS_H
#define PRIF_CONTIGUOUS_H

#include "access/place.h"

/* Reads or writes bytes. The source of a put may be changed after the return. */
void prif_get_bytes(const struct prif_place *place, void *to, size_t bytes);
void prif_put_bytes(const struct prif_place *place, const void *data, size_t bytes);

/* Writes bytes, which may be none, and counts one in a notify variable of that image when they are
 * visible there. */
void prif_put_notify(const struct prif_place *place, const void *data, size_t bytes, void *notify);

/* Whether current_image_buffer is there for `bytes`; false after prif_fail. */
static inline bool prif_has_buffer(const void *buffer, size_t bytes, const struct prif_status *to) {
  if (__builtin_expect(buffer != NULL || bytes == 0, 1)) return true;
  prif_fail(to, PRIF_STAT_ERROR,
            "%s: current_image_buffer is null: pass the address of the data of this image",
            caf.statement.call);
  return false;
}

#endif
