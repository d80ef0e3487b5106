/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of the survivors of a loss.
 *
 * Owns: the declaration of the layer that shrink.c is. Listed in src/api/layers.c. Calls: the
 * all-gather of teams. Invariant: survivors agree on who they are.
 */
#ifndef TMB_CORE_SHRINK_H
#define TMB_CORE_SHRINK_H

#include "core/layer.h"

extern const struct tmb_layer tmb_shrink_layer;

#endif
