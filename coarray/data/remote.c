/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accessors: asks other images to run a function of the program, and runs those that they ask for.
 *
 * Owns: the table of accessors, questions that this image waits for. Called by compiler15.c. Calls:
 * active messages, put and get for what is larger than a message. Invariants: a question is one
 * message; one that is too large is put into memory that the other image gives, and so is an
 * answer, which the asker gets. Accessors run in the handler, as they only read and write memory of
 * their image; an image answers whenever it polls, which every wait of this library does.
 */
#include "data/remote.h"

#include "data/pending.h"

#include <stdlib.h>
#include <string.h>

typedef void getter(void *add, const int *image, void **result, int32_t *owned, void *object,
                    void *token, size_t offset, size_t *chars, const size_t *object_chars);
typedef void setter(void *add, const int *image, void *object, const void *data, void *token,
                    size_t offset, const size_t *object_chars, const size_t *data_chars);
typedef void asker(void *add, const int *image, int32_t *present, void *object, void *token,
                   size_t offset);

/* ---- the table */

struct accessor {
  int hash;
  void (*function)(void);
};

static struct {
  struct accessor *at; /* [count], sorted by hash when `sorted` */
  size_t count, capacity;
  bool sorted;
} table;

void caf_accessor_add(int hash, void (*function)(void)) {
  if (table.count == table.capacity) {
    const size_t capacity = table.capacity ? 2 * table.capacity : 64;
    struct accessor *more = realloc(table.at, capacity * sizeof *more);
    if (!more) {
      const struct caf_status none = {0};
      caf_fail(&none, CAF_STAT_ERROR, "out of memory for the table of accessors [TMB-0001]");
      return;
    }
    table.at = more;
    table.capacity = capacity;
  }
  table.at[table.count++] = (struct accessor){hash, function};
  table.sorted = false;
  caf.pending |= CAF_SERVES;
}

static int by_hash(const void *a, const void *b) {
  const int x = ((const struct accessor *)a)->hash, y = ((const struct accessor *)b)->hash;
  return (x > y) - (x < y);
}

void caf_accessors_sort(void) {
  if (table.count) qsort(table.at, table.count, sizeof *table.at, by_hash);
  table.sorted = true;
}

int caf_accessor_index(int hash) {
  const struct accessor key = {.hash = hash};
  if (!table.sorted) caf_accessors_sort();
  const struct accessor *found =
      table.count ? bsearch(&key, table.at, table.count, sizeof key, by_hash) : NULL;
  return found ? (int)(found - table.at) : -1;
}

/* ---- what goes over the wire */

/* A question; add, from byte sizeof struct question on, and data follow, each at a multiple of 16.
 */
struct question {
  uint64_t asker; /* address of its struct wait */
  uint64_t base;  /* of the coarray, on the image that is asked */
  uint64_t add_bytes, data_bytes, result_bytes, object_chars, data_chars;
  int32_t kind, index;
  bool has_object, has_data_desc, has_object_chars, has_data_chars, result_desc;
  struct caf_desc object, data_desc;
};

/* An answer; data follow, or lie at `at` on the image that was asked. */
struct reply {
  uint64_t asker, bytes, chars, at;
  int32_t present, code;
  struct caf_desc desc;
};

/* What an image that asks waits for. */
struct wait {
  struct caf_answer *answer;
  uint64_t memory; /* where the question may be put */
  struct reply reply;
  bool done;
};

#define ROUND(n) (((n) + 15) / 16 * 16)
#define HEAD     ROUND(sizeof(struct question))

enum { H_ASK = GEX_AM_INDEX_BASE, H_MEMORY, H_RUN, H_FREE, H_REPLY, H_MEMORY_REPLY };

static void copy_desc(struct caf_desc *to, const struct caf_desc *from) {
  memcpy(to, from, offsetof(struct caf_desc, dim));
  memcpy(to->dim, from->dim, (size_t)from->dtype.rank * sizeof from->dim[0]);
}

/* ---- the image that is asked */

/* Result of a getter, packed; malloc'ed. */
static void *pack_result(const struct question *q, struct reply *r, void *result) {
  if (!q->result_desc) {
    r->bytes = q->result_bytes * (r->chars ? r->chars : 1);
    void *data = malloc(r->bytes + 1);
    if (data && result) memcpy(data, result, r->bytes);
    return data;
  }
  const struct caf_desc *d = result;
  copy_desc(&r->desc, d);
  struct caf_section s;
  caf_section_of(&s, d, d->base, NULL);
  r->bytes = caf_section_elements(&s) * s.elem_len;
  char *data = malloc(r->bytes + 1);
  if (data) caf_section_pack(&s, data);
  return data;
}

/* Run the accessor of a question. Returns its result, malloc'ed, or NULL. */
static void *run(const struct question *q, char *add, char *data, struct reply *r) {
  struct caf_desc object, data_desc, result_desc = {.base = NULL};
  char *base = (char *)q->base;
  void *place = base, *token = (void *)(uintptr_t)caf_token_at(base), *result = NULL;
  const int image = (int)caf.team->rank + 1;
  *r = (struct reply){.asker = q->asker};
  if (q->index < 0 || (size_t)q->index >= table.count) {
    r->code = CAF_STAT_ERROR;
    return NULL;
  }
  if (q->has_object) {
    copy_desc(&object, &q->object);
    object.base = base;
    place = &object;
  }
  void (*function)(void) = table.at[q->index].function;
  const size_t object_chars = q->object_chars, data_chars = q->data_chars;
  const size_t *chars = q->has_object_chars ? &object_chars : NULL;
  if (q->kind == CAF_ACCESS_PRESENT) {
    ((asker *)function)(add, &image, &r->present, place, token, 0);
    return NULL;
  }
  if (q->kind == CAF_ACCESS_PUT) {
    copy_desc(&data_desc, &q->data_desc);
    data_desc.base = data;
    ((setter *)function)(add, &image, place, q->has_data_desc ? (void *)&data_desc : data, token, 0,
                         chars, q->has_data_chars ? &data_chars : NULL);
    return NULL;
  }
  int32_t owned = 0;
  size_t result_chars = 0;
  if (q->result_desc) result = &result_desc;
  ((getter *)function)(add, &image, &result, &owned, place, token, 0, &result_chars, chars);
  r->chars = result_chars;
  void *packed = pack_result(q, r, result);
  if (!packed) r->code = CAF_STAT_ERROR;
  if (owned) free(q->result_desc ? result_desc.base : result);
  return packed;
}

/* Run a question and answer it: in one message, or with the address of the result. */
static void answer(gex_Token_t token, const char *message) {
  struct question q;
  struct reply r;
  memcpy(&q, message, sizeof q);
  char *copy = malloc(ROUND(q.add_bytes) + ROUND(q.data_bytes) + 16); /* aligned for any type */
  void *result = NULL;
  if (copy) {
    memcpy(copy, message + HEAD, q.add_bytes);
    memcpy(copy + ROUND(q.add_bytes), message + HEAD + ROUND(q.add_bytes), q.data_bytes);
    result = run(&q, copy, copy + ROUND(q.add_bytes), &r);
  } else {
    r = (struct reply){.asker = q.asker, .code = CAF_STAT_ERROR};
  }
  const size_t bytes = result ? r.bytes : 0;
  const bool fits = sizeof r + bytes <= gex_AM_LUBReplyMedium();
  char *out = malloc(sizeof r + (fits ? bytes : 0));
  if (!fits) {
    void *shared = caf_heap_alloc(bytes);
    if (shared)
      memcpy(shared, result, bytes);
    else
      r.code = CAF_STAT_ERROR;
    r.at = (uintptr_t)shared;
  }
  if (!out) abort(); /* no memory for a few words: nothing can be reported */
  memcpy(out, &r, sizeof r);
  if (fits && bytes) memcpy(out + sizeof r, result, bytes);
  gex_AM_ReplyMedium0(token, H_REPLY, out, sizeof r + (fits ? bytes : 0), GEX_EVENT_NOW, 0);
  free(out);
  free(result);
  free(copy);
}

static void on_ask(gex_Token_t token, void *message, size_t bytes) {
  (void)bytes;
  answer(token, message);
}

#define ADDRESS(high, low) ((uint64_t)(uint32_t)(high) << 32 | (uint32_t)(low))
#define HIGH(x)            ((gex_AM_Arg_t)((uint64_t)(x) >> 32))
#define LOW(x)             ((gex_AM_Arg_t)(uint64_t)(x))

static void on_memory(gex_Token_t token, gex_AM_Arg_t asker1, gex_AM_Arg_t asker0, gex_AM_Arg_t n1,
                      gex_AM_Arg_t n0) {
  const uint64_t at = (uintptr_t)caf_heap_alloc(ADDRESS(n1, n0));
  gex_AM_ReplyShort4(token, H_MEMORY_REPLY, 0, asker1, asker0, HIGH(at), LOW(at));
}

static void on_run(gex_Token_t token, gex_AM_Arg_t at1, gex_AM_Arg_t at0) {
  char *message = (char *)ADDRESS(at1, at0);
  answer(token, message);
  caf_heap_free(message);
}

static void on_free(gex_Token_t token, gex_AM_Arg_t at1, gex_AM_Arg_t at0) {
  (void)token;
  caf_heap_free((void *)ADDRESS(at1, at0));
}

/* ---- the image that asks */

static void on_reply(gex_Token_t token, void *message, size_t bytes) {
  (void)token;
  struct reply r;
  memcpy(&r, message, sizeof r);
  struct wait *w = (struct wait *)r.asker;
  w->reply = r;
  if (bytes > sizeof r) {
    w->answer->data = malloc(bytes - sizeof r);
    if (w->answer->data)
      memcpy(w->answer->data, (char *)message + sizeof r, bytes - sizeof r);
    else
      w->reply.code = CAF_STAT_ERROR;
  }
  w->done = true;
}

static void on_memory_reply(gex_Token_t token, gex_AM_Arg_t asker1, gex_AM_Arg_t asker0,
                            gex_AM_Arg_t at1, gex_AM_Arg_t at0) {
  (void)token;
  struct wait *w = (struct wait *)ADDRESS(asker1, asker0);
  w->memory = ADDRESS(at1, at0);
  w->done = true;
}

static void register_handlers(void) {
  static bool done;
  static gex_AM_Entry_t entries[] = {
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {H_MEMORY, (gex_AM_Fn_t)on_memory, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 4, NULL, NULL},
      {H_RUN, (gex_AM_Fn_t)on_run, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 2, NULL, NULL},
      {H_FREE, (gex_AM_Fn_t)on_free, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 2, NULL, NULL},
      {H_REPLY, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {H_MEMORY_REPLY, (gex_AM_Fn_t)on_memory_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 4, NULL,
       NULL}};
  if (done) return;
  done = true;
  gex_EP_RegisterHandlers(caf.ep, entries, sizeof entries / sizeof entries[0]);
}

/* From the start on, since other images may ask as soon as the program begins. */
void caf_remote_start(void) {
  register_handlers();
}

/* Wait until a handler has answered. Returns 0 or the STAT code of the image that never will. */
static int await(struct wait *w, uint32_t rank) {
  enum { TESTS = 1000 };
  int code = 0;
  uint32_t i;
  for (i = 0; !w->done && !code; i++) {
    if (i == TESTS) {
      caf.statement.call = "a coindexed access";
      caf.statement.caller = NULL;
      caf_show_begin(
          &(struct caf_shown){.needs = GEXX_WAIT_PEER, .peer = rank, .event = GEX_EVENT_INVALID});
    }
    gexx_Poll(i < TESTS ? 0 : 1000);
    if (!w->done && caf.lost_count) code = caf.lost[rank];
  }
  if (i > TESTS) caf_show_end();
  w->done = false;
  return code;
}

/* The message of a question; malloc'ed. */
static char *compose(const struct caf_ask *ask, uint32_t rank, struct wait *w, size_t *bytes) {
  struct question q = {.asker = (uintptr_t)w,
                       .base = ask->token->addr[rank],
                       .add_bytes = ask->add_bytes,
                       .data_bytes = ask->data_bytes,
                       .result_bytes = ask->result_bytes,
                       .kind = ask->kind,
                       .index = ask->index,
                       .has_object = ask->object != NULL,
                       .has_data_desc = ask->data_desc != NULL,
                       .has_object_chars = ask->object_chars != NULL,
                       .has_data_chars = ask->data_chars != NULL,
                       .result_desc = ask->result_desc};
  if (ask->object) copy_desc(&q.object, ask->object);
  if (ask->data_desc) copy_desc(&q.data_desc, ask->data_desc);
  if (ask->object_chars) q.object_chars = *ask->object_chars;
  if (ask->data_chars) q.data_chars = *ask->data_chars;
  *bytes = HEAD + ROUND(ask->add_bytes) + ROUND(ask->data_bytes);
  char *message = calloc(1, *bytes);
  if (!message) return NULL;
  memcpy(message, &q, sizeof q);
  if (ask->add_bytes) memcpy(message + HEAD, ask->add, ask->add_bytes);
  if (ask->data_bytes) memcpy(message + HEAD + ROUND(ask->add_bytes), ask->data, ask->data_bytes);
  return message;
}

/* Send a question: as a message, or into memory of the other image. Returns 0 or a STAT code. */
static int send(uint32_t rank, const char *message, size_t bytes, struct wait *w) {
  if (bytes <= gex_AM_LUBRequestMedium()) {
    gex_AM_RequestMedium0(caf.tm, rank, H_ASK, (void *)(uintptr_t)message, bytes, GEX_EVENT_NOW, 0);
    return 0;
  }
  const uint64_t asker = (uintptr_t)w, size = bytes;
  gex_AM_RequestShort4(caf.tm, rank, H_MEMORY, 0, HIGH(asker), LOW(asker), HIGH(size), LOW(size));
  const int code = await(w, rank);
  if (code || !w->memory) return code ? code : CAF_STAT_ERROR;
  gex_RMA_PutBlocking(caf.tm, rank, (void *)w->memory, message, bytes, 0);
  gex_AM_RequestShort2(caf.tm, rank, H_RUN, 0, HIGH(w->memory), LOW(w->memory));
  return 0;
}

int caf_remote_call(uint32_t rank, const struct caf_ask *ask, struct caf_answer *answer_to) {
  struct wait w = {.answer = answer_to};
  size_t bytes;
  *answer_to = (struct caf_answer){.data = NULL};
  char *message = compose(ask, rank, &w, &bytes);
  int code = message ? send(rank, message, bytes, &w) : CAF_STAT_ERROR;
  free(message);
  if (!code) code = await(&w, rank);
  if (!code) code = w.reply.code;
  if (code) return code;
  answer_to->bytes = w.reply.bytes;
  answer_to->chars = w.reply.chars;
  answer_to->desc = w.reply.desc;
  answer_to->present = w.reply.present;
  if (!w.reply.at) return 0;
  const uint64_t at = w.reply.at;
  answer_to->data = malloc(answer_to->bytes);
  if (answer_to->data)
    gex_RMA_GetBlocking(caf.tm, answer_to->data, rank, (void *)at, answer_to->bytes, 0);
  gex_AM_RequestShort2(caf.tm, rank, H_FREE, 0, HIGH(at), LOW(at));
  return answer_to->data ? 0 : CAF_STAT_ERROR;
}
