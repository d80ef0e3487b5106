/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The inline functions of the public headers as exported definitions.
 *
 * Called by programs in languages that cannot include C headers, and through dlsym. The bodies are
 * those of the headers; they call the gexx_ functions of src/core and src/api.
 * Invariants: GEXX_INLINE is empty but for visibility here, and only here; compiled in PAR mode, so
 * that locks are real and a program that initialises through these symbols is a threaded client;
 * compiled without GASNET_DEBUG, so that these are the fast forms.
 */
#define GASNET_PAR         1
#define GEXX_INLINE        __attribute__((visibility("default")))
#define GEXX_INLINE_ALWAYS GEXX_INLINE
#include <gasnet.h>
#include <gasnet_ratomic.h>

#include <gasnetex_ext.h>
