/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libfabric itself between two processes of this machine, for study/compare/ofi.py:
 * `net_ofi [PROVIDER]`; without one the first over TCP that is there, as the conduit takes it.
 *
 * Owns: one endpoint of type FI_EP_RDM with one completion queue in each process. Compiled by
 * ofi.py; not part of the build; run without a launcher: it forks rank 1. Calls: libfabric,
 * net_loop.h. What fi_pingpong and fi_rma_bw do: messages are injected, receives are posted ahead,
 * the queue is read without sleeping; writes are complete when their completions are there.
 */
#define _GNU_SOURCE
#include "net_loop.h"

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* MESSAGE: as long as the shortest of Tombolo's conduit. */
enum { MESSAGE = 24, RECEIVES = 64, NAME_MAX_BYTES = 256, PUT_BYTES = 1 << 20 };

/* Address record that one process sends to the other. */
struct card {
  size_t name_bytes;
  char name[NAME_MAX_BYTES];
  uint64_t key, base;
};

static int rank, wire;
static struct fi_info *info;
static struct fid_cq *cq;
static struct fid_ep *ep;
static fi_addr_t peer;
static struct card mine, theirs;
static void *desc;
static char *memory; /* receives, then what is written from and to */
static struct fi_context2 receive_context[RECEIVES], write_context[RECEIVES];
static long received, written, writes;

static void must(int rc, const char *what) {
  if (rc == 0) return;
  fprintf(stderr, "net_ofi: %s: %s\n", what, fi_strerror(-rc));
  exit(1);
}

static void post(long slot) {
  ssize_t rc;
  do
    rc =
        fi_recv(ep, memory + slot * MESSAGE, MESSAGE, desc, FI_ADDR_UNSPEC, &receive_context[slot]);
  while (rc == -FI_EAGAIN);
  must((int)rc, "fi_recv");
}

static void progress(void) {
  struct fi_cq_msg_entry event[8];
  const ssize_t n = fi_cq_read(cq, event, 8);
  if (n == -FI_EAGAIN) return;
  if (n < 0) must((int)n, "fi_cq_read");
  for (ssize_t i = 0; i < n; i++) {
    if (event[i].flags & FI_WRITE) written++;
    if (!(event[i].flags & FI_RECV)) continue;
    received++;
    post((struct fi_context2 *)event[i].op_context - receive_context);
  }
}

static void tell(void) {
  static char text[MESSAGE];
  ssize_t rc;
  while ((rc = fi_inject(ep, text, MESSAGE, peer)) == -FI_EAGAIN) progress();
  must((int)rc, "fi_inject");
}

static void hear(void) {
  static long heard;
  heard++;
  while (received < heard) progress();
}

static void barrier(void) {
  tell();
  hear();
}

static void round_trip(int n) {
  for (int i = 0; i < n; i++) {
    if (rank == 0) tell();
    hear();
    if (rank == 1) tell();
  }
}

static void stream(int n, size_t bytes) {
  const uint64_t to = theirs.base + RECEIVES * MESSAGE;
  for (int i = 0; rank == 0 && i < n; i++, writes++) {
    while (writes - written >= RECEIVES) progress();
    ssize_t rc;
    while ((rc = fi_write(ep, memory + RECEIVES * MESSAGE, bytes, desc, peer, to, theirs.key,
                          &write_context[writes % RECEIVES])) == -FI_EAGAIN)
      progress();
    must((int)rc, "fi_write");
  }
  while (written < writes) progress();
  if (rank == 0) tell();
  if (rank == 1) hear();
}

/* Returns whether the provider is there. */
static bool choose(const char *provider) {
  struct fi_info *hints = fi_allocinfo();
  if (!hints) must(-FI_ENOMEM, "fi_allocinfo");
  char *name = strdup(provider); /* fi_freeinfo frees it */
  if (!name) must(-FI_ENOMEM, "strdup");
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = name;
  const int rc = fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info);
  fi_freeinfo(hints);
  return rc == 0 && strcmp(info->fabric_attr->prov_name, provider) == 0;
}

static void open_endpoint(void) {
  struct fid_fabric *fabric;
  struct fid_domain *domain;
  struct fid_av *av;
  struct fid_mr *mr;
  struct fi_av_attr av_attr = {.type = info->domain_attr->av_type};
  struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_MSG, .size = 1024};
  const size_t bytes = RECEIVES * MESSAGE + PUT_BYTES;
  must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
  must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
  must(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
  must(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
  must(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
  must(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
  must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  must(fi_enable(ep), "fi_enable");
  memory = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
  if (!memory) must(-FI_ENOMEM, "aligned_alloc");
  memset(memory, 0, bytes);
  must(fi_mr_reg(domain, memory, bytes, FI_SEND | FI_RECV | FI_WRITE | FI_REMOTE_WRITE, 0, 1, 0,
                 &mr, NULL),
       "fi_mr_reg");
  desc = fi_mr_desc(mr);
  mine.key = fi_mr_key(mr);
  mine.base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)memory : 0;
  mine.name_bytes = sizeof mine.name;
  must(fi_getname(&ep->fid, mine.name, &mine.name_bytes), "fi_getname");
  if (write(wire, &mine, sizeof mine) != sizeof mine ||
      recv(wire, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
    must(-FI_EIO, "the other process");
  if (fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) != 1) must(-FI_EINVAL, "fi_av_insert");
  for (long i = 0; i < RECEIVES; i++) post(i);
}

int main(int argc, char **argv) {
  int pair[2], status = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 1;
  const pid_t child = fork();
  if (child < 0) return 1;
  rank = child == 0;
  wire = pair[rank];
  close(pair[!rank]);
  static const char *const over_tcp[] = {"tcp", "net", "tcp;ofi_rxm"};
  bool found = argc > 1 && choose(argv[1]);
  for (int i = 0; argc == 1 && !found && i < 3; i++) found = choose(over_tcp[i]);
  if (!found) must(-FI_ENODATA, "fi_getinfo");
  open_endpoint();
  barrier();
  const struct side s = {round_trip, NULL, stream, NULL, barrier, rank};
  loop_puts(&s);
  barrier();
  if (rank == 1) _exit(0); /* objects go with the process */
  waitpid(child, &status, 0);
  return status != 0;
}
