// Which version of the API the loaders of this process were built for.
#pragma once

#include <level_zero/ze_api.h>

namespace datum::api {

/// The lowest version for which tables were asked; the highest number that the type holds as long as nobody
/// asked. Any thread.
ze_api_version_t lowest_loader_version() noexcept;

/// Remembers that tables of `version` were asked for. Any thread.
void note_loader_version(ze_api_version_t version) noexcept;

/// Back to the state before the first table was asked for; for tests.
void forget_loader_versions() noexcept;

}  // namespace datum::api
