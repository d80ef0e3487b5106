/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions that the client marks, and marks of the library, written as a trace.
 *
 * Owns: the trace file of this process. Called by clients. Calls: settings, the clock. Format: the
 * JSON array form of the Trace Event Format, which ordinary viewers open; its closing bracket is
 * optional, so that a file is good after an abnormal end, and is written at exit and gasnet_exit.
 * Invariants: one event is one line, written under the lock of the stream; times are microseconds
 * of the monotonic clock, which ranks of one host share.
 */
#include "core/op/trace.h"

#include "base/atomic.h"
#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "core/check.h"
#include "core/op/record.h"
#include "core/op/thread.h"
#include "os/os.h"

#include <gasnetex_ext.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the path of a trace, with the NUL; chosen as the longest that Linux has. */
#define PATH_BYTES 4096

enum { UNKNOWN, OPENING, OFF, ON };

static struct {
  uint32_t state; /* atomic */
  FILE *file;
} trace;

static void finish(void) {
  fputs("\n]\n", trace.file);
  fclose(trace.file);
  tmb_store_rel(&trace.state, OFF);
}

void tmb_trace_end(void) {
  if (tmb_load_acq(&trace.state) != ON || ftrylockfile(trace.file) != 0) return;
  tmb_store_rel(&trace.state, OFF); /* the lock stays: nothing comes behind the bracket */
  fputs("\n]\n", trace.file);
  fflush(trace.file);
}

/* The path with the rank instead of each %. Returns false when it does not fit. */
static bool path_of(const char *pattern, char path[PATH_BYTES]) {
  size_t at = 0;
  for (const char *p = pattern; *p; p++) {
    const size_t room = PATH_BYTES - at;
    const int n = *p == '%' ? snprintf(path + at, room, "%u", tmb_job.rank)
                            : snprintf(path + at, room, "%c", *p);
    if (n < 0 || (size_t)n >= room) return false;
    at += (size_t)n;
  }
  return at > 0;
}

/* Open the file, once. */
static uint32_t open_file(void) {
  uint32_t expected = UNKNOWN;
  if (!tmb_job_ready()) return OFF;
  if (!tmb_cas_acq_rel(&trace.state, &expected, OPENING)) {
    while ((expected = tmb_load_acq(&trace.state)) == OPENING) tmb_cpu_pause();
    return expected;
  }
  char path[PATH_BYTES];
  const char *pattern = tmb_cfg_str(TMB_CFG_TRACE_FILE);
  uint32_t state = OFF;
  if (pattern && pattern[0] && path_of(pattern, path)) {
    trace.file = fopen(path, "w");
    if (trace.file) {
      fprintf(
          trace.file,
          "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{\"name\":\"rank %u\"}}",
          tmb_job.rank, tmb_job.rank);
      atexit(finish);
      state = ON;
    } else {
      tmb_warn("cannot write the trace %s (TOMBOLO_TEST_TRACE_FILE): %s", path, strerror(errno));
    }
  }
  tmb_store_rel(&trace.state, state);
  return state;
}

static void event(char phase, const char *name) {
  uint32_t state = tmb_load_acq(&trace.state);
  if (TMB_LIKELY(state == OFF)) return;
  if (state != ON && open_file() != ON) return;
  const uint64_t now = tmb_os_now_ns();
  flockfile(trace.file);
  fputs(",\n{\"name\":", trace.file);
  tmb_fmt_json(trace.file, name);
  fprintf(trace.file, ",\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%llu.%03u%s}", phase,
          tmb_job.rank, tmb_thread()->id, (unsigned long long)(now / 1000), (unsigned)(now % 1000),
          phase == 'i' ? ",\"s\":\"t\"" : "");
  funlockfile(trace.file);
}

void gexx_Trace_Begin(const char *name) {
  TMB_CHECK(name, "gexx_Trace_Begin: argument name is NULL");
  if (tmb_recording()) tmb_record_region(name);
  event('B', name);
}

void gexx_Trace_End(void) {
  if (tmb_recording()) tmb_record_region_end();
  event('E', "");
}

void gexx_Trace_Mark(const char *name) {
  TMB_CHECK(name, "gexx_Trace_Mark: argument name is NULL");
  if (tmb_recording()) tmb_record_mark(name);
  event('i', name);
}

int gexx_Trace_Follow(const struct gexx_waitinfo *statement) {
  tmb_record_follow(statement);
  return tmb_job.counted;
}

void tmb_trace_mark(const char *text) {
  event('i', text);
}
