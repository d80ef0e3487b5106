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

typedef uint64_t upc_tick_t;
#define UPC_TICK_MIN ((upc_tick_t)0)
#define UPC_TICK_MAX ((upc_tick_t)UINT64_MAX)

upc_tick_t upc_ticks_now(void);
uint64_t upc_ticks_to_ns(upc_tick_t ticks);

#endif
