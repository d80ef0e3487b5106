/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which side of a broken connection is lost: a peer, or this rank's own host.
 *
 * Owns: struct tmb_verdict, while a conduit asks. Called by the conduits udp and ofi. Calls calloc
 * and free. A host that receives or sends nothing finds all its peers silent, and must not blame
 * them. A rank that hears more than half of the hosts, its own counted, is right about the others;
 * one that hears fewer is cut off itself. Of two halves the one with rank 0 is right. Invariant: a
 * host that is lost, or of which nothing is known, does not count.
 */
#ifndef TMB_NET_PLUGIN_VERDICT_H
#define TMB_NET_PLUGIN_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

enum tmb_host_state { TMB_HOST_UNKNOWN, TMB_HOST_LOST, TMB_HOST_SILENT, TMB_HOST_HEARD };

struct tmb_verdict {
  const uint32_t *host_of; /* [ranks] */
  uint32_t hosts, host;    /* how many, and of this rank */
  uint8_t *state;          /* [hosts] enum tmb_host_state: the highest of the host's ranks */
};

/* Begin; the host of this rank is heard. in host_of: host of each rank; rank: this one. Returns
 * whether there was memory; end by tmb_verdict_free. */
bool tmb_verdict_make(struct tmb_verdict *v, const uint32_t *host_of, uint32_t hosts,
                      uint32_t rank);
/* A rank is in this state. Returns whether it is the first of its host of which that is said. */
bool tmb_verdict_note(struct tmb_verdict *v, uint32_t rank, enum tmb_host_state state);
/* Whether this rank's host, and none of its peers, is cut off. */
bool tmb_verdict_cut_off(const struct tmb_verdict *v);
void tmb_verdict_free(struct tmb_verdict *v);

/* Parts of the time-out of peers. Chosen, not measured. */
enum {
  TMB_SURVEY_AT = 2,    /* 1/2: all hosts are asked; a host is heard if it spoke in that time */
  TMB_SURVEY_LEAST = 4, /* 1/4: they have to answer; a higher host waits longer than a lower one */
  TMB_SURVEY_EVERY = 8  /* 1/8: between questions */
};

#define TMB_CUT_OFF_WHY \
 "it has heard at most half of the hosts for TOMBOLO_PEER_TIMEOUT, so its own is cut off"

#endif
