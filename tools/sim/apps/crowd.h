/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of applications that share few processors, as on emulated hosts: who sleeps, who is woken.
 *
 * Owns: struct Act, the actions of a rank in order; the order of all events. Used by halo.cc and
 * wave.cc where the machine has shared processors. Calls: way.h. Forms are those of the library's
 * code. A blocking put ends with its acknowledgement, and that is sent when its target has a
 * processor. A rank that waits spins first (src/core/progress/wait.c), then sleeps; each packet,
 * each acknowledgement, each message of its host ends a sleep. So does an acknowledgement that it
 * owes: at once for a packet that asks, else `ack_delay_s` after it came, if nothing goes back
 * before (src/net/udp/ops). A client's own condition rings nobody: who waits for it looks again
 * after 20, 40, ... 1280 us, and that begins anew with each message. Invariants: a processor serves
 * one rank at a time, in the order in which they became ready; the thread that serves the lines
 * goes first; packets are not lost.
 */
#ifndef TMB_SIM_CROWD_H
#define TMB_SIM_CROWD_H

#include "sim/apps/way.h"

namespace sim {

/* COMPUTE: `amount` seconds. PUT: `amount` bytes, until they are known to be there. TELL: a short
 * message. FLAG: a blocking put of a flag; inside a host it rings nobody. SIGNAL: a put of `amount`
 * bytes that carries its notice. LOOK: until the next notice of the own slot is there, as
 * GASNET_BLOCKUNTIL does. WAIT: until the next notice, where the notice rings. MEET: a barrier.
 * START: earlier acts are not counted. */
enum class Do { COMPUTE, PUT, TELL, FLAG, SIGNAL, LOOK, WAIT, MEET, START };

struct Act {
  Do what;
  uint64_t peer; /* to whom */
  size_t slot;   /* of the peer, or the own one that is waited for */
  double amount;
};

using Acts = std::vector<Act>;

struct CrowdResult {
  double seconds;    /* from a rank's start until it has done all, of the rank that takes longest */
  double sleeps;     /* of all ranks that were ended: looks too */
  double looks;      /* of these, to look at a client's condition */
  double frames;     /* between hosts */
  double work, line; /* processor seconds of the ranks, and of the thread that serves the lines */
};

/* Whether ranks of this machine share processors. */
bool crowd_has(const Network &network);

/* Acts of a rank to send `bytes` with a notice to slot `slot` of `peer`, and to wait for one in its
 * own. Throw Error for ways that no program has: sync-images, atomic, message. */
void crowd_send(Acts &acts, Notice notice, const Act &to);
void crowd_await(Acts &acts, Notice notice, size_t slot);

/* The programs warm up, meet, and begin to count when they leave the barrier. */
void crowd_start(Acts &acts);

/* Simulate. in acts: of each rank; all have as many MEET. slots: of a rank. */
CrowdResult crowd_run(const Network &network, const std::vector<Acts> &acts, size_t slots);

} // namespace sim

#endif
