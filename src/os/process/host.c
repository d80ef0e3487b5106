/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names and page size of the host and the process: see os.h.
 *
 * Owns: the cached hostname and executable name. Called by boot, core, api, tools. Calls: libc,
 * /proc. Invariants: a cached name never changes after pthread_once.
 */
#include "os/os.h"

#include "base/ascii.h"
#include "base/container/hash.h"
#include "os/sysfile.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static char hostname[256];
static char exe_name[PATH_MAX];

static void read_hostname(void) {
  if (gethostname(hostname, sizeof hostname - 1) != 0) hostname[0] = '\0';
  for (char *p = hostname; *p; p++) *p = (char)tmb_ascii_lower(*p);
}

static void read_exe_name(void) {
  const ssize_t n = readlink("/proc/self/exe", exe_name, sizeof exe_name - 1);
  exe_name[n > 0 && exe_name[0] == '/' ? n : 0] = '\0';
}

const char *tmb_os_hostname(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_hostname);
  return hostname;
}

bool tmb_os_is_this_host(const char *host) {
  return strcmp(host, "localhost") == 0 || tmb_ascii_same(host, tmb_os_hostname());
}

const char *tmb_os_exe_name(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_exe_name);
  return exe_name;
}

uint64_t tmb_os_kernel(void) {
  char text[64];
  if (tmb_sysfile_read("/proc/sys/kernel/random/boot_id", text, sizeof text) <= 0) return 0;
  return tmb_hash_text(TMB_HASH_START, text);
}

size_t tmb_os_page_size(void) {
  const long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? (size_t)bytes : 4096;
}
