// What stands behind the public handle. For capi, and for the tool, which looks at the plans that a host's calls use.
#pragma once

#include "context.hpp"

#include <hstujit/hstujit.h>

struct hstu_context {
  hstujit::Context context;
};
