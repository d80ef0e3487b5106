/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process start: how this process becomes a rank of a job, and data that ranks share before a
 * network exists.
 *
 * Owns: the job's control block (ctl.h) and the descriptors of its shared memory. Called by core at
 * client initialisation and at exit, by conduit set-up through core. Calls: launch, join, ctl,
 * base, os. Invariants: only ranks return from tmb_boot_start; a process that started its own peers
 * stays behind as their supervisor. The environment and the arguments of a rank are those of the
 * user's command line. Every call here, tmb_boot_peer_pid, tmb_boot_record_exit and those about
 * fates apart, belongs to one thread at a time.
 */
#ifndef TMB_BOOT_BOOT_H
#define TMB_BOOT_BOOT_H

#include "base/compiler.h"
#include "boot/boot_state.h"
#include "boot/status.h"

/* Longest wait at the end of a job for a slow reader of its output; not after a failure. */
#define TMB_BOOT_SLOW_OUTPUT_S 300

/*
 * Fate of a rank, as one word: kind, and for lost ones exit code and signal. SUSPENDED is known
 * only of ranks that the supervisor forked itself (no program around them).
 */
enum tmb_fate { TMB_FATE_ALIVE, TMB_FATE_SUSPENDED, TMB_FATE_ENDED, TMB_FATE_FAILED };
#define TMB_FATE(kind, code, sig) ((uint32_t)(kind) | (uint32_t)(code) << 8 | (uint32_t)(sig) << 16)
#define TMB_FATE_KIND(word)       ((enum tmb_fate)((word)&0xff))
#define TMB_FATE_CODE(word)       ((int)((word) >> 8 & 0xff))
#define TMB_FATE_SIGNAL(word)     ((int)((word) >> 16 & 0xff))
#define TMB_FATE_IS_LOST(word)    (TMB_FATE_KIND(word) >= TMB_FATE_ENDED)

/* Words that ranks of one host sleep on: 32-bit futexes in the host's arena file, at offset + near
 * index * stride. Whoever wakes a rank adds 1 first. */
struct tmb_boot_doors {
  uint64_t offset, stride; /* stride 0: there are none */
};

/* Binary interface of the MPI that this process has, or that goes with its launcher: "openmpi" or
 * "mpich"; TOMBOLO_MPI decides. */
const char *tmb_boot_mpi_abi(void);

/* Warn once, on rank 0 of a job of `tombolo run`, that an initialised MPI is not part of the job:
 * it would compute alone, unnoticed. A program may want that, so the job continues. */
void tmb_boot_warn_of_mpi(struct tmb_boot *boot);

/* Whether a foreign launcher has started this process that can serve an MPI in it as well. */
bool tmb_boot_launched(void);

/* Whether this process prints reports and warnings for the whole job, as far as its launcher says:
 * it is rank 0, or none has started it. For tmb_cfg_set_speaker, before the process has joined. Any
 * thread. */
bool tmb_boot_speaks(void);

/* Whether a rank shares this machine's processors and memory. */
static inline bool tmb_boot_here(const struct tmb_boot *boot, uint32_t rank) {
  return boot->here == boot->size || tmb_places_near(&boot->places, rank);
}

/*
 * Join the job that `tombolo run` started, or start GASNET_PSHM_NODES ranks by forking, or be the
 * only rank. With more than one rank to start, the calling process flushes stdio, forks the ranks
 * and stays behind as supervisor: it never returns and exits with the job's code; threads other
 * than the caller do not exist in the ranks. Ranks above 0 get /dev/null as standard input. out
 * boot: zeroed on failure. Returns 0, or a negative code after a message: TMB_E_SYS, TMB_E_LIMIT,
 * TMB_E_ARG, TMB_E_STATE (this rank was taken before by another program, or the job is ending).
 * Does not wait for the other ranks. Cost: one fork per rank in the process that starts peers.
 */
int tmb_boot_start(struct tmb_boot *boot);

/*
 * Wait until every rank of the job is here. Sleeps on a futex; when a rank dies, either the job
 * ends, or, where ranks outlive each other, this barrier and all later ones end at once with false,
 * so nobody waits for ever. Full memory fence. Cost: one atomic add per rank, one wake-up of all.
 */
bool tmb_boot_barrier(struct tmb_boot *boot);

/*
 * Every rank contributes `bytes` bytes and gets those of all.
 * in mine: [bytes]; in bytes: equal on every rank, any length. out all: [size * bytes], ordered by
 * rank; zeros if the barrier that it includes gives up. Cost: a barrier for each KiB.
 */
void tmb_boot_allgather(struct tmb_boot *boot, const void *mine, size_t bytes, void *all);

/* Whether this process is the rank itself, not a child that the client has forked. Threads: any;
 * also from a signal handler. */
bool tmb_boot_is_rank(const struct tmb_boot *boot);

/*
 * Record that this rank ends the job on purpose: its code counts for the job, and the time it takes
 * to flush its output is granted. Only the first call counts; ignored in a forked child of the
 * client and when the supervisor ordered this rank to end before. Threads: any; also from a signal
 * handler. in code: the exit code, of which the low 8 bits reach the launcher. Returns the code to
 * end with: another one where the launcher reads the codes of ranks that it has ended.
 */
int tmb_boot_record_exit(struct tmb_boot *boot, int code);

/* Record that exit handlers run, before tmb_boot_record_exit: an MPI that is finalised by now
 * reports the end of this process in one. Threads: that of exit(). */
void tmb_boot_note_handlers(struct tmb_boot *boot);

/* Call `idle` about every millisecond while this rank waits in rounds for others. NULL: no more. */
void tmb_boot_set_idle(struct tmb_boot *boot, void (*idle)(void));

/* Record that this rank has printed why it dies: the supervisor need not print more. Threads:
 * any; also from a signal handler. */
void tmb_boot_note_explained(struct tmb_boot *boot);

/* Record where this rank is when a fatal signal ends it, for the supervisor to print; without one
 * the frames are printed here. Threads: any, in the handler of that signal. in context: as
 * tmb_os_crash_note. */
void tmb_boot_note_crash(struct tmb_boot *boot, const void *context);

/* Process id of a rank of this machine, 0 while it has not joined and for ranks of others. in rank:
 * < size. Threads: any. */
pid_t tmb_boot_peer_pid(const struct tmb_boot *boot, uint32_t rank);

/*
 * Say whether this rank wants to go on when another ends. The job goes on without a rank only while
 * all that are left want it. in doors: where the ranks of a host sleep, equal on all; NULL: as
 * before.
 */
void tmb_boot_report(struct tmb_boot *boot, bool report, const struct tmb_boot_doors *doors);

/* Name of the host of a rank, for messages. in rank: < size. Lives as long as the job. Threads:
 * any. */
const char *tmb_boot_host_name(const struct tmb_boot *boot, uint32_t rank);

/* A word that changes whenever the fate of a rank does; for the life of the job. */
const uint32_t *tmb_boot_changes(const struct tmb_boot *boot);

/* Fate of a rank: a TMB_FATE word. in rank: < size. Acquires: earlier writes of a lost rank are
 * visible. Threads: any. */
uint32_t tmb_boot_fate(const struct tmb_boot *boot, uint32_t rank);

/* Continues the agent of this host, should it be stopped: nobody else could end it after its
 * launcher has given the host up. A rank that ends does so, too. Threads: any, signal handlers. */
void tmb_boot_rouse(struct tmb_boot *boot);

/* Reports that `rank` does not answer, and that this rank will not talk to it again: have that rank
 * ended, wherever it runs, so that it is lost to everybody. Does not wait. Threads: any. */
void tmb_boot_condemn(struct tmb_boot *boot, uint32_t rank);

/* The status page of this rank, zero at first; for the life of the job. */
struct tmb_status *tmb_boot_status(const struct tmb_boot *boot);

/* Area in which this rank records its events; NULL: none (TOMBOLO_TRACE). Once, at the start. */
struct tmb_trace_area *tmb_boot_trace(const struct tmb_boot *boot);

/* Release the control block and the descriptors; `boot` is zeroed. Ranks need not stop together. */
void tmb_boot_stop(struct tmb_boot *boot);

#endif
