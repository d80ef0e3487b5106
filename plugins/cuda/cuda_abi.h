/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the CUDA driver's binary interface that the plug-in uses.
 *
 * Owns: types and numbers, as NVIDIA documents them for the driver API (CUDA_VERSION 4000 and
 * later on 64-bit machines). Included by the plug-in and by the mock driver of the tests, so that
 * both build without the toolkit; abi_check.c compares all of it with NVIDIA's cuda.h where that is
 * found. Invariants: names are ours, so that cuda.h can be included beside it; tags of opaque
 * structures are the documented ones, so that pointers to them have equal types.
 */
#ifndef TMB_CUDA_ABI_H
#define TMB_CUDA_ABI_H

#include <stddef.h>

typedef unsigned cuda_result;
typedef unsigned cuda_device_attr;
typedef unsigned cuda_pointer_attr;
typedef int cuda_device;
typedef unsigned long long cuda_address;
typedef struct CUctx_st *cuda_context;
typedef struct CUstream_st *cuda_stream;

#define CUDA_IPC_BYTES 64
#ifndef CUDA_IPC_HANDLE /* abi_check.c: passed by value, so the type itself matters */
typedef struct {
  char reserved[CUDA_IPC_BYTES];
} cuda_ipc_handle;
#endif

/* Results */
#define CUDA_R_SUCCESS            0u
#define CUDA_R_INVALID_VALUE      1u
#define CUDA_R_OUT_OF_MEMORY      2u
#define CUDA_R_NOT_INITIALIZED    3u
#define CUDA_R_NO_DEVICE          100u
#define CUDA_R_INVALID_DEVICE     101u
#define CUDA_R_INVALID_CONTEXT    201u
#define CUDA_R_NOT_SUPPORTED      801u

/* Attributes of devices and of pointers */
#define CUDA_D_UNIFIED_ADDRESSING 41u
#define CUDA_P_CONTEXT            1u
#define CUDA_P_MEMORY_TYPE        2u
#define CUDA_P_SYNC_MEMOPS        6u
#define CUDA_P_DEVICE_ORDINAL     9u
#define CUDA_P_RANGE_START        11u
#define CUDA_P_RANGE_SIZE         12u

/* Values and flags */
#define CUDA_MEMORY_DEVICE        2u
#define CUDA_STREAM_NON_BLOCKING  1u
#define CUDA_IPC_LAZY_PEER        1u
#define CUDA_HOST_PORTABLE        1u

#endif
