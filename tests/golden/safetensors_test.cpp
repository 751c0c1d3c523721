// The reader of .safetensors files: what it gives, and that damaged files are refused, not misread.
#include "verify/safetensors.hpp"

#include "support/error.hpp"
#include "support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace hstujit::verify {
namespace {

class SafetensorsFile : public testing::Test {
 protected:
  /// A file of this header and these data.
  std::filesystem::path write(const std::string& header, const std::string& data = {}) {
    const uint64_t length = header.size();
    std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
    return write_raw(bytes + header + data);
  }
  std::filesystem::path write_raw(const std::string& bytes) {
    const auto path = std::filesystem::path(folder_.path()) / "case.safetensors";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::string message_of(const std::filesystem::path& path) {
    try {
      Safetensors::read(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), HSTU_ERROR_INVALID_ARGUMENT);
      EXPECT_NE(error.message().find(path.string()), std::string::npos) << error.message();
      return error.message();
    }
    ADD_FAILURE() << "it was read";
    return {};
  }

 private:
  test::TempDir folder_;
};

// Padded to a multiple of 8, as the format has it.
const std::string kHeader = R"({"__metadata__":{"op":"addmm"},"a":{"dtype":"I32","shape":[2,1],"data_offsets":[0,8]},)"
                            R"("s":{"dtype":"F32","shape":[],"data_offsets":[8,12]}}  )";

TEST_F(SafetensorsFile, GivesTensorsAndTexts) {
  const int32_t values[] = {7, -1};
  const float scalar = 2.5f;
  std::string data(reinterpret_cast<const char*>(values), 8);
  data.append(reinterpret_cast<const char*>(&scalar), 4);
  std::string header = kHeader;
  while (header.size() % 8) header += ' ';
  const Safetensors file = Safetensors::read(write(header, data));

  EXPECT_EQ(file.text("op"), "addmm");
  EXPECT_EQ(file.text("absent"), "");
  EXPECT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.find("absent"), nullptr);
  const StoredTensor* a = file.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->dtype, HSTU_DTYPE_I32);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(std::memcmp(a->bytes.data(), values, sizeof values), 0);
  const StoredTensor* s = file.find("s");
  ASSERT_NE(s, nullptr);
  EXPECT_TRUE(s->shape.empty());
  EXPECT_EQ(s->elements(), 1);
}

TEST_F(SafetensorsFile, RefusesWhatIsNoSuchFile) {
  message_of(std::filesystem::path("/nonexistent/case.safetensors"));
  message_of(write_raw(""));
  message_of(write_raw("short"));
  message_of(write_raw(std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8)));
  message_of(write("not json"));
  message_of(write("[]"));
  message_of(write(R"({"a":{"shape":[1]}})"));
  message_of(write(R"({"a":7})"));
  message_of(write(R"({"__metadata__":{"op":3}})"));
}

TEST_F(SafetensorsFile, RefusesTensorsThatDoNotFitTheFile) {
  const auto with = [&](const char* dtype, const char* shape, const char* offsets) {
    std::string header =
        std::string(R"({"a":{"dtype":")") + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
    while (header.size() % 8) header += ' ';
    return message_of(write(header, std::string(8, '\0')));
  };
  EXPECT_NE(with("F8", "[8]", "[0,8]").find("F8"), std::string::npos);
  with("F32", "[2]", "[0,16]");
  with("F32", "[2]", "[8,0]");
  with("F32", "[3]", "[0,8]");
  with("F32", "[-1,-2]", "[0,8]");
  with("F32", "[4611686018427387904,4,0]", "[0,0]");
  with("F32", "[1]", "[2,6]");
  with("F32", "2", "[0,8]");
  EXPECT_NE(with("F32", "[1e65]", "[0,8]").find("1e+65"), std::string::npos);
  EXPECT_NE(with("F32", "[2]", "[0,8.5]").find("8.5"), std::string::npos);
  EXPECT_NE(with("F32", "[2]", "[-1,8]").find("-1"), std::string::npos);
  with("F16", "[1,1,1,1,1,1]", "[0,2]");
}

}  // namespace
}  // namespace hstujit::verify
