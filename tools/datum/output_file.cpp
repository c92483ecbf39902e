#include "tools/datum/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::tool {

std::string absolute_path(const std::string& file) { return std::filesystem::absolute(file).string(); }

Status check_output_file(const char* option, const std::string& file) {
  const auto refusal = [&](const std::string& sentence, const char* hint) {
    return make_error(ErrorCode::invalid_argument, fmt::format("{}: {}", option, sentence), hint);
  };
  const std::filesystem::path path = absolute_path(file);
  const std::string folder = path.parent_path().string();
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return refusal(fmt::format("there is no folder '{}' for '{}'", shown_text(folder), shown_text(file)),
                   "make the folder, or name a file in one that there is");
  }
  if (std::filesystem::is_directory(path, ignored)) {
    return refusal(fmt::format("'{}' is a folder, not a file", shown_text(file)), "name a file in it");
  }
  const bool there = std::filesystem::exists(path, ignored);
  if (::access(there ? path.c_str() : folder.c_str(), W_OK) != 0) {
    return refusal(fmt::format("'{}' cannot be written: {}", shown_text(file), std::strerror(errno)),
                   "name a file that you may write");
  }
  return {};
}

Error not_written(const std::string& file, std::string hint) {
  return Error{ErrorCode::invalid_argument, errno,
               fmt::format("'{}' cannot be written: {}", shown_text(file), std::strerror(errno)),
               std::move(hint)};
}

Status write_output_file(const std::string& file, const std::string& text, std::string hint) {
  errno = 0;
  std::ofstream output(file, std::ios::binary | std::ios::trunc);
  output << text;
  output.close();
  return output ? Status{} : Status(not_written(file, std::move(hint)));
}

}  // namespace datum::tool
