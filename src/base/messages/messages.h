/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of a message, which `tombolo explain` explains.
 *
 * Owns: nothing. Called by log.c, which appends the number to the message. Calls: nothing.
 * Invariants: numbers are those of messages.def and never change; a search is linear, for it comes
 * with a message only.
 */
#ifndef TMB_BASE_MESSAGES_H
#define TMB_BASE_MESSAGES_H

#define TMB_MESSAGE_SETTING 107 /* a setting with a wrong value */

/* Number of the message with a format. [in] format: as it was passed to a function of log.h.
 * Returns the number, 0 for a message that has none. Threads: any. */
unsigned tmb_message_number(const char *format);

#endif
