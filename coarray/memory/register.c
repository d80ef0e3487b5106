/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration of coarrays and of allocatable and pointer components.
 *
 * Owns nothing; token.c has the tokens. Called by compiled programs: constructors for
 * static coarrays, ALLOCATE and DEALLOCATE for the rest. Calls: the heap, an all-gather of
 * addresses. Invariants: registering a coarray is collective over the current team, in one order on
 * all of its images; components are local. New memory is zero for locks and events only.
 */
#include "inside.h"
#include "memory/token.h"
#include "sync/post.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CAF_EXPORT void CAF(register)(size_t size, int type, void **token_p, struct caf_desc *desc,
                              int *stat, char *errmsg, size_t errmsg_len);
CAF_EXPORT void CAF(deregister)(void **token_p, int type, int *stat, char *errmsg,
                                size_t errmsg_len);

#define WORD_BYTES 8u /* of a lock or an event: the compiler's addressing counts elements */

/* Send the team the place of this image's memory; an odd number stands for none. Returns 0 when
 * every image that is left has got some, else a code, equal on all images. */
static int gather(struct caf_token *t) {
  struct caf_team *team = caf.team;
  const uint64_t mine = t->base ? (uintptr_t)t->base : 1;
  if (team->size == 1 && !caf.shown && !caf.ordered) { /* it meets nobody */
    t->addr[caf.rank] = mine;
    return t->base ? 0 : CAF_STAT_ERROR;
  }
  uint64_t *all = calloc(team->size, sizeof *all);
  if (!all) return CAF_STAT_ERROR;
  int code = CAF_STAT_FAILED;
  __atomic_store_n(&team->words->slot, mine, __ATOMIC_RELEASE);
  if (caf_team_whole(team)) {
    code = caf_wait_event(gexx_Coll_AllGatherNB(team->tm, all, &mine, sizeof mine, 0), team);
    if (code == CAF_STAT_FAILED) team->words->begun--; /* it was cut short */
  }
  /* Read the words that the layer did not bring. One collective, as the layer's is: images that it
   * did bring it to take part in no other. Until the SYNC ALL that ends ALLOCATE no image sends
   * anything else. */
  if (code == CAF_STAT_FAILED) code = caf_read_slots(team, all);
  if (code == CAF_STAT_FAILED) code = 0;
  for (uint32_t i = 0; i < team->size; i++) {
    if (all[i] & 1 && !code) code = CAF_STAT_ERROR;
    t->addr[team->jobrank[i]] = all[i];
  }
  free(all);
  return code;
}

/* End an ALLOCATE that cannot be done. */
static void say_why(const struct caf_status *to, int code, size_t bytes, bool mine) {
  char who[CAF_ENDED_ROOM];
  if (code != CAF_STAT_ERROR)
    caf_fail(to, code, "ALLOCATE of a coarray: %s has %s [TMB-2034]",
             caf_ended_images(caf.team, code, who, sizeof who), caf_end_name(code));
  else if (mine)
    caf_fail(
        to, code,
        "another image of the team is out of memory for this coarray of %zu bytes, refuses its "
        "bounds, or has ended [TMB-0001]",
        bytes);
  else
    caf_fail(to, code,
             "out of memory for a coarray of %zu bytes: the largest free block of this "
             "image's %zu bytes has %zu; set GASNET_MAX_SEGSIZE to more [TMB-0001]",
             bytes, (size_t)caf.segment_bytes, caf_heap_largest());
}

struct caf_token *caf_coarray_new(size_t bytes, int type, const struct caf_status *to) {
  struct caf_token *t = caf_token_new(caf.size, type);
  if (t) t->base = caf_heap_alloc(bytes);
  if (!t) {
    caf_fail(to, CAF_STAT_ERROR, "out of memory for the description of a coarray [TMB-0001]");
    return NULL;
  }
  t->bytes = bytes;
  t->serial = ++caf.team->registered;
  if (t->base && type >= CAF_LOCK_STATIC && type <= CAF_EVENT_ALLOC) memset(t->base, 0, bytes);
  if (t->base) caf_posts_forget(t->base, bytes);
  const bool mine = t->base != NULL;
  int code = gather(t);
  if (!code) code = caf_barrier(caf.team);
  if (code) {
    caf_heap_free(t->base);
    free(t);
    say_why(to, code, bytes, mine);
    return NULL;
  }
  caf_token_join(t);
  caf_ok(to->stat);
  return t;
}

/* Describes the variable of a new token. */
static void describe(struct caf_token *t, void **token_p, struct caf_desc *desc) {
  t->desc = desc;
  t->token_p = token_p;
  t->rank = desc->dtype.rank;
  t->elem_type = desc->dtype.type;
  t->elem_bytes = desc->dtype.elem_len;
  t->sizes = caf_sizes_of(t->bytes, t->elem_bytes);
  if (desc->dtype.type == CAF_CHARACTER) t->char_bytes = desc->dtype.elem_len;
}

static void register_coarray(size_t bytes, int type, void **token_p, struct caf_desc *desc,
                             const struct caf_status *to) {
  struct caf_token *t = caf_coarray_new(bytes, type, to);
  caf.allocate_stat = to->stat != NULL;
  if (!t) return;
  describe(t, token_p, desc);
  *token_p = t;
  desc->base = t->base;
}

/* A token for the associate name of a coarray, or of a section of one: of CHANGE TEAM or ASSOCIATE.
 * The token lasts as long as the coarray: the compiler never says that the name has ended, and
 * passes that place again for the next one. */
static void map_existing(void **token_p, struct caf_desc *desc, const struct caf_status *to) {
  struct caf_token *of = (struct caf_token *)(uintptr_t)caf_token_at(desc->base), *t;
  if (!of) {
    caf_fail(to, CAF_STAT_ERROR,
             "an associate name with an image index does not name a coarray of this image, or a "
             "section of one [TMB-2066]");
    return;
  }
  for (t = of->names; t && t->token_p != token_p; t = t->next) {}
  if (!t && !(t = caf_token_new(caf.size, CAF_MAP_EXISTING))) {
    caf_fail(to, CAF_STAT_ERROR, "out of memory for the description of a coarray [TMB-0001]");
    return;
  }
  if (!t->token_p) {
    t->next = of->names;
    of->names = t;
  }
  const size_t offset = (size_t)((char *)desc->base - (char *)of->base);
  t->base = desc->base;
  t->bytes = of->bytes - offset;
  for (uint32_t r = 0; r < of->ranks; r++) {
    t->addr[r] = of->addr[r] ? of->addr[r] + offset : 0;
    t->here[r] = 0;
  }
  describe(t, token_p, desc);
  *token_p = t;
  caf_ok(to->stat);
}

/* Memory for a component; its token may be there already, from CAF_REGISTER_ONLY, or any word. */
static void allocate_component(size_t bytes, void **token_p, struct caf_desc *desc,
                               const struct caf_status *to) {
  struct caf_token *t = *token_p;
  if (caf_component_is(t) != CAF_COMPONENT) *token_p = t = caf_component_new();
  void *memory = t ? caf_heap_alloc(bytes) : NULL;
  if (!memory) {
    caf_fail(
        to, CAF_STAT_ERROR,
        "out of memory for a component of %zu bytes: the largest free block of this image's %zu "
        "bytes has %zu; set GASNET_MAX_SEGSIZE to more [TMB-0001]",
        bytes, (size_t)caf.segment_bytes, caf_heap_largest());
    return;
  }
  t->base = desc->base = memory;
  t->bytes = bytes;
  caf_ok(to->stat);
}

/* Whether a token is that of a component, in memory of a coarray or of another component. gfortran
 * 12 asks for a coarray's memory for one when an assignment allocates it, which one image may do
 * alone. */
static bool is_in_coarray(void **token_p) {
  return (uintptr_t)token_p - (uintptr_t)caf.segment < caf.segment_bytes;
}

/* The live coarray whose token has the place of a new request's, or NULL. When an allocatable
 * coarray is allocated again, the request has its descriptor, too. */
static const struct caf_token *taken(void *const *token_p, const struct caf_desc *desc) {
  for (const struct caf_team *team = caf.team; team; team = team->parent)
    for (const struct caf_token *t = team->coarrays; t; t = t->next)
      if (t == *token_p && t->token_p == token_p && (t->type == CAF_STATIC || t->desc != desc))
        return t;
  return NULL;
}

/* gfortran 12 has asked for the memory of a component with the token of the coarray itself. */
static void refuse_polymorphic(const struct caf_token *t, const struct caf_status *to) {
  char name[CAF_NAME_ROOM];
  caf_fail(
      to, CAF_STAT_ERROR,
      "ALLOCATE of a polymorphic component (CLASS) of %s: gfortran asks for it as for the "
      "coarray itself, which would be lost; declare the component TYPE instead of CLASS [TMB-2032]",
      caf_name_of(t, name, sizeof name));
}

void CAF(register)(size_t size, int type, void **token_p, struct caf_desc *desc, int *stat,
                   char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("ALLOCATE");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  const struct caf_token *t;
  caf_start(NULL, NULL);
  switch (type) {
  case CAF_STATIC:
  case CAF_ALLOC:
    if (is_in_coarray(token_p))
      allocate_component(size, token_p, desc, &to);
    else if ((t = taken(token_p, desc)) != NULL)
      refuse_polymorphic(t, &to);
    else
      register_coarray(size, type, token_p, desc, &to);
    break;
  case CAF_LOCK_STATIC:
  case CAF_LOCK_ALLOC:
  case CAF_CRITICAL:
  case CAF_EVENT_STATIC:
  case CAF_EVENT_ALLOC:
    register_coarray((size ? size : 1) * WORD_BYTES, type, token_p, desc, &to);
    break;
  case CAF_REGISTER_ONLY:
    *token_p = caf_component_new();
    if (*token_p)
      caf_ok(stat);
    else
      caf_fail(&to, CAF_STAT_ERROR, "out of memory for the description of a component [TMB-0001]");
    break;
  case CAF_ALLOCATE_ONLY: allocate_component(size, token_p, desc, &to); break;
  case CAF_MAP_EXISTING: map_existing(token_p, desc, &to); break;
  default:
    caf_fail(&to, CAF_STAT_ERROR,
             "the compiler asks for memory of type %d, which this library does not know [TMB-2031]",
             type);
  }
}

void caf_coarray_free(struct caf_token *t) {
  caf_token_leave(t);
  for (struct caf_token *name; (name = t->names) != NULL;) {
    t->names = name->next;
    free(name);
  }
  caf_heap_free(t->base);
  free(t);
}

/* Complain that another image deallocates the coarray with that number. */
static void say_order(const struct caf_token *t, uint32_t other, uint32_t serial,
                      const struct caf_status *to) {
  char mine[CAF_NAME_ROOM], theirs[CAF_NAME_ROOM];
  const struct caf_token *u = caf.team->coarrays;
  while (u && u->serial != serial) u = u->next;
  caf_fail(to, CAF_STAT_ERROR,
           "DEALLOCATE in different order: this image deallocates %s (number %u of its team, %zu "
           "bytes), image %u %s (number %u, %zu bytes) [TMB-2030]",
           caf_name_of(t, mine, sizeof mine), t->serial, t->bytes, other + 1,
           caf_name_of(u, theirs, sizeof theirs), serial, u ? u->bytes : 0);
}

int caf_meet_to_free(const struct caf_token *t, const struct caf_status *to) {
  struct caf_team *team = caf.team;
  const uint64_t number = team->words->begun + 1;
  __atomic_store_n(&team->words->freed[number % 2], number << 32 | t->serial, __ATOMIC_RELEASE);
  const int code = caf_barrier(team);
  if (code || team->size == 1) return code;
  const uint32_t next = team->rank + 1 < team->size ? team->rank + 1 : 0;
  const struct caf_words *there = (const struct caf_words *)team->words_at[next];
  uint64_t word = 0;
  gex_RMA_GetBlocking(caf.tm, &word, team->jobrank[next],
                      (void *)(uintptr_t)&there->freed[number % 2], sizeof word, 0);
  /* Another number: it is in a later statement already, or fails otherwise. */
  if (word >> 32 != (uint32_t)number || (uint32_t)word == t->serial) return 0;
  say_order(t, next, (uint32_t)word, to);
  return CAF_STAT_ERROR;
}

void CAF(deregister)(void **token_p, int type, int *stat, char *errmsg, size_t errmsg_len) {
  CAF_INSIDE;
  CAF_STATEMENT("DEALLOCATE");
  const struct caf_status to = {stat, errmsg, errmsg_len};
  struct caf_token *t = *token_p;
  const enum caf_component component = caf_component_is(t);
  if (component == CAF_COMPONENT) {
    caf_heap_free(t->base);
    t->base = NULL;
    if (type == 0) {
      caf_component_free(t);
      *token_p = NULL;
    }
  }
  if (!t || component != CAF_NO_COMPONENT || t->type == CAF_MAP_EXISTING) {
    caf_ok(stat);
    return;
  }
  /* Nobody may still be using the coarray. */
  const int code = caf_meet_to_free(t, &to);
  char who[CAF_ENDED_ROOM];
  if (code == CAF_STAT_ERROR) return;
  if (code == CAF_STAT_STOPPED) {
    caf_fail(&to, code, "DEALLOCATE of a coarray: %s has ended [TMB-2029]",
             caf_ended_images(caf.team, code, who, sizeof who));
    return;
  }
  caf_coarray_free(t);
  *token_p = NULL;
  if (code && stat)
    caf_fail(&to, code, "DEALLOCATE of a coarray: %s has failed [TMB-2028]",
             caf_ended_images(caf.team, code, who, sizeof who));
  else
    caf_ok(stat);
}

/* Make the variable unallocated: its procedure still runs if the descriptor still has the address,
 * as coarrays are deallocated when their procedure ends. */
static void forget(const struct caf_token *t) {
  if (t->type != CAF_ALLOC && t->type != CAF_LOCK_ALLOC && t->type != CAF_EVENT_ALLOC) return;
  if (!t->desc || t->desc->base != t->base) return;
  t->desc->base = NULL;
  if (*t->token_p == t) *t->token_p = NULL;
}

void caf_team_free_coarrays(struct caf_team *team) {
  for (struct caf_token *t; (t = team->coarrays) != NULL;) {
    forget(t);
    caf_coarray_free(t);
  }
}
