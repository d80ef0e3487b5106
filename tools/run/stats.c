/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of `tombolo run --stats`, see stats.h.
 *
 * Owns: no process state. Called as stats.h says. Calls: fmt. A row is a number of each rank: the
 * least, the mean, the most, the sum, and which ranks have the least and the most. Invariants: a
 * row that is zero for all ranks is left out, but those of time, waits and messages.
 */
#include "run/stats.h"

#include "base/fmt.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum unit { UNIT_SECONDS, UNIT_SHARE, UNIT_COUNT, UNIT_BYTES };

/* A row, and how to get its number. */
struct row {
  const char *name;
  enum unit unit;
  bool always; /* also when it is zero for all */
  double (*of)(const struct far_stats *s);
};

static double share(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

static uint64_t counted(const struct far_stats *s, int first, int last) {
  uint64_t sum = 0;
  for (int k = first; k <= last; k++) sum += s->stats.count[k];
  return sum;
}

static double of_time(const struct far_stats *s) {
  return (double)s->run_ns / 1e9;
}

static double of_communication(const struct far_stats *s) {
  return share(s->wait_ns + s->op_ns, s->run_ns);
}

static double of_waiting(const struct far_stats *s) {
  return share(s->wait_ns, s->run_ns);
}

static double of_waits(const struct far_stats *s) {
  return (double)s->stats.waits;
}

static double of_messages(const struct far_stats *s) {
  return (double)counted(s, TMB_STATUS_AM_SHORT, TMB_STATUS_AM_LONG);
}

static double of_puts(const struct far_stats *s) {
  return (double)s->stats.count[TMB_STATUS_PUT];
}

static double of_gets(const struct far_stats *s) {
  return (double)s->stats.count[TMB_STATUS_GET];
}

static double of_signals(const struct far_stats *s) {
  return (double)counted(s, TMB_STATUS_PUT_SIGNAL, TMB_STATUS_GET_SIGNAL);
}

static double of_atomics(const struct far_stats *s) {
  return (double)s->stats.count[TMB_STATUS_ATOMIC];
}

static double of_bytes_out(const struct far_stats *s) {
  const uint64_t *b = s->stats.bytes;
  return (double)(b[TMB_STATUS_AM_SHORT] + b[TMB_STATUS_AM_MEDIUM] + b[TMB_STATUS_AM_LONG] +
                  b[TMB_STATUS_PUT] + b[TMB_STATUS_PUT_SIGNAL] + b[TMB_STATUS_ATOMIC]);
}

static double of_bytes_in(const struct far_stats *s) {
  return (double)(s->stats.bytes[TMB_STATUS_GET] + s->stats.bytes[TMB_STATUS_GET_SIGNAL]);
}

static double of_peers(const struct far_stats *s) {
  return (double)s->stats.peers;
}

static double of_memory(const struct far_stats *s) {
  return (double)s->stats.memory_bytes;
}

static double of_packets(const struct far_stats *s) {
  return (double)s->net[TMB_STATUS_NET_PACKETS_OUT];
}

static double of_resent(const struct far_stats *s) {
  return (double)s->net[TMB_STATUS_NET_RETRANSMITS];
}

static const struct row rows[] = {{"run time", UNIT_SECONDS, true, of_time},
                                  {"in communication", UNIT_SHARE, true, of_communication},
                                  {"  of it in waits", UNIT_SHARE, true, of_waiting},
                                  {"waits", UNIT_COUNT, true, of_waits},
                                  {"messages", UNIT_COUNT, true, of_messages},
                                  {"puts", UNIT_COUNT, false, of_puts},
                                  {"gets", UNIT_COUNT, false, of_gets},
                                  {"signals", UNIT_COUNT, false, of_signals},
                                  {"atomics", UNIT_COUNT, false, of_atomics},
                                  {"bytes sent and put", UNIT_BYTES, true, of_bytes_out},
                                  {"bytes got", UNIT_BYTES, false, of_bytes_in},
                                  {"peers", UNIT_COUNT, true, of_peers},
                                  {"most memory", UNIT_BYTES, false, of_memory},
                                  {"packets", UNIT_COUNT, false, of_packets},
                                  {"packets resent", UNIT_COUNT, false, of_resent}};

static void value_text(enum unit unit, double value, char *buf, size_t bytes) {
  switch (unit) {
  case UNIT_SECONDS: snprintf(buf, bytes, "%.3f s", value); break;
  case UNIT_SHARE: snprintf(buf, bytes, "%.1f %%", value); break;
  case UNIT_BYTES: tmb_fmt_bytes((uint64_t)(value + 0.5), buf, bytes); break;
  default: snprintf(buf, bytes, value == (double)(uint64_t)value ? "%.0f" : "%.1f", value);
  }
}

static void print_row(const struct run_stats *stats, const struct row *row, FILE *out) {
  uint32_t least = UINT32_MAX, most = UINT32_MAX, known = 0;
  double sum = 0;
  char text[4][TMB_FMT_BYTES];
  for (uint32_t r = 0; r < stats->size; r++) {
    if (!stats->rank[r].known) continue;
    const double value = row->of(&stats->rank[r]);
    if (least == UINT32_MAX || value < row->of(&stats->rank[least])) least = r;
    if (most == UINT32_MAX || value > row->of(&stats->rank[most])) most = r;
    sum += value;
    known++;
  }
  if (!known || (!row->always && row->of(&stats->rank[most]) == 0)) return;
  value_text(row->unit, row->of(&stats->rank[least]), text[0], sizeof text[0]);
  value_text(row->unit, sum / known, text[1], sizeof text[1]);
  value_text(row->unit, row->of(&stats->rank[most]), text[2], sizeof text[2]);
  value_text(row->unit, sum, text[3], sizeof text[3]);
  const bool sums = row->unit == UNIT_COUNT || row->unit == UNIT_BYTES;
  fprintf(out, "  %-18s %12s %5u %12s %12s %5u", row->name, text[0], least, text[1], text[2], most);
  if (sums) fprintf(out, " %12s", text[3]);
  fputc('\n', out);
}

void run_stats_open(struct run_stats *stats, uint32_t size) {
  stats->size = size;
  stats->rank = calloc(size, sizeof *stats->rank);
  if (!stats->rank) tmb_fatal_nopos("out of memory for the statistics of %u ranks", size);
}

void run_stats_here(struct run_stats *stats, const struct tmb_ctl *ctl) {
  for (uint32_t r = 0; r < stats->size; r++)
    if (tmb_ctl_record_of(ctl)[r] != TMB_CTL_ELSEWHERE) stats->rank[r] = far_stats_of(ctl, r);
}

void run_stats_print(struct run_stats *stats, FILE *out) {
  uint32_t known = 0;
  for (uint32_t r = 0; r < stats->size; r++) known += stats->rank[r].known;
  if (known) {
    fprintf(out, "statistics of %u rank%s", stats->size, stats->size > 1 ? "s" : "");
    if (known < stats->size) fprintf(out, ", of which %u are not known", stats->size - known);
    fprintf(out, "\n  %-18s %12s %5s %12s %12s %5s %12s\n", "", "least", "rank", "mean", "most",
            "rank", "sum");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) print_row(stats, &rows[i], out);
  } else {
    fprintf(out, "statistics: no rank has used the library\n");
  }
  fflush(out);
  free(stats->rank);
  *stats = (struct run_stats){0};
}
