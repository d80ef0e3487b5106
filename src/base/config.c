/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings and the environment: see config.h.
 *
 * Owns: the values, and the list of variables already reported. The table of rows is
 * config_table.c's, names that are not in it are config_names.c's. Called by every layer at set-up
 * time. Calls: fmt to parse, log to complain, libc. Invariants: `loaded[id]` is set, under `lock`,
 * after the value is complete; no message is printed and nothing fatal happens while `lock` is
 * held, because the fatal path reads settings itself.
 */
#define _GNU_SOURCE
#include "base/config.h"

#include "base/ascii.h"
#include "base/atomic.h"
#include "base/container/list.h"
#include "base/fmt.h"
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 256, NAME_BYTES = 96, WHY_BYTES = 4 * TEXT_BYTES };

struct value {
  bool is_set;                        /* not the default */
  bool over_env;                      /* `forced` replaces the environment too */
  bool limited;                       /* the text was beyond the range: its end is used */
  bool former;                        /* found under the name of tmb_cfg_former */
  bool from_env;                      /* found in the environment */
  const char *text;                   /* as given; for TMB_ENUM the row's spelling; NULL: unset */
  const char *forced, *forced_source; /* from tmb_cfg_override, or NULL */
  int64_t integer; /* TMB_BOOL, TMB_INT, TMB_SIZE, index of TMB_ENUM (-1: unset) */
  double real;
  const char *name;   /* that was found in the environment, else the row's first */
  const char *source; /* as tmb_cfg_source gives it; from the environment: set by load */
};

static struct value values[TMB_CFG_COUNT];
static bool loaded[TMB_CFG_COUNT]; /* values[id] is complete; stored with release */
static bool initialised;
static bool (*speaker)(void); /* see tmb_cfg_set_speaker */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A variable whose value was reported, or waits for the rank to be known. */
struct report {
  struct report *next;
  bool printed;
  const char *line; /* behind the name, in `name` */
  char name[];
};

static struct report *reports, **reports_end = &reports;

const char *tmb_env_get(const char *name) {
  return getenv(name);
}

void tmb_env_set(const char *name, const char *value) {
  if (setenv(name, value, 1) != 0)
    tmb_fatal("cannot set environment variable \"%s\" to \"%s\": %m", name, value);
}

void tmb_env_lend(char *entry) {
  if (putenv(entry) != 0) tmb_fatal("cannot set environment variable \"%s\": %m", entry);
}

void tmb_env_unset(const char *name) {
  if (unsetenv(name) != 0) tmb_fatal("cannot remove environment variable \"%s\": %m", name);
}

void tmb_env_replace(char **list) {
  environ = list;
}

/* A copy of `text` that lives as long as the process, or NULL. Short ones take no memory of the
 * heap, so that settings can be read where that is exhausted. */
static const char *keep_text(const char *text) {
  static char room[8192];
  static size_t used;
  for (const char *kept = room; kept < room + used; kept += strlen(kept) + 1)
    if (strcmp(kept, text) == 0) return kept;
  const size_t bytes = strlen(text) + 1;
  if (bytes > sizeof room - used) return strdup(text);
  char *copy = memcpy(room + used, text, bytes);
  used += bytes;
  return copy;
}

/* Index and spelling of `text` in a list "a|b|c", letter case ignored; -1 if absent. */
static int find_word(const char *list, const char *text, char *word, size_t word_bytes) {
  for (int index = 0;; index++) {
    const size_t len = strcspn(list, "|");
    if (strlen(text) == len && tmb_ascii_same_n(list, text, len) && len < word_bytes) {
      memcpy(word, list, len);
      word[len] = '\0';
      return index;
    }
    if (list[len] == '\0') return -1;
    list += len + 1;
  }
}

/* Parses `text` as the row says into *v (integer, real). Returns 0 or TMB_E_ARG. */
static int parse_number(const struct tmb_cfg_row *row, const char *text, struct value *v) {
  int rc;
  bool flag = false;
  switch (row->type) {
  case TMB_BOOL:
    rc = tmb_fmt_parse_bool(text, &flag);
    v->integer = flag;
    return rc;
  case TMB_DOUBLE:
    rc = tmb_fmt_parse_dbl(text, &v->real);
    if (rc == TMB_OK && row->min != row->max &&
        (v->real < (double)row->min || v->real > (double)row->max))
      rc = TMB_E_ARG;
    return rc;
  default:
    rc = tmb_fmt_parse_int(text, row->type == TMB_SIZE ? 1 : 0, &v->integer);
    if (rc == TMB_OK && row->min != row->max && (v->integer < row->min || v->integer > row->max))
      rc = TMB_E_ARG;
    v->real = (double)v->integer;
    return rc;
  }
}

/* Parses `text` (not NULL) for setting `id` into *v. `word` receives the spelling of an enum. */
static int parse_value(enum tmb_cfg_id id, const char *text, struct value *v, char *word) {
  const struct tmb_cfg_row *row = &tmb_cfg_rows[id];
  struct tmb_segsize size;
  if (row->ignored && !*row->unit) return TMB_OK;
  switch (row->type) {
  case TMB_STRING: return TMB_OK;
  case TMB_SEGSIZE: return tmb_fmt_parse_segsize(text, &size);
  case TMB_RANKS: return tmb_fmt_rank_listed(text, 0) < 0 ? TMB_E_ARG : TMB_OK;
  case TMB_ENUM:
    v->integer = find_word(row->unit, text, word, TEXT_BYTES);
    return v->integer >= 0 ? TMB_OK : TMB_E_ARG;
  default: return parse_number(row, text, v);
  }
}

char *tmb_cfg_allowed(enum tmb_cfg_id id, char *buf, size_t buf_bytes) {
  const struct tmb_cfg_row *row = tmb_cfg_row(id);
  const char *kind = row->type == TMB_SIZE     ? "a size with optional B, KB, MB, GB or TB"
                     : row->type == TMB_DOUBLE ? "a number or fraction"
                                               : "an integer";
  if (row->type == TMB_BOOL)
    snprintf(buf, buf_bytes, "1, y, yes or 0, n, no");
  else if (row->type == TMB_ENUM)
    snprintf(buf, buf_bytes, "one of %s", row->unit);
  else if (row->type == TMB_SEGSIZE)
    snprintf(buf, buf_bytes, "a size as 1.5GB or a fraction as 0.85, with optional /P or /H");
  else if (row->type == TMB_RANKS)
    snprintf(buf, buf_bytes, "a list of ranks as 0,2-4 or *");
  else if (row->type == TMB_STRING)
    snprintf(buf, buf_bytes, "%s", *row->unit ? row->unit : "text");
  else if (row->min == row->max)
    snprintf(buf, buf_bytes, "%s", kind);
  else
    snprintf(buf, buf_bytes, "%s from %lld to %lld", kind, (long long)row->min,
             (long long)row->max);
  return buf;
}

/* Reports the error in the text of a setting. */
static void explain(enum tmb_cfg_id id, const struct value *v, const char *text,
                    const char *allowed, char *why, size_t why_bytes) {
  snprintf(why, why_bytes, "setting %s=\"%s\"%s%s is not valid: expected %s; it means: %s", v->name,
           text, v->from_env ? "" : ", from ", v->from_env ? "" : v->source, allowed,
           tmb_cfg_rows[id].help);
}

void tmb_cfg_bad_value(enum tmb_cfg_id id, const char *allowed) {
  char why[WHY_BYTES];
  const char *text = tmb_cfg_text(id);
  explain(id, &values[id], text ? text : "", allowed, why, sizeof why);
  tmb_wrong_setting("%s", why);
}

/* Finds the text for a setting and where it comes from; fills v->name, v->source, v->is_set. out
 * found: [NAME_BYTES] the name in the environment, if v->from_env. */
static const char *find_text(enum tmb_cfg_id id, struct value *v, char *found) {
  const struct tmb_cfg_row *row = &tmb_cfg_rows[id];
  char former[NAME_BYTES];
  const char *const names[] = {row->name, row->alias, tmb_cfg_former(id, former, sizeof former)};
  v->is_set = true;
  v->former = v->from_env = false;
  v->name = row->name ? row->name : row->alias;
  v->source = v->forced_source;
  if (v->forced && v->over_env) return v->forced;
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) {
    const char *text = names[i] ? getenv(names[i]) : NULL;
    if (!text || *text == '\0') continue;
    v->former = names[i] == former;
    if (!v->former) v->name = names[i];
    v->from_env = true;
    snprintf(found, NAME_BYTES, "%s", names[i]);
    return text;
  }
  if (v->forced) return v->forced;
  v->is_set = false;
  v->source = "default";
  return row->dflt;
}

/*
 * A number of a GASNET_* name that is above the row's range counts as its end, a size below it as
 * the least one: scripts set such values for other builds of that interface, which take them. A
 * TMB_COUNT is taken as given, or refused. out word: [TEXT_BYTES] the number that is used.
 */
static bool limit_number(enum tmb_cfg_id id, const char *text, struct value *v, char *word) {
  struct tmb_cfg_row row = tmb_cfg_rows[id];
  const int64_t least = row.min, most = row.max;
  const bool is_number = row.type == TMB_INT || row.type == TMB_SIZE || row.type == TMB_DOUBLE;
  if (!is_number || least == most) return false;
  if (strncmp(v->name, "GASNET_", 7) != 0) return false;
  row.min = row.max = 0;
  if (parse_number(&row, text, v) != TMB_OK) return false;
  if (v->real < (double)least && row.type != TMB_SIZE) return false;
  v->integer = v->real < (double)least ? least : most;
  v->real = (double)v->integer;
  snprintf(word, TEXT_BYTES, "%lld", (long long)v->integer);
  v->limited = true;
  return true;
}

/*
 * Finds and parses the text of setting `id` into *v. out found: as find_text. out word:
 * [TEXT_BYTES] spelling of an enum. out why: [WHY_BYTES]. Returns the text, NULL if unset, or NULL
 * and `why` filled if it is wrong.
 */
static const char *read_setting(enum tmb_cfg_id id, struct value *v, char *found, char *word,
                                char *why) {
  char allowed[TEXT_BYTES];
  word[0] = why[0] = '\0';
  v->integer = tmb_cfg_rows[id].type == TMB_ENUM ? -1 : 0;
  v->real = 0;
  v->limited = false;
  const char *text = find_text(id, v, found);
  if (!text || parse_value(id, text, v, word) == TMB_OK) return text;
  if (limit_number(id, text, v, word)) return text;
  tmb_cfg_allowed(id, allowed, sizeof allowed);
  explain(id, v, text, allowed, why, WHY_BYTES);
  return NULL;
}

int tmb_cfg_check(enum tmb_cfg_id id, char *why, size_t why_bytes) {
  tmb_assert((unsigned)id < TMB_CFG_COUNT);
  pthread_mutex_lock(&lock);
  struct value v = values[id];
  pthread_mutex_unlock(&lock);
  char found[NAME_BYTES], word[TEXT_BYTES], full[WHY_BYTES];
  (void)read_setting(id, &v, found, word, full);
  snprintf(why, why_bytes, "%s", full);
  return full[0] ? TMB_E_ARG : TMB_OK;
}

/* Fills v->text and v->source with copies that stay. in text: or NULL; found: as find_text. Returns
 * whether there was memory. */
static bool keep_texts(struct value *v, const char *text, const char *found) {
  char source[NAME_BYTES + 16];
  v->text = text ? keep_text(text) : NULL;
  if (v->from_env) {
    snprintf(source, sizeof source, "environment %s", found);
    v->source = keep_text(source);
  }
  return v->source && (v->text || !text);
}

/*
 * Reads setting `id` from the environment, checks and publishes it.
 * in again: read once more a setting that was read before; then no other thread may be reading
 * settings.
 */
static void load(enum tmb_cfg_id id, bool again) {
  char found[NAME_BYTES], word[TEXT_BYTES], why[WHY_BYTES];
  pthread_mutex_lock(&lock);
  struct value v = values[id];
  const bool done = loaded[id] && !again;
  pthread_mutex_unlock(&lock);
  if (done) return;
  const char *text = read_setting(id, &v, found, word, why);
  if (why[0]) tmb_wrong_setting("%s", why);
  pthread_mutex_lock(&lock);
  const bool no_memory = !keep_texts(&v, text && word[0] ? word : text, found);
  if (!no_memory && (again || !loaded[id])) {
    values[id] = v;
    tmb_store_rel(&loaded[id], true);
  }
  pthread_mutex_unlock(&lock);
  if (no_memory) tmb_fatal("out of memory while reading setting %s", v.name);
  if (id != TMB_CFG_VERBOSEENV && !tmb_cfg_rows[id].ignored)
    tmb_env_report(v.name, v.text ? v.text : "(unset)", !v.is_set);
}

/* Bits of types: numbers without a fraction; texts. */
#define INTEGERS (1u << TMB_INT | 1u << TMB_COUNT | 1u << TMB_SIZE)
#define TEXTS    (1u << TMB_STRING | 1u << TMB_SEGSIZE | 1u << TMB_RANKS)

/* The value of a setting, read on first use. in type_mask: bits of the types the getter is for. */
static const struct value *fetch(enum tmb_cfg_id id, unsigned type_mask) {
  tmb_assert((unsigned)id < TMB_CFG_COUNT);
  if (!((1u << tmb_cfg_rows[id].type) & type_mask))
    tmb_bug("setting %s read by the getter of another type", tmb_cfg_rows[id].id);
  if (!tmb_load_acq(&loaded[id])) load(id, false);
  return &values[id];
}

bool tmb_cfg_bool(enum tmb_cfg_id id) {
  return fetch(id, 1u << TMB_BOOL)->integer != 0;
}

int64_t tmb_cfg_int(enum tmb_cfg_id id) {
  return fetch(id, INTEGERS)->integer;
}

double tmb_cfg_dbl(enum tmb_cfg_id id) {
  return fetch(id, INTEGERS | 1u << TMB_DOUBLE)->real;
}

const char *tmb_cfg_str(enum tmb_cfg_id id) {
  return fetch(id, TEXTS | 1u << TMB_ENUM)->text;
}

int tmb_cfg_enum(enum tmb_cfg_id id) {
  return (int)fetch(id, 1u << TMB_ENUM)->integer;
}

const char *tmb_cfg_text(enum tmb_cfg_id id) {
  return fetch(id, ~0u)->text;
}

bool tmb_cfg_is_set(enum tmb_cfg_id id) {
  return fetch(id, ~0u)->is_set;
}

const char *tmb_cfg_source(enum tmb_cfg_id id) {
  return fetch(id, ~0u)->source;
}

void tmb_cfg_override(enum tmb_cfg_id id, const char *text, const char *source, bool over_env) {
  tmb_assert((unsigned)id < TMB_CFG_COUNT);
  pthread_mutex_lock(&lock);
  values[id].forced = keep_text(text);
  values[id].forced_source = source;
  values[id].over_env = over_env;
  pthread_mutex_unlock(&lock);
  load(id, true);
}

void tmb_cfg_set_speaker(bool (*speaks)(void)) {
  speaker = speaks;
}

/* True in the process that prints reports and warnings for the whole job. */
static bool speaks_for_job(void) {
  const uint32_t rank = tmb_log_rank();
  if (rank != TMB_RANK_UNKNOWN) return rank == 0;
  return !speaker || speaker();
}

bool tmb_env_verbose(void) {
  return tmb_cfg_bool(TMB_CFG_VERBOSEENV) && speaks_for_job();
}

/* Prints the reports that were held back. */
static void print_reports(void) {
  if (!speaks_for_job()) return;
  for (;;) {
    pthread_mutex_lock(&lock);
    struct report *r = reports;
    while (r && r->printed) r = r->next;
    if (r) r->printed = true;
    pthread_mutex_unlock(&lock);
    if (!r) return;
    tmb_print("%s", r->line);
  }
}

void tmb_env_report(const char *name, const char *text, bool is_default) {
  if (!tmb_cfg_bool(TMB_CFG_VERBOSEENV)) return;
  char line[NAME_BYTES + TEXT_BYTES * 2];
  snprintf(line, sizeof line, "setting %s = %s%s", name, text, is_default ? " (default)" : "");
  const size_t name_bytes = strlen(name) + 1, line_bytes = strlen(line) + 1;
  pthread_mutex_lock(&lock);
  const struct report *r = reports;
  while (r && strcmp(r->name, name) != 0) r = r->next;
  struct report *fresh = r ? NULL : malloc(sizeof *fresh + name_bytes + line_bytes);
  if (fresh) {
    memcpy(fresh->name, name, name_bytes);
    memcpy(fresh->name + name_bytes, line, line_bytes);
    fresh->line = fresh->name + name_bytes;
    fresh->printed = false;
    TMB_LIST_EXTEND(&reports_end, fresh);
  }
  pthread_mutex_unlock(&lock);
  print_reports();
}

/* Names the settings of which another value is used than the one given. */
static void warn_limited(void) {
  for (int id = 0; id < TMB_CFG_COUNT; id++)
    if (values[id].limited)
      tmb_warn("setting %s=\"%s\" is out of range: %s is used", values[id].name,
               tmb_env_get(values[id].name), values[id].text);
}

/* Settings found under former names: those who read the environment themselves find them, too. */
static void export_former(void) {
  for (int id = 0; id < TMB_CFG_COUNT; id++)
    if (values[id].former && values[id].is_set) tmb_env_set(values[id].name, values[id].text);
}

static void warn_former(void) {
  char former[NAME_BYTES];
  for (int id = 0; id < TMB_CFG_COUNT; id++)
    if (values[id].former)
      tmb_warn("setting %s is named %s now: use that name",
               tmb_cfg_former((enum tmb_cfg_id)id, former, sizeof former), values[id].name);
}

void tmb_cfg_init(void) {
  if (initialised) return;
  initialised = true;
  for (int id = 0; id < TMB_CFG_COUNT; id++) load((enum tmb_cfg_id)id, true);
  export_former();
  tmb_env_report("GASNET_VERBOSEENV", "1", false);
  print_reports();
  if (!speaks_for_job() || tmb_cfg_bool(TMB_CFG_QUIET)) return;
  tmb_cfg_warn_unknown();
  warn_former();
  warn_limited();
}

const char *tmb_env_str(const char *name, const char *dflt) {
  const char *text = getenv(name);
  tmb_env_report(name, text ? text : dflt ? dflt : "(unset)", !text);
  return text ? text : dflt;
}

int64_t tmb_env_int(const char *name, int64_t dflt, uint64_t unit_bytes) {
  const char *text = getenv(name);
  int64_t value = dflt;
  char shown[TMB_FMT_BYTES];
  const bool is_set = text && *text;
  if (is_set && tmb_fmt_parse_int(text, unit_bytes, &value) != TMB_OK)
    tmb_fatal_nopos("environment variable %s=\"%s\" is not valid: expected %s", name, text,
                    unit_bytes ? "a size with optional B, KB, MB, GB or TB"
                               : "a decimal or 0x hexadecimal integer");
  tmb_env_report(name, tmb_fmt_number(value, shown, sizeof shown, unit_bytes != 0), !is_set);
  return value;
}

double tmb_env_dbl(const char *name, double dflt) {
  const char *text = getenv(name);
  double value = dflt;
  char shown[TMB_FMT_BYTES];
  const bool is_set = text && *text;
  if (is_set && tmb_fmt_parse_dbl(text, &value) != TMB_OK)
    tmb_fatal_nopos("environment variable %s=\"%s\" is not valid: expected a number as 1.5, -1e4 "
                    "or a fraction as 3/8",
                    name, text);
  tmb_fmt_print(shown, sizeof shown, "%g", value);
  tmb_env_report(name, shown, !is_set);
  return value;
}

bool tmb_env_bool(const char *name, bool dflt) {
  const char *text = getenv(name);
  bool value = dflt;
  const bool is_set = text && *text;
  if (is_set && tmb_fmt_parse_bool(text, &value) != TMB_OK)
    tmb_fatal_nopos("environment variable %s=\"%s\" is not valid: expected 1, y, yes or 0, n, no",
                    name, text);
  tmb_env_report(name, value ? "1" : "0", !is_set);
  return value;
}
