// SPDX-License-Identifier: BSD-3-Clause
/*
 * Columns of tokens in the lines of their source files, so that messages of the C compiler name
 * them.
 *
 * Called by writer.cc. Calls: nothing. Invariants: the preprocessor keeps a line's tokens in order
 * and its blanks only at the beginning; a token that does not follow the one before it in the
 * source line is of a macro, and has a column only if it is a word that stands further on.
 */
#include "gen/gen.h"

#include <fstream>

namespace {

bool is_word(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}

// Skips blanks and comments that end in this line; returns the position behind them.
size_t behind_blanks(const std::string &line, size_t at) {
  for (;;) {
    while (at < line.size() && isspace(static_cast<unsigned char>(line[at]))) at++;
    if (line.compare(at, 2, "/*") != 0) return at;
    const size_t end = line.find("*/", at + 2);
    if (end == std::string::npos) return line.size();
    at = end + 2;
  }
}

bool is_whole(const std::string &line, size_t at, std::string_view text) {
  const size_t end = at + text.size();
  return !is_word(text.front()) ||
         !((at && is_word(line[at - 1])) || (end < line.size() && is_word(line[end])));
}

// Position of a token in its line; the search begins at `from`.
size_t place_in(const std::string &line, size_t from, const Token &t) {
  const size_t next = behind_blanks(line, from);
  if (line.compare(next, t.text.size(), t.text) == 0 && is_whole(line, next, t.text)) return next;
  if (t.kind == Tk::Punct) return Columns::kNone;
  for (size_t at = line.find(t.text, next); at != std::string::npos; at = line.find(t.text, at + 1))
    if (is_whole(line, at, t.text)) return at;
  return Columns::kNone;
}

} // namespace

const std::string &Columns::line_of(const Token &t) {
  static const std::string none;
  auto found = lines_.find(t.file);
  if (found == lines_.end()) {
    found = lines_.emplace(t.file, std::vector<std::string>()).first;
    std::ifstream in(s_.file(t.file).name);
    for (std::string line; std::getline(in, line);) found->second.push_back(line);
  }
  const auto &lines = found->second;
  return t.line >= 1 && static_cast<size_t>(t.line) <= lines.size()
             ? lines[static_cast<size_t>(t.line) - 1]
             : none;
}

// The columns of a line's tokens, of which `token` is the first.
void Columns::find_line(int token) {
  const Token &first = s_[token];
  const bool quiet = s_.file(first.file).quiet;
  const std::string &line = quiet ? std::string() : line_of(first);
  size_t from = 0;
  for (known_ = token; known_ < s_.size(); known_++) {
    const Token &t = s_[known_];
    if (t.file != first.file || t.line != first.line) return;
    size_t column = kNone;
    if (from < line.size() && !t.text.empty()) column = place_in(line, from, t);
    if (column != kNone) from = column + t.text.size();
    columns_.push_back(column);
  }
}

size_t Columns::of(int token) {
  while (known_ <= token) find_line(known_);
  return columns_[static_cast<size_t>(token)];
}

std::string Columns::blanks(const Token &t, size_t from, size_t to) {
  const std::string &line = line_of(t);
  std::string s;
  for (; from < to; from++) s += line[from] == '\t' ? '\t' : ' ';
  return s;
}
