/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small functions of the tools API: checksum, zero-byte counts, streams, limits, versions (API
 * reference 09, 11 and 12).
 *
 * Owns: nothing. Called by clients. Calls os and base.
 * The checksum is FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923), chosen because it does not
 * depend on the machine. Zero bytes are counted eight at a time: bit 7 of each byte of ~(((v &
 * 0x7f..) + 0x7f..) | v) is set iff the byte is 0.
 */
#define GASNETT_THREAD_SAFE 1

#include "base/container/hash.h"
#include "base/log.h"
#include "gasnet_tools.h"
#include "os/os.h"

#include <unistd.h>

uint64_t gasnett_checksum(const void *p, int numbytes) {
  if (numbytes < 0)
    tmb_fatal("gasnett_checksum(%p, %d): the number of bytes is negative", p, numbytes);
  return tmb_hash_bytes(TMB_HASH_START, p, (size_t)numbytes);
}

int gasnett_count0s_uint64_t(uint64_t value) {
  const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
  return __builtin_popcountll(~(((value & low7) + low7) | value | low7));
}

int gasnett_count0s_uint32_t(uint32_t value) {
  return gasnett_count0s_uint64_t(value) - 4;
}

int gasnett_count0s_uintptr_t(uintptr_t value) {
  return gasnett_count0s_uint64_t(value) - (int)(sizeof(uint64_t) - sizeof value);
}

size_t gasnett_count0s(const void *p, size_t n) {
  const unsigned char *bytes = p;
  size_t zeros = 0;
  for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    zeros += (size_t)gasnett_count0s_uint64_t(word);
  }
  for (; n > 0; n--) zeros += *bytes++ == 0;
  return zeros;
}

size_t gasnett_count0s_copy(void *restrict dst, const void *restrict src, size_t n) {
  memcpy(dst, src, n);
  return gasnett_count0s(dst, n);
}

void gasnett_sched_yield(void) {
  tmb_os_yield();
}

void gasnett_flush_streams(void) {
  tmb_flush_streams();
}

void gasnett_close_streams(void) {
  tmb_flush_streams();
  (void)fclose(stdin);
  (void)fclose(stdout);
  (void)fclose(stderr);
}

int gasnett_maximize_rlimits(void) {
  return tmb_os_maximize_rlimits();
}

int gasnett_maximize_rlimit(int res, const char *lim_desc) {
  return tmb_os_maximize_rlimit(res, lim_desc);
}

const char *gasnett_release_version_str(void) {
  return GEXX_TOOLS_RELEASE_STR;
}

uint64_t gasnett_release_version(void) {
  return (uint64_t)GASNETT_RELEASE_VERSION_MAJOR * 1000000 + GASNETT_RELEASE_VERSION_MINOR * 10000 +
         GASNETT_RELEASE_VERSION_PATCH;
}

/* --- system properties --- */

const char *gasnett_gethostname(void) {
  return tmb_os_hostname();
}

const char *gasneti_gethostname(void) {
  return tmb_os_hostname();
}

const char *gasnett_exe_name(void) {
  return tmb_os_exe_name();
}

int gasnett_cpu_count(void) {
  return tmb_os_cpus_usable();
}

uint64_t gasnett_getPhysMemSz(int failureIsFatal) {
  const uint64_t bytes = tmb_os_mem_total();
  if (bytes == 0 && failureIsFatal)
    tmb_fatal("gasnett_getPhysMemSz: the size of physical memory is unknown: is /proc mounted?");
  return bytes;
}

int gasnett_set_affinity(int rank) {
  return rank < 0 ? -1 : tmb_os_bind_cpu(rank);
}

const char *gexx_tools_performance_warning(int debug, int debugmalloc, int unoptimised) {
  static const char *const text[] = {
      "",
      "        debugging\n",
      "        debugging malloc\n",
      "        debugging\n        debugging malloc\n",
      "        disabled optimization\n",
      "        debugging\n        disabled optimization\n",
      "        debugging malloc\n        disabled optimization\n",
      "        debugging\n        debugging malloc\n        disabled optimization\n",
  };
  return text[(debug ? 1 : 0) | (debugmalloc ? 2 : 0) | (unoptimised ? 4 : 0)];
}
