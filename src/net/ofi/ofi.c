/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ofi conduit: networks that libfabric knows. Opens an endpoint, meets the other ranks, and
 * exports the table.
 *
 * Owns the exported symbol tombolo_net. Called by core through the table. Calls the files of this
 * folder and libfabric, which is loaded when the conduit is opened. docs/OFI_INSIDE.md describes
 * it. Invariants: all ranks of a job use one provider, the best one that all of them have; a
 * failure of one rank ends the opening on all, and that rank has said why.
 */
#include "base/ascii.h"
#include "base/compiler.h"
#include "base/container/list.h"
#include "base/error.h"
#include "net/ofi/ofi_engine.h"
#include "net/ofi/ofi_rma.h"
#include "net/ofi/ofi_silent.h"
#include "net/plugin/progress_thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Chosen, not measured; they bound memory. */
#define NS_PER_S     1000000000u
#define WHY_BYTES    256  /* of a reason in a message to the user */
#define CREDIT_UNITS 256u /* credit of a peer, times OFI_UNIT bytes */

/* ---- agreement of the ranks */

static bool agree(const struct tmb_net *net, bool ok) {
  const uint8_t mine = ok, *all = ofi_gather(net, &mine, 1);
  for (uint32_t i = 0; i < net->env.size; i++) ok = ok && all[i];
  return ok;
}

static uint32_t far_ranks(const struct tmb_net_env *env) {
  uint32_t far = 0;
  for (uint32_t i = 0; i < env->size; i++) far += env->host_of[i] != env->host;
  return far;
}

/* libfabric, with the failures that a test asks for. */
static bool load(struct tmb_net *net) {
  char why[WHY_BYTES];
  const struct tmb_net_up *up = net->env.up;
  const char *fault = up->setting("TOMBOLO_TEST_OFI_FAULT");
  net->calls = ofi_calls_load(far_ranks(&net->env), why, sizeof why);
  if (!net->calls) {
    up->print("ofi: libfabric cannot be loaded: %s", why);
    return false;
  }
  if (!fault || !*fault) return true;
  net->calls = ofi_fault_wrap(net->calls, fault, net->env.rank + 1, why, sizeof why);
  if (!net->calls) up->print("ofi: TOMBOLO_TEST_OFI_FAULT: %s", why);
  return net->calls != NULL;
}

/* Says that a network in hardware is there and is not used. */
static void warn_if_slow(const struct tmb_net *net, uint32_t row, const char *wanted) {
  const char *fabric = ofi_choose_fabric();
  if (net->env.rank || !fabric || !ofi_choose_emulated(row) || (wanted && *wanted)) return;
  net->env.up->print("ofi: this host has a fabric (%s), but libfabric offers no provider for it to "
                     "this process, so %s over sockets is used, which is slow; `tombolo info` and "
                     "`fi_info` show the providers; TOMBOLO_OFI_PROVIDER=%s silences this",
                     fabric, ofi_choose_name(row), ofi_choose_name(row));
}

/* Prints, on the first rank, the usable providers. in row: of the chosen one, or OFI_PROVIDERS. */
static void list_devices(const struct tmb_net *net, struct fi_info *const infos[OFI_PROVIDERS],
                         uint32_t row) {
  if (net->env.rank || !net->env.up->setting_int("TOMBOLO_OFI_LIST_DEVICES")) return;
  for (uint32_t i = 0; i < OFI_PROVIDERS; i++)
    if (infos[i])
      net->env.up->print("ofi: provider %s, device %s%s", ofi_choose_name(i),
                         infos[i]->domain_attr->name, i == row ? ": taken" : "");
}

/* The providers that can be used on the named domain. Returns the bits of ofi_choose_list. */
static uint64_t list_usable(const struct tmb_net *net, const char *wanted,
                            struct fi_info *infos[OFI_PROVIDERS]) {
  const struct tmb_net_up *up = net->env.up;
  char first[OFI_NAME_MAX];
  const char *device =
      ofi_choose_rail(up->setting("TOMBOLO_OFI_INTERFACES"), 0, first, sizeof first);
  if (!device) device = up->setting("TOMBOLO_OFI_DEVICE");
  return net->calls ? ofi_choose_list(net->calls, wanted, device, infos) : 0;
}

/* Have the provider reach memory of devices, or report that it does not. */
static void reach_devices(struct tmb_net *net) {
  ofi_choose_hmem(net->calls, &net->rail[0].info);
  const struct fi_info *info = net->rail[0].info;
  if (!net->env.rank && !(info->caps & FI_HMEM))
    net->env.up->print("ofi: TOMBOLO_OFI_HMEM=1, but provider %s has no FI_HMEM, so device memory "
                       "goes through host memory; `fi_info -c FI_HMEM` shows those that have it",
                       info->fabric_attr->prov_name);
}

/* Have the provider perform atomic operations, if that is asked for and all ranks can. */
static void ask_atomics(struct tmb_net *net) {
  const char *setting = net->env.up->setting("TOMBOLO_OFI_ATOMICS");
  struct fi_info *const plain = net->rail[0].info;
  if (!ofi_choose_atomics_vary(setting, plain)) return;
  struct fi_info *info = net->calls->dupinfo(plain);
  const char *why = info ? ofi_choose_atomics(net->calls, setting, &info) : "out of memory";
  net->atomics.asked = agree(net, !why);
  if (why && strcmp(setting, "yes") == 0 && !net->env.rank)
    net->env.up->print("ofi: TOMBOLO_OFI_ATOMICS=yes cannot be followed with provider %s: %s",
                       plain->fabric_attr->prov_name, why);
  net->rail[0].info = net->atomics.asked ? info : plain;
  struct fi_info *const other = net->atomics.asked ? plain : info;
  if (other) net->calls->freeinfo(other);
}

/* in common: this rank has one, but not all have that one; wanted: the value of the setting, or "".
 */
static void refuse_providers(const struct tmb_net_up *up, bool common, const char *wanted) {
  char lacks[200];
  up->print("ofi: %s%s%s%s; `tombolo info` shows the providers and why each can be used or not",
            common ? "the ranks have no provider in common" : "libfabric has no usable provider",
            *wanted ? " named TOMBOLO_OFI_PROVIDER=" : "", wanted,
            ofi_choose_lacks(common ? "" : wanted, lacks, sizeof lacks));
}

/* Choose the provider: the best one that all ranks have. */
static bool choose(struct tmb_net *net) {
  const struct tmb_net_up *up = net->env.up;
  const char *wanted = up->setting("TOMBOLO_OFI_PROVIDER");
  struct fi_info *infos[OFI_PROVIDERS] = {NULL};
  const uint64_t mine = list_usable(net, wanted, infos);
  const uint64_t *all = ofi_gather(net, &mine, sizeof mine);
  uint64_t common = mine;
  for (uint32_t i = 0; i < net->env.size; i++) common &= all[i];
  uint32_t row = 0;
  while (row < OFI_PROVIDERS && !(common >> row & 1)) row++;
  list_devices(net, infos, row);
  if (row < OFI_PROVIDERS) {
    net->rail[0].info = infos[row];
    infos[row] = NULL;
    if (ofi_choose_gathers(row)) net->gather = (uint32_t)up->setting_int("TOMBOLO_TEST_OFI_GATHER");
    if (up->setting_int("TOMBOLO_OFI_HMEM")) reach_devices(net);
    warn_if_slow(net, row, wanted);
  } else if (net->calls && (!mine || !net->env.rank)) {
    refuse_providers(up, mine != 0, wanted ? wanted : "");
  }
  if (net->calls) ofi_choose_free(net->calls, infos);
  return net->rail[0].info != NULL;
}

/* ---- the endpoint */

/* Open the first rail, and have its provider know the message buffers. */
static bool open_first(struct tmb_net *net) {
  int rc = 0;
  if (!ofi_rail_open(net, &net->rail[0])) return false;
  if ((rc = ofi_memory_pool(net, &net->bufs.receives)) ||
      (rc = ofi_memory_pool(net, &net->bufs.small)) ||
      (rc = ofi_memory_pool(net, &net->bufs.large)) ||
      (rc = ofi_memory_pool(net, &net->silent.questions)))
    return ofi_says(net, "registering the message buffers", rc);
  return true;
}

/* Whether puts and gets are the provider's. Those of ofi_rxd (libfabric 1.17) are left unanswered
 * once in a while where several ranks access one. */
static bool has_rma(const struct tmb_net *net, const struct fi_info *info) {
  const char *text = net->env.up->setting("TOMBOLO_TEST_OFI_RMA");
  if (!(info->caps & FI_RMA)) return false;
  return strcmp(text, "auto") == 0 ? !ofi_is_rxd(net) : strcmp(text, "1") == 0;
}

/* Returns false when there is no memory for the buffers. */
static bool configure(struct tmb_net *net) {
  const struct tmb_net_up *up = net->env.up;
  const struct fi_info *info = net->rail[0].info;
  const int64_t credit = up->setting_int("TOMBOLO_TEST_OFI_CREDITS");
  const int64_t inject = up->setting_int("TOMBOLO_TEST_OFI_INJECT");
  const int64_t receives = up->setting_int("TOMBOLO_TEST_OFI_RECEIVES");
  const int64_t sends = up->setting_int("TOMBOLO_TEST_OFI_SENDS");
  const char *timeout = up->setting("TOMBOLO_PEER_TIMEOUT");
  const double seconds = timeout ? tmb_ascii_strtod(timeout, NULL) : 0;
  const size_t inject_max = TMB_MIN(info->tx_attr->inject_size, (size_t)OFI_SMALL_BYTES);
  net->timeout_ns = seconds > 0 ? (uint64_t)(seconds * NS_PER_S) : 0;
  net->credit = credit > 0 ? (uint32_t)credit : CREDIT_UNITS;
  net->credit_due = tmb_net_credit_due(net->credit, 1 + TMB_AM_MEDIUM_BYTES_MAX / OFI_UNIT);
  net->inject_max = (uint32_t)TMB_MIN(inject_max, (size_t)inject);
  net->mr_mode = (uint64_t)info->domain_attr->mr_mode;
  if (up->setting_int("TOMBOLO_TEST_OFI_MR_LOCAL")) net->mr_mode |= FI_MR_LOCAL;
  net->rma = has_rma(net, info);
  net->hmem = net->rma && (info->caps & FI_HMEM);
  net->ordered =
      (info->tx_attr->msg_order & FI_ORDER_SAW) && (info->rx_attr->msg_order & FI_ORDER_SAW);
  const uint32_t queue = (uint32_t)TMB_MIN(info->tx_attr->size, (size_t)4096);
  net->tx_limit = queue > 16 ? queue - queue / 4 : 8;
  return ofi_pool_make(&net->bufs.receives, (uint32_t)receives, OFI_MESSAGE_MAX, OFI_USE_RECV) &&
         ofi_pool_make(&net->bufs.small, 8 * (uint32_t)sends, OFI_SMALL_BYTES, OFI_USE_SEND) &&
         ofi_pool_make(&net->bufs.large, (uint32_t)sends, OFI_MESSAGE_MAX, OFI_USE_SEND) &&
         ofi_access_make(net) && ofi_silent_make(net);
}

/* Token that marks the messages of this job; the secret does not follow from it. */
static uint64_t token_of(const struct tmb_net_env *env) {
  uint64_t word[TMB_NET_SECRET_BYTES / sizeof(uint64_t)], token = env->job_id;
  memcpy(word, env->secret, sizeof word);
  for (size_t i = 0; i < TMB_ARRAY_LEN(word); i++) {
    token = (token ^ word[i]) * UINT64_C(0xd1342543de82ef95);
    token ^= token >> 29;
  }
  return token;
}

/* ---- the slots */

/* Free the copies of a list. */
static void free_copies(struct ofi_op *list) {
  for (struct ofi_op *op; (op = TMB_LIST_POP(&list)) != NULL;)
    if (!ofi_buffer_of(op)->pool) ofi_buffer_put(ofi_buffer_of(op));
}

static void net_close(struct tmb_net *net) {
  tmb_store_rlx(&net->client.ends, true);
  tmb_progress_thread_stop(net->client.thread);
  if (!ofi_rail_stop(net)) return; /* the provider may still use all of it */
  for (int i = 0; i < TMB_NET_HELD; i++) free_copies(net->in.held[i].first);
  free_copies(net->in.unanswered);
  ofi_memory_close(net);
  struct ofi_pool *const pools[] = {&net->bufs.receives, &net->bufs.small, &net->bufs.large,
                                    &net->silent.questions};
  for (size_t i = 0; i < TMB_ARRAY_LEN(pools); i++) {
    if (pools[i]->mr) (void)net->calls->close(&pools[i]->mr->fid);
    ofi_pool_free(pools[i]);
  }
  ofi_rail_close(net);
  for (uint32_t i = 0; net->peers.of && i < net->env.size; i++) free(net->peers.of[i]);
  free(net->silent.answers);
  free(net->gathered);
  free(net->peers.of);
  free(net->access.all);
  if (net->client.nudge >= 0) close(net->client.nudge);
  free(net);
}

/* The provider shm keeps a region in /dev/shm for each endpoint until that is closed. */
TMB_NO_LOCK_CHECK static void net_leave(struct tmb_net *net, int code) {
  (void)code;
  if (!strstr(net->rail[0].info->fabric_attr->prov_name, "shm")) return;
  tmb_progress_thread_stop(net->client.thread);
  net->client.thread = NULL;
  tmb_lock_acquire_shared(&net->lock); /* for ever: nobody uses the endpoint any more */
  (void)ofi_rail_stop(net);
}

static void start_thread(struct tmb_net *net) {
  const uint32_t share = (uint32_t)net->env.up->setting_int("TOMBOLO_PROGRESS_SHARE");
  if (!share) return;
  net->client.nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (net->client.nudge >= 0)
    net->client.thread =
        tmb_progress_thread_start(&(struct tmb_progress_work){.net = net,
                                                              .tick = &net->client.tick,
                                                              .tend = ofi_tend,
                                                              .busy = ofi_gathers,
                                                              .share = share});
  if (!net->client.thread)
    net->env.up->print("ofi: no progress thread: %s; raise what refuses it (ulimit -u, ulimit -n, "
                       "pids.max of the cgroup), or set TOMBOLO_PROGRESS_SHARE=0",
                       strerror(errno));
}

/* The state and its tables of all ranks, or NULL. */
static struct tmb_net *make(const struct tmb_net_env *env) {
  struct tmb_net *net = aligned_alloc(TMB_CACHE_LINE, TMB_ALIGN_UP(sizeof *net, TMB_CACHE_LINE));
  if (!net) return NULL;
  memset(net, 0, sizeof *net);
  net->env = *env;
  net->client.nudge = -1;
  net->rails = 1;
  for (int i = 0; i < TMB_NET_HELD; i++) net->in.held[i].last = &net->in.held[i].first;
  net->token = token_of(env);
  net->peers.of = calloc(env->size, sizeof(struct ofi_peer *));
  net->gathered = calloc(env->size, sizeof *net->gathered);
  net->silent.answers = calloc(env->size, 1);
  if (net->peers.of && net->gathered && net->silent.answers) return net;
  net_close(net);
  return NULL;
}

static int no_memory(const struct tmb_net_env *env) {
  env->up->print("ofi: out of memory for the buffers and tables of %u ranks", env->size);
  return TMB_E_NOMEM;
}

static int net_open(const struct tmb_net_env *env, struct tmb_net **out) {
  struct tmb_net *net = make(env);
  if (!net) return no_memory(env);
  int rc = TMB_E_SYS;
  bool good = load(net);
  good = choose(net) && good;
  if (agree(net, good)) {
    ask_atomics(net);
    if (!configure(net)) {
      rc = no_memory(env);
      goto fail;
    }
    good = ofi_rail_meet(net, &net->rail[0], open_first(net));
    if (net->atomics.asked) ofi_atomics_open(net, good);
    ofi_rail_others(net);
    tmb_lock_acquire_shared(&net->lock);
    for (struct ofi_buffer *b; good && (b = ofi_pool_take(&net->bufs.receives, 0));)
      ofi_post(net, b);
    tmb_lock_release(&net->lock);
    if (good) start_thread(net);
    if (!net->client.thread)
      net->gather = 0; /* nobody sends what waits while the client computes */
    good = ofi_silent_agree(net, good, net->client.thread != NULL);
  } else {
    good = false;
  }
  if (good) {
    free(net->gathered);
    net->gathered = NULL;
    *out = net;
    return 0;
  }
fail:
  net_close(net);
  return rc;
}

const struct tmb_net_ops tombolo_net = TMB_NET_TABLE(
    "ofi", net_open, net_close, ofi_am_send, ofi_progress, .leave = net_leave, .whole = true,
    .am_long = ofi_am_long, .put = ofi_put, .get = ofi_get, .device_rma = ofi_device_rma,
    .put_signal = ofi_put_signal, .get_signal = ofi_get_signal, .atomic = ofi_atomic,
    .offloads = ofi_offloads, .wait_fds = ofi_wait_fds, .drained = ofi_drained, .lost = ofi_lost,
    .segment_freed = ofi_segment_freed, .expose = ofi_expose, .conceal = ofi_conceal,
    .explain = ofi_explain);
