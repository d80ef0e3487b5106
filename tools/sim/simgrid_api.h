/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of SimGrid whose names or arguments differ between versions 3 and 4.
 *
 * Owns nothing. Included by network.h and transport.h, and so by all that simulates. Calls:
 * SimGrid. Version 4 keeps the former calls for a while, but compilers warn of them. Invariant: no
 * other file of this folder depends on the version. A cluster is a zone whose hosts and on-node
 * links SimGrid makes through callbacks, in version 3 as an argument, in version 4 set afterwards.
 */
#ifndef TMB_SIM_SIMGRID_API_H
#define TMB_SIM_SIMGRID_API_H

#include <functional>
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>
#include <string>
#include <utility>
#include <vector>

namespace sim {

/* Maker of all hosts of a cluster: `host` makes one, `link` the link inside it. */
struct ClusterParts {
  using Place = std::vector<unsigned long>;
  std::function<simgrid::s4u::Host *(simgrid::s4u::NetZone *, const Place &, unsigned long)> host;
  std::function<simgrid::s4u::Link *(simgrid::s4u::NetZone *, const Place &, unsigned long)> link;
  double bytes_per_s, latency_s; /* of the links between hosts */
};

/* Levels of a fat tree: ports below and above, at each. */
struct TreeLevels {
  std::vector<unsigned> down, up;
};

/* A dragonfly: how many groups and routers in each, with the links of one; hosts of a router. */
struct DragonflyShape {
  std::pair<unsigned, unsigned> groups, routers;
  unsigned nodes;
};

#if SIMGRID_VERSION >= 40000

template <class Code>
void start_actor(const std::string &name, simgrid::s4u::Host *host, Code code) {
# if SIMGRID_VERSION >= 40100
  host->add_actor(name, std::move(code));
# else
  simgrid::s4u::Engine::get_instance()->add_actor(name, host, std::move(code));
# endif
}

inline simgrid::s4u::Host *add_host(simgrid::s4u::NetZone *zone, const std::string &name) {
  return zone->add_host(name, 1e9);
}

inline simgrid::s4u::Link *add_link(simgrid::s4u::NetZone *zone, const std::string &name,
                                    double bytes_per_s) {
  return zone->add_link(name, bytes_per_s);
}

inline void add_route(simgrid::s4u::NetZone *zone, const simgrid::s4u::Host *from,
                      const simgrid::s4u::Host *to, const simgrid::s4u::Link *link) {
  zone->add_route(from, to, {simgrid::s4u::LinkInRoute(link)}, false);
}

inline simgrid::s4u::NetZone *root_zone(const simgrid::s4u::Engine &engine) {
  return engine.get_netzone_root();
}

inline simgrid::s4u::NetZone *add_zone(simgrid::s4u::NetZone *root, const std::string &name) {
  return root->add_netzone_full(name);
}

inline simgrid::s4u::NetZone *with_parts(simgrid::s4u::NetZone *zone, const ClusterParts &parts) {
  return zone->set_host_cb(parts.host)->set_loopback_cb(parts.link);
}

inline simgrid::s4u::NetZone *add_torus(simgrid::s4u::NetZone *root, const ClusterParts &parts,
                                        const std::vector<unsigned long> &lengths) {
  return with_parts(root->add_netzone_torus("net", lengths, parts.bytes_per_s, parts.latency_s,
                                            simgrid::s4u::Link::SharingPolicy::SPLITDUPLEX),
                    parts);
}

inline simgrid::s4u::NetZone *add_fat_tree(simgrid::s4u::NetZone *root, const ClusterParts &parts,
                                           const TreeLevels &levels) {
  const auto count = static_cast<unsigned>(levels.down.size());
  const std::vector<unsigned> links(count, 1);
  return with_parts(root->add_netzone_fatTree("net", count, levels.down, levels.up, links,
                                              parts.bytes_per_s, parts.latency_s,
                                              simgrid::s4u::Link::SharingPolicy::SPLITDUPLEX),
                    parts);
}

inline simgrid::s4u::NetZone *add_dragonfly(simgrid::s4u::NetZone *root, const ClusterParts &parts,
                                            const DragonflyShape &shape) {
  return with_parts(root->add_netzone_dragonfly("net", shape.groups, {1, 1}, shape.routers,
                                                shape.nodes, parts.bytes_per_s, parts.latency_s,
                                                simgrid::s4u::Link::SharingPolicy::SPLITDUPLEX),
                    parts);
}

#else

template <class Code>
void start_actor(const std::string &name, simgrid::s4u::Host *host, Code code) {
  simgrid::s4u::Actor::create(name, host, std::move(code));
}

inline simgrid::s4u::Host *add_host(simgrid::s4u::NetZone *zone, const std::string &name) {
  return zone->create_host(name, 1e9);
}

inline simgrid::s4u::Link *add_link(simgrid::s4u::NetZone *zone, const std::string &name,
                                    double bytes_per_s) {
  return zone->create_link(name, bytes_per_s);
}

inline void add_route(simgrid::s4u::NetZone *zone, const simgrid::s4u::Host *from,
                      const simgrid::s4u::Host *to, const simgrid::s4u::Link *link) {
  zone->add_route(from->get_netpoint(), to->get_netpoint(), nullptr, nullptr,
                  {simgrid::s4u::LinkInRoute(link)}, false);
}

inline simgrid::s4u::NetZone *root_zone(const simgrid::s4u::Engine &) {
  return simgrid::s4u::create_full_zone("root");
}

inline simgrid::s4u::NetZone *add_zone(simgrid::s4u::NetZone *root, const std::string &name) {
  return simgrid::s4u::create_full_zone(name)->set_parent(root);
}

inline simgrid::s4u::ClusterCallbacks callbacks_of(const ClusterParts &parts) {
  auto point = [host = parts.host](simgrid::s4u::NetZone *zone, const ClusterParts::Place &at,
                                   unsigned long id) {
    return std::make_pair(host(zone, at, id)->get_netpoint(),
                          static_cast<simgrid::kernel::routing::NetPoint *>(nullptr));
  };
  return simgrid::s4u::ClusterCallbacks(point, parts.link, {});
}

inline simgrid::s4u::NetZone *add_torus(simgrid::s4u::NetZone *root, const ClusterParts &parts,
                                        const std::vector<unsigned long> &lengths) {
  return simgrid::s4u::create_torus_zone("net", root, lengths, callbacks_of(parts),
                                         parts.bytes_per_s, parts.latency_s,
                                         simgrid::s4u::Link::SharingPolicy::SPLITDUPLEX);
}

inline simgrid::s4u::NetZone *add_fat_tree(simgrid::s4u::NetZone *root, const ClusterParts &parts,
                                           const TreeLevels &levels) {
  const auto count = static_cast<unsigned>(levels.down.size());
  const std::vector<unsigned> links(count, 1);
  return simgrid::s4u::create_fatTree_zone(
      "net", root, simgrid::s4u::FatTreeParams(count, levels.down, levels.up, links),
      callbacks_of(parts), parts.bytes_per_s, parts.latency_s,
      simgrid::s4u::Link::SharingPolicy::SPLITDUPLEX);
}

inline simgrid::s4u::NetZone *add_dragonfly(simgrid::s4u::NetZone *root, const ClusterParts &parts,
                                            const DragonflyShape &shape) {
  return simgrid::s4u::create_dragonfly_zone(
      "net", root, simgrid::s4u::DragonflyParams(shape.groups, {1, 1}, shape.routers, shape.nodes),
      callbacks_of(parts), parts.bytes_per_s, parts.latency_s,
      simgrid::s4u::Link::SharingPolicy::SPLITDUPLEX);
}

#endif

} // namespace sim

#endif
