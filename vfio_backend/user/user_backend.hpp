// The scheme vfio-user: boards that another process serves.
#pragma once

#include <datum/board/backend.hpp>

namespace datum::vfio_user {

[[nodiscard]] const board::Backend& backend() noexcept;

}  // namespace datum::vfio_user
