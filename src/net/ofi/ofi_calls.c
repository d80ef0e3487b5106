/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric, loaded when it is used, see ofi_calls.h; and its errors, see ofi_engine.h.
 *
 * Owns: the table of direct calls and the handle of the library, which stays loaded. Called by
 * ofi.c and ofi_list.c, for errors by all files of this conduit. Calls: dlopen, libfabric, env->up.
 * Invariant: ofi_fatal gives the lock back before core ends the job, because the end asks
 * `drained`.
 */
#include "net/ofi/ofi_calls.h"

#include "base/compiler.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBRARY     "libfabric.so.1"
/* Packets that ofi_rxd may have in flight, so that a receiver's socket buffer holds them. Chosen:
 * with more, data came late, twice or mixed up. */
#define RXD_PACKETS 90u /* of all peers, in flight to one rank */
#define RXD_MOST    16u /* of one peer */
#define RXD_LEAST   2u

/* The symbols; all else is reached through objects that they return. */
static struct {
  int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                 const struct fi_info *hints, struct fi_info **info);
  void (*freeinfo)(struct fi_info *info);
  struct fi_info *(*dupinfo)(const struct fi_info *info);
  int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
  const char *(*error)(int code);
} symbols;

static int call_getinfo(uint32_t version, const struct fi_info *hints, struct fi_info **info) {
  return symbols.getinfo(version, NULL, NULL, 0, hints, info);
}

static int call_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric) {
  return symbols.fabric(attr, fabric, NULL);
}

static int call_domain(struct fid_fabric *fabric, struct fi_info *info,
                       struct fid_domain **domain) {
  return fi_domain(fabric, info, domain, NULL);
}

static int call_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av) {
  return fi_av_open(domain, attr, av, NULL);
}

static int call_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq) {
  return fi_cq_open(domain, attr, cq, NULL);
}

static int call_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep) {
  return fi_endpoint(domain, info, ep, NULL);
}

static int call_ep_bind(struct fid_ep *ep, struct fid *fid, uint64_t flags) {
  return fi_ep_bind(ep, fid, flags);
}

static int call_enable(struct fid_ep *ep) {
  return fi_enable(ep);
}

static int call_getname(struct fid_ep *ep, void *name, size_t *bytes) {
  return fi_getname(&ep->fid, name, bytes);
}

static int call_av_insert(struct fid_av *av, const void *name, fi_addr_t *addr) {
  const int count = fi_av_insert(av, name, 1, addr, 0, NULL);
  return count == 1 ? 0 : count < 0 ? count : -FI_EINVAL;
}

static int call_mr_reg(struct fid_domain *domain, const struct fi_mr_attr *attr,
                       struct fid_mr **mr) {
  return fi_mr_regattr(domain, attr, 0, mr);
}

static int call_mr_enable(struct fid_mr *mr, struct fid_ep *ep) {
  const int rc = fi_mr_bind(mr, &ep->fid, 0);
  return rc ? rc : fi_mr_enable(mr);
}

static ssize_t call_recv(struct fid_ep *ep, const struct fi_msg *message) {
  return fi_recvmsg(ep, message, FI_COMPLETION);
}

static ssize_t call_send(struct fid_ep *ep, const struct fi_msg *message) {
  return fi_sendmsg(ep, message, FI_COMPLETION);
}

static ssize_t call_inject(struct fid_ep *ep, const void *buf, size_t bytes, fi_addr_t to) {
  return fi_inject(ep, buf, bytes, to);
}

static ssize_t call_write(struct fid_ep *ep, const struct fi_msg_rma *message, uint64_t flags) {
  return fi_writemsg(ep, message, flags);
}

static ssize_t call_read(struct fid_ep *ep, const struct fi_msg_rma *message) {
  return fi_readmsg(ep, message, FI_COMPLETION);
}

static int call_query_atomic(struct fid_domain *domain, enum fi_datatype type, enum fi_op op,
                             struct fi_atomic_attr *attr, uint64_t flags) {
  return fi_query_atomic(domain, type, op, attr, flags);
}

static ssize_t call_fetch_atomic(struct fid_ep *ep, const struct fi_msg_atomic *message,
                                 struct fi_ioc *result, void *desc) {
  return fi_fetch_atomicmsg(ep, message, result, &desc, 1, FI_COMPLETION);
}

static ssize_t call_compare_atomic(struct fid_ep *ep, const struct fi_msg_atomic *message,
                                   const struct fi_ioc *compare, struct fi_ioc *result,
                                   void *desc) {
  return fi_compare_atomicmsg(ep, message, compare, &desc, 1, result, &desc, 1, FI_COMPLETION);
}

static ssize_t call_cq_read(struct fid_cq *cq, struct fi_cq_data_entry *entries, size_t count) {
  return fi_cq_read(cq, entries, count);
}

static ssize_t call_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry) {
  return fi_cq_readerr(cq, entry, 0);
}

static int call_trywait(struct fid_fabric *fabric, struct fid **fids, int count) {
  return fi_trywait(fabric, fids, count);
}

static int call_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq) {
  return fi_eq_open(fabric, attr, eq, NULL);
}

static int call_wait_fd(struct fid *fid, int *fd) {
  return fi_control(fid, FI_GETWAIT, fd);
}

static ssize_t call_cancel(struct fid_ep *ep, void *context) {
  return fi_cancel(&ep->fid, context);
}

static int call_close(struct fid *fid) {
  return fi_close(fid);
}

static struct fi_info *call_dupinfo(const struct fi_info *info) {
  return symbols.dupinfo(info);
}

static void call_freeinfo(struct fi_info *info) {
  symbols.freeinfo(info);
}

static const char *call_error(int code) {
  return symbols.error(code);
}

#define OFI_DIRECT(name, result, parameters, arguments) .name = call_##name,
static const struct ofi_calls direct = {OFI_CALLS(OFI_DIRECT).dupinfo = call_dupinfo,
                                        .freeinfo = call_freeinfo, .error = call_error};

static bool find(void *library, const char *name, void *symbol, char *why, size_t bytes) {
  void *const found = dlsym(library, name);
  if (!found) snprintf(why, bytes, LIBRARY " has no %s", name);
  *(void **)symbol = found;
  return found != NULL;
}

/* Variables for the libraries that libfabric loads, unless the user has set them. */
static void set_habits(void) {
  static const char *const habits[][2] = {
      /* libinfinipath catches the client's signals to leave files in the current folder */
      {"IPATH_NO_BACKTRACE", "1"},
      /* ofi_rxm allocates 1024 buffers of each kind, 16 KiB each by default; over tcp messages up
         to the other limit use the buffers of this conduit at both ends */
      {"FI_OFI_RXM_BUFFER_SIZE", "2048"},
      {"FI_OFI_RXM_EAGER_LIMIT", "73728"},
      /* for each connection; with the unmatched ones they are to stay below those 1024 */
      {"FI_OFI_RXM_MSG_RX_SIZE", "32"},
  };
  for (size_t i = 0; i < TMB_ARRAY_LEN(habits); i++) (void)setenv(habits[i][0], habits[i][1], 0);
}

/* ofi_rxd retransmits packets that do not fit into the receiver's socket buffer, and then loses and
 * mixes up messages (libfabric 1.17), so all peers together are kept below it: 90 packets, with the
 * kernel's overhead for each, of 208 KiB, which Linux gives by default. */
static void bound_rxd(uint32_t far) {
  char text[16];
  const uint32_t each = RXD_PACKETS / TMB_MAX(far, 1u);
  snprintf(text, sizeof text, "%u", TMB_MAX(TMB_MIN(each, RXD_MOST), RXD_LEAST));
  (void)setenv("FI_OFI_RXD_MAX_UNACKED", text, 0);
}

const struct ofi_calls *ofi_calls_load(uint32_t far, char *why, size_t bytes) {
  set_habits();
  bound_rxd(far);
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *text = dlerror();
    snprintf(why, bytes, "%s (Debian: package libfabric1)", text ? text : LIBRARY);
    return NULL;
  }
  const bool all = find(library, "fi_getinfo", &symbols.getinfo, why, bytes) &&
                   find(library, "fi_freeinfo", &symbols.freeinfo, why, bytes) &&
                   find(library, "fi_dupinfo", &symbols.dupinfo, why, bytes) &&
                   find(library, "fi_fabric", &symbols.fabric, why, bytes) &&
                   find(library, "fi_strerror", &symbols.error, why, bytes);
  return all ? &direct : NULL;
}

/* ---- errors */

bool ofi_says(const struct tmb_net *net, const char *what, int rc) {
  net->env.up->print("ofi: %s failed: %s (provider %s); `tombolo info` shows the providers, "
                     "TOMBOLO_OFI_PROVIDER chooses another one",
                     what, net->calls->error(-rc),
                     net->rail[0].info ? net->rail[0].info->fabric_attr->prov_name : "none");
  return false;
}

/* Not analysed: its callers hold the lock, which their types do not express. */
TMB_NO_LOCK_CHECK _Noreturn void ofi_fatal(struct tmb_net *net, const char *what, int error) {
  net->ended = true;
  tmb_lock_release(&net->lock);
  net->env.up->fatal("ofi: %s: %s (provider %s)", what,
                     error ? net->calls->error(error) : "out of memory",
                     net->rail[0].info->fabric_attr->prov_name);
}
