// Streams that run at once, and graphs with branches, for tests on the GPU.
#pragma once

#include "support/gpu.hpp"

#include <functional>
#include <vector>

namespace hstujit::test {

/// Streams that wait for nobody but each other. The first can lead: fork() lets the others wait for it, join() the
/// other way round; so a capture of the first is one of all.
class Streams {
 public:
  explicit Streams(size_t count);
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  size_t size() const { return streams_.size(); }
  CUstream operator[](size_t i) const { return streams_[i]; }
  void fork() const;
  void join() const;
  void wait() const;
  void wait_for(size_t i) const;

 private:
  void order(CUstream first, CUstream then, CUevent event) const;

  std::vector<CUstream> streams_;
  std::vector<CUevent> events_;
};

/// What `work` queues on the streams, each a branch, as a graph.
class BranchedGraph {
 public:
  BranchedGraph(const Streams& streams, const std::function<void()>& work);
  ~BranchedGraph();
  BranchedGraph(const BranchedGraph&) = delete;
  BranchedGraph& operator=(const BranchedGraph&) = delete;

  void launch(CUstream stream) const;

 private:
  CUgraph graph_ = nullptr;
  CUgraphExec executable_ = nullptr;
};

}  // namespace hstujit::test
