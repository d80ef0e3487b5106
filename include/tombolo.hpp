/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tombolo.hpp: Tombolo for C++17, headers above gasnetex_ext.h without a library of their own.
 *
 * Owns job, team, symmetric memory, global_ptr, put and get, strided copies, signals, futures,
 * remote calls and distributed_array; they are in tombolo/cxx. Called by C++ clients; calls the
 * public C API only. Needs exactly one of GASNET_SEQ, GASNET_PARSYNC and GASNET_PAR, as gasnetex.h
 * does. Invariants: types that travel are trivially copyable, or have a tombolo::serial; the heap
 * has the same layout on all ranks, so that an offset names a place on each. Guide: docs/CPP.md.
 */
#ifndef TOMBOLO_HPP
#define TOMBOLO_HPP

#include "tombolo/cxx/job.hpp"

#endif
