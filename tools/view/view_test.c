/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of `tombolo view`: traces that are written by hand, whose answers are known.
 *
 * Owns: nothing. Run by ctest. Calls: the parts of tools/view. Times in the traces are
 * microseconds, in the answers nanoseconds.
 */

#include "base/compiler.h"
#include "base/unit_test.h"
#include "view/analysis/report.h"
#include "view/output.h"
#include "view/trace/words.h"

#include <stdlib.h>
#include <string.h>

#define RANK(n) \
 "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" n ",\"args\":{\"name\":\"rank " n "\"}},"
#define X(cat, name, rank, ts, dur, args)                                                        \
 "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" rank ",\"tid\":1,\"ts\":" ts \
 ",\"dur\":" dur ",\"args\":{" args "}},"
#define FLOW(ph, rank, ts, id)                                                                \
 "{\"ph\":\"" ph "\",\"cat\":\"flow\",\"name\":\"put\",\"pid\":" rank ",\"tid\":1,\"ts\":" ts \
 ",\"id\":" id ",\"bp\":\"e\"},"
#define TRACE(events) "{\"traceEvents\":[" events "{\"ph\":\"M\",\"name\":\"end\"}]}"

struct both {
  struct view_trace t;
  struct view_report r;
};

static void analyse(struct both *b, const char *text) {
  char why[VIEW_WHY_BYTES] = "";
  *b = (struct both){.t = {.program = VIEW_NONE}};
  assert_int_equal(view_load(&b->t, text, strlen(text), why), 0);
  assert_string_equal(why, "");
  view_arrange(&b->t);
  view_analyse(&b->t, &b->r);
}

static void release(struct both *b) {
  view_report_free(&b->r);
  view_trace_free(&b->t);
}

/* Rank 1 waits from 10 to 40 for a put that rank 0 begins at 30, behind its region 'sweep'. */
static const char late_sender[] =
    TRACE(RANK("0") RANK("1") X("region", "sweep", "0", "0.000", "30.000", "")
              X("put", "put", "0", "30.000", "2.000", "\"peer\":1,\"bytes\":4096")
                  FLOW("s", "0", "30.500", "7") X("region", "work", "1", "0", "10", "")
                      X("wait", "wait: signal", "1", "10", "30", "\"ended_by\":0,\"ended_ts\":31")
                          FLOW("f", "1", "40", "7") X("region", "tail", "1", "40", "60", ""));

TEST(test_late_sender) {
  struct both b;
  analyse(&b, late_sender);
  assert_int_equal(b.t.ranks, 2);
  assert_int_equal(b.t.arrows, 1);
  assert_int_equal(b.t.guessed, 0);
  assert_int_equal(b.t.span, 100000);
  assert_int_equal(b.r.blames, 1);
  const struct view_blame *w = &b.r.blame[0];
  assert_int_equal(w->waiter, 1);
  assert_int_equal(w->culprit, 0);
  assert_int_equal(w->kind, VIEW_PUT);
  assert_int_equal(w->waited, 30000);
  assert_int_equal(w->late, 20000);
  assert_int_equal(w->transfer, 10000);
  assert_int_equal(w->while_late[VIEW_COMPUTES], 20000);
  assert_string_equal(view_text(&b.t, w->regions.key[0]), "sweep");
  release(&b);
}

/* 30 on rank 0, the transfer from 30 to 40, and 60 on rank 1. */
TEST(test_critical_path) {
  struct both b;
  analyse(&b, late_sender);
  assert_int_equal(b.r.path.length, 100000);
  assert_int_equal(b.r.path.transfer, 10000);
  assert_int_equal(b.r.path.on_rank[0], 30000);
  assert_int_equal(b.r.path.on_rank[1], 60000);
  assert_int_equal(b.r.path.steps, 3);
  assert_string_equal(view_text(&b.t, b.r.path.regions.key[0]), "tail");
  release(&b);
}

TEST(test_matrix_and_shares) {
  struct both b;
  analyse(&b, TRACE(RANK("0") RANK("1") RANK("2")
                        X("put", "put", "0", "0", "1", "\"peer\":1,\"bytes\":100")
                            X("put", "put", "0", "2", "1", "\"peer\":1,\"bytes\":50")
                                X("get", "get", "2", "0", "4", "\"peer\":0,\"bytes\":8")
                                    X("region", "r", "2", "4", "4", "")
                                        X("region", "r", "1", "0", "4", "")));
  assert_int_equal(b.r.count[0 * 3 + 1], 2);
  assert_int_equal(b.r.bytes[0 * 3 + 1], 150);
  assert_int_equal(b.r.count[0 * 3 + 2], 1); /* of a get the data come from the peer */
  assert_int_equal(b.r.bytes[0 * 3 + 2], 8);
  assert_int_equal(b.r.count[2 * 3 + 0], 0);
  assert_int_equal(b.r.share[0].sent_bytes, 158);
  assert_int_equal(b.r.share[0].ns[VIEW_SENDS], 2000);
  assert_int_equal(b.r.share[0].ns[VIEW_COMPUTES], 1000);
  assert_int_equal(b.r.share[2].ns[VIEW_SENDS], 4000);
  assert_int_equal(b.r.share[2].ns[VIEW_COMPUTES], 4000);
  assert_int_equal(b.r.size[VIEW_SIZE_PUT].total, 2);
  assert_int_equal(b.r.size[VIEW_SIZE_PUT].count[view_bin(100)], 1);
  release(&b);
}

/* A message lies there from 2 until the receiver, which computes, runs its handler at 50. */
TEST(test_late_receiver) {
  struct both b;
  analyse(&b, TRACE(RANK("0") RANK("1")
                        X("message", "short request", "0", "0", "2", "\"peer\":1,\"bytes\":0")
                            FLOW("s", "0", "1", "1") X("region", "long", "1", "0", "50", "")
                                X("handler", "h", "1", "50", "1", "\"peer\":0")
                                    FLOW("f", "1", "50", "1")));
  assert_int_equal(b.r.delays, 1);
  assert_int_equal(b.r.delay[0].sender, 0);
  assert_int_equal(b.r.delay[0].receiver, 1);
  assert_int_equal(b.r.delay[0].count, 1);
  /* The only arrow is also the usual time, which does not count as late: a bin of it. */
  assert_int_equal(b.r.delay[0].handler, 50000 - 2000 - b.r.typical);
  assert_int_equal(b.r.latency[VIEW_LATENCY_ARROW].count[view_bin(50000)], 1);
  release(&b);
}

/* Rank 0 comes at 10, rank 2 last at 30: the others wait for it, once in each of two calls. */
TEST(test_collective) {
  struct both b;
  analyse(
      &b,
      TRACE(RANK("0") RANK("1") RANK("2") X("region", "r", "2", "0", "30", "")
                X("collective", "barrier", "0", "10", "22", "\"team\":\"all\",\"number\":1") X(
                    "collective", "barrier", "1", "20", "12", "\"team\":\"all\",\"number\":1")
                    X("collective", "barrier", "2", "30", "2", "\"team\":\"all\",\"number\":1") X(
                        "collective", "barrier", "0", "40", "4", "\"team\":\"all\",\"number\":2")
                        X("collective", "barrier", "1", "41", "3", "\"team\":\"all\",\"number\":2")
                            X("collective", "barrier", "2", "42", "2",
                              "\"team\":\"all\",\"number\":2")));
  assert_int_equal(b.r.meetings, 1);
  assert_int_equal(b.r.meeting[0].count, 2);
  assert_int_equal(b.r.meeting[0].last[2], 2);
  assert_int_equal(b.r.meeting[0].waited, (20 + 10 + 2 + 1) * 1000);
  assert_int_equal(b.r.meeting[0].inside, (22 + 12 + 2 + 4 + 3 + 2) * 1000);
  assert_int_equal(b.r.blames, 2);
  assert_int_equal(b.r.blame[0].waiter, 0);
  assert_int_equal(b.r.blame[0].culprit, 2);
  assert_int_equal(b.r.blame[0].late, 22000);
  /* The path: from the end of a call to rank 2's begin of it, which is rank 2's own work. */
  assert_int_equal(b.r.path.length, 44000);
  assert_int_equal(b.r.path.on_rank[2], 42000);
  release(&b);
}

/* As the library records a barrier: the call is short, and a wait follows it. Rank 1 comes at 30.
 */
TEST(test_wait_for_collective) {
  struct both b;
  analyse(&b,
          TRACE(RANK("0") RANK("1") X("collective", "barrier", "0", "10", "1",
                                      "\"team\":\"all\",\"number\":1")
                    X("wait", "wait: barrier", "0", "12", "20", "\"ended_by\":1,\"ended_ts\":30")
                        FLOW("f", "0", "32", "4") X("region", "r", "1", "0", "30", "")
                            FLOW("s", "1", "30", "4") X("collective", "barrier", "1", "30", "1",
                                                        "\"team\":\"all\",\"number\":1")));
  assert_int_equal(b.r.meetings, 1);
  assert_int_equal(b.r.meeting[0].count, 1);
  assert_int_equal(b.r.meeting[0].last[1], 1);
  assert_int_equal(b.r.meeting[0].waited, 1000 + 18000); /* in the call, and behind it */
  assert_int_equal(b.r.meeting[0].inside, 1000 + 20000 + 1000);
  assert_int_equal(b.r.blame[0].kind, VIEW_COLLECTIVE);
  assert_int_equal(b.r.blame[0].late, 1000 + 18000);
  assert_int_equal(b.r.path.on_rank[1], 30000);
  assert_int_equal(b.r.path.transfer, 2000);
  release(&b);
}

/* While the put is in progress from 10 to 30, rank 0 computes from 12 to 22, then it waits. */
TEST(test_overlap) {
  struct both b;
  analyse(&b, TRACE(RANK("0") RANK("1") X("put", "put", "0", "10", "2", "\"peer\":1,\"bytes\":8")
                        FLOW("s", "0", "11", "3") X("region", "r", "0", "12", "10", "")
                            X("wait", "wait: operation", "0", "22", "20", "\"peer\":1")
                                X("wait", "wait: signal", "1", "0", "30", "\"ended_by\":0")
                                    FLOW("f", "1", "30", "3")));
  assert_int_equal(b.r.share[0].flight, 20000);
  assert_int_equal(b.r.share[0].overlapped, 10000);
  assert_int_equal(b.r.share[1].flight, 0);
  release(&b);
}

/* Without arrows the operation is found by who ended the wait, and when. */
TEST(test_guess) {
  struct both b;
  analyse(&b, TRACE(RANK("0") RANK("1") X("put", "put", "0", "5", "1", "\"peer\":1,\"bytes\":8")
                        X("put", "put", "0", "8", "1", "\"peer\":1,\"bytes\":8")
                            X("put", "put", "0", "9", "1", "\"peer\":1,\"bytes\":8")
                                X("wait", "wait: signal", "1", "0", "12",
                                  "\"ended_by\":0,\"ended_ts\":8.5")));
  assert_int_equal(b.t.guessed, 1);
  assert_int_equal(b.r.blames, 1);
  assert_int_equal(b.r.blame[0].late, 8000);
  release(&b);
}

/* Regions in two events, one of which never ends; times exact beyond 2^53 ns; a cut file. */
TEST(test_reading) {
  struct both b;
  static const char text[] =
      "[\n{\"ph\":\"B\",\"name\":\"o\\u0075ter\",\"pid\":3,\"tid\":0,\"ts\":9007199254740.993},\n"
      "{\"ph\":\"B\",\"name\":\"in <b>\\\"x\\\"\",\"pid\":3,\"tid\":0,\"ts\":9007199254741.000},\n"
      "{\"ph\":\"E\",\"name\":\"\",\"pid\":3,\"tid\":0,\"ts\":9007199254741.5},\n"
      "{\"ph\":\"i\",\"name\":\"here\",\"pid\":3,\"tid\":0,\"ts\":9007199254743.25e0,\"s\":\"t\"},"
      "\n"
      "{\"ph\":\"X\",\"name\":\"cu";
  analyse(&b, text);
  assert_int_equal(b.t.ranks, 1);
  assert_int_equal(b.t.rank[0].number, 3);
  assert_int_equal(b.t.events, 3);
  assert_string_equal(view_text(&b.t, b.t.event[0].name), "outer");
  assert_string_equal(view_text(&b.t, b.t.event[1].name), "in <b>\"x\"");
  assert_int_equal(b.t.event[0].duration, 2257);
  assert_int_equal(b.t.event[1].start, 7);
  assert_int_equal(b.t.event[1].duration, 500);
  assert_int_equal(b.t.event[1].depth, 1);
  assert_int_equal(b.t.event[2].duration, VIEW_MARK);
  release(&b);
}

TEST(test_refusals) {
  static const char no_json[] = "it is no JSON: neither [ nor { is its first character";
  static const struct {
    const char *text, *why;
  } bad[] = {
      {"hello", no_json},
      {"", no_json},
      {"[]", "it has no trace events"},
      {"{\"a\":[1,{\"b\":\"]\"}]}", "it has no trace events"},
      {"[\n{\"ph\":\"X\",\n\"ts\":true}]", "line 3: a number is missing"},
      {"[{\"ph\" 3}]", "line 1: a ':' is missing"},
  };
  char why[VIEW_WHY_BYTES];
  for (size_t i = 0; i < TMB_ARRAY_LEN(bad); i++) {
    struct view_trace t = {.program = VIEW_NONE};
    assert_int_equal(view_load(&t, bad[i].text, strlen(bad[i].text), why), -1);
    assert_string_equal(why, bad[i].why);
    view_trace_free(&t);
  }
}

/* Times that no clock has are left out; a trace may have names only; ranks may be any numbers. */
TEST(test_odd_traces) {
  struct both b;
  analyse(&b, TRACE(X("put", "put", "0", "9e18", "1", "") X("put", "put", "0", "1", "9e18", "")
                        X("wait", "w", "4000000000", "1", "2", "\"ended_by\":-7")));
  assert_int_equal(b.t.unused, 2);
  assert_int_equal(b.t.events, 1);
  assert_int_equal(b.r.unexplained, 1);
  assert_int_equal(b.r.unexplained_ns, 2000);
  release(&b);
  analyse(&b, TRACE(RANK("0") RANK("1")));
  assert_int_equal(b.t.events, 0);
  assert_int_equal(b.r.path.steps, 0);
  release(&b);
}

TEST(test_hosts) {
  struct both b;
  analyse(&b,
          "{\"otherData\":{\"program\":\"a.out -x\",\"hosts\":[\"a\",\"b\"],\"host_of\":[0,1,1],"
          "\"dropped\":[0,0,5]},\"traceEvents\":[" X(
              "put", "put", "2", "0", "1", "\"peer\":0") "{\"ph\":\"M\",\"name\":\"end\"}]}");
  assert_int_equal(b.t.ranks, 3);
  assert_string_equal(view_text(&b.t, b.t.program), "a.out -x");
  assert_string_equal(view_text(&b.t, b.t.rank[1].host), "b");
  assert_int_equal(b.t.rank[2].lost, 5);
  assert_int_equal(b.t.rank[1].main, VIEW_NONE);
  assert_string_equal(b.r.advice[0].title, "The trace is not whole");
  release(&b);
}

/* Text of an output, which the caller frees. */
static char *written(struct both *b, int what) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  assert_non_null(to);
  const int rc = what == 0   ? view_write_page(&b->t, &b->r, "</script><b>", to)
                 : what == 1 ? view_write_summary(&b->t, &b->r, to)
                             : view_write_diagram(&b->t, &b->r, 0, 50000, to);
  assert_int_equal(fclose(to), 0);
  assert_int_equal(rc, 0);
  return text;
}

TEST(test_outputs) {
  struct both b;
  analyse(&b, late_sender);
  char *page = written(&b, 0), *summary = written(&b, 1), *drawing = written(&b, 2);
  assert_non_null(strstr(page, "<h1>&#60;/script&#62;&#60;b&#62;</h1>"));
  assert_non_null(strstr(page, "id=\"column-start\" data-type=\"u32\""));
  assert_null(strstr(page, "{{"));
  assert_null(strstr(page, "src=\"http"));
  assert_non_null(
      strstr(summary, "Rank 1 waits 20 % of its time (20 us in 1 wait) until rank 0's"));
  assert_non_null(
      strstr(b.r.advice[0].text,
             "begin late because rank 0 computes (100 % of that time, most in 'sweep')"));
  assert_non_null(strstr(drawing, "marker-end"));
  assert_non_null(strstr(drawing, "rank 1</text>"));
  assert_non_null(strstr(drawing, ">0 us</text>"));
  assert_non_null(strstr(drawing, ">10 us</text>"));
  assert_null(strstr(drawing, " ns</text>"));
  assert_null(strstr(drawing, "fill=\"#d00\""));
  free(page);
  free(summary);
  free(drawing);
  release(&b);
}

TEST(test_mark) {
  struct both b;
  analyse(&b, TRACE(RANK("0") X(
                  "region", "work", "0", "0", "60",
                  "") "{\"ph\":\"i\",\"cat\":\"mark\",\"name\":\"race: a, b\",\"pid\":0,\"tid\":1,"
                      "\"ts\":30,\"s\":\"t\"},"));
  char *drawing = written(&b, 2);
  assert_non_null(strstr(drawing, "fill=\"#d00\""));
  assert_non_null(strstr(drawing, ">race: a, b</text>"));
  free(drawing);
  release(&b);
}

#define HOST(processors) \
 "{\"otherData\":{\"hosts\":[\"a\"],\"processors\":[" processors "],\"host_of\":[0,0]},"

/* Rank 1 waits from 10 to 1000 for a put from 200 to 210: late, transfer, and then others run where
 * two ranks share a processor. */
#define PREEMPTED                                                                           \
 "\"traceEvents\":[" X("region", "sweep", "0", "0", "200", "")                              \
     X("put", "put", "0", "200", "10", "\"peer\":1,\"bytes\":8") FLOW("s", "0", "201", "7") \
         X("wait", "wait: signal", "1", "10", "990", "\"ended_by\":0,\"ended_ts\":200")     \
             FLOW("f", "1", "1000", "7") "{\"ph\":\"M\",\"name\":\"end\"}]}"

TEST(test_no_processor) {
  struct both b;
  analyse(&b, HOST("1") PREEMPTED);
  assert_int_equal(b.t.rank[1].processors, 1);
  assert_int_equal(b.r.blames, 1);
  assert_int_equal(b.r.blame[0].late, 190000);
  assert_int_equal(b.r.blame[0].transfer, 10000);
  assert_int_equal(b.r.blame[0].processor, 790000);
  assert_string_equal(b.r.advice[0].title, "Ranks wait for a processor");
  assert_non_null(strstr(b.r.advice[0].text, "2 ranks share the 1 processor of a."));
  assert_non_null(strstr(b.r.advice[0].text, "on rank 1 (790 us)"));
  assert_string_equal(b.r.advice[1].title, "Rank 1 waits for rank 0");
  char *summary = written(&b, 1);
  assert_non_null(strstr(summary, "     19 %     1.0 %      80 %\n"));
  free(summary);
  assert_non_null(strstr(b.r.advice[1].text, "(190 us in 1 wait) until rank 0's puts begin"));
  release(&b);
  analyse(&b, HOST("2") PREEMPTED); /* a processor for each: the transfer is long */
  assert_int_equal(b.r.blame[0].late, 190000);
  assert_int_equal(b.r.blame[0].processor, 0);
  assert_int_equal(b.r.blame[0].transfer, 800000);
  assert_string_equal(b.r.advice[0].title, "Rank 0's puts take long to reach rank 1");
  release(&b);
}

/* Half of the work, a barrier more. */
TEST(test_compare) {
  struct both b, c;
  char *text = NULL;
  size_t bytes = 0;
  FILE *to = open_memstream(&text, &bytes);
  analyse(&b, late_sender);
  analyse(&c, TRACE(X("region", "sweep", "0", "0", "15", "")
                        X("collective", "barrier", "0", "15", "5", "\"team\":\"all\",\"number\":1")
                            X("region", "tail", "1", "0", "60", "")));
  assert_non_null(to);
  assert_int_equal(view_write_compare(&(struct view_side){"b.json", &b.t, &b.r},
                                      &(struct view_side){"c.json", &c.t, &c.r}, to),
                   0);
  assert_int_equal(fclose(to), 0);
  assert_non_null(strstr(text, "before: b.json\nafter:  c.json\n"));
  assert_non_null(strstr(text, "  time                                     100 us        60 us"
                               "      -40 %\n"));
  assert_non_null(strstr(text, "  sweep                                     30 us        15 us"
                               "      -50 %\n"));
  assert_non_null(strstr(text, "  tail                                      60 us        60 us"
                               "          =\n"));
  assert_non_null(strstr(text, "  barrier                                    0 ns         5 us"
                               "        new\n"));
  assert_non_null(strstr(text, "  waits: late sender                        20 us         0 ns"
                               "     -100 %\n"));
  assert_null(strstr(text, "no processor")); /* in neither */
  free(text);
  release(&b);
  release(&c);
}

TEST(test_words) {
  char text[VIEW_WORD_BYTES];
  assert_string_equal(view_time(0, text), "0 ns");
  assert_string_equal(view_time(999.9, text), "1.00 us");
  assert_string_equal(view_time(1234, text), "1.23 us");
  assert_string_equal(view_time(12.3e6, text), "12.3 ms");
  assert_string_equal(view_bytes(65536, text), "64 KB");
  assert_string_equal(view_percent(1, 3, text), "33 %");
  assert_string_equal(view_percent(1, 0, text), "0 %");
}

int main(void) {
  return unit_run(NULL, NULL);
}
