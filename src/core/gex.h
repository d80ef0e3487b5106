/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The public headers as the library itself includes them.
 *
 * Owns nothing. Included by core and api instead of gasnetex.h. Calls nothing.
 * Invariant: the library is compiled as a PAR client without debug checks, whatever its clients
 * choose; the mode of the client is data in tmb_job.
 */
#ifndef TMB_CORE_GEX_H
#define TMB_CORE_GEX_H

#undef GASNET_SEQ
#undef GASNET_PARSYNC
#ifndef GASNET_PAR
# define GASNET_PAR 1
#endif

#include "gasnetex.h"

#endif
