/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What explain.c has found, in words.
 *
 * Owns: no state. Called as explain.h says. Calls: explain, ranklist. Invariants: one line for one
 * thing; every line names ranks by number in the job, and their hosts where there are several; a
 * cause is told once, however many ranks wait for it.
 */
#include "boot/explain/explain.h"

#include "boot/page/ranklist.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 512
#define NAME_BYTES (TMB_CTL_HOST_BYTES + 24) /* of a rank with its host */

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

/* In the order of enum tmb_coll_kind of coll/schedule/shape.h. */
static const char *const collectives[] = {
    "broadcast",  "reduce",   "all-reduce",     "scatter",   "gather",
    "all-gather", "exchange", "reduce-scatter", "scan",      "exclusive scan",
    "scatterv",   "gatherv",  "all-gatherv",    "exchangev", "synchronisation"};

static const char *const comparisons[] = {"==", "!=", ">", ">=", "<", "<="};

static const char *operation_name(uint32_t what) {
  return what < TMB_ARRAY_LEN(operations) ? operations[what] : operations[0];
}

/* List the marked ranks, as "ranks 0-2, 5" or "rank 3". */
static const char *ranks_text(const uint8_t *mark, uint32_t size, char *buf, size_t bytes) {
  pid_t *set = calloc(size, sizeof *set);
  char list[TMB_RANKLIST_BYTES];
  uint32_t count = 0;
  if (!set) return "ranks";
  for (uint32_t r = 0; r < size; r++) count += (set[r] = mark[r]) != 0;
  snprintf(buf, bytes, "rank%s %s", count == 1 ? "" : "s",
           tmb_ranklist_format(list, sizeof list, size, set));
  free(set);
  return buf;
}

static const char *team_text(const struct tmb_snapshot *s, uint64_t uid, char *buf, size_t bytes) {
  if (uid == 0) return "all ranks";
  char list[TMB_RANKLIST_BYTES + 16];
  uint8_t *mark = calloc(s->size, 1);
  if (!mark) return "a team";
  for (uint32_t r = 0; r < s->size; r++) mark[r] = tmb_explain_team(s, r, uid) >= 0;
  snprintf(buf, bytes, "the team of %s", ranks_text(mark, s->size, list, sizeof list));
  free(mark);
  return buf;
}

/* Name of a collective call, as "barrier 3 of all ranks". */
static void call_text(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                      char *buf, size_t bytes) {
  char team[TMB_RANKLIST_BYTES + 64];
  const char *name = "barrier";
  const uint32_t kind = (uint32_t)w->what - TMB_WHAT_COLLECTIVE;
  if (w->kind == TMB_WAIT_NAMED) name = "gasnet_barrier";
  if (w->kind == TMB_WAIT_TEAM) name = "the making or ending of a team, step";
  if (w->kind == TMB_WAIT_COLLECTIVE)
    name = kind < TMB_ARRAY_LEN(collectives) ? collectives[kind] : "collective";
  const uint64_t uid = w->team < TMB_STATUS_TEAMS ? s->rank[rank].status.team[w->team].uid : 0;
  snprintf(buf, bytes, "%s %llu of %s", name, (unsigned long long)w->number,
           w->team < TMB_STATUS_TEAMS ? team_text(s, uid, team, sizeof team) : "a team");
}

static bool is_call(const struct tmb_status_wait *w) {
  return w->kind == TMB_WAIT_BARRIER || w->kind == TMB_WAIT_NAMED ||
         w->kind == TMB_WAIT_COLLECTIVE || w->kind == TMB_WAIT_TEAM;
}

/* Name of a rank, as "rank 3", or "rank 3 on b" in a job on several hosts. */
static const char *name_of(const struct tmb_snapshot *s, uint32_t rank, char *buf, size_t bytes) {
  const bool far = s->hosts > 1 && rank < s->size;
  snprintf(buf, bytes, "rank %u%s%s", rank, far ? " on " : "",
           far ? s->host_name[s->host_of[rank]] : "");
  return buf;
}

static void peer_text(const struct tmb_snapshot *s, uint32_t peer, const char *how, char *buf,
                      size_t bytes) {
  char name[NAME_BYTES];
  if (peer < s->size)
    snprintf(buf, bytes, " %s %s", how, name_of(s, peer, name, sizeof name));
  else
    buf[0] = '\0';
}

/* What is waited for in memory. */
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

/* What a thread waits for. */
static void wait_text(const struct tmb_snapshot *s, uint32_t rank, const struct tmb_status_wait *w,
                      char *buf, size_t bytes) {
  char peer[NAME_BYTES + 8];
  peer_text(s, w->peer, w->kind == TMB_WAIT_NOTIFICATION ? "from" : "with", peer, sizeof peer);
  if (is_call(w)) {
    call_text(s, rank, w, buf, bytes);
    return;
  }
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
    snprintf(buf, bytes, "room for %s%s", operation_name(w->what), peer);
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

/* What a rank does, in a few words. */
static void rank_text(const struct tmb_explain *e, uint32_t rank, char *buf, size_t bytes) {
  const struct tmb_snapshot *s = e->now;
  const struct tmb_seen *a = &e->before->rank[rank], *b = &s->rank[rank];
  const uint64_t time = b->at_ns - a->at_ns;
  switch (e->condition[rank]) {
  case TMB_SEEN_ELSEWHERE:
    snprintf(buf, bytes, "is on another machine, which has not answered");
    return;
  case TMB_SEEN_ABSENT: snprintf(buf, bytes, "has not initialised the library yet"); return;
  case TMB_SEEN_GONE: snprintf(buf, bytes, "has ended"); return;
  case TMB_SEEN_STOPPED:
    snprintf(buf, bytes,
             b->process == 't' ? "is held by a debugger"
                               : "is stopped by a signal (SIGCONT continues it)");
    return;
  case TMB_SEEN_RUNS:
    snprintf(buf, bytes, "runs its own code, or polls (%u %% of a processor)",
             (unsigned)(time ? (b->cpu_ns - a->cpu_ns) * 100 / time : 0));
    return;
  case TMB_SEEN_SLEEPS: snprintf(buf, bytes, "sleeps in a system call of its own"); return;
  default: break;
  }
  size_t used = 0;
  buf[0] = '\0';
  for (int i = 0; i < TMB_STATUS_WAITS && used + 64 < bytes; i++) {
    const struct tmb_status_wait *w = tmb_explain_wait(s, rank, i);
    if (!w) continue;
    char text[TEXT_BYTES];
    wait_text(s, rank, w, text, sizeof text);
    const double age = (double)(b->at_ns - TMB_MIN(w->since_ns, b->at_ns)) / 1e9;
    snprintf(buf + used, bytes - used, "%s%.1f s for %s", used ? "; " : "waits ", age, text);
    used = strlen(buf);
  }
  if (!used)
    snprintf(buf, bytes, "waits for others to start (bootstrap, round %u)", b->status.boot_rounds);
}

/* What lies in the rank's queues and is on its way on the network. */
static void queue_text(const struct tmb_snapshot *s, uint32_t rank, char *buf, size_t bytes) {
  const struct tmb_seen *seen = &s->rank[rank];
  const uint64_t *net = seen->status.net;
  char name[NAME_BYTES];
  uint32_t peer;
  uint64_t silent_ns;
  buf[0] = '\0';
  if (seen->queued[0] + seen->queued[1])
    snprintf(buf, bytes, "; unread: %llu slots of requests, %llu of replies",
             (unsigned long long)seen->queued[0], (unsigned long long)seen->queued[1]);
  const size_t used = strlen(buf);
  if (tmb_explain_stalled(s, rank, &peer, &silent_ns))
    snprintf(buf + used, bytes - used,
             "; network: %llu packets without acknowledgement, %llu messages queued, %llu "
             "retransmissions so far; %s silent for %.1f s",
             (unsigned long long)net[TMB_STATUS_NET_UNACKED],
             (unsigned long long)net[TMB_STATUS_NET_QUEUED],
             (unsigned long long)net[TMB_STATUS_NET_RETRANSMITS],
             name_of(s, peer, name, sizeof name), (double)silent_ns / 1e9);
  else if (net[TMB_STATUS_NET_UNACKED] + net[TMB_STATUS_NET_QUEUED])
    snprintf(buf + used, bytes - used,
             "; network: %llu packets under way, %llu messages queued, %llu retransmissions so far",
             (unsigned long long)net[TMB_STATUS_NET_UNACKED],
             (unsigned long long)net[TMB_STATUS_NET_QUEUED],
             (unsigned long long)net[TMB_STATUS_NET_RETRANSMITS]);
}

/* Name of the host where a rank is: as the launcher knows it, else as the rank says. */
static const char *host_text(const struct tmb_snapshot *s, uint32_t rank) {
  return s->hosts > 1 ? s->host_name[s->host_of[rank]] : s->rank[rank].status.host;
}

void tmb_explain_ranks(const struct tmb_explain *e, FILE *out, bool all) {
  char text[2 * TEXT_BYTES], last[2 * TEXT_BYTES] = "", queue[TEXT_BYTES];
  const char *last_host = "";
  uint32_t alike = 0;
  for (uint32_t r = 0; r < e->now->size; r++) {
    rank_text(e, r, text, sizeof text);
    queue_text(e->now, r, queue, sizeof queue);
    const char *host = host_text(e->now, r);
    if (!all && !queue[0] && strcmp(text, last) == 0 && strcmp(host, last_host) == 0) {
      alike++;
      continue;
    }
    if (alike) fprintf(out, "  ... and the %u after it\n", alike);
    alike = 0;
    fprintf(out, "rank %-4u %s%s%s%s%s\n", r, host, host[0] ? ": " : "", text, queue,
            e->condition[r] == TMB_SEEN_WAITS && !e->live[r] ? " [hangs]" : "");
    snprintf(last, sizeof last, "%s", text);
    last_host = host;
  }
  if (alike) fprintf(out, "  ... and the %u after it\n", alike);
}

/* ---- causes */

struct causes {
  const struct tmb_explain *e;
  FILE *out;
  uint8_t *mark, *group, *told; /* [size] */
  bool hang;                    /* only what hangs; else what is waited for at all */
};

static bool counts(const struct causes *c, uint32_t rank) {
  return c->e->condition[rank] == TMB_SEEN_WAITS && !(c->hang && c->e->live[rank]);
}

/* Whether two ranks wait in the same call. */
static bool same_call(const struct tmb_snapshot *s, uint32_t a, const struct tmb_status_wait *x,
                      uint32_t b, const struct tmb_status_wait *y) {
  return x->kind == y->kind && x->number == y->number && x->what == y->what &&
         x->team < TMB_STATUS_TEAMS && y->team < TMB_STATUS_TEAMS &&
         s->rank[a].status.team[x->team].uid == s->rank[b].status.team[y->team].uid;
}

/* Mark in c->group those that wait in the same call as `rank`. */
static void gather_group(struct causes *c, uint32_t rank, const struct tmb_status_wait *w) {
  const struct tmb_snapshot *s = c->e->now;
  for (uint32_t r = 0; r < s->size; r++) {
    const struct tmb_status_wait *v = counts(c, r) ? tmb_explain_wait(s, r, 0) : NULL;
    c->group[r] = v && same_call(s, rank, w, r, v);
    if (c->group[r]) c->told[r] = 1;
  }
}

/* Tell what each marked rank does instead. */
static void tell_marked(const struct causes *c) {
  char text[2 * TEXT_BYTES], name[NAME_BYTES];
  uint32_t shown = 0;
  for (uint32_t r = 0; r < c->e->now->size && shown < 4; r++) {
    if (!c->mark[r]) continue;
    rank_text(c->e, r, text, sizeof text);
    fprintf(c->out, "; %s %s", name_of(c->e->now, r, name, sizeof name), text);
    shown++;
  }
}

static void tell_call(struct causes *c, uint32_t rank, const struct tmb_status_wait *w) {
  const struct tmb_snapshot *s = c->e->now;
  char call[TEXT_BYTES], who[TMB_RANKLIST_BYTES + 16], missing[TMB_RANKLIST_BYTES + 16];
  uint32_t marked = 0;
  (void)tmb_explain_needs(c->e, rank, w, c->mark);
  for (uint32_t r = 0; r < s->size; r++) marked += c->mark[r];
  gather_group(c, rank, w);
  call_text(s, rank, w, call, sizeof call);
  ranks_text(c->group, s->size, who, sizeof who);
  ranks_text(c->mark, s->size, missing, sizeof missing);
  if (!marked) {
    fprintf(c->out,
            "all members have called %s, and %s still wait%s: a wake-up or a message was lost\n",
            call, who, who[4] == 's' ? "" : "s");
    return;
  }
  uint32_t first = 0;
  while (!c->mark[first]) first++;
  const int at = tmb_explain_team(s, first, s->rank[rank].status.team[w->team].uid);
  bool called = at >= 0 && tmb_explain_calls(s, first, at, w) >= w->number;
  for (int i = 0; i < TMB_STATUS_MISSING; i++) called = called && !w->missing[i];
  fprintf(c->out, "%s wait%s in %s, %s %s %s", who, who[4] == 's' ? "" : "s", call,
          called ? "which waits for polls of" : "which", missing,
          called        ? ""
          : marked == 1 ? "has not called"
                        : "have not called");
  tell_marked(c);
  fprintf(c->out, "\n");
}

/* A wait for a peer, or for anybody. */
static void tell_other(struct causes *c, uint32_t rank, const struct tmb_status_wait *w) {
  const struct tmb_explain *e = c->e;
  char text[TEXT_BYTES], name[NAME_BYTES];
  wait_text(e->now, rank, w, text, sizeof text);
  const enum tmb_needs needs = tmb_explain_needs(e, rank, w, c->mark);
  fprintf(c->out, "%s waits for %s", name_of(e->now, rank, name, sizeof name), text);
  if (tmb_explain_holds(e->now, rank, w))
    fprintf(c->out,
            ": it holds already, so a wake-up was lost, or it was changed by a plain store");
  else if (needs == TMB_NEEDS_ANY && c->hang)
    fprintf(c->out, ", which no other rank can bring about: all that are left wait or are stopped");
  else if (needs == TMB_NEEDS_ALL)
    tell_marked(c);
  fprintf(c->out, "\n");
  c->told[rank] = 1;
}

/* The one rank that a rank waits for, UINT32_MAX if there is none or there are several. */
static uint32_t only_need(struct causes *c, uint32_t rank) {
  const struct tmb_status_wait *w = tmb_explain_wait(c->e->now, rank, 0);
  uint32_t found = UINT32_MAX;
  if (!w || !counts(c, rank)) return UINT32_MAX;
  (void)tmb_explain_needs(c->e, rank, w, c->mark);
  for (uint32_t r = 0; r < c->e->now->size; r++) {
    if (!c->mark[r]) continue;
    if (found != UINT32_MAX) return UINT32_MAX;
    found = r;
  }
  return found;
}

/* Follow those who wait for just one rank; tell a circle if there is one through `start`. */
static void tell_circle(struct causes *c, uint32_t start) {
  const uint32_t size = c->e->now->size;
  uint32_t length = 0, r = start;
  do r = only_need(c, r);
  while (r != UINT32_MAX && r != start && ++length < size);
  if (r != start) return;
  uint32_t lowest = start; /* which tells it */
  for (r = only_need(c, start); r != start; r = only_need(c, r)) lowest = TMB_MIN(lowest, r);
  if (lowest != start) return;
  fprintf(c->out, "in a circle: rank %u", start);
  do {
    r = only_need(c, r);
    fprintf(c->out, " waits for rank %u", r);
    if (r != start) fprintf(c->out, ", which");
  } while (r != start);
  fprintf(c->out, "\n");
}

/* Who gets no answer from whom on the network. Each peer is told once. */
static void tell_stalled(struct causes *c) {
  const struct tmb_snapshot *s = c->e->now;
  char from[NAME_BYTES], to[NAME_BYTES];
  uint32_t peer;
  uint64_t silent_ns;
  memset(c->mark, 0, s->size);
  for (uint32_t r = 0; r < s->size; r++) {
    if (!tmb_explain_stalled(s, r, &peer, &silent_ns) || c->mark[peer]) continue;
    c->mark[peer] = 1;
    fprintf(c->out,
            "%s gets no answer from %s for %.1f s: the network between them is cut or loses "
            "packets, or that rank does not poll\n",
            name_of(s, r, from, sizeof from), name_of(s, peer, to, sizeof to),
            (double)silent_ns / 1e9);
  }
}

void tmb_explain_causes(const struct tmb_explain *e, FILE *out) {
  const uint32_t size = e->now->size;
  struct causes c = {.e = e, .out = out, .hang = e->verdict == TMB_VERDICT_HANG};
  c.mark = calloc(3 * (size_t)size, 1);
  if (!c.mark) return;
  c.group = c.mark + size;
  c.told = c.group + size;
  for (uint32_t r = 0; r < size; r++) {
    const struct tmb_status_wait *w = counts(&c, r) ? tmb_explain_wait(e->now, r, 0) : NULL;
    if (!w || c.told[r]) continue;
    if (is_call(w) && w->team < TMB_STATUS_TEAMS)
      tell_call(&c, r, w);
    else
      tell_other(&c, r, w);
  }
  for (uint32_t r = 0; r < size && c.hang; r++) tell_circle(&c, r);
  tell_stalled(&c);
  free(c.mark);
}
