// SPDX-License-Identifier: BSD-3-Clause
/*
 * The output: tokens in their lines and columns, line markers where lines do not follow each other
 * or the text of a line is longer than in the source.
 *
 * Called by main.cc. Calls: columns.cc. Invariants: a mark is \1 NUMBER \2 for a token with its
 * text, \1 p NUMBER \2 for its line and the pragmas in front alone, \1 l NUMBER \2 for its line
 * alone, \1 s NUMBER \2 for the pragmas in front of a statement, which its tokens leave out.
 * Tokens of system headers, of which the C compiler does not warn, and of macros stand in any
 * column.
 */
#include "gen/gen.h"

#include <cstdlib>

// A line marker and the beginning of that line.
void Writer::begin_line(const Token &t) {
  const SourceFile &f = s_.file(t.file);
  std::string name;
  for (char c : f.name) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  out_ += "\n# " + std::to_string(t.line) + " \"" + name + "\"" + (f.quiet ? " 3" : "") + "\n";
  file_ = t.file;
  line_ = t.line;
}

void Writer::sync(int token) {
  const Token &t = s_[token];
  if (t.file == file_ && t.line == line_) return;
  if (t.file != file_ || t.line < line_ || t.line - line_ >= 6) return begin_line(t);
  out_.append(static_cast<size_t>(t.line - line_), '\n');
  line_ = t.line;
}

// Goes to where the token stands in its source line.
void Writer::align(int token) {
  const Token &t = s_[token];
  const size_t column = columns_.of(token);
  if (column == Columns::kNone) return;
  if (out_.size() - (out_.rfind('\n') + 1) > column) begin_line(t);
  out_ += columns_.blanks(t, out_.size() - (out_.rfind('\n') + 1), column);
}

// The pragmas in front of a token, but for those that upcc obeys itself.
void Writer::pragmas(const Token &t) {
  for (int i = 0; i < t.pragma_count; i++) {
    const Pragma &p = s_.pragma(t.pragma + i);
    if (p.text.compare(0, 12, "#pragma upc ") == 0 || p.text.compare(0, 13, "#pragma pupc ") == 0 ||
        p.text.compare(0, 13, "#pragma bupc ") == 0 ||
        p.text.compare(0, 13, "#pragma UPCR ") == 0 || p.text.compare(0, 13, "#pragma pgas ") == 0)
      continue;
    out_ += "\n" + p.text + "\n";
    file_ = -1;
  }
}

void Writer::mark(int token, bool with_token) {
  const Token &t = s_[token];
  if (!fronts_.count(token)) pragmas(t);
  sync(token);
  if (!with_token) return;
  if (t.space || last_ != token - 1) out_ += ' ';
  align(token);
  out_ += t.text;
  last_ = token;
}

// Obeys the mark whose form and number begin at text[i]. Returns the text behind it.
size_t Writer::obey(const std::string &text, size_t i) {
  const char form = text[i];
  const bool lettered = form == 'p' || form == 'l' || form == 's';
  char *end;
  const long number = strtol(text.c_str() + i + (lettered ? 1 : 0), &end, 10);
  const auto token = static_cast<int>(number);
  const auto next = static_cast<size_t>(end - text.c_str()) + 1;
  if (number < 0 || number >= s_.size()) return next; // not a mark
  switch (form) {
  case 's':
    pragmas(s_[token]);
    fronts_.insert(token);
    sync(token);
    break;
  case 'l': sync(token); break;
  default: mark(token, form != 'p');
  }
  return next;
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
    i = obey(text, next + 1);
  }
}
