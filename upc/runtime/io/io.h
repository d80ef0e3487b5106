/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * io.h: common declarations of the files of parallel I/O.
 *
 * Included by io.c (files) and io_move.c (reads and writes). Invariants: a file of a program is a
 * number, equal on all threads, since files are opened by all together; each thread has a
 * descriptor of its own, and its own copy of the common file pointer, which all move alike.
 */
#ifndef UPCR_IO_H
#define UPCR_IO_H

#include "coll/coll.h"

/* As in <upc_io.h>. */
enum {
  IO_RDONLY = 0x001,
  IO_WRONLY = 0x002,
  IO_RDWR = 0x004,
  IO_INDIVIDUAL = 0x008,
  IO_COMMON = 0x010,
  IO_APPEND = 0x020,
  IO_CREATE = 0x040,
  IO_EXCL = 0x080,
  IO_STRONG = 0x100,
  IO_TRUNC = 0x200,
  IO_DELETE = 0x400,
  IO_ASYNC = 64, /* of a transfer's flags */
};

struct io_hint {
  const char *key, *value;
};

struct io_file {
  int fd, flags;
  int64_t position; /* of the file pointer */
  char *name;
  struct io_hint *hints;
  size_t hint_count;
  bool dirty;       /* this thread wrote since the last fsync */
  bool outstanding; /* an asynchronous operation was begun and not waited for */
  int64_t result;   /* its result */
  int error;        /* and errno */
};

/* The file of a handle; ends the job where there is none. */
struct io_file *rt_io_file(upcr_pts_t handle, const char *function);
/* Sum over the threads; -1 and one errno on all where one gives -1 (with errno). */
int64_t rt_io_sum(int64_t value);

#endif
