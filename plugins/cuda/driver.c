/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loading the CUDA driver, see driver.h.
 *
 * Owns: the table of functions and the lock of its making; one text per thread. Called by plugin.c.
 * Calls: dlopen of libcuda.so.1, which the NVIDIA driver installs (the toolkit does not). A
 * failure is not remembered: a driver that was installed since is found. Invariants: the table is
 * written once, under the lock, before anybody gets it.
 */
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

static struct cuda_driver driver;
static bool loaded; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local char text[512];

const char *cuda_reason(void) {
  return text;
}

void cuda_explain(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
}

void cuda_explain_result(const struct cuda_driver *d, const char *call, cuda_result result) {
  const char *name = NULL, *words = NULL;
  if (d->error_name(result, &name) != CUDA_R_SUCCESS || !name) name = "unknown result";
  if (d->error_string(result, &words) != CUDA_R_SUCCESS || !words) words = "no text";
  cuda_explain("%s: %s, code %u (%s)", call, name, result, words);
}

/* Look one function up. Returns whether it is there. */
static bool find(void *library, const char *symbol, void *field) {
  void *const address = dlsym(library, symbol);
  if (!address)
    cuda_explain("the CUDA driver " LIBRARY " has no function %s: it is too old or damaged; "
                 "install an NVIDIA driver for CUDA 7 or later",
                 symbol);
  memcpy(field, &address, sizeof address);
  return address != NULL;
}

static bool find_all(void *library, struct cuda_driver *d) {
  bool ok = true;
#define CUDA_FUNCTION(field, symbol, arguments) ok = ok && find(library, #symbol, &d->field);
#include "cuda_functions.def"
#undef CUDA_FUNCTION
  return ok;
}

static bool load(void) {
  void *const library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    cuda_explain("the library of the CUDA driver cannot be loaded (%s); install the NVIDIA driver "
                 "of this machine, or name the folder of " LIBRARY " in LD_LIBRARY_PATH",
                 dlerror());
    return false;
  }
  struct cuda_driver found;
  cuda_result rc = CUDA_R_SUCCESS;
  const bool ok = find_all(library, &found) && (rc = found.init(0)) == CUDA_R_SUCCESS;
  if (rc == CUDA_R_NO_DEVICE)
    cuda_explain("the CUDA driver finds no device; see nvidia-smi, and CUDA_VISIBLE_DEVICES");
  else if (rc != CUDA_R_SUCCESS)
    cuda_explain_result(&found, "the CUDA driver cannot be initialised (see nvidia-smi)", rc);
  if (!ok) {
    dlclose(library);
    return false;
  }
  driver = found;
  return true;
}

const struct cuda_driver *cuda_load(void) {
  pthread_mutex_lock(&lock);
  loaded = loaded || load();
  const bool ok = loaded;
  pthread_mutex_unlock(&lock);
  return ok ? &driver : NULL;
}
