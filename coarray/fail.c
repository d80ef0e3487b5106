/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of a statement: where their text and their code go, and the checks of image numbers and
 * addresses that most statements share.
 *
 * Owns nothing. Called by every file of coarray/ and by PRIF. Calls: flush.c, name.c, gasnet_exit.
 * Invariants: a statement with STAT= goes on, any other one ends all images; no text is written
 * outside of ERRMSG=.
 */
#include "inside.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void caf_print(const char *head, const char *text, size_t len) {
  struct iovec part[3] = {
      {(void *)(uintptr_t)head, strlen(head)}, {(void *)(uintptr_t)text, len}, {"\n", 1}};
  fflush(stderr);
  if (writev(STDERR_FILENO, part, 3) < 0) return; /* STAT= has no other place */
}

/* Whether there is memory for a text, see caf_collective_status: the kernel copies its first and
 * last byte onto themselves, and fails where there is none. Where that call is forbidden, the
 * answer is yes. */
static bool writable(char *text, size_t len) {
  char ends[2];
  struct iovec here[2] = {{text, 1}, {text + len - 1, 1}}, copy = {ends, sizeof ends};
  const pid_t me = getpid();
  const ssize_t bytes = process_vm_readv(me, &copy, 1, here, 2, 0);
  if (bytes < 0) return errno != EFAULT;
  return bytes == (ssize_t)sizeof ends && process_vm_writev(me, &copy, 1, here, 2, 0) == bytes;
}

void caf_fail(const struct caf_status *to, int code, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (!to->stat) {
    char head[40];
    snprintf(head, sizeof head, "Error on image %u: ", caf.rank + 1);
    caf_print(head, text, strlen(text));
    caf_error_stop(code);
  }
  *to->stat = code;
  char *number = strstr(text, " [TMB-");
  if (number) *number = '\0'; /* a variable is short, and its text is the program's own */
  if (!to->errmsg || to->errmsg_len == 0) return;
  if (!writable(to->errmsg, to->errmsg_len)) return;
  const size_t len = strlen(text) < to->errmsg_len ? strlen(text) : to->errmsg_len;
  memset(to->errmsg, ' ', to->errmsg_len);
  memcpy(to->errmsg, text, len);
}

void caf_refuse(const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  caf_print("coarray: ", text, strlen(text));
}

void caf_error_stop(int code) {
  (void)caf_go_inside(); /* to its end */
  caf_flush_all();
  gexx_Job_SetFailurePolicy(GEXX_FAILURE_ABORT);
  gasnet_exit(code ? code : 1);
  abort();
}

uint32_t caf_rank_slow(int image, bool zero_is_own, const struct caf_token *of,
                       const struct caf_status *to) {
  char name[CAF_NAME_ROOM];
  if (image == 0 && zero_is_own) return caf.rank;
  caf_fail(to, CAF_STAT_ERROR,
           "there is no image %d%s%s: the current team has images 1 to %u [TMB-2027]", image,
           of ? " for " : "", of ? caf_name_of(of, name, sizeof name) : "", caf.team->size);
  return UINT32_MAX;
}

bool caf_failed_slow(uint32_t rank, const struct caf_status *to) {
  gasnet_AMPoll(); /* it reports lost images */
  if (caf.lost[rank] != CAF_STAT_FAILED) return false;
  caf_fail(to, CAF_STAT_FAILED, "image %u of the initial team has failed [TMB-2062]", rank + 1);
  return true;
}

void *caf_address_slow(const struct caf_token *token, size_t offset, size_t bytes, uint32_t rank,
                       const struct caf_status *to) {
  char name[CAF_NAME_ROOM];
  if (!token) {
    caf_fail(to, CAF_STAT_ERROR,
             "a coarray that is not allocated is used with an image index [TMB-2026]");
  } else if (rank >= token->ranks || !token->addr[rank]) {
    caf_fail(to, CAF_STAT_ERROR, "%s does not exist on image %u of the initial team [TMB-2025]",
             caf_name_of(token, name, sizeof name), rank + 1);
  } else if (token->bytes == 0) {
    return (void *)token->addr[rank];
  } else if (token->bytes == bytes) {
    caf_fail(to, CAF_STAT_ERROR,
             "the compiler gives the address of a copy for this scalar coarray, as gfortran 11 to "
             "14 do for COMPLEX: make it an array of one element [TMB-2024]");
  } else {
    caf_fail(to, CAF_STAT_ERROR,
             "byte %zd of a coarray of %zu bytes is used with an image index%s [TMB-2023]",
             (ptrdiff_t)offset, token->bytes,
             offset > PTRDIFF_MAX || offset / 2 > token->bytes
                 ? ": the compiler gives the address of a copy, as gfortran 11 to 14 do for vector "
                   "subscripts within expressions: assign to an array first"
                 : "");
  }
  return NULL;
}
