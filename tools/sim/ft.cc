/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchanges of FT, see ft.h.
 *
 * Owns: the cost of each way for a rank, and when its transfers begin. Called by main.cc. Calls:
 * SimGrid. The ranks of a node act alike and concurrently, so a node is one actor. With `every` all
 * nodes are simulated and each pair of them has a flow; otherwise one node is, over a wire as wide
 * as its share of the most loaded link when all nodes send: their loads on all links are counted
 * over the real routes. Invariants: a rank computes or works for the network, not both; a transfer
 * goes on while its rank computes where the machine's parameters say so.
 */
#include "ft.h"

#include <algorithm>
#include <cmath>

namespace sim {
namespace {

namespace s4u = simgrid::s4u;

constexpr double POINT_BYTES = 16;

/* Planes of transforms, and the exchange after them. */
struct Stage {
  uint64_t planes, transforms, length;
  int team; /* 0: rows, 1: columns, -1: none */
  double piece;
  bool unpacks; /* the data of the packed ways do not land in their place */
};

/* Bytes of the ranks of one node and one plane for the network. */
struct Share {
  std::vector<Flow> flows; /* to other nodes */
  double near;             /* from its first rank to others of the node */
  double near_all;         /* among all ranks of the node */
};

struct Run {
  Network &network;
  const FtCase &c;
  std::vector<Stage> stages;
  Network::Wire wire[2];
  FtResult result{};
  s4u::BarrierPtr barrier;
};

double transform_flops(const Stage &s) {
  return 5.0 * static_cast<double>(s.length) * std::log2(static_cast<double>(s.length)) *
         static_cast<double>(s.transforms);
}

uint64_t members(const FtCase &c, int team) {
  return team == 0 ? c.ty : c.tz;
}

/* Member `i` of the team of a rank: rows are consecutive ranks. */
uint64_t member(const FtCase &c, int team, uint64_t rank, uint64_t i) {
  return team == 0 ? rank / c.ty * c.ty + i : i * c.ty + rank % c.ty;
}

std::vector<Stage> stages_of(const FtCase &c) {
  const uint64_t nx = c.n[0] / c.ty, nz = c.n[2] / c.tz, y_row = c.n[1] / c.ty,
                 y_col = c.n[1] / c.tz;
  const Stage x = {nz, y_row, c.n[0], 0, POINT_BYTES * static_cast<double>(nx * y_row), true};
  const Stage y = {nz, nx, c.n[1], 1, POINT_BYTES * static_cast<double>(nx * y_col), false};
  return {x, y, {y_col, nx, c.n[2], -1, 0, false}};
}

/* Flows of one plane from a node, for the piece of a stage. */
Share share_of(const Network &network, const FtCase &c, const Stage &s, uint64_t node) {
  std::unordered_map<uint64_t, double> to;
  Share share{{}, 0, 0};
  const uint64_t cores = network.machine().count("cores_per_node");
  const uint64_t end = std::min((node + 1) * cores, network.ranks());
  for (uint64_t rank = node * cores; rank < end; rank++)
    for (uint64_t i = 0; i < members(c, s.team); i++) {
      const uint64_t peer = member(c, s.team, rank, i);
      if (peer == rank) continue;
      if (!network.near(rank, peer)) {
        to[network.node_of(peer)] += s.piece;
        continue;
      }
      share.near_all += s.piece;
      if (rank == node * cores) share.near += s.piece;
    }
  for (const auto &t : to) share.flows.push_back({node, t.first, t.second});
  std::sort(share.flows.begin(), share.flows.end(),
            [](const Flow &a, const Flow &b) { return a.to < b.to; });
  return share;
}

double total(const Share &share) {
  double bytes = 0;
  for (const Flow &f : share.flows) bytes += f.bytes;
  return bytes;
}

/* ---- one node */

class Node {
public:
  Node(Run &run, uint64_t index) : run_(run), index_(index), m_(run.network.machine()) {}

  void operator()() {
    for (const Stage &s : run_.stages) {
      stage(s);
      run_.barrier->wait();
    }
  }

private:
  void spend(double seconds) {
    if (index_ == 0) run_.result.software_s += seconds;
    s4u::this_actor::sleep_for(seconds);
  }

  void compute_plane(const Stage &s) {
    const double cores = m_.get("cores_per_node");
    const double points = static_cast<double>(s.length * s.transforms);
    const double flops = transform_flops(s) / (m_.get("fft_fraction") * m_.get("flops_per_core"));
    const double memory = 2 * POINT_BYTES * points / (m_.get("memory_bytes_per_s") / cores);
    if (index_ == 0) run_.result.compute_s += flops;
    if (index_ == 0) run_.result.movement_s += memory;
    s4u::this_actor::sleep_for(flops + memory);
  }

  /* Copy into or out of buffers. */
  void move(double bytes) {
    if (index_ == 0) run_.result.movement_s += copy(bytes);
    s4u::this_actor::sleep_for(copy(bytes));
  }

  /* Begin the transfers of some planes. */
  void transfer(const Stage &s, const Share &share, double planes) {
    double bytes = 0;
    size_t lane = 0;
    s4u::Host *const here = run_.network.host(index_);
    if (share.near > 0) {
      Lane &near = lane_of(lane++, here, here);
      near.stands_for = share.near_all / share.near;
      near.add(share.near * planes);
    }
    for (const Flow &f : share.flows) {
      bytes += f.bytes * planes;
      if (run_.c.every)
        lane_of(lane++, run_.network.host(f.from), run_.network.host(f.to)).add(f.bytes * planes);
    }
    if (run_.c.every || bytes <= 0) return;
    lanes_.push_back({run_.wire[s.team].from, run_.wire[s.team].to, nullptr, 0, 0, 0, 1});
    lanes_.back().add(bytes);
  }

  /* Messages to one place, one after the other. Messages added while one is in flight begin when
   * the node next polls. */
  struct Lane {
    s4u::Host *from, *to;
    s4u::CommPtr comm;
    double moving, backlog, moved;
    double stands_for; /* ranks of the node that act alike */

    void add(double bytes) {
      backlog += bytes;
      if (!comm || comm->test()) next();
    }
    /* Returns whether something is in flight. */
    bool next() {
      if (comm) moved += moving;
      comm = nullptr;
      if (backlog <= 0) return false;
      moving = backlog;
      backlog = 0;
      comm = s4u::Comm::sendto_async(from, to, static_cast<uint64_t>(moving));
      return true;
    }
  };

  Lane &lane_of(size_t index, s4u::Host *from, s4u::Host *to) {
    if (index >= lanes_.size()) lanes_.push_back({from, to, nullptr, 0, 0, 0, 1});
    return lanes_[index]; /* in `share` mode only 0, which is the first one made */
  }

  void wait_transfers() {
    for (Lane &lane : lanes_) {
      while (lane.comm) {
        lane.comm->wait();
        /* Others that have ended meanwhile go on. */
        for (Lane &other : lanes_)
          if (&other == &lane || (other.backlog > 0 && other.comm->test())) other.next();
      }
      run_.result.delivered += lane.moved * lane.stands_for;
    }
    lanes_.clear();
  }

  double peers(const Stage &s) const { return static_cast<double>(members(run_.c, s.team) - 1); }

  double copy(double bytes) const { return bytes / m_.get("copy_bytes_per_s"); }

  /* Start one put to each other member. in signal: with signal. */
  void start_puts(const Stage &s, double bytes) {
    const double start = m_.get(run_.c.way == Way::SIGNAL ? "signal_overhead_s" : "put_overhead_s");
    const bool counted = run_.c.way == Way::COLLECTIVE;
    const double done = counted || run_.c.way == Way::SIGNAL ? 0 : m_.get("put_done_s");
    spend(peers(s) * (start + done + bytes / m_.get("put_bytes_per_s")));
    if (counted) spend(m_.get("put_done_s"));
    if (index_ == 0) run_.result.messages += peers(s);
  }

  /* After the own puts are complete, all members notify each other; with signals the data are used
   * as soon as these are there. */
  void end_puts(const Stage &s) {
    wait_transfers();
    if (run_.c.way == Way::SIGNAL || run_.c.way == Way::COLLECTIVE) return;
    const double back = run_.network.latency(0, run_.network.nodes() / 2);
    s4u::this_actor::sleep_for(2 * back);
    spend(peers(s) * (m_.get("am_send_s") + m_.get("am_receive_s")));
  }

  /* Cost of one message for a receiver. in posted: receives that are posted meanwhile. */
  double receive_cost(double bytes, double posted) const {
    const bool eager = bytes <= m_.get("eager_bytes_max");
    return m_.get("message_receive_s") + m_.get("match_entry_s") * posted / 2 +
           (eager ? copy(bytes) : m_.get("rendezvous_s"));
  }

  double send_cost(double bytes) const {
    return m_.get("message_send_s") + (bytes <= m_.get("eager_bytes_max") ? copy(bytes) : 0);
  }

  /* Move packed data; `planes` planes' bytes in a message to each member. */
  void packed(const Stage &s, const Share &share) {
    const double planes = static_cast<double>(s.planes), bytes = s.piece * planes;
    const double mine = bytes * static_cast<double>(members(run_.c, s.team));
    move(mine);
    if (run_.c.way == Way::PACKED) {
      start_puts(s, bytes);
      transfer(s, share, planes);
      end_puts(s);
    } else {
      spend(peers(s) * (send_cost(bytes) + receive_cost(bytes, 1)));
      if (index_ == 0) run_.result.messages += peers(s);
      if (bytes > m_.get("eager_bytes_max"))
        s4u::this_actor::sleep_for(2 * run_.network.latency(0, run_.network.nodes() / 2));
      transfer(s, share, planes);
      wait_transfers();
    }
    if (s.unpacks) move(mine);
  }

  /* Sends and receives of pieces. A message longer than the eager limit moves once its receiver has
   * answered: when it waits for all, at its next call, or at once, as the machine says. */
  void slabs2(const Stage &s, const Share &share) {
    const double answers = m_.get("message_progress");
    const bool eager = s.piece <= m_.get("eager_bytes_max");
    uint64_t owed = 0; /* planes whose receivers have not answered */
    for (uint64_t p = 0; p < s.planes; p++) {
      compute_plane(s);
      spend(peers(s) * send_cost(s.piece));
      if (index_ == 0) run_.result.messages += peers(s);
      if (answers == 1 && owed) {
        spend(peers(s) * static_cast<double>(owed) * receive_cost(s.piece, peers(s)));
        transfer(s, share, static_cast<double>(owed));
        owed = 0;
      }
      if (eager || answers == 2)
        transfer(s, share, 1);
      else
        owed++;
    }
    if (owed) s4u::this_actor::sleep_for(2 * run_.network.latency(0, run_.network.nodes() / 2));
    const uint64_t late = eager || answers == 2 ? s.planes : owed;
    for (uint64_t p = 0; p < late; p++) {
      spend(peers(s) * receive_cost(s.piece, peers(s)));
      if (owed) transfer(s, share, 1);
    }
    wait_transfers();
  }

  void stage(const Stage &s) {
    const bool alone = s.team < 0 || members(run_.c, s.team) == 1;
    const Share share = alone ? Share{{}, 0, 0} : share_of(run_.network, run_.c, s, index_);
    if (!alone && run_.c.way == Way::SLABS2) return slabs2(s, share);
    for (uint64_t p = 0; p < s.planes; p++) {
      compute_plane(s);
      if (alone || run_.c.way == Way::PACKED || run_.c.way == Way::PACKED2) continue;
      start_puts(s, s.piece);
      transfer(s, share, 1);
    }
    if (alone) return;
    if (run_.c.way == Way::PACKED || run_.c.way == Way::PACKED2) return packed(s, share);
    end_puts(s);
  }

  Run &run_;
  uint64_t index_;
  const Machine &m_;
  std::vector<Lane> lanes_;
};

/* Count the bytes of the exchanges, and how long the wires need for them. */
void measure_wires(Run &run) {
  for (const Stage &s : run.stages) {
    if (s.team < 0 || members(run.c, s.team) == 1) continue;
    const double planes = static_cast<double>(s.planes);
    run.result.bytes += planes * s.piece * static_cast<double>(members(run.c, s.team) - 1) *
                        static_cast<double>(run.network.ranks());
    run.result.piece_bytes[s.team] = s.piece;
    double sent = 0;
    const double seconds = run.network.drain([&](const std::function<void(const Flow &)> &add) {
      for (uint64_t node = 0; node < run.network.nodes(); node++) {
        const Share share = share_of(run.network, run.c, s, node);
        sent += total(share);
        for (const Flow &f : share.flows) add(f);
      }
    });
    run.result.wire_s[s.team] = seconds * planes;
    if (sent == 0 || run.c.every) continue;
    const double width = total(share_of(run.network, run.c, s, 0)) / seconds;
    run.wire[s.team] = run.network.add_wire(s.team ? "columns" : "rows", width,
                                            run.network.latency(0, run.network.nodes() / 2));
  }
}

} // namespace

Way ft_way(const std::string &name) {
  static const std::pair<const char *, Way> names[] = {
      {"slabs", Way::SLABS},   {"signal", Way::SIGNAL}, {"collective", Way::COLLECTIVE},
      {"packed", Way::PACKED}, {"slabs2", Way::SLABS2}, {"packed2", Way::PACKED2}};
  return choose("--way", name, names);
}

void ft_grid(FtCase &c, uint64_t ranks, bool one) {
  uint64_t best = 0;
  for (uint64_t y = 1; y <= ranks; y++) {
    const uint64_t z = y ? ranks / y : 0;
    const bool fits =
        ranks % y == 0 && c.n[0] % y == 0 && c.n[1] % y == 0 && c.n[1] % z == 0 && c.n[2] % z == 0;
    if (!fits) continue;
    const uint64_t off = y > z ? y - z : z - y;
    const uint64_t before = best > ranks / std::max<uint64_t>(best, 1) ? best - ranks / best
                            : best                                     ? ranks / best - best
                                                                       : UINT64_MAX;
    if (one ? y == 1 : off < before) best = y;
  }
  if (!best)
    throw Error("--ranks " + std::to_string(ranks) + ": no grid" +
                (one ? " of one dimension" : "") + " of as many ranks divides " +
                std::to_string(c.n[0]) + "x" + std::to_string(c.n[1]) + "x" +
                std::to_string(c.n[2]) + "; give another number, as a power of two");
  c.ty = best;
  c.tz = ranks / best;
}

FtResult ft_run(Network &network, const FtCase &c) {
  Run run{network, c, stages_of(c), {}, {}, nullptr};
  const double points = static_cast<double>(c.n[0] * c.n[1] * c.n[2]);
  measure_wires(run);
  const uint64_t actors = c.every ? network.nodes() : 1;
  run.barrier = s4u::Barrier::create(static_cast<unsigned>(actors));
  for (uint64_t node = 0; node < actors; node++)
    start_actor("node" + std::to_string(node), network.host(node), Node(run, node));
  s4u::Engine::get_instance()->run();
  if (!c.every) run.result.delivered *= static_cast<double>(network.nodes());
  run.result.seconds = s4u::Engine::get_clock();
  run.result.flops = 5 * points * std::log2(points);
  run.result.bisection_s = network.bisection(points * POINT_BYTES);
  return run.result;
}

} // namespace sim
