// What a Verilated model does when it cannot go on. Verilator's own library would end the process; this one
// throws.
#pragma once

#include <stdexcept>

namespace datum::rtl_model {

/// Thrown out of eval() when an assertion failed ($error, $fatal, $stop) or the model does not settle. The
/// text is what the model printed, and where. The model must not be evaluated again.
class ModelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace datum::rtl_model
