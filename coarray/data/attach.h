/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attached events: sections whose remote writes, or reads, post an event of their owner.
 *
 * Owns: the format of an image's list of attached sections. Included by attach.c, assign.c,
 * watch.c and remote.c, and by transfer.c for its short path. Calls nothing. Invariants: the list
 * lies in the owner's segment; every image has a word for every other one, written by the owner
 * alone, that says whether there is a list and which version; so an assignment to an image without
 * attached events costs one load.
 */
#ifndef CAF_ATTACH_H
#define CAF_ATTACH_H

#include "section.h"

enum { CAF_ATTACH_WRITE = 1, CAF_ATTACH_READ = 2 };

/* Whether a rank has sections whose writes or reads (kind) post events. */
static inline bool caf_attached(uint32_t rank, unsigned kind) {
  return __builtin_expect((caf.attached[rank] & kind) != 0, 0);
}

/* Summary of the list of another image, at the begin of its copy: all of its sections lie in
 * [low, high). */
struct caf_attach_range {
  uint64_t version, low, high;
};

/* As caf_attached, for an access to `bytes` at `at`: false also where the list is known and has no
 * section there. */
static inline bool caf_attached_there(uint32_t rank, const void *at, size_t bytes) {
  const struct caf_attach_range *known = (const void *)caf.attach_copy[rank];
  return !known || known->version != caf.attached[rank] >> 2 ||
         ((uintptr_t)at < known->high && (uintptr_t)at + bytes > known->low);
}
static inline bool caf_attached_at(uint32_t rank, unsigned kind, const void *at, size_t bytes) {
  return caf_attached(rank, kind) && caf_attached_there(rank, at, bytes);
}

/* Whether an access (kind) to some of the `bytes` at `at` of a rank may post an event. Reads the
 * list where it is not known. */
bool caf_attached_within(uint32_t rank, unsigned kind, const void *at, size_t bytes);

/* A section of a rank has been written, or read: posts each event that is attached to a section
 * which shares memory with it, once. */
void caf_attach_post(uint32_t rank, const struct caf_section *s, unsigned kind);

/* A section of this image to which an event is attached. */
struct caf_attachment {
  uint64_t *event;
  struct caf_section section;
};

/* Most attachments of an image. */
enum { CAF_ATTACH_MAX = 64 };

/* Finds the attached sections of this image for writes or reads (kind). [out] at: [CAF_ATTACH_MAX].
 * Returns how many there are. */
size_t caf_attach_own(unsigned kind, struct caf_attachment *at);

/* Puts contiguous data into a rank with attached events. flags: as of caf_put. */
void caf_attach_put(uint32_t rank, void *remote, const void *data, size_t bytes, gex_Flags_t flags);

#endif
