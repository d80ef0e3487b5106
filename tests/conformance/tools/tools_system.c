/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/*
 * System properties, miscellany, character classes, configuration, trace stubs (API reference 09,
 * sections 1 and 11 to 13).
 */
#define _GNU_SOURCE 1
#include <ctype.h>
#include <fcntl.h>
#include <gasnet_tools.h>
#include <limits.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools_child.h"

static void test_system(void) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
  CHECK_STR(gasnett_gethostname(), name);
  char exe[PATH_MAX] = "";
  CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
  CHECK_STR(gasnett_exe_name(), exe);
  cpu_set_t mask;
  CHECK_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  CHECK(gasnett_cpu_count() >= 1 && gasnett_cpu_count() <= CPU_COUNT(&mask));
  const uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
  CHECK_EQ(gasnett_getPhysMemSz(1), pages * (uint64_t)sysconf(_SC_PAGESIZE));
  const uint16_t probe = 1;
  CHECK_EQ(gasnett_isLittleEndian(), *(const unsigned char *)&probe);
  CHECK_EQ(GASNETT_PAGESIZE, 1 << GASNETT_PAGESHIFT);
  CHECK_EQ(sysconf(_SC_PAGESIZE) % GASNETT_PAGESIZE, 0);
  CHECK_CMP(GASNETT_CACHE_LINE_BYTES, >=, 16);
#if GASNETT_SET_AFFINITY_SUPPORT
  CHECK_EQ(gasnett_set_affinity(1), 0);
  CHECK_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  CHECK_EQ(CPU_COUNT(&mask), 1);
#endif
}

static void test_versions(void) {
  CHECK_STR(gasnett_release_version_str(), "2025.8.0");
  CHECK_EQ(gasnett_release_version(), 2025080000);
  CHECK_EQ(GASNETT_RELEASE_VERSION_MAJOR, 2025);
  CHECK_EQ(GASNETT_RELEASE_VERSION_MINOR, 8);
  CHECK_EQ(GASNETT_RELEASE_VERSION_PATCH, 0);
  CHECK_EQ(GASNETT_SPEC_VERSION_MAJOR, 1);
  CHECK_EQ(GASNETT_SPEC_VERSION_MINOR, 20);
  const char config[] = GASNETT_CONFIG_STRING;
  CHECK_PTR(strstr(config, "RELEASE=2025.8.0,SPEC=1.20,PTR=64bit,nodebug,SEQ,timers_"), config);
  CHECK(strstr(config, "," _STRINGIFY(GASNETT_MEMBAR_CONFIG) "," _STRINGIFY(
                           GASNETT_ATOMIC_CONFIG) ",") != NULL);
  CHECK_CMP(strlen(GASNETT_SYSTEM_TUPLE), >, 0);
  CHECK_CMP(strlen(GASNETT_PLATFORM_COMPILER_IDSTR), >, 0);
  CHECK_EQ(GASNETT_PLATFORM_COMPILER_ID, PLATFORM_COMPILER_ID);
  CHECK_EQ(GASNETT_PLATFORM_COMPILER_FAMILYID, PLATFORM_COMPILER_FAMILYID);
  CHECK_EQ(GASNETT_PLATFORM_COMPILER_VERSION, PLATFORM_COMPILER_VERSION);
  const char args[] = GASNETT_CONFIGURE_ARGS;
  CHECK_CMP(sizeof args, >=, 1);
#ifdef __OPTIMIZE__
  CHECK_STR(gasnett_performance_warning_str(), "");
#else
  CHECK(strstr(gasnett_performance_warning_str(), "optimization") != NULL);
#endif
}

static size_t zeros_of(const unsigned char *p, size_t n) {
  size_t zeros = 0;
  for (size_t i = 0; i < n; i++) zeros += p[i] == 0;
  return zeros;
}

static void test_zeros(void) {
  unsigned char from[80], to[80];
  uint64_t state = test_seed();
  CHECK_EQ(gasnett_count0s_uint32_t(0), 4);
  CHECK_EQ(gasnett_count0s_uint32_t(0x01000080), 2);
  CHECK_EQ(gasnett_count0s_uint32_t(UINT32_MAX), 0);
  CHECK_EQ(gasnett_count0s_uint64_t(0), 8);
  CHECK_EQ(gasnett_count0s_uint64_t(UINT64_C(0x8000010000000010)), 5);
  CHECK_EQ(gasnett_count0s_uintptr_t(1), (int)sizeof(uintptr_t) - 1);
  for (size_t n = 0; n <= 64; n++)
    for (size_t shift = 0; shift < 8; shift++) {
      for (size_t i = 0; i < sizeof from; i++) from[i] = (unsigned char)(rng_next(&state) & 1);
      memset(to, 7, sizeof to);
      CHECK_EQ(gasnett_count0s(from + shift, n), zeros_of(from + shift, n));
      CHECK_EQ(gasnett_count0s_copy(to + 3, from + shift, n), zeros_of(from + shift, n));
      CHECK_CMP(memcmp(to + 3, from + shift, n), ==, 0);
      CHECK_EQ(to[3 + n], 7);
    }
}

static void test_checksum(void) {
  unsigned char data[64];
  for (int i = 0; i < 64; i++) data[i] = (unsigned char)(i * 7);
  const uint64_t sum = gasnett_checksum(data, 64);
  CHECK_EQ(gasnett_checksum(data, 64), sum);
  for (int bit = 0; bit < 512; bit++) {
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
    CHECK_CMP(gasnett_checksum(data, 64), !=, sum);
    data[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
  CHECK_EQ(gasnett_checksum("a", 1), (int64_t)UINT64_C(0xaf63dc4c8601ec8c)); /* FNV-1a's own test */
  CHECK_CMP(gasnett_checksum(data, 0), !=, gasnett_checksum(data, 1));
}

static void test_ctype(void) {
  for (int c = -128; c < 256; c++) {
    const int u = c == EOF ? EOF : (unsigned char)c;
    CHECK_EQ(!!gasnett_isalnum(c), !!isalnum(u));
    CHECK_EQ(!!gasnett_isalpha(c), !!isalpha(u));
    CHECK_EQ(!!gasnett_isblank(c), !!isblank(u));
    CHECK_EQ(!!gasnett_iscntrl(c), !!iscntrl(u));
    CHECK_EQ(!!gasnett_isdigit(c), !!isdigit(u));
    CHECK_EQ(!!gasnett_isgraph(c), !!isgraph(u));
    CHECK_EQ(!!gasnett_islower(c), !!islower(u));
    CHECK_EQ(!!gasnett_isprint(c), !!isprint(u));
    CHECK_EQ(!!gasnett_ispunct(c), !!ispunct(u));
    CHECK_EQ(!!gasnett_isspace(c), !!isspace(u));
    CHECK_EQ(!!gasnett_isupper(c), !!isupper(u));
    CHECK_EQ(!!gasnett_isxdigit(c), !!isxdigit(u));
    CHECK_EQ(gasnett_tolower(c), tolower(u));
    CHECK_EQ(gasnett_toupper(c), toupper(u));
    CHECK_EQ(!!gasnett_isascii(c), c >= 0 && c < 128);
    CHECK_EQ(gasnett_toascii(c), c & 0x7f);
  }
}

static void raise_limit(void) {
  const struct rlimit low = {64, 128};
  struct rlimit now;
  if (setrlimit(RLIMIT_NOFILE, &low) != 0) _exit(2);
  if (!gasnett_maximize_rlimit(RLIMIT_NOFILE, "RLIMIT_NOFILE")) _exit(3);
  getrlimit(RLIMIT_NOFILE, &now);
  if (now.rlim_cur < 128) _exit(4);
  if (!gasnett_maximize_rlimits()) _exit(5);
  _exit(11);
}

static void keep_limit(void) {
  const struct rlimit low = {64, 128};
  struct rlimit now;
  gasnett_setenv("GASNET_MAXIMIZE_RLIMIT_NOFILE", "0");
  if (setrlimit(RLIMIT_NOFILE, &low) != 0) _exit(2);
  if (!gasnett_maximize_rlimit(RLIMIT_NOFILE, "RLIMIT_NOFILE")) _exit(3);
  getrlimit(RLIMIT_NOFILE, &now);
  _exit(now.rlim_cur == 64 ? 11 : 4);
}

static void close_streams(void) {
  fputs("flushed", stderr);
  gasnett_flush_streams();
  gasnett_close_streams();
  _exit(fcntl(STDOUT_FILENO, F_GETFD) == -1 ? 11 : 3);
}

static void test_process(void) {
  CHECK_EQ(child_run(raise_limit).code, 11);
  CHECK_EQ(child_run(keep_limit).code, 11);
  const struct child_end end = child_run(close_streams);
  CHECK_EQ(end.code, 11);
  CHECK_STR(end.text, "flushed");
  gasnett_sched_yield();
}

static void my_stats(void (*print)(const char *fmt, ...)) {
  print("never %d", 1);
}

static void test_trace_stubs(void) {
  const char *file = "kept";
  unsigned line = 5;
  int evaluated = 0;
  CHECK_EQ(GASNETT_TRACE_ENABLED, 0);
  GASNETT_TRACE_PRINTF("%d", ++evaluated);
  GASNETT_TRACE_PRINTF_FORCE("%d", ++evaluated);
  GASNETT_STATS_PRINTF("%s", "x");
  GASNETT_STATS_PRINTF_FORCE("plain");
  CHECK_EQ(evaluated, 2);
  CHECK_STR(GASNETT_TRACE_GETMASK(), "");
  GASNETT_TRACE_SETMASK("^GP");
  CHECK_EQ(GASNETT_TRACE_GET_TRACELOCAL(), 0);
  GASNETT_TRACE_SET_TRACELOCAL(1);
  const int value = (GASNETT_TRACE_SETSOURCELINE(__FILE__, __LINE__), 7);
  CHECK_EQ(value, 7);
  /* Several in one comma expression: no compiler warns of that. */
  (void)(GASNETT_TRACE_SETSOURCELINE(NULL, 1), GASNETT_TRACE_SETSOURCELINE(__FILE__, 2),
         GASNETT_TRACE_GETSOURCELINE(&file, &line), value);
  value == 7 ? GASNETT_TRACE_FREEZESOURCELINE() : GASNETT_TRACE_UNFREEZESOURCELINE();
  GASNETT_TRACE_GETSOURCELINE(&file, &line);
  CHECK_STR(file, "kept");
  CHECK_EQ(line, 5);
  CHECK_STR(GASNETT_STATS_GETMASK(), "");
  GASNETT_STATS_SETMASK("G");
  CHECK_EQ(GASNETT_STATS_INIT(my_stats), 0);
  GASNETT_STATS_DUMP(1);
  gasnett_stats_callback_t none = gasnett_stats_callback;
  CHECK(none == NULL);
}

int main(void) {
  test_system();
  test_versions();
  test_zeros();
  test_checksum();
  test_ctype();
  test_process();
  test_trace_stubs();
  return check_done();
}
