/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective subroutines of teams that were formed after the loss of an image.
 *
 * Owns nothing beyond a call. Called by collective.c. Calls: caf_share, gets. Invariants: the layer
 * has no team for these images, so each shows its data in its segment, sends the others the place,
 * and reads theirs: slow for many images, and rare. Results are combined in the order of images, so
 * all images get equal bits.
 */
#include "collective/collective.h"

#include <stdlib.h>
#include <string.h>

/* A copy of the data where the others can read it, and where everybody's is. */
struct shown {
  void *copy;      /* in the segment */
  uint64_t *where; /* [size] */
};

static int show(struct shown *s, struct caf_team *team, const void *data, size_t bytes) {
  s->copy = caf_heap_alloc(bytes);
  s->where = calloc(team->size, sizeof *s->where);
  if (s->copy) memcpy(s->copy, data, bytes);
  if (!s->where) return CAF_STAT_ERROR;
  return caf_share(team, (uintptr_t)s->copy, s->where);
}

/* The others have read the words that they need. */
static int hide(struct shown *s, struct caf_team *team) {
  const int code = caf_meet(team);
  caf_heap_free(s->copy);
  free(s->where);
  return code;
}

int caf_survivors_broadcast(struct caf_team *team, uint32_t source, void *data, size_t bytes) {
  struct shown s;
  const int code = show(&s, team, data, bytes);
  if (!code && s.where[source] && source != team->rank)
    gex_RMA_GetBlocking(caf.tm, data, team->jobrank[source], (void *)s.where[source], bytes, 0);
  const int after = hide(&s, team);
  return code ? code : after;
}

int caf_survivors_reduce(struct caf_team *team, void *data, size_t bytes,
                         void (*fold)(void *arg, const void *in, void *inout), void *arg) {
  struct shown s;
  char *in = malloc(bytes + 1);
  int code = show(&s, team, data, bytes);
  if (!in) code = CAF_STAT_ERROR;
  /* From the last image to the first: fold(in, inout) is in op inout. */
  for (uint32_t i = team->size; !code && i-- > 0;) {
    char *to = i == team->size - 1 ? data : in;
    if (!s.where[i])
      code = CAF_STAT_ERROR;
    else
      gex_RMA_GetBlocking(caf.tm, to, team->jobrank[i], (void *)s.where[i], bytes, 0);
    if (!code && to == in) fold(arg, in, data);
  }
  free(in);
  const int after = hide(&s, team);
  return code ? code : after;
}
