// SPDX-License-Identifier: BSD-3-Clause
// hello_cxx.cc: a word counter in C++: every rank mails a sentence to rank 0, which tallies words.
//
// Shows a Medium message with a payload of any length, its reply, and lambdas as handlers.
// Compile: tombolo c++ hello_cxx.cc -o hello_cxx
// Run:     tombolo run -n 4 ./hello_cxx
/* mode: SEQ */
/* ranks: 1 4 */
#include <gasnetex.h>

#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace {

enum : gex_AM_Index_t { HandlerSentence = GEX_AM_INDEX_BASE, HandlerThanks };

std::map<std::string, int> tally; // only rank 0's is filled
gex_Rank_t sentences = 0;
volatile int thanked = 0;

// The buffer is valid until the handler returns; the reply reports to the sender that it was
// counted.
void sentence(gex_Token_t token, void *text, size_t nbytes) {
  std::istringstream words(std::string(static_cast<const char *>(text), nbytes));
  for (std::string word; words >> word;) ++tally[word];
  ++sentences;
  gex_AM_ReplyShort(token, HandlerThanks, 0, static_cast<gex_AM_Arg_t>(nbytes));
}

} // namespace

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  if (gex_Client_Init(&client, &ep, &team, "HELLO_CXX", &argc, &argv, 0) != GASNET_OK) return 1;

  auto thanks = [](gex_Token_t, gex_AM_Arg_t nbytes) { thanked = nbytes; };
  void (*const thanks_fn)(gex_Token_t, gex_AM_Arg_t) = thanks;
  gex_AM_Entry_t table[] = {
      {HandlerSentence, reinterpret_cast<gex_AM_Fn_t>(sentence),
       GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, nullptr, "sentence"},
      {HandlerThanks, reinterpret_cast<gex_AM_Fn_t>(thanks_fn),
       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, nullptr, "thanks"},
  };
  if (gex_EP_RegisterHandlers(ep, table, 2) != GASNET_OK) return 1;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  const gex_Rank_t me = gex_TM_QueryRank(team);
  const std::string text = "hello hello from rank " + std::to_string(me);
  gex_AM_RequestMedium(team, 0, HandlerSentence, text.data(), text.size(), GEX_EVENT_NOW, 0);
  GASNET_BLOCKUNTIL(thanked == static_cast<int>(text.size()));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  int failed = 0;
  if (me == 0) {
    for (const auto &entry : tally) std::cout << entry.second << " x " << entry.first << "\n";
    failed = sentences != gex_TM_QuerySize(team) || tally["hello"] != int(2 * sentences);
    std::cout << (failed ? "FAILED" : "ok") << ": " << sentences << " sentences" << std::endl;
  }
  gasnet_exit(failed);
}
