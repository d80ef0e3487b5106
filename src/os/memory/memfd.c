/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anonymous shared memory: memfd_create, or where the kernel refuses it an unlinked temporary file.
 *
 * Owns: no state. Called by boot and near at set-up. Calls: base/config, base/log, base/fmt,
 * libc. Invariants: the fallback file never has a name (O_TMPFILE), or loses it before
 * tmb_memfd_create returns (mkostemp, unlink); SIGXFSZ, which ftruncate raises beyond RLIMIT_FSIZE,
 * is taken from the queue of this thread and never reaches the client. A memfd lives in a file
 * system of the kernel's that has no size: f_blocks is 0.
 */
#define _GNU_SOURCE
#include "os/memory/memfd.h"

#include "base/config.h"
#include "base/error.h"
#include "base/fmt.h"
#include "base/log.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
# define MFD_NOEXEC_SEAL 0x0008U
#endif

#define PATH_BYTES    512
/* Most bytes that are allocated when a size is set. The kernel clears them, and others lack them: a
 * segment that is as large as the memory would take it all, though few of its pages are touched. */
#define RESERVED_MOST (UINT64_C(256) << 20)

/* memfd_create, also where a system-wide rule wants such memory never to be executable. */
static int kernel_memfd(const char *name) {
  int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0 && errno == EACCES) fd = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
  return fd;
}

/* A file without a name in `dir`; -1 with errno if that is not possible there. */
static int nameless_file(const char *dir, const char *name) {
  int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  char path[PATH_BYTES];
  if (snprintf(path, sizeof path, "%s/%s.XXXXXX", dir, name) >= (int)sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  sigset_t all, before; /* no signal may end us between creation and unlink */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  fd = mkostemp(path, O_CLOEXEC);
  if (fd >= 0) unlink(path);
  const int err = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = err;
  return fd;
}

/* Appends ", place: reason" to the list of failures in `tried`. */
static void record_failure(char *tried, size_t tried_bytes, const char *place) {
  const size_t used = strlen(tried);
  snprintf(tried + used, tried_bytes - used, "%s%s: %s", used ? ", " : "", place, strerror(errno));
}

int tmb_memfd_create(const char *name, bool avoid_memfd) {
  char tried[TMB_MEMFD_WHY_BYTES * 2] = "";
  int full = 0; /* why no more files can be open */
  if (!avoid_memfd) {
    const int fd = kernel_memfd(name);
    if (fd >= 0) return fd;
    full = errno == EMFILE || errno == ENFILE ? errno : 0;
    record_failure(tried, sizeof tried, "memfd_create");
  }
  const char *dirs[] = {tmb_env_get("GASNET_TMPDIR"), tmb_env_get("TMPDIR"), "/dev/shm", "/tmp",
                        "/var/tmp"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(dirs) && !full; i++) {
    if (!dirs[i] || !*dirs[i]) continue;
    const int fd = nameless_file(dirs[i], name);
    if (fd >= 0) return fd;
    full = errno == EMFILE || errno == ENFILE ? errno : 0;
    record_failure(tried, sizeof tried, dirs[i]);
  }
  tmb_print("cannot create shared memory (%s); %s", tried,
            full ? tmb_error_fd_remedy(full)
                 : "set GASNET_TMPDIR to a directory that can be written");
  return TMB_E_SYS;
}

/* ftruncate that reports EFBIG instead of letting SIGXFSZ end the process. Returns 0 or an errno.
 */
static int truncate_quietly(int fd, off_t bytes) {
  sigset_t xfsz, before, pending;
  sigemptyset(&xfsz);
  sigaddset(&xfsz, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &xfsz, &before);
  sigpending(&pending);
  int err = 0;
  while (ftruncate(fd, bytes) != 0) {
    err = errno;
    if (err != EINTR) break;
    err = 0;
  }
  if (err == EFBIG && !sigismember(&pending, SIGXFSZ)) {
    const struct timespec now = {0, 0};
    sigtimedwait(&xfsz, NULL, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return err;
}

uint64_t tmb_memfd_space(int fd) {
  struct statfs fs;
  struct stat st;
  if (fstatfs(fd, &fs) != 0 || fs.f_blocks == 0 || fstat(fd, &st) != 0) return UINT64_MAX;
  return (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize + (uint64_t)st.st_blocks * 512;
}

/* Makes sure that every byte can be touched, as far as the space tells. Returns 0 or an errno. */
static int reserve(int fd, uint64_t bytes) {
  const uint64_t space = tmb_memfd_space(fd);
  if (space == UINT64_MAX || bytes == 0) return 0;
  int err = space < bytes ? ENOSPC : 0;
  while (!err && bytes <= RESERVED_MOST && fallocate(fd, 0, 0, (off_t)bytes) != 0)
    if (errno != EINTR) err = errno;
  /* Without fallocate the space available was compared above, which must do. */
  return err == EOPNOTSUPP || err == ENOSYS ? 0 : err;
}

/* The folder in which the object was made, as "/dev/shm"; "?" if unknown. */
static const char *folder_of(int fd, char *path, size_t path_bytes) {
  char link[48];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, path_bytes - 1);
  path[length > 0 ? length : 0] = '\0';
  char *slash = strrchr(path, '/');
  if (!slash || slash == path) return "?";
  *slash = '\0';
  return path;
}

static int explain_full(int fd, const char *asked, char *why, size_t why_bytes) {
  char free_text[TMB_FMT_BYTES], path[128];
  tmb_fmt_bytes(tmb_memfd_space(fd), free_text, sizeof free_text);
  snprintf(
      why, why_bytes,
      "%s of shared memory asked for, but the file system of %s has %s left, and "
      "memfd_create, which needs none, is not available; ask for less, or set GASNET_TMPDIR to "
      "a folder with more space",
      asked, folder_of(fd, path, sizeof path), free_text);
  return TMB_E_LIMIT;
}

/* Says why a size was refused. Returns the code that fits. */
static int explain(int fd, int err, uint64_t bytes, char *why, size_t why_bytes) {
  char asked[TMB_FMT_BYTES], limit_text[TMB_FMT_BYTES];
  tmb_fmt_bytes(bytes, asked, sizeof asked);
  if (err == ENOSPC && tmb_memfd_space(fd) != UINT64_MAX)
    return explain_full(fd, asked, why, why_bytes);
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &limit);
  if (err == EFBIG && limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    tmb_fmt_bytes(limit.rlim_cur, limit_text, sizeof limit_text);
    snprintf(why, why_bytes,
             "%s of shared memory asked for, but the file size limit (ulimit -f) is %s; raise it "
             "with 'ulimit -f unlimited' or ask for less",
             asked, limit_text);
    return TMB_E_LIMIT;
  }
  if (err == ENOSPC || err == EDQUOT || err == EFBIG || err == EINVAL || err == ENOMEM) {
    snprintf(why, why_bytes,
             "%s of shared memory asked for, which the system refuses (%s); ask for less, or free "
             "memory or space",
             asked, strerror(err));
    return TMB_E_LIMIT;
  }
  snprintf(why, why_bytes, "cannot set shared memory to %s: %s", asked, strerror(err));
  return TMB_E_SYS;
}

int tmb_memfd_resize(int fd, uint64_t bytes, char *why, size_t why_bytes) {
  const int64_t before = tmb_memfd_bytes(fd);
  int err = bytes > INT64_MAX ? EFBIG : truncate_quietly(fd, (off_t)bytes);
  if (!err) {
    err = reserve(fd, bytes);
    if (err) (void)truncate_quietly(fd, before);
  }
  if (err) return explain(fd, err, bytes, why, why_bytes);
  return TMB_OK;
}

int64_t tmb_memfd_bytes(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 ? (int64_t)st.st_size : TMB_E_SYS;
}

int tmb_memfd_cloexec(int fd, bool on) {
  const int flags = fcntl(fd, F_GETFD);
  if (flags < 0) return TMB_E_SYS;
  const int wanted = on ? flags | FD_CLOEXEC : flags & ~FD_CLOEXEC;
  return fcntl(fd, F_SETFD, wanted) == 0 ? TMB_OK : TMB_E_SYS;
}
