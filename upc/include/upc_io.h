/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * <upc_io.h>: files that all threads read and write together (UPC 1.3 library, parallel I/O).
 *
 * Included by UPC programs. Functions: libtombolo-upc. All are collective, also the _async ones;
 * arguments are the same on all threads, save for what is read and written through individual file
 * pointers and lists. Errors: -1 (null of upc_all_fopen) and errno.
 */
#ifndef UPC_IO_H
#define UPC_IO_H

#include <stddef.h>
#include <stdint.h>
#include <upc_types.h>

typedef int64_t upc_off_t;
typedef shared struct upcr_file upc_file_t;

struct upc_hint {
  const char *key;
  const char *value;
};
struct upc_filevec {
  upc_off_t offset;
  size_t len;
};
struct upc_local_memvec {
  void *baseaddr;
  size_t len;
};
struct upc_shared_memvec {
  shared void *baseaddr;
  size_t blocksize; /* in bytes, 0: indefinite */
  size_t len;
};
typedef struct upc_hint upc_hint_t;
typedef struct upc_filevec upc_filevec_t;
typedef struct upc_local_memvec upc_local_memvec_t;
typedef struct upc_shared_memvec upc_shared_memvec_t;

/* ---- upc_all_fopen: one of the first three, one of the next two, any of the others */
#define UPC_RDONLY                  0x001
#define UPC_WRONLY                  0x002
#define UPC_RDWR                    0x004
#define UPC_INDIVIDUAL_FP           0x008
#define UPC_COMMON_FP               0x010
#define UPC_APPEND                  0x020
#define UPC_CREATE                  0x040
#define UPC_EXCL                    0x080
#define UPC_STRONG_CA               0x100
#define UPC_TRUNC                   0x200
#define UPC_DELETE_ON_CLOSE         0x400

#define UPC_SEEK_SET                0
#define UPC_SEEK_CUR                1
#define UPC_SEEK_END                2

/* ---- upc_all_fcntl */
#define UPC_GET_CA_SEMANTICS        1
#define UPC_SET_WEAK_CA_SEMANTICS   2
#define UPC_SET_STRONG_CA_SEMANTICS 3
#define UPC_GET_FP                  4
#define UPC_SET_COMMON_FP           5
#define UPC_SET_INDIVIDUAL_FP       6
#define UPC_GET_FL                  7
#define UPC_GET_FN                  8
#define UPC_GET_HINTS               9
#define UPC_SET_HINT                10
#define UPC_ASYNC_OUTSTANDING       11

/* With the flags of a read or write: as its _async form. */
#define UPC_ASYNC                   64

upc_file_t *upc_all_fopen(const char *name, int flags, size_t numhints,
                          struct upc_hint const *hints);
int upc_all_fclose(upc_file_t *fd);
int upc_all_fsync(upc_file_t *fd);
upc_off_t upc_all_fseek(upc_file_t *fd, upc_off_t offset, int origin);
int upc_all_fset_size(upc_file_t *fd, upc_off_t size);
upc_off_t upc_all_fget_size(upc_file_t *fd);
int upc_all_fpreallocate(upc_file_t *fd, upc_off_t size);
int upc_all_fcntl(upc_file_t *fd, int cmd, void *arg);

/* RESULT: upc_off_t or void; DIRECTION: read or write. */
#define UPCR_TRANSFERS(RESULT, DIRECTION, SUFFIX)                                          \
 RESULT upc_all_f##DIRECTION##_local##SUFFIX(upc_file_t *fd, void *buffer, size_t size,    \
                                             size_t nmemb, upc_flag_t flags);              \
 RESULT upc_all_f##DIRECTION##_shared##SUFFIX(upc_file_t *fd, shared void *buffer,         \
                                              size_t blocksize, size_t size, size_t nmemb, \
                                              upc_flag_t flags);                           \
 RESULT upc_all_f##DIRECTION##_list_local##SUFFIX(                                         \
     upc_file_t *fd, size_t memvec_entries, struct upc_local_memvec const *memvec,         \
     size_t filevec_entries, struct upc_filevec const *filevec, upc_flag_t flags);         \
 RESULT upc_all_f##DIRECTION##_list_shared##SUFFIX(                                        \
     upc_file_t *fd, size_t memvec_entries, struct upc_shared_memvec const *memvec,        \
     size_t filevec_entries, struct upc_filevec const *filevec, upc_flag_t flags);
UPCR_TRANSFERS(upc_off_t, read, )
UPCR_TRANSFERS(upc_off_t, write, )
UPCR_TRANSFERS(void, read, _async)
UPCR_TRANSFERS(void, write, _async)
#undef UPCR_TRANSFERS

upc_off_t upc_all_fwait_async(upc_file_t *fd);
upc_off_t upc_all_ftest_async(upc_file_t *fd, int *flag);

#endif
