// A captured CUDA graph: what a server replays.
#pragma once

#include "cuda/driver.hpp"
#include "hstu_tune/stopwatch.hpp"

namespace hstujit::tool {

struct GraphFunctions;  ///< of the driver, that the library itself needs none of

class Graph {
 public:
  /// Captures what `work` queues. Throws Error when the work cannot be captured.
  Graph(const Driver& driver, CUstream stream, const GpuWork& work);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(CUstream stream) const;

 private:
  const Driver& driver_;
  const GraphFunctions& functions_;
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace hstujit::tool
