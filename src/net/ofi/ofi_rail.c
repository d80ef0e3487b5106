/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rails: the domains that long transfers share, see ofi_engine.h.
 *
 * Owns: net->rail and its contents. Called by ofi.c and ofi_progress.c. Calls: libfabric by its
 * table, ofi_choose.c, env->up. The first rail carries all messages, and must be there on each
 * rank. TOMBOLO_OFI_INTERFACES names the others, by position: a rank without one goes without it.
 * Invariants: all rails have the provider and the registration mode of the first; two ranks use a
 * rail that both have.
 */
#include "net/ofi/ofi_engine.h"
#include "net/ofi/ofi_rma.h"

#include "base/compiler.h"
#include "base/error.h"
#include "net/plugin/route.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

static bool close_fid(const struct tmb_net *net, struct fid *fid) {
  return !fid || net->calls->close(fid) == 0;
}

#define CLOSE(object) close_fid(net, (object) ? &(object)->fid : NULL)

/* Whether a sleeping rank waits for an event queue. The provider net signals the descriptor of a
 * completion queue at each completion, and never takes the signal back, so nobody would sleep. That
 * of an event queue is of the same sockets, and no event comes: endpoints of datagrams have none.
 */
static bool waits_for_events(const struct ofi_rail *rail) {
  return strcmp(rail->info->fabric_attr->prov_name, "net") == 0;
}

static void find_descriptor(struct tmb_net *net, struct ofi_rail *rail) {
  struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
  struct fid *fid = &rail->cq->fid;
  if (waits_for_events(rail))
    fid = net->calls->eq_open(rail->fabric, &attr, &rail->eq) ? NULL : &rail->eq->fid;
  if (!fid || net->calls->wait_fd(fid, &rail->wait_fd)) rail->wait_fd = -1;
}

static bool open_queue(struct tmb_net *net, struct ofi_rail *rail) {
  struct fi_cq_attr attr = {.size = net->bufs.receives.count + net->bufs.small.count +
                                    net->bufs.large.count + net->silent.questions.count +
                                    OFI_ACCESSES,
                            .format = FI_CQ_FORMAT_DATA,
                            .wait_obj = waits_for_events(rail) ? FI_WAIT_NONE : FI_WAIT_FD};
  rail->wait_fd = -1;
  int rc = net->calls->cq_open(rail->domain, &attr, &rail->cq);
  if (rc == 0) {
    find_descriptor(net, rail);
    return true;
  }
  attr.wait_obj = FI_WAIT_NONE;
  rc = net->calls->cq_open(rail->domain, &attr, &rail->cq);
  return rc == 0 || ofi_says(net, "opening a completion queue", rc);
}

bool ofi_rail_open(struct tmb_net *net, struct ofi_rail *rail) {
  const struct ofi_calls *calls = net->calls;
  struct fi_av_attr av = {.type = FI_AV_MAP, .count = net->env.size};
  int rc = calls->fabric(rail->info->fabric_attr, &rail->fabric);
  if (rc) return ofi_says(net, "opening the fabric", rc);
  if ((rc = calls->domain(rail->fabric, rail->info, &rail->domain)))
    return ofi_says(net, "opening the domain", rc);
  if (rail->info->domain_attr->av_type == FI_AV_TABLE) av.type = FI_AV_TABLE;
  if ((rc = calls->av_open(rail->domain, &av, &rail->av)))
    return ofi_says(net, "opening an address vector", rc);
  if (!open_queue(net, rail)) return false;
  if ((rc = calls->endpoint(rail->domain, rail->info, &rail->ep)))
    return ofi_says(net, "opening an endpoint", rc);
  if ((rc = calls->ep_bind(rail->ep, &rail->av->fid, 0)) ||
      (rc = calls->ep_bind(rail->ep, &rail->cq->fid, FI_TRANSMIT | FI_RECV)))
    return ofi_says(net, "binding the endpoint", rc);
  if ((rc = calls->enable(rail->ep))) return ofi_says(net, "enabling the endpoint", rc);
  return true;
}

/* Whether there is a route to the other hosts, as far as the addresses are those of sockets.
 * Without one the provider tries to connect until it takes their ranks for lost. */
static bool has_route(const struct tmb_net *net, const struct ofi_rail *rail,
                      const struct ofi_card *cards) {
  const struct tmb_net_env *env = &net->env;
  const uint32_t format = rail->info->addr_format;
  uint32_t peer = 0;
  while (peer < env->size && (env->host_of[peer] == env->host || !cards[peer].name_bytes)) peer++;
  if (peer == env->size || (format != FI_SOCKADDR_IN && format != FI_SOCKADDR_IN6)) return true;
  struct sockaddr_storage addr = {0};
  memcpy(&addr, cards[peer].name, TMB_MIN(cards[peer].name_bytes, sizeof addr));
  const int error = tmb_route_check((struct sockaddr *)&addr, (socklen_t)cards[peer].name_bytes);
  if (!error) return true;
  env->up->print("ofi: this host cannot send to rank %u: %s; %s", peer, strerror(error),
                 ofi_choose_is_loopback(rail->info)
                     ? "bring the loopback interface up (ip link set lo up), with 127.0.0.1"
                     : "check its routes (ip route); TOMBOLO_OFI_DEVICE chooses the interface");
  return false;
}

bool ofi_rail_meet(struct tmb_net *net, struct ofi_rail *rail, bool good) {
  const struct tmb_net_env *env = &net->env;
  struct ofi_card mine = {.name_bytes = 0};
  rail->addr = calloc(env->size, sizeof *rail->addr);
  if (good && !rail->addr) good = ofi_says(net, "making a table of addresses", -FI_ENOMEM);
  size_t bytes = sizeof mine.name;
  if (good) {
    const int rc = net->calls->getname(rail->ep, mine.name, &bytes);
    if (rc || bytes > sizeof mine.name)
      good = ofi_says(net, "asking for the endpoint's address", rc ? rc : -FI_ETOOSMALL);
    else
      mine.name_bytes = bytes;
  }
  const struct ofi_card *cards = ofi_gather(net, &mine, sizeof mine);
  for (uint32_t i = 0; i < env->size && good; i++) {
    rail->addr[i] = FI_ADDR_NOTAVAIL;
    if (!cards[i].name_bytes) continue; /* that rank has said why */
    const int rc = net->calls->av_insert(rail->av, cards[i].name, &rail->addr[i]);
    if (rc) good = ofi_says(net, "entering a rank's address", rc);
  }
  return good && (rail != &net->rail[0] || has_route(net, rail, cards));
}

/* ---- the others */

/* Whether rails that register memory in the modes of `a` and of `b` can be used together. */
static bool is_alike(const struct fi_info *a, const struct fi_info *b) {
  return ((a->domain_attr->mr_mode ^ b->domain_attr->mr_mode) & ~FI_MR_HMEM) == 0 &&
         strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) == 0;
}

/* The entry of this provider on another domain, or NULL. */
static struct fi_info *find_like(struct tmb_net *net, const char *device) {
  const struct fi_info *first = net->rail[0].info;
  struct fi_info *infos[OFI_PROVIDERS] = {NULL}, *found = NULL;
  (void)ofi_choose_list(net->calls, first->fabric_attr->prov_name, device, infos);
  for (uint32_t i = 0; i < OFI_PROVIDERS && !found; i++)
    if (infos[i] && is_alike(infos[i], first)) {
      found = infos[i];
      infos[i] = NULL;
    }
  ofi_choose_free(net->calls, infos);
  return found;
}

/* Whether this rank speaks for its host. */
static bool is_first_here(const struct tmb_net_env *env) {
  for (uint32_t i = 0; i < env->rank; i++)
    if (env->host_of[i] == env->host) return false;
  return true;
}

/* Open one of the others. Returns whether it is there. */
static bool open_other(struct tmb_net *net, struct ofi_rail *rail, const char *device) {
  rail->info = find_like(net, device);
  if (rail->info && ofi_rail_open(net, rail)) return true;
  if (is_first_here(&net->env))
    net->env.up->print("ofi: TOMBOLO_OFI_INTERFACES: provider %s has no domain %s here that can be "
                       "used, so long transfers of this host go without it; `fi_info` shows them",
                       net->rail[0].info->fabric_attr->prov_name, device);
  return false;
}

void ofi_rail_others(struct tmb_net *net) {
  char name[OFI_NAME_MAX];
  const char *list = net->env.up->setting("TOMBOLO_OFI_INTERFACES");
  for (uint32_t r = 1; r < OFI_RAILS; r++) {
    struct ofi_rail *rail = &net->rail[r];
    const char *device = ofi_choose_rail(list, r, name, sizeof name);
    const bool open = device && net->rma && open_other(net, rail, device);
    const uint8_t mine = device && net->rma, *all = ofi_gather(net, &mine, 1);
    bool any = false;
    for (uint32_t i = 0; i < net->env.size; i++) any = any || all[i];
    if (!any) return;
    if (ofi_rail_meet(net, rail, open) && open) {
      net->rails = r + 1;
    } else {
      (void)CLOSE(rail->ep);
      rail->ep = NULL;
    }
  }
}

/* ---- the end, and waiting */

bool ofi_rail_stop(struct tmb_net *net) {
  bool stopped = true;
  for (uint32_t r = 0; r < OFI_RAILS; r++) stopped = CLOSE(net->rail[r].ep) && stopped;
  return stopped;
}

void ofi_rail_close(struct tmb_net *net) {
  for (uint32_t r = 0; r < OFI_RAILS; r++) {
    struct ofi_rail *rail = &net->rail[r];
    (void)CLOSE(rail->cq);
    (void)CLOSE(rail->av);
    (void)CLOSE(rail->domain);
    (void)CLOSE(rail->eq);
    (void)CLOSE(rail->fabric);
    if (rail->info) net->calls->freeinfo(rail->info);
    free(rail->addr);
  }
}

int ofi_rail_wait(struct tmb_net *net, struct pollfd *fds, uint32_t max, uint32_t *count) {
  for (uint32_t r = 0; r < net->rails; r++) {
    struct ofi_rail *rail = &net->rail[r];
    if (!rail->ep) continue;
    if (rail->wait_fd < 0 || *count == max) return -FI_ENOSYS;
    struct fid *fid = &rail->cq->fid;
    const int rc = net->calls->trywait(rail->fabric, &fid, 1);
    if (rc) return rc;
    fds[(*count)++] = (struct pollfd){.fd = rail->wait_fd, .events = POLLIN};
  }
  return 0;
}
