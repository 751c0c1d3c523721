// The key itself: buckets, text and back.
#include "operators/problem.hpp"

#include "operators/sample_args.hpp"

namespace hstujit {
namespace {

TEST(Problem, BucketIsTheNextPowerOfTwo) {
  EXPECT_EQ(bucket(0), 0);
  EXPECT_EQ(bucket(1), 1);
  EXPECT_EQ(bucket(2), 2);
  EXPECT_EQ(bucket(3), 4);
  EXPECT_EQ(bucket(4096), 4096);
  EXPECT_EQ(bucket(4097), 8192);
  EXPECT_EQ(bucket(1 << 30), 1 << 30);
  EXPECT_EQ(bucket(int64_t{1} << 40), 1 << 30);
}

TEST(Problem, TextParsesBackToTheSameProblem) {
  const auto there_and_back = [](auto args) {
    const Problem problem = prepare(args);
    const auto back = parse_problem(text(problem));
    ASSERT_TRUE(back.has_value()) << text(problem);
    EXPECT_EQ(*back, problem);
    EXPECT_EQ(back->hash(), problem.hash());
  };
  there_and_back(test::sample_layer_norm());
  there_and_back(test::sample_addmm());
  there_and_back(test::sample_attention());
  there_and_back(test::sample_norm_mul());
}

TEST(Problem, RareFieldsAreInTextsWhereTheyAreNotZero) {
  auto args = test::sample_addmm();
  const std::string usual = text(prepare(args));
  EXPECT_EQ(usual.find("z_dtype"), std::string::npos);
  args.out.dtype = HSTU_DTYPE_E5M2;
  args.out_descale = hstu_vector(test::slot(5), HSTU_DTYPE_F32, 1);
  const Problem problem = prepare(args);
  EXPECT_NE(text(problem).find(" split=0 z_dtype=e5m2 m="), std::string::npos) << text(problem);
  EXPECT_EQ(parse_problem(text(problem)), problem);
  EXPECT_NE(parse_problem(usual), problem);
  EXPECT_FALSE(parse_problem(std::string(usual).replace(usual.find(" m="), 1, " z_dtype=e9m9 ")).has_value());
}

TEST(Problem, ParsingRefusesWhatIsNotExactlyAText) {
  auto args = test::sample_layer_norm();
  const std::string good = text(prepare(args));
  for (const std::string& bad :
       {std::string(), std::string("layer_norm"), good + " more=1", "no_such" + good.substr(good.find(' ')),
        good.substr(0, good.rfind(' ')), good + "x", std::string(good).replace(good.find("bf16"), 4, "bf17"),
        std::string(good).replace(good.find("dim="), 4, "dem=")})
    EXPECT_FALSE(parse_problem(bad).has_value()) << bad;
}

TEST(Problem, EveryFieldHasANameAndFitsTheKey) {
  for (const Operator& op : operators()) {
    EXPECT_LE(fields_of(op.op).size(), Problem{}.field.size());
    for (const FieldInfo& field : fields_of(op.op)) EXPECT_FALSE(field.name.empty());
    EXPECT_EQ(op_named(op.name), op.op);
  }
  EXPECT_FALSE(op_named("conv2d").has_value());
}

TEST(Problem, DtypesHaveNamesAndSizes) {
  for (const hstu_dtype dtype : {HSTU_DTYPE_F32, HSTU_DTYPE_F16, HSTU_DTYPE_BF16, HSTU_DTYPE_I32, HSTU_DTYPE_I64})
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
  EXPECT_EQ(size_of(HSTU_DTYPE_BF16), 2);
  EXPECT_EQ(size_of(HSTU_DTYPE_I64), 8);
  EXPECT_EQ(size_of(HSTU_DTYPE_NONE), 0);
}

}  // namespace
}  // namespace hstujit
