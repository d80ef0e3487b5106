/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that only TOMBOLO_VERBOSE shows.
 *
 * Owns nothing. Called by every layer. Calls: config for the setting, log to print. Invariant:
 * config and log do not call this file.
 */
#include "base/config.h"
#include "base/log.h"

#include <stdarg.h>

void tmb_info(const char *fmt, ...) {
  if (!tmb_cfg_bool(TMB_CFG_VERBOSE)) return;
  va_list args;
  va_start(args, fmt);
  tmb_print_list(fmt, args);
  va_end(args);
}
