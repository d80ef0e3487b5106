/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dense matrix multiplication and Cholesky factorization on a described machine.
 *
 * Owns: struct DenseCase. Called by models.cc. Calls: way.h. Ranks form a square grid; blocks are
 * dealt out cyclically; panels go along the rows and the columns of the grid, as in
 * study/apps/matmul and study/apps/cholesky. Invariants: a rank's time never goes back.
 */
#ifndef TMB_SIM_DENSE_H
#define TMB_SIM_DENSE_H

#include "sim/apps/way.h"

namespace sim {

/* LIBRARY: rings of two-sided messages, a rank waits, sends on, then computes (PBLAS, ScaLAPACK).
 * HAND: these rings by put with signal. COLLECTIVE: broadcasts of row and column teams, begun one
 * panel ahead. */
enum class Dense { LIBRARY, HAND, COLLECTIVE };

struct DenseCase {
  uint64_t n, block, side; /* order, of a block; ranks a side of the grid */
  Dense way;
};

/* in way: hand, collective, library. Throws Error where the ranks are no square. */
DenseCase dense_make(const Network &network, uint64_t n, uint64_t block, const std::string &way);

double matmul_seconds(const Network &network, const DenseCase &c);
double cholesky_seconds(const Network &network, const DenseCase &c);

} // namespace sim

#endif
