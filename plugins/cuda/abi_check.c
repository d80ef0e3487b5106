/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuda_abi.h and cuda_functions.def against NVIDIA's cuda.h, at compile time.
 *
 * Owns nothing; never linked. Compiled when the build finds cuda.h (TMB_CUDA_INCLUDE). The
 * compiler compares every function's type by the initialisations at the end, and every number by
 * an assertion.
 */
#include <cuda.h>

#define CUDA_IPC_HANDLE
typedef CUipcMemHandle cuda_ipc_handle;
#include "cuda_abi.h"

#define SAME(ours, theirs) _Static_assert((ours) == (unsigned)(theirs), #ours " is " #theirs)
SAME(CUDA_R_SUCCESS, CUDA_SUCCESS);
SAME(CUDA_R_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME(CUDA_R_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(CUDA_R_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
SAME(CUDA_R_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(CUDA_R_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
SAME(CUDA_R_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
SAME(CUDA_R_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
SAME(CUDA_D_UNIFIED_ADDRESSING, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
SAME(CUDA_P_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT);
SAME(CUDA_P_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(CUDA_P_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME(CUDA_P_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(CUDA_P_RANGE_START, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME(CUDA_P_RANGE_SIZE, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME(CUDA_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(CUDA_IPC_LAZY_PEER, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(CUDA_HOST_PORTABLE, CU_MEMHOSTREGISTER_PORTABLE);
SAME(CUDA_IPC_BYTES, CU_IPC_HANDLE_SIZE);
SAME(sizeof(cuda_ipc_handle), CUDA_IPC_BYTES);
SAME(sizeof(CUmemorytype), sizeof(unsigned));

/* cuda.h gives versioned functions their plain names by macros; the symbols are those of the .def
 */
#define CUDA_FUNCTION(field, symbol, arguments)          \
 extern cuda_result(*const tmb_check_##field) arguments; \
 cuda_result(*const tmb_check_##field) arguments = symbol;
#include "cuda_functions.def"
