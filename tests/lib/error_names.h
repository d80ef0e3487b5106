/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the error codes, for tests of both layers of the API.
 *
 * Owns nothing. Calls: gasnet_ErrorName, check.h.
 */
#ifndef TMB_TEST_ERROR_NAMES_H
#define TMB_TEST_ERROR_NAMES_H

#include "check.h"

#include <gasnetex.h>

static inline void check_error_names(void) {
  CHECK_STR(gasnet_ErrorName(GASNET_OK), "GASNET_OK");
  CHECK_STR(gasnet_ErrorName(GASNET_ERR_NOT_INIT), "GASNET_ERR_NOT_INIT");
  CHECK_STR(gasnet_ErrorName(GASNET_ERR_RESOURCE), "GASNET_ERR_RESOURCE");
  CHECK_STR(gasnet_ErrorName(GASNET_ERR_BAD_ARG), "GASNET_ERR_BAD_ARG");
  CHECK_STR(gasnet_ErrorName(GASNET_ERR_NOT_READY), "GASNET_ERR_NOT_READY");
  CHECK_STR(gasnet_ErrorName(GASNET_ERR_BARRIER_MISMATCH), "GASNET_ERR_BARRIER_MISMATCH");
}

#endif
