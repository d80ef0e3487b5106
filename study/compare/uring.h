/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings of io_uring, as the kernel's pages describe them: io_uring_setup(2).
 *
 * Owns: struct rings. Included by udp_below.c and udp_trials.c, which are compiled by hand. Calls:
 * io_uring_setup, mmap. Invariants: one thread submits and takes completions.
 */
#ifndef COMPARE_URING_H
#define COMPARE_URING_H

#include <errno.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct rings {
  int fd;
  unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
  struct io_uring_sqe *sqes;
  struct io_uring_cqe *cqes;
};

/* Make the rings and map them. in flags: IORING_SETUP_. Returns 0 or -errno. */
static inline int rings_open(struct rings *r, unsigned entries, unsigned flags) {
  struct io_uring_params p = {.flags = flags};
  r->fd = (int)syscall(SYS_io_uring_setup, entries, &p);
  if (r->fd < 0) return -errno;
  const size_t sq = p.sq_off.array + p.sq_entries * sizeof(unsigned);
  const size_t cq = p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe);
  const size_t sqes = p.sq_entries * sizeof(struct io_uring_sqe);
  const int how = PROT_READ | PROT_WRITE, map = MAP_SHARED | MAP_POPULATE;
  char *s = mmap(NULL, sq, how, map, r->fd, IORING_OFF_SQ_RING);
  char *c = mmap(NULL, cq, how, map, r->fd, IORING_OFF_CQ_RING);
  r->sqes = mmap(NULL, sqes, how, map, r->fd, IORING_OFF_SQES);
  if (s == MAP_FAILED || c == MAP_FAILED || (void *)r->sqes == MAP_FAILED) return -errno;
  r->sq_tail = (unsigned *)(void *)(s + p.sq_off.tail);
  r->sq_mask = (unsigned *)(void *)(s + p.sq_off.ring_mask);
  r->sq_array = (unsigned *)(void *)(s + p.sq_off.array);
  r->cq_head = (unsigned *)(void *)(c + p.cq_off.head);
  r->cq_tail = (unsigned *)(void *)(c + p.cq_off.tail);
  r->cq_mask = (unsigned *)(void *)(c + p.cq_off.ring_mask);
  r->cqes = (struct io_uring_cqe *)(void *)(c + p.cq_off.cqes);
  return 0;
}

#endif
