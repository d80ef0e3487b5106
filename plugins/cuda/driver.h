/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA driver, loaded at run time.
 *
 * Owns: declarations of driver.c: the driver's functions, and texts of failures. Called by
 * plugin.c. Calls: dlopen. Invariants: the driver stays loaded; the table is complete or not used;
 * a text belongs to the thread whose call failed.
 */
#ifndef TMB_CUDA_DRIVER_H
#define TMB_CUDA_DRIVER_H

#include "cuda_abi.h"

struct cuda_driver {
#define CUDA_FUNCTION(field, symbol, arguments) cuda_result(*field) arguments;
#include "cuda_functions.def"
#undef CUDA_FUNCTION
};

/* The driver, initialised. NULL: it cannot be used, and cuda_reason says why and what to do. */
const struct cuda_driver *cuda_load(void);

/* Why the last failed call of this thread failed; a text that stays until the next failure. */
const char *cuda_reason(void);

/* Set that text. */
void cuda_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set it from a result of the driver: "WHAT: NAME (TEXT)". */
void cuda_explain_result(const struct cuda_driver *driver, const char *call, cuda_result result);

#endif
