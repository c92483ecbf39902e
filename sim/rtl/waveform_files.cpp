#include "sim/rtl/waveform_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace datum::sim {

namespace {

constexpr std::string_view word_before = ".before";
constexpr std::string_view word_of_life = ".life";

/// A name without, and with only, the suffix that viewers know.
struct SplitName {
  std::string_view stem;
  std::string_view suffix;
};

SplitName split(std::string_view file) {
  constexpr std::string_view suffix = ".fst";
  const bool has_suffix = file.size() > suffix.size() && file.ends_with(suffix);
  const std::size_t end = has_suffix ? file.size() - suffix.size() : file.size();
  return {file.substr(0, end), file.substr(end)};
}

std::string with_word(const std::string& file, const std::string& word) {
  const SplitName name = split(file);
  return std::string(name.stem) + word + std::string(name.suffix);
}

bool take(std::string_view& words, std::string_view word) {
  const bool there = words.starts_with(word);
  words.remove_prefix(there ? word.size() : 0);
  return there;
}

void take_number(std::string_view& words, std::string_view before) {
  std::string_view rest = words;
  if (!take(rest, before)) {
    return;
  }
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits != 0) {
    words = rest.substr(digits);
  }
}

/// Whether `words` are what the functions of this file put between stem and suffix.
bool are_ours(std::string_view words) {
  const bool some = !words.empty();
  take_number(words, word_of_life);
  take_number(words, ".");
  static_cast<void>(take(words, word_before));
  return some && words.empty();
}

/// A file that was opened and never written to counts as one.
bool is_waveform(const std::filesystem::path& path) {
  constexpr std::array<char, 9> header{0, 0, 0, 0,   0,
                                       0, 0, 1, 0x49};  // kind and length of an FST's first block
  std::array<char, header.size()> found{};
  std::ifstream file(path, std::ios::binary);
  const bool whole = static_cast<bool>(file.read(found.data(), found.size()));
  return whole ? found == header : file.gcount() == 0 && file.eof();
}

}  // namespace

std::string file_before(const std::string& file) { return with_word(file, std::string(word_before)); }

std::string file_of_window(const std::string& file, std::uint64_t window) {
  return window == 1 ? file : with_word(file, "." + std::to_string(window));
}

std::string file_of_life(const std::string& file, std::uint64_t life) {
  return life == 1 ? file : with_word(file, std::string(word_of_life) + std::to_string(life));
}

void remove_earlier_files(const std::string& file) {
  const std::filesystem::path path(file);
  const std::string name = path.filename();
  const SplitName own = split(name);
  std::error_code ignored;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator entry(folder, ignored), end; entry != end;
       entry.increment(ignored)) {
    const std::string other = entry->path().filename();
    if (other.size() <= name.size() || !other.starts_with(own.stem) || !other.ends_with(own.suffix)) {
      continue;
    }
    const std::string_view words =
        std::string_view(other).substr(own.stem.size(), other.size() - name.size());
    if (are_ours(words) && entry->is_regular_file(ignored) && is_waveform(entry->path())) {
      std::filesystem::remove(entry->path(), ignored);
    }
  }
}

}  // namespace datum::sim
