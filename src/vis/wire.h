/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of non-contiguous transfers to peers that are not mapped.
 *
 * Owns: the layout of a piece. Included by vis_send.c
 * (origin) and vis_serve.c (target). A transfer is cut into pieces of packed data, each sent as one
 * Medium message: head, payload of the completion handler (padded to 16), description of the remote
 * side (dimensions, or the entries that this piece touches), and for a put the data. A get's
 * request ends there; the data return as a Medium reply that carries nothing else, with its
 * place at the origin in the arguments. Invariants: every piece can be served alone and in any
 * order; parts of a put are acknowledged by a Short reply each; whatever follows the head starts at
 * a multiple of 16.
 */
#ifndef TMB_VIS_WIRE_H
#define TMB_VIS_WIRE_H

#include "core/am/am.h"
#include "core/am/kit.h"

/* Arguments. DATA: record(0,1) at(2,3) index(4,5) skip(6,7). COMPLETION: handler(0); its payload is
 * that of the completion handler. */
enum { TMB_VIS_DATA_ARGS = 8 };

struct tmb_vis_head {
  uint64_t owner;       /* address at the origin: of the op (put), of the record (get) */
  uint64_t base;        /* strided: remote address of element 0 */
  uint64_t elem;        /* strided: bytes of an element; indexed: of an entry; vector: 0 */
  uint64_t at;          /* strided: place of the first byte in the packed order */
  uint64_t bytes;       /* data of this piece */
  uint64_t first;       /* indexed: bytes of the first entry here */
  uint64_t index, skip; /* get: place of the data in the origin's list, to be echoed */
  uint64_t total;       /* put with a completion handler: data of all pieces */
  uint32_t id; /* put with a completion handler: number of the transfer, unique at its origin */
  uint32_t category; /* put: event category in which the op counts the piece */
  uint32_t count;    /* dimensions or entries that follow */
  uint16_t completion_bytes;
  uint8_t handler; /* of the peer completion; 0: none */
  uint8_t strided;
  uint64_t reserved;
};
_Static_assert(sizeof(struct tmb_vis_head) % 16 == 0, "what follows is aligned");

/* A dimension of the remote side. */
struct tmb_vis_wire_dim {
  uint64_t count;
  int64_t stride;
};

/* An entry of a vector; of an indexed list only the address. */
struct tmb_vis_wire_vec {
  uint64_t addr, len;
};

static inline size_t tmb_vis_pad16(size_t n) {
  return (n + 15) & ~(size_t)15;
}

#endif
