/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Environment, and numbers as text, for clients of the tools API (API reference 09, section 9).
 *
 * Owns: nothing; base/config.h owns the environment and what was reported, base/fmt.h the formats.
 * Called by clients at any time. A malformed value ends the process with variable, value and the
 * allowed values.
 */
#define GASNETT_THREAD_SAFE 1

#include "base/config.h"
#include "base/fmt.h"
#include "base/log.h"
#include "boot/boot.h"
#include "gasnet_tools.h"

/* Clients receive `char *` because C's getenv gives them that; they must not write through it. */
static char *as_client(const char *text) {
  return (char *)(uintptr_t)text;
}

/* Variables are read and reported without a job, too: a program that is linked statically may lack
 * boot, which chooses the rank that prints. */
TMB_AT_LOAD static void name_speaker(void) {
  tmb_cfg_set_speaker(tmb_boot_speaks);
}

char *gasnett_getenv(const char *key) {
  return as_client(tmb_env_get(key));
}

char *gasnett_getenv_withdefault(const char *key, const char *dflt) {
  return as_client(tmb_env_str(key, dflt));
}

int gasnett_getenv_yesno_withdefault(const char *key, int dflt) {
  return tmb_env_bool(key, dflt != 0);
}

int64_t gasnett_getenv_int_withdefault(const char *key, int64_t dflt,
                                       uint64_t mem_size_multiplier) {
  return tmb_env_int(key, dflt, mem_size_multiplier);
}

double gasnett_getenv_dbl_withdefault(const char *key, double dflt) {
  return tmb_env_dbl(key, dflt);
}

void gasnett_setenv(const char *key, const char *value) {
  tmb_env_set(key, value);
}

void gasnett_unsetenv(const char *key) {
  tmb_env_unset(key);
}

int gasnett_verboseenv(void) {
  return tmb_env_verbose();
}

void gasnett_envint_display(const char *key, int64_t val, int is_dflt, int is_mem_size) {
  char text[TMB_FMT_BYTES];
  tmb_env_report(key, tmb_fmt_number(val, text, sizeof text, is_mem_size != 0), is_dflt != 0);
}

void gasnett_envstr_display(const char *key, const char *val, int is_dflt) {
  tmb_env_report(key, val, is_dflt != 0);
}

void gasnett_envdbl_display(const char *key, double val, int is_dflt) {
  char text[TMB_FMT_BYTES];
  tmb_fmt_print(text, sizeof text, "%g", val);
  tmb_env_report(key, text, is_dflt != 0);
}

char *gasnett_format_number(int64_t val, char *buf, size_t bufsz, int is_mem_size) {
  return tmb_fmt_number(val, buf, bufsz, is_mem_size != 0);
}

int64_t gasnett_parse_int(const char *str, uint64_t mem_size_multiplier) {
  int64_t value = 0;
  if (tmb_fmt_parse_int(str, mem_size_multiplier, &value) != 0)
    tmb_fatal("gasnett_parse_int: '%s' is not %s", str,
              mem_size_multiplier ? "a size: a number, then B, KB, MB, GB, TB or nothing"
                                  : "an integer: decimal or 0x hexadecimal, in 64 bits");
  return value;
}
