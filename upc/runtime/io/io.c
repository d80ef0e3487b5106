/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of parallel I/O (UPC 1.3 library, <upc_io.h>): open, close, size, pointer, settings.
 *
 * Owns: the table of files. Called by UPC programs and io_move.c. Calls: the system's files,
 * collectives of the library. Invariants: thread 0 creates, truncates and resizes, the others come
 * after; the result of a function is equal on all threads, save for an individual file pointer.
 */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

RT_EXPORT upcr_pts_t upc_all_fopen(const char *name, int flags, size_t hint_count,
                                   const struct io_hint *hints);
RT_EXPORT int upc_all_fclose(upcr_pts_t handle);
RT_EXPORT int upc_all_fsync(upcr_pts_t handle);
RT_EXPORT int64_t upc_all_fseek(upcr_pts_t handle, int64_t offset, int origin);
RT_EXPORT int upc_all_fset_size(upcr_pts_t handle, int64_t size);
RT_EXPORT int64_t upc_all_fget_size(upcr_pts_t handle);
RT_EXPORT int upc_all_fpreallocate(upcr_pts_t handle, int64_t size);
RT_EXPORT int upc_all_fcntl(upcr_pts_t handle, int command, void *arg);

enum {
  GET_CA = 1,
  SET_WEAK_CA,
  SET_STRONG_CA,
  GET_FP,
  SET_COMMON_FP,
  SET_INDIVIDUAL_FP,
  GET_FL,
  GET_FN,
  GET_HINTS,
  SET_HINT,
  OUTSTANDING
};

/* files[i] is null where number i is free. */
static struct {
  struct io_file **files;
  size_t room;
} table;

struct io_file *rt_io_file(upcr_pts_t handle, const char *function) {
  const uint64_t i = upcr_addrfield(handle) / 8;
  if (i < 1 || i > table.room || !table.files[i - 1])
    rt_fatal("%s: this is no open file (offset %lu) [TMB-2111]", function, upcr_addrfield(handle));
  return table.files[i - 1];
}

static uint64_t add_file(struct io_file *f) {
  size_t i = 0;
  while (i < table.room && table.files[i]) i++;
  if (i == table.room) {
    const size_t room = table.room ? 2 * table.room : 16;
    struct io_file **files = realloc(table.files, room * sizeof(struct io_file *));
    if (!files) rt_fatal("upc_all_fopen: out of memory for %zu files [TMB-0001]", room);
    memset(files + table.room, 0, (room - table.room) * sizeof(struct io_file *));
    table.files = files;
    table.room = room;
  }
  table.files[i] = f;
  return 8 * (i + 1);
}

static void all_threads(void) {
  upcr_fence();
  gex_Event_Wait(gex_Coll_BarrierNB(rt.tm, 0));
  upcr_fence();
}

/* A value and errno of thread 0, on all. */
static int64_t from_root(int64_t value) {
  int64_t pair[2] = {value, errno};
  gex_Event_Wait(gex_Coll_BroadcastNB(rt.tm, 0, pair, pair, sizeof pair, 0));
  if (pair[0] < 0) errno = (int)pair[1];
  return pair[0];
}

int64_t rt_io_sum(int64_t value) {
  /* The errors are counted beside; the greatest errno is reported. */
  int64_t sum[2] = {value < 0 ? 0 : value, value < 0}, all[2], error = value < 0 ? errno : 0, top;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(rt.tm, all, sum, GEX_DT_I64, sizeof sum[0], 2, GEX_OP_ADD,
                                        NULL, NULL, 0));
  if (all[1] == 0) return all[0];
  gex_Event_Wait(gex_Coll_ReduceToAllNB(rt.tm, &top, &error, GEX_DT_I64, sizeof error, 1,
                                        GEX_OP_MAX, NULL, NULL, 0));
  errno = (int)top;
  return -1;
}

/* ---- open and close */

static bool one_of(int flags, int choices) {
  const int chosen = flags & choices;
  return chosen && !(chosen & (chosen - 1));
}

static int system_flags(int flags, bool first) {
  int f = O_CLOEXEC;
  f |= flags & IO_RDONLY ? O_RDONLY : flags & IO_WRONLY ? O_WRONLY : O_RDWR;
  if (first && flags & IO_CREATE) f |= O_CREAT;
  if (first && flags & IO_EXCL) f |= O_EXCL;
  return f;
}

static int open_here(const char *name, int flags, bool first) {
  const int fd = open(name, system_flags(flags, first), 0666);
  if (fd >= 0 && first && flags & IO_TRUNC && ftruncate(fd, 0) != 0) {
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

/* Descriptor of this thread; -1 on all threads where one cannot open the file. */
static int open_together(const char *name, int flags) {
  const bool valid =
      one_of(flags, IO_RDONLY | IO_WRONLY | IO_RDWR) && one_of(flags, IO_INDIVIDUAL | IO_COMMON) &&
      !(flags & IO_EXCL && !(flags & IO_CREATE)) && !(flags & IO_TRUNC && flags & IO_RDONLY);
  if (!valid || !name) {
    errno = EINVAL;
    return -1;
  }
  int fd = upcr_mythread == 0 ? open_here(name, flags, true) : -1;
  if (from_root(fd) < 0) return -1;
  if (upcr_mythread != 0) fd = open_here(name, flags, false);
  if (rt_io_sum(fd < 0 ? -1 : 0) == 0) return fd;
  const int error = errno;
  if (fd >= 0) close(fd);
  errno = error;
  return -1;
}

static char *copied(const char *text) {
  char *copy = strdup(text ? text : "");
  if (!copy) rt_fatal("parallel I/O: out of memory [TMB-0001]");
  return copy;
}

static void set_hint(struct io_file *f, const struct io_hint *hint) {
  size_t i = 0;
  while (i < f->hint_count && strcmp(f->hints[i].key, hint->key ? hint->key : "") != 0) i++;
  if (i == f->hint_count) {
    struct io_hint *hints = realloc(f->hints, (i + 1) * sizeof *hints);
    if (!hints) rt_fatal("parallel I/O: out of memory for %zu hints [TMB-0001]", i + 1);
    hints[i] = (struct io_hint){copied(hint->key), NULL};
    f->hints = hints;
    f->hint_count = i + 1;
  }
  free((void *)(uintptr_t)f->hints[i].value);
  f->hints[i].value = copied(hint->value);
}

upcr_pts_t upc_all_fopen(const char *name, int flags, size_t hint_count,
                         const struct io_hint *hints) {
  const int fd = open_together(name, flags);
  if (fd < 0) return 0;
  struct io_file *f = calloc(1, sizeof *f);
  if (!f) rt_fatal("upc_all_fopen: out of memory [TMB-0001]");
  f->fd = fd;
  f->flags = flags;
  f->name = copied(name);
  for (size_t i = 0; hints && i < hint_count; i++) set_hint(f, &hints[i]);
  const uint64_t number = add_file(f);
  if (flags & IO_APPEND) {
    const int64_t size = upcr_mythread == 0 ? lseek(fd, 0, SEEK_END) : 0;
    f->position = from_root(size);
    if (f->position < 0) f->position = 0;
  }
  return upcr_make(number, 0, 0);
}

int upc_all_fclose(upcr_pts_t handle) {
  struct io_file *f = rt_io_file(handle, "upc_all_fclose");
  errno = EBUSY; /* the file stays open, so that the operation can be waited for */
  if (rt_io_sum(f->outstanding ? -1 : 0) < 0) return -1;
  int result = upc_all_fsync(handle);
  const int error = errno;
  if (upcr_mythread == 0 && f->flags & IO_DELETE) unlink(f->name);
  close(f->fd);
  free(f->name);
  for (size_t i = 0; i < f->hint_count; i++) {
    free((void *)(uintptr_t)f->hints[i].key);
    free((void *)(uintptr_t)f->hints[i].value);
  }
  free(f->hints);
  free(f);
  table.files[upcr_addrfield(handle) / 8 - 1] = NULL;
  all_threads();
  if (result != 0) errno = error;
  return result;
}

int upc_all_fsync(upcr_pts_t handle) {
  struct io_file *f = rt_io_file(handle, "upc_all_fsync");
  upcr_fence();
  int result = 0;
  if (f->dirty && !(f->flags & IO_DELETE)) {
    result = fdatasync(f->fd);
    if (result != 0 && errno == EINVAL) result = 0; /* not a file on a disk */
  }
  f->dirty = false;
  return (int)rt_io_sum(result);
}

/* ---- size and pointer */

static int64_t size_of(const struct io_file *f) {
  struct stat s;
  return fstat(f->fd, &s) == 0 ? s.st_size : -1;
}

int64_t upc_all_fget_size(upcr_pts_t handle) {
  const struct io_file *f = rt_io_file(handle, "upc_all_fget_size");
  all_threads();
  return from_root(upcr_mythread == 0 ? size_of(f) : 0);
}

int64_t upc_all_fseek(upcr_pts_t handle, int64_t offset, int origin) {
  struct io_file *f = rt_io_file(handle, "upc_all_fseek");
  int64_t base = 0;
  if (f->outstanding) origin = -1;
  if (origin == 1) base = f->position;
  if (origin == 2) base = upc_all_fget_size(handle);
  int64_t to;
  if (origin < 0 || origin > 2 || base < 0 || __builtin_add_overflow(base, offset, &to) || to < 0) {
    errno = EINVAL;
    return -1;
  }
  return f->position = to;
}

int upc_all_fset_size(upcr_pts_t handle, int64_t size) {
  const struct io_file *f = rt_io_file(handle, "upc_all_fset_size");
  all_threads();
  return (int)from_root(upcr_mythread == 0 ? ftruncate(f->fd, size) : 0);
}

int upc_all_fpreallocate(upcr_pts_t handle, int64_t size) {
  const struct io_file *f = rt_io_file(handle, "upc_all_fpreallocate");
  all_threads();
  int error = 0;
  if (upcr_mythread == 0 && size > 0) error = posix_fallocate(f->fd, 0, size);
  if (size < 0) error = EINVAL;
  errno = error;
  return (int)from_root(error ? -1 : 0);
}

/* ---- settings */

static int change(upcr_pts_t handle, int clear, int set, bool seek) {
  struct io_file *f = rt_io_file(handle, "upc_all_fcntl");
  if (upc_all_fsync(handle) != 0) return -1;
  f->flags = (f->flags & ~clear) | set;
  if (seek) f->position = 0;
  return 0;
}

int upc_all_fcntl(upcr_pts_t handle, int command, void *arg) {
  struct io_file *f = rt_io_file(handle, "upc_all_fcntl");
  switch (command) {
  case GET_CA: return f->flags & IO_STRONG;
  case SET_WEAK_CA: return change(handle, IO_STRONG, 0, false);
  case SET_STRONG_CA: return change(handle, 0, IO_STRONG, false);
  case GET_FP: return f->flags & (IO_COMMON | IO_INDIVIDUAL);
  case SET_COMMON_FP: return change(handle, IO_INDIVIDUAL, IO_COMMON, true);
  case SET_INDIVIDUAL_FP: return change(handle, IO_COMMON, IO_INDIVIDUAL, true);
  case GET_FL: return f->flags;
  case OUTSTANDING: return f->outstanding;
  default: break;
  }
  if (!arg || command < GET_FN || command > SET_HINT) {
    errno = EINVAL;
    return -1;
  }
  if (command == GET_FN) {
    *(const char **)arg = f->name;
    return 0;
  }
  if (command == SET_HINT) {
    set_hint(f, arg);
    return 0;
  }
  *(const struct io_hint **)arg = f->hints;
  return (int)f->hint_count;
}
