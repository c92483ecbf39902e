#include <utility>

#include "sim/board/board.hpp"
#include "sim/model/golden_model.hpp"
#if DATUM_HAVE_RTL
#include "sim/rtl/make_rtl_engine.hpp"
#endif

namespace datum::sim {

Result<std::unique_ptr<Engine>> make_engine(const EngineSurroundings& surroundings) {
  if (surroundings.options.scheme == Scheme::rtl) {
#if DATUM_HAVE_RTL
    return make_rtl_engine(surroundings);
#else
    return make_error(ErrorCode::unsupported_feature,
                      "this build has no RTL board, so rtl: addresses do not work",
                      "build with DATUM_WITH_RTL=ON, or use model:");
#endif
  }
  return std::unique_ptr<Engine>(std::make_unique<GoldenModel>(
      surroundings.options, surroundings.dram, surroundings.host, surroundings.timebase, surroundings.hash));
}

}  // namespace datum::sim
