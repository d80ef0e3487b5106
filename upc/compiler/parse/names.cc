// SPDX-License-Identifier: BSD-3-Clause
/*
 * Names of the library that a program uses without their declaration, and the header that declares
 * them.
 *
 * Called by the other parts of the parser, where a name is unknown or the text cannot be parsed.
 * Calls: messages. Invariants: each name is reported once in a file, a function by a warning,
 * because programs of the older C call them undeclared.
 */
#include "parse.h"

#include <algorithm>

namespace {

struct Known {
  const char *name, *header;
};

const Known types[] = {
    {"upc_file_t", "upc_io.h"},
    {"upc_off_t", "upc_io.h"},
    {"upc_local_memvec_t", "upc_io.h"},
    {"upc_shared_memvec_t", "upc_io.h"},
    {"upc_filevec_t", "upc_io.h"},
    {"upc_hint_t", "upc_io.h"},
    {"upc_atomicdomain_t", "upc_atomic.h"},
    {"upc_atomichint_t", "upc_atomic.h"},
    {"upc_handle_t", "upc_nb.h"},
    {"upc_tick_t", "upc_tick.h"},
    {"upc_thread_info_t", "upc_castable.h"},
    {"upc_lock_t", "upc.h"},
    {"upc_op_t", "upc_types.h"},
    {"upc_type_t", "upc_types.h"},
    {"upc_flag_t", "upc_types.h"},
};

// Beginnings of names of functions and constants.
const Known beginnings[] = {
    {"upc_all_f", "upc_io.h"},
    {"upc_all_atomicdomain_", "upc_atomic.h"},
    {"upc_atomic_", "upc_atomic.h"},
    {"upc_all_alloc", "upc.h"},
    {"upc_all_lock_", "upc.h"},
    {"upc_all_broadcast", "upc_collective.h"},
    {"upc_all_scatter", "upc_collective.h"},
    {"upc_all_gather", "upc_collective.h"},
    {"upc_all_exchange", "upc_collective.h"},
    {"upc_all_permute", "upc_collective.h"},
    {"upc_all_reduce", "upc_collective.h"},
    {"upc_all_prefix_reduce", "upc_collective.h"},
    {"upc_all_sort", "upc_collective.h"},
    {"upc_tick", "upc_tick.h"},
    {"upc_cast", "upc_castable.h"},
    {"upc_thread_info", "upc_castable.h"},
    {"upc_sync", "upc_nb.h"},
    {"upc_memput_nb", "upc_nb.h"},
    {"upc_memget_nb", "upc_nb.h"},
    {"upc_memcpy_nb", "upc_nb.h"},
    {"upc_memset_nb", "upc_nb.h"},
    {"upc_mem", "upc.h"},
    {"upc_lock", "upc.h"},
    {"upc_unlock", "upc.h"},
    {"upc_alloc", "upc.h"},
    {"upc_global_", "upc.h"},
    {"upc_free", "upc.h"},
    {"upc_threadof", "upc.h"},
    {"upc_phaseof", "upc.h"},
    {"upc_resetphase", "upc.h"},
    {"upc_addrfield", "upc.h"},
    {"upc_affinitysize", "upc.h"},
    {"UPC_IN_", "upc_types.h"},
    {"UPC_OUT_", "upc_types.h"},
    {"UPC_CASTABLE_", "upc_castable.h"},
    {"UPC_COMPLETE_HANDLE", "upc_nb.h"},
    {"UPC_TICK_", "upc_tick.h"},
    {"UPC_ATOMIC_", "upc_atomic.h"},
};

// A name that each header declares: where it is known, the program has the header.
const Known declared_by[] = {
    {"upc_file_t", "upc_io.h"},     {"upc_atomicdomain_t", "upc_atomic.h"},
    {"upc_handle_t", "upc_nb.h"},   {"upc_tick_t", "upc_tick.h"},
    {"upc_cast", "upc_castable.h"}, {"upc_lock_t", "upc.h"},
    {"upc_flag_t", "upc_types.h"},  {"upc_all_broadcast", "upc_collective.h"},
};

// Words of the language, for the suggestion behind a misspelt one.
const char *const language[] = {
    "upc_barrier",     "upc_notify",      "upc_wait",       "upc_fence", "upc_forall",
    "upc_localsizeof", "upc_blocksizeof", "upc_elemsizeof", "THREADS",   "MYTHREAD",
};

// Beginnings of the names that tombolo_upc_names.h gives to names with bupc_.
const char *const older[] = {
    "upc_sem_",      "upc_smemvec_t", "upc_pmemvec_t",       "upc_memput_signal",
    "upc_waitsync",  "upc_trysync",   "upc_begin_accessreg", "upc_end_accessregion",
    "upc_atomicI",   "upc_atomicU",   "upc_atomicL",         "upc_thread_distance",
    "upc_memput_vl", "upc_memget_vl", "upc_memcpy_vl",       "upc_memput_il",
    "upc_memget_il", "upc_memcpy_il", "upc_memput_fstr",     "upc_memget_fstr",
    "upc_memput_st", "upc_memget_st", "upc_memcpy_st",       "upc_memcpy_fstr",
    "upc_memput_as", "upc_memget_as", "upc_memcpy_as",       "upc_memset_as",
};

// Names of another compiler's library that no public text describes, so that nobody can know their
// meaning. Without the prefix.
const char *const obscure[] = {"mempush_async", "mempush_asynci", "mempush"};

bool begins(std::string_view name, std::string_view with) {
  return name.compare(0, with.size(), with) == 0;
}

// Whether one letter more, less, other or exchanged with its neighbour makes a of b.
bool is_near(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  size_t front = 0, back = 0;
  while (front < a.size() && a[front] == b[front]) front++;
  while (back < a.size() - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) back++;
  const size_t rest = a.size() - front - back, other = b.size() - front - back;
  const bool exchanged =
      rest == 2 && other == 2 && a[front] == b[front + 1] && a[front + 1] == b[front];
  return exchanged || other <= 1;
}

// The header that declares a name; empty: it is none of the library's.
std::string remedy(std::string_view name) {
  for (const Known &k : types)
    if (name == k.name) return "#include <" + std::string(k.header) + ">, which declares it";
  if (begins(name, "bupc_") && name.size() > 7 && name.substr(name.size() - 2) == "_t")
    return "#include <bupc_extensions.h>, which declares it; <upc.h> does so unless "
           "BUPC_DISABLE_EXTENSIONS is defined";
  if (std::any_of(std::begin(older), std::end(older),
                  [name](const char *beginning) { return begins(name, beginning); }))
    return "#define BUPC_USE_UPC_NAMESPACE in front of #include <upc.h>, or write 'b" +
           std::string(name) + "'";
  for (const Known &k : beginnings)
    if (begins(name, k.name)) return "#include <" + std::string(k.header) + ">, which declares it";
  for (const char *word : language)
    if (is_near(name, word)) return "did you mean '" + std::string(word) + "'?";
  return "";
}

// Why a name of another compiler's library cannot be had, and its replacement; empty: it is none.
std::string instead(std::string_view name) {
  const size_t prefix = begins(name, "bupc_") ? 5 : begins(name, "upc_") ? 4 : 0;
  if (!prefix || std::none_of(std::begin(obscure), std::end(obscure),
                              [&](const char *o) { return name.substr(prefix) == o; }))
    return "";
  return "no public text says what it does; bupc_memput_async copies and gives a handle, "
         "bupc_memput_signal_async copies and posts a semaphore of the receiver";
}

// Number of semicolons between a parenthesis and its partner, those in inner parentheses left out.
int semicolons_in(const Source &s, int open) {
  int depth = 0, count = 0;
  for (int i = open; s[i].kind != Tk::End; i++) {
    if (s[i].kind != Tk::Punct) continue;
    const char c = s[i].text[0];
    if (c == '(' || c == '[' || c == '{') depth++;
    if (c == ';' && depth == 1) count++;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
  }
  return count;
}

} // namespace

// Whether the program has a header, as one of its names is known.
bool Parser::has_header(std::string_view header) const {
  return std::any_of(std::begin(declared_by), std::end(declared_by),
                     [&](const Known &k) { return k.header == header && find(k.name); });
}

// The header that declares a name; empty: it is none of the library's, or no header has it.
std::string Parser::remedy_here(std::string_view name) const {
  const std::string what = remedy(name), front = "#include <";
  if (what.compare(0, front.size(), front) != 0) return what;
  const size_t end = what.find('>');
  return has_header(what.substr(front.size(), end - front.size())) ? "" : what;
}

// Whether the token is an undeclared name of the library, which is then reported.
bool Parser::report_unknown(int token) {
  const Token &t = s_[token];
  if (t.kind != Tk::Name || t.kw != KwNone || find(t.text)) return false;
  const std::string missing = instead(t.text),
                    what = missing.empty() ? remedy_here(t.text) : missing;
  if (what.empty()) return false;
  if (std::find(reported_.begin(), reported_.end(), t.text) != reported_.end()) return true;
  reported_.push_back(t.text);
  const std::string text = "'" + std::string(t.text) + "' is not declared: " + what;
  if (missing.empty() && s_[token + 1].is("(")) // it may be a function of the program's own
    s_.warning(token, text);
  else
    s_.error(token, text);
  return true;
}

// Whether one of these tokens caused the syntax error.
bool Parser::report_unknown_in(int begin, int end) {
  bool found = false;
  for (int i = begin; i < end; i++) found = (report_unknown(i) && !s_[i + 1].is("(")) || found;
  return found;
}

// Whether `forall (` begins an upc_forall, as an older compiler took it: three semicolons are in
// its parentheses.
bool Parser::is_old_forall() {
  if (!at("forall") || !ahead(1).is("(") || find("forall")) return false;
  if (semicolons_in(s_, p_ + 1) != 3) return false;
  if (!forall_noted_) s_.note(p_, "'forall' is taken for upc_forall, as by older compilers");
  forall_noted_ = true;
  return true;
}
