/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of the internal result codes.
 *
 * Owns: nothing. Called by log messages of any layer; calls nothing.
 * Invariants: one case per row of error.def; the compiler rejects a duplicate value.
 */
#include "base/error.h"

const char *tmb_error_text(int code) {
  switch (code) {
  case TMB_OK: return "success";
#define TMB_ERROR(name, value, text) \
 case value:                         \
  return text;
#include "base/error.def"
#undef TMB_ERROR
  default: return "unknown error";
  }
}
