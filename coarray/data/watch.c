/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attached events and accessors: finds which attached sections an accessor writes or reads.
 *
 * Owns nothing beyond a call. Called by remote.c where sections are attached. Calls: accessors,
 * attach.c, posts. The problem: an accessor is a function of the program, and nothing says which
 * memory it accesses. So it is tried on a copy of the coarray before it is called on the coarray
 * itself. A byte that it writes cannot keep both of two values, so two trials find it: one with all
 * attached bytes 0, one with all bits 1. The memory that it reads changes its result: a trial for
 * each section finds that. Invariants: the copy has the values of the coarray only where these may
 * be addresses, else zeros, of which the kernel makes pages when they are touched. Components that
 * are allocated lie elsewhere: of those a write is found by the change that it makes, a read is
 * not.
 */
#include "data/watch.h"

#include "data/attach.h"
#include "sync/post.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* An attached section of an access that is watched. */
struct watched {
  struct caf_attachment at;
  struct caf_section copy; /* the section in the copy of the coarray; base NULL: it is elsewhere */
  char *before;            /* elsewhere: its elements before the access */
  bool hit;
};

struct watch {
  const struct caf_ask *ask;
  const struct caf_asker *asker;
  char *object; /* in the copy */
  struct watched *at;
  size_t count;
};

struct fill {
  size_t bytes;
  int value;
  bool differs; /* out: whether a byte has another value */
};

static void fill_element(void *arg, char *element) {
  const struct fill *f = arg;
  memset(element, f->value, f->bytes);
}

static void test_element(void *arg, char *element) {
  struct fill *f = arg;
  for (size_t i = 0; i < f->bytes && !f->differs; i++)
    f->differs = (unsigned char)element[i] != f->value;
}

static void fill(const struct caf_section *s, int value) {
  struct fill f = {.bytes = s->elem_len, .value = value};
  caf_section_each(s, fill_element, &f);
}

static bool differs(const struct caf_section *s, int value) {
  struct fill f = {.bytes = s->elem_len, .value = value};
  caf_section_each(s, test_element, &f);
  return f.differs;
}

static size_t bytes_of(const struct caf_section *s) {
  return caf_section_elements(s) * s->elem_len;
}

/* The elements of a section elsewhere; malloc'ed, NULL: no memory. */
static char *elements_of(const struct caf_section *s) {
  char *elements = malloc(bytes_of(s) + 1);
  if (elements) caf_section_pack(s, elements);
  return elements;
}

/* Tries a put. */
static void try_put(struct watch *w, int value) {
  struct caf_found found;
  for (size_t i = 0; i < w->count; i++)
    if (w->at[i].copy.base) fill(&w->at[i].copy, value);
  (void)caf_accessor_call(w->ask, w->object, w->asker, &found);
  for (size_t i = 0; i < w->count; i++)
    if (w->at[i].copy.base && !w->at[i].hit) w->at[i].hit = differs(&w->at[i].copy, value);
}

/* Tries a get. Returns its result, malloc'ed, or NULL. [out] bytes: of it. */
static char *try_get(const struct watch *w, size_t *bytes) {
  struct caf_found found;
  struct caf_section s = {.elem_len = w->ask->result_bytes};
  if (w->ask->result_chars) s.elem_len *= w->ask->result_chars;
  struct caf_ask ask = *w->ask;
  struct caf_desc shape = {.base = NULL};
  if (ask.result) ask.result = &shape;
  if (caf_accessor_call(&ask, w->object, w->asker, &found) || !found.at) return NULL;
  s.base = found.at;
  if (ask.result) caf_section_of(&s, &found.desc, found.at, NULL);
  *bytes = bytes_of(&s);
  char *result = elements_of(&s);
  if (found.owned) free(found.at);
  return result;
}

/* Tries a get for each section, with other values there. */
static void try_gets(struct watch *w) {
  size_t bytes = 0, changed_bytes = 0;
  for (size_t i = 0; i < w->count; i++)
    if (w->at[i].copy.base) fill(&w->at[i].copy, 0);
  char *result = try_get(w, &bytes);
  for (size_t i = 0; i < w->count && result; i++) {
    if (!w->at[i].copy.base) continue;
    fill(&w->at[i].copy, UINT8_MAX);
    char *changed = try_get(w, &changed_bytes);
    w->at[i].hit = changed && (bytes != changed_bytes || memcmp(result, changed, bytes) != 0);
    free(changed);
    fill(&w->at[i].copy, 0);
  }
  free(result);
}

/* Lists the attached sections, where they are in the copy of the coarray. */
static void list(struct watch *w, const struct caf_token *token, ptrdiff_t to_copy) {
  struct caf_attachment *own = malloc(CAF_ATTACH_MAX * sizeof *own);
  const bool put = w->ask->kind == CAF_ACCESS_PUT;
  w->at = calloc(CAF_ATTACH_MAX, sizeof *w->at);
  w->count = own && w->at ? caf_attach_own(put ? CAF_ATTACH_WRITE : CAF_ATTACH_READ, own) : 0;
  for (size_t i = 0; i < w->count; i++) {
    struct watched *at = &w->at[i];
    at->at = own[i];
    at->copy = own[i].section;
    const char *base = own[i].section.base;
    if ((size_t)(base - (const char *)token->base) < token->bytes) {
      at->copy.base += to_copy;
    } else {
      at->copy.base = NULL;
      if (put && !caf_token_at(base)) at->before = elements_of(&at->at.section);
    }
  }
  free(own);
}

/* Posts the events of sections that were written, each event once. */
static void post_hits(struct watch *w) {
  for (size_t i = 0; i < w->count; i++) {
    struct watched *at = &w->at[i];
    char *after = at->before ? elements_of(&at->at.section) : NULL;
    if (after) at->hit = memcmp(at->before, after, bytes_of(&at->at.section)) != 0;
    free(after);
    bool posted = false;
    for (size_t k = 0; k < i; k++)
      posted = posted || (w->at[k].hit && w->at[k].at.event == at->at.event);
    if (at->hit && !posted) caf_post(caf.rank, at->at.event);
    free(at->before);
  }
  free(w->at);
}

int caf_watched_call(const struct caf_ask *ask, char *base, const struct caf_asker *asker,
                     struct caf_found *found) {
  const struct caf_token *token = caf_token_at(base);
  if (!token || ask->kind == CAF_ACCESS_PRESENT) return caf_accessor_call(ask, base, asker, found);
  char *copy = mmap(NULL, token->bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (copy == MAP_FAILED) {
    const struct caf_status none = {0};
    caf_fail(&none, CAF_STAT_ERROR,
             "out of memory: %zu bytes to find which attached events an access posts [TMB-0001]",
             token->bytes);
    return CAF_STAT_ERROR;
  }
  if (token->elem_type == CAF_DERIVED || !token->elem_type) memcpy(copy, token->base, token->bytes);
  struct watch w = {.ask = ask, .asker = asker, .object = copy + (base - (char *)token->base)};
  list(&w, token, copy - (char *)token->base);
  if (ask->kind == CAF_ACCESS_PUT) {
    try_put(&w, 0);
    try_put(&w, UINT8_MAX);
  } else {
    try_gets(&w);
  }
  munmap(copy, token->bytes);
  const int code = caf_accessor_call(ask, base, asker, found);
  post_hits(&w);
  return code;
}
