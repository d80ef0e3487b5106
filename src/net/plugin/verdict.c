/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which side of a broken connection is lost, see verdict.h.
 *
 * Owns nothing. Called by the conduits udp and ofi. Calls calloc and free. Invariant: none beyond
 * the header's.
 */
#include "net/plugin/verdict.h"

#include "base/compiler.h"

#include <stdlib.h>

bool tmb_verdict_make(struct tmb_verdict *v, const uint32_t *host_of, uint32_t hosts,
                      uint32_t rank) {
  *v = (struct tmb_verdict){.host_of = host_of, .hosts = hosts, .host = host_of[rank]};
  v->state = calloc(hosts, 1);
  if (v->state) v->state[v->host] = TMB_HOST_HEARD;
  return v->state != NULL;
}

bool tmb_verdict_note(struct tmb_verdict *v, uint32_t rank, enum tmb_host_state state) {
  uint8_t *const of = &v->state[v->host_of[rank]];
  const bool first = *of == TMB_HOST_UNKNOWN;
  *of = (uint8_t)TMB_MAX(*of, (uint8_t)state);
  return first;
}

bool tmb_verdict_cut_off(const struct tmb_verdict *v) {
  uint32_t heard = 0, all = 0;
  for (uint32_t h = 0; h < v->hosts; h++) {
    all += v->state[h] >= TMB_HOST_SILENT;
    heard += v->state[h] == TMB_HOST_HEARD;
  }
  const bool with_first = v->state[v->host_of[0]] == TMB_HOST_HEARD;
  return 2 * heard < all || (2 * heard == all && !with_first);
}

void tmb_verdict_free(struct tmb_verdict *v) {
  free(v->state);
  v->state = NULL;
}
