/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/language.h: refuses languages that the headers cannot be compiled in.
 *
 * Included first by gasnetex.h and gasnet_tools.h. Owns no name. The second directive is there to
 * stop the compiler: without it one missing option would be followed by an error for every name of
 * the API that the client uses.
 */
#ifndef GEXX_LANGUAGE_H
#define GEXX_LANGUAGE_H

#if defined(__cplusplus) && __cplusplus < 201103L
# error "The GASNet headers of Tombolo need C++11 or newer: compile this client with -std=c++11."
# include <compile-with-std=c++11-or-newer>
#endif

#endif
