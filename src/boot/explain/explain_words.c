/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks, teams and waits in words, see explain_words.h.
 *
 * Owns: no state. Called by explain_text.c. Calls: explain, ranklist. Invariants: a text that does
 * not fit is cut; a text from a page is never used as a format.
 */
#include "boot/explain/explain_words.h"

#include "boot/page/ranklist.h"

#include <stdlib.h>
#include <string.h>

static const char *const operations[] = {"an operation",
                                         "a put",
                                         "a get",
                                         "a strided put",
                                         "a strided get",
                                         "a put with signal",
                                         "a get with signal",
                                         "a put with notification",
                                         "a get with notification",
                                         "an atomic operation",
                                         "a Short message",
                                         "a Medium message",
                                         "a Long message",
                                         "a barrier"};

/* In the order of enum tmb_coll_kind of coll/shape.h. */
static const char *const collectives[] = {
    "broadcast",  "reduce",   "all-reduce",     "scatter",   "gather",
    "all-gather", "exchange", "reduce-scatter", "scan",      "exclusive scan",
    "scatterv",   "gatherv",  "all-gatherv",    "exchangev", "synchronisation"};

static const char *const comparisons[] = {"==", "!=", ">", ">=", "<", "<="};

/* In the order of enum tmb_lacks of net/message.h. */
static const char *const lacks[] = {
    "",
    ": the ring of that rank is full",
    ": all message buffers of this rank are in use",
    ": no credit is left, as that rank has not handled earlier ones",
    ": the window is full of packets without acknowledgement, or the queue of the network is full",
    ": that rank has not taken earlier notifications (TOMBOLO_NOTIFY_CREDITS)"};

static const char *operation_name(uint32_t what) {
  return what < TMB_ARRAY_LEN(operations) ? operations[what] : operations[0];
}

/* Name of a rank in the language of the program, and the number of rank 0. */
static const char *member_of(const struct tmb_snapshot *s, uint32_t rank, uint32_t *first) {
  const struct tmb_status *page = &s->rank[rank].status;
  *first = page->member[0] ? page->first : 0;
  return page->member[0] ? page->member : "rank";
}

const char *tmb_words_ranks(const struct tmb_snapshot *s, const uint8_t *mark, char *buf,
                            size_t bytes) {
  char list[TMB_RANKLIST_BYTES];
  uint32_t count = 0, any = 0, first;
  for (uint32_t r = 0; r < s->size; r++) {
    if (mark[r] && !count++) any = r;
  }
  const char *name = member_of(s, any, &first);
  pid_t *set = calloc((size_t)s->size + first, sizeof *set);
  if (!set) return "ranks";
  for (uint32_t r = 0; r < s->size; r++) set[r + first] = mark[r];
  snprintf(buf, bytes, "%.*s%s %s", TMB_STATUS_MEMBER, name, count == 1 ? "" : "s",
           tmb_ranklist_format(list, sizeof list, s->size + first, set));
  free(set);
  return buf;
}

/* Whether two teams have equal members, as far as pages show. */
static bool same_members(const struct tmb_snapshot *s, uint64_t uid, uint64_t other) {
  for (uint32_t r = 0; r < s->size; r++)
    if ((tmb_explain_team(s, r, uid) >= 0) != (tmb_explain_team(s, r, other) >= 0)) return false;
  return true;
}

/* Whether another team that a rank is in has equal members. */
static bool is_ambiguous(const struct tmb_snapshot *s, uint32_t rank, uint64_t uid) {
  const struct tmb_status_team *t = s->rank[rank].status.team;
  for (int i = 0; i < TMB_STATUS_TEAMS; i++)
    if (t[i].used && t[i].uid != uid && same_members(s, uid, t[i].uid)) return true;
  return false;
}

/* Number of a team among those that were made from its parent. */
static void parent_text(const struct tmb_snapshot *s, uint32_t rank,
                        const struct tmb_status_team *t, char *buf, size_t bytes) {
  static const char *const ends[] = {"th", "st", "nd", "rd"};
  const bool teen = t->order / 10 % 10 == 1;
  const char *end = t->order % 10 > 3 || teen ? ends[0] : ends[t->order % 10];
  const int from = tmb_explain_team(s, rank, t->parent);
  const char *name = from >= 0 ? s->rank[rank].status.team[from].name : "";
  uint32_t first;
  if (name[0])
    snprintf(buf, bytes, " (the %u%s made from team '%.*s')", t->order, end, TMB_STATUS_NAME - 1,
             name);
  else if (t->parent == 0)
    snprintf(buf, bytes, " (the %u%s made from all %.*ss)", t->order, end, TMB_STATUS_MEMBER,
             member_of(s, rank, &first));
  else
    snprintf(buf, bytes, " (the %u%s made from its parent)", t->order, end);
}

/* A team, by its members, its name, and where others have equal members, its place among them. in
 * index: on the page of `rank`. */
static const char *team_text(const struct tmb_snapshot *s, uint32_t rank, uint8_t index, char *buf,
                             size_t bytes) {
  if (index >= TMB_STATUS_TEAMS) return "a team";
  const struct tmb_status_team *t = &s->rank[rank].status.team[index];
  char list[TMB_RANKLIST_BYTES + 16], name[TMB_STATUS_NAME + 4] = "";
  uint8_t *mark = calloc(s->size, 1);
  if (!mark) return "a team";
  for (uint32_t r = 0; r < s->size; r++) mark[r] = tmb_explain_team(s, r, t->uid) >= 0;
  if (t->name[0]) snprintf(name, sizeof name, "'%.*s' ", TMB_STATUS_NAME - 1, t->name);
  if (t->uid == 0) {
    uint32_t first;
    snprintf(buf, bytes, "%s%sall %.*ss", t->name[0] ? "team " : "", name, TMB_STATUS_MEMBER,
             member_of(s, rank, &first));
  } else {
    snprintf(buf, bytes, "the team %sof %s", name, tmb_words_ranks(s, mark, list, sizeof list));
  }
  free(mark);
  const size_t used = strlen(buf);
  if (t->uid != 0 && t->order && is_ambiguous(s, rank, t->uid))
    parent_text(s, rank, t, buf + used, bytes - used);
  return buf;
}

/* Name of a collective call, as "barrier 3 of all ranks". */
static void call_text(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                      char *buf, size_t bytes) {
  char team[2 * TMB_RANKLIST_BYTES];
  const char *name = "barrier";
  const uint32_t kind = (uint32_t)w->what - TMB_WHAT_COLLECTIVE;
  if (w->kind == TMB_WAIT_NAMED) name = "gasnet_barrier";
  if (w->kind == TMB_WAIT_TEAM) name = "the making or ending of a team, step";
  if (w->kind == TMB_WAIT_COLLECTIVE)
    name = kind < TMB_ARRAY_LEN(collectives) ? collectives[kind] : "collective";
  snprintf(buf, bytes, "%s %llu of %s", name, (unsigned long long)w->number,
           team_text(s, rank, w->team, team, sizeof team));
}

bool tmb_words_is_call(const struct tmb_status_wait *w) {
  return w->kind == TMB_WAIT_BARRIER || w->kind == TMB_WAIT_NAMED ||
         w->kind == TMB_WAIT_COLLECTIVE || w->kind == TMB_WAIT_TEAM;
}

const char *tmb_words_name(const struct tmb_snapshot *s, uint32_t rank, char *buf, size_t bytes) {
  const bool far = s->hosts > 1 && rank < s->size;
  uint32_t first;
  const char *name = member_of(s, TMB_MIN(rank, s->size - 1), &first);
  snprintf(buf, bytes, "%.*s %u%s%s", TMB_STATUS_MEMBER, name, rank + first, far ? " on " : "",
           far ? s->host_name[s->host_of[rank]] : "");
  return buf;
}

static void peer_text(const struct tmb_snapshot *s, uint32_t peer, const char *how, char *buf,
                      size_t bytes) {
  char name[TMB_WORDS_NAME];
  if (peer < s->size)
    snprintf(buf, bytes, " %s %s", how, tmb_words_name(s, peer, name, sizeof name));
  else
    buf[0] = '\0';
}

/* Condition on memory that a thread waits for. */
static void word_text(const struct tmb_status_wait *w, char *buf, size_t bytes) {
  const bool sem = w->kind == TMB_WAIT_SEMAPHORE;
  snprintf(buf, bytes, "the %s at 0x%llx to be %s %llu (it is %llu)", sem ? "semaphore" : "signal",
           (unsigned long long)w->addr, sem ? ">=" : comparisons[w->cmp % 6],
           (unsigned long long)w->value, (unsigned long long)w->found);
}

static void lock_text(const struct tmb_status_wait *w, char *buf, size_t bytes) {
  snprintf(buf, bytes, "the lock at 0x%llx", (unsigned long long)w->addr);
  const size_t n = strlen(buf);
  if (w->value)
    snprintf(buf + n, bytes - n, ", held by thread %llu of this process",
             (unsigned long long)w->value);
}

/* ---- descriptions by a layer above */

static void object_text(const struct tmb_snapshot *s, const struct tmb_status_wait *w, char *buf,
                        size_t bytes) {
  const struct tmb_status_layer *l = &w->layer;
  char name[TMB_WORDS_NAME];
  buf[0] = '\0';
  if (l->object[0]) snprintf(buf, bytes, " of %.*s", TMB_STATUS_OBJECT - 1, l->object);
  size_t used = strlen(buf);
  if (l->home < s->size)
    snprintf(buf + used, bytes - used, " on %s", tmb_words_name(s, l->home, name, sizeof name));
  used = strlen(buf);
  const bool counts = w->kind == TMB_WAIT_SIGNAL || w->kind == TMB_WAIT_SEMAPHORE;
  if (l->needs == TMB_LAYER_ANY && counts)
    snprintf(buf + used, bytes - used, " (%llu of %llu posts have come)",
             (unsigned long long)w->found, (unsigned long long)w->value);
}

/* The rank that a layer waits for, and how; nothing where it is unknown. */
static void actor_text(const struct tmb_snapshot *s, const struct tmb_status_wait *w, char *buf,
                       size_t bytes) {
  const struct tmb_status_layer *l = &w->layer;
  char name[TMB_WORDS_NAME];
  uint32_t who = l->needs == TMB_LAYER_PEER || l->needs == TMB_LAYER_HOLDER ? l->peer : s->size;
  for (uint32_t r = 0; r < s->size && l->needs == TMB_LAYER_HOLDER && l->object_id; r++)
    for (int i = 0; i < TMB_STATUS_HELD; i++)
      if (s->rank[r].status.held[i] == l->object_id) who = r;
  buf[0] = '\0';
  if (who < s->size)
    snprintf(buf, bytes, "%s %s", l->needs == TMB_LAYER_HOLDER ? ", held by" : " with",
             tmb_words_name(s, who, name, sizeof name));
}

/* Place in the program: source line, or place in a file. */
static void source_text(const struct tmb_snapshot *s, uint32_t rank,
                        const struct tmb_status_wait *w, char *buf, size_t bytes) {
  const struct tmb_seen *seen = &s->rank[rank];
  buf[0] = '\0';
  if (w == &seen->status.wait[seen->source_wait] && seen->source[0])
    snprintf(buf, bytes, " at %s", seen->source);
}

/* A wait that a layer has named. in call: the call around it that the library sees, or NULL. */
static void layer_text(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                       const char *call, char *buf, size_t bytes) {
  char object[TMB_STATUS_OBJECT + TMB_WORDS_NAME + 64], actor[TMB_WORDS_NAME + 16];
  char source[TMB_SEEN_SOURCE + 8], number[32] = "";
  if (w->layer.number)
    snprintf(number, sizeof number, " %llu", (unsigned long long)w->layer.number);
  object_text(s, w, object, sizeof object);
  actor_text(s, w, actor, sizeof actor);
  source_text(s, rank, w, source, sizeof source);
  const bool held = w->layer.needs == TMB_LAYER_HOLDER;
  snprintf(buf, bytes, "%.*s%s%s%s%s%s%s%s", TMB_STATUS_CALL - 1, w->layer.call, number, object,
           held ? source : actor, held ? actor : source, call ? " (" : "", call ? call : "",
           call ? ")" : "");
}

void tmb_words_call(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                    char *buf, size_t bytes) {
  char call[TMB_WORDS_BYTES];
  if (!w->layer.begun) {
    call_text(s, rank, w, buf, bytes);
    return;
  }
  call_text(s, rank, w, call, sizeof call);
  layer_text(s, rank, w, call, buf, bytes);
}

/* Purpose of a thread's wait. */
static void plain_text(const struct tmb_snapshot *s, const struct tmb_status_wait *w, char *buf,
                       size_t bytes) {
  char peer[TMB_WORDS_NAME + 8];
  peer_text(s, w->peer, w->kind == TMB_WAIT_NOTIFICATION ? "from" : "with", peer, sizeof peer);
  switch (w->kind) {
  case TMB_WAIT_OPERATION:
    snprintf(buf, bytes, "%s%s (%u parts outstanding)", operation_name(w->what), peer, w->count);
    break;
  case TMB_WAIT_EVENTS:
    snprintf(buf, bytes, "%u events, the first of them %s%s", w->count, operation_name(w->what),
             peer);
    break;
  case TMB_WAIT_IMPLICIT:
    snprintf(buf, bytes, "implicit operations (%u parts outstanding)", w->count);
    break;
  case TMB_WAIT_SEND:
    peer_text(s, w->peer, "to", peer, sizeof peer);
    snprintf(buf, bytes, "room for %s%s%s", operation_name(w->what), peer,
             w->cmp < TMB_ARRAY_LEN(lacks) ? lacks[w->cmp] : "");
    break;
  case TMB_WAIT_CONDITION: snprintf(buf, bytes, "a condition of the program"); break;
  case TMB_WAIT_SIGNAL:
  case TMB_WAIT_SEMAPHORE: word_text(w, buf, bytes); break;
  case TMB_WAIT_SIGNALS:
    snprintf(buf, bytes, "one of %u signals from 0x%llx on", w->count, (unsigned long long)w->addr);
    break;
  case TMB_WAIT_NOTIFICATION:
    snprintf(buf, bytes, "%u notifications with tag %llu%s", w->count, (unsigned long long)w->value,
             peer);
    break;
  case TMB_WAIT_POLL: snprintf(buf, bytes, "anything (gexx_Poll)"); break;
  case TMB_WAIT_LOCK: lock_text(w, buf, bytes); break;
  case TMB_WAIT_SHRINK: snprintf(buf, bytes, "gexx_TM_Shrink, for rank %u", w->peer); break;
  case TMB_WAIT_LOSS: snprintf(buf, bytes, "the end of rank %u to be dealt with", w->peer); break;
  default: snprintf(buf, bytes, "something unknown");
  }
}

void tmb_words_wait(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                    char *buf, size_t bytes) {
  char plain[TMB_WORDS_BYTES];
  if (tmb_words_is_call(w)) {
    tmb_words_call(s, rank, w, buf, bytes);
  } else if (!w->layer.begun) {
    plain_text(s, w, buf, bytes);
  } else {
    plain_text(s, w, plain, sizeof plain);
    const bool known = tmb_explain_is_layer(w) || w->kind == TMB_WAIT_POLL;
    layer_text(s, rank, w, known ? NULL : plain, buf, bytes);
  }
}
