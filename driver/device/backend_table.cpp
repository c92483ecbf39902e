// The one file that names the backends.
#include "driver/device/backend_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>
#include <datum/board/backend.hpp>

#include "vfio_backend/backend.hpp"
#include "vfio_backend/user/user_backend.hpp"

namespace datum {

namespace {

constexpr const char* plugin_file = "libdatum_sim.so";
constexpr const char* plugin_variable = "DATUM_SIM_PLUGIN";

Error plugin_error(std::string sentence) {
  return make_error(
      ErrorCode::dependency_unavailable, std::move(sentence),
      fmt::format("simulated boards need {}: build or install it beside libze_datum.so, or name it in {}",
                  plugin_file, plugin_variable));
}

/// Where this very code was loaded from.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code ignored;
  const std::filesystem::path resolved = std::filesystem::canonical(info.dli_fname, ignored);
  return (resolved.empty() ? std::filesystem::path(info.dli_fname) : resolved).parent_path();
}

Result<std::filesystem::path> find_plugin() {
  std::error_code ignored;
  if (const char* named = std::getenv(plugin_variable); named != nullptr && *named != '\0') {
    if (!std::filesystem::exists(named, ignored)) {
      return plugin_error(
          fmt::format("{} names '{}', which does not exist", plugin_variable, shown_text(named)));
    }
    return std::filesystem::path(named);
  }
  const std::filesystem::path here = own_folder();
  for (const std::filesystem::path& folder : {here, here / ".." / "lib"}) {
    if (std::filesystem::exists(folder / plugin_file, ignored)) {
      return folder / plugin_file;
    }
  }
  return plugin_error(fmt::format("the simulation plugin {} was not found in '{}' or '{}'", plugin_file,
                                  here.string(), (here / ".." / "lib").string()));
}

/// The plugin stays loaded: its boards may outlive any caller, and the dynamic linker counts repeated opens
/// itself.
Result<const board::Plugin*> load_plugin() {
  Result<std::filesystem::path> path = find_plugin();
  if (!path) {
    return std::move(path).error();
  }
  void* library = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return plugin_error(fmt::format("the simulation plugin could not be loaded: {}", ::dlerror()));
  }
  // POSIX gives functions as object pointers; this is the way back that both languages accept.
  const auto entry = reinterpret_cast<board::PluginEntry>(::dlsym(library, board::plugin_entry_name));
  const board::Plugin* plugin = entry == nullptr ? nullptr : entry();
  if (plugin == nullptr) {
    return plugin_error(
        fmt::format("'{}' is not a board plugin: it has no {}", path->string(), board::plugin_entry_name));
  }
  if (plugin->interface_version != board::plugin_interface_version) {
    return plugin_error(fmt::format("'{}' is of another build: interface version {}, this driver needs {}",
                                    path->string(), plugin->interface_version,
                                    board::plugin_interface_version));
  }
  return plugin;
}

Result<const board::Backend*> plugin_backend(std::string_view scheme) {
  Result<const board::Plugin*> plugin = load_plugin();
  if (!plugin) {
    return std::move(plugin).error();
  }
  for (unsigned index = 0; index < (*plugin)->backend_count; ++index) {
    if ((*plugin)->backends[index].scheme == scheme) {
      return &(*plugin)->backends[index];
    }
  }
  return plugin_error(fmt::format("the simulation plugin was built without '{}:' boards", scheme));
}

Result<const board::Backend*> vfio_backend(std::string_view) { return &vfio::backend(); }

Result<const board::Backend*> user_backend(std::string_view) { return &vfio_user::backend(); }

/// A scheme and how to get at its backend. `listed`: its boards are used without being asked for.
struct Row {
  std::string_view scheme;
  Result<const board::Backend*> (*find)(std::string_view scheme);
  bool listed;
};

constexpr Row rows[] = {
    {"vfio", vfio_backend, true},
    {"vfio-user", user_backend, false},
    {"rtl", plugin_backend, false},
    {"model", plugin_backend, false},
};

std::string known_schemes() {
  std::string all;
  for (const Row& row : rows) {
    all += fmt::format("{}{}:", all.empty() ? "" : ", ", row.scheme);
  }
  return all;
}

Error unknown_scheme(std::string_view address) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("'{}' is no board address: unknown scheme '{}'", shown_text(address),
                                shown_text(address.substr(0, address.find(':')))),
                    "schemes: " + known_schemes());
}

Result<const board::Backend*> backend_of(std::string_view address) {
  const std::string_view scheme = address.substr(0, address.find(':'));
  for (const Row& row : rows) {
    if (row.scheme == scheme) {
      return row.find(scheme);
    }
  }
  return unknown_scheme(address);
}

/// "rtl" is short for "rtl:".
std::string whole_address(std::string_view address) {
  std::string whole(address);
  if (whole.find(':') == std::string::npos) {
    whole += ':';
  }
  return whole;
}

}  // namespace

Result<std::unique_ptr<board::PcieFunction>> open_function(std::string_view address) {
  const std::string whole = whole_address(address);
  Result<const board::Backend*> backend = backend_of(whole);
  if (!backend) {
    return std::move(backend).error();
  }
  return (*backend)->open(whole);
}

bool is_known_scheme(std::string_view scheme) noexcept {
  return std::any_of(std::begin(rows), std::end(rows), [&](const Row& row) { return row.scheme == scheme; });
}

Status check_scheme(std::string_view address) {
  return is_known_scheme(address.substr(0, address.find(':'))) ? Status{} : Status{unknown_scheme(address)};
}

std::vector<std::string> default_boards() {
  std::vector<std::string> all;
  for (const Row& row : rows) {
    if (!row.listed) {
      continue;
    }
    if (Result<const board::Backend*> backend = row.find(row.scheme);
        backend && (*backend)->list != nullptr) {
      for (std::string& address : (*backend)->list()) {
        all.push_back(std::move(address));
      }
    }
  }
  return all;
}

std::string diagnose_board(std::string_view address) {
  const std::string whole = whole_address(address);
  Result<const board::Backend*> backend = backend_of(whole);
  if (!backend) {
    return backend.error().message + (backend.error().hint.empty() ? "" : " (" + backend.error().hint + ")");
  }
  return (*backend)->diagnose != nullptr ? (*backend)->diagnose(whole) : std::string{};
}

}  // namespace datum
