/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/mk_plugin.h: functions of a plug-in that serves a class of device memory.
 *
 * Included by plug-ins and by the library (core/segment/mk.c); not by clients. A plug-in is a
 * shared object libtombolo-mk-CLASS.so (cuda, hip, ze) beside libtombolo.so or in the loader's
 * path, with the entry point gexx_mk_plugin. The library loads it when a kind of the class is made.
 * Invariants: functions may be called by any thread, also inside message handlers, and call nothing
 * of the library; copies are complete on return, and visible to the device's later work; the
 * library touches memory of the device through these functions only. Returns are GASNET_OK or the
 * code that the public call returns.
 */
#ifndef GEXX_MK_PLUGIN_H
#define GEXX_MK_PLUGIN_H

#include <gasnet_mk.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GEXX_MK_PLUGIN_VERSION 4u /* 3, without `network`, and 2, without pins, are understood */
#define GEXX_MK_PLUGIN_ENTRY   "gexx_mk_plugin"

/* Bytes of a name of a device's memory for other processes. */
#define GEXX_MK_HANDLE_BYTES   128

/* Duties of a device, for open. */
#define GEXX_MK_SYNC_MEMOPS    1u /* the client's own copies to and from segments are synchronous */

/* Access of a network interface to memory of a device, for network: as the device's driver names
 * it, or as memory of the host. */
enum gexx_mk_interface { GEXX_MK_BY_HOST, GEXX_MK_BY_CUDA, GEXX_MK_BY_ROCR, GEXX_MK_BY_ZE };

struct gexx_mk_plugin {
  uint32_t version; /* GEXX_MK_PLUGIN_VERSION */
  const char *name;

  /* Begin to use the device that `args` names. in options: GEXX_MK_SYNC_MEMOPS or 0; out device:
   * the plug-in's own state, one for each open. */
  int (*open)(const gex_MK_Create_args_t *args, uint32_t options, void **device);
  void (*close)(void *device);

  /* Memory of the device; free undoes alloc. */
  int (*alloc)(void *device, size_t bytes, void **addr);
  void (*free)(void *device, void *addr, size_t bytes);

  /* Whether [addr, addr + bytes) is memory that the client allocated on this device. */
  int (*query)(void *device, const void *addr, size_t bytes);

  /* Copy host to device, device to host, and inside one device. */
  int (*copy_in)(void *device, void *dest, const void *host_src, size_t bytes);
  int (*copy_out)(void *device, void *host_dest, const void *src, size_t bytes);
  int (*copy)(void *device, void *dest, const void *src, size_t bytes);

  /* The rest may be NULL; then the library does without. */

  /* Copy between two devices of this plug-in. */
  int (*copy_across)(void *to, void *dest, void *from, const void *src, size_t bytes);

  /* Memory of other processes of this machine. share: out handle, GEXX_MK_HANDLE_BYTES that name
   * [addr, addr + bytes) to them. attach: out addr, where the copies of `device` reach what a
   * handle names; a failure is normal, and the library sends messages instead. detach undoes
   * attach. */
  int (*share)(void *device, void *addr, size_t bytes, void *handle);
  int (*attach)(void *device, const void *handle, void **addr);
  void (*detach)(void *device, const void *handle, void *addr);

  /* Why the last call of this thread that failed did so, for error messages; valid until the next
   * one. */
  const char *(*reason)(void);

  /* Make copies from and to [host, host + bytes), memory of this process, faster: pages that stay
   * where they are and that the device knows. unpin undoes pin, before close. One range at a time;
   * the library goes on without it when that fails. */
  int (*pin)(void *device, void *host, size_t bytes);
  void (*unpin)(void *device, void *host, size_t bytes);

  /* Access of network interfaces to memory of the device. out interface: of enum gexx_mk_interface;
   * number: of the device, as its driver counts (CUDA: CUdevice). NULL or a failure: not at all. */
  int (*network)(void *device, uint32_t *interface, uint64_t *number);
};

/* Type of the entry point. */
typedef const struct gexx_mk_plugin *gexx_mk_plugin_fn(void);

#ifdef __cplusplus
}
#endif

#endif
