/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between memories of any kind.
 *
 * Owns: struct tmb_mk_place; declarations of mk_move.c, and those of mk_rma.c that
 * notify/mk_signal.c uses. Called by mk_rma.c, mk_signal.c. Calls: mk.h for types. Invariants: a
 * place with a kind is touched by that kind's plug-in only.
 */
#ifndef TMB_CORE_MK_MOVE_H
#define TMB_CORE_MK_MOVE_H

#include "core/segment/mk.h"
#include "core/segment/mk_stage.h"

/* Memory that this process reaches: of a device, or of the host when kind is NULL. */
struct tmb_mk_place {
  struct gexx_mk_s *kind;
  void *addr;
};

/* The place of an address: in device memory if the bound segment of endpoint `ep` of this
 * process is of a device, else in host memory. */
struct tmb_mk_place tmb_mk_place_of(int32_t ep, void *addr);

/* The place of memory of this process that a message names, as tmb_mk_place_of. Ends the job unless
 * there is such an endpoint and the range lies in its device segment, or is host memory that a
 * message may name. */
struct tmb_mk_place tmb_mk_place_named(const struct tmb_am_in *in, int32_t ep, uint64_t addr,
                                       uint64_t nbytes);

/* The remote side of an access as a place that this process can copy to and from without the
 * owner's help. out far: that place. Returns false when there is no such place. */
bool tmb_mk_map_remote(const struct tmb_mk_access *a, struct tmb_mk_place *far);

/* Copy. Fatal when that fails. */
void tmb_mk_move(struct tmb_mk_place to, struct tmb_mk_place from, size_t nbytes);

extern const struct tmb_layer tmb_mk_layer;

/* ---- mk_rma.c: reply of an owner; in handlers */

/* Data of a get. in args: op(0,1) category(2) destination(3,4) endpoint(5), all of the origin. */
enum { TMB_MK_DATA_ARGS = 6 };
void tmb_mk_send_data(uint32_t peer, struct tmb_mk_place from, size_t nbytes, int32_t *args);

#endif
