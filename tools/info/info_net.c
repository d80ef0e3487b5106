/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `tombolo info`: networks: the conduits and their devices here.
 *
 * Owns: the table of networks that people ask for. Called by info_collect.c. Calls: base/config,
 * os, getifaddrs, the loader, jansson. Nothing is sent. A conduit is looked for where the library
 * looks for it (core/client/conduit.c), and loaded; which interfaces the conduit udp takes is said
 * by its rules (net/udp/io/udp_addr.c). Invariants: an unusable one has a reason that names the
 * remedy.
 */
#define _GNU_SOURCE 1 /* dladdr */
#include "info/info.h"

#include "base/compiler.h"
#include "base/config.h"
#include "base/error.h"
#include "os/memory/memfd.h"
#include "os/os.h"
#include "os/process/code.h"

#include "build_info.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WHY_BYTES = 512, PATH_BYTES = 4096 };

#define PLUGIN_SYMBOL  "tombolo_net"
#define ETHERNET_BYTES 1500

/* ---- conduits */

/* Tries the needs of the on-node engine: anonymous shared memory that can be sized. */
static bool smp_works(char *why, size_t why_bytes) {
  const int fd = tmb_memfd_create("tombolo-info", false);
  if (fd < 0) {
    snprintf(why, why_bytes, "no anonymous shared memory: see the warning above");
    return false;
  }
  const bool ok = tmb_memfd_resize(fd, tmb_os_page_size(), why, why_bytes) == TMB_OK;
  close(fd);
  if (ok) snprintf(why, why_bytes, "ranks on this machine");
  return ok;
}

/* Whether a socket can be had at all: some containers forbid it. */
static bool udp_socket_works(char *why, size_t why_bytes) {
  const int families[] = {AF_INET, AF_INET6};
  for (size_t i = 0; i < TMB_ARRAY_LEN(families); i++) {
    const int fd = socket(families[i], SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) close(fd);
    if (fd >= 0) return true;
  }
  snprintf(why, why_bytes, "no permission for datagram sockets: socket: %s", strerror(errno));
  return false;
}

/* A folder of plug-ins, beside the library if it is loaded as one, or the command. */
static void add_folder(const void *symbol, const char *below, char *path, size_t bytes) {
  char file[PATH_BYTES];
  const size_t length = tmb_os_code_folder(symbol, file, sizeof file);
  snprintf(path, bytes, "%.*s/%s", (int)length, length ? file : "", below);
}

/* Where the plug-in of a conduit is; a wheel has _lib for lib. out path: of it, or its plain name
 * for the loader. */
static bool find_plugin(const char *name, char *path, size_t bytes) {
  const char *asked = tmb_cfg_str(TMB_CFG_NET_PLUGIN);
  const char *const folders[] = {"tombolo/", "", "../lib/tombolo/", "../lib/", "../_lib/tombolo/"};
  char folder[PATH_BYTES];
  if (asked && *asked) {
    snprintf(path, bytes, "%s", asked);
    return true;
  }
  for (size_t i = 0; i < TMB_ARRAY_LEN(folders); i++) {
    add_folder((const void *)(uintptr_t)&tmb_cfg_str, folders[i], folder, sizeof folder);
    if ((size_t)snprintf(path, bytes, "%stombolo-net-%s.so", folder, name) < bytes &&
        access(path, F_OK) == 0)
      return true;
  }
  if ((size_t)snprintf(path, bytes, TMB_LIBRARY_DIR "/tombolo/tombolo-net-%s.so", name) < bytes &&
      access(path, F_OK) == 0)
    return true;
  snprintf(path, bytes, "tombolo-net-%s.so", name);
  return false;
}

static bool plugin_works(const char *name, char *why, size_t why_bytes) {
  char path[PATH_BYTES];
  const bool there = find_plugin(name, path, sizeof path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const bool works = library && dlsym(library, PLUGIN_SYMBOL);
  if (works)
    snprintf(why, why_bytes, "plug-in %.400s", path);
  else if (there)
    snprintf(why, why_bytes, "its plug-in cannot be used: %.400s",
             library ? "it exports no " PLUGIN_SYMBOL : dlerror());
  else
    snprintf(why, why_bytes,
             "no plug-in: %.100s is neither in the folder 'tombolo' beside the library nor where "
             "the loader looks; TOMBOLO_NET_PLUGIN names its file",
             path);
  if (library) dlclose(library);
  return works;
}

static json_t *conduit_entry(const char *name, bool available, const char *text) {
  return json_pack("{s:s, s:b, s:s}", "name", name, "available", available, "why", text);
}

/* Appends to `why` which interfaces lead to other hosts: the rails of the conduit udp. */
static void add_rails(const json_t *interfaces, char *why) {
  char names[WHY_BYTES / 2] = "";
  size_t i, count = 0, end = 0;
  json_t *item;
  json_array_foreach(interfaces, i, item) {
    if (!json_is_true(json_object_get(item, "available"))) continue;
    const char *name = json_string_value(json_object_get(item, "name"));
    const int n = snprintf(names + end, sizeof names - end, "%s%s", count++ ? ", " : "", name);
    end = TMB_MIN(end + (size_t)n, sizeof names - 1);
  }
  const size_t used = strlen(why);
  if (count == 0)
    snprintf(why, WHY_BYTES,
             "no interface leads to other hosts (see interfaces): pretended hosts only");
  else if (count > 1)
    snprintf(why + used, WHY_BYTES - used,
             "; long transfers share %s, where the other hosts have as many interfaces", names);
}

json_t *info_conduits(const json_t *interfaces) {
  static const char *const others[] = {"ofi", "mpi-openmpi", "mpi-mpich"};
  char why[WHY_BYTES] = "";
  json_t *list = json_array();
  bool works = smp_works(why, sizeof why);
  json_array_append_new(list, conduit_entry("smp", works, why));
  works = plugin_works("udp", why, sizeof why) && udp_socket_works(why, sizeof why);
  if (works) add_rails(interfaces, why);
  json_array_append_new(list, conduit_entry("udp", works, why));
  json_array_append_new(list, conduit_entry("loop", true, "pretended hosts only, for tests"));
  for (size_t i = 0; i < TMB_ARRAY_LEN(others); i++) {
    works = plugin_works(others[i], why, sizeof why);
    json_array_append_new(list, conduit_entry(others[i], works, why));
  }
  return list;
}

/* ---- providers of libfabric: the plug-in reports its choice */

#define DESCRIBE_SYMBOL "tombolo_net_describe"

/* As src/net/ofi/ofi_list.c has it. */
struct describe {
  const char *(*setting)(const char *name);
  void (*line)(void *arg, const char *name, bool usable, const char *text);
  void *arg, *rails;
};

static const char *setting_named(const char *name) {
  const enum tmb_cfg_id ids[] = {TMB_CFG_OFI_PROVIDER, TMB_CFG_OFI_DEVICE, TMB_CFG_OFI_INTERFACES,
                                 TMB_CFG_OFI_ATOMICS};
  for (size_t i = 0; i < TMB_ARRAY_LEN(ids); i++)
    if (strcmp(tmb_cfg_row(ids[i])->name, name) == 0) return tmb_cfg_str(ids[i]);
  return NULL;
}

static void add_provider(void *arg, const char *name, bool usable, const char *text) {
  json_array_append_new(arg, conduit_entry(name, usable, text));
}

json_t *info_providers(json_t **rails) {
  char path[PATH_BYTES];
  json_t *list = json_array();
  *rails = json_array();
  (void)find_plugin("ofi", path, sizeof path);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym(library, DESCRIBE_SYMBOL) : NULL;
  if (symbol) {
    void (*describe)(const struct describe *);
    memcpy(&describe, &symbol, sizeof describe);
    describe(&(struct describe){setting_named, add_provider, list, *rails});
  }
  return list; /* libfabric may have started threads: it stays loaded */
}

/* ---- interfaces */

static int mtu_of(const char *name) {
  struct ifreq request = {0};
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  const int rc = fd < 0 ? -1 : ioctl(fd, SIOCGIFMTU, &request);
  if (fd >= 0) close(fd);
  return rc ? 0 : request.ifr_mtu;
}

/* Mbit/s as the driver says; 0: not known. */
static int speed_of(const char *name) {
  char path[96];
  int speed = 0;
  snprintf(path, sizeof path, "/sys/class/net/%.32s/speed", name);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fscanf(file, "%d", &speed) != 1 || speed < 0) speed = 0;
  fclose(file);
  return speed;
}

static bool has_word(const char *list, const char *word) {
  const size_t bytes = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (strncmp(at, word, bytes) == 0 && (at[bytes] == 0 || at[bytes] == ',')) return true;
  return false;
}

/* Adds an address; one that the conduit udp would not use has its reason in *why. */
static void add_address(const struct ifaddrs *i, json_t *addresses, uint32_t *usable,
                        const char **why) {
  char text[INET6_ADDRSTRLEN + 16] = "";
  const char *wanted = tmb_cfg_str(TMB_CFG_UDP_INTERFACES),
             *family = tmb_cfg_str(TMB_CFG_UDP_FAMILY);
  const bool v6 = i->ifa_addr->sa_family == AF_INET6;
  const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr;
  const struct in_addr *four = &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
  (void)inet_ntop(v6 ? AF_INET6 : AF_INET, v6 ? (const void *)six : (const void *)four, text,
                  INET6_ADDRSTRLEN);
  json_array_append_new(addresses, json_string(text));
  if (v6 && IN6_IS_ADDR_LINKLOCAL(six))
    *why = "it has a link-local address only: give it another one ('ip addr add')";
  else if (wanted && *wanted && !has_word(wanted, i->ifa_name) && !has_word(wanted, text))
    *why = "TOMBOLO_UDP_INTERFACES does not name it";
  else if (family && (*family == '4' || *family == '6') && (*family == '6') != v6)
    *why = "TOMBOLO_UDP_FAMILY asks for the other version of IP";
  else
    ++*usable;
}

/* Why an interface cannot be used, or how it is used. */
static bool judge(const struct ifaddrs *i, uint32_t addresses, uint32_t usable, const char *why,
                  char *text) {
  const int mtu = mtu_of(i->ifa_name), speed = speed_of(i->ifa_name);
  if (!(i->ifa_flags & IFF_UP))
    snprintf(text, WHY_BYTES, "down: 'ip link set %s up'", i->ifa_name);
  else if (!(i->ifa_flags & IFF_RUNNING))
    snprintf(text, WHY_BYTES, "no carrier: its cable or other end is missing");
  else if (i->ifa_flags & IFF_LOOPBACK)
    snprintf(text, WHY_BYTES, "loopback: pretended hosts only");
  else if (addresses == 0)
    snprintf(text, WHY_BYTES, "no address: 'ip addr add ADDRESS dev %s'", i->ifa_name);
  else if (usable == 0)
    snprintf(text, WHY_BYTES, "%s", why);
  else {
    int n = snprintf(text, WHY_BYTES, "MTU %d%s", mtu,
                     mtu < ETHERNET_BYTES ? ", small: long transfers are slower" : "");
    if (speed) snprintf(text + n, (size_t)(WHY_BYTES - n), ", %d Mbit/s", speed);
    return true;
  }
  return false;
}

/* One entry for each interface, with all of its addresses. */
static json_t *interface_entry(const struct ifaddrs *all, const struct ifaddrs *first) {
  json_t *addresses = json_array();
  const char *why = "";
  char text[WHY_BYTES];
  uint32_t usable = 0;
  for (const struct ifaddrs *i = all; i; i = i->ifa_next)
    if (i->ifa_addr && strcmp(i->ifa_name, first->ifa_name) == 0 &&
        (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6))
      add_address(i, addresses, &usable, &why);
  const bool works = judge(first, (uint32_t)json_array_size(addresses), usable, why, text);
  return json_pack("{s:s, s:b, s:s, s:i, s:o}", "name", first->ifa_name, "available", works, "why",
                   text, "mtu_bytes", mtu_of(first->ifa_name), "addresses", addresses);
}

json_t *info_interfaces(void) {
  struct ifaddrs *all;
  json_t *list = json_array();
  if (getifaddrs(&all)) return list;
  for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
    bool seen = false;
    for (const struct ifaddrs *k = all; k != i; k = k->ifa_next)
      seen = seen || strcmp(k->ifa_name, i->ifa_name) == 0;
    if (!seen) json_array_append_new(list, interface_entry(all, i));
  }
  freeifaddrs(all);
  return list;
}
