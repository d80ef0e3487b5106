/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA driver without a device: libcuda.so.1 for tests. Device memory is host memory whose pages
 * are inaccessible except while a copy is made here, so that any other access ends the process. It
 * is strict where the real driver is: initialisation, contexts, sides of copies; and asynchronous
 * copies happen when their stream is waited for, no sooner. IPC handles name the memory of another
 * process, which is mapped from there.
 */
#define _GNU_SOURCE 1
#include "cuda_mock.h"

#include "cuda_abi.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT                                  __attribute__((visibility("default")))
#define CUDA_FUNCTION(field, symbol, arguments) EXPORT cuda_result symbol arguments;
#include "cuda_functions.def"
#undef CUDA_FUNCTION

#define PAGE 4096u
enum { DEVICES = CUDA_MOCK_DEVICES + 1, RANGES = 4096, DEPTH = 16 };
#define DEVICE_BYTES ((size_t)1 << 30)

struct CUctx_st {
  int device;
  unsigned retains;
};

struct job {
  struct job *next;
  void *dest;
  const void *src;
  size_t bytes;
};

struct CUstream_st {
  struct CUctx_st *context;
  struct job *first, **end;
};

/* Device memory that this process sees. */
struct range {
  char *start; /* NULL: free */
  size_t bytes, mapped;
  struct CUctx_st *context;
  int device, fd;
  unsigned imports; /* of a peer's memory */
};

struct ipc {
  uint32_t magic, pid;
  int32_t fd, device;
  uint64_t bytes, start;
};
#define IPC_MAGIC 0x6d6f636bu

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static bool initialised;
static struct CUctx_st primary[DEVICES], other;
static struct range ranges[RANGES];
static size_t used[DEVICES];
static struct cuda_mock_counts counts;
static char failing[64];
static cuda_result failure;

static _Thread_local struct CUctx_st *stack[DEPTH];
static _Thread_local int depth;

static struct CUctx_st *current(void) {
  return depth ? stack[depth - 1] : NULL;
}

/* Result of a call before it does anything. */
static cuda_result begin(const char *symbol, bool in_context) {
  if (strcmp(symbol, failing) == 0) return failure;
  if (!initialised) return CUDA_R_NOT_INITIALIZED;
  return in_context && !current() ? CUDA_R_INVALID_CONTEXT : CUDA_R_SUCCESS;
}

#define BEGIN(in_context)   \
 pthread_mutex_lock(&lock); \
 cuda_result rc = begin(__func__, in_context);

static cuda_result end(cuda_result rc) {
  pthread_mutex_unlock(&lock);
  return rc;
}

/* ---- devices and contexts */

cuda_result cuInit(unsigned flags) {
  pthread_mutex_lock(&lock);
  cuda_result rc = strcmp(__func__, failing) == 0 ? failure : CUDA_R_SUCCESS;
  if (flags) rc = CUDA_R_INVALID_VALUE;
  if (!rc) initialised = true;
  for (int i = 0; i < DEVICES; i++) primary[i].device = i;
  return end(rc);
}

cuda_result cuGetErrorName(cuda_result result, const char **text) {
  static const struct {
    cuda_result result;
    const char *name;
  } names[] = {{CUDA_R_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
               {CUDA_R_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
               {CUDA_R_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
               {CUDA_R_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
               {CUDA_R_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
               {CUDA_R_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
               {CUDA_R_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].result == result) {
      *text = names[i].name;
      return CUDA_R_SUCCESS;
    }
  *text = NULL;
  return CUDA_R_INVALID_VALUE;
}

cuda_result cuGetErrorString(cuda_result result, const char **text) {
  *text = "said by the mock driver";
  return result ? CUDA_R_SUCCESS : CUDA_R_INVALID_VALUE;
}

cuda_result cuDeviceGetCount(int *count) {
  BEGIN(false)
  if (!rc) *count = DEVICES;
  return end(rc);
}

cuda_result cuDeviceGet(cuda_device *device, int ordinal) {
  BEGIN(false)
  if (!rc && (ordinal < 0 || ordinal >= DEVICES)) rc = CUDA_R_INVALID_DEVICE;
  if (!rc) *device = ordinal;
  return end(rc);
}

cuda_result cuDeviceGetAttribute(int *value, cuda_device_attr attr, cuda_device device) {
  BEGIN(false)
  if (!rc && attr != CUDA_D_UNIFIED_ADDRESSING) rc = CUDA_R_INVALID_VALUE;
  if (!rc) *value = device < CUDA_MOCK_DEVICES;
  return end(rc);
}

cuda_result cuDevicePrimaryCtxRetain(cuda_context *context, cuda_device device) {
  BEGIN(false)
  if (!rc) {
    primary[device].retains++;
    counts.retains++;
    *context = &primary[device];
  }
  return end(rc);
}

cuda_result cuDevicePrimaryCtxRelease_v2(cuda_device device) {
  BEGIN(false)
  if (!rc && !primary[device].retains) rc = CUDA_R_INVALID_CONTEXT;
  if (!rc) {
    primary[device].retains--;
    counts.retains--;
  }
  return end(rc);
}

cuda_result cuCtxPushCurrent_v2(cuda_context context) {
  BEGIN(false)
  if (!rc && (!context || (context != &other && !context->retains) || depth == DEPTH))
    rc = CUDA_R_INVALID_CONTEXT;
  if (!rc) stack[depth++] = context;
  return end(rc);
}

cuda_result cuCtxPopCurrent_v2(cuda_context *context) {
  BEGIN(true)
  if (!rc) *context = stack[--depth];
  return end(rc);
}

/* ---- memory */

/* The range that holds [addr, addr + bytes), or NULL. */
static struct range *find(const void *addr, size_t bytes) {
  for (int i = 0; i < RANGES; i++) {
    struct range *r = &ranges[i];
    const size_t at = (size_t)((const char *)addr - r->start);
    if (r->start && (const char *)addr >= r->start && at < r->bytes && bytes <= r->bytes - at)
      return r;
  }
  return NULL;
}

/* Whether some byte is device memory. */
static bool touches(const void *addr, size_t bytes) {
  const uintptr_t low = (uintptr_t)addr, high = low + bytes;
  for (int i = 0; i < RANGES; i++) {
    const uintptr_t start = (uintptr_t)ranges[i].start;
    if (start && low < start + ranges[i].bytes && start < high) return true;
  }
  return false;
}

static struct range *map(int fd, size_t bytes, int device) {
  const size_t mapped = (bytes + PAGE - 1) / PAGE * PAGE;
  struct range *r = ranges;
  while (r < ranges + RANGES && r->start) r++;
  if (r == ranges + RANGES) return NULL;
  void *p = mmap(NULL, mapped, PROT_NONE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return NULL;
  *r = (struct range){p, bytes, mapped, NULL, device, fd, 0};
  return r;
}

static struct range *alloc(struct CUctx_st *context, size_t bytes) {
  const int fd = memfd_create("cuda-mock", MFD_CLOEXEC);
  struct range *r = NULL;
  if (fd >= 0 && used[context->device] + bytes <= DEVICE_BYTES &&
      ftruncate(fd, (off_t)((bytes + PAGE - 1) / PAGE * PAGE)) == 0)
    r = map(fd, bytes, context->device);
  if (!r) {
    if (fd >= 0) close(fd);
    return NULL;
  }
  r->context = context;
  used[r->device] += bytes;
  counts.allocations++;
  return r;
}

static void unmap(struct range *r) {
  munmap(r->start, r->mapped);
  close(r->fd);
  *r = (struct range){.start = NULL};
}

static void *pointer(cuda_address address) {
  return (void *)(uintptr_t)address;
}

cuda_result cuMemAlloc_v2(cuda_address *address, size_t bytes) {
  BEGIN(true)
  if (!rc && !bytes) rc = CUDA_R_INVALID_VALUE;
  struct range *r = rc ? NULL : alloc(current(), bytes);
  if (!rc && !r) rc = CUDA_R_OUT_OF_MEMORY;
  if (r) *address = (cuda_address)(uintptr_t)r->start;
  return end(rc);
}

cuda_result cuMemFree_v2(cuda_address address) {
  BEGIN(true)
  struct range *r = rc ? NULL : find(pointer(address), 1);
  if (!rc && (!r || r->start != pointer(address) || r->imports)) rc = CUDA_R_INVALID_VALUE;
  if (!rc) {
    used[r->device] -= r->bytes;
    counts.allocations--;
    unmap(r);
  }
  return end(rc);
}

/* One range of host memory at a time is pinned. */
static void *pinned;

cuda_result cuMemHostRegister_v2(void *host, size_t bytes, unsigned flags) {
  BEGIN(true)
  if (!rc && (pinned || !bytes || flags != CUDA_HOST_PORTABLE || touches(host, bytes)))
    rc = CUDA_R_INVALID_VALUE;
  if (!rc) {
    pinned = host;
    counts.pinned = bytes;
  }
  return end(rc);
}

cuda_result cuMemHostUnregister(void *host) {
  BEGIN(true)
  if (!rc && (!pinned || host != pinned)) rc = CUDA_R_INVALID_VALUE;
  if (!rc) {
    pinned = NULL;
    counts.pinned = 0;
  }
  return end(rc);
}

static void attribute(const struct range *r, cuda_pointer_attr attr, void *value) {
  switch (attr) {
  case CUDA_P_CONTEXT: *(cuda_context *)value = r ? r->context : NULL; break;
  case CUDA_P_MEMORY_TYPE: *(unsigned *)value = r ? CUDA_MEMORY_DEVICE : 0; break;
  case CUDA_P_DEVICE_ORDINAL: *(int *)value = r ? r->device : -2; break;
  case CUDA_P_RANGE_START:
    *(cuda_address *)value = r ? (cuda_address)(uintptr_t)r->start : 0;
    break;
  case CUDA_P_RANGE_SIZE: *(size_t *)value = r ? r->bytes : 0; break;
  default: abort();
  }
}

cuda_result cuPointerGetAttributes(unsigned count, cuda_pointer_attr *attrs, void **values,
                                   cuda_address address) {
  BEGIN(true)
  const struct range *r = rc ? NULL : find(pointer(address), 1);
  for (unsigned i = 0; !rc && i < count; i++) attribute(r, attrs[i], values[i]);
  return end(rc);
}

cuda_result cuPointerSetAttribute(const void *value, cuda_pointer_attr attr, cuda_address address) {
  BEGIN(true)
  if (!rc &&
      (attr != CUDA_P_SYNC_MEMOPS || *(const unsigned *)value != 1 || !find(pointer(address), 1)))
    rc = CUDA_R_INVALID_VALUE;
  if (!rc) counts.sync_memops++;
  return end(rc);
}

/* ---- copies */

/* Sets what may be done with the pages of a range that hold `bytes` at `at`. A whole segment would
 * take as long as copying it. */
static int expose(const struct range *r, const void *at, size_t bytes, int protection) {
  const uintptr_t first = (uintptr_t)at / PAGE * PAGE;
  if (!r || (uintptr_t)at + bytes == first) return 0;
  return mprotect((void *)first, (uintptr_t)at + bytes - first, protection);
}

static bool perform(void *dest, const void *src, size_t bytes) {
  const struct range *to = find(dest, bytes), *from = find(src, bytes);
  const int all = PROT_READ | PROT_WRITE;
  if (expose(to, dest, bytes, all) || expose(from, src, bytes, all)) return false;
  memmove(dest, src, bytes);
  return !expose(to, dest, bytes, PROT_NONE) && !expose(from, src, bytes, PROT_NONE);
}

/* One side must be device memory, the other must be or must not be. */
static cuda_result enqueue(cuda_stream stream, const struct job *job, bool device_to,
                           bool device_from) {
  const bool to = find(job->dest, job->bytes), from = find(job->src, job->bytes);
  if (!stream || stream->context != current() || to != device_to || from != device_from ||
      (!to && touches(job->dest, job->bytes)) || (!from && touches(job->src, job->bytes)))
    return CUDA_R_INVALID_VALUE;
  struct job *j = malloc(sizeof *j);
  if (!j) return CUDA_R_OUT_OF_MEMORY;
  *j = *job;
  *stream->end = j;
  stream->end = &j->next;
  return CUDA_R_SUCCESS;
}

cuda_result cuMemcpyHtoDAsync_v2(cuda_address dest, const void *src, size_t bytes,
                                 cuda_stream stream) {
  BEGIN(true)
  if (!rc) rc = enqueue(stream, &(struct job){NULL, pointer(dest), src, bytes}, true, false);
  if (!rc) counts.copies_in++;
  return end(rc);
}

cuda_result cuMemcpyDtoHAsync_v2(void *dest, cuda_address src, size_t bytes, cuda_stream stream) {
  BEGIN(true)
  if (!rc) rc = enqueue(stream, &(struct job){NULL, dest, pointer(src), bytes}, false, true);
  if (!rc) counts.copies_out++;
  return end(rc);
}

cuda_result cuMemcpyAsync(cuda_address dest, cuda_address src, size_t bytes, cuda_stream stream) {
  BEGIN(true)
  if (!rc)
    rc = enqueue(stream, &(struct job){NULL, pointer(dest), pointer(src), bytes}, true, true);
  if (!rc) counts.copies++;
  return end(rc);
}

cuda_result cuStreamCreate(cuda_stream *stream, unsigned flags) {
  BEGIN(true)
  struct CUstream_st *s = rc ? NULL : calloc(1, sizeof *s);
  if (!rc && (!s || flags != CUDA_STREAM_NON_BLOCKING)) rc = CUDA_R_INVALID_VALUE;
  if (!rc) {
    s->context = current();
    s->end = &s->first;
    counts.streams++;
    *stream = s;
  }
  return end(rc);
}

cuda_result cuStreamSynchronize(cuda_stream stream) {
  BEGIN(true)
  if (!rc && stream->context != current()) rc = CUDA_R_INVALID_CONTEXT;
  for (struct job *j; !rc && (j = stream->first) != NULL;) {
    stream->first = j->next;
    if (!perform(j->dest, j->src, j->bytes)) rc = CUDA_R_INVALID_VALUE;
    free(j);
  }
  if (!rc) stream->end = &stream->first;
  return end(rc);
}

cuda_result cuStreamDestroy_v2(cuda_stream stream) {
  BEGIN(true)
  if (!rc && stream->first) rc = CUDA_R_INVALID_VALUE; /* the test wants copies to be waited for */
  if (!rc) {
    free(stream);
    counts.streams--;
  }
  return end(rc);
}

/* ---- other processes */

cuda_result cuIpcGetMemHandle(cuda_ipc_handle *handle, cuda_address address) {
  BEGIN(true)
  const struct range *r = rc ? NULL : find(pointer(address), 1);
  if (!rc && (!r || r->imports)) rc = CUDA_R_INVALID_VALUE;
  if (!rc) {
    const struct ipc ipc = {IPC_MAGIC, (uint32_t)getpid(), r->fd,
                            r->device, r->bytes,           (uint64_t)(uintptr_t)r->start};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &ipc, sizeof ipc);
  }
  return end(rc);
}

/* Memory that a peer allocated, mapped here once. */
static struct range *import(const struct ipc *ipc) {
  static struct ipc known[RANGES]; /* by range */
  char path[64];
  for (int i = 0; i < RANGES; i++)
    if (ranges[i].start && ranges[i].imports && memcmp(&known[i], ipc, sizeof *ipc) == 0)
      return &ranges[i];
  snprintf(path, sizeof path, "/proc/%u/fd/%d", ipc->pid, ipc->fd);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  struct range *r = fd < 0 ? NULL : map(fd, ipc->bytes, ipc->device);
  if (r)
    known[r - ranges] = *ipc;
  else if (fd >= 0)
    close(fd);
  return r;
}

cuda_result cuIpcOpenMemHandle_v2(cuda_address *address, cuda_ipc_handle handle, unsigned flags) {
  struct ipc ipc;
  BEGIN(true)
  memcpy(&ipc, &handle, sizeof ipc);
  if (!rc && (ipc.magic != IPC_MAGIC || flags != CUDA_IPC_LAZY_PEER)) rc = CUDA_R_INVALID_VALUE;
  if (!rc && ipc.pid == (uint32_t)getpid()) rc = CUDA_R_INVALID_CONTEXT;
  struct range *r = rc ? NULL : import(&ipc);
  if (!rc && !r) rc = CUDA_R_OUT_OF_MEMORY;
  if (!rc) {
    r->imports++;
    counts.imports++;
    *address = (cuda_address)(uintptr_t)r->start;
  }
  return end(rc);
}

cuda_result cuIpcCloseMemHandle(cuda_address address) {
  BEGIN(true)
  struct range *r = rc ? NULL : find(pointer(address), 1);
  if (!rc && (!r || !r->imports || r->start != pointer(address))) rc = CUDA_R_INVALID_VALUE;
  if (!rc) {
    counts.imports--;
    if (!--r->imports) unmap(r);
  }
  return end(rc);
}

/* ---- for tests */

static void mock_counts(struct cuda_mock_counts *out) {
  pthread_mutex_lock(&lock);
  *out = counts;
  pthread_mutex_unlock(&lock);
}

static void mock_fail(const char *symbol, unsigned result) {
  pthread_mutex_lock(&lock);
  snprintf(failing, sizeof failing, "%s", symbol ? symbol : "");
  failure = result;
  pthread_mutex_unlock(&lock);
}

static int mock_move(void *dest, const void *src, size_t bytes) {
  pthread_mutex_lock(&lock);
  const bool ok = perform(dest, src, bytes);
  pthread_mutex_unlock(&lock);
  return ok;
}

static int mock_holds(const void *addr, size_t bytes) {
  pthread_mutex_lock(&lock);
  const bool ok = find(addr, bytes) != NULL;
  pthread_mutex_unlock(&lock);
  return ok;
}

static void mock_select(int on) {
  depth = on ? 1 : 0;
  stack[0] = &other;
}

static int mock_selected(void) {
  return depth == 1 && stack[0] == &other;
}

static void *mock_alloc_other(size_t bytes) {
  pthread_mutex_lock(&lock);
  const struct range *r = alloc(&other, bytes);
  pthread_mutex_unlock(&lock);
  return r ? r->start : NULL;
}

EXPORT const struct cuda_mock *cuda_mock(void);

const struct cuda_mock *cuda_mock(void) {
  static const struct cuda_mock mock = {.counts = mock_counts,
                                        .fail = mock_fail,
                                        .move = mock_move,
                                        .holds = mock_holds,
                                        .select = mock_select,
                                        .selected = mock_selected,
                                        .alloc_other = mock_alloc_other};
  return &mock;
}
