/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/legacy/inline_g1.h: GASNet-1 atomicity, put, get, value, memset and synchronisation calls
 * (API 08.5, 08.6).
 *
 * Included by gasnet.h. Each is the EX call on gexx_legacy_tm with the local-completion rule of
 * GASNet-1: non-bulk puts leave the source reusable on return, bulk ones at completion. Functions
 * here never loop. Invariants: void forms are void expressions; gets, memsets and puts of values
 * have no source buffer to protect; debug clients go through gexx_legacy_team, which refuses use
 * before attach.
 */
#ifndef GEXX_INLINE_G1_H
#define GEXX_INLINE_G1_H

GEXX_CASTS_BEGIN
#ifdef __cplusplus
extern "C" {
#endif

/* The team of this layer; fatal, naming `call`, when the layer is not ready. */
GEXX_API gex_TM_t gexx_legacy_team(const char *call);

#if GEXX_DEBUG
# define GEXX_G1_TM(call) gexx_legacy_team(call)
#else
# define GEXX_G1_TM(call) gexx_legacy_tm
#endif

/* ---------------------------------------------------------------- atomicity (API 08.5) */

/* Page gasnet_hsl_lock: GASNet-1: handler-safe locks and no-interrupt sections.
 * [in] hsl: a lock of this process.
 * Completion: the calls return when they are done; gasnet_hsl_trylock at once.
 * Threads: any thread; a thread that holds a lock is in restricted context.
 * Errors: debug clients end the process with a message for misuse.
 * Cost: as gex_HSL_Lock.
 * See: gex_HSL_Lock */

/* No-interrupt sections: restricted context between them, must pair, do not nest; checked in debug
 * clients. */
GEXX_API void gexx_hold_interrupts(void);
GEXX_API void gexx_resume_interrupts(void);
GEXX_INLINE void gasnet_hold_interrupts(void) {
#if GEXX_DEBUG
  gexx_hold_interrupts();
#endif
}
GEXX_INLINE void gasnet_resume_interrupts(void) {
#if GEXX_DEBUG
  gexx_resume_interrupts();
#endif
}

/* Handler-safe locks: gex_HSL_ under their older names. API 01.9. */
GEXX_INLINE void gasnet_hsl_init(gasnet_hsl_t *hsl) {
  gex_HSL_Init(hsl);
}
GEXX_INLINE void gasnet_hsl_destroy(gasnet_hsl_t *hsl) {
  gex_HSL_Destroy(hsl);
}
GEXX_INLINE void gasnet_hsl_lock(gasnet_hsl_t *hsl) {
  gex_HSL_Lock(hsl);
}
GEXX_INLINE void gasnet_hsl_unlock(gasnet_hsl_t *hsl) {
  gex_HSL_Unlock(hsl);
}
GEXX_INLINE int gasnet_hsl_trylock(gasnet_hsl_t *hsl) {
  return gex_HSL_Trylock(hsl);
}

/* ---------------------------------------------------------------- put and get (API 08.6) */

/* Page gasnet_put: GASNet-1: put, get and memset.
 * Names with nb return a handle, those with nbi join the implicit operations, others block. Bulk
 * forms leave src to the library until completion; other puts let it be changed on return.
 * [in] node: rank of the peer.
 * [in] val: byte that is stored.
 * [in] value: integer that is stored.
 * [in] handle: a get of a value.
 * Completion: blocking forms return when the data are in place. Others are synchronised by
 * gasnet_wait_syncnb and its relatives.
 * Threads: normal context, any thread; may poll.
 * Errors: addresses outside the segment of the peer end the process with a message in debug
 * clients.
 * Cost: as gex_RMA_PutNB.
 * See: gasnet_wait_syncnb, gex_RMA_PutNB */

/* Put nbytes from local src to dest on node; blocking. */
GEXX_INLINE void gasnet_put(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(GEXX_G1_TM("gasnet_put"), node, dest, src, nbytes, 0);
}
GEXX_INLINE void gasnet_put_bulk(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
  (void)gex_RMA_PutBlocking(GEXX_G1_TM("gasnet_put_bulk"), node, dest, src, nbytes, 0);
}

/* Put nbytes, returning a handle; src is reusable on return. */
GEXX_INLINE GEXX_WARN_UNUSED gasnet_handle_t gasnet_put_nb(gasnet_node_t node, void *dest,
                                                           const void *src, size_t nbytes) {
  return gex_RMA_PutNB(GEXX_G1_TM("gasnet_put_nb"), node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}

/* Put nbytes, returning a handle; src is frozen until it is synchronised. */
GEXX_INLINE GEXX_WARN_UNUSED gasnet_handle_t gasnet_put_nb_bulk(gasnet_node_t node, void *dest,
                                                                const void *src, size_t nbytes) {
  return gex_RMA_PutNB(GEXX_G1_TM("gasnet_put_nb_bulk"), node, dest, src, nbytes, GEX_EVENT_DEFER,
                       0);
}

/* Implicit forms of the two above. */
GEXX_INLINE void gasnet_put_nbi(gasnet_node_t node, void *dest, const void *src, size_t nbytes) {
  (void)gex_RMA_PutNBI(GEXX_G1_TM("gasnet_put_nbi"), node, dest, src, nbytes, GEX_EVENT_NOW, 0);
}
GEXX_INLINE void gasnet_put_nbi_bulk(gasnet_node_t node, void *dest, const void *src,
                                     size_t nbytes) {
  (void)gex_RMA_PutNBI(GEXX_G1_TM("gasnet_put_nbi_bulk"), node, dest, src, nbytes, GEX_EVENT_DEFER,
                       0);
}

/* Get nbytes from src on node to local dest; bulk forms are equal. */
GEXX_INLINE void gasnet_get(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(GEXX_G1_TM("gasnet_get"), dest, node, src, nbytes, 0);
}
GEXX_INLINE void gasnet_get_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  (void)gex_RMA_GetBlocking(GEXX_G1_TM("gasnet_get_bulk"), dest, node, src, nbytes, 0);
}
GEXX_INLINE GEXX_WARN_UNUSED gasnet_handle_t gasnet_get_nb(void *dest, gasnet_node_t node,
                                                           void *src, size_t nbytes) {
  return gex_RMA_GetNB(GEXX_G1_TM("gasnet_get_nb"), dest, node, src, nbytes, 0);
}
GEXX_INLINE GEXX_WARN_UNUSED gasnet_handle_t gasnet_get_nb_bulk(void *dest, gasnet_node_t node,
                                                                void *src, size_t nbytes) {
  return gex_RMA_GetNB(GEXX_G1_TM("gasnet_get_nb_bulk"), dest, node, src, nbytes, 0);
}
GEXX_INLINE void gasnet_get_nbi(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  (void)gex_RMA_GetNBI(GEXX_G1_TM("gasnet_get_nbi"), dest, node, src, nbytes, 0);
}
GEXX_INLINE void gasnet_get_nbi_bulk(void *dest, gasnet_node_t node, void *src, size_t nbytes) {
  (void)gex_RMA_GetNBI(GEXX_G1_TM("gasnet_get_nbi_bulk"), dest, node, src, nbytes, 0);
}

/* Remote memset(dest, val, nbytes) on node: blocking, with a handle, implicit (category PUT). */
GEXX_API void gasnet_memset(gasnet_node_t node, void *dest, int val, size_t nbytes);
GEXX_API GEXX_WARN_UNUSED gasnet_handle_t gasnet_memset_nb(gasnet_node_t node, void *dest, int val,
                                                           size_t nbytes);
GEXX_API void gasnet_memset_nbi(gasnet_node_t node, void *dest, int val, size_t nbytes);

/* Values: integers of 1..8 bytes in native order, zero-extended on get. */
GEXX_INLINE void gasnet_put_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                size_t nbytes) {
  (void)gex_RMA_PutBlockingVal(GEXX_G1_TM("gasnet_put_val"), node, dest, value, nbytes, 0);
}
GEXX_INLINE GEXX_WARN_UNUSED gasnet_handle_t gasnet_put_nb_val(gasnet_node_t node, void *dest,
                                                               gasnet_register_value_t value,
                                                               size_t nbytes) {
  return gex_RMA_PutNBVal(GEXX_G1_TM("gasnet_put_nb_val"), node, dest, value, nbytes, 0);
}
GEXX_INLINE void gasnet_put_nbi_val(gasnet_node_t node, void *dest, gasnet_register_value_t value,
                                    size_t nbytes) {
  (void)gex_RMA_PutNBIVal(GEXX_G1_TM("gasnet_put_nbi_val"), node, dest, value, nbytes, 0);
}
GEXX_INLINE gasnet_register_value_t gasnet_get_val(gasnet_node_t node, void *src, size_t nbytes) {
  return gex_RMA_GetBlockingVal(GEXX_G1_TM("gasnet_get_val"), node, src, nbytes, 0);
}

/* Non-blocking value get; the handle must be given to gasnet_wait_syncnb_valget exactly once. */
GEXX_API gasnet_valget_handle_t gasnet_get_nb_val(gasnet_node_t node, void *src, size_t nbytes);
GEXX_API gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle);

/* ---------------------------------------------------------------- synchronisation (API 08.6) */

/* Page gasnet_wait_syncnb: GASNet-1: completion of operations.
 * [in] handle: a handle of a non-blocking call, or GASNET_INVALID_HANDLE.
 * [in,out] handles: [n] handles; those that are complete become GASNET_INVALID_HANDLE.
 * [in] n: entries of the array.
 * Completion: a wait returns when the operations are complete.
 * Threads: normal context. Implicit operations belong to the thread that started them.
 * Errors: GASNET_ERR_NOT_READY of the try forms.
 * Cost: a compare for a complete handle; else a poll for each turn.
 * See: gasnet_put, gex_Event_Wait */

/* Explicit handles: wait forms poll until done; try forms poll once, the nopoll ones never;
 * GASNET_OK or GASNET_ERR_NOT_READY; arrays are [n] and completed entries become
 * GASNET_INVALID_HANDLE. */
GEXX_INLINE void gasnet_wait_syncnb(gasnet_handle_t handle) {
  gex_Event_Wait(handle);
}
GEXX_INLINE void gasnet_wait_syncnb_some(gasnet_handle_t *handles, size_t n) {
  gex_Event_WaitSome(handles, n, 0);
}
GEXX_INLINE void gasnet_wait_syncnb_all(gasnet_handle_t *handles, size_t n) {
  gex_Event_WaitAll(handles, n, 0);
}
GEXX_INLINE int gasnet_try_syncnb_nopoll(gasnet_handle_t handle) {
  return gex_Event_Test(handle);
}
GEXX_INLINE int gasnet_try_syncnb_some_nopoll(gasnet_handle_t *handles, size_t n) {
  return gex_Event_TestSome(handles, n, 0);
}
GEXX_INLINE int gasnet_try_syncnb_all_nopoll(gasnet_handle_t *handles, size_t n) {
  return gex_Event_TestAll(handles, n, 0);
}
GEXX_INLINE int gasnet_try_syncnb(gasnet_handle_t handle) {
  (void)gasnet_AMPoll();
  return gex_Event_Test(handle);
}
GEXX_INLINE int gasnet_try_syncnb_some(gasnet_handle_t *handles, size_t n) {
  (void)gasnet_AMPoll();
  return gex_Event_TestSome(handles, n, 0);
}
GEXX_INLINE int gasnet_try_syncnb_all(gasnet_handle_t *handles, size_t n) {
  (void)gasnet_AMPoll();
  return gex_Event_TestAll(handles, n, 0);
}

/* Implicit operations of the calling thread; same rules. */
GEXX_INLINE void gasnet_wait_syncnbi_gets(void) {
  gex_NBI_Wait(GEX_EC_GET, 0);
}
GEXX_INLINE void gasnet_wait_syncnbi_puts(void) {
  gex_NBI_Wait(GEX_EC_PUT, 0);
}
GEXX_INLINE void gasnet_wait_syncnbi_all(void) {
  gex_NBI_Wait(GEX_EC_ALL, 0);
}
GEXX_INLINE int gasnet_try_syncnbi_gets(void) {
  (void)gasnet_AMPoll();
  return gex_NBI_Test(GEX_EC_GET, 0);
}
GEXX_INLINE int gasnet_try_syncnbi_puts(void) {
  (void)gasnet_AMPoll();
  return gex_NBI_Test(GEX_EC_PUT, 0);
}
GEXX_INLINE int gasnet_try_syncnbi_all(void) {
  (void)gasnet_AMPoll();
  return gex_NBI_Test(GEX_EC_ALL, 0);
}

/* Access regions: gex_NBI_BeginAccessRegion and EndAccessRegion. */
GEXX_INLINE void gasnet_begin_nbi_accessregion(void) {
  gex_NBI_BeginAccessRegion(0);
}
GEXX_INLINE GEXX_WARN_UNUSED gasnet_handle_t gasnet_end_nbi_accessregion(void) {
  return gex_NBI_EndAccessRegion(0);
}

#ifdef __cplusplus
}
#endif
GEXX_CASTS_END

#endif
