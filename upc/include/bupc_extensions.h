/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <bupc_extensions.h>: extensions of UPC that programs know by their older names.
 *
 * Included by <upc.h> unless BUPC_DISABLE_EXTENSIONS is defined.
 */
#ifndef BUPC_EXTENSIONS_H
#define BUPC_EXTENSIONS_H

#include <stddef.h>
#include <stdint.h>

void bupc_poll(void);
void upc_poll(void);

#endif
