/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocation of shared memory (UPC 1.3 library section 7.2.2).
 *
 * Called by UPC programs. Calls: heap.c, where the memory that holds the heap is mapped; active
 * messages to its owner elsewhere. Invariants: an object that lies on all threads has one offset on
 * all of them, given by the heap of thread 0; the offset says which heap an object is of.
 */
#include "rt.h"

enum { AM_REQUEST = GEX_AM_INDEX_BASE, AM_REPLY, AM_COUNT = 2 };
enum { OF_OWN, OF_GLOBAL, FREE = 2 };

struct answer {
  uint64_t offset;
  volatile bool done;
};

RT_EXPORT upcr_pts_t upc_global_alloc(size_t nblocks, size_t nbytes);
RT_EXPORT upcr_pts_t upc_all_alloc(size_t nblocks, size_t nbytes);
RT_EXPORT upcr_pts_t upc_alloc(size_t nbytes);
RT_EXPORT upcr_pts_t upc_local_alloc(size_t nblocks, size_t nbytes);
RT_EXPORT void upc_free(upcr_pts_t p);
RT_EXPORT void upc_all_free(upcr_pts_t p);

static struct upcr_root *root_of(uint32_t thread) {
  return (struct upcr_root *)(void *)(rt.mapped[thread] + RT_GUARD);
}

/* Allocates or frees in a heap that is mapped here. */
static uint64_t do_here(uint32_t thread, unsigned what, uint64_t arg) {
  struct upcr_root *root = root_of(thread);
  struct upcr_heap *heap = what & OF_GLOBAL ? &root->global : &root->own;
  if (!(what & FREE)) return rt_heap_alloc(heap, rt.mapped[thread], arg);
  rt_heap_free(heap, rt.mapped[thread], arg);
  return 0;
}

static uint64_t join(gex_AM_Arg_t high, gex_AM_Arg_t low) {
  return (uint64_t)(uint32_t)high << 32 | (uint32_t)low;
}

static void on_request(gex_Token_t token, gex_AM_Arg_t what, gex_AM_Arg_t arg_high,
                       gex_AM_Arg_t arg_low, gex_AM_Arg_t to_high, gex_AM_Arg_t to_low) {
  const uint64_t offset = do_here((uint32_t)upcr_mythread, (unsigned)what, join(arg_high, arg_low));
  gex_AM_ReplyShort4(token, AM_REPLY, 0, (gex_AM_Arg_t)(offset >> 32), (gex_AM_Arg_t)offset,
                     to_high, to_low);
}

static void on_reply(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low, gex_AM_Arg_t to_high,
                     gex_AM_Arg_t to_low) {
  (void)token;
  struct answer *a = (struct answer *)(uintptr_t)join(to_high, to_low);
  a->offset = join(high, low);
  a->done = true;
}

size_t rt_alloc_handlers(gex_AM_Entry_t *table) {
  table[0] = (gex_AM_Entry_t){
      AM_REQUEST, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 5, NULL,
      "upc alloc"};
  table[1] =
      (gex_AM_Entry_t){AM_REPLY, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 4,
                       NULL,     "upc alloc reply"};
  return AM_COUNT;
}

static uint64_t ask(uint32_t thread, unsigned what, uint64_t arg) {
  if (rt.mapped[thread]) return do_here(thread, what, arg);
  struct answer a = {0, false};
  const uint64_t to = (uintptr_t)&a;
  gex_AM_RequestShort5(rt.tm, thread, AM_REQUEST, 0, (gex_AM_Arg_t)what, (gex_AM_Arg_t)(arg >> 32),
                       (gex_AM_Arg_t)arg, (gex_AM_Arg_t)(to >> 32), (gex_AM_Arg_t)to);
  gexx_WaitInfo_t info = RT_WAIT("an allocation of shared memory", GEXX_WAIT_PEER);
  info.peer = thread;
  info.caller = NULL;
  gexx_WaitInfo_Begin(&info);
  GASNET_BLOCKUNTIL(a.done);
  gexx_WaitInfo_End();
  return a.offset;
}

void rt_alloc_start(void) {
  struct upcr_root *root = root_of((uint32_t)upcr_mythread);
  tmb_heap_init(&root->own.all, rt.memory, rt.heap_half, rt.bytes);
  if (upcr_mythread == 0) tmb_heap_init(&root->global.all, rt.memory, rt.heap, rt.heap_half);
}

/* Bytes of each thread's part of nblocks blocks; 0: none, or too many. */
static uint64_t part_bytes(size_t nblocks, size_t nbytes) {
  const size_t threads = (size_t)upcr_threads, rows = nblocks / threads + (nblocks % threads != 0);
  uint64_t bytes;
  return __builtin_mul_overflow(rows, nbytes, &bytes) ? 0 : bytes;
}

upcr_pts_t upc_global_alloc(size_t nblocks, size_t nbytes) {
  const uint64_t bytes = part_bytes(nblocks, nbytes);
  const uint64_t offset = bytes ? ask(0, OF_GLOBAL, bytes) : 0;
  gexx_check_allocated(0, offset);
  return bytes ? upcr_make(offset, 0, 0) : 0;
}

/* Programs of older compilers take the call as a barrier, which UPC does not promise: none leaves
 * before all have come, since the offset is the maximum over all threads. */
upcr_pts_t upc_all_alloc(size_t nblocks, size_t nbytes) {
  const uint64_t bytes = part_bytes(nblocks, nbytes);
  uint64_t mine = 0, offset = 0;
  upcr_fence();
  if (upcr_mythread == 0 && bytes) mine = ask(0, OF_GLOBAL, bytes);
  gexx_check_allocated(0, mine);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(rt.tm, &offset, &mine, GEX_DT_U64, sizeof mine, 1,
                                        GEX_OP_MAX, NULL, NULL, 0));
  upcr_fence();
  return upcr_make(offset, 0, 0);
}

upcr_pts_t upc_alloc(size_t nbytes) {
  const uint64_t offset = nbytes ? ask((uint32_t)upcr_mythread, OF_OWN, nbytes) : 0;
  gexx_check_allocated((gex_Rank_t)upcr_mythread, offset);
  return offset ? upcr_make(offset, 0, (unsigned long)upcr_mythread) : 0;
}

upcr_pts_t upc_local_alloc(size_t nblocks, size_t nbytes) {
  size_t bytes;
  return __builtin_mul_overflow(nblocks, nbytes, &bytes) ? 0 : upc_alloc(bytes);
}

void upc_free(upcr_pts_t p) {
  const uint64_t offset = upcr_addrfield(p);
  if (!offset) return;
  upcr_complete();
  if (offset < rt.heap)
    rt_fatal("upc_free: offset %llu on thread %d is a static shared object [TMB-2113]",
             (unsigned long long)offset, upcr_threadof(p));
  gexx_check_freed(offset < rt.heap_half ? 0 : (gex_Rank_t)upcr_threadof(p), offset);
  if (offset < rt.heap_half)
    ask(0, OF_GLOBAL | FREE, offset);
  else
    ask((uint32_t)upcr_threadof(p), OF_OWN | FREE, offset);
}

void upc_all_free(upcr_pts_t p) {
  upcr_complete();
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  if (upcr_mythread == 0) upc_free(p);
}

RT_EXPORT size_t upc_affinitysize(size_t total, size_t nbytes, size_t thread);
size_t upc_affinitysize(size_t total, size_t nbytes, size_t thread) {
  const size_t threads = (size_t)upcr_threads;
  if (nbytes == 0 || nbytes >= total) return thread == 0 ? total : 0;
  const size_t blocks = total / nbytes, rows = blocks / threads, last = blocks % threads;
  if (thread < last) return (rows + 1) * nbytes;
  return rows * nbytes + (thread == last ? total - blocks * nbytes : 0);
}
