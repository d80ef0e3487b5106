/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_tick.h>: the thread's clock (UPC 1.3 library section 7.4).
 *
 * Included by UPC programs. Functions: libtombolo-upc. Ticks of different threads cannot be
 * compared.
 */
#ifndef UPC_TICK_H
#define UPC_TICK_H

#include <stdint.h>

/* Page upc_ticks_now: a clock for UPC programs.
 * [in] ticks: a difference of two ticks.
 * Completion: at once.
 * Threads: any; not collective.
 * Errors: none.
 * Cost: a reading of the processor's counter, about 10 ns.
 * See: gasnett_ticks_now */
typedef uint64_t upc_tick_t;                  /* a time in ticks */
#define UPC_TICK_MIN ((upc_tick_t)0)          /* the least time */
#define UPC_TICK_MAX ((upc_tick_t)UINT64_MAX) /* the greatest time */

/* Returns the present tick. */
upc_tick_t upc_ticks_now(void);
/* Returns the nanoseconds of ticks. */
uint64_t upc_ticks_to_ns(upc_tick_t ticks);

#endif
