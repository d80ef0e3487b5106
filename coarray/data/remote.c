/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses by accessors: runs them here where the object can be reached, else asks its image, and
 * serves the images that ask this one.
 *
 * Owns: requests that are to be served, and answers that are waited for. Called by anywhere.c,
 * and by every wait of this library. Calls: active messages. Invariants: numbers and characters of
 * an image whose memory is mapped are reached from here, and other types where the accessor is
 * known to follow no pointers, which only their image can follow. A request, and an answer, are a
 * head and a body; each message has the head and a piece of the body. The handlers only collect
 * pieces. Requests are served outside of handlers, one after the other, by whatever call of this
 * library waits or polls: an accessor may access the image that asks, and while it waits for the
 * answer further requests are served. Those nest to SERVING_MAX; beyond, only the accesses of
 * accessors are served that this image has called itself, of which there are no more than it has
 * calls, so every chain of waits ends.
 */
#include "data/remote.h"

#include "data/attach.h"
#include "data/pending.h"
#include "data/watch.h"
#include "sync/wait.h"

#include <stdlib.h>
#include <string.h>

enum { SERVING_MAX = 32 };

/* Parts of the body of a request, each at a multiple of 16. */
enum part { OBJECT, DATA_DESC, ADD, DATA, PARTS };

struct request_head {
  uint64_t wait;   /* address of the asking image's struct wait */
  uint64_t offset; /* of this piece in the body */
  uint64_t base;   /* address of the object, or of the memory that its image has passed as `add` */
  uint64_t add;    /* address of the values of the accessor, on the asking image */
  uint64_t bytes[PARTS];
  uint64_t object_chars, data_chars, result_bytes, result_chars;
  int32_t kind, index;
  int8_t result_rank; /* -1: the result has no descriptor */
  bool of_accessor;   /* an accessor asks, for memory that the served image has passed it */
  bool by_pointer, has_object_chars, has_data_chars;
};

struct answer_head {
  uint64_t wait, offset;
  uint64_t bytes; /* of the body */
  uint64_t chars;
  int32_t code, present;
  bool found;
  int8_t rank; /* of the descriptor; -1: there is none */
  struct caf_desc desc;
};

/* A request that is collected, or waits to be served. */
struct request {
  struct request *next;
  uint32_t rank; /* that asks */
  uint64_t missing;
  struct request_head head;
  _Alignas(16) char body[];
};

static struct {
  struct request *first, **end; /* by time of arrival */
  struct request *incomplete;
  uint32_t serving; /* accessors that run in this process for other images */
} requests = {.end = &requests.first};

/* The wait of this image. */
struct wait {
  const struct caf_room *room;
  struct answer_head head;
  char *body; /* [head.bytes], malloc'ed or in the room; NULL: no piece has come */
  uint64_t missing;
  bool begun, done;
};

#define ROUND(n) (((n) + 15) / 16 * 16)

enum { H_ASK = GEX_AM_INDEX_BASE, H_ANSWER };

static uint64_t part_at(const struct request_head *h, enum part part) {
  uint64_t at = 0;
  for (int p = 0; p < (int)part; p++) at += ROUND(h->bytes[p]);
  return at;
}

static size_t head_bytes(const struct answer_head *h) {
  return h->rank < 0 ? offsetof(struct answer_head, desc)
                     : offsetof(struct answer_head, desc) + caf_desc_bytes(&h->desc);
}

/* Memory for messages to and from other images; ends the program when there is none. */
static void *message_memory(size_t bytes) {
  void *memory = malloc(bytes + 1);
  const struct caf_status none = {0};
  if (!memory)
    caf_fail(&none, CAF_STAT_ERROR,
             "out of memory: %zu bytes for an access of another image [TMB-0001]", bytes);
  return memory;
}

/* Sends a head and its body in pieces. head: [head_size], of which *offset is part. */
static void send_pieces(uint32_t rank, gex_AM_Index_t handler, const void *head, size_t head_size,
                        uint64_t *offset, const struct caf_room *body) {
  const size_t most = gex_AM_LUBRequestMedium() - head_size;
  char *message = message_memory(head_size + (body->bytes < most ? body->bytes : most));
  *offset = 0;
  do {
    const size_t left = body->bytes - *offset, piece = left < most ? left : most;
    memcpy(message, head, head_size);
    if (piece) memcpy(message + head_size, (const char *)body->at + *offset, piece);
    gex_AM_RequestMedium0(caf.tm, rank, handler, message, head_size + piece, GEX_EVENT_NOW, 0);
    *offset += piece;
  } while (*offset < body->bytes);
  free(message);
}

/* Whether an access of a rank may post events that are attached there. */
static bool is_watched(uint32_t rank, const struct caf_ask *ask) {
  return ask->kind != CAF_ACCESS_PRESENT &&
         caf_attached(rank, ask->kind == CAF_ACCESS_PUT ? CAF_ATTACH_WRITE : CAF_ATTACH_READ);
}

/* Calls an accessor for an object of this image. */
static int call_own(const struct caf_ask *ask, char *base, const struct caf_asker *asker,
                    struct caf_found *found) {
  return __builtin_expect(is_watched(caf.rank, ask), 0)
             ? caf_watched_call(ask, base, asker, found)
             : caf_accessor_call(ask, base, asker, found);
}

/* ---- the image that is asked */

static struct request *find_incomplete(const struct request_head *head, uint32_t rank) {
  for (struct request *r = requests.incomplete; r; r = r->next)
    if (r->rank == rank && r->head.wait == head->wait) return r;
  return NULL;
}

static void remove_incomplete(const struct request *r) {
  struct request **at = &requests.incomplete;
  while (*at != r) at = &(*at)->next;
  *at = r->next;
}

/* Ends the wait of this image inside the layer, so that it serves. */
static void wake(void) {
  if (!caf.waiting || caf.woken) return;
  caf.woken++;
  __atomic_fetch_add(caf.waiting, CAF_LOSS, __ATOMIC_RELEASE);
}

static void on_ask(gex_Token_t token, void *message, size_t bytes) {
  gex_Token_Info_t info;
  struct request_head head;
  memcpy(&head, message, sizeof head);
  (void)gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const uint64_t body = part_at(&head, PARTS);
  struct request *r = find_incomplete(&head, info.gex_srcrank);
  if (!r) {
    r = message_memory(sizeof *r + (size_t)body);
    *r = (struct request){
        .next = requests.incomplete, .rank = info.gex_srcrank, .missing = body, .head = head};
    requests.incomplete = r;
  }
  memcpy(r->body + head.offset, (const char *)message + sizeof head, bytes - sizeof head);
  r->missing -= bytes - sizeof head;
  if (r->missing) return;
  remove_incomplete(r);
  r->next = NULL;
  *requests.end = r;
  requests.end = &r->next;
  caf.asked++;
  wake();
}

/* Reads a request. [out] shape: of a result without memory. */
static void decode(struct request *r, struct caf_ask *ask, struct caf_desc *shape) {
  struct request_head *h = &r->head;
  struct caf_desc *data_desc = (struct caf_desc *)(void *)(r->body + part_at(h, DATA_DESC));
  char *data = r->body + part_at(h, DATA);
  *ask = (struct caf_ask){.kind = h->kind,
                          .index = h->index,
                          .by_pointer = h->by_pointer,
                          .has_object_chars = h->has_object_chars,
                          .has_data_chars = h->has_data_chars,
                          .object_chars = h->object_chars,
                          .add = r->body + part_at(h, ADD),
                          .add_bytes = h->bytes[ADD],
                          .data = data,
                          .data_bytes = h->bytes[DATA],
                          .data_chars = h->data_chars,
                          .result_bytes = h->result_bytes,
                          .result_chars = h->result_chars};
  if (h->bytes[OBJECT]) ask->object = (struct caf_desc *)(void *)(r->body + part_at(h, OBJECT));
  if (h->bytes[DATA_DESC]) {
    data_desc->base = data;
    ask->data_desc = data_desc;
  }
  if (h->result_rank < 0) return;
  memset(shape, 0, sizeof *shape);
  shape->dtype.rank = h->result_rank;
  ask->result = shape;
}

/* Sends the result of an accessor. */
static void reply(const struct request *r, const struct caf_ask *ask, struct caf_found *found,
                  int code) {
  struct answer_head head = {.wait = r->head.wait,
                             .chars = found->chars,
                             .code = code,
                             .present = found->present,
                             .found = found->at != NULL,
                             .rank = -1};
  struct caf_room body = {.at = found->at};
  void *packed = NULL;
  if (found->at && ask->result) {
    struct caf_section s;
    caf_section_of(&s, &found->desc, found->desc.base, NULL);
    body.bytes = caf_section_elements(&s) * s.elem_len;
    if (!caf_section_contiguous(&s)) {
      body.at = packed = message_memory(body.bytes);
      caf_section_pack(&s, packed);
    }
    head.rank = found->desc.dtype.rank;
    head.desc = caf_desc_packed(&found->desc, NULL);
  } else if (found->at) {
    body.bytes = ask->result_bytes * (ask->result_chars ? ask->result_chars : 1);
  }
  head.bytes = body.bytes;
  if (!caf.lost[r->rank])
    send_pieces(r->rank, H_ANSWER, &head, head_bytes(&head), &head.offset, &body);
  free(packed);
}

static void serve(struct request *r) {
  struct caf_ask ask;
  struct caf_desc shape;
  struct caf_found found;
  decode(r, &ask, &shape);
  const struct caf_asker asker = {r->rank, r->head.add};
  const int code = call_own(&ask, (char *)(uintptr_t)r->head.base, &asker, &found);
  reply(r, &ask, &found, code);
  if (found.owned) free(found.at);
  free(r);
}

/* Takes the first request that may be served now. */
static struct request *next_request(void) {
  struct request **at = &requests.first;
  while (*at && requests.serving >= SERVING_MAX && !(*at)->head.of_accessor) at = &(*at)->next;
  struct request *r = *at;
  if (!r) return NULL;
  *at = r->next;
  if (requests.end == &r->next) requests.end = at;
  caf.asked--;
  return r;
}

/* Serves kept requests; not in a handler. Returns whether there were any. */
static bool serve_all(void) {
  struct request *r;
  bool any = false;
  requests.serving++;
  while ((r = next_request()) != NULL) {
    any = true;
    if (caf.lost[r->rank])
      free(r);
    else
      serve(r);
  }
  requests.serving--;
  return any;
}

/* ---- the image that asks */

static void on_answer(gex_Token_t token, void *message, size_t bytes) {
  (void)token;
  struct answer_head head;
  memset(&head, 0, sizeof head);
  memcpy(&head, message, bytes < sizeof head ? bytes : sizeof head);
  const size_t head_size = head_bytes(&head), piece = bytes - head_size;
  struct wait *w = (struct wait *)(uintptr_t)head.wait;
  if (!w->begun) {
    w->begun = true;
    w->head = head;
    w->missing = head.bytes;
    const bool fits = w->room->at && head.bytes <= w->room->bytes;
    w->body = fits ? w->room->at : message_memory(head.bytes);
  }
  if (piece) memcpy(w->body + head.offset, (const char *)message + head_size, piece);
  w->missing -= piece;
  w->done = w->missing == 0;
}

/* From the start on, since other images may ask as soon as the program begins. */
void caf_remote_start(void) {
  static gex_AM_Entry_t entries[] = {
      {H_ASK, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL},
      {H_ANSWER, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0, NULL, NULL}};
  caf.answer = serve_all;
  gex_EP_RegisterHandlers(caf.ep, entries, sizeof entries / sizeof entries[0]);
}

static int is_answered(void *done) {
  return *(const bool *)done;
}

/* Waits for an answer, and serves. Returns 0 or the STAT code of the image that never answers. The
 * wait of the program's statement is shown, not that of an accessor. */
static int await(struct wait *w, uint32_t rank) {
  bool shows = false;
  int code = 0;
  while (!w->done && !code) {
    (void)caf_poll_until(GEX_EVENT_NO_OP, is_answered, &w->done,
                         shows ? CAF_LOOK_LATER_US : CAF_LOOK_US);
    if (!w->done && caf.lost_count) code = caf.lost[rank];
    if (w->done || shows || requests.serving) continue;
    shows = true;
    caf_show_begin(
        &(struct caf_shown){.needs = GEXX_WAIT_PEER, .peer = rank, .event = GEX_EVENT_INVALID});
  }
  if (shows) caf_show_end();
  return code;
}

static void add_part(struct caf_room *body, struct request_head *h, enum part part,
                     const void *data) {
  if (h->bytes[part]) memcpy((char *)body->at + part_at(h, part), data, h->bytes[part]);
}

/* Sends a request. */
static void ask_image(const struct caf_there *there, const struct caf_ask *ask,
                      const struct wait *w) {
  struct request_head h = {.wait = (uintptr_t)w,
                           .base = there->base,
                           .add = (uintptr_t)ask->add,
                           .bytes = {[ADD] = ask->add_bytes, [DATA] = ask->data_bytes},
                           .object_chars = ask->object_chars,
                           .data_chars = ask->data_chars,
                           .result_bytes = ask->result_bytes,
                           .result_chars = ask->result_chars,
                           .kind = ask->kind,
                           .index = ask->index,
                           .result_rank = ask->result ? ask->result->dtype.rank : -1,
                           .of_accessor = there->token == NULL,
                           .by_pointer = ask->by_pointer,
                           .has_object_chars = ask->has_object_chars,
                           .has_data_chars = ask->has_data_chars};
  if (ask->object) h.bytes[OBJECT] = caf_desc_bytes(ask->object);
  if (ask->data_desc) h.bytes[DATA_DESC] = caf_desc_bytes(ask->data_desc);
  struct caf_room body = {.bytes = part_at(&h, PARTS)};
  body.at = message_memory(body.bytes);
  add_part(&body, &h, OBJECT, ask->object);
  add_part(&body, &h, DATA_DESC, ask->data_desc);
  add_part(&body, &h, ADD, ask->add);
  add_part(&body, &h, DATA, ask->data);
  send_pieces(there->rank, H_ASK, &h, sizeof h, &h.offset, &body);
  free(body.at);
}

static int call_there(const struct caf_there *there, const struct caf_ask *ask,
                      const struct caf_room *room, struct caf_answer *answer) {
  struct wait w = {.room = room};
  struct caf_found *found = &answer->found;
  if (caf.pending & CAF_UNDER_WAY)
    caf_complete(); /* the accessor may read data that this image has written */
  ask_image(there, ask, &w);
  const int code = await(&w, there->rank);
  if (code) return code;
  found->at = w.head.found ? w.body : NULL;
  found->owned = w.body != room->at;
  found->chars = w.head.chars;
  found->present = w.head.present;
  if (w.head.rank >= 0) found->desc = caf_desc_packed(&w.head.desc, found->at);
  answer->bytes = w.head.bytes;
  if (found->at || !found->owned) return w.head.code;
  free(w.body);
  found->owned = false;
  return w.head.code;
}

/* ---- either */

/* Whether an accessor needs nothing but the elements of the object. */
static bool is_plain(const struct caf_token *token) {
  return token && token->elem_type != 0 && token->elem_type != CAF_DERIVED &&
         token->elem_type <= CAF_CHARACTER;
}

/* A value that an accessor has found in mapped memory, and does not read itself, is read by the
 * layer below, for a checker to see. Returns 0 or a STAT code. */
static __attribute__((cold)) int read_shown(const struct caf_there *there,
                                            struct caf_answer *answer) {
  const uintptr_t at = (uintptr_t)answer->found.at - (uintptr_t)caf.delta[there->rank];
  const struct caf_token *t = there->token;
  if (!t || at - t->addr[there->rank] + answer->bytes > t->bytes) return 0;
  void *const copy = malloc(answer->bytes + 1);
  if (!copy) return CAF_STAT_ERROR;
  caf_get(copy, there->rank, (const void *)at, answer->bytes, 0);
  answer->found.at = copy;
  answer->found.owned = true;
  return 0;
}

int caf_remote_call(const struct caf_there *there, const struct caf_ask *ask,
                    const struct caf_room *room, struct caf_answer *answer) {
  const struct caf_asker self = {caf.rank, (uintptr_t)ask->add};
  const uint32_t rank = there->rank;
  char *const base = (char *)(uintptr_t)there->base;
  const bool own = rank == caf.rank;
  const bool here = is_plain(there->token) || ask->direct;
  if (!own && (!here || !caf_is_near(rank) || is_watched(rank, ask)))
    return call_there(there, ask, room, answer);
  caf_await(rank, base, 1);
  answer->bytes = ask->result_bytes * (ask->result_chars ? ask->result_chars : 1);
  if (own) return call_own(ask, base, &self, &answer->found);
  const int code = caf_accessor_call(ask, base + caf.delta[rank], &self, &answer->found);
  const bool finds = ask->kind == CAF_ACCESS_GET && !ask->result && answer->found.at;
  const bool shows = caf.shown && !code && finds && !answer->found.owned;
  return __builtin_expect(shows, 0) ? read_shown(there, answer) : code;
}
