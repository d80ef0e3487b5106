// SPDX-License-Identifier: BSD-3-Clause
/*
 * The output: tokens in their lines, line markers where lines do not follow each other.
 *
 * Called by main.cc. Calls: nothing. Invariants: a mark is \1 NUMBER \2 for a token with its text,
 * \1 p NUMBER \2 for its line and the pragmas in front alone.
 */
#include "gen.h"

#include <cstdlib>

void Writer::sync(int token) {
  const Token &t = s_[token];
  if (t.file == file_ && t.line == line_) return;
  if (t.file == file_ && t.line > line_ && t.line - line_ < 6) {
    out_.append(static_cast<size_t>(t.line - line_), '\n');
  } else {
    const SourceFile &f = s_.file(t.file);
    std::string name;
    for (char c : f.name) {
      if (c == '"' || c == '\\') name += '\\';
      name += c;
    }
    out_ += "\n# " + std::to_string(t.line) + " \"" + name + "\"" + (f.quiet ? " 3" : "") + "\n";
    file_ = t.file;
  }
  line_ = t.line;
}

void Writer::mark(int token, bool with_token) {
  const Token &t = s_[token];
  for (int i = 0; i < t.pragma_count; i++) {
    const Pragma &p = s_.pragma(t.pragma + i);
    if (p.text.compare(0, 12, "#pragma upc ") == 0 || p.text.compare(0, 13, "#pragma pupc ") == 0 ||
        p.text.compare(0, 13, "#pragma bupc ") == 0 ||
        p.text.compare(0, 13, "#pragma UPCR ") == 0 || p.text.compare(0, 13, "#pragma pgas ") == 0)
      continue;
    out_ += "\n" + p.text + "\n";
    file_ = -1;
  }
  sync(token);
  if (!with_token) return;
  if (t.space || last_ != token - 1) out_ += ' ';
  out_ += t.text;
  last_ = token;
}

void Writer::write(const std::string &text) {
  for (size_t i = 0; i < text.size();) {
    const size_t next = text.find('\1', i);
    const size_t stop = next == std::string::npos ? text.size() : next;
    if (i < stop && last_ != -2) out_ += ' '; // behind a token
    for (; i < stop; i++) {
      if (text[i] == '\n') line_++;
      out_ += text[i];
      last_ = -2;
    }
    if (next == std::string::npos) return;
    const bool plain = text[next + 1] == 'p';
    char *end;
    const long token = strtol(text.c_str() + next + (plain ? 2 : 1), &end, 10);
    if (token >= 0 && token < s_.size()) mark(static_cast<int>(token), !plain); // else not a mark
    i = static_cast<size_t>(end - text.c_str()) + 1;
  }
}
