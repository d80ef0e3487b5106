/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the code of this process, as another process can find them in files.
 *
 * Owns: declarations of code.c. Called by core, boot and traces. Calls: the dynamic loader.
 * Invariants: a place names the file that has the code and the address that this file gives to it,
 * so that addr2line finds it wherever the file is loaded.
 */
#ifndef TMB_OS_CODE_H
#define TMB_OS_CODE_H

#include <stdbool.h>
#include <stddef.h>

#define TMB_OS_CODE_BYTES 512

/* Write "FILE+0xADDRESS" of an address in the code. Returns false where no file has it, or the text
 * does not fit. */
bool tmb_os_code_place(const void *code, char *buf, size_t bytes);

/* Write the name of the file that has an address in the code: the library, or the program that is
 * linked with it, also one that was started by PATH. Returns the length of its folder, 0: not
 * known. */
size_t tmb_os_code_folder(const void *code, char *buf, size_t bytes);

/* Whether the program is linked statically. A library that such a program loads brings a second
 * libc, whose threads crash. */
bool tmb_os_program_is_static(void);

#endif
