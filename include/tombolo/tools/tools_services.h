/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo/tools/tools_services.h: environment, debugging, system properties, miscellany (API
 * reference 09, sections 9 to 12).
 *
 * Declares functions of the library only. Included by gasnet_tools.h except in LITE mode.
 * Implemented in src/api/tools_env.c, tools_debug.c, tools_system.c. All may be called before the
 * job is initialised, on any thread, in any context; none communicates. A value that cannot be
 * parsed is fatal: the message names variable and value.
 */
#ifndef GEXX_TOOLS_SERVICES_H
#define GEXX_TOOLS_SERVICES_H

#include "tools_annotations.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Page gasnett_getenv: GASNet-Tools: settings from the environment, and numbers as text.
 * [in] key: name of the variable.
 * [in] dflt: the value when it is not set.
 * [in] mem_size_multiplier: 0: a number; else a size in units of this many bytes where no suffix
 * says another unit.
 * [in] value, val: the value.
 * [in] is_dflt: 1: the value is the default.
 * [in] is_mem_size: 1: a memory size.
 * [out] buf: where the text goes; 32 bytes suffice.
 * [in] bufsz: bytes of buf.
 * [in] str: the text.
 * Completion: the calls return at once.
 * Threads: any thread, any context, also before the job is started. gasnett_setenv and
 * gasnett_unsetenv do not overlap with others.
 * Errors: a value that cannot be read ends the process with a message that names variable and
 * value.
 * Cost: a search in the environment.
 * See: tombolo-settings(7), gasnet_getenv */

/* --- environment (section 9) --- */

/* Raw text of a variable in the job's environment, NULL if unset. Valid until the variable changes.
 */
GEXX_API char *gasnett_getenv(const char *key);
/* With a default, parsed; each reports its key once when GASNET_VERBOSEENV is set. */
GEXX_API char *gasnett_getenv_withdefault(const char *key, const char *dflt);
GEXX_API int gasnett_getenv_yesno_withdefault(const char *key, int dflt);
/* in mem_size_multiplier: 0: a number; else a size, in units of this many bytes where it has no
 * suffix. */
GEXX_API int64_t gasnett_getenv_int_withdefault(const char *key, int64_t dflt,
                                                uint64_t mem_size_multiplier);
GEXX_API double gasnett_getenv_dbl_withdefault(const char *key, double dflt);
/* Change this process's environment only. */
GEXX_API void gasnett_setenv(const char *key, const char *value);
GEXX_API void gasnett_unsetenv(const char *key);
/* Non-zero if this process reports the settings that it reads. May change during initialisation. */
GEXX_API int gasnett_verboseenv(void);
/* Report a setting that the client read by other means, if gasnett_verboseenv(). */
GEXX_API void gasnett_envint_display(const char *key, int64_t val, int is_dflt, int is_mem_size);
GEXX_API void gasnett_envstr_display(const char *key, const char *val, int is_dflt);
GEXX_API void gasnett_envdbl_display(const char *key, double val, int is_dflt);
/* Format a number or a memory size ("64 KB"); 32 bytes always suffice. Returns buf. */
GEXX_API char *gasnett_format_number(int64_t val, char *buf, size_t bufsz, int is_mem_size);
/* Parse the texts of format_number and of users; NULL and "" give 0. */
GEXX_API int64_t gasnett_parse_int(const char *str, uint64_t mem_size_multiplier);

/* Page gasnett_fatalerror: GASNet-Tools: fatal errors, backtraces, debuggers and signals.
 * [in] flag: set to 1 by the call; a debugger sets it to 0.
 * [in] flagsymname: name of the flag for the user.
 * [in] exename: path of the program, NULL to find out.
 * [in] fd: file that is written.
 * [in] fmt: a format of printf.
 * [in] exitcode: of the process.
 * [in] sig: number of a signal.
 * [in] fp: the handler.
 * [in] str: name or number of a signal.
 * Names: gasnett_backtrace_type_t: one mechanism for backtraces;
 * gasnett_backtrace_user: the program may define it: its own mechanism, tried first;
 * gasnett_print_backtrace_ifenabled: what fatal paths call; may be set;
 * gasnett_sighandlerfn_t: a signal handler;
 * gasnett_siginfo_t: what is known of a signal
 * Completion: the fatal calls do not return. gasnett_freezeForDebuggerNow returns when a debugger
 * has cleared the flag.
 * Threads: any thread, any context, also before the job is started.
 * Errors: NULL for a signal that does not exist; gasnett_reghandler ends the process then.
 * Cost: a backtrace may start a debugger and take seconds.
 * See: tombolo-settings(7), gasnet_exit */

/* --- debugging and fatal errors (section 10) --- */

/* Wait until a debugger sets *flag to 0; flagsymname is how it finds it. */
GEXX_API void gasnett_freezeForDebuggerNow(volatile int *flag, const char *flagsymname);
/* Wait for a debugger if GASNET_FREEZE_ON_ERROR asks for it. */
GEXX_API void gasnett_freezeForDebuggerErr(void);

/* One mechanism for backtraces: fnp writes to fd and returns 0, or non-zero to let the next one
 * try. */
typedef struct {
  const char *name;
  int (*fnp)(int fd);
  int threadsupport;
} gasnett_backtrace_type_t;
/* A client may define it to add its own mechanism, which is tried first; the library has an empty
 * one. */
GEXX_API extern gasnett_backtrace_type_t gasnett_backtrace_user;

/* Set which executable backtraces are about; NULL: find out. */
GEXX_API void gasnett_backtrace_init(const char *exename);
/* Write a backtrace of the calling thread. Returns 0 on success. */
GEXX_API int gasnett_print_backtrace(int fd);
/* Function that every fatal path calls: prints if GASNET_BACKTRACE asks for it. Assignable. */
GEXX_API extern int (*gasnett_print_backtrace_ifenabled)(int fd);

/* Message with rank on stderr, freeze and backtrace as set, abort(). The macro adds the position.
 */
GEXX_API void gasnett_fatalerror(const char *fmt, ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 1, 2)));
GEXX_API void gasnett_fatalerror_nopos(const char *fmt, ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 1, 2)));
GEXX_API void gexx_tools_fatal_at(const char *func, const char *file, int line, const char *fmt,
                                  ...)
    __attribute__((__noreturn__, __cold__, __format__(__printf__, 4, 5)));
#if !defined(__cplusplus) || __cplusplus >= 201103L
# define gasnett_fatalerror(...) \
  gexx_tools_fatal_at(GASNETT_CURRENT_FUNCTION, __FILE__, __LINE__, __VA_ARGS__)
#endif

/* End this process at once with this code: no atexit handlers, no flushing. */
GEXX_API void gasnett_killmyprocess(int exitcode) __attribute__((__noreturn__));

typedef void (*gasnett_sighandlerfn_t)(int);
/* Install a handler (SIG_DFL and SIG_IGN too). Returns the previous one. Fatal for an invalid
 * signal. */
GEXX_API gasnett_sighandlerfn_t gasnett_reghandler(int sig, gasnett_sighandlerfn_t fp);
/* "SIGSEGV", or NULL for a number that is no signal. */
GEXX_API const char *gasnett_signame_fromval(int sig);
/* Facts about a signal. */
typedef struct {
  int signum;
  const char *signame; /* "SIGSEGV" */
  const char *desc;    /* "segmentation fault" */
} gasnett_siginfo_t;
/* Of a signal given as "SIGSEGV", "segv" or "11", or by its number. Returns an object of the
 * library that must not be changed, NULL if there is no such signal. */
GEXX_API gasnett_siginfo_t *gasnett_siginfo_fromstr(const char *str);
GEXX_API gasnett_siginfo_t *gasnett_siginfo_fromval(int sig);

/* Page gasnett_cpu_count: GASNet-Tools: facts of the system.
 * [in] failureIsFatal: 1: end the process when it cannot be found out.
 * [in] rank: number that chooses a processor.
 * Names: GASNETT_SET_AFFINITY_SUPPORT: gasnett_set_affinity works here;
 * gasnett_gethostname, gasneti_gethostname: name of this host in lower case;
 * gasnett_exe_name: absolute path of the program, or "";
 * gasnett_cpu_count: processors that this process may use, 0 when unknown;
 * gasnett_isLittleEndian: 1 where the least significant byte comes first;
 * gasnett_performance_warning_str: "" for an optimised program, else lines that say what makes it
 * slow;
 * gasnett_release_version_str: the release as a string
 * Completion: the calls return at once.
 * Threads: any thread, any context, also before the job is started.
 * Errors: 0, NULL or "" when something cannot be found out.
 * Cost: a system call, once for most facts.
 * See: gasnett_config */

/* --- system properties (section 11) --- */

GEXX_API const char *gasnett_gethostname(void); /* lower case */
GEXX_API const char *gasneti_gethostname(void); /* the older name */
GEXX_API const char *gasnett_exe_name(void);    /* absolute path, or "" */
GEXX_API int gasnett_cpu_count(void); /* processors that this process may use; 0 unknown */
/* Bytes of physical memory; 0 if unknown and failureIsFatal is 0. */
GEXX_API uint64_t gasnett_getPhysMemSz(int failureIsFatal);
GEXX_TOOLS_INLINE int gasnett_isLittleEndian(void) {
#ifdef PLATFORM_ARCH_LITTLE_ENDIAN
  return 1;
#else
  return 0;
#endif
}
/* "" for an optimised client without debugging aids, else lines that name causes of slowness. */
GEXX_API const char *gexx_tools_performance_warning(int debug, int debugmalloc, int unoptimised);
#ifdef __OPTIMIZE__
# define GEXX_TOOLS_UNOPTIMISED 0
#else
# define GEXX_TOOLS_UNOPTIMISED 1
#endif
#ifdef GASNET_DEBUGMALLOC
# define GEXX_TOOLS_DEBUGMALLOC 1
#else
# define GEXX_TOOLS_DEBUGMALLOC 0
#endif
GEXX_TOOLS_INLINE const char *gasnett_performance_warning_str(void) {
  return gexx_tools_performance_warning(GEXX_TOOLS_DEBUG, GEXX_TOOLS_DEBUGMALLOC,
                                        GEXX_TOOLS_UNOPTIMISED);
}
GEXX_API const char *gasnett_release_version_str(void); /* "2025.8.0" */
/* MAJOR * 1000000 + MINOR * 10000 + PATCH */
GEXX_API uint64_t gasnett_release_version(void);
/* Bind the calling thread to processor rank modulo their number. 0, or non-zero if that failed.
 * Deprecated. */
GEXX_API int gasnett_set_affinity(int rank);
#ifdef PLATFORM_OS_LINUX
# define GASNETT_SET_AFFINITY_SUPPORT 1
#endif

/* Page gasnett_checksum: GASNet-Tools: checksums, streams and limits.
 * [in] p: memory.
 * [in] numbytes, n: how many bytes.
 * [in] value: an integer.
 * [out] dst: where to.
 * [in] src: where from.
 * [in] res: RLIMIT_*.
 * [in] lim_desc: name of the limit, as in GASNET_MAXIMIZE_<name>.
 * Names: gasnett_flush_streams: flushes standard output and standard error;
 * gasnett_close_streams: flushes them, then closes all three standard streams
 * Completion: the calls return when they are done.
 * Threads: any thread, any context but a signal handler.
 * Errors: gasnett_maximize_rlimit and gasnett_maximize_rlimits return 0 when a limit could not be
 * raised.
 * Cost: grows with the bytes.
 * See: gasnett_config */

/* --- miscellany (section 12) --- */

/* Let another thread or process have the processor. */
GEXX_API void gasnett_sched_yield(void);
GEXX_API void gasnett_flush_streams(void); /* stdout, stderr */
GEXX_API void gasnett_close_streams(void); /* flushes, then closes stdin, stdout, stderr */
/* Deterministic 64-bit checksum of numbytes bytes; equal on every machine and release. */
GEXX_API uint64_t gasnett_checksum(const void *p, int numbytes);
/* Number of zero bytes in a value, in memory, in memory while copying it. */
GEXX_API int gasnett_count0s_uint32_t(uint32_t value);
GEXX_API int gasnett_count0s_uint64_t(uint64_t value);
GEXX_API int gasnett_count0s_uintptr_t(uintptr_t value);
GEXX_API size_t gasnett_count0s(const void *p, size_t n);
GEXX_API size_t gasnett_count0s_copy(void *__restrict__ dst, const void *__restrict__ src,
                                     size_t n);
/* Raise resource limits as far as allowed, unless GASNET_MAXIMIZE_<desc>=0. Non-zero: success. */
GEXX_API int gasnett_maximize_rlimits(void);
GEXX_API int gasnett_maximize_rlimit(int res, const char *lim_desc);

#ifdef __cplusplus
}
#endif

#endif
