// Files that a command is told to write.
#pragma once

#include <string>

#include <datum/base/result.hpp>

namespace datum::tool {

/// Whoever writes it may run in another folder than the one in which the file was named.
[[nodiscard]] std::string absolute_path(const std::string& file);

/// A mistake in the name of what is to be written is told before the work and not after it.
[[nodiscard]] Status check_output_file(const char* option, const std::string& file);

/// What is to be said where `file` could not be written, by errno.
[[nodiscard]] Error not_written(const std::string& file, std::string hint = {});

/// What was in the file is gone, also on failure.
[[nodiscard]] Status write_output_file(const std::string& file, const std::string& text,
                                       std::string hint = {});

}  // namespace datum::tool
