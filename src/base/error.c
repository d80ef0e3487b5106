/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of the internal result codes, and remedies.
 *
 * Owns: nothing. Called by log messages of any layer; calls nothing.
 * Invariants: one row per row of error.def, values unique (checked by the unit test).
 */
#include "base/error.h"

#include "base/compiler.h"

#include <errno.h>

static const struct {
  int code;
  const char *name, *text, *remedy;
} rows[] = {
    {TMB_OK, "TMB_OK", "success", ""},
#define TMB_ERROR(name, value, text, remedy) {value, "TMB_" #name, text, remedy},
#include "base/error.def"
#undef TMB_ERROR
};

static size_t row_of(int code) {
  size_t i = 0;
  while (i < TMB_ARRAY_LEN(rows) && rows[i].code != code) i++;
  return i;
}

const char *tmb_error_text(int code) {
  const size_t i = row_of(code);
  return i < TMB_ARRAY_LEN(rows) ? rows[i].text : "unknown error";
}

const char *tmb_error_name(int code) {
  const size_t i = row_of(code);
  return i < TMB_ARRAY_LEN(rows) ? rows[i].name : "unknown";
}

const char *tmb_error_remedy(int code) {
  const size_t i = row_of(code);
  return i < TMB_ARRAY_LEN(rows) ? rows[i].remedy : "report it with the output of `tombolo info`";
}

const char *tmb_error_fd_remedy(int error) {
  switch (error) {
  case EMFILE: return "raise 'ulimit -n' or run fewer ranks";
  case ENFILE: return "the whole system has too many open files: raise fs.file-max (sysctl)";
  case ENOMEM: return "free memory of the machine, or raise the limit of the container";
  case EPERM:
  case EACCES:
  case ENOSYS:
    return "the kernel or a filter of system calls (seccomp, of a container) forbids the call: "
           "allow it there";
  default: return "`tombolo doctor` checks this machine";
  }
}
