/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes of parallel I/O (UPC 1.3 library, <upc_io.h>).
 *
 * Called by UPC programs. Calls: the system's pread and pwrite, access.c for memory that is not
 * mapped here. Invariants: with the common file pointer every thread moves one part of the file's
 * range, whatever thread the memory is of, so that the system sees few large requests; a strong
 * operation through individual pointers holds a lock of the file (a weak one needs none, since data
 * are in the system's cache, or a file system's, when it returns). An asynchronous operation is
 * done when it is begun; its result is kept for the wait.
 */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 256 * 1024, DIRECT_BYTES = 16 * 1024 };

struct io_filevec {
  int64_t offset;
  size_t len;
};
struct io_local_memvec {
  void *address;
  size_t len;
};
struct io_shared_memvec {
  upcr_pts_t address;
  size_t block, len;
};

/* Memory: private, or shared with blocks of so many bytes (0: indefinite) from p's thread on. */
struct region {
  bool shared;
  char *local;
  upcr_pts_t p;
  size_t block;
};

/* Address of byte i of a shared region; *run: number of bytes that lie together there. */
static upcr_pts_t byte_at(const struct region *r, size_t i, size_t *run) {
  *run = SIZE_MAX;
  if (r->block == 0) return upcr_make(upcr_addrfield(r->p) + i, 0, (unsigned)upcr_threadof(r->p));
  const size_t block = i / r->block + (size_t)upcr_threadof(r->p), threads = (size_t)upcr_threads;
  *run = r->block - i % r->block;
  return upcr_make(upcr_addrfield(r->p) + block / threads * r->block + i % r->block, 0,
                   block % threads);
}

/* Copies between a buffer and the bytes from i on. */
static void copy(const struct region *r, size_t i, char *buffer, size_t n, bool write) {
  for (size_t done = 0, run; done < n; done += run) {
    const upcr_pts_t p = byte_at(r, i + done, &run);
    if (run > n - done) run = n - done;
    if (write)
      upc_memget(buffer + done, p, run);
    else
      upc_memput(p, buffer + done, run);
  }
}

/* One range of the file; fewer bytes than n at its end; -1 and errno. */
static int64_t request(int fd, char *at, size_t n, int64_t position, bool write) {
  size_t done = 0;
  while (done < n) {
    const off_t from = position + (int64_t)done;
    const ssize_t k =
        write ? pwrite(fd, at + done, n - done, from) : pread(fd, at + done, n - done, from);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return -1;
    if (k == 0) break;
    done += (size_t)k;
  }
  return (int64_t)done;
}

struct staged {
  char *buffer; /* null until it is needed */
  bool write;
};

/* Moves a part of a shared region, through a buffer. */
static int64_t by_buffer(const struct io_file *f, int64_t position, const struct region *r,
                         size_t first, size_t n, struct staged *s) {
  if (!s->buffer) s->buffer = malloc(BUFFER_BYTES);
  if (!s->buffer) rt_fatal("parallel I/O: out of memory [TMB-0001]");
  if (s->write) copy(r, first, s->buffer, n, true);
  const int64_t k = request(f->fd, s->buffer, n, position, s->write);
  if (!s->write && k > 0) copy(r, first, s->buffer, (size_t)k, false);
  return k;
}

/* Bytes first to first + count of the region, from or to the file. */
static int64_t move(struct io_file *f, int64_t position, const struct region *r, size_t first,
                    size_t count, bool write) {
  if (write && count) f->dirty = true;
  if (!r->shared) return request(f->fd, r->local + first, count, position, write);
  struct staged s = {.write = write};
  int64_t result = 0;
  for (size_t done = 0, n; done < count; done += n) {
    size_t run;
    const upcr_pts_t p = byte_at(r, first + done, &run);
    char *at = rt_mapped(p);
    const bool direct = at && (run >= DIRECT_BYTES || run >= count - done);
    n = direct ? run : BUFFER_BYTES;
    if (n > count - done) n = count - done;
    const int64_t from = position + (int64_t)done;
    const int64_t k =
        direct ? request(f->fd, at, n, from, write) : by_buffer(f, from, r, first + done, n, &s);
    result = k < 0 ? -1 : result + k;
    if (k < (int64_t)n) break;
  }
  const int error = errno;
  free(s.buffer);
  errno = error;
  return result;
}

/* ---- the order of operations */

static void lock(const struct io_file *f, int type) {
  struct flock l = {.l_type = (short)type, .l_whence = SEEK_SET};
  /* its holder may need this thread's memory */
  for (unsigned tries = 0;
       fcntl(f->fd, F_OFD_SETLK, &l) != 0 && (errno == EAGAIN || errno == EACCES); tries++)
    rt_pause(tries);
}

struct transfer {
  struct io_file *f;
  bool write;
  int flags;
};

static void begin(const struct transfer *t) {
  upcr_fence();
  rt_coll_enter(t->f->flags & IO_STRONG ? 0 : t->flags);
}

static int64_t end(const struct transfer *t, int64_t result) {
  const int error = errno;
  upcr_fence();
  rt_coll_leave(t->f->flags & IO_STRONG ? 0 : t->flags);
  errno = error;
  return result;
}

static void lock_strong(const struct transfer *t, bool take) {
  const int error = errno;
  if (t->f->flags & IO_STRONG) lock(t->f, !take ? F_UNLCK : t->write ? F_WRLCK : F_RDLCK);
  errno = error;
}

static int64_t invalid(void) {
  errno = EINVAL;
  return -1;
}

/* ---- through the file pointer */

/* Part of this thread in `total` bytes: whole pages of the file, but for the ends. */
static size_t part_begin(const struct io_file *f, size_t total, size_t thread) {
  const size_t page = 4096, skew = (size_t)f->position % page;
  const size_t pages = (total + skew) / page, threads = (size_t)upcr_threads;
  if (thread == 0) return 0;
  if (thread >= threads) return total;
  const size_t at = (pages / threads * thread + pages % threads * thread / threads) * page;
  return at < skew ? 0 : at - skew;
}

static int64_t by_common(const struct transfer *t, const struct region *r, size_t total) {
  struct io_file *f = t->f;
  const size_t from = part_begin(f, total, (size_t)upcr_mythread);
  const size_t to = part_begin(f, total, (size_t)upcr_mythread + 1);
  const int64_t moved = move(f, f->position + (int64_t)from, r, from, to - from, t->write);
  upcr_fence();
  return rt_io_sum(moved);
}

static int64_t by_pointer(const struct transfer *t, const struct region *r, size_t size,
                          size_t count) {
  struct io_file *f = t->f;
  size_t total;
  int64_t moved;
  if (__builtin_mul_overflow(size, count, &total) || total > INT64_MAX) return invalid();
  if (!r->shared && !(f->flags & IO_INDIVIDUAL)) return invalid();
  begin(t);
  if (f->flags & IO_COMMON) {
    moved = total ? by_common(t, r, total) : 0;
  } else {
    lock_strong(t, true);
    moved = move(f, f->position, r, 0, total, t->write);
    lock_strong(t, false);
  }
  if (moved > 0) f->position += moved;
  return end(t, moved);
}

/* ---- lists */

/* One list of memory: the pieces of either form. */
struct memory_list {
  const struct io_local_memvec *local;
  const struct io_shared_memvec *shared;
  size_t count;
};

static struct region item(const struct memory_list *m, size_t i, size_t *length) {
  *length = m->local ? m->local[i].len : m->shared[i].len;
  if (m->local) return (struct region){.local = m->local[i].address};
  return (struct region){.shared = true, .p = m->shared[i].address, .block = m->shared[i].block};
}

/* Whether the pieces are in the order of the file, and as long as the memory. An empty piece has no
 * bytes, so its offset is in no order. */
static bool valid_lists(const struct memory_list *m, size_t n, const struct io_filevec *v) {
  size_t in_memory = 0, in_file = 0, length;
  int64_t before = 0;
  for (size_t i = 0; i < m->count; i++) {
    item(m, i, &length);
    in_memory += length;
  }
  for (size_t i = 0; i < n; i++) {
    if (v[i].len == 0) continue;
    if (v[i].offset < before) return false;
    before = v[i].offset;
    in_file += v[i].len;
  }
  return in_memory == in_file;
}

static int64_t move_list(const struct transfer *t, const struct memory_list *m, size_t n,
                         const struct io_filevec *v) {
  int64_t moved = 0;
  size_t i = 0, at = 0, length = 0; /* of the memory: the next item, done of this one */
  struct region r = {0};
  for (size_t k = 0; k < n; k++)
    for (size_t done = 0, bytes; done < v[k].len; done += bytes, at += bytes) {
      while (at == length) {
        r = item(m, i++, &length);
        at = 0;
      }
      bytes = v[k].len - done < length - at ? v[k].len - done : length - at;
      const int64_t got = move(t->f, v[k].offset + (int64_t)done, &r, at, bytes, t->write);
      if (got < 0) return -1;
      moved += got;
      if (got < (int64_t)bytes) return moved;
    }
  return moved;
}

static int64_t by_list(const struct transfer *t, const struct memory_list *m, size_t n,
                       const struct io_filevec *v) {
  begin(t);
  if (!valid_lists(m, n, v)) return end(t, invalid());
  lock_strong(t, true);
  const int64_t moved = move_list(t, m, n, v);
  lock_strong(t, false);
  return end(t, moved);
}

/* ---- asynchronous operations */

RT_EXPORT int64_t upc_all_fwait_async(upcr_pts_t handle);
RT_EXPORT int64_t upc_all_ftest_async(upcr_pts_t handle, int *flag);

int64_t upc_all_fwait_async(upcr_pts_t handle) {
  struct io_file *f = rt_io_file(handle, "upc_all_fwait_async");
  if (!f->outstanding) return invalid();
  f->outstanding = false;
  errno = f->error;
  return f->result;
}

int64_t upc_all_ftest_async(upcr_pts_t handle, int *flag) {
  const int64_t result = upc_all_fwait_async(handle);
  if (flag) *flag = 1;
  return result;
}

static int64_t keep(struct io_file *f, int64_t result) {
  f->outstanding = true;
  f->result = result;
  f->error = errno;
  return 0;
}

/* ---- the functions; W: write */

#define RUN(NAME, W, CALL)                                             \
 struct transfer t = {rt_io_file(handle, NAME), W, flags & ~IO_ASYNC}; \
 if (t.f->outstanding) {                                               \
  errno = EBUSY;                                                       \
  return -1;                                                           \
 }                                                                     \
 const int64_t result = CALL;                                          \
 return flags & IO_ASYNC ? keep(t.f, result) : result;

/* A function and its _async form, which has the flag. */
#define FUNCTION(NAME, W, PARAMS, ARGS, CALL)                                             \
 RT_EXPORT int64_t NAME PARAMS;                                                           \
 RT_EXPORT void NAME##_async PARAMS;                                                      \
 int64_t NAME PARAMS {                                                                    \
  RUN(#NAME, W, CALL)                                                                     \
 }                                                                                        \
 void NAME##_async PARAMS {                                                               \
  flags |= IO_ASYNC;                                                                      \
  if (NAME ARGS != 0)                                                                     \
   rt_fatal("%s_async: another operation on this file is outstanding [TMB-2112]", #NAME); \
 }

#define LOCAL  (&(struct region){.local = buffer})
#define SHARED (&(struct region){.shared = true, .p = upcr_nophase(buffer), .block = block * size})
#define FUNCTIONS(DIRECTION, W)                                                                  \
 FUNCTION(upc_all_f##DIRECTION##_local, W,                                                       \
          (upcr_pts_t handle, void *buffer, size_t size, size_t count, int flags),               \
          (handle, buffer, size, count, flags), by_pointer(&t, LOCAL, size, count))              \
 FUNCTION(                                                                                       \
     upc_all_f##DIRECTION##_shared, W,                                                           \
     (upcr_pts_t handle, upcr_pts_t buffer, size_t block, size_t size, size_t count, int flags), \
     (handle, buffer, block, size, count, flags), by_pointer(&t, SHARED, size, count))           \
 FUNCTION(upc_all_f##DIRECTION##_list_local, W,                                                  \
          (upcr_pts_t handle, size_t m, const struct io_local_memvec *memory, size_t n,          \
           const struct io_filevec *v, int flags),                                               \
          (handle, m, memory, n, v, flags),                                                      \
          by_list(&t, (&(struct memory_list){.local = memory, .count = m}), n, v))               \
 FUNCTION(upc_all_f##DIRECTION##_list_shared, W,                                                 \
          (upcr_pts_t handle, size_t m, const struct io_shared_memvec *memory, size_t n,         \
           const struct io_filevec *v, int flags),                                               \
          (handle, m, memory, n, v, flags),                                                      \
          by_list(&t, (&(struct memory_list){.shared = memory, .count = m}), n, v))

FUNCTIONS(read, false)
FUNCTIONS(write, true)
