/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/ext/inline_notify.h: put and get with a signal, the part that runs in the caller.
 *
 * Included by gasnetex_ext.h. Each inline is: mapped? copy, one release operation on the signal,
 * then wake the owner if it sleeps; otherwise call the library's checked form. Invariants: as in
 * inline_rma.h; the signal changes after the last byte of its own transfer is visible at the owner
 * (put), or has been read (get); nothing else is ordered by it.
 *
 * A signal is an aligned uint64_t in a bound segment of its owner, who sets it to zero before
 * anybody signals. `sig_addr` is its address in the owner's space, or, with
 * GEX_FLAG_PEER_SEG_OFFSET, its offset, as the other remote address is. Where (tm, rank) names
 * device memory, the data are there, and the signal in any host segment that its owner has attached
 * or published, by address.
 */
#ifndef GEXX_INLINE_NOTIFY_H
#define GEXX_INLINE_NOTIFY_H

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* Page gexx_RMA_PutSignalNB: put and get that change a signal.
 * The signal at the peer changes after the last byte of this transfer is visible there (put), or
 * has been read (get). Nothing else is ordered by it.
 * [in] sig_addr: the signal at the peer, an aligned uint64_t in its bound segment, as its owner
 * sees it; an offset with GEX_FLAG_PEER_SEG_OFFSET.
 * [in] op: GEXX_SIG_SET or GEXX_SIG_ADD.
 * [in] value: what the signal becomes, or what is added to it.
 * [in] lc_opt: what becomes of local completion: GEX_EVENT_NOW, DEFER, GROUP (NBI), or where to
 * store the leaf (NB).
 * Completion: remote completion means that data and signal are there. The blocking form returns at
 * local completion, when src may be changed. NBI: GEX_EC_PUT of a put, GEX_EC_GET of a get.
 * Threads: normal context, any thread; may poll.
 * Errors: as gex_RMA_PutNB. A signal outside the bound segment or not aligned ends the process
 * with a message in debug clients.
 * Cost: mapped: the copy and one release operation; else one message for each 65408 bytes, and no
 * round trip.
 * See: gexx_Signal_Wait, gex_RMA_PutNB, gexx_RMA_PutNotifyNB */

/* Change of a signal. */
#define GEXX_SIG_SET 0 /* it becomes the value */
#define GEXX_SIG_ADD 1 /* the value is added, modulo 2^64 */

/* Arguments of one transfer with a signal, in the order of the calls; dest of a put and src of a
 * get are the remote address. */
struct gexx_signal_op {
  gex_TM_t tm;
  gex_Rank_t rank;
  void *remote;
  void *local;
  size_t nbytes;
  gex_Event_t *lc_opt;
  uint64_t *sig_addr;
  int op;
  uint64_t value;
  gex_Flags_t flags;
};

/* Library forms: contracts of the calls with these endings. */
GEXX_API int gexx_put_signal(const struct gexx_signal_op *op);
GEXX_API int gexx_put_signal_nbi(const struct gexx_signal_op *op);
GEXX_API gex_Event_t gexx_put_signal_nb(const struct gexx_signal_op *op);
GEXX_API int gexx_get_signal_nbi(const struct gexx_signal_op *op);
GEXX_API gex_Event_t gexx_get_signal_nb(const struct gexx_signal_op *op);

/* Wakes a mapped peer that may sleep while it waits for memory that was just written; does nothing
 * for a peer whose memory is not mapped. [in] rank: rank in tm. Never blocks. Any thread. */
GEXX_API void gexx_signal_wake(gex_TM_t tm, gex_Rank_t rank);

/* Wakes the owner after the word `sig_addr` of its segment, in its address space, was changed:
 * enters it in the index of WaitSome first, if the peer has one. */
GEXX_API void gexx_signal_changed(gex_TM_t tm, gex_Rank_t rank, const uint64_t *sig_addr);

/* Changes a mapped signal after all earlier accesses, and wakes its owner. [in] delta: of the
 * owner, as read for the data. */
GEXX_INLINE void gexx_signal_post(gex_TM_t tm, gex_Rank_t rank, intptr_t delta, uint64_t *sig_addr,
                                  int op, uint64_t value) {
  uint64_t *const sig = (uint64_t *)gexx_rma_local(delta, sig_addr);
  if (op == GEXX_SIG_SET)
    __atomic_store_n(sig, value, __ATOMIC_RELEASE);
  else
    __atomic_fetch_add(sig, value, __ATOMIC_RELEASE);
  gexx_signal_changed(tm, rank, sig_addr);
}

#define GEXX_SEM_COUNTERS     1024 /* counters of a rank that others may raise by themselves */
#define GEXX_SEM_COUNTER_LINE 64   /* bytes from one to the next */

/* Address of the counters of rank's semaphores that this process raises by itself, from gexx_index
 * 0 on; an index from GEXX_SEM_COUNTERS on has none. NULL where only the library can (by message,
 * for debug clients, while operations are counted). [in] rank: in the job. Any thread. */
GEXX_API char *gexx_sem_counters(gex_Rank_t rank);

/* gexx_Sem_PostN, or Post with n = 1, on the counter of such a semaphore. [in] tm: that of the
 * client, in which gexx_rank counts. */
GEXX_INLINE void gexx_sem_raise(gex_TM_t tm, const gexx_Sem_Handle_t *sem, uint64_t *counter,
                                uint64_t n) {
  if (sem->gexx_flags & GEXX_SEM_BOOLEAN)
    __atomic_store_n(counter, 1, __ATOMIC_RELEASE);
  else
    __atomic_fetch_add(counter, n, __ATOMIC_RELEASE);
  gexx_signal_wake(tm, sem->gexx_rank);
}

/* Puts nbytes from local src to dest at (tm, rank), then changes the signal there; returns when src
 * may be reused (local completion), which is earlier than the signal where the data travel.
 * [in] nbytes: 0: a bare signal, dest and src are not used. [in] lc_opt: GEX_EVENT_NOW. [in] op:
 * GEXX_SIG_SET or GEXX_SIG_ADD, with `value`. [in] flags: as gex_RMA_PutBlocking. Returns 0;
 * non-zero only with GEX_FLAG_IMMEDIATE when nothing was done. Normal context; may poll. Any
 * thread. Cost when mapped: the copy and one release operation; else one message per 65408 bytes,
 * and no round trip. */
GEXX_INLINE int gexx_RMA_PutSignalBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest,
                                           const void *src, size_t nbytes, gex_Event_t *lc_opt,
                                           uint64_t *sig_addr, int op, uint64_t value,
                                           gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here)) {
    const struct gexx_signal_op a = {
        tm, rank, dest, (void *)(uintptr_t)src, nbytes, lc_opt, sig_addr, op, value, flags};
    return gexx_put_signal(&a);
  }
  gexx_rma_copy(here, src, nbytes);
  gexx_signal_post(tm, rank, delta, sig_addr, op, value);
  return 0;
}

/* Put with signal, without waiting; completion (the signal has changed) in category GEX_EC_PUT.
 * [in] lc_opt: GEX_EVENT_NOW, DEFER or GROUP. */
GEXX_INLINE int gexx_RMA_PutSignalNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src,
                                      size_t nbytes, gex_Event_t *lc_opt, uint64_t *sig_addr,
                                      int op, uint64_t value, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here)) {
    const struct gexx_signal_op a = {
        tm, rank, dest, (void *)(uintptr_t)src, nbytes, lc_opt, sig_addr, op, value, flags};
    return gexx_put_signal_nbi(&a);
  }
  gexx_rma_copy(here, src, nbytes);
  gexx_signal_post(tm, rank, delta, sig_addr, op, value);
  return 0;
}

/* Put with signal and a root event of remote completion: data and signal are there. GEX_EVENT_NO_OP
 * only with GEX_FLAG_IMMEDIATE. [out] lc_opt: GEX_EVENT_NOW, DEFER, or where to store the leaf. */
GEXX_INLINE GEXX_WARN_UNUSED gex_Event_t gexx_RMA_PutSignalNB(gex_TM_t tm, gex_Rank_t rank,
                                                              void *dest, const void *src,
                                                              size_t nbytes, gex_Event_t *lc_opt,
                                                              uint64_t *sig_addr, int op,
                                                              uint64_t value, gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = dest;
  if (!gexx_rma_reach(delta, flags, &here)) {
    const struct gexx_signal_op a = {
        tm, rank, dest, (void *)(uintptr_t)src, nbytes, lc_opt, sig_addr, op, value, flags};
    return gexx_put_signal_nb(&a);
  }
  gexx_rma_copy(here, src, nbytes);
  gexx_signal_post(tm, rank, delta, sig_addr, op, value);
  if ((uintptr_t)lc_opt > (uintptr_t)GEX_EVENT_GROUP) *lc_opt = GEX_EVENT_INVALID;
  return GEX_EVENT_INVALID;
}

/* Gets nbytes from src at (tm, rank) to local dest; the signal at (tm, rank) changes once the data
 * have been read there and may be overwritten. Completion, in category GEX_EC_GET: the data are
 * here. Arguments as above. */
GEXX_INLINE int gexx_RMA_GetSignalNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src,
                                      size_t nbytes, uint64_t *sig_addr, int op, uint64_t value,
                                      gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = src;
  if (!gexx_rma_reach(delta, flags, &here)) {
    const struct gexx_signal_op a = {tm, rank, src, dest, nbytes, NULL, sig_addr, op, value, flags};
    return gexx_get_signal_nbi(&a);
  }
  gexx_rma_copy(dest, here, nbytes);
  gexx_signal_post(tm, rank, delta, sig_addr, op, value);
  return 0;
}

/* Get with signal and a root event. */
GEXX_INLINE GEXX_WARN_UNUSED gex_Event_t gexx_RMA_GetSignalNB(gex_TM_t tm, void *dest,
                                                              gex_Rank_t rank, void *src,
                                                              size_t nbytes, uint64_t *sig_addr,
                                                              int op, uint64_t value,
                                                              gex_Flags_t flags) {
  const intptr_t delta = gexx_rma_delta(tm, rank);
  void *here = src;
  if (!gexx_rma_reach(delta, flags, &here)) {
    const struct gexx_signal_op a = {tm, rank, src, dest, nbytes, NULL, sig_addr, op, value, flags};
    return gexx_get_signal_nb(&a);
  }
  gexx_rma_copy(dest, here, nbytes);
  gexx_signal_post(tm, rank, delta, sig_addr, op, value);
  return GEX_EVENT_INVALID;
}

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
