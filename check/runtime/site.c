/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines of the program: where a call of the library comes from.
 *
 * Owns: sites, modules and names of the area, and a table of return addresses of this process.
 * Called by all wrappers, under chk.lock. Calls: dladdr1; _Unwind_Backtrace where the caller is a
 * run-time library of ours (coarrays, UPC, OpenSHMEM, C++), whose own lines tell a user nothing:
 * then the site is the program's call of that library, and has its name. Lines are found by
 * tools/check after the run, but for those of Python, whose frames are asked. Invariant: a site has
 * one index in the job, equal in all ranks.
 */
#define _GNU_SOURCE
#include "check/runtime/chk.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define KNOWN CHK_KNOWN

struct chk_known chk_known[KNOWN];

static const char *const runtimes[] = {
    "libtombolo",  "tombolo-", "libcaf_tombolo", "libprif_tombolo", "libshmem_tombolo",
    "libgfortran", "libc.so",  "libgcc_s",       "libstdc++",       "_core.abi3"};

static const char *base_name(const char *path) {
  const char *const slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

uint32_t chk_name(const char *text) {
  struct chk_area *const a = chk.area;
  const size_t bytes = strlen(text) + 1;
  chk_lock(&a->lock);
  uint32_t at = 1;
  while (at < a->names && strcmp(chk_name_at(a, at), text) != 0)
    at += (uint32_t)strlen(chk_name_at(a, at)) + 1;
  if (at >= a->names) {
    at = a->names + bytes <= CHK_NAME_BYTES ? a->names : 0;
    if (at) memcpy(chk_name_at(a, at), text, bytes);
    if (at) a->names += (uint32_t)bytes;
  }
  chk_unlock(&a->lock);
  return at;
}

/* Index of a module; the program itself has no name in the list of the loader. */
static uint32_t module_of(const char *path) {
  struct chk_area *const a = chk.area;
  char own[CHK_PATH_BYTES];
  if (!*path) {
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    path = own;
  }
  chk_lock(&a->lock);
  uint32_t m = 0;
  while (m < a->modules && strcmp(chk_module_at(a, m), path) != 0) m++;
  if (m == a->modules && m < CHK_MODULES && strlen(path) < CHK_PATH_BYTES) {
    memcpy(chk_module_at(a, m), path, strlen(path) + 1);
    a->modules++;
  }
  chk_unlock(&a->lock);
  return m;
}

static uint32_t enter(const struct chk_site *like) {
  struct chk_area *const a = chk.area;
  chk_lock(&a->lock);
  uint32_t s = 1;
  while (s < a->sites && memcmp(chk_site_at(a, s), like, sizeof *like) != 0) s++;
  if (s == a->sites) {
    if (s < CHK_SITES)
      *chk_site_at(a, a->sites++) = *like;
    else
      s = 0;
  }
  chk_unlock(&a->lock);
  return s;
}

/* A function of our C++ headers; the compiler has made it a function of the program. */
static bool is_header(const char *symbol) {
  return symbol &&
         (strncmp(symbol, "_ZN7tombolo", 11) == 0 || strncmp(symbol, "_ZNK7tombolo", 12) == 0 ||
          strncmp(symbol, "_ZZN7tombolo", 12) == 0);
}

/* The name of a function for a user: tombolo::put of _ZN7tombolo3putIlEE...; others stay. */
static const char *plain_name(const char *symbol) {
  static char text[256];
  size_t used = 0;
  if (!is_header(symbol)) return symbol;
  const char *at = strchr(symbol, 'N') + 1;
  while (*at == 'K') at++;
  while (*at >= '0' && *at <= '9') {
    char *name;
    const size_t length = strtoul(at, &name, 10);
    if (length > strlen(name) || used + length + 3 > sizeof text) break;
    if (used) used += (size_t)snprintf(text + used, 3, "::");
    memcpy(text + used, name, length);
    text[used += length] = '\0';
    at = name + length;
  }
  return chk_name_at(chk.area, chk_name(text));
}

/* Whether the module is the library, or a run-time library of ours. */
static bool is_library(const char *path) {
  const char *const name = base_name(path);
  for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
    if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0) return true;
  return false;
}

static bool is_runtime(const void *pc) {
  Dl_info info;
  if (!dladdr(pc, &info) || !info.dli_fname) return false;
  return is_header(info.dli_sname) || is_library(info.dli_fname);
}

/* What dladdr says of a return address; it takes some microseconds. */
struct about {
  const void *pc;
  const char *symbol; /* NULL: not known */
  bool is_runtime;
};

/* As is_runtime, and the function of the address, under chk.lock. */
static const struct about *about(const void *pc) {
  static struct about all[KNOWN];
  struct about *const a = &all[chk_known_place(pc)];
  if (a->pc == pc) return a;
  Dl_info info = {0};
  const bool found = dladdr(pc, &info) && info.dli_fname;
  *a = (struct about){pc, found ? info.dli_sname : NULL,
                      found && (is_header(info.dli_sname) || is_library(info.dli_fname))};
  return a;
}

bool chk_of_library(const void *pc) {
  Dl_info info;
  return dladdr(pc, &info) && info.dli_fname && is_library(info.dli_fname);
}

bool chk_inner_of(const void *pc) {
  return is_runtime(pc);
}

/* The first frame outside of the run-time libraries, and the last one inside. */
struct frames {
  const void *inside, *outside;
};

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *arg) {
  struct frames *const f = arg;
  const void *const pc = (const void *)_Unwind_GetIP(context);
  if (!pc) return _URC_END_OF_STACK;
  if (about(pc)->is_runtime) {
    f->inside = pc;
    return _URC_NO_REASON;
  }
  f->outside = pc;
  return _URC_NORMAL_STOP;
}

static uint32_t make(const char *call, const void *pc) {
  struct chk_site s = {0};
  Dl_info info;
  struct link_map *map = NULL;
  const int found = dladdr1(pc, &info, (void **)&map, RTLD_DL_LINKMAP);
  s.call = chk_name(call);
  s.module = module_of(found && map ? map->l_name : "");
  s.offset = (uintptr_t)pc - (found && map ? map->l_addr : 0);
  return enter(&s);
}

/* ---- Python, whose functions are found by name, if this process has it */

static struct python {
  int looked; /* -1: there is none */
  int (*IsInitialized)(void);
  int (*GILState_Check)(void);
  int (*GILState_Ensure)(void);
  void (*GILState_Release)(int);
  void *(*GILState_GetThisThreadState)(void);
  void *(*ThreadState_Next)(void *);
  void *(*InterpreterState_ThreadHead)(void *);
  void *(*InterpreterState_Main)(void);
  int (*GC_Disable)(void);
  int (*GC_Enable)(void);
  void *(*Eval_GetFrame)(void);   /* borrowed */
  void *(*Frame_GetBack)(void *); /* these give a reference */
  void *(*Frame_GetCode)(void *);
  int (*Frame_GetLineNumber)(void *);
  void *(*Object_GetAttrString)(void *, const char *);
  const char *(*Unicode_AsUTF8AndSize)(void *, ssize_t *);
  void (*IncRef)(void *);
  void (*DecRef)(void *);
} python;

static bool has_python(void) {
  static const char *const names[] = {"Py_IsInitialized",
                                      "PyGILState_Check",
                                      "PyGILState_Ensure",
                                      "PyGILState_Release",
                                      "PyGILState_GetThisThreadState",
                                      "PyThreadState_Next",
                                      "PyInterpreterState_ThreadHead",
                                      "PyInterpreterState_Main",
                                      "PyGC_Disable",
                                      "PyGC_Enable",
                                      "PyEval_GetFrame",
                                      "PyFrame_GetBack",
                                      "PyFrame_GetCode",
                                      "PyFrame_GetLineNumber",
                                      "PyObject_GetAttrString",
                                      "PyUnicode_AsUTF8AndSize",
                                      "Py_IncRef",
                                      "Py_DecRef"};
  void *found[sizeof names / sizeof *names];
  if (python.looked) return python.looked > 0;
  python.looked = 1;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!(found[i] = dlsym(RTLD_DEFAULT, names[i]))) python.looked = -1;
  _Static_assert(sizeof python == sizeof(void *) + sizeof found, "one for each name");
  memcpy((char *)&python + sizeof(void *), found, sizeof found);
  return python.looked > 0;
}

/* A line of Python that calls our package, and the package's function. */
struct script {
  char file[CHK_PATH_BYTES], function[64];
  int line;
};

/* Copies a text of a code object. */
static void text_of(void *code, const char *attribute, char *into, size_t bytes) {
  void *const text = python.Object_GetAttrString(code, attribute);
  const char *const utf8 = text ? python.Unicode_AsUTF8AndSize(text, NULL) : NULL;
  snprintf(into, bytes, "%s", utf8 ? utf8 : "");
  if (text) python.DecRef(text);
}

/* Whether a file is of our package, or of NumPy, which calls it. */
static bool is_package(const char *file) {
  return strstr(file, "/tombolo/_") || strstr(file, "/numpy/") ||
         strstr(file, "<__array_function__");
}

/* Finds the newest frame outside of our package. Returns whether there is one. */
static bool find_script(struct script *s) {
  void *frame = python.Eval_GetFrame();
  if (frame) python.IncRef(frame);
  while (frame) {
    void *const code = python.Frame_GetCode(frame);
    text_of(code, "co_filename", s->file, sizeof s->file);
    const bool outside = !is_package(s->file);
    if (!outside) text_of(code, "co_name", s->function, sizeof s->function);
    python.DecRef(code);
    s->line = python.Frame_GetLineNumber(frame);
    void *const back = outside ? NULL : python.Frame_GetBack(frame);
    python.DecRef(frame);
    if (outside) return true;
    frame = back;
  }
  return false;
}

/* Whether this thread alone uses the interpreter, so that none can have its lock. */
static bool is_alone(void) {
  void *const first = python.InterpreterState_ThreadHead(python.InterpreterState_Main());
  return first && first == python.GILState_GetThisThreadState() && !python.ThreadState_Next(first);
}

/* As find_script, in a thread that holds the interpreter's lock, or can have it without a wait:
 * others may wait for chk.lock with it. No collection may run, which would end objects of the
 * library. */
static bool in_script(struct script *s) {
  if (!has_python() || !python.IsInitialized()) return false;
  const bool held = python.GILState_Check();
  if (!held && !is_alone()) return false;
  s->function[0] = '\0';
  const int state = held ? 0 : python.GILState_Ensure();
  const int collects = python.GC_Disable();
  const bool found = find_script(s);
  if (collects) python.GC_Enable();
  if (!held) python.GILState_Release(state);
  return found;
}

/* A number for a line of a file, as if it were an address. */
static const void *address_of(const struct script *s) {
  uint64_t h = (uint64_t)s->line;
  for (const char *c = s->file; *c; c++) h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  return (const void *)(uintptr_t)h;
}

static uint32_t make_script(const char *call, const struct script *s) {
  return enter(&(struct chk_site){.call = chk_name(*s->function ? s->function : call),
                                  .module = module_of(s->file),
                                  .offset = CHK_SCRIPT | (uint64_t)s->line});
}

static uint32_t *known_of(const char *call, const void *pc) {
  struct chk_known *const k = &chk_known[chk_known_place(pc)];
  if (k->pc != pc || k->call != call) *k = (struct chk_known){pc, call, 0, 0};
  return &k->site;
}

uint32_t chk_site_find(const char *call, const void *pc) {
  uint32_t *site = known_of(call, pc);
  if (!*site) *site = about(pc)->is_runtime ? CHK_RUNTIME : make(call, pc);
  if (*site != CHK_RUNTIME) return *site;
  if (chk.statement && chk.statement->caller) {
    site = known_of(chk.statement->call, chk.statement->caller);
    if (!*site) *site = make(chk.statement->call, chk.statement->caller);
    return *site;
  }
  struct script s;
  if (in_script(&s)) {
    site = known_of(call, address_of(&s));
    if (!*site) *site = make_script(call, &s);
    return *site;
  }
  struct frames f = {NULL, NULL};
  (void)_Unwind_Backtrace(frame, &f);
  if (!f.outside) return 0;
  const char *const symbol = f.inside ? about(f.inside)->symbol : NULL;
  const char *const name = symbol ? plain_name(symbol) : call;
  site = known_of(name, f.outside);
  if (!*site) *site = make(name, f.outside);
  return *site;
}
