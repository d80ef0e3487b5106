/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* debug: both */
/*
 * API 00.7: a call that returns a non-fatal error prints a line that names the call, the code and
 * the argument; from the start on, until gex_System_SetVerboseErrors(0).
 */
#include "job.h"

#include <fcntl.h>
#include <gasnet.h>
#include <unistd.h>

static FILE *lines;
static int screen;

static void catch_begin(void) {
  lines = tmpfile();
  REQUIRE(lines != NULL);
  fflush(stderr);
  screen = dup(2);
  dup2(fileno(lines), 2);
}

static const char *catch_end(void) {
  static char text[4096];
  fflush(stderr);
  dup2(screen, 2);
  close(screen);
  rewind(lines);
  text[fread(text, 1, sizeof text - 1, lines)] = 0;
  fclose(lines);
  return text;
}

static void handler(gex_Token_t token) {
  (void)token;
}
static gex_AM_Entry_t low_index = {
    3, (gex_AM_Fn_t)handler, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP, 0, NULL, NULL};

static int second_init(void) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  return gex_Client_Init(&client, &ep, &tm, "AGAIN", NULL, NULL, 0);
}
static int attach_off(void) {
  return gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0);
}
static int attach_odd(void) {
  gex_Segment_t segment;
  return gex_Segment_Attach(&segment, job.tm, GASNET_PAGESIZE + 8);
}
static int info_early(void) {
  gasnet_seginfo_t info;
  return gasnet_getSegmentInfo(&info, 1);
}
static int nodes_negative(void) {
  gasnet_nodeinfo_t info;
  return gasnet_getNodeInfo(&info, -1);
}
static int index_low(void) {
  return gex_EP_RegisterHandlers(job.ep, &low_index, 1);
}
static int ep_capability(void) {
  gex_EP_t ep;
  return gex_EP_Create(&ep, job.client, 0, 0);
}
static int bind_nothing(void) {
  return gex_EP_BindSegment(job.ep, GEX_SEGMENT_INVALID, 0);
}
static int wait_mode(void) {
  return gasnet_set_waitmode(77);
}
static int progress_threads(void) {
  unsigned count;
  const gex_ProgressThreadInfo_t *info;
  return gex_System_QueryProgressThreads(job.client, &count, &info, 0);
}
static int progress_nowhere(void) {
  return gex_System_QueryProgressThreads(job.client, NULL, NULL, 0);
}

static const struct {
  int (*call)(void);
  int code;
  const char *name, *word;
} rows[] = {
    {second_init, GASNET_ERR_NOT_INIT, "gex_Client_Init", "GASNET_ERR_NOT_INIT"},
    {attach_off, GASNET_ERR_NOT_INIT, "gasnet_attach", "GEX_FLAG_USES_GASNET1"},
    {attach_odd, GASNET_ERR_BAD_ARG, "gex_Segment_Attach", "size"},
    {info_early, GASNET_ERR_NOT_INIT, "gasnet_getSegmentInfo", "segment"},
    {nodes_negative, GASNET_ERR_BAD_ARG, "gasnet_getNodeInfo", "-1"},
    {index_low, GASNET_ERR_BAD_ARG, "gex_EP_RegisterHandlers", "gex_index is 3"},
    {ep_capability, GASNET_ERR_BAD_ARG, "gex_EP_Create", "capabilities"},
    {bind_nothing, GASNET_ERR_BAD_ARG, "gex_EP_BindSegment", "neither may be invalid"},
    {wait_mode, GASNET_ERR_BAD_ARG, "gasnet_set_waitmode", "77"},
    {progress_threads, GASNET_ERR_RESOURCE, "gex_System_QueryProgressThreads", "DEFER_THREADS"},
    {progress_nowhere, GASNET_ERR_BAD_ARG, "gex_System_QueryProgressThreads",
     "no pointer may be NULL"},
};

static void check_rows(int printed) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    catch_begin();
    const int code = rows[i].call();
    const char *text = catch_end();
    CHECK_EQ(code, rows[i].code);
    if (!printed)
      CHECK_STR(text, "");
    else if (!strstr(text, rows[i].name) || !strstr(text, rows[i].word) ||
             !strstr(text, gasnet_ErrorName(code)))
      check_fail(__FILE__, __LINE__, "%s: no \"%s\" in \"%s\"", rows[i].name, rows[i].word, text);
  }
}

int main(int argc, char **argv) {
  job_start(&argc, &argv, 0, NULL, 0);
  CHECK_EQ(gex_System_GetVerboseErrors(), 1);
  check_rows(1);
  gex_System_SetVerboseErrors(0);
  check_rows(0);
  return job_finish();
}
