/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo info`: collects the facts into one document.
 *
 * Owns: nothing. Called by info.c. Calls: info_net.c, info_shmem.c, base/config, os, boot limits,
 * the public headers for sizes and versions, jansson. Invariants: nothing here ends the process; an
 * unknown fact is left out or null, never invented. A wrong setting is reported in its entry and
 * its value is then null.
 */
#define GASNET_SEQ 1
#include "info/info.h"

#include "base/config.h"
#include "base/fmt.h"
#include "boot/boot.h"
#include "near/near.h"
#include "os/memory/memfd.h"
#include "os/os.h"
#include "os/processor/ticks.h"
#include "tool.h"

#include "build_info.h"

#include <gasnet.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define VERSION_3(a, b, c) TMB_STRINGIFY(a) "." TMB_STRINGIFY(b) "." TMB_STRINGIFY(c)
#define VERSION_2(a, b)    TMB_STRINGIFY(a) "." TMB_STRINGIFY(b)

static json_t *collect_version(void) {
  return json_pack(
      "{s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "tombolo", TMB_BUILD_VERSION, "revision",
      TMB_BUILD_REVISION, "gasnet_release",
      VERSION_3(GASNET_RELEASE_VERSION_MAJOR, GASNET_RELEASE_VERSION_MINOR,
                GASNET_RELEASE_VERSION_PATCH),
      "gasnet_ex_specification", VERSION_2(GEX_SPEC_VERSION_MAJOR, GEX_SPEC_VERSION_MINOR),
      "gasnet_1_specification", VERSION_2(GASNET_SPEC_VERSION_MAJOR, GASNET_SPEC_VERSION_MINOR),
      "tools_specification", VERSION_2(GASNETT_SPEC_VERSION_MAJOR, GASNETT_SPEC_VERSION_MINOR),
      "client_abi", (int)GEXX_ABI_VERSION);
}

static json_t *collect_build(void) {
  return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "type", TMB_BUILD_TYPE, "compiler",
                   TMB_BUILD_COMPILER, "flags", TMB_BUILD_FLAGS, "sanitizers", TMB_BUILD_SANITIZE,
                   "system", TMB_BUILD_SYSTEM, "prefix", tool_root() ? tool_root() : "unknown");
}

/* Sets a key if the fact is known. */
static void set_known(json_t *object, const char *key, uint64_t value) {
  if (value > 0) json_object_set_new(object, key, json_integer((json_int_t)value));
}

static json_t *collect_topology(void) {
  struct tmb_os_topology t;
  tmb_os_topology(&t);
  json_t *o = json_pack("{s:s, s:s}", "host", tmb_os_hostname(), "processor", t.model);
  set_known(o, "processors_online", (uint64_t)t.online);
  set_known(o, "processors_usable", (uint64_t)t.usable);
  const double quota = tmb_os_cpu_quota();
  if (quota > 0) json_object_set_new(o, "processor_quota", json_real(quota));
  set_known(o, "sockets", (uint64_t)t.sockets);
  set_known(o, "cores", (uint64_t)t.cores);
  set_known(o, "threads_per_core", (uint64_t)t.threads_per_core);
  set_known(o, "memory_nodes", (uint64_t)t.numa_nodes);
  set_known(o, "cache_l1d_bytes", t.l1d);
  set_known(o, "cache_l2_bytes", t.l2);
  set_known(o, "cache_l3_bytes", t.l3);
  set_known(o, "cache_line_bytes", (uint64_t)t.cache_line);
  set_known(o, "page_bytes", tmb_os_page_size());
  return o;
}

/* Tries the steps of `tombolo run`, and undoes them. */
static const char *same_addresses(char *buf, size_t bytes) {
  if (!tmb_os_randomised()) return "the same in all ranks: nothing is randomised here";
  if (tmb_cfg_check(TMB_CFG_SAME_ADDRESSES, buf, bytes) != TMB_OK ||
      !tmb_cfg_bool(TMB_CFG_SAME_ADDRESSES))
    return "random in each rank: TOMBOLO_SAME_ADDRESSES=0";
  if (tmb_os_randomise(false) != TMB_OK) {
    snprintf(buf, bytes, "random in each rank: personality() is refused (%s)", strerror(errno));
    return buf;
  }
  tmb_os_randomise(true);
  return "the same in all ranks of a program";
}

static json_t *collect_start(void) {
  char why[TMB_MEMFD_WHY_BYTES];
  return json_pack("{s:s, s:s}", "addresses_of_launched_ranks", same_addresses(why, sizeof why),
                   "addresses_of_forked_ranks",
                   "the same in all ranks: they are forked from one process");
}

static json_t *collect_memory(void) {
  struct tmb_os_limit limits[32];
  const char *binding;
  const uint64_t least = tmb_os_mem_limit(&binding);
  json_t *o = json_object(), *all = json_array();
  set_known(o, "physical_bytes", tmb_os_mem_total());
  set_known(o, "available_bytes", tmb_os_mem_available());
  if (least != UINT64_MAX) set_known(o, "limit_bytes", least);
  json_object_set_new(o, "limit_set_by", json_string(binding));
  const size_t count = tmb_os_mem_limits(limits, TMB_ARRAY_LEN(limits));
  for (size_t i = 0; i < count; i++) {
    const bool none = limits[i].bytes == UINT64_MAX;
    json_t *bytes = none ? json_null() : json_integer((json_int_t)limits[i].bytes);
    json_array_append_new(all,
                          json_pack("{s:s, s:o}", "name", limits[i].name, "limit_bytes", bytes));
  }
  json_object_set_new(o, "limits", all);
  return o;
}

static json_t *collect_clock(void) {
  double granularity, overhead;
  tmb_os_ticks_measure(&granularity, &overhead);
  return json_pack("{s:s, s:f, s:f, s:f}", "tick_source", tmb_os_ticks_source(), "tick_rate_hz",
                   tmb_os_ticks_hz(), "granularity_ns", granularity, "reading_ns", overhead);
}

static json_t *collect_limits(void) {
  json_t *o = json_object();
  set_known(o, "ranks_on_one_machine", TMB_BOOT_RANKS_MAX);
  set_known(o, "ranks_of_the_interface", GASNET_MAXNODES);
  set_known(o, "endpoints_per_process", GASNET_MAXEPS);
  set_known(o, "client_threads_per_process", (uint64_t)tmb_cfg_row(TMB_CFG_MAX_THREADS)->max);
  set_known(o, "message_arguments", 16);
  set_known(o, "first_client_handler", GEX_AM_INDEX_BASE);
  set_known(o, "client_handlers", 256 - GEX_AM_INDEX_BASE);
  set_known(o, "value_bytes", SIZEOF_GEX_RMA_VALUE_T);
  set_known(o, "medium_payload_bytes", TMB_AM_MEDIUM_BYTES_MAX);
  set_known(o, "long_payload_bytes", TMB_AM_LONG_BYTES_MAX);
  set_known(o, "ring_record_bytes", TMB_NEAR_RECORD_SLOTS_MAX * TMB_NEAR_SLOT_BYTES);
  return o;
}

static json_t *collect_sizes(void) {
  static const struct {
    const char *name;
    size_t bytes;
  } types[] = {
      {"gex_Rank_t", sizeof(gex_Rank_t)},
      {"gex_Event_t", sizeof(gex_Event_t)},
      {"gex_TM_t, visible part", sizeof(struct gexx_tm_s)},
      {"gex_AM_Entry_t", sizeof(gex_AM_Entry_t)},
      {"gex_Token_Info_t", sizeof(gex_Token_Info_t)},
      {"gex_Memvec_t", sizeof(gex_Memvec_t)},
      {"gex_EP_Location_t", sizeof(gex_EP_Location_t)},
      {"gex_HSL_t", sizeof(gex_HSL_t)},
      {"gasnet_seginfo_t", sizeof(gasnet_seginfo_t)},
      {"gasnet_nodeinfo_t", sizeof(gasnet_nodeinfo_t)},
      {"gasnett_mutex_t", sizeof(gasnett_mutex_t)},
      {"gasnett_tick_t", sizeof(gasnett_tick_t)},
      {"ring slot", sizeof(struct tmb_near_slot)},
      {"ring head", sizeof(struct tmb_near_ring)},
      {"control block of a rank", sizeof(struct tmb_near_ctl)},
      {"state of a peer's rings", sizeof(struct tmb_near_seen)},
  };
  json_t *list = json_array();
  for (size_t i = 0; i < TMB_ARRAY_LEN(types); i++)
    json_array_append_new(list, json_pack("{s:s, s:I}", "name", types[i].name, "size_bytes",
                                          (json_int_t)types[i].bytes));
  return list;
}

/* Powers of an attacker on the path over packets of the conduit udp, by TOMBOLO_UDP_AUTH. */
static json_t *collect_guard(void) {
  const char *auth = tmb_cfg_str(TMB_CFG_UDP_AUTH);
  const bool encrypt = strcmp(auth, "encrypt") == 0, header = strcmp(auth, "header") == 0;
  return json_pack("{s:s, s:s, s:s, s:s}", "mode", auth, "authentic",
                   header ? "datagrams and connections: headers, and payloads of up to 256 bytes"
                          : "datagrams and connections: all of each packet",
                   "secret",
                   encrypt ? "all but headers: who talks to whom, how much and when can be seen"
                           : "nothing",
                   "open_to_change",
                   header ? "payloads of more than 256 bytes, by who can send packets on the path: "
                            "TOMBOLO_UDP_AUTH=payload guards them"
                          : "nothing");
}

json_t *info_collect_network(void) {
  json_t *rails, *interfaces = info_interfaces(), *conduits = info_conduits(interfaces),
                 *providers = info_providers(&rails);
  return json_pack("{s:o, s:o, s:o, s:o, s:o}", "conduits", conduits, "interfaces", interfaces,
                   "guard_of_udp", collect_guard(), "providers", providers, "rails_of_ofi", rails);
}

json_t *info_collect(void) {
  tmb_os_ticks_native(); /* the calibration starts now */
  json_t *document =
      json_pack("{s:o, s:o}", "version", collect_version(), "build", collect_build());
  json_t *network = info_collect_network(),
         *rest = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "shmem", info_shmem(), "start",
                           collect_start(), "topology", collect_topology(), "memory",
                           collect_memory(), "clock", collect_clock(), "limits", collect_limits(),
                           "structure_sizes", collect_sizes());
  if (json_object_update(document, network) || json_object_update(document, rest)) {
    json_decref(document);
    document = NULL;
  }
  json_decref(network);
  json_decref(rest);
  return document;
}

static const char *const type_names[] = {
    [TMB_BOOL] = "boolean", [TMB_INT] = "integer",   [TMB_COUNT] = "integer",
    [TMB_SIZE] = "size",    [TMB_DOUBLE] = "number", [TMB_STRING] = "text",
    [TMB_SEGSIZE] = "text", [TMB_RANKS] = "text",    [TMB_ENUM] = "choice",
};

/* Text or null. */
static json_t *text_or_null(const char *text) {
  return text ? json_string(text) : json_null();
}

/*
 * Checks a setting. If it is wrong, returns why and removes it from our environment, so that
 * everything else that is shown here (reports, clock) works with the default; else returns null.
 */
static json_t *take_error(enum tmb_cfg_id id) {
  const struct tmb_cfg_row *row = tmb_cfg_row(id);
  char why[1024];
  if (tmb_cfg_check(id, why, sizeof why) == TMB_OK) return json_null();
  if (row->name) tmb_env_unset(row->name);
  if (row->alias) tmb_env_unset(row->alias);
  char former[128];
  if (tmb_cfg_former(id, former, sizeof former)) tmb_env_unset(former);
  return json_string(why);
}

static json_t *collect_setting(enum tmb_cfg_id id, json_t *error) {
  const struct tmb_cfg_row *row = tmb_cfg_row(id);
  const bool valid = json_is_null(error);
  char allowed[256];
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:s, s:b, s:b, s:o}", "group",
                   tmb_cfg_group(id), "name", text_or_null(row->name), "alias",
                   text_or_null(row->alias), "value", text_or_null(valid ? tmb_cfg_text(id) : NULL),
                   "source", text_or_null(valid ? tmb_cfg_source(id) : NULL), "default",
                   text_or_null(row->dflt), "type", type_names[row->type], "allowed",
                   row->ignored ? "anything" : tmb_cfg_allowed(id, allowed, sizeof allowed), "unit",
                   row->type == TMB_ENUM ? "" : row->unit, "help", row->help, "effect",
                   !row->ignored, "test", row->test, "error", error);
}

json_t *info_settings(int *bad) {
  json_t *list = json_array(), *errors[TMB_CFG_COUNT];
  *bad = 0;
  for (int id = 0; id < TMB_CFG_COUNT; id++) {
    errors[id] = take_error((enum tmb_cfg_id)id);
    *bad += !json_is_null(errors[id]);
  }
  for (int id = 0; id < TMB_CFG_COUNT; id++)
    json_array_append_new(list, collect_setting((enum tmb_cfg_id)id, errors[id]));
  return list;
}
