/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mapping shared memory of peers through /proc/<pid>/fd, see memfd_peer.h.
 *
 * Owns: no state. Called by core for created segments. Calls: libc. Invariants: no descriptor of a
 * peer stays open; mappings reserve no memory.
 */
#define _GNU_SOURCE
#include "os/memory/memfd_peer.h"

#include "os/memory/memfd.h"
#include "os/os.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static void *map(int fd, uint64_t bytes) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (p == MAP_FAILED) return NULL;
  tmb_os_mem_skip_core(p, bytes);
  return p;
}

void *tmb_memfd_map_peer(pid_t pid, int fd, uint64_t bytes) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, fd);
  const int peer = open(path, O_RDWR | O_CLOEXEC);
  if (peer < 0) return NULL;
  void *p = tmb_memfd_bytes(peer) == (int64_t)bytes ? map(peer, bytes) : NULL;
  close(peer);
  return p;
}

void *tmb_memfd_map_new(uint64_t bytes, int *fd) {
  char why[TMB_MEMFD_WHY_BYTES];
  const int mine = memfd_create("tombolo-segment", MFD_CLOEXEC);
  if (mine < 0) return NULL;
  void *p = tmb_memfd_resize(mine, bytes, why, sizeof why) ? NULL : map(mine, bytes);
  if (p)
    *fd = mine;
  else
    close(mine);
  return p;
}

void tmb_memfd_unmap_local(void *addr, uint64_t bytes, int fd) {
  munmap(addr, bytes);
  (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
  close(fd);
}
