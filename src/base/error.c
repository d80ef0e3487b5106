/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of the internal result codes.
 *
 * Owns: nothing. Called by log messages of any layer; calls nothing.
 * Invariants: one row per row of error.def, values unique (checked by the unit test).
 */
#include "base/error.h"

#include "base/compiler.h"

static const struct {
  int code;
  const char *text;
} rows[] = {
    {TMB_OK, "success"},
#define TMB_ERROR(name, value, text) {value, text},
#include "base/error.def"
#undef TMB_ERROR
};

const char *tmb_error_text(int code) {
  for (size_t i = 0; i < TMB_ARRAY_LEN(rows); i++) {
    if (rows[i].code == code) return rows[i].text;
  }
  return "unknown error";
}
