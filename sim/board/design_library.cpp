#include "sim/board/design_library.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::sim {

namespace {

Error refusal(const std::string& name, std::string_view what, std::string hint) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("board option 'design={}': {}", shown_text(name), what), std::move(hint));
}

/// Of the code that looks, which is the plugin.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  return std::filesystem::path(info.dli_fname).parent_path();
}

std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> all;
  if (const char* const named = std::getenv(design_path_variable)) {
    for (std::string_view left = named; !left.empty();) {
      const std::string_view folder = left.substr(0, left.find(':'));
      if (!folder.empty()) {
        all.emplace_back(folder);
      }
      left.remove_prefix(folder.size() == left.size() ? left.size() : folder.size() + 1);
    }
  }
  all.push_back(own_folder());
  return all;
}

Result<std::filesystem::path> find_library(const std::string& name) {
  std::error_code ignored;
  if (name.find('/') != std::string::npos) {
    if (!std::filesystem::exists(name, ignored)) {
      return refusal(name, "there is no such file", "datum_add_board() of find_package(Datum) makes one");
    }
    return std::filesystem::path(name);
  }
  const std::string file = "libdatum_board_" + name + ".so";
  std::string looked;
  for (const std::filesystem::path& folder : folders()) {
    if (std::filesystem::exists(folder / file, ignored)) {
      return folder / file;
    }
    looked += fmt::format("{}'{}'", looked.empty() ? "" : ", ", folder.string());
  }
  return refusal(name, fmt::format("there is no {} in {}", file, looked),
                 fmt::format("name the library's file, or its folder in {}", design_path_variable));
}

}  // namespace

Result<const datum_design*> load_design(const std::string& name) {
  const auto path = find_library(name);
  if (!path) {
    return path.error();
  }
  void* const library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return refusal(name, fmt::format("it cannot be loaded: {}", ::dlerror()), {});
  }
  const auto entry = reinterpret_cast<datum_design_entry>(::dlsym(library, DATUM_DESIGN_ENTRY));
  const datum_design* const design = entry == nullptr ? nullptr : entry();
  if (design == nullptr) {
    return refusal(name, fmt::format("'{}' has no {}, so it is no board", path->string(), DATUM_DESIGN_ENTRY),
                   "datum_add_board() of find_package(Datum) makes libraries that are");
  }
  if (design->interface_version != DATUM_DESIGN_INTERFACE ||
      design->ports_bytes != sizeof(datum_design_ports)) {
    return refusal(name,
                   fmt::format("'{}' was built for another release of Datum: interface {}, this one has {}",
                               path->string(), design->interface_version, DATUM_DESIGN_INTERFACE),
                   "build it again");
  }
  return design;
}

}  // namespace datum::sim
