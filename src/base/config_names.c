/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in the environment that look like settings: known, removed, foreign, misspelt.
 *
 * Owns: the lists of names that are removed and of other builds (config_foreign.def). Called by
 * config.c once a job, in the process that speaks for it. Calls: config_table.c, fmt, log.
 * Invariants: one line a job; only sure mistakes are named: any unknown TOMBOLO_*, and a GASNET_*
 * that is nearly the name of a setting, because job scripts set GASNET_* variables for builds of
 * other libraries, too.
 */
#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

extern char **environ;

enum {
  NAME_BYTES = 96,
  LINE_BYTES = 900,
  SLIPS_MAX = 2, /* most wrong letters in a GASNET_* name that is surely meant to be ours */
};

static const char *const foreign[] = {
#define TMB_FOREIGN(pattern) pattern,
#include "base/config_foreign.def"
#undef TMB_FOREIGN
};

/* Names that are removed. in instead: the replacement. */
static const struct retired {
  const char *name, *instead;
} retired[] = {
    {"TOMBOLO_UDP_THREAD", "TOMBOLO_PROGRESS_SHARE=0 for no thread"},
    {"TOMBOLO_OFI_THREAD", "TOMBOLO_PROGRESS_SHARE=0 for no thread"},
    {"TOMBOLO_MPI_PROGRESS_THREAD", "TOMBOLO_PROGRESS_SHARE=0 for no thread"},
    {"TOMBOLO_SPIN_NS", "TOMBOLO_WAIT"},
    {"TOMBOLO_YIELD_COUNT", "TOMBOLO_WAIT"},
};

/* True if `name` is one of the names of the row. */
static bool row_has_name(enum tmb_cfg_id id, const char *name) {
  const struct tmb_cfg_row *row = tmb_cfg_row(id);
  char buf[NAME_BYTES];
  const char *former = tmb_cfg_former(id, buf, sizeof buf);
  return (row->name && strcmp(row->name, name) == 0) ||
         (row->alias && strcmp(row->alias, name) == 0) || (former && strcmp(former, name) == 0);
}

bool tmb_cfg_known(const char *name) {
  size_t count;
  const struct tmb_cfg_prefix *prefixes = tmb_cfg_prefixes(&count);
  for (size_t i = 0; i < count; i++) {
    if (strncmp(name, prefixes[i].prefix, strlen(prefixes[i].prefix)) == 0) return true;
  }
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++) {
    if (row_has_name(id, name)) return true;
  }
  return false;
}

/* Edit distance of two names, in which another prefix (GASNET_ for TOMBOLO_) counts as one edit. */
static unsigned name_distance(const char *a, const char *b) {
  const char *a_rest = strchr(a, '_'), *b_rest = strchr(b, '_');
  if (!a_rest || !b_rest) return tmb_fmt_edit_distance(a, b);
  const bool same_prefix = a_rest - a == b_rest - b && strncmp(a, b, (size_t)(a_rest - a)) == 0;
  return tmb_fmt_edit_distance(a_rest, b_rest) + !same_prefix;
}

const char *tmb_cfg_nearest(const char *name) {
  const char *best = NULL;
  const char *rest = strchr(name, '_');
  const size_t letters = strlen(rest ? rest + 1 : name); /* SPIN is no slip for MPI */
  unsigned best_distance = (unsigned)TMB_MIN(TMB_MAX(letters / 3, (size_t)1), (size_t)6) + 1;
  for (enum tmb_cfg_id id = 0; id < TMB_CFG_COUNT; id++) {
    const char *const names[] = {tmb_cfg_row(id)->name, tmb_cfg_row(id)->alias};
    for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) {
      const unsigned distance = names[i] ? name_distance(name, names[i]) : UINT32_MAX;
      if (distance >= best_distance) continue;
      best_distance = distance;
      best = names[i];
    }
  }
  return best;
}

static bool is_foreign(const char *name) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(foreign); i++)
    if (fnmatch(foreign[i], name, 0) == 0) return true;
  return false;
}

static const char *instead_of(const char *name) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(retired); i++)
    if (strcmp(retired[i].name, name) == 0) return retired[i].instead;
  return NULL;
}

/*
 * Describes an unknown name. out text: [NAME_BYTES * 3] the name and its correction or replacement.
 * Returns false if it may well be right elsewhere.
 */
static bool describe(const char *name, char *text) {
  const size_t bytes = NAME_BYTES * 3;
  const char *instead = instead_of(name), *nearest = tmb_cfg_nearest(name);
  if (instead) {
    snprintf(text, bytes, "%s (removed; use %s)", name, instead);
    return true;
  }
  const bool ours = strncmp(name, "TOMBOLO_", 8) == 0;
  if (is_foreign(name)) return false;
  if (!ours && (!nearest || name_distance(name, nearest) > SLIPS_MAX)) return false;
  if (nearest)
    snprintf(text, bytes, "%s (did you mean %s?)", name, nearest);
  else
    snprintf(text, bytes, "%s", name);
  return true;
}

/* The name of an entry of the environment, if it looks like one of a setting. */
static bool setting_name(const char *entry, char *name) {
  if (strncmp(entry, "TOMBOLO_", 8) != 0 && strncmp(entry, "GASNET_", 7) != 0) return false;
  const size_t len = strcspn(entry, "=");
  if (len >= NAME_BYTES) return false;
  memcpy(name, entry, len);
  name[len] = '\0';
  return true;
}

void tmb_cfg_warn_unknown(void) {
  char line[LINE_BYTES] = "", name[NAME_BYTES], text[NAME_BYTES * 3];
  size_t used = 0;
  for (char **entry = environ; entry && *entry; entry++) {
    if (!setting_name(*entry, name) || tmb_cfg_known(name) || !describe(name, text)) continue;
    const size_t bytes = strlen(text) + 2;
    if (used + bytes >= sizeof line) continue; /* the first ones are enough to see */
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used ? ", " : "", text);
  }
  if (used)
    tmb_warn("unknown settings in the environment have no effect: %s; see tombolo info "
             "--config",
             line);
}
