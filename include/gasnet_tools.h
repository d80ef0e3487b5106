/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_tools.h: GASNet-Tools, portable helpers without communication (API reference 09).
 *
 * Usable alone (-DGASNETT_THREAD_SAFE=1, _THREAD_SINGLE=1 or _LITE_MODE=1, or none), or with
 * gasnetex.h in either order: the parts that need a conduit (section 14) appear as soon as both
 * headers were seen. gasnet.h includes it. Owns nothing itself: each topic is one header under
 * tombolo/. Everything links with libtombolo.
 */
#ifndef GASNET_TOOLS_H
#define GASNET_TOOLS_H
#define _GASNET_TOOLS_H          1
#define _INCLUDED_GASNET_TOOLS_H 1

#include "tombolo/tools/tools_config.h"

#include "tombolo/tools/tools_annotations.h"
#include "tombolo/tools/tools_fences.h"
#include "tombolo/tools/tools_heap.h"
#include "tombolo/tools/tools_timer.h"
#include "tombolo/tools/tools_trace.h"
#ifndef GASNETT_LITE_MODE
# include "tombolo/tools/tools_atomics.h"
# include "tombolo/tools/tools_ctype.h"
# include "tombolo/tools/tools_locks.h"
# include "tombolo/tools/tools_services.h"
# include "tombolo/tools/tools_threadkey.h"
#endif

#include "tombolo/ident.h"

#endif

/* Outside the guard: gasnetex.h may have come since. */
#if defined(GASNETEX_H) && !defined(GASNETT_LITE_MODE)
#include "tombolo/tools/tools_conduit.h"
#endif
