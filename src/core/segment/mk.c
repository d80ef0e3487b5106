/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kinds of device memory: gex_MK_ calls (API 07.1), loading of plug-ins.
 *
 * Owns: kind objects. Called by clients, and by segment_create.c through struct tmb_mk_ops. Calls:
 * dlopen, the plug-in's functions. A class is served by libtombolo-mk-CLASS.so, looked for beside
 * the library and then as the loader does; the setting TOMBOLO_TEST_MK_PLUGIN names a file that
 * serves every class instead. Invariants: plug-ins stay loaded; a kind in use by a segment is not
 * destroyed; a destroyed handle has a dead magic number until its memory is reused.
 */
#define _GNU_SOURCE 1 /* dladdr */
#include "core/segment/mk.h"

#include "base/config.h"
#include "core/check.h"
#include "core/op/check_context.h"
#include "core/segment/mk_peer.h"
#include "core/segment/mk_stage.h"
#include "core/segment/segment_table.h"
#include "net/net.h"
#include "os/process/code.h"

#include <gasnet_mk.h>
#include <tombolo/mk_plugin.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, PLUGIN_VERSION_MIN = 2, VERSION_WITH_NETWORK = 4 };

/* ---- segments of a device */

/* Count a segment of this kind, here and in tmb_job.device_segments: while that is 0,
 * tmb_segment_device_at is not called. */
static void count(struct gexx_mk_s *kind) {
  tmb_fetch_add_rlx(&kind->segments, 1);
  tmb_fetch_add_rlx(&tmb_job.device_segments, 1);
}

static void uncount(struct gexx_mk_s *kind) {
  tmb_fetch_sub_rel(&tmb_job.device_segments, 1);
  tmb_fetch_sub_rel(&kind->segments, 1);
}

/* Print why the plug-in refused a segment; gex_Segment_Create prints its own message besides. */
static int refuse_segment(const struct gexx_mk_s *kind, int code) {
  if (tmb_job.verbose_errors)
    tmb_print("gex_Segment_Create: memory kind %s: %s", kind->ops.name,
              tmb_mk_reason(kind->plugin));
  return code;
}

static int device_alloc(struct gexx_segment_s *s) {
  struct gexx_mk_s *kind = tmb_mk_device(s);
  const int rc = kind->plugin->alloc(kind->device, s->size, &s->base);
  if (rc != GASNET_OK) return refuse_segment(kind, rc);
  count(kind);
  return GASNET_OK;
}

static void device_free(struct gexx_segment_s *s) {
  struct gexx_mk_s *kind = tmb_mk_device(s);
  kind->plugin->free(kind->device, s->base, s->size);
  uncount(kind);
}

static int device_import(struct gexx_segment_s *s) {
  struct gexx_mk_s *kind = tmb_mk_device(s);
  if (!kind->plugin->query(kind->device, s->base, s->size))
    return refuse_segment(kind, GASNET_ERR_BAD_ARG);
  count(kind);
  return GASNET_OK;
}

static void device_release(struct gexx_segment_s *s) {
  uncount(tmb_mk_device(s));
}

/* ---- plug-ins */

/* The part of file names that names the class; NULL for those that have no plug-ins. */
static const char *word_of(gex_MK_Class_t class_id) {
  switch (class_id) {
  case GEX_MK_CLASS_CUDA_UVA: return "cuda";
  case GEX_MK_CLASS_HIP: return "hip";
  case GEX_MK_CLASS_ZE: return "ze";
  default: return NULL;
  }
}

/* Options of a class from the settings. */
static uint32_t options_of(gex_MK_Class_t class_id) {
  const bool sync = class_id == GEX_MK_CLASS_CUDA_UVA && tmb_cfg_bool(TMB_CFG_USE_CUDA_SYNC_MEMOPS);
  return sync ? GEXX_MK_SYNC_MEMOPS : 0;
}

static const char call[] = "gex_MK_Create";

/* Open the plug-in of a class. in word: part of its name. NULL: there is none, which was said. */
static void *open_library(const char *word) {
  char path[PATH_BYTES] = "", name[64];
  Dl_info self;
  const char *asked = tmb_cfg_str(TMB_CFG_MK_PLUGIN);
  if (tmb_os_program_is_static()) {
    (void)tmb_refuse(call, GASNET_ERR_BAD_ARG,
                     "this program is linked with -static, so it cannot load the plug-in of class "
                     "%s; link it without -static",
                     word);
    return NULL;
  }
  if (asked && asked[0]) {
    void *library = dlopen(asked, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      (void)tmb_refuse(call, GASNET_ERR_BAD_ARG, "TOMBOLO_TEST_MK_PLUGIN=%s cannot be loaded: %s",
                       asked, dlerror());
    return library;
  }
  snprintf(name, sizeof name, "libtombolo-mk-%s.so", word);
  const char *slash = dladdr((const void *)&tmb_mk_host, &self) && self.dli_fname
                          ? strrchr(self.dli_fname, '/')
                          : NULL;
  void *library = NULL;
  if (slash && snprintf(path, sizeof path, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname,
                        name) < (int)sizeof path)
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const bool broken = !library && slash && access(path, F_OK) == 0;
  if (!library && !broken) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    (void)tmb_refuse(
        call, GASNET_ERR_BAD_ARG,
        "no plug-in serves devices of class %s: %s; the plug-in %s must lie beside the "
        "library (%s) or where the loader looks (LD_LIBRARY_PATH)",
        word, dlerror(), name, slash ? self.dli_fname : "unknown");
  return library;
}

/* Find the functions of a class. Returns GASNET_OK or the error for gex_MK_Create. */
static int find_plugin(gex_MK_Class_t class_id, const struct gexx_mk_plugin **out) {
  gexx_mk_plugin_fn *entry;
  const char *word = word_of(class_id);
  if (!word) return tmb_refuse(call, GASNET_ERR_BAD_ARG, "argument args names no class of devices");
  void *library = open_library(word);
  if (!library) return GASNET_ERR_BAD_ARG;
  void *const symbol = dlsym(library, GEXX_MK_PLUGIN_ENTRY);
  memcpy(&entry, &symbol, sizeof entry);
  const struct gexx_mk_plugin *plugin = symbol ? entry() : NULL;
  if (!plugin || plugin->version < PLUGIN_VERSION_MIN || plugin->version > GEXX_MK_PLUGIN_VERSION) {
    dlclose(library);
    return tmb_refuse(call, GASNET_ERR_BAD_ARG,
                      "the plug-in of class %s was built for another version of the library; "
                      "install the two of one version",
                      word);
  }
  *out = plugin;
  return GASNET_OK;
}

/* ---- calls */

_Static_assert((int)GEXX_MK_BY_CUDA == (int)TMB_NET_MEMORY_CUDA &&
                   (int)GEXX_MK_BY_ROCR == (int)TMB_NET_MEMORY_ROCR &&
                   (int)GEXX_MK_BY_ZE == (int)TMB_NET_MEMORY_ZE,
               "plug-ins and conduits use the same numbers");

bool tmb_mk_network(const struct gexx_mk_s *kind, struct tmb_net_memory *memory) {
  const struct gexx_mk_plugin *p = kind->plugin;
  *memory = (struct tmb_net_memory){0};
  return p->version >= VERSION_WITH_NETWORK && p->network &&
         p->network(kind->device, &memory->interface, &memory->number) == GASNET_OK;
}

static void check_kind(const char *call, gex_MK_t kind) {
  tmb_check_ready_at(call);
  if (kind == GEX_MK_INVALID) tmb_fatal_nopos("%s: argument kind is GEX_MK_INVALID", call);
  if (kind == GEX_MK_HOST)
    tmb_fatal_nopos("%s: argument kind is GEX_MK_HOST; only kinds of gex_MK_Create are allowed",
                    call);
  if (kind->magic != TMB_MAGIC_MK)
    tmb_fatal_nopos("%s: argument kind (%p) is not the handle of a memory kind", call,
                    (void *)kind);
}

int gex_MK_Create(gex_MK_t *kind_p, gex_Client_t client, const gex_MK_Create_args_t *args,
                  gex_Flags_t flags) {
  const struct gexx_mk_plugin *plugin = NULL;
  TMB_CHECK_CONTEXT("gex_MK_Create");
  if (!kind_p || !client || !args || flags || args->gex_flags)
    return tmb_refuse(call, GASNET_ERR_BAD_ARG, "an argument is NULL or flags are not 0");
  if (TMB_UNLIKELY(tmb_job.debug)) tmb_check_client("gex_MK_Create", client);
  int rc = find_plugin(args->gex_class, &plugin);
  if (rc != GASNET_OK) return rc;
  struct gexx_mk_s *kind = malloc(sizeof *kind);
  if (!kind) return tmb_refuse(call, GASNET_ERR_RESOURCE, "out of memory");
  *kind = (struct gexx_mk_s){.ops = {.name = plugin->name,
                                     .alloc = device_alloc,
                                     .free = device_free,
                                     .import = device_import,
                                     .release = device_release},
                             .magic = TMB_MAGIC_MK,
                             .class_id = args->gex_class,
                             .client = client,
                             .plugin = plugin};
  rc = plugin->open(args, options_of(args->gex_class), &kind->device);
  if (rc != GASNET_OK) {
    free(kind);
    return tmb_refuse(call, rc, "the plug-in of class %s cannot open the device: %s", plugin->name,
                      tmb_mk_reason(plugin));
  }
  tmb_mk_peer_enlist(kind);
  *kind_p = kind;
  return GASNET_OK;
}

void gex_MK_Destroy(gex_MK_t kind, gex_Flags_t flags) {
  if (TMB_UNLIKELY(tmb_job.debug)) {
    const char *call = "gex_MK_Destroy";
    tmb_check_context_at(call);
    check_kind(call, kind);
    tmb_check_flags(call, flags, 0);
    const uint32_t users = tmb_load_acq(&kind->segments);
    if (users)
      tmb_fatal_nopos("%s: argument kind (%p) is used by %u segments; destroy them first", call,
                      (void *)kind, users);
  }
  (void)flags;
  tmb_mk_peer_delist(kind);
  tmb_mk_stage_forget(kind);
  kind->plugin->close(kind->device);
  kind->magic = 0;
  if (!tmb_job.debug) free(kind);
}

void gex_MK_SetCData(gex_MK_t kind, const void *val) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_kind("gex_MK_SetCData", kind);
  kind->cdata = (void *)(uintptr_t)val;
}

void *gex_MK_QueryCData(gex_MK_t kind) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_kind("gex_MK_QueryCData", kind);
  return kind->cdata;
}

gex_Flags_t gex_MK_QueryFlags(gex_MK_t kind) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_kind("gex_MK_QueryFlags", kind);
  return 0;
}

gex_Client_t gex_MK_QueryClient(gex_MK_t kind) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_kind("gex_MK_QueryClient", kind);
  return kind->client;
}

gex_MK_Class_t gex_MK_QueryClass(gex_MK_t kind) {
  if (TMB_UNLIKELY(tmb_job.debug)) check_kind("gex_MK_QueryClass", kind);
  return (gex_MK_Class_t)kind->class_id;
}

/* ---- for the rest of core */

const struct tmb_mk_ops *tmb_mk_ops_of(gex_MK_t kind) {
  if (kind == GEX_MK_HOST) return &tmb_mk_host;
  return kind && kind->magic == TMB_MAGIC_MK ? &kind->ops : NULL;
}

bool tmb_mk_remote(gex_TM_t tm, gex_Rank_t rank) {
  const struct tmb_peer_segment *s = tmb_segtab_at(tm, rank);
  return s && s->local == TMB_LOCAL_DEVICE;
}

void tmb_mk_refuse(const char *call, gex_TM_t tm, gex_Rank_t rank) {
  if (tmb_mk_involved(tm, rank))
    tmb_fatal_nopos("%s: the local endpoint or that of rank %u has a segment of device memory, "
                    "which this call does not serve; use gex_RMA_ calls",
                    call, rank);
}
