/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_relaxed.h>: <upc.h>, and accesses are relaxed from here on unless their type says otherwise.
 *
 * Included by UPC programs, as often as they like: the pragma counts every time, so there is no
 * guard around it.
 */
#include <upc.h>
#pragma upc relaxed
