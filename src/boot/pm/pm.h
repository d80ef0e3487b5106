/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process managers that are not ours: how a rank that mpirun, mpiexec or srun has started learns
 * who it is, and exchanges a few words with the others before anything else works.
 *
 * Owns no state. Included by pm*.c and bootstrap_pm.c. Tables: PMIx (the library libpmix, loaded
 * when used), PMI-1 and PMI-2 (their text protocols on the descriptor PMI_FD), MPI (a plug-in,
 * where the program has called MPI_Init before, or the conduit mpi needs it so). Invariants: keys
 * and values are printable text without blanks, `;` and `=`; each key is put once, by one rank; a
 * fence is called by all ranks of the job. One thread at a time, but for `leave`.
 */
#ifndef TMB_BOOT_PM_H
#define TMB_BOOT_PM_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
  TMB_PM_KEY_BYTES = 48,    /* of a key, with its end */
  TMB_PM_VALUE_BYTES = 961, /* of a value, with its end: less than the least that managers take */
  TMB_PM_NOTE_S = 5         /* after this a rank says that it still waits for others */
};

struct tmb_pm_ops;

/* A rank's connection with its manager. */
struct tmb_pm {
  const struct tmb_pm_ops *ops;
  uint32_t rank, size;
  void (*idle)(void); /* called now and then while a fence waits for others; NULL: nothing */
  bool mpi_reports;   /* MPI is finalised, and reports the end in an exit handler, which runs */
  char who[96];       /* for messages: "PMI-1, as of mpiexec (MPI)" */
  void *state; /* the table's own, of state_bytes; kept as long as the process: signal handlers read
                  it */
};

struct tmb_pm_ops {
  const char *name;
  size_t state_bytes;
  /* Connect. Fills rank, size, who and the state, which is all 0 before. Returns 0, or a negative
   * code after a message. */
  int (*open)(struct tmb_pm *pm);
  int (*put)(struct tmb_pm *pm, const char *key, const char *value);
  /* All values that the ranks have put are there for all. Returns 0, or a negative code after a
   * message. */
  int (*fence)(struct tmb_pm *pm);
  /* in owner: rank that has put it. out value: [TMB_PM_VALUE_BYTES]. Returns 0, or
   * TMB_E_NOT_FOUND without a message. */
  int (*get)(struct tmb_pm *pm, uint32_t owner, const char *key, char *value);
  /* Placement of ranks on hosts. out host_of: [size], any numbers. Returns 0, or a negative code:
   * not known. */
  int (*hosts)(struct tmb_pm *pm, uint32_t *host_of);
  /* Nothing but `leave` is called from now on: the program may begin an MPI that needs the manager
   * alone. Empty: nothing to do. */
  void (*rest)(struct tmb_pm *pm);
  /* Reports an end in good order, after which this process does not speak with the manager; one
   * that ends without this has failed, and the manager ends the others. Any thread, once. */
  void (*leave)(struct tmb_pm *pm);
  /* Ends the job with the code of this process, which is not 0. Any thread, signal handlers,
   * once. Empty: the manager sees the code. */
  void (*fail)(struct tmb_pm *pm, int code);
  void (*close)(struct tmb_pm *pm); /* release memory, the state apart; empty: there is none */
};

/* The slots that each manager has, of its table: functions P_open and so on. */
#define TMB_PM_MANDATORY(NAME, STATE, P)                                         \
 .name = (NAME), .state_bytes = sizeof(STATE), .open = P##_open, .put = P##_put, \
 .fence = P##_fence, .get = P##_get, .hosts = P##_hosts, .leave = P##_leave

extern const struct tmb_pm_ops tmb_pm_pmix, tmb_pm_pmi1, tmb_pm_pmi2, tmb_pm_mpi;

/* To be called before each sleep of a fence that waits for others: calls pm->idle, and says once
 * that they are late. *since_ns: 0 before the first call. Returns how long to sleep at most, in ns.
 */
uint64_t tmb_pm_wait_ns(const struct tmb_pm *pm, uint64_t *since_ns);

/* The descriptor on which a manager by PMI-1 expects a report of the end. out fd: -1 where there is
 * none; inode: of what it is now. */
void tmb_pm_pmi1_find(int *fd, ino_t *inode);

/* Report the end, as `leave`, unless an MPI in this process does, or the descriptor is another. */
void tmb_pm_pmi1_end(const struct tmb_pm *pm, int fd, ino_t inode);

/*
 * The manager of this process. out pm: connected, if 0 is returned. Returns 0; TMB_E_NOT_FOUND:
 * there is none, or it started this process alone; another negative code after a message: it
 * cannot be used, or two launchers contradict each other.
 */
int tmb_pm_find(struct tmb_pm *pm);
/* The connection is not used again. Says nothing to the manager. */
void tmb_pm_close(struct tmb_pm *pm);

/* Whether a manager has started this process together with others: its name, else NULL. Looks at
 * the environment only. out rank, size: as it says. */
const char *tmb_pm_started_by(uint32_t *rank, uint32_t *size);

/* Marks this process as a rank. Processes that it starts inherit its variables, and are none. */
void tmb_pm_mark_taken(void);

/* The manager that has started this process is not that of the programs which it executes. */
void tmb_pm_pass(void);

/* Values of any length: divided, in hexadecimal. in key: at most 24 bytes. */
int tmb_pm_put_data(struct tmb_pm *pm, const char *key, const void *data, size_t bytes);

/* Returns 0, or TMB_E_NOT_FOUND: nothing, or of another length. */
int tmb_pm_get_data(struct tmb_pm *pm, uint32_t owner, const char *key, void *data, size_t bytes);

/* Read a map of hosts as PMI gives it: (vector,(FIRST_HOST,HOSTS,RANKS_EACH),...). out host_of:
 * [size]. Returns 0 or TMB_E_ARG. */
int tmb_pm_parse_mapping(const char *text, uint32_t size, uint32_t *host_of);

/* The MPI library of this process: handle for dlsym, NULL if it has none. */
void *tmb_pm_mpi_library(void);

/* Binary interface of the program's MPI, "openmpi" or "mpich", NULL if there is no MPI. */
const char *tmb_pm_mpi_abi(void);

/* Whether there is a plug-in for an MPI that must be initialised before this process uses PMIx. The
 * plug-in, and with it that MPI, stays loaded. in abi: "openmpi" or "mpich". */
bool tmb_pm_mpi_first(const char *abi);

/* Whether MPI_Init has been called in this process; out finalized: and MPI_Finalize. */
bool tmb_pm_mpi_begun(bool *finalized);

#endif
