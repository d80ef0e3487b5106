/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usable providers of libfabric, and the best one, see ofi_engine.h.
 *
 * Owns: the table of providers, the best first. Called by ofi.c and ofi_list.c. Calls: libfabric by
 * its table, /sys. Networks with remote memory access in hardware come first, then providers over
 * sockets; memory shared by the processes of one machine is taken only if it is asked for, because
 * ranks of other hosts are to be reached. Of the domains of a provider the first that leads to
 * other hosts is taken. Invariant: a row that is asked for by name is the only one.
 */
#include "net/ofi/ofi_engine.h"

#include "base/compiler.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* The order is part of the data that ranks exchange (struct ofi_card). */
static const struct {
  const char *name; /* of the provider, with the one below it */
  bool emulated;    /* made of sockets */
  bool on_request;  /* taken only if it is named */
  bool atomics;     /* its atomic operations are the hardware's */
} rows[] = {{"cxi", false, false, true},
            {"efa", false, false, false},
            {"verbs;ofi_rxm", false, false, false},
            {"opx", false, false, false},
            {"psm3", false, false, false},
            {"psm2", false, false, false},
            {"psm", false, false, false},
            {"ucx", false, false, true},
            {"tcp", true, false, false}, /* where it has reliable datagrams of its own */
            {"net", true, false, false}, /* the same, as libfabric 1.16 and 1.17 call it */
            {"tcp;ofi_rxm", true, false, false},
            {"sockets", true, false, false},
            {"udp;ofi_rxd", true, false, false},
            {"shm", true, true, false}};
_Static_assert(TMB_ARRAY_LEN(rows) <= OFI_PROVIDERS, "every row has a bit");

const char *ofi_choose_name(uint32_t row) {
  return row < TMB_ARRAY_LEN(rows) ? rows[row].name : NULL;
}

/* Room of which the provider shm is not listed in any version. Chosen; libfabric 1.17
 * asks for a few megabytes each endpoint. */
#define SHM_FEW_BYTES (UINT64_C(64) << 20)

const char *ofi_choose_lacks(const char *name, char *text, size_t bytes) {
  struct statvfs fs;
  *text = '\0';
  if (strcmp(name, "shm") != 0) return text;
  if (statvfs("/dev/shm", &fs) != 0) {
    snprintf(text, bytes, "; there is no /dev/shm, where it keeps its memory");
    return text;
  }
  const uint64_t room = (uint64_t)fs.f_bavail * fs.f_frsize;
  if (room < SHM_FEW_BYTES)
    snprintf(text, bytes,
             "; /dev/shm, where it keeps its memory, has %llu KB free: give it more (docker run "
             "--shm-size=1g, mount -o remount,size=1g /dev/shm)",
             (unsigned long long)(room >> 10));
  return text;
}

bool ofi_choose_emulated(uint32_t row) {
  return rows[row].emulated;
}

/* Whether short messages leave in batches: over sockets, not where ranks share memory. */
bool ofi_choose_gathers(uint32_t row) {
  return rows[row].emulated && !rows[row].on_request;
}

/* Whether `text` names a row: whole, or the part before the layer. */
static bool names(const char *text, const char *row) {
  const size_t bytes = strlen(text);
  return strncmp(text, row, bytes) == 0 && (row[bytes] == 0 || row[bytes] == ';');
}

/* Whether a row may be used: in wanted: NULL or the name that was asked for. */
static bool is_wanted(uint32_t row, const char *wanted) {
  if (!wanted || !*wanted) return !rows[row].on_request;
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(rows); i++)
    if (strcmp(wanted, rows[i].name) == 0 && strchr(wanted, ';')) return i == row;
  return names(wanted, rows[row].name);
}

static struct fi_info *make_hints(const struct ofi_calls *calls, const char *provider) {
  struct fi_info *hints = calls->dupinfo(NULL);
  if (!hints) return NULL;
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->fabric_attr->prov_name = strdup(provider);
  if (hints->fabric_attr->prov_name) return hints;
  calls->freeinfo(hints);
  return NULL;
}

/* Kind of an entry's network, as struct ofi_domain has it. */
static int reach(const struct fi_info *info) {
  if (!info->src_addr) return 4;
  if (info->addr_format == FI_SOCKADDR_IN) {
    const struct sockaddr_in *in = info->src_addr;
    return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? 1 : 4;
  }
  if (info->addr_format == FI_SOCKADDR_IN6) {
    const struct sockaddr_in6 *in6 = info->src_addr;
    if (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)) return 0;
    return IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr) ? 2 : 3;
  }
  return 4;
}

bool ofi_choose_is_loopback(const struct fi_info *info) {
  return reach(info) < 2;
}

/* Whether an entry is of a provider, and takes our messages. */
static bool is_usable(const struct fi_info *info, const char *provider) {
  return strcmp(info->fabric_attr->prov_name, provider) == 0 &&
         info->ep_attr->max_msg_size >= OFI_MESSAGE_MAX;
}

/* The best entry of a list, or NULL. in device: name of a domain, or NULL. */
static struct fi_info *best(struct fi_info *list, const char *provider, const char *device) {
  struct fi_info *found = NULL;
  for (struct fi_info *i = list; i; i = i->next) {
    if (!is_usable(i, provider)) continue;
    if (device && *device && strcmp(device, i->domain_attr->name) != 0) continue;
    if (!found || reach(i) > reach(found)) found = i;
  }
  return found;
}

static struct fi_info *look_up(const struct ofi_calls *calls, const char *provider,
                               const char *device) {
  struct fi_info *hints = make_hints(calls, provider), *list = NULL, *copy = NULL;
  if (!hints) return NULL;
  if (calls->getinfo(OFI_API, hints, &list) == 0) {
    struct fi_info *const found = best(list, provider, device);
    if (found) copy = calls->dupinfo(found);
    calls->freeinfo(list);
  }
  calls->freeinfo(hints);
  return copy;
}

uint64_t ofi_choose_list(const struct ofi_calls *calls, const char *wanted, const char *device,
                         struct fi_info *infos[OFI_PROVIDERS]) {
  uint64_t bits = 0;
  for (uint32_t i = 0; i < OFI_PROVIDERS; i++) {
    infos[i] = NULL;
    if (i >= TMB_ARRAY_LEN(rows) || !is_wanted(i, wanted)) continue;
    infos[i] = look_up(calls, rows[i].name, device);
    if (infos[i]) bits |= UINT64_C(1) << i;
  }
  return bits;
}

/* The entry of this domain with further capabilities and registration modes, or NULL. */
static struct fi_info *with(const struct ofi_calls *calls, const struct fi_info *info,
                            uint64_t caps, int mr_mode) {
  const char *provider = info->fabric_attr->prov_name;
  struct fi_info *hints = make_hints(calls, provider), *list = NULL, *found = NULL;
  if (!hints) return NULL;
  hints->caps |= caps;
  hints->domain_attr->mr_mode |= mr_mode;
  if (calls->getinfo(OFI_API, hints, &list) == 0) {
    found = best(list, provider, info->domain_attr->name);
    if (found) found = calls->dupinfo(found);
    calls->freeinfo(list);
  }
  calls->freeinfo(hints);
  return found;
}

static void replace(const struct ofi_calls *calls, struct fi_info **info, struct fi_info *by) {
  calls->freeinfo(*info);
  *info = by;
}

void ofi_choose_hmem(const struct ofi_calls *calls, struct fi_info **info) {
  struct fi_info *const found = with(calls, *info, FI_HMEM, FI_MR_HMEM);
  if (found) replace(calls, info, found);
}

/* ---- atomic operations */

static bool in_hardware(const struct fi_info *info) {
  for (uint32_t i = 0; i < TMB_ARRAY_LEN(rows); i++)
    if (strcmp(rows[i].name, info->fabric_attr->prov_name) == 0) return rows[i].atomics;
  return false;
}

bool ofi_choose_atomics_vary(const char *setting, const struct fi_info *info) {
  return strcmp(setting, "yes") == 0 || (strcmp(setting, "auto") == 0 && in_hardware(info));
}

/* A message may overtake a write: signals wait for the writes before them. */
static bool ordered(const struct fi_info *info) {
  return (info->tx_attr->msg_order & FI_ORDER_SAW) && (info->rx_attr->msg_order & FI_ORDER_SAW);
}

const char *ofi_choose_atomics(const struct ofi_calls *calls, const char *setting,
                               struct fi_info **info) {
  const bool any = strcmp(setting, "yes") == 0;
  if (strcmp(setting, "no") == 0) return "TOMBOLO_OFI_ATOMICS=no";
  if (!any && !in_hardware(*info))
    return "the provider's are software as well; TOMBOLO_OFI_ATOMICS=yes uses them";
  if (strstr((*info)->fabric_attr->prov_name, "ofi_rxd"))
    return "those of ofi_rxd end with a segmentation fault";
  if ((*info)->caps & FI_HMEM) return "TOMBOLO_OFI_HMEM=1 excludes those of the provider";
  struct fi_info *const found = with(calls, *info, FI_ATOMIC, 0);
  if (!found) return "the provider has no FI_ATOMIC";
  if (!any && ordered(*info) && !ordered(found)) {
    calls->freeinfo(found);
    return "FI_ATOMIC costs the order of signals behind puts (FI_ORDER_SAW); "
           "TOMBOLO_OFI_ATOMICS=yes accepts that";
  }
  replace(calls, info, found);
  return NULL;
}

/* An entry of getinfo: of a domain that is known already the one that leads farthest counts. */
static uint32_t add_domain(const struct fi_info *info, struct ofi_domain *domains, uint32_t count) {
  uint32_t at = 0;
  while (at < count && strcmp(domains[at].name, info->domain_attr->name) != 0) at++;
  if (at == OFI_DOMAINS || (at < count && domains[at].reach >= reach(info))) return count;
  snprintf(domains[at].name, sizeof domains[at].name, "%s", info->domain_attr->name);
  domains[at].reach = reach(info);
  domains[at].mr_mode = (uint64_t)info->domain_attr->mr_mode;
  return TMB_MAX(count, at + 1);
}

uint32_t ofi_choose_domains(const struct ofi_calls *calls, uint32_t row,
                            struct ofi_domain domains[OFI_DOMAINS]) {
  struct fi_info *hints = make_hints(calls, rows[row].name), *list = NULL;
  uint32_t count = 0;
  if (!hints) return 0;
  if (calls->getinfo(OFI_API, hints, &list) == 0) {
    for (const struct fi_info *i = list; i; i = i->next)
      if (is_usable(i, rows[row].name)) count = add_domain(i, domains, count);
    calls->freeinfo(list);
  }
  calls->freeinfo(hints);
  return count;
}

const char *ofi_choose_rail(const char *list, uint32_t rail, char *text, size_t bytes) {
  const char *at = list;
  while (at && rail--) {
    at = strchr(at, ',');
    if (at) at++;
  }
  const size_t length = at ? strcspn(at, ",") : 0;
  if (!length || length >= bytes) return NULL;
  memcpy(text, at, length);
  text[length] = 0;
  return text;
}

void ofi_choose_free(const struct ofi_calls *calls, struct fi_info *infos[OFI_PROVIDERS]) {
  for (uint32_t i = 0; i < OFI_PROVIDERS; i++)
    if (infos[i]) calls->freeinfo(infos[i]);
}

const char *ofi_choose_fabric(void) {
  static const char *const folders[] = {"/sys/class/infiniband", "/sys/class/cxi",
                                        "/sys/class/hfi1"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(folders); i++) {
    DIR *folder = opendir(folders[i]);
    bool any = false;
    if (!folder) continue;
    for (const struct dirent *e; !any && (e = readdir(folder));) any = e->d_name[0] != '.';
    closedir(folder);
    if (any) return folders[i];
  }
  return NULL;
}
