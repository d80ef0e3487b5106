/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of libfabric that this conduit makes, as a table.
 *
 * Owns: struct ofi_calls. Used by every file of the conduit; filled by ofi_calls.c from libfabric,
 * which is loaded with dlopen, and wrapped by ofi_fault.c when a test asks for failures. The inline
 * functions of libfabric's headers are called through the table as well, so that each call can be
 * made to fail. Invariant: the table is complete once it is there.
 */
#ifndef TMB_NET_OFI_OFI_CALLS_H
#define TMB_NET_OFI_OFI_CALLS_H

#include "net/net.h"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stddef.h>

/* The version of the interface that is asked for: all that is used is in it, and providers behave
 * as it says. */
#define OFI_API FI_VERSION(1, 9)

/* X(name, result, (parameters), (arguments)): the calls that may fail. */
#define OFI_CALLS(X)                                                                              \
 X(getinfo, int, (uint32_t version, const struct fi_info *hints, struct fi_info **info),          \
   (version, hints, info))                                                                        \
 X(fabric, int, (struct fi_fabric_attr * attr, struct fid_fabric * *fabric), (attr, fabric))      \
 X(domain, int, (struct fid_fabric * fabric, struct fi_info * info, struct fid_domain * *domain), \
   (fabric, info, domain))                                                                        \
 X(av_open, int, (struct fid_domain * domain, struct fi_av_attr * attr, struct fid_av * *av),     \
   (domain, attr, av))                                                                            \
 X(cq_open, int, (struct fid_domain * domain, struct fi_cq_attr * attr, struct fid_cq * *cq),     \
   (domain, attr, cq))                                                                            \
 X(endpoint, int, (struct fid_domain * domain, struct fi_info * info, struct fid_ep * *ep),       \
   (domain, info, ep))                                                                            \
 X(ep_bind, int, (struct fid_ep * ep, struct fid * fid, uint64_t flags), (ep, fid, flags))        \
 X(enable, int, (struct fid_ep * ep), (ep))                                                       \
 X(getname, int, (struct fid_ep * ep, void *name, size_t *bytes), (ep, name, bytes))              \
 X(av_insert, int, (struct fid_av * av, const void *name, fi_addr_t *addr), (av, name, addr))     \
 X(mr_reg, int, (struct fid_domain * domain, const struct fi_mr_attr *attr, struct fid_mr **mr),  \
   (domain, attr, mr))                                                                            \
 X(mr_enable, int, (struct fid_mr * mr, struct fid_ep * ep), (mr, ep))                            \
 X(recv, ssize_t, (struct fid_ep * ep, const struct fi_msg *message), (ep, message))              \
 X(send, ssize_t, (struct fid_ep * ep, const struct fi_msg *message), (ep, message))              \
 X(inject, ssize_t, (struct fid_ep * ep, const void *buf, size_t bytes, fi_addr_t to),            \
   (ep, buf, bytes, to))                                                                          \
 X(write, ssize_t, (struct fid_ep * ep, const struct fi_msg_rma *message, uint64_t flags),        \
   (ep, message, flags))                                                                          \
 X(read, ssize_t, (struct fid_ep * ep, const struct fi_msg_rma *message), (ep, message))          \
 X(query_atomic, int,                                                                             \
   (struct fid_domain * domain, enum fi_datatype type, enum fi_op op,                             \
    struct fi_atomic_attr * attr, uint64_t flags),                                                \
   (domain, type, op, attr, flags))                                                               \
 X(fetch_atomic, ssize_t,                                                                         \
   (struct fid_ep * ep, const struct fi_msg_atomic *message, struct fi_ioc *result, void *desc),  \
   (ep, message, result, desc))                                                                   \
 X(compare_atomic, ssize_t,                                                                       \
   (struct fid_ep * ep, const struct fi_msg_atomic *message, const struct fi_ioc *compare,        \
    struct fi_ioc *result, void *desc),                                                           \
   (ep, message, compare, result, desc))                                                          \
 X(cq_read, ssize_t, (struct fid_cq * cq, struct fi_cq_data_entry * entries, size_t count),       \
   (cq, entries, count))                                                                          \
 X(cq_readerr, ssize_t, (struct fid_cq * cq, struct fi_cq_err_entry * entry), (cq, entry))        \
 X(trywait, int, (struct fid_fabric * fabric, struct fid * *fids, int count),                     \
   (fabric, fids, count))                                                                         \
 X(eq_open, int, (struct fid_fabric * fabric, struct fi_eq_attr * attr, struct fid_eq * *eq),     \
   (fabric, attr, eq))                                                                            \
 X(wait_fd, int, (struct fid * fid, int *fd), (fid, fd))                                          \
 X(cancel, ssize_t, (struct fid_ep * ep, void *context), (ep, context))                           \
 X(close, int, (struct fid * fid), (fid))

#define OFI_POINTER(name, result, parameters, arguments) result(*name) parameters;
struct ofi_calls {
  OFI_CALLS(OFI_POINTER)
  /* ... and those that cannot */
  struct fi_info *(*dupinfo)(const struct fi_info *info); /* NULL: a new one */
  void (*freeinfo)(struct fi_info *info);
  const char *(*error)(int code); /* positive */
};
#undef OFI_POINTER

/* Load libfabric. in far: ranks of other hosts, 0: not known. Returns the table, or NULL with the
 * reason in `why`. */
const struct ofi_calls *ofi_calls_load(uint32_t far, char *why, size_t bytes);

/* A table whose calls fail as `text` says: `CALL@N` fails the N-th time (from 1) and from then on
 * with an I/O error, `CALL=P` finds no room in P percent of its calls, `spoil=P` fails P percent
 * of the accesses after they were taken, `count` has ofi_fault_print print; several by commas.
 * Returns NULL when the text is not understood, with the reason in `why`. One at a time. */
const struct ofi_calls *ofi_fault_wrap(const struct ofi_calls *calls, const char *text,
                                       uint64_t seed, char *why, size_t bytes);

/* Print how often messages and accesses were handed to libfabric, if `count` was asked for and it
 * has not been printed. */
void ofi_fault_print(const struct tmb_net_env *env);

#endif
