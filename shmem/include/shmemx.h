/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmemx.h: extensions of OpenSHMEM by this library.
 *
 * Included by programs that want them. There are none: what this library adds to OpenSHMEM is in
 * gasnetex_ext.h, which a program may include beside shmem.h. OpenSHMEM requires this header.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include "shmem.h"

#endif
