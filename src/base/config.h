/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings: one row of config.def each, read from the environment once.
 *
 * Owns: the table of values and all access to the environment (the only getenv of the library).
 * Called by every layer, at set-up time: the fast path caches the values that it needs. Calls: fmt,
 * log.
 * Invariants: a value, once read after tmb_cfg_init, never changes; a bad value ends the process
 * with the name, the value and the allowed values; if both names of a setting are set, TOMBOLO_*
 * wins.
 */
#ifndef TMB_BASE_CONFIG_H
#define TMB_BASE_CONFIG_H

#include "base/compiler.h"

#include <stdbool.h>

enum tmb_cfg_type {
  TMB_BOOL,
  TMB_INT,
  TMB_COUNT, /* an integer that is not limited to its range, but refused outside of it */
  TMB_SIZE,
  TMB_DOUBLE,
  TMB_STRING,
  TMB_SEGSIZE, /* text: size or fraction of a segment, see tmb_fmt_parse_segsize */
  TMB_RANKS,   /* text: list of ranks, see tmb_fmt_rank_listed */
  TMB_ENUM
};

enum tmb_cfg_id {
#define TMB_SETTING_GROUP(title)
#define TMB_SETTING(id, name, alias, type, dflt, min, max, unit, help) TMB_CFG_##id,
#define TMB_SETTING_TEST(id, ...)                                      TMB_CFG_##id,
#define TMB_SETTING_IGNORED(id, name, type, dflt, help)                TMB_CFG_##id,
#define TMB_SETTING_WORDS(id, name, words, help)                       TMB_CFG_##id,
#define TMB_SETTING_PREFIX(id, prefix, help)
#include "base/config.def"
  TMB_CFG_COUNT
};

/* One row of the table, for the generators of documentation and `tombolo info`. */
struct tmb_cfg_row {
  const char *id;         /* "PSHM_NODES" */
  const char *name;       /* "TOMBOLO_..." or NULL if only the GASNet name exists */
  const char *alias;      /* "GASNET_..." or NULL */
  enum tmb_cfg_type type; /* how `dflt` and the environment's text are read */
  const char *dflt;       /* as text; NULL: unset */
  int64_t min, max;       /* inclusive, of numbers; min == max: no limits */
  const char *unit;       /* "bytes", "ns", ...; for TMB_ENUM the allowed words "a|b|c" */
  const char *help;       /* one sentence */
  bool ignored;           /* accepted for compatibility, without effect here */
  bool test;              /* of tests and experiments: in no list for users */
};

/* A family of names that share a prefix, such as GASNET_MAXIMIZE_<limit>. */
struct tmb_cfg_prefix {
  const char *prefix;
  const char *help;
};

/*
 * Read every setting, end the process on a bad value, warn about unknown TOMBOLO_* and GASNET_*
 * names (on rank 0), report the settings if GASNET_VERBOSEENV is set. Call once, after the
 * environment of the job and the rank (tmb_log_set_rank) are known; later calls read nothing anew.
 * Threads: one.
 */
void tmb_cfg_init(void);

/* Getters. Before tmb_cfg_init each reads its setting on first use. Wrong type: tmb_bug. Threads:
 * any. */
bool tmb_cfg_bool(enum tmb_cfg_id id);
int64_t tmb_cfg_int(enum tmb_cfg_id id);     /* TMB_INT, TMB_COUNT, TMB_SIZE (bytes) */
double tmb_cfg_dbl(enum tmb_cfg_id id);      /* TMB_DOUBLE, and as tmb_cfg_int */
const char *tmb_cfg_str(enum tmb_cfg_id id); /* text, and TMB_ENUM as spelled in the row */
int tmb_cfg_enum(enum tmb_cfg_id id);        /* TMB_ENUM: index of the word in the row's list */

/* Text of the value in effect, NULL if unset. Threads: any. */
const char *tmb_cfg_text(enum tmb_cfg_id id);

/* True if the value comes from the environment or tmb_cfg_override rather than from the default. */
bool tmb_cfg_is_set(enum tmb_cfg_id id);

/* Origin of the value: "default", "environment NAME", or the origin given to tmb_cfg_override. */
const char *tmb_cfg_source(enum tmb_cfg_id id);

/*
 * Replace a setting's value (a client's own default, a command-line option).
 * in text: parsed and checked as from the environment; in source: constant string, kept.
 * in over_env: false: only if the environment does not set it. Call before other threads read it.
 */
void tmb_cfg_override(enum tmb_cfg_id id, const char *text, const char *source, bool over_env);

/*
 * Check a setting as tmb_cfg_init does, without ending the process.
 * out why: [why_bytes] if it is wrong: name, value and the allowed values. Returns 0 or TMB_E_ARG.
 */
int tmb_cfg_check(enum tmb_cfg_id id, char *why, size_t why_bytes);

/* The allowed values of a setting, as "an integer from 1 to 4096". Returns buf. */
char *tmb_cfg_allowed(enum tmb_cfg_id id, char *buf, size_t buf_bytes);

/*
 * End the process because a setting's text is wrong in a respect that only its reader can see.
 * in allowed: the valid values, as "one of smp, udp".
 */
_Noreturn void tmb_cfg_bad_value(enum tmb_cfg_id id, const char *allowed) TMB_COLD;

/* config_table.c: the table, and row `id` of it; never NULL for id < TMB_CFG_COUNT. */
extern const struct tmb_cfg_row tmb_cfg_rows[TMB_CFG_COUNT];
const struct tmb_cfg_row *tmb_cfg_row(enum tmb_cfg_id id);

/* Title of the group of a setting in lists, as "Collectives". */
const char *tmb_cfg_group(enum tmb_cfg_id id);

/*
 * The name that a setting had before, TOMBOLO_ID, where it has another one now. out buf:
 * [buf_bytes] the name. Returns buf, or NULL.
 */
const char *tmb_cfg_former(enum tmb_cfg_id id, char *buf, size_t buf_bytes);

/* Prefix rows: [*count], constant. */
const struct tmb_cfg_prefix *tmb_cfg_prefixes(size_t *count);

/*
 * Nearest known setting name, by edit distance, for a misspelt one; NULL if none is near.
 * in name: as found in the environment.
 */
const char *tmb_cfg_nearest(const char *name);

/* True if `name` is a setting, matches a prefix row, or is reserved (GASNET_TEST_*,
 * TOMBOLO_BOOT_*). */
bool tmb_cfg_known(const char *name);

/* Warn, in one line, about names in the environment that are surely meant to be settings and are
 * not known. */
void tmb_cfg_warn_unknown(void);

/* The raw environment of this process. Threads: as getenv and setenv. */
const char *tmb_env_get(const char *name);
void tmb_env_set(const char *name, const char *value);
void tmb_env_unset(const char *name);

/* Have a variable in the environment as it is in memory, and changes there. in entry: NAME=VALUE,
 * the caller's, until tmb_env_unset. */
void tmb_env_lend(char *entry);

/* Replace the whole environment. in list: [NAME=VALUE..., NULL], which must stay as it is. */
void tmb_env_replace(char **list);

/*
 * Register a function that knows, while the rank is not set (tmb_log_set_rank), whether this
 * process prints reports and warnings for the whole job. in speaks: any thread may call it; NULL:
 * every process does. At load.
 */
void tmb_cfg_set_speaker(bool (*speaks)(void));

/* True if GASNET_VERBOSEENV is on and this process is the one that reports. */
bool tmb_env_verbose(void);

/*
 * Report a setting once per name, on rank 0, if GASNET_VERBOSEENV is on. Held back while the rank
 * of a launched process is not known yet. in text: the value as shown; in is_default: it was not
 * set. Threads: any.
 */
void tmb_env_report(const char *name, const char *text, bool is_default);

/*
 * Read a client's variable as the tools API does, report it, end the process on malformed text.
 * in unit_bytes: as in tmb_fmt_parse_int.
 */
int64_t tmb_env_int(const char *name, int64_t dflt, uint64_t unit_bytes);
double tmb_env_dbl(const char *name, double dflt);
bool tmb_env_bool(const char *name, bool dflt);
const char *tmb_env_str(const char *name, const char *dflt);

#endif
