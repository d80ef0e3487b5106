/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzzer: the text of TOMBOLO_TEST_UDP_FAULT, and the cards with addresses that ranks publish. */
#include "net/udp/io/udp_addr.h"
#include "net/udp/io/udp_fault.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void cards(const uint8_t *data, size_t size) {
  struct udp_card card[3];
  struct udp_choice choice;
  memset(card, 0, sizeof card);
  memcpy(card, data, size < sizeof card ? size : sizeof card);
  for (int family = 0; family <= AF_INET6; family += AF_INET6)
    if (udp_choose(card, 3, family, &choice))
      for (uint32_t r = 0; r < choice.rails; r++) {
        struct sockaddr_storage out;
        const struct udp_addr addr = udp_card_addr(&card[2], &choice, r);
        if (udp_addr_sockaddr(&addr, choice.family, &out) == 0 || choice.rails > UDP_RAILS_MAX)
          abort();
      }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct udp_fault_config config;
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = 0;
  if (udp_fault_parse(text, &config) && !(config.loss >= 0 && config.loss <= 1)) abort();
  free(text);
  cards(data, size);
  return 0;
}
