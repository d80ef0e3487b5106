/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchanges of FT on a described machine.
 *
 * Owns: struct FtCase, struct FtResult. Called by main.cc. Calls: network.h. The stages, planes and
 * pieces are those of study/apps/ft (transform.c, layout.c): planes of x, then of y, then of z
 * transforms, with an exchange in the rows and one in the columns of a grid of ranks. One forward
 * transform is simulated. Invariants: the bytes that all transfers carried are the bytes that the
 * exchanges of all ranks name.
 */
#ifndef TMB_SIM_FT_H
#define TMB_SIM_FT_H

#include "network.h"

namespace sim {

/* SLABS: a put of each piece of a plane; one wait; then all members notify each other. SIGNAL: puts
 * with signal, the data are used when the signals are there. COLLECTIVE: an exchange of the team
 * for each plane, whose bytes are counted at both ends. PACKED: one put to each member after all
 * planes. SLABS2, PACKED2: those by send and receive. */
enum class Way { SLABS, SIGNAL, COLLECTIVE, PACKED, SLABS2, PACKED2 };

struct FtCase {
  uint64_t n[3];   /* points, x first */
  uint64_t ty, tz; /* grid of ranks; ty 1: one dimension */
  Way way;
  bool every; /* every pair of nodes has a flow of its own; else one node with its share */
};

struct FtResult {
  double seconds, flops, bisection_s;
  double compute_s, movement_s, software_s; /* of a rank: transforms, memory, messages */
  double bytes, delivered; /* between ranks: named by the exchanges; carried by transfers */
  double messages;         /* of one rank */
  double piece_bytes[2];   /* of a message in a row and in a column */
  double wire_s[2];        /* of the whole exchange in rows and in columns, at full rate */
};

/* The way of a name: slabs, signal, packed, slabs2, packed2. Throws Error. */
Way ft_way(const std::string &name);

/* The grid for a number of ranks: as near a square as its sides divide the lengths. in one: a grid
 * of one dimension. Throws Error when there is none. */
void ft_grid(FtCase &c, uint64_t ranks, bool one);

/* Simulate. in network: of ty * tz ranks. */
FtResult ft_run(Network &network, const FtCase &c);

} // namespace sim

#endif
