#include "hstu_tune/graph.hpp"

#include "support/error.hpp"

#define HSTU_TEXT2(x) #x
#define HSTU_TEXT(x) HSTU_TEXT2(x)  // with the version suffix that cuda.h gives a function's name

namespace hstujit::tool {

struct GraphFunctions {
  decltype(&::cuStreamBeginCapture) begin = nullptr;
  decltype(&::cuStreamEndCapture) end = nullptr;
  decltype(&::cuGraphInstantiate) instantiate = nullptr;
  decltype(&::cuGraphLaunch) launch = nullptr;
  decltype(&::cuGraphExecDestroy) destroy_executable = nullptr;
  decltype(&::cuGraphDestroy) destroy = nullptr;
};

namespace {

template <class Function>
void find(const Driver& driver, Function& function, const char* name) {
  driver.library->find_into(function, name);
  if (!function) fail(HSTU_ERROR_DEVICE, "{} has no {}: CUDA graphs need a newer driver", driver.path, name);
}

const GraphFunctions& functions(const Driver& driver) {
  static const GraphFunctions found = [&] {
    GraphFunctions f;
    find(driver, f.begin, HSTU_TEXT(cuStreamBeginCapture));
    find(driver, f.end, HSTU_TEXT(cuStreamEndCapture));
    find(driver, f.instantiate, HSTU_TEXT(cuGraphInstantiate));
    find(driver, f.launch, HSTU_TEXT(cuGraphLaunch));
    find(driver, f.destroy_executable, HSTU_TEXT(cuGraphExecDestroy));
    find(driver, f.destroy, HSTU_TEXT(cuGraphDestroy));
    return f;
  }();
  return found;
}

}  // namespace

Graph::Graph(const Driver& driver, CUstream stream, const GpuWork& work)
    : driver_(driver), functions_(functions(driver)) {
  const GraphFunctions& f = functions_;
  driver.check(f.begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "beginning a capture");
  try {
    work(stream);
  } catch (...) {
    f.end(stream, &graph_);
    if (graph_) f.destroy(graph_);
    throw;
  }
  driver.check(f.end(stream, &graph_), "ending a capture");
  driver.check(f.instantiate(&executable_, graph_, 0), "instantiating a graph");
}

Graph::~Graph() {
  if (executable_) functions_.destroy_executable(executable_);
  if (graph_) functions_.destroy(graph_);
}

void Graph::launch(CUstream stream) const {
  driver_.check(functions_.launch(executable_, stream), "launching a graph");
}

}  // namespace hstujit::tool
