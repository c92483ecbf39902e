#include "tools/datum/environment.hpp"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <datum/base/shown_text.hpp>

#include "tools/datum/driver_list.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

constexpr const char* driver_file = "libze_datum.so";
constexpr const char* plugin_file = "libdatum_sim.so";

std::optional<std::filesystem::path> in_own_tree(const char* file) {
  std::error_code ignored;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const std::filesystem::path& folder : {here, here / ".." / DATUM_LIBRARY_FOLDER, here / "../lib"}) {
    // The folder's own name, and the file's as it was asked for: a name with a version is another after an
    // update.
    const std::filesystem::path place = std::filesystem::canonical(folder, ignored);
    if (!ignored && std::filesystem::exists(place / file, ignored)) {
      return place / file;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::filesystem::path> driver_beside_program() { return in_own_tree(driver_file); }

std::optional<std::filesystem::path> plugin_beside_driver() {
  const std::optional<std::filesystem::path> driver = driver_beside_program();
  std::error_code ignored;
  if (driver && std::filesystem::exists(driver->parent_path() / plugin_file, ignored)) {
    return driver->parent_path() / plugin_file;
  }
  return in_own_tree(plugin_file);
}

Status check_driver_list(const char* value) {
  if (value == nullptr) {
    return {};
  }
  const std::string_view list = value;
  if (list.empty() || list.starts_with(',') || list.ends_with(',') ||
      list.find(",,") != std::string_view::npos) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} is '{}': an empty entry makes loaders crash or hang", driver_variable,
                                  shown_text(list)),
                      driver_list_cure());
  }
  return {};
}

std::string driver_list_cure() {
  const std::optional<std::filesystem::path> own = driver_beside_program();
  if (!own) {
    return fmt::format("export {}=/PATH/TO/{}", driver_variable, driver_file);
  }
  const char* const named = std::getenv(driver_variable);
  const Result<std::vector<std::string>> drivers =
      driver_list(named, installed_drivers(loader_folders()), *own);
  if (!drivers) {
    return drivers.error().hint;
  }
  const std::string list = fmt::format("{}", fmt::join(*drivers, ","));
  if (named != nullptr && list == named) {
    return fmt::format("the driver stands in the list already; see whether it works alone: export {}={}",
                       driver_variable, shell_word(own->string()));
  }
  return fmt::format("export {}={}", driver_variable, shell_word(list));
}

Status prepare_environment(const std::string& board, bool name_driver) {
  if (Status good = check_driver_list(std::getenv(driver_variable)); !good) {
    return good;
  }
  if (const auto driver = driver_beside_program();
      name_driver && driver && std::getenv(driver_variable) == nullptr) {
    ::setenv(driver_variable, driver->c_str(), 0);
  }
  if (!board.empty()) {
    ::setenv("DATUM_BOARDS", board.c_str(), 1);
  }
  ::setenv("DATUM_LOG", "1", 0);  // a driver that declines says why
  return {};
}

}  // namespace datum::tool
