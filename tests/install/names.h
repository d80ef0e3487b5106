/* SPDX-License-Identifier: BSD-3-Clause */
/* What names.c and names_tools.c have in common: names of gasnet_tools.h, in each of its modes. */
#ifndef NAMES_H
#define NAMES_H

#include "expect.h"

#include <gasnet_portable_platform.h>

#if GASNET_RELEASE_VERSION_MAJOR != 2025 || GASNET_RELEASE_VERSION_MINOR != 8 || \
    GASNET_RELEASE_VERSION_PATCH != 0
# error "the release version comes with the tools alone"
#endif
#if !defined(PLATFORM_OS_FAMILYNAME) || !defined(PLATFORM_ARCH_FAMILYNAME) || \
    !defined(PLATFORM_COMPILER_FAMILYNAME) || !PLATFORM_COMPILER_VERSION_GE(1, 0, 0)
# error "PLATFORM_ names are missing"
#endif
#if !defined(INT_MAX) || !defined(STDOUT_FILENO) || !defined(SIGSEGV) || !defined(MAXPATHLEN)
# error "limits.h, unistd.h, signal.h and sys/param.h come with the headers"
#endif

typedef void (*any_fn)(void);

/* The heap names work in every mode; only a client with GASNET_DEBUGMALLOC has statistics. */
static inline void check_heap(void) {
  gasnett_heapstats_t stats;
  char *text = (char *)gasnett_debug_malloc(10);
  int *zeros = (int *)gasnett_debug_calloc(4, sizeof(int));
  char *copy = gasnett_debug_strdup("copy"), *part = gasnett_debug_strndup("part", 2);
  EXPECT(zeros[0] == 0 && zeros[3] == 0);
  memset(text, 7, 10);
  text = (char *)gasnett_debug_realloc(text, 100);
  EXPECT(text[9] == 7);
  EXPECT(strcmp(copy, "copy") == 0 && strcmp(part, "pa") == 0);
  gasnett_debug_memcheck(text);
  gasnett_debug_memcheck_one();
  gasnett_debug_memcheck_all();
#ifdef GASNET_DEBUGMALLOC
  EXPECT(gasnett_getheapstats(&stats) == 0 && stats.live_objects == 4);
#else
  EXPECT(gasnett_getheapstats(&stats) != 0 && stats.live_objects == 0);
  gasnett_heapinfo_dump("-", 1);
#endif
  gasnett_debug_free(text);
  gasnett_debug_free(zeros);
  gasnett_debug_free(copy);
  gasnett_debug_free(part);
}

static inline void check_names(void) {
  any_fn noop = (any_fn)&_gasnett_trace_printf_noop;
  int *linked = &GASNETT_LINKCONFIG_IDIOTCHECK;
  EXPECT(noop != NULL);
  EXPECT(*linked);
  EXPECT(strcmp(PLATFORM_STRINGIFY(GASNETI_RELEASE_VERSION), "2025.8.0") == 0);
  EXPECT(strlen(GASNETI_BUILD_ID) > 0 && strlen(GASNETI_CONFIGURE_ARGS) > 0);
  EXPECT(strcmp(GASNETT_CONFIGURE_ARGS, GASNETI_CONFIGURE_ARGS) == 0);
  EXPECT(sched_yield() == 0);
  check_heap();
}

#ifndef GASNETT_LITE_MODE
static inline void check_threadkey(void) {
  any_fn init = (any_fn)&_gasneti_threadkey_init;
  EXPECT(init != NULL);
}

static inline void check_services(void) {
  gasnett_siginfo_t *segv = gasnett_siginfo_fromstr("segv");
  EXPECT(segv && segv->signum == SIGSEGV && strcmp(segv->signame, "SIGSEGV") == 0 && segv->desc);
  EXPECT(segv == gasnett_siginfo_fromval(SIGSEGV));
  EXPECT(!gasnett_siginfo_fromstr("nonsense") && !gasnett_siginfo_fromval(-1));
  EXPECT(!gasnett_siginfo_fromstr(NULL));
  EXPECT(strcmp(gasneti_gethostname(), gasnett_gethostname()) == 0);
  EXPECT(gasnett_release_version() == 2025080000u);
}
#endif

#endif
