// The page that shows a trace: what stands before the trace in it, and what behind.
#pragma once

namespace datum::tool {

extern const char* const viewer_page_before_trace;
extern const char* const viewer_page_after_trace;

}  // namespace datum::tool
