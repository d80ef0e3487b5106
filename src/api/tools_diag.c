/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The self-test of the tools API: gasnett_run_diagnostics (API reference 09, section 14).
 *
 * Owns: its two message handlers and their state. Called by clients. Calls the public API only.
 * Local sections run on `threadcnt` threads of its own, which never enter GASNet; sections M and R
 * run on the caller's thread and talk to one peer. Invariant: every error is counted once and
 * explained on stderr.
 */
#define GASNET_PAR 1

#include "base/log.h"

#include "gasnet_tools.h"
#include "gasnetex.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>

/* State that the threads of one run share. */
struct arena {
  int iters, threads;
  unsigned seed;
  gasnett_strongatomic_t errors;
  gasnett_strongatomic32_t count32, cas32, flag;
  gasnett_strongatomic64_t count64;
  gasnett_mutex_t mutex;
  gasnett_rwlock_t rwlock;
  uint64_t guarded;          /* under mutex */
  volatile uint64_t pair[2]; /* under rwlock; always equal */
  uint64_t message;          /* published through `flag` */
};

/* A section that threads run, and the condition to check after it; either may be NULL. */
struct section {
  char letter;
  void (*body)(struct arena *a, int index);
  void (*verify)(struct arena *a);
};

TMB_PRINTF(2, 3) static void error(struct arena *a, const char *fmt, ...) {
  char text[256];
  va_list args;
  va_start(args, fmt);
  (void)vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  gasnett_strongatomic_increment(&a->errors, 0);
  tmb_warn("diagnostics: %s", text);
}

/* xorshift (Marsaglia, doi:10.18637/jss.v008.i14) */
static uint32_t next_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

/* --- A: atomics --- */

static void atomics_body(struct arena *a, int index) {
  for (int i = 0; i < a->iters; i++) {
    gasnett_strongatomic32_increment(&a->count32, 0);
    (void)gasnett_strongatomic64_add(&a->count64, UINT64_C(0x100000001), 0);
    uint32_t old;
    do old = gasnett_strongatomic32_read(&a->cas32, 0);
    while (!gasnett_strongatomic32_compare_and_swap(&a->cas32, old, old + 1,
                                                    GASNETT_ATOMIC_REL | GASNETT_ATOMIC_ACQ));
  }
  if (index != 0) return;
  /* Thread 0 publishes a value, the others read it once they see the flag. */
  a->message = a->seed;
  gasnett_strongatomic32_set(&a->flag, 1, GASNETT_ATOMIC_REL);
}

static void atomics_verify(struct arena *a) {
  const uint64_t want = (uint64_t)a->iters * (uint64_t)a->threads;
  const uint32_t got32 = gasnett_strongatomic32_read(&a->count32, 0);
  const uint64_t got64 = gasnett_strongatomic64_read(&a->count64, 0);
  const uint32_t cas = gasnett_strongatomic32_read(&a->cas32, 0);
  if (got32 != (uint32_t)want) error(a, "atomic32: %u increments, not %" PRIu64, got32, want);
  if (cas != (uint32_t)want) error(a, "atomic32: %u swaps, not %" PRIu64, cas, want);
  if (got64 != want * UINT64_C(0x100000001))
    error(a, "atomic64: sum is 0x%" PRIx64 ", not 0x%" PRIx64, got64, want * UINT64_C(0x100000001));
}

/* --- L: locks --- */

static void locks_body(struct arena *a, int index) {
  (void)index;
  for (int i = 0; i < a->iters; i++) {
    gasnett_mutex_lock(&a->mutex);
    a->guarded++;
    gasnett_mutex_unlock(&a->mutex);
    if (i % 8 == 0) {
      gasnett_rwlock_wrlock(&a->rwlock);
      a->pair[0]++;
      a->pair[1]++;
    } else {
      gasnett_rwlock_rdlock(&a->rwlock);
      if (a->pair[0] != a->pair[1]) error(a, "rwlock: a reader met a writer");
    }
    gasnett_rwlock_unlock(&a->rwlock);
  }
}

static void locks_verify(struct arena *a) {
  const uint64_t want = (uint64_t)a->iters * (uint64_t)a->threads;
  if (a->guarded != want)
    error(a, "mutex: %" PRIu64 " guarded increments, not %" PRIu64, a->guarded, want);
}

/* --- T: timer and fences --- */

static void timer_body(struct arena *a, int index) {
  (void)index;
  gasnett_tick_t last = gasnett_ticks_now();
  for (int i = 0; i < a->iters; i++) {
    const gasnett_tick_t now = gasnett_ticks_now();
    if (now < last) error(a, "timer: ticks went back from %" PRIu64 " to %" PRIu64, last, now);
    last = now;
  }
  const gasnett_tick_t start = gasnett_ticks_now();
  (void)gasnett_nsleep(1000000);
  const uint64_t slept = gasnett_ticks_to_ns(gasnett_ticks_now() - start);
  if (slept < 900000) error(a, "timer: a sleep of 1 ms took %" PRIu64 " ns of ticks", slept);
  if (gasnett_strongatomic32_read(&a->flag, GASNETT_ATOMIC_ACQ) && a->message != a->seed)
    error(a, "fences: the message behind a flag is %" PRIu64 ", not %u", a->message, a->seed);
}

/* --- N: numbers and memory --- */

static void numbers_body(struct arena *a, int index) {
  uint32_t state = (a->seed ^ ((uint32_t)index * 2654435761u)) | 1;
  for (int i = 0; i < a->iters; i++) {
    char text[32];
    const int64_t value = (int64_t)next_random(&state) << (next_random(&state) % 12);
    (void)gasnett_format_number(value, text, sizeof text, 0);
    if (gasnett_parse_int(text, 0) != value)
      error(a, "numbers: %" PRId64 " is formatted as %s", value, text);
    unsigned char bytes[32];
    int zeros = 0;
    for (size_t j = 0; j < sizeof bytes; j++) {
      bytes[j] = (unsigned char)(next_random(&state) & 3);
      zeros += bytes[j] == 0;
    }
    if (gasnett_count0s(bytes, sizeof bytes) != (size_t)zeros) error(a, "count0s: not %d", zeros);
  }
}

static const struct section sections[] = {{'A', atomics_body, atomics_verify},
                                          {'L', locks_body, locks_verify},
                                          {'T', timer_body, NULL},
                                          {'N', numbers_body, NULL}};

static bool wanted(const char *list, char letter) {
  if (!list || !*list) return true;
  for (; *list; list++)
    if (gasnett_toupper(*list) == letter) return true;
  return false;
}

/* --- running the local sections --- */

struct run {
  struct arena *arena;
  const struct section *section;
  int index;
  pthread_t thread;
};

static void *run_thread(void *arg) {
  const struct run *const r = arg;
  r->section->body(r->arena, r->index);
  return NULL;
}

static void run_section(struct arena *a, const struct section *section) {
  struct run *const runs = calloc((size_t)a->threads, sizeof *runs);
  int started = 0;
  if (!runs) tmb_fatal("gasnett_run_diagnostics: no memory for %d threads", a->threads);
  for (; started < a->threads; started++) {
    runs[started] = (struct run){.arena = a, .section = section, .index = started};
    const int rc = pthread_create(&runs[started].thread, NULL, run_thread, &runs[started]);
    if (rc == 0) continue;
    error(a, "only %d of %d threads could be started: %s", started, a->threads, strerror(rc));
    break;
  }
  for (int i = 0; i < started; i++) pthread_join(runs[i].thread, NULL);
  if (started == a->threads && section->verify) section->verify(a);
  free(runs);
}

/* --- M: messages --- */

enum { INDEX_REQUEST = 244, INDEX_REPLY = 245, MEDIUM_BYTES = 4096 };

/* Written by the handlers. */
static struct { gasnett_strongatomic_t replies, bad; } mail;

static bool handlers_known;

/* Answers with the checksum of the payload. */
static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t number) {
  const uint64_t sum = gasnett_checksum(buf, (int)nbytes);
  gex_AM_ReplyShort(token, INDEX_REPLY, 0, number, (gex_AM_Arg_t)(uint32_t)(sum >> 32),
                    (gex_AM_Arg_t)(uint32_t)sum);
}

static struct {
  gex_AM_Arg_t number;
  uint64_t sum;
} expected;

static void on_reply(gex_Token_t token, gex_AM_Arg_t number, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  const uint64_t sum = ((uint64_t)(uint32_t)high << 32) | (uint32_t)low;
  (void)token;
  if (number != expected.number || sum != expected.sum)
    gasnett_strongatomic_increment(&mail.bad, 0);
  gasnett_strongatomic_increment(&mail.replies, GASNETT_ATOMIC_REL);
}

void gasnett_diagnostic_gethandlers(gex_AM_Entry_t **htable, int *htable_cnt) {
  static gex_AM_Entry_t table[] = {
      {INDEX_REQUEST, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, NULL,
       "gasnett_run_diagnostics request"},
      {INDEX_REPLY, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3, NULL,
       "gasnett_run_diagnostics reply"},
  };
  handlers_known = true;
  *htable = table;
  *htable_cnt = (int)TMB_ARRAY_LEN(table);
}

static void messages(struct arena *a, gex_TM_t team, gex_Rank_t peer) {
  unsigned char payload[MEDIUM_BYTES];
  uint32_t state = a->seed | 1;
  const size_t most =
      gex_AM_LUBRequestMedium() < sizeof payload ? gex_AM_LUBRequestMedium() : sizeof payload;
  gasnett_strongatomic_set(&mail.replies, 0, 0);
  gasnett_strongatomic_set(&mail.bad, 0, 0);
  for (int i = 0; i < a->iters; i++) {
    const size_t nbytes = next_random(&state) % (most + 1);
    for (size_t j = 0; j < nbytes; j++) payload[j] = (unsigned char)next_random(&state);
    expected.number = i;
    expected.sum = gasnett_checksum(payload, (int)nbytes);
    gex_AM_RequestMedium(team, peer, INDEX_REQUEST, payload, nbytes, GEX_EVENT_NOW, 0, i);
    GASNET_BLOCKUNTIL(gasnett_strongatomic_read(&mail.replies, GASNETT_ATOMIC_ACQ) ==
                      (gasnett_atomic_val_t)(i + 1));
  }
  const gasnett_atomic_val_t bad = gasnett_strongatomic_read(&mail.bad, 0);
  if (bad) error(a, "messages: %u of %d answers were wrong", (unsigned)bad, a->iters);
}

/* --- R: put and get --- */

/* The peers of all ranks form a permutation: the first half of a segment belongs to the one who has
 * it as peer. */
static void rma(struct arena *a, gex_TM_t team, char *myseg, gex_Rank_t peer, char *peerseg) {
  char *const source = myseg + GEXX_DIAG_BYTES / 2, *const back = source + GEXX_DIAG_BYTES / 4;
  uint32_t state = a->seed | 1;
  for (int i = 0; i < a->iters; i++) {
    const size_t nbytes = 1 + next_random(&state) % (GEXX_DIAG_BYTES / 4);
    char *const remote = peerseg + next_random(&state) % (GEXX_DIAG_BYTES / 4);
    for (size_t j = 0; j < nbytes; j++) source[j] = (char)next_random(&state);
    memset(back, 0, nbytes);
    (void)gex_RMA_PutBlocking(team, peer, remote, source, nbytes, 0);
    (void)gex_RMA_GetBlocking(team, back, peer, remote, nbytes, 0);
    if (memcmp(source, back, nbytes) != 0)
      error(a, "rma: %zu bytes came back changed from rank %" PRIu32, nbytes, peer);
  }
}

int gasnett_run_diagnostics(int iters, int threadcnt, const char *testsections, gex_TM_t team,
                            void *myseg, gex_Rank_t peer, void *peerseg, unsigned int seed) {
  if (iters < 1 || threadcnt < 1)
    tmb_fatal("gasnett_run_diagnostics(iters %d, threadcnt %d): both must be at least 1", iters,
              threadcnt);
  struct arena a = {.iters = iters, .threads = threadcnt, .seed = seed};
  gasnett_mutex_init(&a.mutex);
  gasnett_rwlock_init(&a.rwlock);
  for (size_t i = 0; i < TMB_ARRAY_LEN(sections); i++)
    if (wanted(testsections, sections[i].letter)) run_section(&a, &sections[i]);
  if (team != GEX_TM_INVALID) {
    const bool named = testsections && *testsections;
    if (wanted(testsections, 'M') && handlers_known)
      messages(&a, team, peer);
    else if (named && wanted(testsections, 'M'))
      error(&a, "messages: register the handlers of gasnett_diagnostic_gethandlers first");
    if (wanted(testsections, 'R') && myseg && peerseg) rma(&a, team, myseg, peer, peerseg);
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
  gasnett_rwlock_destroy(&a.rwlock);
  gasnett_mutex_destroy(&a.mutex);
  return (int)gasnett_strongatomic_read(&a.errors, 0);
}
