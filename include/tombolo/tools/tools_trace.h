/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_trace.h: trace and statistics hooks of clients (API reference 09, section
 * 13).
 *
 * Owns GASNETT_TRACE_* and GASNETT_STATS_*. The library records no trace and no statistics, so
 * these are the stubs that the reference prescribes: GASNETT_TRACE_ENABLED is 0, masks are "", the
 * rest are void expressions. Arguments are evaluated once and printf formats are checked. Included
 * by gasnet_tools.h in every mode.
 */
#ifndef GEXX_TOOLS_TRACE_H
#define GEXX_TOOLS_TRACE_H

#include "tools_annotations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gasnett_trace: GASNet-Tools: hooks of tracing builds.
 * There is no tracing build: these names compile and do nothing. Use gexx_Trace_Begin and
 * TOMBOLO_TEST_TRACE_FILE.
 * [in] mask: ignored.
 * [in] on: ignored.
 * [in] file, ln: ignored.
 * [in] pf, pl: left alone.
 * [in] fn: ignored.
 * [in] reset: ignored.
 * Names: GASNETT_TRACE_ENABLED: 0;
 * GASNETT_TRACE_GETMASK, GASNETT_STATS_GETMASK: an empty string;
 * GASNETT_TRACE_*: does nothing;
 * GASNETT_STATS_*: does nothing
 * Completion: the calls return at once.
 * Threads: any thread, any context.
 * Errors: none.
 * Cost: the evaluation of the arguments.
 * See: gexx_Trace_Begin, gexx_Stats_Query */

/* Swallows a trace or statistics message; clients take its address. */
static __inline__ void _gasnett_trace_printf_noop(const char *fmt, ...)
    __attribute__((__unused__, __format__(__printf__, 1, 2)));
static __inline__ void _gasnett_trace_printf_noop(const char *fmt, ...) {
  (void)fmt;
}

/* Swallow a source line. Calls, for gcc warns of some casts to void that stand left of a comma,
 * where clients write these. [in] file: name, may be NULL; [in] line: number; [in] pfile, pline:
 * where a tracing build would write them. */
static __inline__ void gexx_trace_set_line(const char *file, unsigned line)
    __attribute__((__unused__));
static __inline__ void gexx_trace_set_line(const char *file, unsigned line) {
  (void)file;
  (void)line;
}
static __inline__ void gexx_trace_get_line(const char **pfile, const unsigned *pline)
    __attribute__((__unused__));
static __inline__ void gexx_trace_get_line(const char **pfile, const unsigned *pline) {
  (void)pfile;
  (void)pline;
}

/* A client's function that prints its own statistics with `print` when they are dumped. */
typedef void (*gasnett_stats_callback_t)(void (*print)(const char *fmt, ...));
/* Where a statistics build would keep it; the library never calls it. */
GEXX_API extern gasnett_stats_callback_t gasnett_stats_callback;

#ifdef __cplusplus
}
#endif

#define GASNETT_TRACE_ENABLED                 0
#define GASNETT_TRACE_PRINTF                  _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE            _gasnett_trace_printf_noop
#define GASNETT_TRACE_GETMASK()               ((const char *)"")
#define GASNETT_TRACE_SETMASK(mask)           ((void)(mask))
#define GASNETT_TRACE_GET_TRACELOCAL()        (0)
#define GASNETT_TRACE_SET_TRACELOCAL(on)      ((void)(on))
#define GASNETT_TRACE_SETSOURCELINE(file, ln) gexx_trace_set_line((file), GEXX_NUMBER(unsigned, ln))
#define GASNETT_TRACE_GETSOURCELINE(pf, pl)   gexx_trace_get_line((pf), (pl))
#define GASNETT_TRACE_FREEZESOURCELINE()      ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE()    ((void)0)

#define GASNETT_STATS_PRINTF                  _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF_FORCE            _gasnett_trace_printf_noop
#define GASNETT_STATS_GETMASK()               ((const char *)"")
#define GASNETT_STATS_SETMASK(mask)           ((void)(mask))
#define GASNETT_STATS_INIT(fn)                ((void)(fn), 0)
#define GASNETT_STATS_DUMP(reset)             ((void)(reset))

#endif
