// The loops of csr.py. Graphs are CSR and symmetric: row v lists the nodes that contribute to v, and those that v
// contributes to. Dropout hashes the entry's index with a seed, so that the backward pass draws the same again.
#include <c10/util/SmallVector.h>
#include <torch/extension.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

using at::Tensor;
using Optional = std::optional<Tensor>;

namespace {

constexpr int64_t kRows = 64;  // in a block

// Blocks of rows go to threads as they get free, so that a core which is busy elsewhere does not hold up the others.
template <class F>
void blocks(int64_t rows, const F& f) {
  std::atomic<int64_t> next{0};
  const int64_t slots = std::min<int64_t>(at::get_num_threads(), (rows + kRows - 1) / kRows);
  at::parallel_for(0, slots, 1, [&](int64_t slot, int64_t) {
    for (int64_t begin; (begin = next.fetch_add(kRows)) < rows;) f(slot, begin, std::min(rows, begin + kRows));
  });
}

// Sums that all rows add to, one copy a thread.
struct Sums {
  Tensor parts;
  explicit Sums(const std::vector<int64_t>& shape) {
    std::vector<int64_t> all{at::get_num_threads()};
    all.insert(all.end(), shape.begin(), shape.end());
    parts = at::zeros(all);
  }
  float* of(int64_t slot) { return parts.data_ptr<float>() + slot * parts.stride(0); }
  Tensor total() { return parts.size(0) == 1 ? parts[0] : parts.sum(0); }
};

struct Dropout {
  uint32_t seed, bar;
  float scale;
  Dropout(double p, int64_t seed) : seed(seed), bar(p * 4294967295.0), scale(1 / (1 - p)) {}
  bool any() const { return bar > 0; }
  bool keeps(uint32_t i) const {
    uint32_t x = i * 0x9e3779b9u + seed;
    x = (x ^ (x >> 16)) * 0x7feb352du;
    x = (x ^ (x >> 15)) * 0x846ca68bu;
    return (x ^ (x >> 16)) >= bar;
  }
  float factor(uint32_t i) const { return keeps(i) ? scale : 0; }
};

enum { kNone, kRelu, kElu };

// A width known to the compiler keeps a row's sums in registers.
template <class F>
void with_width(int64_t width, const F& f) {
  switch (width) {
    case 16: return f(std::integral_constant<int, 16>());
    case 32: return f(std::integral_constant<int, 32>());
    case 64: return f(std::integral_constant<int, 64>());
    default: return f(std::integral_constant<int, 0>());
  }
}

// The sum of rows of one matrix that are W or, with W = 0, width floats wide.
template <int W>
struct Row {
  typedef float Eight __attribute__((vector_size(32), aligned(4), may_alias));
  Eight sum[W / 8] = {};
  explicit Row(int64_t) {}
  void add(const float* row, float weight) {
#pragma GCC unroll 8
    for (int i = 0; i < W / 8; i++) sum[i] += weight * reinterpret_cast<const Eight*>(row)[i];
  }
  void add(const float* row) {
#pragma GCC unroll 8
    for (int i = 0; i < W / 8; i++) sum[i] += reinterpret_cast<const Eight*>(row)[i];
  }
  void store(float* to) const {
#pragma GCC unroll 8
    for (int i = 0; i < W / 8; i++) reinterpret_cast<Eight*>(to)[i] = sum[i];
  }
};

template <>
struct Row<0> {
  c10::SmallVector<float, 64> sum;
  explicit Row(int64_t width) : sum(width, 0.f) {}
  void add(const float* row, float weight = 1) {
    for (size_t i = 0; i < sum.size(); i++) sum[i] += weight * row[i];
  }
  void store(float* to) const { std::copy(sum.begin(), sum.end(), to); }
};

template <class T>
const T* data(const Tensor& t) { return t.const_data_ptr<T>(); }
const float* data(const Optional& t) { return t ? t->const_data_ptr<float>() : nullptr; }

// The nonzeros of row v that dropout leaves, without a branch that would be mispredicted every other time.
struct Kept {
  std::vector<int32_t> column;
  std::vector<float> value;
  size_t count = 0;
  void fill(const int32_t* columns, const float* values, int64_t begin, int64_t end, const Dropout& dropout) {
    if (column.size() < size_t(end - begin)) column.resize(end - begin), value.resize(end - begin);
    count = 0;
    for (int64_t e = begin; e < end; e++) {
      column[count] = columns[e];
      value[count] = values[e] * dropout.scale;
      count += dropout.keeps(e);
    }
  }
};

// dropout(X)·W of X in CSR.
Tensor times(const Tensor& offsets, const Tensor& columns, const Tensor& values, const Tensor& w, double p, int64_t seed) {
  const int64_t rows = offsets.size(0) - 1, width = w.size(1);
  const Dropout dropout(p, seed);
  const auto o = data<int64_t>(offsets);
  Tensor out = at::empty({rows, width});
  const auto from = data<float>(w);
  const auto to = out.data_ptr<float>();
  const auto columns_at = data<int32_t>(columns);
  const auto values_at = data<float>(values);
  with_width(width, [&](auto known) {
    blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      Kept kept;
      for (int64_t v = begin; v < end; v++) {
        kept.fill(columns_at, values_at, o[v], o[v + 1], dropout);
        Row<known> sum(width);
        for (size_t i = 0; i < kept.count; i++) sum.add(from + kept.column[i] * width, kept.value[i]);
        sum.store(to + v * width);
      }
    });
  });
  return out;
}

// Its gradient, dropout(X)ᵀ·dy. Rows of X are walked again: what they add to, one copy of W a thread, fits the cache,
// so no transpose is needed.
Tensor times_backward(const Tensor& offsets, const Tensor& columns, const Tensor& values, const Tensor& dy,
                      int64_t features, double p, int64_t seed) {
  const int64_t rows = offsets.size(0) - 1, width = dy.size(1);
  const Dropout dropout(p, seed);
  const auto o = data<int64_t>(offsets);
  Sums dw({features, width});
  const auto columns_at = data<int32_t>(columns);
  const auto values_at = data<float>(values);
  const auto dy_at = data<float>(dy);
  with_width(width, [&](auto known) {
    blocks(rows, [&](int64_t slot, int64_t begin, int64_t end) {
      Kept kept;
      const auto to = dw.of(slot);
      for (int64_t v = begin; v < end; v++) {
        kept.fill(columns_at, values_at, o[v], o[v + 1], dropout);
        const float* __restrict from = dy_at + v * width;
        for (size_t i = 0; i < kept.count; i++) {
          float* __restrict row = to + kept.column[i] * width;
          const float value = kept.value[i];
          const int64_t n = known ? known : width;
          for (int64_t j = 0; j < n; j++) row[j] += value * from[j];
        }
      }
    });
  });
  return dw.total();
}

// The targets that δ keeps: row v has them from offsets[v] up to, but not including, ends[v].
std::tuple<Tensor, Tensor> compact(const Tensor& offsets, const Tensor& targets, const Tensor& delta) {
  const int64_t rows = offsets.size(0) - 1;
  Tensor ends = at::empty({rows}, at::kLong), live = at::empty({targets.size(0) + 1}, at::kInt);
  const auto o = data<int64_t>(offsets);
  const auto t = data<int32_t>(targets);
  const auto d = data<float>(delta);
  const auto l = live.data_ptr<int32_t>();
  const auto to = ends.data_ptr<int64_t>();
  for (int64_t v = 0; v < rows; v++) {
    int64_t at = o[v];
    for (int64_t e = o[v]; e < o[v + 1]; e++) {
      // The write after the last kept target of a row lies in what the next row overwrites.
      l[at] = t[e];
      at += d[t[e]] != 0;
    }
    to[v] = at;
  }
  return {ends, live};
}

// activation(z + bias), then dropout, in place.
void finish(float* z, int64_t v, int64_t width, const float* bias, int activation, const Dropout& dropout) {
  for (int64_t j = 0; j < width; j++) z[j] += bias[j];
  if (activation == kRelu)
    for (int64_t j = 0; j < width; j++) z[j] = std::max(z[j], 0.f);
  if (activation == kElu)
    for (int64_t j = 0; j < width; j++) z[j] = z[j] > 0 ? z[j] : std::exp(z[j]) - 1;
  if (dropout.any())
    for (uint32_t j = 0, first = v * width; j < uint32_t(width); j++) z[j] *= dropout.factor(first + j);
}

// The gradients of finish: dz of dout, and that of bias. Dropout(p, seed) and out are the forward pass's.
std::tuple<Tensor, Tensor> finish_backward(const Tensor& dout, const Tensor& out, int64_t activation, double p, int64_t seed) {
  const int64_t rows = out.size(0), width = out.size(1);
  const Dropout dropout(p, seed);
  Tensor dz = at::empty_like(out);
  Sums dbias(std::vector<int64_t>{width});
  const Tensor grad = dout.contiguous();
  const auto grad_at = data<float>(grad);
  const auto out_at = data<float>(out);
  const auto dz_at = dz.data_ptr<float>();
  blocks(rows, [&](int64_t slot, int64_t begin, int64_t end) {
    const auto sum = dbias.of(slot);
    for (int64_t v = begin; v < end; v++) {
      const float* __restrict g = grad_at + v * width;
      const float* __restrict y = out_at + v * width;
      float* __restrict to = dz_at + v * width;
      if (activation == kNone)
        for (int64_t j = 0; j < width; j++) to[j] = g[j];
      else if (activation == kRelu)  // what ReLU or dropout made 0 has no gradient either way
        for (int64_t j = 0; j < width; j++) to[j] = y[j] > 0 ? g[j] * dropout.scale : 0;
      else
        for (int64_t j = 0; j < width; j++)
          to[j] = g[j] * dropout.factor(uint32_t(v * width) + uint32_t(j)) * (y[j] > 0 ? 1 : y[j] / dropout.scale + 1);
      for (int64_t j = 0; j < width; j++) sum[j] += to[j];
    }
  });
  return {dz, dbias.total()};
}

// out_v = scale_v·(root_v·h_v + Σ h_u over v's live targets), then finish. Without root or scale these are 1.
Tensor propagate(const Tensor& offsets, const Tensor& ends, const Tensor& live, const Optional& root, const Optional& scale,
                 const Tensor& h, const Tensor& bias, int64_t activation, double p, int64_t seed) {
  const int64_t rows = h.size(0), width = h.size(1);
  const Dropout dropout(p, seed);
  Tensor out = at::empty_like(h);
  const auto r = data(root), s = data(scale);
  const auto h_at = data<float>(h);
  const auto live_at = data<int32_t>(live);
  const auto offsets_at = data<int64_t>(offsets);
  const auto ends_at = data<int64_t>(ends);
  const auto out_at = out.data_ptr<float>();
  const auto bias_at = data<float>(bias);
  with_width(width, [&](auto known) {
    blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; v++) {
        Row<known> sum(width);
        sum.add(h_at + v * width, r ? r[v] : 1);
        for (int64_t e = offsets_at[v]; e < ends_at[v]; e++) sum.add(h_at + live_at[e] * width);
        float* to = out_at + v * width;
        sum.store(to);
        if (s)
          for (int64_t j = 0; j < width; j++) to[j] *= s[v];
        finish(to, v, width, bias_at, activation, dropout);
      }
    });
  });
  return out;
}

// The gradient of h: dh_u = root_u·scale_u·dz_u + δ_u·Σ scale_v·dz_v over all of u's targets.
Tensor propagate_backward(const Tensor& offsets, const Tensor& targets, const Optional& delta, const Optional& root,
                          const Optional& scale, const Tensor& dz) {
  const int64_t rows = dz.size(0), width = dz.size(1);
  Tensor dh = at::empty_like(dz);
  const auto d = data(delta), r = data(root), s = data(scale);
  const auto dz_at = data<float>(dz);
  const auto offsets_at = data<int64_t>(offsets);
  const auto targets_at = data<int32_t>(targets);
  const auto dh_at = dh.data_ptr<float>();
  with_width(width, [&](auto known) {
    blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      const auto o = offsets_at;
      const auto t = targets_at;
      for (int64_t u = begin; u < end; u++) {
        Row<known> sum(width);
        sum.add(dz_at + u * width, (r ? r[u] : 1) * (s ? s[u] : 1));
        if (!d || d[u] != 0)
          for (int64_t e = o[u]; e < o[u + 1]; e++) {
            if (s) sum.add(dz_at + t[e] * width, s[t[e]]);
            else sum.add(dz_at + t[e] * width);
          }
        sum.store(dh_at + u * width);
      }
    });
  });
  return dh;
}

// Where each edge's reverse is: of edge e = (v, u), the position of v in u's row. Rows are sorted.
Tensor reverses(const Tensor& offsets, const Tensor& targets) {
  Tensor out = at::empty({targets.size(0)}, at::kLong);
  const auto o = data<int64_t>(offsets);
  const auto t = data<int32_t>(targets);
  for (int64_t v = 0; v + 1 < offsets.size(0); v++)
    for (int64_t e = o[v]; e < o[v + 1]; e++)
      out.data_ptr<int64_t>()[e] = std::lower_bound(t + o[t[e]], t + o[t[e] + 1], v) - t;
  return out;
}

// Heads and channels a head of the GATs in use, known to the compiler.
template <class F>
void with_heads(int64_t heads, int64_t channels, const F& f) {
  using std::integral_constant;
  if (heads == 8 && channels == 8) return f(integral_constant<int, 8>(), integral_constant<int, 8>());
  if (heads == 1) return f(integral_constant<int, 1>(), integral_constant<int, 0>());
  return f(integral_constant<int, 0>(), integral_constant<int, 0>());
}

float leaky(float x) { return x > 0 ? x : 0.2f * x; }

// Edge e of row v has its α, one a head, at row e + v of alpha; v's loop comes last of v's row.
// Returns out, alpha and the scores [rows, 2, heads] of each node as a source and as a target.
std::tuple<Tensor, Tensor, Tensor> attend(const Tensor& offsets, const Tensor& targets, const Optional& delta,
                                          const Tensor& h, const Tensor& a, const Tensor& bias, double attention_p,
                                          int64_t attention_seed, int64_t activation, double p, int64_t seed) {
  const int64_t rows = h.size(0), width = h.size(1), heads_ = a.size(1), channels_ = width / heads_;
  const Dropout dropout(p, seed), attention(attention_p, attention_seed);
  Tensor out = at::empty_like(h), alpha = at::empty({targets.size(0) + rows, heads_}), scores = at::empty({rows, 2, heads_});
  const auto o = data<int64_t>(offsets);
  const auto t = data<int32_t>(targets);
  const auto d = data(delta);
  const auto from = data<float>(h), a_ = data<float>(a);
  const auto s = scores.data_ptr<float>();
  const auto alpha_at = alpha.data_ptr<float>();
  const auto out_at = out.data_ptr<float>();
  const auto bias_at = data<float>(bias);
  with_heads(heads_, channels_, [&](auto known_heads, auto known_channels) {
    const int64_t heads = known_heads ? known_heads : heads_, channels = known_channels ? known_channels : channels_;
    blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      for (int64_t v = begin; v < end; v++)
        for (int64_t side = 0; side < 2; side++)
          for (int64_t i = 0; i < heads; i++) {
            float sum = 0;
            for (int64_t c = i * channels; c < (i + 1) * channels; c++) sum += from[v * width + c] * a_[side * width + c];
            s[(2 * v + side) * heads + i] = sum;
          }
    });
    blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      std::vector<float> top_(heads), sum_(heads);
      float *__restrict top = top_.data(), *__restrict sum = sum_.data();
      for (int64_t v = begin; v < end; v++) {
        const float* target = s + (2 * v + 1) * heads;
        const int64_t degree = o[v + 1] - o[v];
        float* __restrict row = alpha_at + (o[v] + v) * heads;
        const auto source = [&](int64_t k) -> int64_t { return k < degree ? t[o[v] + k] : v; };
        // LeakyReLU grows with its argument, so the highest score is that of the highest source.
        for (int64_t i = 0; i < heads; i++) top[i] = -3e38f, sum[i] = 0;
        for (int64_t k = 0; k <= degree; k++)
          for (int64_t i = 0; i < heads; i++) top[i] = std::max(top[i], s[2 * source(k) * heads + i]);
        for (int64_t i = 0; i < heads; i++) top[i] = leaky(top[i] + target[i]);
        for (int64_t k = 0; k <= degree; k++) {
          const float* from_source = s + 2 * source(k) * heads;
          for (int64_t i = 0; i < heads; i++) {
            const float x = std::exp(leaky(from_source[i] + target[i]) - top[i]);
            row[k * heads + i] = x;
            sum[i] += x;
          }
        }
        for (int64_t i = 0; i < heads; i++) sum[i] = 1 / sum[i];
        float* __restrict to = out_at + v * width;
        std::fill(to, to + width, 0.f);
        for (int64_t k = 0; k <= degree; k++) {
          const int64_t u = source(k);
          for (int64_t i = 0; i < heads; i++) row[k * heads + i] *= sum[i];
          if (d && d[u] == 0) continue;
          for (int64_t i = 0; i < heads; i++) {
            float weight = row[k * heads + i];
            if (attention.any()) weight *= attention.factor((o[v] + v + k) * heads + i);
            for (int64_t c = i * channels; c < (i + 1) * channels; c++) to[c] += weight * from[u * width + c];
          }
        }
        finish(to, v, width, bias_at, activation, dropout);
      }
    });
  });
  return {out, alpha, scores};
}

// Gradients of h and a.
std::tuple<Tensor, Tensor> attend_backward(const Tensor& offsets, const Tensor& targets, const Tensor& reverse,
                                           const Optional& delta, const Tensor& h, const Tensor& a, const Tensor& alpha,
                                           const Tensor& scores, const Tensor& dz, double attention_p, int64_t attention_seed) {
  const int64_t rows = h.size(0), width = h.size(1), heads_ = a.size(1), channels_ = width / heads_;
  const Dropout attention(attention_p, attention_seed);
  Tensor dh = at::empty_like(h), de = at::empty_like(alpha), dscores = at::zeros_like(scores);
  Sums da({2, heads_, channels_});
  const auto o = data<int64_t>(offsets);
  const auto t = data<int32_t>(targets);
  const auto d = data(delta);
  const auto from = data<float>(h), a_ = data<float>(a), s = data<float>(scores), dz_ = data<float>(dz);
  const auto ds = dscores.data_ptr<float>();
  const auto alpha_at = data<float>(alpha);
  const auto de_at = de.data_ptr<float>();
  const auto dh_at = dh.data_ptr<float>();
  const auto reverse_at = data<int64_t>(reverse);
  with_heads(heads_, channels_, [&](auto known_heads, auto known_channels) {
    const int64_t heads = known_heads ? known_heads : heads_, channels = known_channels ? known_channels : channels_;
    // By target: the gradient of each edge's score before the softmax.
    blocks(rows, [&](int64_t, int64_t begin, int64_t end) {
      std::vector<float> sum_(heads);
      float* __restrict sum = sum_.data();
      for (int64_t v = begin; v < end; v++) {
        const int64_t degree = o[v + 1] - o[v], first = o[v] + v;
        const float *target = s + (2 * v + 1) * heads, *g = dz_ + v * width;
        const float* __restrict row = alpha_at + first * heads;
        float* __restrict to = de_at + first * heads;
        const auto source = [&](int64_t k) -> int64_t { return k < degree ? t[o[v] + k] : v; };
        std::fill(sum, sum + heads, 0.f);
        for (int64_t k = 0; k <= degree; k++) {
          const int64_t u = source(k);
          if (d && d[u] == 0) {
            std::fill(to + k * heads, to + (k + 1) * heads, 0.f);
            continue;
          }
          for (int64_t i = 0; i < heads; i++) {
            float dot = 0;
            for (int64_t c = i * channels; c < (i + 1) * channels; c++) dot += g[c] * from[u * width + c];
            if (attention.any()) dot *= attention.factor((first + k) * heads + i);
            to[k * heads + i] = dot;
            sum[i] += row[k * heads + i] * dot;
          }
        }
        float* __restrict into = ds + (2 * v + 1) * heads;
        for (int64_t k = 0; k <= degree; k++) {
          const float* from_source = s + 2 * source(k) * heads;
          for (int64_t i = 0; i < heads; i++) {
            float x = row[k * heads + i] * (to[k * heads + i] - sum[i]);
            x = from_source[i] + target[i] > 0 ? x : 0.2f * x;
            to[k * heads + i] = x;
            into[i] += x;
          }
        }
      }
    });
    // By source: what its edges, found as its own edges' reverses, hand back.
    blocks(rows, [&](int64_t slot, int64_t begin, int64_t end) {
      for (int64_t u = begin; u < end; u++) {
        const int64_t degree = o[u + 1] - o[u];
        float* __restrict into = ds + 2 * u * heads;
        float* __restrict to = dh_at + u * width;
        std::fill(to, to + width, 0.f);
        for (int64_t k = 0; k <= degree; k++) {
          const int64_t v = k < degree ? t[o[u] + k] : u;
          const int64_t edge = v + (k < degree ? reverse_at[o[u] + k] : o[u + 1]);
          const float *row = alpha_at + edge * heads, *e = de_at + edge * heads;
          for (int64_t i = 0; i < heads; i++) into[i] += e[i];
          if (d && d[u] == 0) continue;
          for (int64_t i = 0; i < heads; i++) {
            float weight = row[i];
            if (attention.any()) weight *= attention.factor(edge * heads + i);
            for (int64_t c = i * channels; c < (i + 1) * channels; c++) to[c] += weight * dz_[v * width + c];
          }
        }
        float* __restrict sum = da.of(slot);
        for (int64_t side = 0; side < 2; side++)
          for (int64_t i = 0; i < heads; i++) {
            const float x = ds[(2 * u + side) * heads + i];
            for (int64_t c = i * channels; c < (i + 1) * channels; c++) {
              to[c] += x * a_[side * width + c];
              sum[side * width + c] += x * from[u * width + c];
            }
          }
      }
    });
  });
  return {dh, da.total()};
}

// Mean cross-entropy of logits over nodes, and its gradient.
std::tuple<Tensor, Tensor> cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& nodes) {
  const int64_t classes = logits.size(1), n = nodes.size(0);
  Tensor gradient = at::zeros_like(logits);
  double loss = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t v = data<int64_t>(nodes)[i], label = data<int64_t>(labels)[v];
    const float* x = data<float>(logits) + v * classes;
    float* to = gradient.data_ptr<float>() + v * classes;
    const float top = *std::max_element(x, x + classes);
    float sum = 0;
    for (int64_t c = 0; c < classes; c++) sum += to[c] = std::exp(x[c] - top);
    for (int64_t c = 0; c < classes; c++) to[c] /= sum * n;
    to[label] -= 1.f / n;
    loss += (std::log(sum) + top - x[label]) / n;
  }
  return {at::scalar_tensor(loss), gradient};
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("times", &times);
  m.def("times_backward", &times_backward);
  m.def("compact", &compact);
  m.def("finish_backward", &finish_backward);
  m.def("propagate", &propagate);
  m.def("propagate_backward", &propagate_backward);
  m.def("reverses", &reverses);
  m.def("attend", &attend);
  m.def("attend_backward", &attend_backward);
  m.def("cross_entropy", &cross_entropy);
}
