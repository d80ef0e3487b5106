/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The udp conduit: Ethernet, by datagrams. Opens sockets, meets the other ranks, and exports the
 * table.
 *
 * Owns the exported symbol tombolo_net. Called by core through the table. Calls the engine and the
 * sockets. docs/UDP_PROTOCOL.md describes the protocol. Invariant: all ranks of a job choose equal
 * family, rails and packet length, from the records of all.
 */
#include "base/ascii.h"
#include "base/error.h"
#include "net/plugin/progress_thread.h"
#include "net/udp/io/udp_fault.h"
#include "net/udp/io/udp_socket.h"
#include "net/udp/ops/udp_engine.h"
#include "net/udp/stream/udp_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Chosen. STREAM_BELOW: docs/DECISIONS/0083 has the measurements. */
#define CREDIT_DEFAULT 1024u /* times 256 bytes */
#define NS_PER_S       1000000000u
#define STREAM_BELOW   16384u /* longer datagrams carry transfers as fast as a connection */

/* Settings that have to be there before the sockets are. */
struct plan {
  struct udp_card *cards;  /* [size] */
  struct udp_ports *ports; /* [size] */
  struct udp_choice choice;
  struct udp_sockets *sockets;
  struct udp_stream *stream; /* NULL: UDP_STREAM_NEVER */
  enum udp_stream_mode mode;
  enum udp_guard guard;
  struct udp_cipher *cipher; /* of GUARD_ENCRYPT, else NULL */
};

static int family_wanted(const struct tmb_net_up *up) {
  const char *text = up->setting("TOMBOLO_UDP_FAMILY");
  if (!text || !strcmp(text, "auto")) return 0;
  return !strcmp(text, "6") ? AF_INET6 : AF_INET;
}

/* Protection of this rank's packets. Reports a missing libsodium on stderr. */
static void find_guard(const struct tmb_net_up *up, struct plan *plan) {
  const char *text = up->setting("TOMBOLO_UDP_AUTH");
  char why[128];
  plan->guard = text && !strcmp(text, "header") ? UDP_GUARD_HEADER : UDP_GUARD_PAYLOAD;
  if (!text || strcmp(text, "encrypt") != 0) return;
  plan->guard = UDP_GUARD_ENCRYPT;
  plan->cipher = udp_cipher_load(why, sizeof why);
  if (plan->cipher) return;
  plan->guard = UDP_GUARD_NO_CIPHER;
  up->print(
      "udp: TOMBOLO_UDP_AUTH=encrypt needs libsodium on every host, and on this one it cannot be "
      "loaded (%s); install it (Debian: package libsodium23), or set TOMBOLO_UDP_AUTH to payload, "
      "which authenticates without it",
      why);
}

static enum udp_stream_mode find_mode(const struct tmb_net_up *up) {
  const char *text = up->setting("TOMBOLO_UDP_STREAM");
  if (text && !strcmp(text, "0")) return UDP_STREAM_NEVER;
  return text && !strcmp(text, "1") ? UDP_STREAM_ALWAYS : UDP_STREAM_AUTO;
}

/* Whether all ranks use connections alike; if not, the first one that differs says so. */
static bool streams_agree(const struct tmb_net_env *env, const struct plan *plan) {
  static const char *const names[] = {"0", "auto", "1"};
  const struct udp_card *cards = plan->cards;
  for (uint32_t i = 1; i < env->size; i++) {
    if (cards[i].stream == cards[0].stream) continue;
    if (i == env->rank)
      env->up->print(
          "udp: TOMBOLO_UDP_STREAM is %s here and %s at rank 0; set it to the same value "
          "on all hosts",
          names[cards[i].stream % 3], names[cards[0].stream % 3]);
    return false;
  }
  return true;
}

/* Whether all ranks use one method of authentication; the first rank that differs prints both. */
static bool guards_agree(const struct tmb_net_env *env, const struct plan *plan) {
  static const char *const names[] = {"header", "payload", "encrypt", "encrypt"};
  const struct udp_card *cards = plan->cards;
  for (uint32_t i = 0; i < env->size; i++)
    if (cards[i].guard == UDP_GUARD_NO_CIPHER) return false; /* that rank has said why */
  for (uint32_t i = 1; i < env->size; i++) {
    if (cards[i].guard == cards[0].guard) continue;
    if (i == env->rank)
      env->up->print("udp: TOMBOLO_UDP_AUTH is %s here and %s at rank 0, so neither would take the "
                     "other's packets; set it to the same value on all hosts",
                     names[cards[i].guard & 3], names[cards[0].guard & 3]);
    return false;
  }
  return true;
}

/* Send this rank's record to the others, and choose. Returns 0, or an error that has been printed.
 */
static int meet(const struct tmb_net_env *env, struct plan *plan) {
  const struct tmb_net_up *up = env->up;
  struct udp_card card;
  if (!udp_card_fill(&card, up->setting("TOMBOLO_UDP_INTERFACES"))) {
    up->print("udp: cannot list the interfaces of this host: %s", strerror(errno));
    memset(&card, 0, sizeof card);
  }
  card.wire = UDP_WIRE;
  find_guard(up, plan);
  card.guard = plan->guard;
  plan->mode = find_mode(up);
  card.stream = plan->mode;
  env->allgather(env->ctx, &card, sizeof card, plan->cards);
  for (uint32_t i = 0; i < env->size; i++)
    if (plan->cards[i].byte_order != UDP_BYTE_ORDER || plan->cards[i].wire != UDP_WIRE) {
      up->print("udp: rank %u has no network, or another byte order or version than this host", i);
      return TMB_E_UNSUPPORTED;
    }
  if (!guards_agree(env, plan) || !streams_agree(env, plan)) return TMB_E_UNSUPPORTED;
  if (udp_choose(plan->cards, env->size, family_wanted(up), &plan->choice)) return 0;
  up->print("udp: the ranks have no address family in common; `tombolo info` shows the interfaces, "
            "TOMBOLO_UDP_INTERFACES and TOMBOLO_UDP_FAMILY choose among them");
  return TMB_E_UNSUPPORTED;
}

/* Listen on the chosen interfaces, and send the addresses to other ranks. Returns as meet does. */
static int listen_there(const struct tmb_net_env *env, struct plan *plan) {
  const struct tmb_net_up *up = env->up;
  const struct udp_card *own = &plan->cards[env->rank];
  struct udp_ports ports = {0};
  plan->sockets = udp_sockets_open(own, &plan->choice, &ports);
  if (!plan->sockets)
    up->print("udp: no datagram socket can be bound to the addresses of the interfaces in use: %s; "
              "TOMBOLO_UDP_INTERFACES chooses others",
              strerror(errno));
  if (plan->mode != UDP_STREAM_NEVER) plan->stream = udp_stream_open(own, &plan->choice, &ports);
  if (plan->mode != UDP_STREAM_NEVER && !plan->stream)
    up->print("udp: cannot open a socket for connections: %s; TOMBOLO_UDP_STREAM=0 does without",
              strerror(errno));
  env->allgather(env->ctx, &ports, sizeof ports, plan->ports);
  for (uint32_t i = 0; i < env->size; i++) {
    const bool streams = plan->mode == UDP_STREAM_NEVER || plan->ports[i].stream;
    if (!streams || !plan->ports[i].datagram[plan->choice.rails - 1]) return TMB_E_SYS;
  }
  return 0;
}

static uint64_t timeout_ns(const struct tmb_net_up *up) {
  const char *text = up->setting("TOMBOLO_PEER_TIMEOUT");
  const double seconds = text ? tmb_ascii_strtod(text, NULL) : 0;
  return seconds > 0 ? (uint64_t)(seconds * NS_PER_S) : 0;
}

/* Whether the length of packets is known, so that it is not searched. */
static bool plan_mtu_given(const struct tmb_net_up *up, const struct plan *plan) {
  return plan->mode == UDP_STREAM_ALWAYS || plan->choice.loopback ||
         plan->choice.mtu == UDP_MTU_FLOOR || up->setting_int("TOMBOLO_UDP_MTU") > 0;
}

static uint32_t stream_packet(const struct plan *plan) {
  return TMB_ALIGN_DOWN(UDP_PACKET_MAX - (plan->cipher ? UDP_SEAL_TAG : 0), 16u);
}

static struct udp_config config_of(const struct tmb_net_env *env, const struct plan *plan) {
  const struct tmb_net_up *up = env->up;
  const uint32_t headers = plan->choice.family == AF_INET6 ? 48 : 28;
  const int64_t wanted = up->setting_int("TOMBOLO_UDP_MTU");
  const bool always = plan->mode == UDP_STREAM_ALWAYS;
  uint32_t bytes = always ? UDP_PACKET_MAX : plan->choice.mtu - headers;
  const bool given = plan_mtu_given(up, plan);
  if (wanted > 0 && wanted < bytes) bytes = (uint32_t)wanted;
  if (bytes > UDP_PACKET_MAX) bytes = UDP_PACKET_MAX;
  if (bytes < UDP_PACKET_MIN_MTU) bytes = UDP_PACKET_MIN_MTU;
  uint32_t base = TMB_MIN(bytes, UDP_MTU_BASE);
  if (plan->cipher) {
    bytes -= UDP_SEAL_TAG;
    base -= UDP_SEAL_TAG;
  }
  const int64_t credits = up->setting_int("TOMBOLO_TEST_UDP_CREDITS");
  return (struct udp_config){.packet_bytes = TMB_ALIGN_DOWN(bytes, 16u),
                             .base_bytes = given && !always ? 0 : TMB_ALIGN_DOWN(base, 16u),
                             .begins_long = always,
                             .credit = credits > 0 ? (uint32_t)credits : CREDIT_DEFAULT,
                             .coalesce = up->setting_int("TOMBOLO_TEST_UDP_COALESCE") != 0,
                             .cipher = plan->cipher,
                             .hash_payload = plan->guard == UDP_GUARD_PAYLOAD,
                             .rto_min_ns = always ? UDP_STREAM_RTO_NS : 0,
                             .peer_timeout_ns = timeout_ns(up),
                             .stream_min =
                                 (uint64_t)up->setting_int("TOMBOLO_TEST_UDP_STREAM_BYTES"),
                             .stream_bytes = stream_packet(plan)};
}

/* Put the fault filter before the sockets if it is asked for. */
/* Returns false when there is no memory for it. */
static bool add_faults(const struct tmb_net_env *env, const struct udp_config *config,
                       struct udp_io *io) {
  const char *text = env->up->setting("TOMBOLO_TEST_UDP_FAULT");
  if (!text || !*text) return true;
  struct udp_fault_config fault;
  if (!udp_fault_parse(text, &fault))
    env->up->wrong_setting(
        "setting TOMBOLO_TEST_UDP_FAULT=\"%s\" is not valid: expected a list such as "
        "loss=1,dup=0.5,reorder=2,corrupt=0.1,seed=7, in percent of packets, 0 "
        "to 100",
        text);
  fault.seed += env->rank * (uint64_t)1000003;
  fault.payload_hashed = config->hash_payload || config->cipher;
  return udp_fault_wrap(io, &fault);
}

/* Whether long transfers take connections: where datagrams are short, and one interface is used. */
static bool has_bulk(const struct plan *plan, const struct udp_config *config) {
  return plan->mode == UDP_STREAM_AUTO && plan->choice.rails == 1 && config->stream_min &&
         config->packet_bytes < STREAM_BELOW;
}

/* Put connections before the datagrams, beside them or instead. */
/* Returns false when there is no memory for them. */
static bool add_stream(const struct tmb_net_env *env, struct plan *plan,
                       const struct udp_config *config, struct udp_io *io) {
  if (!plan->stream) return true;
  const struct udp_stream_plan join = {.greeter = {env->secret, env->job_id, env->rank, env->size},
                                       .ports = plan->ports,
                                       .book = udp_sockets_book(plan->sockets),
                                       .mode = plan->mode,
                                       .bulk = has_bulk(plan, config),
                                       .up = env->up,
                                       .stats = env->stats};
  if (!udp_stream_join(plan->stream, &join, io)) return false;
  plan->stream = NULL; /* belongs to io */
  return true;
}

/* Put faults and connections before the datagrams. Faults are those of datagrams, so that the
 * fall-back to connections shows; without datagrams, of all. Returns false when there is no memory.
 */
static bool wrap(const struct tmb_net_env *env, struct plan *plan, const struct udp_config *config,
                 struct udp_io *io) {
  if (plan->mode == UDP_STREAM_ALWAYS && !add_stream(env, plan, config, io)) return false;
  if (!add_faults(env, config, io)) return false;
  return plan->mode != UDP_STREAM_AUTO || add_stream(env, plan, config, io);
}

/* Whether there is a route to the other hosts. Without one their ranks would be taken for lost, but
 * only after the peer's time-out. Returns as meet. */
static int find_route(const struct tmb_net_env *env, const struct plan *plan) {
  uint32_t peer = 0;
  while (peer < env->size && env->host_of[peer] == env->host) peer++;
  const int error = peer < env->size ? udp_sockets_route(plan->sockets, peer) : 0;
  if (!error) return 0;
  env->up->print("udp: this host cannot send to rank %u: %s; %s", peer, strerror(error),
                 plan->choice.loopback
                     ? "bring the loopback interface up (ip link set lo up), with 127.0.0.1"
                     : "check its routes (ip route); TOMBOLO_UDP_INTERFACES chooses interfaces");
  return TMB_E_SYS;
}

static bool tend(struct tmb_net *e, uint64_t seen, struct pollfd *fds, uint32_t *count,
                 uint64_t *ns) {
  if (!udp_tend(e, seen, ns)) return false;
  udp_engine_lock_blind(e); /* udp_fault.c sends what it holds */
  *count = e->io.ops->fds(e->io.state, fds, UDP_FDS_MAX);
  tmb_lock_release(&e->lock);
  return true;
}

_Static_assert(UDP_FDS_MAX <= TMB_PROGRESS_FDS, "the progress thread has room for all descriptors");

static int no_memory(const struct tmb_net_env *env) {
  env->up->print("udp: out of memory for the addresses of %u ranks", env->size);
  return TMB_E_NOMEM;
}

static void start_thread(const struct tmb_net_up *up, struct tmb_net *e) {
  const uint32_t share = (uint32_t)up->setting_int("TOMBOLO_PROGRESS_SHARE");
  if (!share) return;
  e->helper.thread = tmb_progress_thread_start(&(struct tmb_progress_work){
      .net = e, .tick = &e->time.tick, .tend = tend, .busy = udp_busy_transfers, .share = share});
  if (!e->helper.thread)
    up->print("udp: no progress thread: %s; raise what refuses it (ulimit -u, ulimit -n, pids.max "
              "of the cgroup), or set TOMBOLO_PROGRESS_SHARE=0",
              strerror(errno));
}

static int net_open(const struct tmb_net_env *env, struct tmb_net **net) {
  struct plan plan = {0};
  plan.cards = calloc(env->size, sizeof *plan.cards);
  plan.ports = calloc(env->size, sizeof *plan.ports);
  int rc = plan.cards && plan.ports ? 0 : no_memory(env);
  if (!rc) rc = meet(env, &plan);
  if (!rc) rc = listen_there(env, &plan);
  if (rc) goto free_plan;
  const bool offload = env->up->setting_int("TOMBOLO_TEST_UDP_OFFLOAD") != 0;
  const struct udp_config config = config_of(env, &plan);
  const struct udp_join join = {
      {plan.cards, plan.ports, env->size}, &plan.choice, offload, config.base_bytes > 0};
  rc = udp_sockets_join(plan.sockets, &join) ? find_route(env, &plan) : no_memory(env);
  if (rc) goto free_plan;
  struct udp_io io = udp_sockets_io(plan.sockets);
  const bool good = wrap(env, &plan, &config, &io);
  plan.sockets = NULL; /* belongs to io */
  struct tmb_net *e = good ? udp_engine_new(env, &config, &io) : NULL;
  if (!e) {
    rc = no_memory(env);
    io.ops->close(io.state);
    goto free_plan;
  }
  plan.cipher = NULL; /* belongs to the engine's configuration */
  start_thread(env->up, e);
  env->barrier(env->ctx);
  *net = e;
free_plan:
  udp_cipher_free(plan.cipher);
  udp_stream_close(plan.stream);
  if (plan.sockets) udp_sockets_close(plan.sockets);
  free(plan.ports);
  free(plan.cards);
  return rc;
}

static void net_close(struct tmb_net *e) {
  const struct udp_io io = e->io;
  struct udp_cipher *cipher = e->config.cipher;
  tmb_store_rlx(&e->helper.ends, true);
  tmb_progress_thread_stop(e->helper.thread);
  udp_engine_free(e);
  io.ops->close(io.state);
  udp_cipher_free(cipher);
}

const struct tmb_net_ops tombolo_net =
    TMB_NET_TABLE("udp", net_open, net_close, udp_am_send, udp_progress, .put = udp_put,
                  .get = udp_get, .put_signal = udp_put_signal, .get_signal = udp_get_signal,
                  .am_long = udp_am_long, .atomic = udp_atomic, .wait_fds = udp_wait_fds,
                  .drained = udp_drained, .lost = udp_peer_lost, .explain = udp_peer_explain);
