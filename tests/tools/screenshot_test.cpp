// The report as a browser shows it: headless Chromium opens it at a phone's width and on a desk, measures what lies
// where, prints it, and looks at its own screenshots. These stay in the build's tests/artefacts/.
#include "records/records.hpp"
#include "support/temp_dir.hpp"
#include "support/tool_process.hpp"
#include "tuner/fixtures.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

namespace hstujit::test {
namespace {

namespace fs = std::filesystem;

/// The browser's name; "" where none is installed.
const std::string& chromium() {
  static const std::string found = [] {
    for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"})
      if (run_program({name, "--version"}).code == 0) return std::string(name);
    return std::string();
  }();
  return found;
}

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// Appended to a page: where its parts lie, in pixels, as lines of the element #seen.
constexpr const char* kMeasure = R"(<script>
const inside = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
const circles = [...document.querySelectorAll('circle')];
const seen = {
  width: innerWidth,
  overflow: Math.max(0, document.documentElement.scrollWidth - innerWidth),
  circles: circles.length,
  shown: circles.filter(c => c.getBoundingClientRect().width > 0 &&
                             inside(c.getBoundingClientRect(), c.closest('svg').getBoundingClientRect())).length,
  sections: [...document.querySelectorAll('section')].filter(s => s.getBoundingClientRect().height > 80).length,
  cut: [...document.querySelectorAll('.wide')].filter(w => w.scrollWidth > w.clientWidth).length,
  label: Math.round(Math.min(99, ...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))),
  font: parseInt(getComputedStyle(document.body).fontSize),
};
const pre = document.createElement('pre');
pre.id = 'seen';
pre.textContent = Object.entries(seen).map(([k, v]) => k + '=' + v).join(' ') + ' end';
document.body.append(pre);
</script>)";

/// A page that shows a picture and counts its pixels by colour: those of the report's winner, default and candidates.
constexpr const char* kLook = R"(<script>
onload = () => {
  const img = document.querySelector('img'), canvas = document.createElement('canvas');
  canvas.width = img.naturalWidth, canvas.height = img.naturalHeight;
  const paint = canvas.getContext('2d');
  paint.drawImage(img, 0, 0);
  const data = paint.getImageData(0, 0, canvas.width, canvas.height).data, count = {};
  for (let i = 0; i < data.length; i += 4) {
    const c = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
    count[c] = (count[c] || 0) + 1;
  }
  const pre = document.createElement('pre');
  pre.id = 'seen';
  pre.textContent = 'width=' + canvas.width + ' winner=' + (count[0x0a7d4f] || 0) + ' standard=' +
    (count[0xb4540a] || 0) + ' dots=' + (count[0x8aa4c2] || 0) + ' paper=' + (count[0xffffff] || 0) + ' ink=' +
    (count[0x1b1f24] || 0) + ' all=' + data.length / 4 + ' end';
  document.body.append(pre);
};
</script>)";

class ReportInABrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (chromium().empty()) GTEST_SKIP() << "no Chromium is installed: the report is not looked at";
  }
  std::string at(const std::string& name) const { return dir_.str() + "/" + name; }

  Outcome browse(std::vector<std::string> options, const std::string& page) {
    options.insert(options.begin(), {chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                                     "--virtual-time-budget=3000"});
    options.push_back("file://" + page);
    return run_program(options, {{"HOME", dir_.str()}});
  }

  /// The numbers that a page leaves in its element #seen.
  std::map<std::string, int> numbers_of(const std::string& page, const std::string& size) {
    const Outcome shown = browse({"--dump-dom", "--window-size=" + size}, page);
    std::map<std::string, int> numbers;
    const size_t start = shown.out.find("<pre id=\"seen\">");
    EXPECT_NE(start, std::string::npos) << shown.out << shown.err;
    if (start == std::string::npos) return numbers;
    std::istringstream words(shown.out.substr(start + std::string("<pre id=\"seen\">").size()));
    for (std::string word; words >> word && word.find('=') != std::string::npos;)
      numbers[word.substr(0, word.find('='))] = std::stoi(word.substr(word.find('=') + 1));
    return numbers;
  }

  std::map<std::string, int> measure(const std::string& html, const std::string& size) {
    std::ofstream(at("measured.html")) << html << kMeasure;
    return numbers_of(at("measured.html"), size);
  }

  /// Takes a picture into the artefacts and looks at it.
  std::map<std::string, int> picture(const std::string& page, const std::string& size, const std::string& name) {
    const fs::path artefacts = fs::read_symlink("/proc/self/exe").parent_path() / "artefacts";
    fs::create_directories(artefacts);
    const std::string file = (artefacts / name).string();
    fs::remove(file);
    const Outcome taken = browse({"--screenshot=" + file, "--window-size=" + size}, page);
    EXPECT_TRUE(fs::exists(file)) << taken.err;
    RecordProperty(name, file);
    std::ofstream(at("look.html")) << "<body><img src=\"data:image/png;base64," << base64(contents(file)) << "\">"
                                   << kLook;
    return numbers_of(at("look.html"), "800,600");
  }

  /// A report of two problems, tuned under two drivers.
  std::string report() {
    std::vector<Job> jobs;
    for (const int rows : {4096, 65536}) {
      Job job = test::job("of " + std::to_string(rows), rows_problem(rows));
      job.trials = {standard_trial(2'000'000)};
      for (int64_t i = 0; i < 40; ++i)
        job.trials.push_back(trial("tile=" + std::to_string(8 + i) + " stages=2", 1'000'000 + 77'777 * i));
      jobs.push_back(job);
    }
    Records({at("store"), ""}).absorb(jobs);
    EXPECT_EQ(hstu_tune({"report", at("report.html")}, at("store")).code, 0);
    return at("report.html");
  }

  TempDir dir_;
};

TEST_F(ReportInABrowser, FitsAPhone) {
  const std::string page = report();
  auto seen = measure(contents(page), "390,2400");
  EXPECT_LE(seen["width"], 500);
  EXPECT_EQ(seen["overflow"], 0) << "no scrolling sideways";
  EXPECT_EQ(seen["circles"], 86) << "a dot for each candidate, a default and a winner, for two problems";
  EXPECT_EQ(seen["shown"], seen["circles"]);
  EXPECT_EQ(seen["sections"], 2);
  EXPECT_EQ(seen["cut"], 0) << "tables fit";
  EXPECT_GE(seen["font"], 14);
  EXPECT_GE(seen["label"], 12) << "of the pictures";
  auto pixels = picture(page, "390,2400", "report-phone.png");
  EXPECT_GT(pixels["winner"], 20);
  EXPECT_GT(pixels["standard"], 10);
  EXPECT_GT(pixels["dots"], 100);
  EXPECT_GT(pixels["ink"], 100) << "text";
  EXPECT_GT(pixels["paper"], pixels["all"] / 2);
}

TEST_F(ReportInABrowser, FitsADeskAndPaper) {
  const std::string page = report();
  auto seen = measure(contents(page), "1280,1200");
  EXPECT_EQ(seen["overflow"], 0);
  EXPECT_EQ(seen["shown"], 86);
  auto pixels = picture(page, "1280,1200", "report-desk.png");
  EXPECT_EQ(pixels["width"], 1280);
  EXPECT_GT(pixels["winner"], 100);
  const std::string pdf = at("report.pdf");
  const Outcome printed = browse({"--print-to-pdf=" + pdf}, page);
  EXPECT_TRUE(contents(pdf).starts_with("%PDF")) << printed.err;
}

// The eyes themselves: a page that does not fit, with nothing drawn on it.
TEST_F(ReportInABrowser, SeesWhatIsWrong) {
  const std::string bad = "<!doctype html><body><svg width=\"900\"><circle r=\"5\" cx=\"-50\" cy=\"9\"/></svg>";
  auto seen = measure(bad, "390,800");
  EXPECT_GT(seen["overflow"], 300);
  EXPECT_EQ(seen["circles"], 1);
  EXPECT_EQ(seen["shown"], 0);
  auto pixels = picture(at("measured.html"), "390,800", "wrong.png");
  EXPECT_EQ(pixels["winner"], 0);
  EXPECT_EQ(pixels["dots"], 0);
}

}  // namespace
}  // namespace hstujit::test
