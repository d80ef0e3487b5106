/* SPDX-License-Identifier: BSD-3-Clause */
/* Choice of the provider's atomic operations, by domain. A table of calls stands for providers that
 * this machine does not have. */
#include "base/compiler.h"
#include "base/unit_test.h"
#include "net/ofi/ofi_engine.h"
#include "net/ofi/ofi_rma.h"

#include <stdint.h>
#include <stdlib.h>

#define BIT(number)  (1u << (number))
#define SAW          ((uint64_t)FI_ORDER_SAW)
#define FETCH(plain) (BIT(plain) << 16)

/* Offer of the next getinfo. */
static struct {
  const char *name;
  bool atomic;      /* has FI_ATOMIC */
  bool keeps;       /* ... and FI_ORDER_SAW with it */
  enum fi_op lacks; /* of type FI_DOUBLE */
} offer;

/* An entry of getinfo in one piece. */
struct entry {
  struct fi_info info;
  struct fi_tx_attr tx;
  struct fi_rx_attr rx;
  struct fi_ep_attr ep;
  struct fi_domain_attr domain;
  struct fi_fabric_attr fabric;
};
static char card[] = "card0";

static struct fi_info *make(const char *name, uint64_t caps, uint64_t order) {
  struct entry *e = calloc(1, sizeof *e);
  if (!e) abort();
  e->info = (struct fi_info){.caps = caps,
                             .tx_attr = &e->tx,
                             .rx_attr = &e->rx,
                             .ep_attr = &e->ep,
                             .domain_attr = &e->domain,
                             .fabric_attr = &e->fabric};
  e->tx.msg_order = e->rx.msg_order = order;
  e->ep.max_msg_size = SIZE_MAX;
  e->domain.name = card;
  e->fabric.prov_name = name ? strdup(name) : NULL;
  if (name && !e->fabric.prov_name) abort();
  return &e->info;
}

static void mock_freeinfo(struct fi_info *info) {
  free(info->fabric_attr->prov_name);
  free(info);
}

static struct fi_info *mock_dupinfo(const struct fi_info *info) {
  return info ? make(info->fabric_attr->prov_name, info->caps, info->tx_attr->msg_order)
              : make(NULL, 0, 0);
}

static int mock_getinfo(uint32_t version, const struct fi_info *hints, struct fi_info **info) {
  (void)version;
  const bool atomic = (hints->caps & FI_ATOMIC) != 0;
  if (atomic && !offer.atomic) return -FI_ENODATA;
  *info = make(offer.name, hints->caps, atomic && !offer.keeps ? 0 : SAW);
  return 0;
}

static int mock_query(struct fid_domain *domain, enum fi_datatype type, enum fi_op op,
                      struct fi_atomic_attr *attr, uint64_t flags) {
  (void)domain;
  if (flags != (op == FI_CSWAP ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC)) return -FI_EINVAL;
  if (type == FI_DOUBLE && op == offer.lacks) return -FI_EOPNOTSUPP;
  attr->count = type == FI_FLOAT ? 0 : 1; /* no float at all */
  attr->size = type == FI_INT32 || type == FI_UINT32 || type == FI_FLOAT ? 4 : 8;
  return 0;
}

static const struct ofi_calls mock = {.getinfo = mock_getinfo,
                                      .dupinfo = mock_dupinfo,
                                      .freeinfo = mock_freeinfo,
                                      .query_atomic = mock_query};

/* Whether atomic operations are asked for of a provider that `offer` describes. */
static bool chosen(const char *setting) {
  struct fi_info *info = make(offer.name, FI_MSG | FI_RMA, SAW);
  const char *const why = ofi_choose_atomics(&mock, setting, &info);
  assert_int_equal((info->caps & FI_ATOMIC) != 0, why == NULL);
  mock_freeinfo(info);
  return !why;
}

TEST(test_hardware) {
  offer.name = "cxi";
  offer.atomic = offer.keeps = true;
  assert_int_equal(chosen("auto"), true);
  assert_int_equal(chosen("yes"), true);
  assert_int_equal(chosen("no"), false);
}

TEST(test_software) {
  offer.atomic = offer.keeps = true;
  static const char *const names[] = {"tcp;ofi_rxm", "verbs;ofi_rxm", "efa", "sockets", "shm"};
  for (size_t i = 0; i < TMB_ARRAY_LEN(names); i++) {
    offer.name = names[i];
    assert_int_equal(chosen("auto"), false);
    assert_int_equal(chosen("yes"), true);
    assert_int_equal(chosen("no"), false);
  }
}

TEST(test_provider_without) {
  offer.name = "cxi";
  offer.atomic = false;
  assert_int_equal(chosen("auto"), false);
  assert_int_equal(chosen("yes"), false);
}

TEST(test_order_of_signals_is_not_given_up_unasked) {
  offer.name = "cxi";
  offer.atomic = true;
  offer.keeps = false;
  assert_int_equal(chosen("auto"), false);
  assert_int_equal(chosen("yes"), true);
}

TEST(test_rxd_is_never_used) {
  offer.name = "udp;ofi_rxd";
  offer.atomic = offer.keeps = true;
  assert_int_equal(chosen("yes"), false);
}

TEST(test_a_domain_is_covered_whole_or_not_at_all) {
  uint32_t can[TMB_ATOMIC_TYPES];
  offer.lacks = FI_PROD;
  ofi_atomics_query(&mock, NULL, can);
  const uint32_t u64 = BIT(TMB_ATOMIC_U64), dbl = BIT(TMB_ATOMIC_DBL), flt = BIT(TMB_ATOMIC_FLT);
  const uint32_t sums = BIT(TMB_ATOMIC_ADD) | BIT(TMB_ATOMIC_DEC) | FETCH(TMB_ATOMIC_SUB);
  assert_int_equal(ofi_atomics_cover(can, u64, sums | BIT(TMB_ATOMIC_MULT)), true);
  assert_int_equal(ofi_atomics_cover(can, dbl, sums), true);
  assert_int_equal(ofi_atomics_cover(can, dbl, sums | BIT(TMB_ATOMIC_MULT)), false);
  assert_int_equal(ofi_atomics_cover(can, dbl, sums | FETCH(TMB_ATOMIC_MULT)), false);
  assert_int_equal(ofi_atomics_cover(can, flt, BIT(TMB_ATOMIC_ADD)), false);
  assert_int_equal(ofi_atomics_cover(can, u64, FETCH(TMB_ATOMIC_GET) | FETCH(TMB_ATOMIC_CAS)),
                   true);
  assert_int_equal(ofi_atomics_cover(can, u64, 0), false);
}

int main(void) {
  return unit_run(NULL, NULL);
}
