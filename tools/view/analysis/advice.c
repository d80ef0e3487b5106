/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: advice in words, from the sums of the analysis.
 *
 * Owns: nothing global. Called by sums.c when all else is known. Calls: words.c.
 * Invariants: each advice names the measurement, the ranks, and a remedy; a cost below NOTICED of
 * the time is not mentioned; the most expensive comes first.
 */
#define _GNU_SOURCE
#include "view/analysis/report.h"
#include "view/trace/words.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define NOTICED     0.02 /* of the time of the ranks concerned */
#define PAIRS_MAX   4
#define CHAIN_MAX   1024u
#define CHAIN_SHOWN 2u
#define SMALL_BYTES 256.0
#define MANY        1000u
#define LABEL_BYTES 64
#define LONG_NS     100000.0 /* a transfer on one host */

struct sheet {
  const struct view_trace *t;
  struct view_report *r;
  FILE *to;
  char *title, *text;
  size_t bytes;
};

static void begin(struct sheet *s, char *title) {
  s->title = title;
  s->text = NULL;
  s->to = open_memstream(&s->text, &s->bytes);
}

static void end(struct sheet *s, int64_t weight) {
  struct view_report *r = s->r;
  if (s->to) fclose(s->to);
  if (!s->to || !s->title || !s->text) {
    free(s->title);
    free(s->text);
    return;
  }
  r->advice = view_more(r->advice, r->advices, &r->advice_room, sizeof *r->advice);
  r->advice[r->advices++] =
      (struct view_advice){.text = s->text, .title = s->title, .weight = weight};
}

__attribute__((format(printf, 1, 2))) static char *print(const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  return text;
}

static const char *label(const struct sheet *s, uint32_t rank) {
  return view_text(s->t, s->t->rank[rank].label);
}

/* The label at the begin of a sentence. out text: [LABEL_BYTES]. Returns text. */
static const char *capital(const struct sheet *s, uint32_t rank, char *text) {
  snprintf(text, LABEL_BYTES, "%s", label(s, rank));
  if (text[0] >= 'a' && text[0] <= 'z') text[0] = (char)(text[0] - 'a' + 'A');
  return text;
}

static int64_t time_of(const struct sheet *s, uint32_t rank) {
  return s->r->share[rank].end - s->r->share[rank].begin;
}

static int64_t time_of_all(const struct sheet *s) {
  int64_t all = 0;
  for (uint32_t i = 0; i < s->t->ranks; i++) all += time_of(s, i);
  return all;
}

static uint32_t most(const int64_t *ns) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < VIEW_STATES; i++)
    if (ns[i] > ns[best]) best = i;
  return best;
}

/* Activity of the late rank: "it computes (80 %, most of it in 'sweep') and waits for rank 1". */
static void write_reason(struct sheet *s, const struct view_blame *b) {
  char part[VIEW_WORD_BYTES];
  const char *joint = "";
  int64_t all = 0;
  for (int i = 0; i < VIEW_STATES; i++) all += b->while_late[i];
  fprintf(s->to, " because %s ", label(s, b->culprit));
  if (!all) fputs("is not in the trace at that time", s->to);
  for (uint32_t i = 0; i < VIEW_STATES; i++) {
    if (b->while_late[i] * 5 < all || !all) continue;
    fprintf(s->to, "%s%s", joint, view_state_name(i));
    if (i == VIEW_WAITS && b->ranks.used) fprintf(s->to, " for %s", label(s, b->ranks.key[0]));
    fprintf(s->to, " (%s of that time", view_percent((double)b->while_late[i], (double)all, part));
    if (i == VIEW_COMPUTES && b->regions.used)
      fprintf(s->to, ", most in '%s'", view_text(s->t, b->regions.key[0]));
    fputs(")", s->to);
    joint = " and ";
  }
  fputs(".", s->to);
}

/* The largest sum of waits of one rank for another one; NULL: there is none. */
static const struct view_blame *worst_of(const struct sheet *s, uint32_t waiter, uint32_t culprit) {
  for (size_t i = 0; i < s->r->blames; i++)
    if (s->r->blame[i].waiter == waiter && s->r->blame[i].culprit == culprit)
      return &s->r->blame[i];
  return NULL;
}

/* The wait for which the rank that ended `b` late was late itself; NULL: it was not by waiting. */
static const struct view_blame *next_of(const struct sheet *s, const struct view_blame *b) {
  if (most(b->while_late) != VIEW_WAITS || !b->ranks.used) return NULL;
  const struct view_blame *next = worst_of(s, b->culprit, b->ranks.key[0]);
  return next && next->late * 2 >= next->waited ? next : NULL;
}

/* The ranks that the late rank waits for itself, up to one that computes, or until the ranks go in
 * a circle. */
static void write_chain(struct sheet *s, const struct view_blame *b) {
  const uint32_t first = b->waiter;
  uint32_t links = 0;
  const struct view_blame *last = b;
  for (const struct view_blame *next = next_of(s, b); next && links < CHAIN_MAX;
       next = next_of(s, next), links++) {
    if (links < CHAIN_SHOWN)
      fprintf(s->to, "%s%s waits for %s",
              links ? ", " : " The chain goes on: ", label(s, next->waiter),
              label(s, next->culprit));
    last = next;
    if (next->culprit == first) break;
  }
  if (!links && last == b) return;
  if (links > CHAIN_SHOWN) fprintf(s->to, ", and so on to %s", label(s, last->culprit));
  if (last->culprit == first)
    fputs(" (a circle)", s->to);
  else if (most(last->while_late) != VIEW_WAITS)
    fprintf(s->to, ", which %s", view_state_name(most(last->while_late)));
  fputs(".", s->to);
}

static bool same_host(const struct sheet *s, const struct view_blame *b) {
  return s->t->rank[b->waiter].host == s->t->rank[b->culprit].host;
}

/* Name of the operations of `b`: "put". */
static const char *operation(const struct view_blame *b) {
  return b->kind == VIEW_WAIT ? "operation" : view_kind_name(b->kind);
}

/* "Rank 1 waits 20 % of its time (20 us in 1 wait)" */
static void write_part(struct sheet *s, const struct view_blame *b, int64_t ns, uint32_t count) {
  char part[VIEW_WORD_BYTES], all[VIEW_WORD_BYTES], who[LABEL_BYTES];
  fprintf(s->to, "%s waits %s of its time (%s in %u wait%s)", capital(s, b->waiter, who),
          view_percent((double)ns, (double)time_of(s, b->waiter), part), view_time((double)ns, all),
          count, count == 1 ? "" : "s");
}

static void advise_late(struct sheet *s, const struct view_blame *b) {
  char who[LABEL_BYTES];
  begin(s, print("%s waits for %s", capital(s, b->waiter, who), label(s, b->culprit)));
  if (!s->to) return;
  write_part(s, b, b->late, b->late_count);
  fprintf(s->to, " until %s's %ss begin. They begin late", label(s, b->culprit), operation(b));
  write_reason(s, b);
  write_chain(s, b);
  if (most(b->while_late) == VIEW_COMPUTES)
    fprintf(s->to, " Give %s less work before the %s, or start the %s earlier.",
            label(s, b->culprit), operation(b), operation(b));
  end(s, b->late);
}

static void advise_transfer(struct sheet *s, const struct view_blame *b) {
  char mean[VIEW_WORD_BYTES], who[LABEL_BYTES];
  const bool own = b->own * 2 > b->count;
  const double each = (double)b->transfer / (b->count ? b->count : 1);
  begin(s, own ? print("%s's %ss to %s take long", capital(s, b->waiter, who), operation(b),
                       label(s, b->culprit))
               : print("%s's %ss take long to reach %s", capital(s, b->culprit, who), operation(b),
                       label(s, b->waiter)));
  if (!s->to) return;
  write_part(s, b, b->transfer, b->count);
  if (own)
    fprintf(s->to, " for its %ss to %s", operation(b), label(s, b->culprit));
  else
    fprintf(s->to, " for %s's %ss", label(s, b->culprit), operation(b));
  fprintf(s->to, ", which have begun: %s each.", view_time(each, mean));
  if (same_host(s, b) && each > LONG_NS)
    fputs(" That is long on one host: the other rank, or another program, may have the processor.",
          s->to);
  else
    fputs(" Start them earlier, put work between the operation and the wait, or join several "
          "small operations.",
          s->to);
  end(s, b->transfer);
}

static bool noticed(const struct sheet *s, const struct view_blame *b, int64_t ns) {
  return ns && (double)ns >= NOTICED * (double)time_of(s, b->waiter);
}

static void advise_pairs(struct sheet *s) {
  int printed = 0;
  uint32_t more = 0;
  int64_t rest = 0;
  char text[VIEW_WORD_BYTES];
  for (size_t i = 0; i < s->r->blames; i++) {
    const struct view_blame *b = &s->r->blame[i];
    const bool late = noticed(s, b, b->late), transfer = noticed(s, b, b->transfer);
    if (b->kind == VIEW_COLLECTIVE || (!late && !transfer)) continue;
    if (printed++ < PAIRS_MAX) {
      if (late) advise_late(s, b);
      if (transfer) advise_transfer(s, b);
    } else {
      more++;
      rest += b->late + b->transfer;
    }
  }
  if (!more) return;
  begin(s,
        print("%u more pair%s of ranks wait%s", more, more == 1 ? "" : "s", more == 1 ? "s" : ""));
  if (!s->to) return;
  fprintf(s->to, "Together they wait %s; the table of waits has them all.",
          view_time((double)rest, text));
  end(s, rest / more);
}

/* Ranks that could go on and had no processor. */
static void advise_processors(struct sheet *s) {
  char all[VIEW_WORD_BYTES], part[VIEW_WORD_BYTES], one[VIEW_WORD_BYTES];
  int64_t sum = 0, *of = view_zeroed(s->t->ranks, sizeof *of);
  uint32_t worst = 0, ranks = 0;
  for (size_t i = 0; i < s->r->blames; i++) {
    const struct view_blame *b = &s->r->blame[i];
    of[b->waiter] += b->processor;
    sum += b->processor;
    if (of[b->waiter] > of[worst]) worst = b->waiter;
  }
  const int64_t most_ns = s->t->ranks ? of[worst] : 0;
  free(of);
  if (!sum || (double)sum < NOTICED * (double)time_of_all(s)) return;
  const struct view_rank *k = &s->t->rank[worst];
  for (uint32_t i = 0; i < s->t->ranks; i++) ranks += s->t->rank[i].host == k->host;
  begin(s, print("Ranks wait for a processor"));
  if (!s->to) return;
  fprintf(s->to,
          "%u ranks share the %u processor%s of %s. Data had come, but the waiting rank got no "
          "processor: %s of the ranks' time (%s), most on %s (%s). Times of computing hold such "
          "waits, too. Run at most %u rank%s on this host, or use more hosts.",
          ranks, k->processors, k->processors == 1 ? "" : "s",
          k->host == VIEW_NONE ? "their host" : view_text(s->t, k->host),
          view_percent((double)sum, (double)time_of_all(s), part), view_time((double)sum, all),
          label(s, worst), view_time((double)most_ns, one), k->processors,
          k->processors == 1 ? "" : "s");
  end(s, sum / (int64_t)s->t->ranks);
}

/* Most frequent activity of the rank that comes last, while the others waited in collectives. */
static void write_lateness(struct sheet *s, uint32_t worst) {
  struct view_blame sum = {.culprit = worst};
  for (size_t i = 0; i < s->r->blames; i++) {
    const struct view_blame *b = &s->r->blame[i];
    if (b->kind != VIEW_COLLECTIVE || b->culprit != worst) continue;
    for (int k = 0; k < VIEW_STATES; k++) sum.while_late[k] += b->while_late[k];
    for (uint32_t k = 0; k < b->regions.used; k++)
      view_top_add(&sum.regions, b->regions.key[k], b->regions.ns[k]);
    for (uint32_t k = 0; k < b->ranks.used; k++)
      view_top_add(&sum.ranks, b->ranks.key[k], b->ranks.ns[k]);
  }
  view_top_sort(&sum.regions);
  view_top_sort(&sum.ranks);
  fputs(" It is late", s->to);
  write_reason(s, &sum);
  if (most(sum.while_late) == VIEW_COMPUTES)
    fputs(" Give it less work, or do other work before the collective ends.", s->to);
}

static void advise_meeting(struct sheet *s, const struct view_meeting *m) {
  char all[VIEW_WORD_BYTES], part[VIEW_WORD_BYTES], rest[VIEW_WORD_BYTES], who[LABEL_BYTES];
  uint32_t worst = 0, calls = 0;
  for (uint32_t i = 0; i < s->t->ranks; i++) {
    calls += m->last[i];
    if (m->last[i] > m->last[worst]) worst = i;
  }
  if ((double)m->waited < NOTICED * (double)time_of_all(s) || !calls) return;
  begin(s, print("Ranks wait for the last one in '%s'", view_text(s->t, m->name)));
  if (!s->to) return;
  fprintf(s->to,
          "In %u call%s of '%s' the ranks wait %s, together %s of their time, until the last one "
          "comes, and %s more until they go on.",
          calls, calls == 1 ? "" : "s", view_text(s->t, m->name), view_time((double)m->waited, all),
          view_percent((double)m->waited, (double)time_of_all(s), part),
          view_time((double)(m->inside - m->waited), rest));
  if (m->processor)
    fprintf(s->to, " For %s of that they have no processor.",
            view_time((double)m->processor, (char[VIEW_WORD_BYTES]){0}));
  fprintf(s->to, " %s comes last most often: %u of %u times.", capital(s, worst, who),
          m->last[worst], calls);
  if (m->last[worst] * 2 > calls)
    write_lateness(s, worst);
  else
    fputs(" The ranks take turns at being late: their work varies. A form that does not wait for "
          "all (NB, or signals between neighbours) would even it out.",
          s->to);
  end(s, m->waited / (int64_t)s->t->ranks);
}

static void advise_balance(struct sheet *s) {
  char a[VIEW_WORD_BYTES], b[VIEW_WORD_BYTES];
  const struct view_share *share = s->r->share;
  int64_t sum = 0;
  uint32_t worst = 0;
  for (uint32_t i = 0; i < s->t->ranks; i++) {
    sum += share[i].ns[VIEW_COMPUTES];
    if (share[i].ns[VIEW_COMPUTES] > share[worst].ns[VIEW_COMPUTES]) worst = i;
  }
  if (s->t->ranks < 2 || !sum) return;
  const double mean = (double)sum / (double)s->t->ranks;
  const double over = (double)share[worst].ns[VIEW_COMPUTES] - mean;
  if (over < 0.1 * mean || over < NOTICED * (double)time_of(s, worst)) return;
  char who[LABEL_BYTES];
  begin(s, print("%s computes longest", capital(s, worst, who)));
  if (!s->to) return;
  fprintf(s->to,
          "%s computes %s, the mean of all ranks is %s. With even work the job could be up "
          "to %s shorter.",
          who, view_time((double)share[worst].ns[VIEW_COMPUTES], a), view_time(mean, b),
          view_time(over, (char[VIEW_WORD_BYTES]){0}));
  end(s, (int64_t)over);
}

static void advise_overlap(struct sheet *s) {
  char a[VIEW_WORD_BYTES], b[VIEW_WORD_BYTES];
  int64_t flight = 0, overlapped = 0;
  for (uint32_t i = 0; i < s->t->ranks; i++) {
    flight += s->r->share[i].flight;
    overlapped += s->r->share[i].overlapped;
  }
  if ((double)flight < 0.05 * (double)time_of_all(s) || overlapped * 3 > flight) return;
  begin(s, print("Little communication is hidden behind computing"));
  if (!s->to) return;
  fprintf(s->to,
          "While transfers are in flight (%s, all ranks), the ranks that started them compute "
          "only %s of the time. Start transfers earlier (put NB), compute what does not need "
          "them, and wait afterwards.",
          view_time((double)flight, a), view_percent((double)overlapped, (double)flight, b));
  end(s, (flight - overlapped) / (int64_t)(s->t->ranks ? s->t->ranks : 1));
}

static void advise_sizes(struct sheet *s) {
  static const char *const names[VIEW_SIZES] = {"puts", "gets", "messages", "other operations"};
  char a[VIEW_WORD_BYTES], b[VIEW_WORD_BYTES];
  int64_t sends = 0;
  for (uint32_t i = 0; i < s->t->ranks; i++) sends += s->r->share[i].ns[VIEW_SENDS];
  for (uint32_t i = 0; i < VIEW_SIZE_OTHER; i++) {
    const struct view_histogram *h = &s->r->size[i];
    const double most_bytes = view_quantile(h, 0.9);
    if (h->total < MANY || most_bytes > SMALL_BYTES) continue;
    if ((double)sends < 0.05 * (double)time_of_all(s)) continue;
    begin(s, print("Many small %s", names[i]));
    if (!s->to) return;
    fprintf(s->to,
            "90 %% of %llu %s have at most %s, and the ranks spend %s of their time on starting "
            "operations. Join several to one peer, or use the strided and indexed forms.",
            (unsigned long long)h->total, names[i], view_bytes(most_bytes * 1.42, a),
            view_percent((double)sends, (double)time_of_all(s), b));
    end(s, sends / (int64_t)s->t->ranks);
  }
}

static void advise_receivers(struct sheet *s) {
  char a[VIEW_WORD_BYTES], b[VIEW_WORD_BYTES];
  const struct view_delay *worst = NULL;
  for (size_t i = 0; i < s->r->delays; i++)
    if (!worst || s->r->delay[i].handler > worst->handler) worst = &s->r->delay[i];
  if (!worst || (double)worst->handler < NOTICED * (double)time_of(s, worst->receiver)) return;
  char who[LABEL_BYTES];
  begin(s, print("%s handles messages late", capital(s, worst->receiver, who)));
  if (!s->to) return;
  fprintf(s->to,
          "Messages from %s lie there for %s in all, %s each, because %s computes and does not "
          "poll. Call gasnet_AMPoll now and then, or use a progress thread.",
          label(s, worst->sender), view_time((double)worst->handler, a),
          view_time((double)worst->handler / worst->count, b), label(s, worst->receiver));
  end(s, worst->handler);
}

static void advise_path(struct sheet *s) {
  char a[VIEW_WORD_BYTES], b[VIEW_WORD_BYTES], c[VIEW_WORD_BYTES];
  const struct view_path *p = &s->r->path;
  uint32_t worst = 0;
  for (uint32_t i = 1; i < s->t->ranks; i++)
    if (p->on_rank[i] > p->on_rank[worst]) worst = i;
  if (p->length <= 0 || s->t->ranks < 2) return;
  begin(s, print("The critical path is mostly %s", p->transfer > p->length / 2 ? "transfers"
                                                   : p->state[VIEW_COMPUTES] > p->length / 2
                                                       ? "computing"
                                                       : "work of the library"));
  if (!s->to) return;
  fprintf(s->to, "Of its length of %s, %s is computing and %s transfers. ",
          view_time((double)p->length, a),
          view_percent((double)p->state[VIEW_COMPUTES], (double)p->length, b),
          view_percent((double)p->transfer, (double)p->length, c));
  fprintf(s->to, "The largest part, %s, is on %s",
          view_percent((double)p->on_rank[worst], (double)p->length, a), label(s, worst));
  if (p->regions.used)
    fprintf(s->to, ", and %s in '%s'", view_percent((double)p->regions.ns[0], (double)p->length, b),
            view_text(s->t, p->regions.key[0]));
  fputs(". Only what is on this path can shorten the job.", s->to);
  end(s, 1);
}

static void advise_trace(struct sheet *s) {
  char a[VIEW_WORD_BYTES];
  uint64_t lost = 0;
  for (uint32_t i = 0; i < s->t->ranks; i++) lost += s->t->rank[i].lost;
  if (lost) {
    begin(s, print("The trace is not whole"));
    if (!s->to) return;
    fprintf(s->to,
            "The rings had no room for %llu events; the oldest are missing. Trace a "
            "shorter run, or give the rings more room.",
            (unsigned long long)lost);
    end(s, INT64_MAX);
  }
  if ((double)s->r->unexplained_ns < 0.05 * (double)time_of_all(s)) return;
  begin(s, print("Some waits have no known end"));
  if (!s->to) return;
  fprintf(s->to, "The trace does not say who ended %llu wait%s (%s).",
          (unsigned long long)s->r->unexplained, s->r->unexplained == 1 ? "" : "s",
          view_time((double)s->r->unexplained_ns, a));
  end(s, 2);
}

static int by_weight(const void *left, const void *right) {
  const struct view_advice *a = left, *b = right;
  return a->weight > b->weight ? -1 : a->weight < b->weight;
}

void view_advise(const struct view_trace *t, struct view_report *r) {
  struct sheet s = {.t = t, .r = r};
  char part[VIEW_WORD_BYTES];
  int64_t computes = 0;
  advise_pairs(&s);
  advise_processors(&s);
  for (size_t i = 0; i < r->meetings; i++) advise_meeting(&s, &r->meeting[i]);
  advise_balance(&s);
  advise_overlap(&s);
  advise_sizes(&s);
  advise_receivers(&s);
  if (!r->advices) {
    for (uint32_t i = 0; i < t->ranks; i++) computes += r->share[i].ns[VIEW_COMPUTES];
    begin(&s, print("No rank waits long"));
    if (s.to)
      fprintf(s.to, "The ranks compute %s of their time, and no wait costs more than 2 %%.",
              view_percent((double)computes, (double)time_of_all(&s), part));
    end(&s, 3);
  }
  advise_path(&s);
  advise_trace(&s);
  view_sort(r->advice, r->advices, sizeof *r->advice, by_weight);
}
