/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of CUDA devices (GEX_MK_CLASS_CUDA_UVA, API 07): the plug-in libtombolo-mk-cuda.so.
 *
 * Owns: struct device, one for each kind. Called by core/segment/mk.c, mk_rma.c, mk_peer.c through
 * struct gexx_mk_plugin. Calls: the driver API by driver.h; not the toolkit's runtime. Every call
 * works in the device's primary context, which is retained while the kind lives and made current
 * for the duration of the call only. Copies run on a stream of our own, so they do not wait for
 * kernels of the client, and are complete on return. Memory of peer processes is opened through
 * the driver's IPC handles; handles name whole allocations, so an offset travels with them.
 * Invariants: a call leaves the client's current context unchanged.
 */
#include "driver.h"

#include <tombolo/mk_plugin.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct device {
  const struct cuda_driver *driver;
  cuda_device id;
  int ordinal;
  cuda_context context;
  cuda_stream stream;
  bool sync_memops;
};

/* Data for a peer. */
struct shared {
  cuda_ipc_handle ipc;
  uint64_t offset, bytes; /* of the segment in the allocation that `ipc` names */
};
_Static_assert(sizeof(struct shared) <= GEXX_MK_HANDLE_BYTES, "fits what is published");

static cuda_address address_of(const void *p) {
  return (cuda_address)(uintptr_t)p;
}

/* Make the device's context current. Returns whether it is; then leave is due. */
static bool enter(const struct device *d) {
  const cuda_result rc = d->driver->context_push(d->context);
  if (rc == CUDA_R_SUCCESS) return true;
  cuda_explain_result(d->driver, "cuCtxPushCurrent", rc);
  return false;
}

/* Make the client's context current again, and turn a result of the driver into a code. */
static int pop_context(const struct device *d, const char *call, cuda_result rc) {
  cuda_context ours;
  const cuda_result popped = d->driver->context_pop(&ours);
  if (rc == CUDA_R_SUCCESS && popped == CUDA_R_SUCCESS) return GASNET_OK;
  cuda_explain_result(d->driver, rc == CUDA_R_SUCCESS ? "cuCtxPopCurrent" : call,
                      rc == CUDA_R_SUCCESS ? popped : rc);
  return GASNET_ERR_RESOURCE;
}

/* ---- devices */

static bool find_device(struct device *d, int ordinal) {
  int count = 0, unified = 0;
  cuda_result rc = d->driver->device_count(&count);
  if (rc == CUDA_R_SUCCESS && (ordinal < 0 || ordinal >= count)) {
    cuda_explain("argument args->gex_args.gex_class_cuda_uva.gex_CUdevice is %d; this process "
                 "sees %d CUDA devices, so 0 to %d are allowed (see CUDA_VISIBLE_DEVICES)",
                 ordinal, count, count - 1);
    return false;
  }
  if (rc == CUDA_R_SUCCESS) rc = d->driver->device_get(&d->id, ordinal);
  if (rc == CUDA_R_SUCCESS)
    rc = d->driver->device_attribute(&unified, CUDA_D_UNIFIED_ADDRESSING, d->id);
  if (rc != CUDA_R_SUCCESS) {
    cuda_explain_result(d->driver, "asking for the CUDA device", rc);
    return false;
  }
  if (!unified)
    cuda_explain("CUDA device %d has no unified addressing, which this kind of memory needs",
                 ordinal);
  d->ordinal = ordinal;
  return unified != 0;
}

static int device_open(const gex_MK_Create_args_t *args, uint32_t options, void **device) {
  struct device *d = malloc(sizeof *d);
  if (!d) {
    cuda_explain("out of memory");
    return GASNET_ERR_RESOURCE;
  }
  *d = (struct device){.driver = cuda_load(), .sync_memops = (options & GEXX_MK_SYNC_MEMOPS) != 0};
  if (!d->driver || !find_device(d, args->gex_args.gex_class_cuda_uva.gex_CUdevice)) goto no_device;
  const cuda_result rc = d->driver->context_retain(&d->context, d->id);
  if (rc != CUDA_R_SUCCESS) {
    cuda_explain_result(d->driver, "cuDevicePrimaryCtxRetain", rc);
    goto no_device;
  }
  if (!enter(d)) goto no_stream;
  if (pop_context(d, "cuStreamCreate",
                  d->driver->stream_create(&d->stream, CUDA_STREAM_NON_BLOCKING)))
    goto no_stream;
  *device = d;
  return GASNET_OK;
no_stream:
  (void)d->driver->context_release(d->id);
no_device:
  free(d);
  return GASNET_ERR_RESOURCE;
}

static void device_close(void *device) {
  struct device *d = device;
  if (enter(d)) (void)pop_context(d, "cuStreamDestroy", d->driver->stream_destroy(d->stream));
  (void)d->driver->context_release(d->id);
  free(d);
}

/* ---- memory */

#define SYNC_MEMOPS                                                                   \
 "making the client's own copies of this memory synchronous (cuPointerSetAttribute; " \
 "GASNET_USE_CUDA_SYNC_MEMOPS=0 leaves them as they are)"

/* The client's own copies to and from this memory are then complete when they return, as a put
 * that follows expects. */
static cuda_result sync_memops(const struct device *d, cuda_address addr) {
  const unsigned yes = 1;
  return d->sync_memops ? d->driver->pointer_set(&yes, CUDA_P_SYNC_MEMOPS, addr) : CUDA_R_SUCCESS;
}

static int memory_alloc(void *device, size_t bytes, void **addr) {
  const struct device *d = device;
  cuda_address p = 0;
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  const cuda_result got = d->driver->alloc(&p, bytes);
  const cuda_result set = got == CUDA_R_SUCCESS ? sync_memops(d, p) : CUDA_R_SUCCESS;
  if (set != CUDA_R_SUCCESS) (void)d->driver->free(p);
  const int rc = pop_context(d, got == CUDA_R_SUCCESS ? SYNC_MEMOPS : "cuMemAlloc",
                             got == CUDA_R_SUCCESS ? set : got);
  if (rc == GASNET_OK) *addr = (void *)(uintptr_t)p;
  return rc;
}

static void memory_free(void *device, void *addr, size_t bytes) {
  const struct device *d = device;
  (void)bytes;
  if (enter(d)) (void)pop_context(d, "cuMemFree", d->driver->free(address_of(addr)));
}

/* The driver's description of an address. */
struct known {
  cuda_context context;
  unsigned type;
  int ordinal;
  cuda_address start;
  size_t bytes;
};

static cuda_result lookup(const struct device *d, const void *addr, struct known *k) {
  cuda_pointer_attr attrs[] = {CUDA_P_CONTEXT, CUDA_P_MEMORY_TYPE, CUDA_P_DEVICE_ORDINAL,
                               CUDA_P_RANGE_START, CUDA_P_RANGE_SIZE};
  void *values[] = {&k->context, &k->type, &k->ordinal, &k->start, &k->bytes};
  *k = (struct known){.ordinal = -1};
  return d->driver->pointer_get(sizeof attrs / sizeof *attrs, attrs, values, address_of(addr));
}

/* Whether the range is ours to use; explains when it is not. Memory of the virtual memory calls
 * and of pools belongs to no context. */
static bool suits(const struct device *d, const struct known *k, const void *addr, size_t bytes) {
  const cuda_address offset = address_of(addr) - k->start;
  if (k->type != CUDA_MEMORY_DEVICE)
    cuda_explain("%p is not memory of a CUDA device", addr);
  else if (k->ordinal != d->ordinal)
    cuda_explain("%p is memory of CUDA device %d; the kind is of device %d", addr, k->ordinal,
                 d->ordinal);
  else if (k->context && k->context != d->context)
    cuda_explain("%p was allocated in another context than the primary one of CUDA device %d", addr,
                 d->ordinal);
  else if (offset > k->bytes || bytes > k->bytes - offset)
    cuda_explain("%zu bytes at %p leave their allocation, which has %zu bytes at %p", bytes, addr,
                 k->bytes, (void *)(uintptr_t)k->start);
  else
    return true;
  return false;
}

static int memory_query(void *device, const void *addr, size_t bytes) {
  const struct device *d = device;
  struct known k;
  if (!enter(d)) return 0;
  const cuda_result rc = lookup(d, addr, &k);
  const bool known = rc == CUDA_R_SUCCESS && suits(d, &k, addr, bytes);
  const cuda_result set = known ? sync_memops(d, k.start) : CUDA_R_SUCCESS;
  if (pop_context(d, rc == CUDA_R_SUCCESS ? SYNC_MEMOPS : "cuPointerGetAttributes",
                  rc == CUDA_R_SUCCESS ? set : rc))
    return 0;
  return known;
}

/* ---- copies */

static int wait_copy(const struct device *d, cuda_result begun) {
  return pop_context(d, begun == CUDA_R_SUCCESS ? "waiting for a copy" : "starting a copy",
                     begun == CUDA_R_SUCCESS ? d->driver->stream_wait(d->stream) : begun);
}

static int copy_in(void *device, void *dest, const void *host_src, size_t bytes) {
  const struct device *d = device;
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  return wait_copy(d, d->driver->copy_in(address_of(dest), host_src, bytes, d->stream));
}

static int copy_out(void *device, void *host_dest, const void *src, size_t bytes) {
  const struct device *d = device;
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  return wait_copy(d, d->driver->copy_out(host_dest, address_of(src), bytes, d->stream));
}

static int copy(void *device, void *dest, const void *src, size_t bytes) {
  const struct device *d = device;
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  return wait_copy(d, d->driver->copy(address_of(dest), address_of(src), bytes, d->stream));
}

/* With unified addressing the driver sees from the addresses which devices take part. */
static int copy_across(void *to, void *dest, void *from, const void *src, size_t bytes) {
  (void)from;
  return copy(to, dest, src, bytes);
}

/* ---- host memory, for the copies of every context */

static int host_pin(void *device, void *host, size_t bytes) {
  const struct device *d = device;
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  return pop_context(d, "cuMemHostRegister",
                     d->driver->host_register(host, bytes, CUDA_HOST_PORTABLE));
}

static void host_unpin(void *device, void *host, size_t bytes) {
  const struct device *d = device;
  (void)bytes;
  if (enter(d)) (void)pop_context(d, "cuMemHostUnregister", d->driver->host_unregister(host));
}

/* ---- peers */

static int memory_share(void *device, void *addr, size_t bytes, void *handle) {
  const struct device *d = device;
  struct shared s = {.bytes = bytes};
  struct known k;
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  cuda_result rc = lookup(d, addr, &k);
  if (rc == CUDA_R_SUCCESS) rc = d->driver->ipc_get(&s.ipc, k.start);
  s.offset = address_of(addr) - k.start;
  memset(handle, 0, GEXX_MK_HANDLE_BYTES);
  memcpy(handle, &s, sizeof s);
  return pop_context(d, "cuIpcGetMemHandle", rc);
}

static int memory_attach(void *device, const void *handle, void **addr) {
  const struct device *d = device;
  struct shared s;
  cuda_address start = 0;
  memcpy(&s, handle, sizeof s);
  if (!enter(d)) return GASNET_ERR_RESOURCE;
  const int rc =
      pop_context(d, "cuIpcOpenMemHandle", d->driver->ipc_open(&start, s.ipc, CUDA_IPC_LAZY_PEER));
  if (rc == GASNET_OK) *addr = (void *)(uintptr_t)(start + s.offset);
  return rc;
}

static void memory_detach(void *device, const void *handle, void *addr) {
  const struct device *d = device;
  struct shared s;
  memcpy(&s, handle, sizeof s);
  if (enter(d))
    (void)pop_context(d, "cuIpcCloseMemHandle", d->driver->ipc_close(address_of(addr) - s.offset));
}

static int memory_network(void *device, uint32_t *interface, uint64_t *number) {
  const struct device *d = device;
  *interface = GEXX_MK_BY_CUDA;
  *number = (uint64_t)d->ordinal;
  return GASNET_OK;
}

GEXX_API const struct gexx_mk_plugin *gexx_mk_plugin(void);

const struct gexx_mk_plugin *gexx_mk_plugin(void) {
  static const struct gexx_mk_plugin plugin = {.version = GEXX_MK_PLUGIN_VERSION,
                                               .name = "cuda",
                                               .open = device_open,
                                               .close = device_close,
                                               .alloc = memory_alloc,
                                               .free = memory_free,
                                               .query = memory_query,
                                               .copy_in = copy_in,
                                               .copy_out = copy_out,
                                               .copy = copy,
                                               .copy_across = copy_across,
                                               .share = memory_share,
                                               .attach = memory_attach,
                                               .detach = memory_detach,
                                               .reason = cuda_reason,
                                               .pin = host_pin,
                                               .unpin = host_unpin,
                                               .network = memory_network};
  return &plugin;
}
