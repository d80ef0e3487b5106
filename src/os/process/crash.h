/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames of a dying process, written where another process can read and explain them.
 *
 * Owns: declarations of crash.c. Called by core in its handler of fatal signals, through boot, and
 * by debug.c. Calls: the unwinder, the kernel. Invariants: async-signal-safe: no memory is
 * allocated, no lock is taken, no name is looked up. A frame is the place of its instruction in a
 * file, the same for all processes that run the same program, wherever the file is mapped.
 */
#ifndef TMB_OS_CRASH_H
#define TMB_OS_CRASH_H

#include <stdint.h>
#include <sys/types.h>

#define TMB_CRASH_FRAMES  64  /* kept of a process, the innermost ones */
#define TMB_CRASH_FILES   8   /* that have frames */
#define TMB_CRASH_NAME    192 /* of a file, with its end; a file with a longer name is unknown */
#define TMB_CRASH_NO_FILE UINT8_MAX

/* Frames from the inside out. Written by the thread that handles the fatal signal. */
struct tmb_crash {
  uint32_t count;                    /* of frames; written last, atomic; 0: none */
  uint32_t files;                    /* names used */
  uint8_t file[TMB_CRASH_FRAMES];    /* of each frame: index of its name, or NO_FILE */
  uint64_t offset[TMB_CRASH_FRAMES]; /* bytes in that file; without one: the address */
  char name[TMB_CRASH_FILES][TMB_CRASH_NAME];
};

/* Read the frames of this thread, as return addresses, from the inside out. out frames: [count].
 * Returns how many; 0 where the C library has no backtrace (musl). */
int tmb_os_frames(void **frames, int count);

/* Write the frames of this thread. out crash: all zero before; in context: the third argument of
 * the handler; the frames begin at the instruction that the signal interrupted. */
void tmb_os_crash_note(struct tmb_crash *crash, const void *context);

/* Fork in a signal handler. The child may hang in malloc. Returns as fork; -1 where the C library
 * has no fork for handlers. */
pid_t tmb_os_fork_in_handler(void);

/* Write the frames as lines "FILE+0xOFFSET" for people. in fd: where to. */
void tmb_os_crash_print(const struct tmb_crash *crash, int fd);

#endif
