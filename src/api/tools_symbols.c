/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exported symbols for the inline functions of gasnet_tools.h.
 *
 * Owns nothing else. Called by languages that cannot include C headers, through the dynamic linker.
 * Calls the functions that the inline bodies call. Every inline of the tools headers is expanded
 * here once with external linkage, in its threaded form: that form is right for single-threaded
 * callers too.
 */
#define GASNETT_THREAD_SAFE 1
#define GEXX_TOOLS_INLINE   GEXX_API

#include "gasnet_tools.h"
