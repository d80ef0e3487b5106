/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses: which interfaces this rank can be reached by, and which of a peer's are used.
 *
 * Owns nothing. Called by udp_socket.c at open. Calls the kernel. Each rank publishes its
 * interfaces; all ranks choose by equal rules from equal data, so nobody has to announce the
 * choice.
 * Invariant: in a book a peer takes, for each rail, 4 or 16 bytes
 * and a port.
 */
#ifndef TMB_UDP_ADDR_H
#define TMB_UDP_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

/* Interfaces of a host that are used, at most. Chosen: a silent peer takes 64 bytes. */
#define UDP_RAILS_MAX  4u
#define UDP_RAILS_MAX6 2u /* of IPv6, whose addresses are longer */

/* An address and port, of either family. */
struct udp_addr {
  uint8_t ip[16]; /* IPv4: the first 4 */
  uint16_t port;  /* network order */
  uint16_t scope; /* IPv6 link-local: index of the interface here */
};

/* Address record of a rank for one family. */
struct udp_card_family {
  uint16_t works; /* not 0: the system has sockets of this family */
  uint16_t count;
  uint8_t ip[UDP_RAILS_MAX][16];
  uint32_t mtu[UDP_RAILS_MAX];
};

struct udp_card {
  uint64_t machine; /* equal: one kernel and network namespace */
  uint32_t byte_order;
  uint32_t wire;   /* UDP_WIRE */
  uint32_t guard;  /* enum udp_guard: equal on all ranks, or the job does not start */
  uint32_t stream; /* enum udp_stream_mode: equal on all ranks */
  struct udp_card_family family[2]; /* IPv4, IPv6 */
};

#define UDP_BYTE_ORDER 0x01020304u

/* Second record of a rank, when the choice is made: where it listens. Network order; 0: nowhere. */
struct udp_ports {
  uint16_t datagram[UDP_RAILS_MAX];
  uint16_t stream; /* for connections, on rail 0 */
};

/* Protection of packets, as TOMBOLO_UDP_AUTH says; NO_CIPHER: encrypted, but without libsodium. */
enum udp_guard { UDP_GUARD_HEADER, UDP_GUARD_PAYLOAD, UDP_GUARD_ENCRYPT, UDP_GUARD_NO_CIPHER };

/* Fill in machine and the addresses of this host's interfaces that are up, loopback last and only
 * if there is nothing else. in wanted: comma-separated names of interfaces or addresses, or NULL
 * for all. Returns false if the system does not say. */
bool udp_card_fill(struct udp_card *card, const char *wanted);

/* Bytes of the shortest packet with all headers. Below that the kernel divides, and nothing is
 * searched. Fixed by the formats. */
#define UDP_MTU_FLOOR 304u

/* Choice that all ranks of the job use. */
struct udp_choice {
  int family;     /* AF_INET or AF_INET6 */
  bool loopback;  /* all are in one network namespace */
  uint32_t rails; /* addresses of each peer */
  uint32_t mtu;   /* of the smallest interface, at least UDP_MTU_FLOOR */
};

/* Choose. in cards: [size]; family: 0, or the one that is wanted. Returns false if two ranks have
 * no family in common. */
bool udp_choose(const struct udp_card *cards, uint32_t size, int family, struct udp_choice *choice);

/* Address number `rail` of the rank that published `card`, without a port. */
struct udp_addr udp_card_addr(const struct udp_card *card, const struct udp_choice *choice,
                              uint32_t rail);

/* The addresses of all ranks, as short as they are. */
struct udp_book {
  int family;
  uint32_t rails, size;
  uint8_t *ip;    /* [size * rails] of 4 or 16 bytes */
  uint16_t *port; /* [size * rails] network order */
};

/* Rows from which a book is made. */
struct udp_book_rows {
  const struct udp_card *cards;  /* [size] */
  const struct udp_ports *ports; /* [size] */
  uint32_t size;
};

/* Returns false without memory. */
bool udp_book_open(struct udp_book *book, const struct udp_book_rows *rows,
                   const struct udp_choice *choice);
void udp_book_close(struct udp_book *book);

/* Address number rank * rails + rail. */
struct udp_addr udp_book_addr(const struct udp_book *book, uint32_t index);

/* Write the address in the kernel's form. Returns its length. */
socklen_t udp_addr_sockaddr(const struct udp_addr *addr, int family, struct sockaddr_storage *out);

/* Bind a socket to an address of this rank and to a port that is free. Returns the port in network
 * order; 0, with the reason in errno: it cannot be bound. */
uint16_t udp_addr_bind(int fd, const struct udp_addr *addr, int family);

#endif
