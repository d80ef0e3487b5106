/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and words of the events of a trace, see words.h.
 *
 * Owns: no state. Called by write.c. Calls: libc. A wait packs into `name` two values that are
 * fields on the status page: enum tmb_what, comparison. Invariants: numbers of an area are checked
 * before they are an index.
 */
#include "boot/trace/words.h"

#include <stdio.h>
#include <string.h>

/* In the order of enum tmb_what. */
static const struct {
  const char *category, *name, *words;
} operations[] = {{"put", "operation", "an operation"},
                  {"put", "put", "a put"},
                  {"get", "get", "a get"},
                  {"put", "put strided", "a strided put"},
                  {"get", "get strided", "a strided get"},
                  {"signal", "put signal", "a put with signal"},
                  {"signal", "get signal", "a get with signal"},
                  {"signal", "put notify", "a put with notification"},
                  {"signal", "get notify", "a get with notification"},
                  {"atomic", "atomic", "an atomic operation"},
                  {"message", "short message", "a Short message"},
                  {"message", "medium message", "a Medium message"},
                  {"message", "long message", "a Long message"},
                  {"collective", "barrier", "a barrier"}};

/* In the order of enum tmb_coll_kind of coll/shape.h. */
static const char *const collectives[] = {
    "broadcast",  "reduce",   "all-reduce",     "scatter",   "gather",
    "all-gather", "exchange", "reduce-scatter", "scan",      "exclusive scan",
    "scatterv",   "gatherv",  "all-gatherv",    "exchangev", "synchronisation"};

static const char *const comparisons[] = {"==", "!=", ">", ">=", "<", "<="};

static const char *const waits[TMB_WAIT_KINDS] = {
    "unknown", "operation", "events",    "implicit", "barrier",   "barrier",   "collective",
    "team",    "send",      "condition", "signal",   "signals",   "semaphore", "notification",
    "poll",    "lock",      "loss",      "shrink",   "statement", "program"};

static const char *const categories[TMB_TRACE_KINDS] = {
    "", "", "message", "handler", "wait", "collective", "statement", "region", "mark", "packet"};

static uint32_t what_of(uint32_t what) {
  return what < TMB_ARRAY_LEN(operations) ? what : 0;
}

static const char *call_name(uint32_t what) {
  const uint32_t kind = what - TMB_WHAT_COLLECTIVE;
  if (what < TMB_WHAT_COLLECTIVE) return operations[what_of(what)].name;
  return kind < TMB_ARRAY_LEN(collectives) ? collectives[kind] : "collective";
}

const char *tmb_trace_member(const struct tmb_trace_set *set) {
  return set->member[0][0] ? set->member[0] : "rank";
}

const char *tmb_trace_category(const struct tmb_trace_item *item) {
  const struct tmb_trace_event *e = item->event;
  if (e->kind == TMB_TRACE_OPERATION) return operations[what_of(e->what)].category;
  return categories[e->kind];
}

const char *tmb_trace_wait_kind(const struct tmb_trace_event *e) {
  return waits[e->what < TMB_WAIT_KINDS ? e->what : 0];
}

const char *tmb_trace_title(const struct tmb_trace_set *set, const struct tmb_trace_item *item,
                            char *buf) {
  static const char *const messages[] = {"short", "medium", "long"};
  const struct tmb_trace_event *e = item->event;
  const char *name = tmb_trace_name(set->rank[item->rank].area, e->name & 0xffff);
  switch (e->kind) {
  case TMB_TRACE_OPERATION:
    if (e->what == TMB_WHAT_PUT_SIGNAL && !e->bytes) return "post";
    return operations[what_of(e->what)].name;
  case TMB_TRACE_MESSAGE:
    snprintf(buf, TMB_TRACE_WORDS_BYTES, "%s %s", messages[e->what % 4 % 3],
             e->what / 4 ? "reply" : "request");
    return buf;
  case TMB_TRACE_HANDLER:
    if (name[0]) return name;
    snprintf(buf, TMB_TRACE_WORDS_BYTES, "handler %llu", (unsigned long long)e->value);
    return buf;
  case TMB_TRACE_WAIT:
    snprintf(buf, TMB_TRACE_WORDS_BYTES, "wait: %s", tmb_trace_wait_kind(e));
    return buf;
  case TMB_TRACE_CALL: return call_name(e->what);
  default: return name;
  }
}

/* " to rank 3", or nothing. */
static void peer_text(const struct tmb_trace_set *set, uint32_t peer, const char *how, char *buf,
                      size_t bytes) {
  buf[0] = '\0';
  if (peer < set->size)
    snprintf(buf, bytes, " %s %s %u", how, tmb_trace_member(set), peer + set->first_member);
}

void tmb_trace_waited_for(const struct tmb_trace_set *set, const struct tmb_trace_item *item,
                          char *buf) {
  const size_t bytes = TMB_TRACE_WORDS_BYTES;
  const struct tmb_trace_event *e = item->event;
  const uint32_t what = e->name & 0xff, cmp = e->name >> 8 & 0xff;
  char peer[64];
  peer_text(set, e->peer, "with", peer, sizeof peer);
  switch (e->what) {
  case TMB_WAIT_OPERATION:
    snprintf(buf, bytes, "%s%s", operations[what_of(what)].words, peer);
    break;
  case TMB_WAIT_EVENTS:
    snprintf(buf, bytes, "%llu events, the first of them %s%s", (unsigned long long)e->bytes,
             operations[what_of(what)].words, peer);
    break;
  case TMB_WAIT_IMPLICIT: snprintf(buf, bytes, "implicit operations"); break;
  case TMB_WAIT_BARRIER:
  case TMB_WAIT_NAMED:
  case TMB_WAIT_COLLECTIVE: snprintf(buf, bytes, "%s", call_name(what)); break;
  case TMB_WAIT_TEAM: snprintf(buf, bytes, "the making or ending of a team"); break;
  case TMB_WAIT_SEND:
    peer_text(set, e->peer, "to", peer, sizeof peer);
    snprintf(buf, bytes, "room for %s%s", operations[what_of(what)].words, peer);
    break;
  case TMB_WAIT_CONDITION: snprintf(buf, bytes, "a condition of the program"); break;
  case TMB_WAIT_SIGNAL:
    snprintf(buf, bytes, "the signal at 0x%llx to be %s %llu", (unsigned long long)e->object,
             comparisons[cmp % 6], (unsigned long long)e->value);
    break;
  case TMB_WAIT_SEMAPHORE:
    snprintf(buf, bytes, "%llu posts of the semaphore at 0x%llx", (unsigned long long)e->value,
             (unsigned long long)e->object);
    break;
  case TMB_WAIT_SIGNALS:
    snprintf(buf, bytes, "one of %llu signals from 0x%llx on", (unsigned long long)e->bytes,
             (unsigned long long)e->object);
    break;
  case TMB_WAIT_NOTIFICATION:
    peer_text(set, e->peer, "from", peer, sizeof peer);
    snprintf(buf, bytes, "notifications with tag %llu%s", (unsigned long long)e->value, peer);
    break;
  case TMB_WAIT_POLL: snprintf(buf, bytes, "anything (gexx_Poll)"); break;
  case TMB_WAIT_LOCK:
    snprintf(buf, bytes, "the lock at 0x%llx", (unsigned long long)e->object);
    break;
  default: snprintf(buf, bytes, "%s%s", tmb_trace_wait_kind(e), peer);
  }
}
