/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The upcalls that a conduit gets: struct tmb_net_up of this library.
 *
 * Owns nothing. Called by conduits. Calls: am_deliver.c, part.c, failure.h, settings, messages.
 * Invariants: as net.h says; an op of NULL, and one towards a rank that is lost, is passed over.
 */
#include "core/client/conduit_up.h"

#include "base/config.h"
#include "base/log.h"
#include "base/messages/messages.h"
#include "core/am/am.h"
#include "core/layer.h"
#include "core/op/record.h"
#include "core/op/trace.h"
#include "core/progress/failure.h"
#include "core/progress/net_sleep.h"
#include "core/progress/progress.h"
#include "core/segment/segment.h"
#include "net/defaults/defaults.h"
#include "net/up.h"

#include "build_info.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a line of output, and of " [TMB-0123]" in it. Chosen, not measured. */
#define LINE_BYTES   1024
#define NUMBER_BYTES 16

/* Runs a handler. It belongs to the client or to core, so it does not count as conduit code. */
static void am(const struct tmb_am_in *in) {
  const uint32_t inside = tmb_net_inside;
  tmb_net_inside = 0;
  tmb_up_am(in);
  tmb_net_inside = inside;
}

static void am_by_thread(const struct tmb_am_in *in) {
  const uint32_t inside = tmb_net_inside;
  tmb_net_inside = 0;
  tmb_am_by_thread(in);
  tmb_progress_by_thread();
  tmb_net_inside = inside;
}

static int thread_work(void) {
  const uint32_t inside = tmb_net_inside;
  tmb_net_inside = 0;
  tmb_am_in_thread = true;
  const int found = tmb_layers_thread_progress();
  tmb_am_in_thread = false;
  if (found & TMB_FOUND_WORK) tmb_progress_by_thread();
  tmb_net_inside = inside;
  return found;
}

static void op_done(void *op, uint32_t category, uint32_t peer) {
  if (op) tmb_up_peer_done(op, category, peer);
}

static void op_more(void *op, uint32_t category, uint32_t peer) {
  if (op) tmb_up_peer_more(op, category, peer);
}

/* The setting of a name. A plug-in asks for one that does not exist if it is older or newer than
 * the library, even if the interface is the same. */
static enum tmb_cfg_id setting_id(const char *name) {
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++) {
    const struct tmb_cfg_row *row = tmb_cfg_row(id);
    if (row->name && strcmp(row->name, name) == 0) return id;
  }
  tmb_wrong_setting(
      "the plug-in of the conduit was built for another version of the library: it "
      "asks for setting %s, which this one (%s) does not have; install the two of one "
      "version",
      name, TMB_BUILD_VERSION);
}

static const char *setting(const char *name) {
  return tmb_cfg_text(setting_id(name));
}

static int64_t setting_int(const char *name) {
  const enum tmb_cfg_id id = setting_id(name);
  switch (tmb_cfg_row(id)->type) {
  case TMB_BOOL: return tmb_cfg_bool(id);
  case TMB_ENUM: return tmb_cfg_enum(id);
  case TMB_DOUBLE: return (int64_t)tmb_cfg_dbl(id);
  default: return tmb_cfg_int(id);
  }
}

/* The text of a conduit's message, with its number if it has one. */
static void write_line(char line[LINE_BYTES], const char *format, va_list args) {
  const unsigned number = tmb_message_number(format);
  vsnprintf(line, LINE_BYTES - NUMBER_BYTES, format, args);
  const size_t used = strlen(line);
  if (number) snprintf(line + used, LINE_BYTES - used, " [TMB-%04u]", number);
}

/* Defines an upcall that gives its text to a function of the library. */
#define SAYING(NAME, TO)          \
 NAME(const char *format, ...) {  \
  char line[LINE_BYTES];          \
  va_list args;                   \
  va_start(args, format);         \
  write_line(line, format, args); \
  va_end(args);                   \
  TO("%s", line);                 \
 }
SAYING(static void print, tmb_print)
/* An attribute, which is part of the type: for clang _Noreturn is not. */
SAYING(__attribute__((noreturn)) static void fatal, tmb_fatal_nopos)
SAYING(__attribute__((noreturn)) static void wrong_setting, tmb_wrong_setting)

/* Retransmissions are always of interest, other packets on request. */
static void packet(const char *what, uint32_t peer, size_t bytes) {
  if (!tmb_job.trace || (!tmb_job.trace->packets && strcmp(what, "resent") != 0)) return;
  tmb_record_event(&(struct tmb_trace_event){
      .kind = TMB_TRACE_PACKET, .name = tmb_record_name(what), .peer = peer, .bytes = bytes});
}

/* All upcalls but `packet`. */
#define UPCALLS                                                                               \
 .am = am, .am_by_thread = am_by_thread, .thread_work = thread_work, .target = tmb_up_target, \
 .segment = tmb_segment_around, .signal = tmb_default_signal, .atomic = tmb_layers_atomic,    \
 .op_done = op_done, .op_more = op_more, .peer_lost = tmb_failure_cut, .setting = setting,    \
 .setting_int = setting_int, .trace = tmb_trace_mark, .print = print, .fatal = fatal,         \
 .wrong_setting = wrong_setting

const struct tmb_net_up tmb_conduit_up = {UPCALLS};
const struct tmb_net_up tmb_conduit_up_traced = {UPCALLS, .packet = packet};
