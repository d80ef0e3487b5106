/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks in the trace of this process.
 *
 * Owns: the declaration of trace.c for use inside the library; clients have gexx_Trace_*. Called by
 * exit.c and by hooks of conduits, through the upcall `trace`. Calls nothing. Invariant: without
 * TOMBOLO_TEST_TRACE_FILE a mark costs a load.
 */
#ifndef TMB_CORE_TRACE_H
#define TMB_CORE_TRACE_H

/* The process ends without its exit handlers: write the closing bracket, unless another thread is
 * inside the file. Events of others wait from now on. */
void tmb_trace_end(void);

/* A mark now, named by `text`. Any thread. */
void tmb_trace_mark(const char *text);

#endif
