/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names that programs of other implementations look for after including the headers of a job:
 * guards, versions, functions whose addresses are taken, the heap, system headers. Compiled by
 * check.sh as C and as C++, for every thread mode, with and without debug checks.
 */
#ifdef FIRST_TOOLS
# include <gasnet_tools.h>
#endif
#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_core.h>
#include <gasnet_extended.h>
#include <gasnet_tools.h>

#include "names.h"
#include <sys/socket.h>

#if !defined(_INCLUDED_GASNET_H) || !defined(_INCLUDED_GASNETEX_H) || \
    !defined(_INCLUDED_GASNET_TOOLS_H) || !defined(_GASNETEX_H) || !defined(_GASNET_H)
# error "a guard is missing"
#endif
#if GASNET_RELEASE_VERSION_MAJOR < 2000 || GASNET_DEBUG + GASNET_NDEBUG != 1
# error "versions and modes are usable in #if"
#endif

static void check_collectives(void) {
  gasnet_coll_tuning_parameter_t none =
      gasnet_coll_get_param(GASNET_TEAM_ALL, GASNET_COLL_BROADCAST_OP, 0, 0);
  EXPECT(gasnet_coll_get_num_params(GASNET_TEAM_ALL, GASNET_COLL_BROADCAST_OP, 0) == 0);
  EXPECT(none.tuning_param == GASNET_COLL_NUM_PARAM_TYPES && none.end == 0);
}

static void check_job_names(void) {
  GASNET_SOCKLEN_T length = sizeof(struct sockaddr);
  EXPECT(length > 0);
#if GASNET_SEQ
  EXPECT(GASNETI_MAX_THREADS == 1);
#else
  EXPECT(GASNETI_MAX_THREADS > 1);
#endif
  EXPECT(GASNETT_MAX_THREADS == GASNETI_MAX_THREADS);
#ifdef GASNET_DEBUGMALLOC
  EXPECT(strstr(GASNET_CONFIG_STRING, ",debug,notrace,nostats,debugmalloc,nosrclines,"));
#else
  EXPECT(strstr(GASNET_CONFIG_STRING, ",nodebug,notrace,nostats,nodebugmalloc,nosrclines,"));
#endif
  EXPECT(gasneti_mynode == gasnet_mynode() && gasneti_nodes == gasnet_nodes());
  EXPECT(gasnetc_AMPoll() == GASNET_OK && gasnet_AMPoll() == GASNET_OK);
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  EXPECT(gex_Client_Init(&client, &ep, &tm, "names", &argc, &argv, GEX_FLAG_USES_GASNET1) ==
         GASNET_OK);
  check_names();
  check_threadkey();
  check_services();
  check_job_names();
  check_collectives();
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (gex_TM_QueryRank(tm) == 0) printf("names: %s\n", failures ? "FAILED" : "ok");
  gasnet_exit(failures != 0);
  return 0;
}
