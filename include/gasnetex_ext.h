/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnetex_ext.h: additions of Tombolo to the GASNet-EX API, under gexx_.
 *
 * Included by clients after, or instead of, gasnetex.h. Implemented in src/notify, src/coll and
 * src/core. Conventions are those of gasnetex.h: argument order, flags, events, contexts. Guides:
 * docs/NOTIFY.md, docs/FAILURE.md,
 * docs/HANGS.md.
 */
#ifndef GASNETEX_EXT_H
#define GASNETEX_EXT_H

#include "gasnetex.h"

#include "tombolo/ext/ext_client.h"
#include "tombolo/ext/ext_coll.h"
#include "tombolo/ext/ext_failure.h"
#include "tombolo/ext/ext_notify.h"
#include "tombolo/ext/ext_progress.h"
#include "tombolo/ext/ext_wait.h"
#include "tombolo/ext/inline_notify.h"

#endif
