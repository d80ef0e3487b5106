/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo view`: the categories of a trace, and their names.
 *
 * Owns: the table of kinds. Called by load.c, the analysis and the output. Calls: libc.
 * Invariants: a category that is not in the table is a region, so that traces of other programs
 * can be read, too. docs/TRACE_FORMAT.md names the categories.
 */
#include "view/trace/trace.h"

#include <string.h>

struct kind_row {
  const char *name;     /* for people */
  const char *category; /* words that mean it, separated by blanks */
  enum view_state state;
  bool sends; /* something goes to the peer */
};

static const struct kind_row kind_rows[VIEW_KINDS] = {
    [VIEW_REGION] = {"region", "region user", VIEW_COMPUTES, false},
    [VIEW_STATEMENT] = {"statement", "statement fortran upc caf construct", VIEW_SENDS, false},
    [VIEW_PUT] = {"put", "put rma", VIEW_SENDS, true},
    [VIEW_GET] = {"get", "get", VIEW_SENDS, false},
    [VIEW_MESSAGE] = {"message", "message am msg reply request", VIEW_SENDS, true},
    [VIEW_ATOMIC] = {"atomic", "atomic amo", VIEW_SENDS, true},
    [VIEW_SIGNAL] = {"signal", "signal notify", VIEW_SENDS, true},
    [VIEW_HANDLER] = {"handler", "handler", VIEW_HANDLES, false},
    [VIEW_COLLECTIVE] = {"collective", "collective coll barrier", VIEW_COLLECTS, false},
    [VIEW_WAIT] = {"wait", "wait", VIEW_WAITS, false},
    [VIEW_PACKET] = {"packet", "packet retransmission net", VIEW_SENDS, false},
};

static const char *const state_names[VIEW_STATES] = {
    [VIEW_COMPUTES] = "computes",     [VIEW_SENDS] = "communicates",
    [VIEW_HANDLES] = "runs handlers", [VIEW_COLLECTS] = "is in collectives",
    [VIEW_WAITS] = "waits",
};

const char *view_kind_name(uint32_t kind) {
  return kind < VIEW_KINDS ? kind_rows[kind].name : "";
}

const char *view_state_name(uint32_t state) {
  return state < VIEW_STATES ? state_names[state] : "";
}

enum view_state view_state_of(uint32_t kind) {
  return kind_rows[kind].state;
}

bool view_kind_sends(uint32_t kind) {
  return kind_rows[kind].sends;
}

static bool has_word(const char *words, struct view_span word) {
  for (const char *p = words; *p;) {
    const size_t bytes = strcspn(p, " ");
    if (bytes == word.bytes && memcmp(p, word.text, bytes) == 0) return true;
    p += bytes + (p[bytes] == ' ');
  }
  return false;
}

enum view_kind view_kind_of(struct view_span category) {
  if (!category.bytes) return VIEW_REGION;
  const char *comma = memchr(category.text, ',', category.bytes);
  if (comma) category.bytes = (size_t)(comma - category.text);
  for (uint32_t k = 0; category.bytes && k < VIEW_KINDS; k++)
    if (has_word(kind_rows[k].category, category)) return k;
  return VIEW_REGION;
}
