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

/* Page upc_all_fopen: files that all threads of UPC use together.
 * [in] fd: an open file. [in] name: path of the file. [in] flags: UPC_RDONLY, UPC_WRONLY or
 * UPC_RDWR, with UPC_INDIVIDUAL_FP or UPC_COMMON_FP, and any of the others, joined by |.
 * [in] numhints: number of hints. [in] hints: hints, which are kept and change nothing.
 * [in] offset: in bytes. [in] origin: UPC_SEEK_SET, UPC_SEEK_CUR or UPC_SEEK_END. [in] size: in
 * bytes. [in] cmd: a command of upc_all_fcntl. [in,out] arg: of the command.
 * Completion: at return; data are on the disk after upc_all_fsync.
 * Threads: collective; all threads give equal arguments, but for offsets of individual
 * pointers.
 * Errors: the result is -1, of upc_all_fopen null, and errno says why.
 * Cost: that of the file system's calls; a barrier.
 * Names: UPC_RDONLY: read only; UPC_WRONLY: write only; UPC_RDWR: read and write;
 * UPC_INDIVIDUAL_FP: each thread has its own file pointer; UPC_COMMON_FP: all threads share one;
 * UPC_APPEND: the pointer begins at the end; UPC_CREATE: make the file if there is none;
 * UPC_EXCL: with UPC_CREATE, fail if there is one; UPC_STRONG_CA: strong consistency and
 * atomicity; UPC_TRUNC: begin with an empty file; UPC_DELETE_ON_CLOSE: remove the file at the
 * end; UPC_SEEK_SET: from the beginning of the file; UPC_SEEK_CUR: from the file pointer;
 * UPC_SEEK_END: from the end of the file; UPC_GET_CA_SEMANTICS: gives UPC_STRONG_CA or 0;
 * UPC_SET_WEAK_CA_SEMANTICS: switches UPC_STRONG_CA off; UPC_SET_STRONG_CA_SEMANTICS: switches
 * it on; UPC_GET_FP: gives UPC_COMMON_FP or UPC_INDIVIDUAL_FP; UPC_SET_COMMON_FP: from now on
 * all threads share the file pointer; UPC_SET_INDIVIDUAL_FP: from now on each thread has its
 * own; UPC_GET_FL: gives the flags; UPC_GET_FN: writes the name to arg, a const char **;
 * UPC_GET_HINTS: writes the hints to arg, a const upc_hint_t **, and gives their number;
 * UPC_SET_HINT: adds the hint arg, a const upc_hint_t *; UPC_ASYNC_OUTSTANDING: gives 1 if an
 * asynchronous operation is outstanding, else 0
 * See: upc_all_fread_local */
typedef int64_t upc_off_t;                  /* an offset in a file, or a number of bytes */
typedef shared struct upcr_file upc_file_t; /* an open file */

/* A hint for upc_all_fopen. */
typedef struct upc_hint {
  const char *key;
  const char *value;
} upc_hint_t;

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

/* Opens a file. Returns it. */
upc_file_t *upc_all_fopen(const char *name, int flags, size_t numhints,
                          struct upc_hint const *hints);
/* Closes a file. Returns 0. */
int upc_all_fclose(upc_file_t *fd);
/* Waits until what was written is on the disk. Returns 0. */
int upc_all_fsync(upc_file_t *fd);
/* Sets the file pointer. Returns its new place in bytes. */
upc_off_t upc_all_fseek(upc_file_t *fd, upc_off_t offset, int origin);
/* Makes the file size bytes long. Returns 0. */
int upc_all_fset_size(upc_file_t *fd, upc_off_t size);
/* Returns the length of the file. */
upc_off_t upc_all_fget_size(upc_file_t *fd);
/* Reserves size bytes on the disk. Returns 0. */
int upc_all_fpreallocate(upc_file_t *fd, upc_off_t size);
/* Asks for a property of an open file, or sets it, as the constants say. Returns what the command
 * gives, else 0. */
int upc_all_fcntl(upc_file_t *fd, int cmd, void *arg);

/* Page upc_all_fread_local: read and write files of UPC.
 * [in] fd: an open file. [in] buffer: memory of the data. [in] size: bytes of an element.
 * [in] nmemb: number of elements; 0 on a thread that takes no part. [in] blocksize: elements of
 * a block of the array at buffer; 0: all lie on one thread. [in] memvec_entries: number of
 * pieces of memory. [in] memvec: pieces of memory. [in] filevec_entries: number of pieces of the
 * file. [in] filevec: pieces of the file. [in] flags: UPC_IN_ and UPC_OUT_ values. [out] flag:
 * gets 1 if the operation is complete, else 0.
 * Completion: at return; of the forms with async by upc_all_fwait_async or upc_all_ftest_async.
 * At most one of these is outstanding on a file. The data are moved when it begins.
 * Threads: collective; with individual pointers and lists, threads give arguments of their own.
 * Errors: the result is -1, and errno says why; of the forms with async that of the wait. A
 * second outstanding operation ends the job with a message.
 * Cost: one call of the file system for each contiguous piece, by the thread whose piece it is.
 * Names: upc_all_f*_local: private memory, at the file pointer; upc_all_f*_shared: an array in
 * shared memory, at the file pointer; upc_all_f*_list_local: pieces of private memory and pieces
 * of the file; upc_all_f*_list_shared: pieces of shared memory and pieces of the file;
 * upc_all_f*_async: begins the operation of this name
 * See: upc_all_fopen, upc_op_t */
/* A piece of a file. */
typedef struct upc_filevec {
  upc_off_t offset; /* in bytes from the beginning */
  size_t len;       /* in bytes */
} upc_filevec_t;
/* A piece of private memory. */
typedef struct upc_local_memvec {
  void *baseaddr;
  size_t len; /* in bytes */
} upc_local_memvec_t;
/* A piece of an array in shared memory. */
typedef struct upc_shared_memvec {
  shared void *baseaddr;
  size_t blocksize; /* in bytes, 0: indefinite */
  size_t len;       /* in bytes */
} upc_shared_memvec_t;

#define UPC_ASYNC 64 /* flag: with the flags of a read or write, its form with async is meant */

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
/* Reads or writes. Returns the number of bytes. */
UPCR_TRANSFERS(upc_off_t, read, )
UPCR_TRANSFERS(upc_off_t, write, )
UPCR_TRANSFERS(void, read, _async)
UPCR_TRANSFERS(void, write, _async)
#undef UPCR_TRANSFERS

/* Waits for the outstanding operation. Returns its number of bytes. */
upc_off_t upc_all_fwait_async(upc_file_t *fd);
/* Tests the outstanding operation. Returns its number of bytes, if flag becomes 1. */
upc_off_t upc_all_ftest_async(upc_file_t *fd, int *flag);

#endif
