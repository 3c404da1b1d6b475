#include "elementary.hpp"

#include "symbols.hpp"

#include <overdub/call/special_table.hpp>

#include <dlfcn.h>

namespace overdub::jit {
namespace {

std::string suffix(ir::scalar s) { return s == ir::scalar::f32 ? ".f32" : ".f64"; }
std::string consistent_name(ir::op code, ir::scalar s) {
  return "overdub:consistent." + std::string(ir::name_of(code)) + suffix(s);
}
std::string consistent_name(ir::op code, ir::scalar s, unsigned lanes) {
  return consistent_name(code, s) + "x" + std::to_string(lanes);
}

// The handle of libmvec, glibc's vector mathematics; null if it cannot be loaded, and on other systems than Linux on x86-64.
void* vector_libm() {
#if defined(__x86_64__) && defined(__linux__)
  static void* const opened = dlopen("libmvec.so.1", RTLD_LAZY | RTLD_LOCAL);
  return opened;
#else
  return nullptr;
#endif
}
// The name of an operation in libmvec, by the vector function ABI of x86: _ZGV, the letter of the instruction set, N, the lanes, a v for
// each argument, and the scalar name. The letters are b for 128 bits, d for 256 bits (AVX2) and e for 512 bits (AVX-512).
std::string vector_libm_name(ir::op code, ir::scalar s, unsigned bits) {
  char const isa = bits == 512 ? 'e' : bits == 256 ? 'd' : 'b';
  bool const is_f32 = s == ir::scalar::f32;
  return std::string("_ZGV") + isa + "N" + std::to_string(bits / (is_f32 ? 32 : 64)) +
         (ir::row_of(code).least == 2 ? "vv_" : "v_") + std::string(ir::name_of(code)) + (is_f32 ? "f" : "");
}
void* vector_libm_function(std::string const& name) {
  void* const library = vector_libm();
  return library == nullptr ? nullptr : dlsym(library, name.c_str());
}

} // namespace

std::string functions_for(ir::math_mode mode) {
  std::string all = overdub::detail::special.digamma_f64 == nullptr ? "" : ", special functions";
  if (mode == ir::math_mode::exact) return all;
  if (ir::consistent != nullptr) all += ", sleef " + std::to_string(ir::consistent->vectors.size());
  if (mode == ir::math_mode::fast && vector_libm() != nullptr) all += ", libmvec";
  return all;
}

std::vector<vector_variant> elementary_functions::variants(ir::op code, ir::scalar s) const {
  std::vector<vector_variant> all;
  if (mode_ == ir::math_mode::exact || !ir::is_elementary(code)) return all;
  unsigned const size = s == ir::scalar::f32 ? 32 : 64;
  if (mode_ == ir::math_mode::fast)
    for (unsigned bits = 128; bits <= unit_.bits; bits *= 2) {
      if (bits == 256 && !unit_.has_avx2) continue;
      std::string name = vector_libm_name(code, s, bits);
      if (vector_libm_function(name) != nullptr) all.push_back({bits / size, std::move(name)});
    }
  if (!all.empty() || ir::consistent == nullptr) return all;
  for (ir::vector_function const& f : ir::consistent->vectors)
    if (f.code == code && f.type == s && f.lanes * size <= unit_.bits)
      all.push_back({f.lanes, consistent_name(code, s, f.lanes)});
  return all;
}

llvm::Function* elementary_functions::declare_variant(llvm::Function* of, vector_variant const& v) {
  if (auto* const known = module_.getFunction(v.name)) return known;
  auto* const vector = llvm::FixedVectorType::get(of->getReturnType(), v.lanes);
  llvm::SmallVector<llvm::Type*, 2> const parameters(of->arg_size(), vector);
  auto* const made = llvm::Function::Create(
      llvm::FunctionType::get(vector, parameters, false), llvm::Function::ExternalLinkage, v.name, module_);
  set_pure(*made);
  variants_.push_back(made);
  return made;
}

llvm::Function* elementary_functions::declare(ir::op code, ir::scalar s) {
  if (mode_ == ir::math_mode::exact || !ir::is_elementary(code)) return jit::declare(module_, code, s);
  std::string const name = consistent_name(code, s);
  bool const consistent = mode_ == ir::math_mode::consistent;
  if (auto* const known = consistent ? module_.getFunction(name) : nullptr) return known;
  auto* const made = jit::declare(module_, code, s);
  if (made->hasFnAttribute("vector-function-abi-variant")) return made;
  // `jit::declare` declares the exact function; by another name, the linker finds the consistent one.
  if (consistent) made->setName(name);
  std::string mappings;
  for (vector_variant const& v : variants(code, s)) {
    (void)declare_variant(made, v);
    mappings += (mappings.empty() ? "_ZGV_LLVM_N" : ",_ZGV_LLVM_N") + std::to_string(v.lanes) +
                (made->arg_size() == 2 ? "vv_" : "v_") + std::string(made->getName()) + "(" + v.name + ")";
  }
  if (!mappings.empty()) made->addFnAttr("vector-function-abi-variant", mappings);
  return made;
}

llvm::Function* elementary_functions::declare_vector(ir::op code, ir::scalar s, unsigned& lanes) {
  vector_variant widest{0, {}};
  for (vector_variant const& v : variants(code, s))
    if (v.lanes <= lanes && v.lanes > widest.lanes) widest = v;
  if (widest.lanes == 0) return nullptr;
  lanes = widest.lanes;
  return declare_variant(declare(code, s), widest);
}

void elementary_functions::keep_variants() {
  if (!variants_.empty()) llvm::appendToCompilerUsed(module_, variants_);
}

void append_elementary_symbols(std::vector<symbol_address>& all) {
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    auto const code = static_cast<ir::op>(i);
    if (!ir::is_elementary(code)) continue;
    for (ir::scalar const s : {ir::scalar::f64, ir::scalar::f32}) {
      if (ir::consistent != nullptr) {
        void const* const f = s == ir::scalar::f64
                                  ? (ir::consistent->f64.one[i] != nullptr
                                         ? reinterpret_cast<void const*>(ir::consistent->f64.one[i])
                                         : reinterpret_cast<void const*>(ir::consistent->f64.two[i]))
                                  : (ir::consistent->f32.one[i] != nullptr
                                         ? reinterpret_cast<void const*>(ir::consistent->f32.one[i])
                                         : reinterpret_cast<void const*>(ir::consistent->f32.two[i]));
        all.push_back({consistent_name(code, s), f});
      }
      for (unsigned bits = 128; bits <= 512; bits *= 2) {
        std::string name = vector_libm_name(code, s, bits);
        if (void* const f = vector_libm_function(name)) all.push_back({std::move(name), f});
      }
    }
  }
  if (ir::consistent == nullptr) return;
  for (ir::vector_function const& f : ir::consistent->vectors)
    all.push_back({consistent_name(f.code, f.type, f.lanes), f.address});
}

} // namespace overdub::jit
