/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interfaces and addresses, see udp_addr.h.
 *
 * Owns nothing. Called by udp_socket.c. Calls getifaddrs and ioctl. Ranks that are all in one
 * network namespace (pretended hosts) use loopback. Otherwise IPv4 if every rank has it, else IPv6.
 * Invariant: link-local addresses of IPv6 are left out, because a peer could not know on which of
 * its links they are.
 */
#include "net/udp/io/udp_addr.h"

#include "base/compiler.h"
#include "net/udp/guard/udp_siphash.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef IPV6_FREEBIND
# define IPV6_FREEBIND 78 /* fixed by Linux */
#endif

#define MTU_LEAST 1280u /* bytes, where the system names none; fixed by IPv6 */

/* Number of this kernel and network namespace. */
static uint64_t machine_id(void) {
  char text[64] = "";
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (read(fd, text, sizeof text - 1) < 0) text[0] = 0;
    close(fd);
  }
  struct stat ns = {0};
  const bool known = stat("/proc/self/ns/net", &ns) == 0;
  struct udp_siphash hash;
  udp_siphash_begin(&hash, (const uint64_t[2]){1, 2});
  udp_siphash_feed(&hash, text, sizeof text);
  if (known) udp_siphash_feed(&hash, &ns.st_ino, sizeof ns.st_ino);
  return udp_siphash_end(&hash);
}

static uint32_t mtu_of(int fd, const char *name) {
  struct ifreq request = {0};
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  if (ioctl(fd, SIOCGIFMTU, &request) || request.ifr_mtu <= 0) return MTU_LEAST;
  return (uint32_t)request.ifr_mtu;
}

/* Whether `word` is one of the comma-separated words of `list`. */
static bool listed(const char *list, const char *word) {
  const size_t bytes = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    if (!strncmp(at, word, bytes) && (at[bytes] == 0 || at[bytes] == ',')) return true;
  return false;
}

static bool wanted_by(const char *list, const char *name, int family, const void *ip) {
  if (!list || !*list) return true;
  char text[INET6_ADDRSTRLEN] = "";
  (void)inet_ntop(family, ip, text, sizeof text);
  return listed(list, name) || listed(list, text);
}

struct scan {
  struct udp_card *card;
  const char *wanted;
  int fd;
  bool loopback; /* take loopback interfaces, else the others */
};

static void add_address(const struct scan *scan, const struct ifaddrs *i) {
  const int family = i->ifa_addr->sa_family;
  const bool v6 = family == AF_INET6;
  const void *ip =
      v6 ? (const void *)&((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr
         : (const void *)&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr;
  if (v6 && IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)ip)) return;
  if (!wanted_by(scan->wanted, i->ifa_name, family, ip)) return;
  struct udp_card_family *f = &scan->card->family[v6];
  if (f->count == UDP_RAILS_MAX) return;
  memcpy(f->ip[f->count], ip, v6 ? 16 : 4);
  f->mtu[f->count++] = mtu_of(scan->fd, i->ifa_name);
}

static void scan_all(const struct scan *scan, const struct ifaddrs *list) {
  for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_RUNNING)) continue;
    if (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6) continue;
    if (((i->ifa_flags & IFF_LOOPBACK) != 0) == scan->loopback) add_address(scan, i);
  }
}

static bool has_family(int family) {
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

bool udp_card_fill(struct udp_card *card, const char *wanted) {
  memset(card, 0, sizeof *card);
  card->machine = machine_id();
  card->byte_order = UDP_BYTE_ORDER;
  card->family[0].works = has_family(AF_INET);
  card->family[1].works = has_family(AF_INET6);
  struct ifaddrs *list;
  if (getifaddrs(&list)) return false;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct scan scan = {card, wanted, fd, false};
  scan_all(&scan, list);
  if (!card->family[0].count && !card->family[1].count) {
    scan.loopback = true;
    scan_all(&scan, list);
  }
  if (fd >= 0) close(fd);
  freeifaddrs(list);
  return true;
}

static bool all_have(const struct udp_card *cards, uint32_t size, uint32_t f, bool loopback) {
  for (uint32_t i = 0; i < size; i++)
    if (!cards[i].family[f].works || cards[i].family[f].count > UDP_RAILS_MAX ||
        (!loopback && !cards[i].family[f].count))
      return false;
  return true;
}

bool udp_choose(const struct udp_card *cards, uint32_t size, int family,
                struct udp_choice *choice) {
  *choice = (struct udp_choice){.loopback = true, .rails = UDP_RAILS_MAX, .mtu = UINT32_MAX};
  for (uint32_t i = 1; i < size; i++)
    if (cards[i].machine != cards[0].machine) choice->loopback = false;
  uint32_t f = family == AF_INET6 ? 1 : 0;
  if (!family && !all_have(cards, size, 0, choice->loopback)) f = 1;
  if (!all_have(cards, size, f, choice->loopback)) return false;
  choice->family = f ? AF_INET6 : AF_INET;
  if (choice->loopback) {
    choice->rails = 1;
    choice->mtu = 65536;
    return true;
  }
  if (f) choice->rails = UDP_RAILS_MAX6;
  for (uint32_t i = 0; i < size; i++) {
    const struct udp_card_family *c = &cards[i].family[f];
    choice->rails = TMB_MIN(choice->rails, (uint32_t)c->count);
    for (uint32_t k = 0; k < c->count; k++)
      choice->mtu = TMB_MIN(choice->mtu, TMB_MAX(c->mtu[k], UDP_MTU_FLOOR));
  }
  return true;
}

struct udp_addr udp_card_addr(const struct udp_card *card, const struct udp_choice *choice,
                              uint32_t rail) {
  const bool v6 = choice->family == AF_INET6;
  const struct udp_card_family *f = &card->family[v6];
  struct udp_addr addr = {.port = 0};
  if (!choice->loopback) {
    memcpy(addr.ip, f->ip[rail], sizeof addr.ip);
  } else if (v6) {
    addr.ip[15] = 1;
  } else {
    addr.ip[0] = 127;
    addr.ip[3] = 1;
  }
  return addr;
}

static size_t ip_bytes(const struct udp_book *book) {
  return book->family == AF_INET6 ? 16 : 4;
}

bool udp_book_open(struct udp_book *book, const struct udp_book_rows *rows,
                   const struct udp_choice *choice) {
  *book = (struct udp_book){.family = choice->family, .rails = choice->rails, .size = rows->size};
  const size_t bytes = ip_bytes(book), count = (size_t)book->size * book->rails;
  book->ip = calloc(count, bytes);
  book->port = calloc(count, sizeof *book->port);
  if (!book->ip || !book->port) return false;
  for (size_t i = 0; i < count; i++) {
    const uint32_t rank = (uint32_t)(i / book->rails), rail = (uint32_t)(i % book->rails);
    const struct udp_addr addr = udp_card_addr(&rows->cards[rank], choice, rail);
    memcpy(book->ip + i * bytes, addr.ip, bytes);
    book->port[i] = rows->ports[rank].datagram[rail];
  }
  return true;
}

void udp_book_close(struct udp_book *book) {
  free(book->ip);
  free(book->port);
}

struct udp_addr udp_book_addr(const struct udp_book *book, uint32_t index) {
  struct udp_addr addr = {.port = book->port[index]};
  memcpy(addr.ip, book->ip + index * ip_bytes(book), ip_bytes(book));
  return addr;
}

socklen_t udp_addr_sockaddr(const struct udp_addr *addr, int family, struct sockaddr_storage *out) {
  if (family == AF_INET6) {
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    *v6 = (struct sockaddr_in6){
        .sin6_family = AF_INET6, .sin6_port = addr->port, .sin6_scope_id = addr->scope};
    memcpy(&v6->sin6_addr, addr->ip, 16);
    return sizeof *v6;
  }
  struct sockaddr_in *v4 = (struct sockaddr_in *)out;
  *v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = addr->port};
  memcpy(&v4->sin_addr, addr->ip, 4);
  return sizeof *v4;
}

/* An address that the host has lost for the moment, or that is being checked, can be bound. */
static void bind_freely(int fd, int family) {
  const int one = 1;
  if (family == AF_INET6)
    (void)setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof one);
  else
    (void)setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof one);
}

uint16_t udp_addr_bind(int fd, const struct udp_addr *addr, int family) {
  const int one = 1;
  struct sockaddr_storage own;
  socklen_t bytes = udp_addr_sockaddr(addr, family, &own);
  bind_freely(fd, family);
  if (family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
  if (bind(fd, (struct sockaddr *)&own, bytes) || getsockname(fd, (struct sockaddr *)&own, &bytes))
    return 0;
  return family == AF_INET6 ? ((struct sockaddr_in6 *)&own)->sin6_port
                            : ((struct sockaddr_in *)&own)->sin_port;
}
