/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gasnet_mk.h: memory kinds of Tombolo (API 07).
 *
 * Owns the public types and prototypes of kinds of segment memory beside the host's. Called by
 * clients that place segments in device memory. Calls gasnetex.h, which has gex_MK_t, GEX_MK_HOST
 * and GEX_MK_INVALID. A class is served by a plug-in (tombolo/mk_plugin.h) that is loaded when a
 * kind of it is made. Invariants: a kind belongs to its client; device memory is reached by copies
 * of the plug-ins, never by load and store. More: docs/MEMORY_KINDS.md.
 */
#ifndef GASNET_MK_H
#define GASNET_MK_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gex_MK_Create: memory of devices.
 * A kind stands for the memory of one device. gex_Segment_Create makes a segment of that kind,
 * which puts, gets and collectives of peers can reach. A plug-in serves each class of devices.
 * Names: gex_MK_Class_t: class of a device;
 * GEX_MK_CLASS_HOST: host memory, only GEX_MK_HOST has it;
 * GEX_MK_CLASS_CUDA_UVA: CUDA devices with unified addresses;
 * GEX_MK_CLASS_HIP: HIP devices;
 * GEX_MK_CLASS_ZE: Level Zero devices
 * [in] kind: a kind that gex_MK_Create has made.
 * Completion: the calls return when they are done.
 * Threads: normal context; queries also in handlers.
 * Errors: GASNET_ERR_BAD_ARG for a class without a plug-in, GASNET_ERR_RESOURCE for a device that
 * cannot be used; the reason is printed. gex_MK_Create writes nothing then.
 * Cost: the first kind of a class loads the plug-in and starts the device, which may take a
 * second.
 * See: gex_Segment_Create, gex_EP_BindSegment */

typedef enum {
  GEX_MK_CLASS_HOST,
  GEX_MK_CLASS_CUDA_UVA,
  GEX_MK_CLASS_HIP,
  GEX_MK_CLASS_ZE
} gex_MK_Class_t;

/* Set everything that is not needed to zero: the type may grow. */
typedef struct {
  uint64_t gex_flags; /* 0 */
  gex_MK_Class_t gex_class;
  union {
    struct {
      int gex_CUdevice; /* ordinal */
    } gex_class_cuda_uva;
    struct {
      int gex_hipDevice; /* ordinal */
    } gex_class_hip;
    struct {
      void *gex_zeDevice;
      void *gex_zeContext;
      uint32_t gex_zeMemoryOrdinal;
    } gex_class_ze;
  } gex_args;
} gex_MK_Create_args_t;

/* Makes a kind of memory of one device. [out] kind_p: written on success only. [in] args: class and
 * device. [in] flags: 0. Not collective; normal context. Returns GASNET_OK; GASNET_ERR_BAD_ARG:
 * NULL argument, flags, GEX_MK_CLASS_HOST, or a class that no plug-in of this installation serves;
 * GASNET_ERR_RESOURCE: the device cannot be used. API 07.1. */
GEXX_API int gex_MK_Create(gex_MK_t *kind_p, gex_Client_t client, const gex_MK_Create_args_t *args,
                           gex_Flags_t flags);

/* Ends a kind that no segment uses. [in] kind: not GEX_MK_HOST; [in] flags: 0. Not collective;
 * normal context. API 07.1. */
GEXX_API void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags);

/* One pointer per kind, NULL at first, for the client; not for GEX_MK_HOST. Restricted context:
 * yes. API 07.1. */
GEXX_API void gex_MK_SetCData(gex_MK_t kind, const void *val);
GEXX_API void *gex_MK_QueryCData(gex_MK_t kind);

/* Flags given to gex_MK_Create; not for GEX_MK_HOST. Restricted context: yes. API 07.1. */
GEXX_API gex_Flags_t gex_MK_QueryFlags(gex_MK_t kind);
GEXX_API gex_Client_t gex_MK_QueryClient(gex_MK_t kind);
GEXX_API gex_MK_Class_t gex_MK_QueryClass(gex_MK_t kind);

#ifdef __cplusplus
}
#endif

#endif
