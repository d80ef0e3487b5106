/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs misuse cases in child processes and judges how they died; see dbg_case.h.
 */
#include "dbg_case.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { OUTPUT_MAX = 16384, CASE_SECONDS = 20 };

struct dbg_job dbg;
int *dbg_argc;
char ***dbg_argv;
static struct dbg_case *cases, **cases_end = &cases;

/* ---- parent */

static void become_case(const char *program, const struct dbg_case *c, int out) {
  char ranks[16];
  const struct rlimit none = {0, 0};
  dup2(out, 1);
  dup2(out, 2);
  setrlimit(RLIMIT_CORE, &none);
  snprintf(ranks, sizeof ranks, "%d", c->ranks);
  unsetenv("TOMBOLO_BOOT");
  unsetenv("GASNET_FREEZE_ON_ERROR");
  setenv("GASNET_PSHM_NODES", ranks, 1);
  setenv("GASNET_BACKTRACE", "0", 1);
  if (c->env) putenv((char *)(uintptr_t)c->env);
  execl("/proc/self/exe", program, "--case", c->name, (char *)NULL);
  _exit(127);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Reads until the last writer has ended or time is up. Returns whether it ended by itself. */
static int read_output(int fd, char *text) {
  const double end = seconds() + CASE_SECONDS;
  size_t have = 0;
  text[0] = 0;
  for (;;) {
    char spill[512];
    char *const to = have < OUTPUT_MAX - 1 ? text + have : spill;
    const size_t room = have < OUTPUT_MAX - 1 ? OUTPUT_MAX - 1 - have : sizeof spill;
    const double left = end - seconds();
    struct pollfd p = {fd, POLLIN, 0};
    if (left <= 0 || poll(&p, 1, (int)(left * 1000) + 1) == 0) return 0;
    const ssize_t got = read(fd, to, room);
    if (got == 0 || (got < 0 && errno != EINTR)) return 1;
    if (got > 0 && to != spill) text[have += (size_t)got] = 0;
  }
}

/* Whether a case ended as misuse does: by SIGABRT, or where a setting is wrong with code 2. */
static int ended_as_misuse(const struct dbg_case *c, int status) {
  if (strcmp(c->words[0], DBG_SETTING) == 0) return WIFEXITED(status) && WEXITSTATUS(status) == 2;
  return (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) ||
         (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGABRT);
}

static int survives(const struct dbg_case *c) {
  return !c->words[0] || strcmp(c->words[0], DBG_WARNS) == 0 ||
         strcmp(c->words[0], DBG_REFUSED) == 0;
}

static int warned(const char *text) {
  return strstr(text, DBG_WARNS) && !strstr(text, "deprecated");
}

static void judge(const struct dbg_case *c, int status, const char *text) {
  const uint64_t before = check_failures();
  const char *missing = NULL;
  for (int i = 0; i < DBG_WORDS_MAX && c->words[i]; i++)
    if (!strstr(text, c->words[i])) missing = c->words[i];
  if (survives(c)) {
    if (missing) check_fail(c->name, 0, "the output does not say \"%s\"", missing);
    if (!c->words[0] && warned(text)) check_fail(c->name, 0, "legal use is warned of");
    if (status) check_fail(c->name, 0, "legal use ended with wait status 0x%x", (unsigned)status);
  } else if (WIFEXITED(status) && WEXITSTATUS(status) == DBG_SURVIVED) {
    check_fail(c->name, 0, "the misuse was not noticed");
  } else if (!ended_as_misuse(c, status)) {
    check_fail(c->name, 0, "ended with wait status 0x%x, not as misuse does", (unsigned)status);
  } else if (missing) {
    check_fail(c->name, 0, "the message does not say \"%s\"", missing);
  } else if (strstr(text, "caught signal")) {
    check_fail(c->name, 0, "the rank has more to say than the misuse");
  }
  check_count(1);
  if (check_failures() != before) fprintf(stderr, "  output of case %s:\n%s\n", c->name, text);
}

static void run_case(const char *program, const struct dbg_case *c) {
  static char text[OUTPUT_MAX];
  int fd[2], status = 0;
  if (pipe(fd)) check_abandon();
  fflush(NULL);
  const pid_t pid = fork();
  if (pid < 0) check_abandon();
  if (pid == 0) {
    close(fd[0]);
    become_case(program, c, fd[1]);
  }
  close(fd[1]);
  if (!read_output(fd[0], text)) {
    check_fail(c->name, 0, "did not end within %d seconds", CASE_SECONDS);
    kill(pid, SIGKILL);
  }
  close(fd[0]);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  judge(c, status, text);
}

/* ---- child */

static int be_case(const struct dbg_case *c, void (*setup)(int *, char ***)) {
  setup(dbg_argc, dbg_argv);
  c->run();
  fflush(NULL);
  if (!survives(c)) _exit(DBG_SURVIVED);
  return 0;
}

void dbg_add(struct dbg_case *c) {
  *cases_end = c;
  cases_end = &c->next;
}

int dbg_main(int argc, char **argv, void (*setup)(int *, char ***)) {
  dbg_argc = &argc;
  dbg_argv = &argv;
  if (argc == 3 && strcmp(argv[1], "--case") == 0) {
    for (const struct dbg_case *c = cases; c; c = c->next)
      if (strcmp(c->name, argv[2]) == 0) return be_case(c, setup);
    fprintf(stderr, "no case is called %s\n", argv[2]);
    return 2;
  }
  for (const struct dbg_case *c = cases; c; c = c->next)
    if (argc < 2 || strstr(c->name, argv[1])) run_case(argv[0], c);
  return check_done();
}

/* ---- jobs and handlers for cases */

void dbg_setup_none(int *argc, char ***argv) {
  (void)argc, (void)argv;
}

void dbg_setup_no_segment(int *argc, char ***argv) {
  if (gex_Client_Init(&dbg.client, &dbg.ep, &dbg.tm, "MISUSE", argc, argv, GEX_FLAG_USES_GASNET1))
    _exit(3);
  dbg.rank = gex_TM_QueryRank(dbg.tm);
  dbg.size = gex_TM_QuerySize(dbg.tm);
}

void dbg_setup(int *argc, char ***argv) {
  dbg_setup_no_segment(argc, argv);
  if (gex_Segment_Attach(&dbg.seg, dbg.tm, DBG_SEG_BYTES)) _exit(3);
  dbg.base = (char *)gex_Segment_QueryAddr(dbg.seg);
}

gex_AM_Index_t dbg_handler(gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs) {
  gex_AM_Entry_t entry = {0, fn, flags, nargs, NULL, "misuse"};
  if (gex_EP_RegisterHandlers(dbg.ep, &entry, 1)) _exit(4);
  return entry.gex_index;
}

static void (*body)(gex_Token_t token);
static volatile int body_done;
static gex_AM_Index_t reply_index;

static void run_body(gex_Token_t token) {
  body(token);
  body_done = 1;
}
static void ask_reply(gex_Token_t token) {
  gex_AM_ReplyShort0(token, reply_index, 0);
}

static void run_on_self(gex_AM_Index_t index) {
  body_done = 0;
  gex_AM_RequestShort0(dbg.tm, dbg.rank, index, 0);
  GASNET_BLOCKUNTIL(body_done);
}

void dbg_in_request(void (*fn)(gex_Token_t token)) {
  body = fn;
  run_on_self(dbg_handler((gex_AM_Fn_t)run_body, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0));
}

void dbg_in_reply(void (*fn)(gex_Token_t token)) {
  body = fn;
  reply_index = dbg_handler((gex_AM_Fn_t)run_body, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0);
  run_on_self(dbg_handler((gex_AM_Fn_t)ask_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0));
}

gex_Event_t dbg_live_event(gex_Event_t *lc_opt) {
  static char out[64];
  const gex_Event_t event = gex_RMA_PutNB(dbg.tm, dbg.rank, dbg.base, out, sizeof out, lc_opt, 0);
  if (event == GEX_EVENT_INVALID) _exit(5); /* the setting did not work */
  return event;
}
