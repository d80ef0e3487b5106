/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Misuse checks of debug clients.
 *
 * Owns nothing. Called at the top of entry points; every check is skipped unless the client was
 * compiled with GASNET_DEBUG. Calls: base/log. Invariants: a message names the function, the
 * argument, its value and the allowed values; a failed check does not return.
 */
#ifndef TMB_CORE_CHECK_H
#define TMB_CORE_CHECK_H

#include "base/log.h"
#include "core/job.h"

/* In debug clients: fatal unless `cond`. The text starts with the function's name. */
#define TMB_CHECK(cond, ...)                                                              \
 do {                                                                                     \
  if (TMB_UNLIKELY(tmb_job.debug) && TMB_UNLIKELY(!(cond))) tmb_fatal_nopos(__VA_ARGS__); \
 } while (0)

/* Rules of the text that released programs break and yet work: the call goes on. Which checks are
 * of this kind, and why: docs/CHECK_ARGUMENTS.md. */
enum tmb_advice {
  TMB_ADVICE_CLIENT_NAME,
  TMB_ADVICE_FLAGS,      /* bits that a call does not know, or more than one of a family */
  TMB_ADVICE_CONTEXT,    /* a call that neither waits nor sends, in a handler or the like */
  TMB_ADVICE_OVERLAP,    /* source and destination are identical */
  TMB_ADVICE_SEGMENT,    /* a promise on local memory that does not hold */
  TMB_ADVICE_ENTRY,      /* description in a handler's entry */
  TMB_ADVICE_DELIVERY,   /* a message that does not fit the entry, but the function */
  TMB_ADVICE_NARGS,      /* a message with another number of arguments than the entry has */
  TMB_ADVICE_INTERRUPTS, /* no-interrupt sections */
  TMB_ADVICE_HSL_ORDER,
  TMB_ADVICE_HSL_INIT,
  TMB_ADVICE_HSL_DESTROY,
  TMB_ADVICE_HSL_LONG,
  TMB_ADVICE_PREPARE, /* lc_opt and dest_addr of prepared messages */
  TMB_ADVICE_CANARY,  /* a buffer that was not written */
  TMB_ADVICE_QUERY,   /* queries with arguments that the injection does not take */
  TMB_ADVICE_SCRATCH,
  TMB_ADVICE_COLOR,
  TMB_ADVICE_OPERANDS, /* dt_sz and dt_cnt of reductions */
  TMB_ADVICE_STRIDES,  /* of GASNet-1 */
  TMB_ADVICE_AGAIN,    /* a call that is legal once */
  TMB_ADVICE_THREADS   /* several threads in a SEQ client */
};

/* In debug clients: warn, once in this process for each `advice`. Threads: any. */
void tmb_advise(enum tmb_advice advice, const char *fmt, ...) TMB_PRINTF(2, 3) TMB_COLD;

/* A call returns an error code: with gex_System_SetVerboseErrors(1), the default, say which and
 * why. Returns `code`. Threads: any. */
int tmb_refuse(const char *call, int code, const char *fmt, ...) TMB_PRINTF(3, 4) TMB_COLD;

/* Fatal unless the library is initialised. Where initialisation has failed, the process ends with
 * exit code 1 and no further message: the reason has been printed, and the client went on. */
void tmb_check_ready_at(const char *call);

/* A call that returns an error before initialisation; ends the process where that has failed, as
 * tmb_check_ready_at does. Returns GASNET_ERR_NOT_INIT. */
int tmb_refuse_early(const char *call) TMB_COLD;

/* Fatal unless the handle is a live object, by its magic number. in pair: a TM-pair is allowed,
 * too. */
void tmb_check_tm(const char *call, gex_TM_t tm, bool pair);
void tmb_check_tm_rank(const char *call, gex_TM_t tm, gex_Rank_t rank);
void tmb_check_ep(const char *call, gex_EP_t ep);
void tmb_check_client(const char *call, gex_Client_t client);
void tmb_check_segment(const char *call, gex_Segment_t segment);

/* Warns if more than one GEX_FLAG_SELF_SEG_, one PEER_SEG_ or one LC_COPY_ flag is set; fatal if
 * that leaves open whether an address is an offset. */
void tmb_check_seg_flags(const char *call, gex_Flags_t flags);

/* Fatal if source and destination of an operation on this process overlap in part, warns if they
 * are identical; addresses, not offsets. */
void tmb_check_overlap(const char *call, uint32_t jobrank, const void *dest, const void *src,
                       size_t nbytes);

/* Warns if flags has a bit that is not in `known`, the flags that `call` accepts; it is ignored. */
void tmb_check_flags(const char *call, gex_Flags_t flags, gex_Flags_t known);

#endif
