/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of settings, from config.def.
 *
 * Owns: the rows and the prefixes of names; nothing of it changes. Called by config.c,
 * config_names.c and the code that lists all settings. Calls: log for assertions. Invariant: row
 * number `id` is that of enum tmb_cfg_id.
 */
#include "base/config.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

const struct tmb_cfg_row tmb_cfg_rows[TMB_CFG_COUNT] = {
#define TMB_SETTING_GROUP(title)
#define TMB_SETTING(id, name, alias, type, dflt, min, max, unit, help) \
 [TMB_CFG_##id] = {#id, name, alias, TMB_##type, dflt, min, max, unit, help, false, false},
#define TMB_SETTING_TEST(id, name, alias, type, dflt, min, max, unit, help) \
 [TMB_CFG_##id] = {#id, name, alias, TMB_##type, dflt, min, max, unit, help, false, true},
#define TMB_SETTING_IGNORED(id, name, type, dflt, help) \
 [TMB_CFG_##id] = {#id, NULL, name, TMB_##type, dflt, 0, 0, "", help, true, false},
#define TMB_SETTING_WORDS(id, name, words, help) \
 [TMB_CFG_##id] = {#id, NULL, name, TMB_ENUM, NULL, 0, 0, words, help, true, false},
#define TMB_SETTING_PREFIX(id, prefix, help)
#include "base/config.def"
};

/* Groups and rows in the order of config.def; title is NULL in a row. */
static const struct {
  enum tmb_cfg_id id;
  const char *title;
} order[] = {
#define TMB_SETTING_GROUP(title)     {TMB_CFG_COUNT, title},
#define TMB_SETTING(id, ...)         {TMB_CFG_##id, NULL},
#define TMB_SETTING_TEST(id, ...)    {TMB_CFG_##id, NULL},
#define TMB_SETTING_IGNORED(id, ...) {TMB_CFG_##id, NULL},
#define TMB_SETTING_WORDS(id, ...)   {TMB_CFG_##id, NULL},
#define TMB_SETTING_PREFIX(id, ...)
#include "base/config.def"
};

static const struct tmb_cfg_prefix prefixes[] = {
#define TMB_SETTING_GROUP(title)
#define TMB_SETTING(id, ...)
#define TMB_SETTING_TEST(id, ...)
#define TMB_SETTING_IGNORED(id, ...)
#define TMB_SETTING_WORDS(id, ...)
#define TMB_SETTING_PREFIX(id, prefix, help) {prefix, help},
#include "base/config.def"
};

const struct tmb_cfg_row *tmb_cfg_row(enum tmb_cfg_id id) {
  tmb_assert((unsigned)id < TMB_CFG_COUNT);
  return &tmb_cfg_rows[id];
}

const char *tmb_cfg_former(enum tmb_cfg_id id, char *buf, size_t buf_bytes) {
  const struct tmb_cfg_row *row = tmb_cfg_row(id);
  if (row->name && !row->test) return NULL;
  snprintf(buf, buf_bytes, "TOMBOLO_%s", row->id);
  return row->name && strcmp(row->name, buf) == 0 ? NULL : buf;
}

const char *tmb_cfg_group(enum tmb_cfg_id id) {
  const char *title = NULL;
  for (size_t i = 0; i < TMB_ARRAY_LEN(order) && order[i].id != id; i++)
    if (order[i].title) title = order[i].title;
  return title;
}

const struct tmb_cfg_prefix *tmb_cfg_prefixes(size_t *count) {
  *count = TMB_ARRAY_LEN(prefixes);
  return prefixes;
}
