/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coarrays: allocation, deallocation, aliases; and memory of one image that others may access.
 *
 * Owns: struct prif_block, and which handles a coarray has. Called by programs. Calls: the heap and
 * the coarrays of coarray/. Invariants: a coarray has one block of equal size on each image of its
 * team. It ends with all of its handles. Before its memory goes, all images of the team have come,
 * and then the cleanup has ended on each of them. Threads of an image may call prif_allocate and
 * prif_deallocate at once.
 */
#include "memory/memory.h"

#include "data/pending.h"
#include "sync/post.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void destroy_handle(struct prif_co *co) {
  struct prif_co **at = &co->block->handles;
  while (*at != co) at = &(*at)->next;
  *at = co->next;
  prif_handle_free(co);
}

/* Adds a handle to a block. NULL after prif_fail. */
static struct prif_co *add_handle(struct prif_block *block, const struct prif_status *to) {
  struct prif_co *const co = prif_handle_new();
  if (!co) {
    prif_fail(to, PRIF_STAT_OUT_OF_MEMORY, "%s: out of memory for a coarray handle [TMB-0001]",
              caf.statement.call);
    return NULL;
  }
  co->block = block;
  co->next = block->handles;
  block->handles = co;
  return co;
}

static void free_block(struct caf_token *token) {
  struct prif_block *const block = token->owner;
  while (block->handles) destroy_handle(block->handles);
  free(block);
  caf_coarray_free(token);
}

static void clean_up(const struct caf_token *token) {
  const struct prif_block *const block = token->owner;
  struct prif_co *first = block->handles;
  while (first->alias) first = first->next;
  if (block->cleanup) block->cleanup(first);
}

/* ---- allocation */

enum { OF_ENDED = 2034 }; /* number of the core's message that an image has ended */

/* Makes the coarray of a handle. Where an image has no memory, all find that out. Without STAT=,
 * the program ends here rather than in the core, with the code of PRIF. */
static void allocate(struct prif_co *co, size_t bytes, const struct prif_status *to) {
  struct prif_core core = {.stat = 0};
  co->token = caf_coarray_new(bytes, CAF_STATIC,
                              &(struct caf_status){&core.stat, core.text, sizeof core.text});
  if (core.stat == 0) {
    prif_done(to);
    return;
  }
  const bool memory = core.stat == CAF_STAT_ERROR;
  char text[PRIF_TEXT_ROOM];
  int len = (int)sizeof core.text;
  while (len > 0 && core.text[len - 1] == ' ') len--;
  snprintf(text, sizeof text, "%.*s [TMB-%04d]", len, core.text, memory ? 1 : OF_ENDED);
  prif_fail(to, memory ? PRIF_STAT_OUT_OF_MEMORY : prif_code_of(core.stat), "%s", text);
}

/* An image that cannot describe its coarray takes part, so that the others find out. */
static void stand_aside(void) {
  char text[1];
  int stat = 0;
  (void)caf_coarray_new(SIZE_MAX, CAF_STATIC, &(struct caf_status){&stat, text, sizeof text});
}

void PRIF(allocate_coarray)(const struct prif_desc *lcobounds, const struct prif_desc *ucobounds,
                            const size_t *size_in_bytes, prif_cleanup_fn *const *final_proc,
                            prif_handle *coarray_handle, void **allocated_memory, PRIF_STATUS) {
  PRIF_STATEMENT("prif_allocate_coarray");
  struct prif_block *const block = calloc(1, sizeof *block);
  if (!block) {
    prif_fail(PRIF_TO, PRIF_STAT_OUT_OF_MEMORY,
              "prif_allocate_coarray: out of memory for the description of a coarray [TMB-0001]");
    return;
  }
  block->team = caf.team;
  block->cleanup = final_proc ? *final_proc : NULL;
  struct prif_co *const co = add_handle(block, PRIF_TO);
  if (co && prif_bounds_set(co, lcobounds, ucobounds, caf.team->size, PRIF_TO))
    allocate(co, *size_in_bytes, PRIF_TO);
  else
    stand_aside();
  if (co && co->token) {
    co->token->owner = block;
    *coarray_handle = co;
    *allocated_memory = co->token->base;
    return;
  }
  if (co) destroy_handle(co);
  free(block);
}

void PRIF(allocate)(const size_t *size_in_bytes, void **allocated_memory, PRIF_STATUS) {
  PRIF_STATEMENT("prif_allocate");
  void *const memory = caf_heap_alloc(*size_in_bytes);
  if (!memory) {
    prif_fail(PRIF_TO, PRIF_STAT_OUT_OF_MEMORY,
              "prif_allocate: out of memory for size_in_bytes %zu: the largest free block of this "
              "image's %zu bytes has %zu; set GASNET_MAX_SEGSIZE to more [TMB-0001]",
              *size_in_bytes, (size_t)caf.segment_bytes, caf_heap_largest());
    return;
  }
  caf_heap_mark(memory);
  caf_posts_forget(memory, *size_in_bytes);
  *allocated_memory = memory;
  prif_done(PRIF_TO);
}

/* ---- deallocation */

/* The coarray that a handle may deallocate; NULL after prif_fail. */
static struct prif_co *to_free(prif_handle handle, const struct prif_status *to) {
  struct prif_co *const co = prif_coarray(handle, to);
  if (!co) return NULL;
  if (co->alias) {
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: handle %p is an alias: pass the handle of prif_allocate_coarray, or call "
              "prif_alias_destroy [TMB-2213]",
              caf.statement.call, (void *)handle);
    return NULL;
  }
  if (co->block->team != caf.team) {
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: coarray handle %p: the coarray was allocated in team %lld, and the current team "
              "is %lld: deallocate it there [TMB-2212]",
              caf.statement.call, (void *)handle, (long long)co->block->team->number,
              (long long)caf.team->number);
    return NULL;
  }
  return co;
}

/* All images of the team have come for these coarrays. Returns as caf_meet_to_free. */
static int meet(struct prif_co *const *co, size_t count, const struct caf_status *to) {
  int code = 0;
  for (size_t i = 0; i < count; i++) {
    const int now = caf_meet_to_free(co[i]->token, to);
    if (now == CAF_STAT_STOPPED || now == CAF_STAT_ERROR) return now;
    code = now ? now : code;
  }
  return code;
}

/* Runs the cleanup, and frees when all images have done that. Returns as caf_barrier. */
static int release(struct prif_co *const *co, size_t count) {
  for (size_t i = 0; i < count; i++) clean_up(co[i]->token);
  const int code = caf_barrier(caf.team);
  for (size_t i = 0; i < count; i++) free_block(co[i]->token);
  return code;
}

/* Deallocates coarrays of the current team, all of which are valid. */
static void deallocate(struct prif_co *const *co, size_t count, const struct prif_status *to) {
  struct prif_core core;
  char who[CAF_ENDED_ROOM];
  const char *const name = caf.statement.call; /* a cleanup may call others */
  int code = meet(co, count, prif_core(&core, to));
  if (code == CAF_STAT_ERROR) {
    prif_pass(to, &core);
    return;
  }
  const int after = code == CAF_STAT_STOPPED ? 0 : release(co, count);
  if (code == 0) code = after;
  if (code && (code == CAF_STAT_STOPPED || to->stat))
    prif_fail(to, prif_code_of(code), "%s: %s has %s [TMB-2211]", name,
              caf_ended_images(caf.team, code, who, sizeof who), caf_end_name(code));
  else
    prif_done(to);
}

void PRIF(deallocate_coarray)(const prif_handle *coarray_handle, PRIF_STATUS) {
  PRIF_STATEMENT("prif_deallocate_coarray");
  struct prif_co *const co = to_free(*coarray_handle, PRIF_TO);
  if (co) deallocate(&co, 1, PRIF_TO);
}

/* Whether a handle is in the list before place i, which is an error. */
static bool is_listed_twice(struct prif_co *const *co, size_t i, const struct prif_status *to) {
  for (size_t k = 0; k < i; k++) {
    if (co[k] != co[i]) continue;
    prif_fail(to, PRIF_STAT_ERROR,
              "%s: elements %zu and %zu of coarray_handles are the same: name each coarray once "
              "[TMB-2210]",
              caf.statement.call, k + 1, i + 1);
    return true;
  }
  return false;
}

void PRIF(deallocate_coarrays)(const struct prif_desc *coarray_handles, PRIF_STATUS) {
  PRIF_STATEMENT("prif_deallocate_coarrays");
  const size_t count = prif_desc_count(coarray_handles);
  struct prif_co **const co = calloc(count + 1, sizeof *co);
  bool valid = co != NULL;
  if (!co)
    prif_fail(PRIF_TO, PRIF_STAT_OUT_OF_MEMORY,
              "prif_deallocate_coarrays: out of memory for a list of %zu handles [TMB-0001]",
              count);
  for (size_t i = 0; i < count && valid; i++) {
    co[i] = to_free(*(prif_handle *)prif_desc_at(coarray_handles, i), PRIF_TO);
    valid = co[i] && !is_listed_twice(co, i, PRIF_TO);
  }
  if (valid) deallocate(co, count, PRIF_TO);
  free(co);
}

/* Waits for the puts that this image has begun, one of its threads at a time. */
static void complete(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  caf_complete();
  pthread_mutex_unlock(&lock);
}

void PRIF(deallocate)(void *const *mem, PRIF_STATUS) {
  PRIF_STATEMENT("prif_deallocate");
  if (!caf_heap_is_marked(*mem)) {
    prif_fail(PRIF_TO, PRIF_STAT_ERROR,
              "prif_deallocate: mem is %p, which is no memory of prif_allocate, or was deallocated "
              "[TMB-2209]",
              *mem);
    return;
  }
  complete();
  caf_heap_free(*mem);
  prif_done(PRIF_TO);
}

void prif_free_coarrays(struct caf_team *team) {
  if (!team->coarrays) return; /* equal on all images */
  for (struct caf_token *t = team->coarrays; t; t = t->next) clean_up(t);
  (void)caf_barrier(team);
  while (team->coarrays) free_block(team->coarrays);
}

/* ---- aliases */

void PRIF(alias_create)(const prif_handle *source_handle, const struct prif_desc *alias_lcobounds,
                        const struct prif_desc *alias_ucobounds, const size_t *data_pointer_offset,
                        prif_handle *alias_handle) {
  PRIF_STATEMENT("prif_alias_create");
  const struct prif_co *const source = prif_coarray(*source_handle, PRIF_NO_STATUS);
  const size_t room = source->token->bytes - source->offset;
  if (*data_pointer_offset > room)
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "prif_alias_create: data_pointer_offset is %zu: the source has %zu bytes [TMB-2208]",
              *data_pointer_offset, room);
  struct prif_co *const co = add_handle(source->block, PRIF_NO_STATUS);
  co->token = source->token;
  co->offset = source->offset + *data_pointer_offset;
  co->alias = true;
  (void)prif_bounds_set(co, alias_lcobounds, alias_ucobounds, caf.team->size, PRIF_NO_STATUS);
  *alias_handle = co;
}
PRIF_FLANG(alias_create)

void PRIF(alias_destroy)(const prif_handle *alias_handle) {
  PRIF_STATEMENT("prif_alias_destroy");
  struct prif_co *const co = prif_coarray(*alias_handle, PRIF_NO_STATUS);
  if (!co->alias)
    prif_fail(PRIF_NO_STATUS, PRIF_STAT_ERROR,
              "prif_alias_destroy: handle %p is no alias: call prif_deallocate_coarray [TMB-2207]",
              (void *)co);
  destroy_handle(co);
}
PRIF_FLANG(alias_destroy)
