/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpp/shmemx.h: the place of shmemx.h before OpenSHMEM 1.1.
 *
 * Included by older programs. Owns nothing. Calls nothing. Deprecated since OpenSHMEM 1.1, which
 * still asks for it.
 */
#ifndef MPP_SHMEMX_H
#define MPP_SHMEMX_H

#include "../shmemx.h"

#endif
