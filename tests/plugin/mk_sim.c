/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in of device memory without a device: memory that the processor must not touch. Pages are
 * inaccessible except while one of the copy functions below runs, so that any other access of the
 * library ends the process. Devices 0..3 exist; their memories do not mix. With MK_SIM_NETWORK=1
 * network interfaces reach it as memory of the host, so pages are accessible.
 */
#define _GNU_SOURCE 1
#include <tombolo/mk_plugin.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DEVICES = 4, RANGES = 256 };

/* Allocations; under `lock`, as are the copies. */
struct range {
  const void *device;
  char *addr;
  size_t bytes; /* 0: free */
};
static struct range ranges[RANGES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int devices[DEVICES];
static struct range pinned; /* host memory; device: of whom */

static int sim_open(const gex_MK_Create_args_t *args, uint32_t options, void **device) {
  (void)options;
  const int ordinal = args->gex_args.gex_class_cuda_uva.gex_CUdevice;
  if (ordinal < 0 || ordinal >= DEVICES) return GASNET_ERR_RESOURCE;
  *device = &devices[ordinal];
  return GASNET_OK;
}

/* What a device has pinned is unpinned before it is closed. */
static void sim_close(void *device) {
  if (pinned.bytes && pinned.device == device) abort();
}

static bool is_open(void) {
  const char *text = getenv("MK_SIM_NETWORK");
  return text && *text;
}

static int sim_network(void *device, uint32_t *interface, uint64_t *number) {
  (void)device;
  *interface = GEXX_MK_BY_HOST;
  *number = 0;
  return is_open() ? GASNET_OK : GASNET_ERR_RESOURCE;
}

static size_t pages(size_t bytes) {
  return (bytes + 4095) / 4096 * 4096;
}

static int sim_alloc(void *device, size_t bytes, void **addr) {
  int rc = GASNET_ERR_RESOURCE;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < RANGES && rc; i++) {
    if (ranges[i].bytes) continue;
    const int access = is_open() ? PROT_READ | PROT_WRITE : PROT_NONE;
    void *p = mmap(NULL, pages(bytes), access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) break;
    ranges[i] = (struct range){device, (char *)p, pages(bytes)};
    *addr = p;
    rc = GASNET_OK;
  }
  pthread_mutex_unlock(&lock);
  return rc;
}

static void sim_free(void *device, void *addr, size_t bytes) {
  (void)device;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < RANGES; i++)
    if (ranges[i].bytes && ranges[i].addr == addr) ranges[i].bytes = 0;
  munmap(addr, pages(bytes));
  pthread_mutex_unlock(&lock);
}

/* The allocation of a device that holds a range, or NULL; under `lock`. A NULL device is any. */
static struct range *find(const void *device, const void *addr, size_t bytes) {
  for (int i = 0; i < RANGES; i++) {
    const size_t at = (size_t)((const char *)addr - ranges[i].addr);
    if (ranges[i].bytes && (!device || ranges[i].device == device) &&
        (const char *)addr >= ranges[i].addr && at + bytes <= ranges[i].bytes)
      return &ranges[i];
  }
  return NULL;
}

static int sim_query(void *device, const void *addr, size_t bytes) {
  pthread_mutex_lock(&lock);
  const int found = find(device, addr, bytes) != NULL;
  pthread_mutex_unlock(&lock);
  return found;
}

/* Sets what may be done with the pages that hold `bytes` at `at`. A whole segment would take as
 * long as copying it. */
static int protect(const void *at, size_t bytes, int how) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const uintptr_t first = (uintptr_t)at / page * page;
  if ((uintptr_t)at + bytes == first) return GASNET_OK; /* QEMU refuses what has no bytes */
  return mprotect((void *)first, (uintptr_t)at + bytes - first, how) ? GASNET_ERR_RESOURCE
                                                                     : GASNET_OK;
}

/* Copies while the named sides are accessible. */
static int copy_open(const struct range *to, void *dest, const struct range *from, const void *src,
                     size_t bytes) {
  const int all = PROT_READ | PROT_WRITE, closed = is_open() ? all : PROT_NONE;
  int rc = GASNET_OK;
  if (to) rc = protect(dest, bytes, all);
  if (from && !rc) rc = protect(src, bytes, all);
  if (rc) return rc;
  memcpy(dest, src, bytes);
  if (to) rc = protect(dest, bytes, closed);
  if (from && !rc) rc = protect(src, bytes, closed);
  return rc;
}

/* Copies between sides, each in memory of the device or of the host. */
static int copy_between(void *device, bool to_device, void *dest, bool from_device, const void *src,
                        size_t bytes) {
  pthread_mutex_lock(&lock);
  const struct range *to = find(to_device ? device : NULL, dest, to_device ? bytes : 1);
  const struct range *from = find(from_device ? device : NULL, src, from_device ? bytes : 1);
  const bool right = !to == !to_device && !from == !from_device;
  const int rc = right ? copy_open(to, dest, from, src, bytes) : GASNET_ERR_BAD_ARG;
  pthread_mutex_unlock(&lock);
  return rc;
}

static int sim_copy_in(void *device, void *dest, const void *host_src, size_t bytes) {
  return copy_between(device, true, dest, false, host_src, bytes);
}

static int sim_copy_out(void *device, void *host_dest, const void *src, size_t bytes) {
  return copy_between(device, false, host_dest, true, src, bytes);
}

static int sim_copy(void *device, void *dest, const void *src, size_t bytes) {
  return copy_between(device, true, dest, true, src, bytes);
}

static int sim_pin(void *device, void *host, size_t bytes) {
  pthread_mutex_lock(&lock);
  const bool good = !pinned.bytes && (uintptr_t)host % 4096 == 0 && !find(NULL, host, 1);
  if (good) pinned = (struct range){device, host, bytes};
  pthread_mutex_unlock(&lock);
  return good ? GASNET_OK : GASNET_ERR_RESOURCE;
}

static void sim_unpin(void *device, void *host, size_t bytes) {
  pthread_mutex_lock(&lock);
  if (pinned.device != device || pinned.addr != host || pinned.bytes != bytes) abort();
  pinned = (struct range){NULL, NULL, 0};
  pthread_mutex_unlock(&lock);
}

/* For tests: the bytes of host memory that are pinned, a size_t. */
GEXX_API const void *mk_sim_pinned(void);

const void *mk_sim_pinned(void) {
  return &pinned.bytes;
}

GEXX_API const struct gexx_mk_plugin *gexx_mk_plugin(void);

const struct gexx_mk_plugin *gexx_mk_plugin(void) {
  static const struct gexx_mk_plugin plugin = {.version = GEXX_MK_PLUGIN_VERSION,
                                               .name = "sim",
                                               .open = sim_open,
                                               .close = sim_close,
                                               .alloc = sim_alloc,
                                               .free = sim_free,
                                               .query = sim_query,
                                               .copy_in = sim_copy_in,
                                               .copy_out = sim_copy_out,
                                               .copy = sim_copy,
                                               .pin = sim_pin,
                                               .unpin = sim_unpin,
                                               .network = sim_network};
  return &plugin;
}
