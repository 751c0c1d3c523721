// Workload files, format "hstujit-workload-1", read strictly.
#include "families/family.hpp"
#include "workload/json_object.hpp"
#include "workload/parse_call.hpp"
#include "workload/workload.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace hstujit {
namespace {

constexpr std::string_view kFormat = "hstujit-workload-1";
constexpr Range kLength{1, kMaxLength};
constexpr Range kDim{1, int64_t{1} << 20}, kRows{0, int64_t{1} << 36};

constexpr Word<hstu_activation> kActivations[] = {{"none", HSTU_ACTIVATION_NONE},
                                                  {"silu", HSTU_ACTIVATION_SILU},
                                                  {"sigmoid", HSTU_ACTIVATION_SIGMOID},
                                                  {"gelu", HSTU_ACTIVATION_GELU},
                                                  {"gelu_tanh", HSTU_ACTIVATION_GELU_TANH}};
constexpr Word<hstu_mask> kMasks[] = {{"causal", HSTU_MASK_CAUSAL}, {"full", HSTU_MASK_FULL}};
constexpr Word<AddmmSpec::Bias> kBiases[] = {{"none", AddmmSpec::Bias::none},
                                             {"row", AddmmSpec::Bias::row},
                                             {"residual", AddmmSpec::Bias::residual},
                                             {"both", AddmmSpec::Bias::both}};

constexpr Word<hstu_dtype> kProjections[] = {{"e4m3", HSTU_DTYPE_E4M3}};
constexpr Word<hstu_fp8_accumulation> kAccumulations[] = {{"128", HSTU_FP8_ACCUMULATE_128},
                                                          {"fast", HSTU_FP8_ACCUMULATE_FAST}};

Sequences parse_sequences(const Json& value, const std::string& pointer) {
  JsonObject in(value, pointer);
  Sequences sequences;
  sequences.batch = in.integer("batch", kBatch);
  sequences.history = parse_lengths(in.require("history"), in.pointer_of("history"), sequences.batch);
  if (const Json* targets = in.find("targets"))
    sequences.targets = parse_lengths(*targets, in.pointer_of("targets"), sequences.batch);
  sequences.integer_dtype = in.choice<hstu_dtype>("integer_dtype", kIntegerTypes, HSTU_DTYPE_I64);
  in.finish();
  return sequences;
}

AttentionOptions parse_attention_options(JsonObject& in) {
  AttentionOptions options;
  options.alpha = in.small_number("alpha", 0.0f);
  options.mask = in.choice<hstu_mask>("mask", kMasks, HSTU_MASK_CAUSAL);
  options.max_seq_len = in.integer("max_seq_len", kLength, 0);
  options.scaling_seqlen = in.integer("scaling_seqlen", kLength, 0);
  options.contextual_seq_len = in.integer("contextual_seq_len", kAnyLength, 0);
  options.max_attn_len = in.integer("max_attn_len", kAnyLength, 0);
  options.min_full_attn_seq_len = in.integer("min_full_attn_seq_len", kAnyLength, 0);
  return options;
}

float parse_eps(JsonObject& in, float fallback) {
  const float eps = in.small_number("eps", fallback);
  if (eps < 0) fail_at(in.pointer_of("eps"), "{}: it must not be negative", eps);
  return eps;
}

StackSpec parse_stack(const Json& value, const std::string& pointer) {
  JsonObject in(value, pointer);
  StackSpec stack;
  stack.layers = in.integer("layers", {1, 1000});
  stack.embedding_dim = in.integer("embedding_dim", kDim);
  stack.num_heads = in.integer("num_heads", kDim);
  stack.attn_dim = in.integer("attn_dim", kDim);
  stack.hidden_dim = in.integer("hidden_dim", kDim);
  stack.eps = parse_eps(in, 1e-6f);
  stack.concat_ux = in.flag("concat_ux", true);
  stack.weights_transposed = in.flag("weights_transposed", false);
  stack.attention = parse_attention_options(in);
  if (in.find("projections")) {
    stack.projections = in.choice<hstu_dtype>("projections", kProjections);
    stack.accumulation = in.choice<hstu_fp8_accumulation>("accumulation", kAccumulations, HSTU_FP8_ACCUMULATE_128);
  }
  in.finish();
  return stack;
}

LayerNormSpec parse_layer_norm(JsonObject& in) {
  LayerNormSpec spec;
  spec.rows = in.integer("rows", kRows, 0);
  spec.dim = in.integer("dim", kDim);
  spec.eps = parse_eps(in, 0);
  spec.weighted = in.flag("weighted", true);
  return spec;
}

AddmmSpec parse_addmm(JsonObject& in) {
  AddmmSpec spec;
  spec.m = in.integer("m", kRows, 0);
  spec.k = in.integer("k", kDim);
  spec.n = in.integer("n", kDim);
  spec.bias = in.choice<AddmmSpec::Bias>("bias", kBiases, AddmmSpec::Bias::row);
  spec.activation = in.choice<hstu_activation>("activation", kActivations, HSTU_ACTIVATION_NONE);
  spec.activation_columns = in.integer("activation_columns", kAnyLength, 0);
  spec.weight_transposed = in.flag("weight_transposed", false);
  return spec;
}

AttentionSpec parse_attention(JsonObject& in) {
  AttentionSpec spec;
  spec.num_heads = in.integer("num_heads", kDim);
  spec.attn_dim = in.integer("attn_dim", kDim);
  spec.hidden_dim = in.integer("hidden_dim", kDim, spec.attn_dim);
  if (const Json* own = in.find("sequences")) spec.sequences = parse_sequences(*own, in.pointer_of("sequences"));
  spec.options = parse_attention_options(in);
  return spec;
}

NormMulSpec parse_norm_mul(JsonObject& in) {
  NormMulSpec spec;
  spec.rows = in.integer("rows", kRows, 0);
  spec.dim = in.integer("dim", kDim);
  spec.num_groups = in.integer("num_groups", {0, spec.dim}, 0);
  spec.eps = parse_eps(in, 0);
  spec.activation = in.choice<hstu_activation>("activation", kActivations, HSTU_ACTIVATION_NONE);
  spec.concat_u = in.flag("concat_u", false);
  spec.concat_x = in.flag("concat_x", false);
  spec.silu_u = in.flag("silu_u", false);
  return spec;
}

/// The operators as the words of "op"; or the name that one had before.
Op parse_op(JsonObject& in) {
  const Json* const given = in.find("op");
  if (given && given->is_string())
    if (const auto op = op_named(given->get_ref<const std::string&>())) return *op;
  Word<Op> words[kOpCount];
  for (int i = 0; i < kOpCount; ++i) words[i] = {name_of(static_cast<Op>(i)), static_cast<Op>(i)};
  return in.choice<Op>("op", words);
}

bool needs_sequences(const OperatorSpec& entry) {
  if (const auto* norm = std::get_if<LayerNormSpec>(&entry.spec)) return norm->rows == 0;
  if (const auto* product = std::get_if<AddmmSpec>(&entry.spec)) return product->m == 0;
  if (const auto* attention = std::get_if<AttentionSpec>(&entry.spec)) return !attention->sequences;
  if (std::holds_alternative<CallSpec>(entry.spec)) return false;
  return std::get<NormMulSpec>(entry.spec).rows == 0;
}

constexpr Word<FigureSpec::Rate> kRates[] = {{"tflops", FigureSpec::Rate::tflops},
                                             {"gbs", FigureSpec::Rate::gbs},
                                             {"of_vendor", FigureSpec::Rate::of_vendor},
                                             {"of_copy", FigureSpec::Rate::of_copy}};

FigureSpec parse_figure(const Json& value, const std::string& pointer, bool family) {
  JsonObject in(value, pointer);
  FigureSpec figure;
  figure.id = escaped(in.text("id"));
  figure.rate = in.choice<FigureSpec::Rate>("rate", kRates);
  if (in.find("target")) figure.target = in.number("target");
  if (family) {
    figure.family = in.text("family");
    if (!family_named(figure.family))
      fail_at(in.pointer_of("family"), "\"{}\": hstu-tune ops lists the families", shown(figure.family));
  }
  in.finish();
  return figure;
}

/// An entry with "tensors" spells its args struct; some operators have a short form instead.
void parse_spec(JsonObject& in, Op op, OperatorSpec& entry) {
  if (in.find("tensors"))
    entry.spec = parse_call(op, in, entry.dtype);
  else if (op == Op::layer_norm)
    entry.spec = parse_layer_norm(in);
  else if (op == Op::addmm)
    entry.spec = parse_addmm(in);
  else if (op == Op::attention)
    entry.spec = parse_attention(in);
  else if (op == Op::norm_mul)
    entry.spec = parse_norm_mul(in);
  else
    in.require("tensors");
}

OperatorSpec parse_operator(const Json& value, const std::string& pointer, const Workload& workload) {
  JsonObject in(value, pointer);
  OperatorSpec entry;
  const Op op = parse_op(in);
  entry.name = escaped(in.text("name", ""));
  entry.dtype = in.choice<hstu_dtype>("dtype", kElementTypes, workload.dtype);
  entry.count = in.number("count", 1.0);
  if (!(entry.count > 0)) fail_at(in.pointer_of("count"), "{}: it must be positive", entry.count);
  if (const Json* figure = in.find("figure")) entry.figure = parse_figure(*figure, in.pointer_of("figure"), false);
  if (const Json* figures = in.find("family_figures")) {
    if (!figures->is_array())
      fail_at(in.pointer_of("family_figures"), "{}: a list of figures belongs here", shown_json(*figures));
    for (size_t i = 0; i < figures->size(); ++i)
      entry.family_figures.push_back(
          parse_figure((*figures)[i], fmt::format("{}/{}", in.pointer_of("family_figures"), i), true));
  }
  parse_spec(in, op, entry);
  in.finish();
  if (needs_sequences(entry) && !workload.sequences)
    fail_at(pointer, "it has no {} of its own, and the workload no /sequences to take them from",
            op == Op::attention ? "sequences"
            : op == Op::addmm   ? "m"
                                : "rows");
  return entry;
}

void parse_operators(JsonObject& in, Workload& workload) {
  const Json* list = in.find("operators");
  if (!list) return;
  const std::string pointer = in.pointer_of("operators");
  if (!list->is_array()) fail_at(pointer, "{}: a list of operators belongs here", shown_json(*list));
  for (size_t i = 0; i < list->size(); ++i)
    workload.operators.push_back(parse_operator((*list)[i], child(pointer, std::to_string(i)), workload));
}

}  // namespace

Workload parse_workload(std::string_view json) {
  const Json document = parse_json(json);
  JsonObject in(document, "");
  if (const std::string format = in.text("format"); format != kFormat)
    fail_at(in.pointer_of("format"), "\"{}\": this release reads \"{}\"", shown(format), kFormat);
  Workload workload;
  workload.name = escaped(in.text("name"));  // these are printed
  workload.about = escaped(in.text("about", ""), Lines::many);
  workload.dtype = in.choice<hstu_dtype>("dtype", kElementTypes, HSTU_DTYPE_BF16);
  if (const Json* sequences = in.find("sequences"))
    workload.sequences = parse_sequences(*sequences, in.pointer_of("sequences"));
  if (const Json* stack = in.find("stack")) workload.stack = parse_stack(*stack, in.pointer_of("stack"));
  parse_operators(in, workload);
  in.finish();
  if (workload.stack && !workload.sequences) fail_at("/stack", "it needs /sequences to run on");
  if (!workload.stack && workload.operators.empty()) fail_at("", "it names neither a /stack nor any /operators");
  return workload;
}

Workload read_workload(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read: {}", path, std::strerror(errno));
  if (std::filesystem::is_directory(path))
    fail(HSTU_ERROR_INVALID_ARGUMENT, "{}: cannot be read: it is a folder", path);
  std::ostringstream text;
  text << file.rdbuf();
  try {
    return parse_workload(text.str());
  } catch (const Error& error) { throw Error(error.status(), path + ": " + error.message()); }
}

}  // namespace hstujit
