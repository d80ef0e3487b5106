/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets go through connections (TCP): all of them, by setting or where datagrams get lost, or
 * those of long transfers.
 *
 * Owns the listening socket, the connections of this rank, and the io that it wraps. Called by
 * udp.c at open, then by the engine as its io. Calls the kernel and udp_frame.h. The engine keeps
 * its windows, hashes, credit and acknowledgements: a connection is one more path for packets that
 * may lose them, namely when it breaks. So its packets in flight are retransmitted, and a new
 * connection needs no agreement. A pair has a connection from its first packet on; where both begin
 * at once there are two for a moment or for good, both are read, and both ranks send on the one
 * that the lower rank made. Bytes that the kernel does not take wait here, bounded, so that a full
 * socket buffer never stops this rank from reading. Invariants: nothing blocks; before the greeting
 * is over nothing is read but the greeting, for a bounded time, of a bounded number of connections.
 */
#ifndef TMB_UDP_STREAM_H
#define TMB_UDP_STREAM_H

#include "net/udp/io/udp_addr.h"
#include "net/udp/io/udp_io.h"
#include "net/udp/stream/udp_frame.h"

/* TOMBOLO_UDP_STREAM. AUTO: for long transfers, and for all towards peers of which no datagram
 * comes. */
enum udp_stream_mode { UDP_STREAM_NEVER, UDP_STREAM_AUTO, UDP_STREAM_ALWAYS };

struct udp_stream;

/* Listen at this rank's address of rail 0. in own: its card. out ports: of connections. Returns
 * NULL, with the reason in errno. */
struct udp_stream *udp_stream_open(const struct udp_card *own, const struct udp_choice *choice,
                                   struct udp_ports *ports);

struct udp_stream_plan {
  struct udp_greeter greeter;
  const struct udp_ports *ports; /* [size] */
  const struct udp_book *book;   /* of the sockets, with which io is closed */
  enum udp_stream_mode mode;     /* AUTO or ALWAYS */
  bool bulk; /* in AUTO: io gets a rail that is a connection, see udp_io.has_stream */
  const struct tmb_net_up *up;
  struct tmb_net_stats *stats;
};

/* The ports of all ranks are there: wrap `io`, which is closed with the result. Returns false
 * without memory. */
bool udp_stream_join(struct udp_stream *s, const struct udp_stream_plan *plan, struct udp_io *io);

void udp_stream_close(struct udp_stream *s);

#endif
