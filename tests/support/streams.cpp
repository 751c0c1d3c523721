#include "support/streams.hpp"

#include "cuda/library.hpp"

#include <stdexcept>

#define HSTU_TEXT2(x) #x
#define HSTU_TEXT(x) HSTU_TEXT2(x)  // with the version suffix that cuda.h gives a function's name

namespace hstujit::test {
namespace {

/// What the library itself does not call.
struct Functions {
  decltype(&::cuStreamWaitEvent) wait_event = nullptr;
  decltype(&::cuStreamBeginCapture) begin = nullptr;
  decltype(&::cuStreamEndCapture) end = nullptr;
  decltype(&::cuGraphInstantiate) instantiate = nullptr;
  decltype(&::cuGraphLaunch) launch = nullptr;
  decltype(&::cuGraphExecDestroy) destroy_executable = nullptr;
  decltype(&::cuGraphDestroy) destroy = nullptr;
};

template <class Function>
void find(Function& function, const char* name) {
  gpu()->driver->library->find_into(function, name);
  if (!function) throw std::runtime_error(std::string("the driver has no ") + name);
}

const Functions& functions() {
  static const Functions found = [] {
    Functions f;
    find(f.wait_event, HSTU_TEXT(cuStreamWaitEvent));
    find(f.begin, HSTU_TEXT(cuStreamBeginCapture));
    find(f.end, HSTU_TEXT(cuStreamEndCapture));
    find(f.instantiate, HSTU_TEXT(cuGraphInstantiate));
    find(f.launch, HSTU_TEXT(cuGraphLaunch));
    find(f.destroy_executable, HSTU_TEXT(cuGraphExecDestroy));
    find(f.destroy, HSTU_TEXT(cuGraphDestroy));
    return f;
  }();
  return found;
}

void check(CUresult result, const char* doing) { gpu()->driver->check(result, doing); }

}  // namespace

Streams::Streams(size_t count) : streams_(count), events_(count) {
  for (CUstream& stream : streams_)
    check(gpu()->driver->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "creating a stream");
  for (CUevent& event : events_)
    check(gpu()->driver->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "creating an event");
}
Streams::~Streams() {
  for (CUevent event : events_) gpu()->driver->cuEventDestroy(event);
  for (CUstream stream : streams_) gpu()->driver->cuStreamDestroy(stream);
}
void Streams::order(CUstream first, CUstream then, CUevent event) const {
  check(gpu()->driver->cuEventRecord(event, first), "recording an event");
  check(functions().wait_event(then, event, 0), "waiting for an event");
}
void Streams::fork() const {
  for (size_t i = 1; i < size(); ++i) order(streams_[0], streams_[i], events_[0]);
}
void Streams::join() const {
  for (size_t i = 1; i < size(); ++i) order(streams_[i], streams_[0], events_[i]);
}
void Streams::wait_for(size_t i) const {
  check(gpu()->driver->cuStreamSynchronize(streams_[i]), "waiting for a stream");
}
void Streams::wait() const {
  for (size_t i = 0; i < size(); ++i) wait_for(i);
}

BranchedGraph::BranchedGraph(const Streams& streams, const std::function<void()>& work) {
  check(functions().begin(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "beginning a capture");
  streams.fork();
  work();
  streams.join();
  check(functions().end(streams[0], &graph_), "ending a capture");
  check(functions().instantiate(&executable_, graph_, 0), "instantiating a graph");
}
BranchedGraph::~BranchedGraph() {
  if (executable_) functions().destroy_executable(executable_);
  if (graph_) functions().destroy(graph_);
}
void BranchedGraph::launch(CUstream stream) const {
  check(functions().launch(executable_, stream), "launching a graph");
}

}  // namespace hstujit::test
