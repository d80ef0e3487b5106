/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of libfabric that fail on purpose, see ofi_calls.h.
 *
 * Owns: the wrapped table, the calls that are to fail and the number of calls that the provider was
 * given. Called by ofi.c when TOMBOLO_TEST_OFI_FAULT is set. Calls: the table that it wraps.
 * Invariant: other calls behave as before. Calls that two threads make at once may be counted as
 * one; those that send are made under the lock of the engine, so their counts are exact.
 */
#include "net/ofi/ofi_calls.h"

#include "base/compiler.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFI_INDEX(name, result, parameters, arguments) CALL_##name,
enum call { OFI_CALLS(OFI_INDEX) CALL_COUNT };

#define OFI_NAME(name, result, parameters, arguments) #name,
static const char *const names[] = {OFI_CALLS(OFI_NAME)};

static struct {
  const struct ofi_calls *below;
  uint64_t random;
  struct {
    uint64_t at, count;   /* fails from the at-th time on; 0: never */
    uint64_t taken;       /* times that the provider took a message */
    uint32_t again_share; /* percent that find no room */
  } of[CALL_COUNT];
  bool counts;           /* the counts, at the end; once */
  uint32_t spoilt_share; /* percent of accesses that fail although they were taken */
  bool spoilt;           /* one is to be reported by cq_readerr */
  void *spoilt_context;
} fault;
static struct ofi_calls wrapped;

/* Whether an event with the given share of all cases happens now. in share: percent. */
static bool drawn(uint32_t share) {
  if (!share) return false;
  fault.random = fault.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (fault.random >> 33) % 100 < share;
}

/* Result for the next call of a kind; 0: the call's own. */
static int verdict(enum call call) {
  const uint64_t count = ++fault.of[call].count;
  if (fault.of[call].at && count >= fault.of[call].at) return -FI_EIO;
  return drawn(fault.of[call].again_share) ? -FI_EAGAIN : 0;
}

/* Counts a message or access that the provider has taken. in rc: its answer. Returns it. */
static ssize_t counted(enum call call, ssize_t rc) {
  if (rc == 0) fault.of[call].taken++;
  return rc;
}

static int faulty_getinfo(uint32_t version, const struct fi_info *hints, struct fi_info **info) {
  const int rc = verdict(CALL_getinfo);
  return rc ? rc : fault.below->getinfo(version, hints, info);
}

static int faulty_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric) {
  const int rc = verdict(CALL_fabric);
  return rc ? rc : fault.below->fabric(attr, fabric);
}

static int faulty_domain(struct fid_fabric *fabric, struct fi_info *info,
                         struct fid_domain **domain) {
  const int rc = verdict(CALL_domain);
  return rc ? rc : fault.below->domain(fabric, info, domain);
}

static int faulty_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av) {
  const int rc = verdict(CALL_av_open);
  return rc ? rc : fault.below->av_open(domain, attr, av);
}

static int faulty_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq) {
  const int rc = verdict(CALL_cq_open);
  return rc ? rc : fault.below->cq_open(domain, attr, cq);
}

static int faulty_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep) {
  const int rc = verdict(CALL_endpoint);
  return rc ? rc : fault.below->endpoint(domain, info, ep);
}

static int faulty_ep_bind(struct fid_ep *ep, struct fid *fid, uint64_t flags) {
  const int rc = verdict(CALL_ep_bind);
  return rc ? rc : fault.below->ep_bind(ep, fid, flags);
}

static int faulty_enable(struct fid_ep *ep) {
  const int rc = verdict(CALL_enable);
  return rc ? rc : fault.below->enable(ep);
}

static int faulty_getname(struct fid_ep *ep, void *name, size_t *bytes) {
  const int rc = verdict(CALL_getname);
  return rc ? rc : fault.below->getname(ep, name, bytes);
}

static int faulty_av_insert(struct fid_av *av, const void *name, fi_addr_t *addr) {
  const int rc = verdict(CALL_av_insert);
  return rc ? rc : fault.below->av_insert(av, name, addr);
}

static int faulty_mr_reg(struct fid_domain *domain, const struct fi_mr_attr *attr,
                         struct fid_mr **mr) {
  const int rc = verdict(CALL_mr_reg);
  return rc ? rc : fault.below->mr_reg(domain, attr, mr);
}

static int faulty_mr_enable(struct fid_mr *mr, struct fid_ep *ep) {
  const int rc = verdict(CALL_mr_enable);
  return rc ? rc : fault.below->mr_enable(mr, ep);
}

static ssize_t faulty_recv(struct fid_ep *ep, const struct fi_msg *message) {
  const int rc = verdict(CALL_recv);
  return rc ? rc : fault.below->recv(ep, message);
}

static ssize_t faulty_send(struct fid_ep *ep, const struct fi_msg *message) {
  const int rc = verdict(CALL_send);
  return rc ? rc : counted(CALL_send, fault.below->send(ep, message));
}

static ssize_t faulty_inject(struct fid_ep *ep, const void *buf, size_t bytes, fi_addr_t to) {
  const int rc = verdict(CALL_inject);
  return rc ? rc : counted(CALL_inject, fault.below->inject(ep, buf, bytes, to));
}

static ssize_t faulty_write(struct fid_ep *ep, const struct fi_msg_rma *message, uint64_t flags) {
  const int rc = verdict(CALL_write);
  return rc ? rc : counted(CALL_write, fault.below->write(ep, message, flags));
}

static ssize_t faulty_read(struct fid_ep *ep, const struct fi_msg_rma *message) {
  const int rc = verdict(CALL_read);
  return rc ? rc : counted(CALL_read, fault.below->read(ep, message));
}

static int faulty_query_atomic(struct fid_domain *domain, enum fi_datatype type, enum fi_op op,
                               struct fi_atomic_attr *attr, uint64_t flags) {
  const int rc = verdict(CALL_query_atomic);
  return rc ? rc : fault.below->query_atomic(domain, type, op, attr, flags);
}

static ssize_t faulty_fetch_atomic(struct fid_ep *ep, const struct fi_msg_atomic *message,
                                   struct fi_ioc *result, void *desc) {
  const int rc = verdict(CALL_fetch_atomic);
  return rc ? rc : counted(CALL_fetch_atomic, fault.below->fetch_atomic(ep, message, result, desc));
}

static ssize_t faulty_compare_atomic(struct fid_ep *ep, const struct fi_msg_atomic *message,
                                     const struct fi_ioc *compare, struct fi_ioc *result,
                                     void *desc) {
  const int rc = verdict(CALL_compare_atomic);
  return rc ? rc
            : counted(CALL_compare_atomic,
                      fault.below->compare_atomic(ep, message, compare, result, desc));
}

static ssize_t faulty_cq_read(struct fid_cq *cq, struct fi_cq_data_entry *entries, size_t count) {
  const int rc = verdict(CALL_cq_read);
  if (rc || !fault.spoilt_share) return rc ? rc : fault.below->cq_read(cq, entries, count);
  const ssize_t got = fault.below->cq_read(cq, entries, 1);
  if (got != 1 || !(entries->flags & FI_RMA) || !drawn(fault.spoilt_share)) return got;
  fault.spoilt = true;
  fault.spoilt_context = entries->op_context;
  return -FI_EAVAIL;
}

static ssize_t faulty_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *entry) {
  const int rc = verdict(CALL_cq_readerr);
  if (fault.spoilt) {
    fault.spoilt = false;
    *entry = (struct fi_cq_err_entry){.op_context = fault.spoilt_context, .err = FI_EIO};
    return 1;
  }
  return rc ? rc : fault.below->cq_readerr(cq, entry);
}

static int faulty_trywait(struct fid_fabric *fabric, struct fid **fids, int count) {
  const int rc = verdict(CALL_trywait);
  return rc ? rc : fault.below->trywait(fabric, fids, count);
}

static int faulty_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq) {
  const int rc = verdict(CALL_eq_open);
  return rc ? rc : fault.below->eq_open(fabric, attr, eq);
}

static int faulty_wait_fd(struct fid *fid, int *fd) {
  const int rc = verdict(CALL_wait_fd);
  return rc ? rc : fault.below->wait_fd(fid, fd);
}

static ssize_t faulty_cancel(struct fid_ep *ep, void *context) {
  const int rc = verdict(CALL_cancel);
  return rc ? rc : fault.below->cancel(ep, context);
}

static int faulty_close(struct fid *fid) {
  const int rc = verdict(CALL_close);
  return rc ? rc : fault.below->close(fid);
}

/* The share of accesses that fail after they were taken. */
static bool parse_share(const char *text, const char *past) {
  char *end;
  const unsigned long value = strtoul(text, &end, 10);
  fault.spoilt_share = (uint32_t)value;
  return end == past && value <= 99;
}

/* Understand one entry, `CALL@N`, `CALL=P`, `spoil=P` or `count`. */
static bool parse(const char *text, size_t bytes) {
  const size_t length = strcspn(text, "@=,");
  if (bytes == strlen("count") && strncmp(text, "count", bytes) == 0) return fault.counts = true;
  if (length + 1 >= bytes || !text[length] || text[length] == ',') return false;
  if (length == strlen("spoil") && strncmp(text, "spoil=", length + 1) == 0)
    return parse_share(text + length + 1, text + bytes);
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) {
    if (strlen(names[i]) != length || strncmp(names[i], text, length) != 0) continue;
    char *end;
    const unsigned long long value = strtoull(text + length + 1, &end, 10);
    if (end != text + bytes || (text[length] == '=' && value > 99)) return false;
    if (text[length] == '@')
      fault.of[i].at = value;
    else
      fault.of[i].again_share = (uint32_t)value;
    return true;
  }
  return false;
}

#define OFI_FAULTY(name, result, parameters, arguments) .name = faulty_##name,

const struct ofi_calls *ofi_fault_wrap(const struct ofi_calls *calls, const char *text,
                                       uint64_t seed, char *why, size_t bytes) {
  memset(&fault, 0, sizeof fault);
  fault.below = calls;
  fault.random = seed;
  for (const char *at = text; *at; at += strspn(at, ",")) {
    const size_t length = strcspn(at, ",");
    if (!parse(at, length)) {
      snprintf(why, bytes,
               "\"%.*s\" is not CALL@N or CALL=PERCENT of a call of the conduit, nor count",
               (int)length, at);
      return NULL;
    }
    at += length;
  }
  wrapped = (struct ofi_calls){OFI_CALLS(OFI_FAULTY).dupinfo = calls->dupinfo,
                               .freeinfo = calls->freeinfo, .error = calls->error};
  return &wrapped;
}

void ofi_fault_print(const struct tmb_net_env *env) {
  if (!fault.counts) return;
  fault.counts = false;
  env->up->print("ofi: rank %u handed over send=%" PRIu64 " inject=%" PRIu64 " write=%" PRIu64
                 " read=%" PRIu64 " atomic=%" PRIu64 "; began to wait %" PRIu64 " times",
                 env->rank, fault.of[CALL_send].taken, fault.of[CALL_inject].taken,
                 fault.of[CALL_write].taken, fault.of[CALL_read].taken,
                 fault.of[CALL_fetch_atomic].taken + fault.of[CALL_compare_atomic].taken,
                 fault.of[CALL_trywait].count);
}
