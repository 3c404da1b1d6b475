#include "symbols.hpp"

#include "elementary.hpp"
#include "runtime.hpp"

#include <overdub/implementation/execute/compute.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

extern "C" {
void* __cxa_begin_catch(void*) noexcept;
void __cxa_end_catch();
int __gxx_personality_v0(...);
void _Unwind_Resume(void*);
int bcmp(void const*, void const*, std::size_t) noexcept;
}

namespace overdub::jit {
namespace {

// ---- types

template <class T>
llvm::Type* type_of(llvm::LLVMContext& c) {
  if constexpr (std::is_void_v<T>)
    return llvm::Type::getVoidTy(c);
  else if constexpr (std::is_pointer_v<T>)
    return pointer_type(c);
  else if constexpr (std::is_same_v<T, bool>)
    return llvm::Type::getInt1Ty(c);
  else if constexpr (std::is_same_v<T, float>)
    return llvm::Type::getFloatTy(c);
  else if constexpr (std::is_same_v<T, double>)
    return llvm::Type::getDoubleTy(c);
  else
    return llvm::Type::getIntNTy(c, 8 * sizeof(T));
}
template <class F>
struct signature;
template <class R, class... A>
struct signature<R (*)(A...)> {
  static llvm::FunctionType* type(llvm::LLVMContext& c) {
    return llvm::FunctionType::get(type_of<R>(c), {type_of<A>(c)...}, false);
  }
  static constexpr bool gives_bool = std::is_same_v<R, bool>;
};

// ---- the runtime

enum class kind { works, quiet, makes, throws };
struct runtime_row {
  char const* name;
  void const* address;
  llvm::FunctionType* (*type)(llvm::LLVMContext&);
  kind what;
  bool gives_bool;
};
template <auto F>
runtime_row row(char const* name, kind what) {
  using s = signature<decltype(F)>;
  return {name, reinterpret_cast<void const*>(F), &s::type, what, s::gives_bool};
}
std::vector<runtime_row> const& runtime_rows() {
  static auto const& rows = *new std::vector<runtime_row>{
  // never destroyed, as in engine.cpp
#define OVERDUB_RUNTIME(NAME, KIND) row<&runtime::NAME>("overdub:" #NAME, kind::KIND),
#include "runtime.def"
  };
  return rows;
}

// ---- elementary functions

// The functions of <cmath> themselves, if they compute the operation, without a wrapper.
#define OVERDUB_UNARY_LIBM(ROW)                                                                              \
  ROW(cbrt)                                                                                                  \
  ROW(exp)                                                                                                   \
  ROW(exp2)                                                                                                  \
  ROW(expm1)                                                                                                 \
  ROW(log)                                                                                                   \
  ROW(log2)                                                                                                  \
  ROW(log10)                                                                                                 \
  ROW(log1p)                                                                                                 \
  ROW(sin)                                                                                                   \
  ROW(cos)                                                                                                   \
  ROW(tan)                                                                                                   \
  ROW(asin)                                                                                                  \
  ROW(acos)                                                                                                  \
  ROW(atan)                                                                                                  \
  ROW(sinh) ROW(cosh) ROW(tanh) ROW(asinh) ROW(acosh) ROW(atanh) ROW(erf) ROW(erfc) ROW(tgamma) ROW(logb)
#define OVERDUB_BINARY_LIBM(ROW)                                                                             \
  ROW(pow)                                                                                                   \
  ROW(hypot) ROW(atan2) ROW(fmod) ROW(remainder) ROW(fdim) ROW(nextafter)

template <class T>
void const* libm_function(ir::op code) {
  switch (code) {
#define OVERDUB_ROW(NAME)                                                                                    \
  case ir::op::NAME:                                                                                         \
    if constexpr (std::is_same_v<T, double>)                                                                 \
      return reinterpret_cast<void const*>(static_cast<double (*)(double)>(&::NAME));                        \
    else                                                                                                     \
      return reinterpret_cast<void const*>(static_cast<float (*)(float)>(&::NAME##f));
    OVERDUB_UNARY_LIBM(OVERDUB_ROW)
#undef OVERDUB_ROW
#define OVERDUB_ROW(NAME)                                                                                    \
  case ir::op::NAME:                                                                                         \
    if constexpr (std::is_same_v<T, double>)                                                                 \
      return reinterpret_cast<void const*>(static_cast<double (*)(double, double)>(&::NAME));                \
    else                                                                                                     \
      return reinterpret_cast<void const*>(static_cast<float (*)(float, float)>(&::NAME##f));
    OVERDUB_BINARY_LIBM(OVERDUB_ROW)
#undef OVERDUB_ROW
  default:
    return nullptr;
  }
}

template <class T>
void const* elementary(ir::op code) {
  auto const i = static_cast<std::size_t>(code);
  if (void const* const f = libm_function<T>(code)) return f;
  if (code == ir::op::ldexp)
    return reinterpret_cast<void const*>(static_cast<T (*)(T, i64)>(&execute::ldexp<T>));
  if (code == ir::op::polygamma)
    return reinterpret_cast<void const*>(static_cast<T (*)(i64, T)>(&execute::polygamma<T>));
  if (execute::functions1<T>[i] != nullptr) return reinterpret_cast<void const*>(execute::functions1<T>[i]);
  if (execute::functions2<T>[i] != nullptr) return reinterpret_cast<void const*>(execute::functions2<T>[i]);
  return reinterpret_cast<void const*>(execute::functions3<T>[i]);
}
std::string sine_and_cosine_name(ir::scalar s) {
  return s == ir::scalar::f32 ? "overdub:sine_and_cosine.f32" : "overdub:sine_and_cosine.f64";
}
std::string elementary_name(ir::op code, ir::scalar s) {
  return "overdub:" + std::string(ir::name_of(code)) + (s == ir::scalar::f32 ? ".f32" : ".f64");
}

} // namespace

std::vector<symbol_address> runtime_symbols() {
  std::vector<symbol_address> all;
  for (runtime_row const& r : runtime_rows()) all.push_back({r.name, r.address});
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    auto const code = static_cast<ir::op>(i);
    if (!ir::is_elementwise(code)) continue;
    if (void const* const f = elementary<double>(code))
      all.push_back({elementary_name(code, ir::scalar::f64), f});
    if (void const* const f = elementary<float>(code))
      all.push_back({elementary_name(code, ir::scalar::f32), f});
  }
#if defined(__GLIBC__)
  all.push_back(
      {sine_and_cosine_name(ir::scalar::f64),
       reinterpret_cast<void const*>(static_cast<void (*)(double, double*, double*)>(&::sincos))});
  all.push_back(
      {sine_and_cosine_name(ir::scalar::f32),
       reinterpret_cast<void const*>(static_cast<void (*)(float, float*, float*)>(&::sincosf))});
#endif
  append_elementary_symbols(all);
#define OVERDUB_SYMBOL(NAME, TYPE)                                                                           \
  all.push_back({#NAME, reinterpret_cast<void const*>(static_cast<TYPE>(&::NAME))});
  OVERDUB_SYMBOL(memcpy, void* (*)(void*, void const*, std::size_t))
  OVERDUB_SYMBOL(memmove, void* (*)(void*, void const*, std::size_t))
  OVERDUB_SYMBOL(memset, void* (*)(void*, int, std::size_t))
  OVERDUB_SYMBOL(bcmp, int (*)(void const*, void const*, std::size_t))
  OVERDUB_SYMBOL(__cxa_begin_catch, void* (*)(void*))
  OVERDUB_SYMBOL(__cxa_end_catch, void (*)())
  OVERDUB_SYMBOL(__gxx_personality_v0, int (*)(...))
  OVERDUB_SYMBOL(_Unwind_Resume, void (*)(void*))
  // If the processor has no instruction for them.
#define OVERDUB_SYMBOLS(NAME)                                                                                \
  OVERDUB_SYMBOL(NAME, double (*)(double))                                                                   \
  OVERDUB_SYMBOL(NAME##f, float (*)(float))
  OVERDUB_SYMBOLS(floor)
  OVERDUB_SYMBOLS(ceil)
  OVERDUB_SYMBOLS(trunc)
  OVERDUB_SYMBOLS(round)
  OVERDUB_SYMBOLS(rint)
  OVERDUB_SYMBOLS(nearbyint)
  OVERDUB_SYMBOLS(sqrt)
  OVERDUB_SYMBOL(fma, double (*)(double, double, double))
  OVERDUB_SYMBOL(fmaf, float (*)(float, float, float))
#undef OVERDUB_SYMBOLS
#undef OVERDUB_SYMBOL
  return all;
}

llvm::Function* declare(llvm::Module& m, runtime_function f) {
  runtime_row const& r = runtime_rows()[static_cast<std::size_t>(f)];
  if (auto* const known = m.getFunction(r.name)) return known;
  auto* const made =
      llvm::Function::Create(r.type(m.getContext()), llvm::Function::ExternalLinkage, r.name, m);
  if (r.what == kind::throws) {
    made->setDoesNotReturn();
    made->addFnAttr(llvm::Attribute::Cold);
  }
  if (r.what == kind::quiet) made->setDoesNotThrow();
  if (r.what == kind::makes) made->addRetAttr(llvm::Attribute::NoAlias);
  if (r.gives_bool) made->addRetAttr(llvm::Attribute::ZExt);
  return made;
}

llvm::Function* declare(llvm::Module& m, ir::op code, ir::scalar s) {
  std::string const name = elementary_name(code, s);
  if (auto* const known = m.getFunction(name)) return known;
  auto& c = m.getContext();
  llvm::Type* const number = s == ir::scalar::f32 ? llvm::Type::getFloatTy(c) : llvm::Type::getDoubleTy(c);
  llvm::SmallVector<llvm::Type*, 3> parameters(ir::row_of(code).least, number);
  if (code == ir::op::ldexp) parameters[1] = llvm::Type::getInt64Ty(c);
  if (code == ir::op::polygamma) parameters[0] = llvm::Type::getInt64Ty(c);
  auto* const made = llvm::Function::Create(
      llvm::FunctionType::get(number, parameters, false), llvm::Function::ExternalLinkage, name, m);
  // Boost.Math may throw.
  if (code != ir::op::digamma && code != ir::op::polygamma) set_pure(*made);
  return made;
}

bool has_sine_and_cosine() {
#if defined(__GLIBC__)
  return true;
#else
  return false;
#endif
}
llvm::Function* declare_sine_and_cosine(llvm::Module& m, ir::scalar s) {
  std::string const name = sine_and_cosine_name(s);
  if (auto* const known = m.getFunction(name)) return known;
  auto& c = m.getContext();
  llvm::Type* const number = s == ir::scalar::f32 ? llvm::Type::getFloatTy(c) : llvm::Type::getDoubleTy(c);
  auto* const made = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(c), {number, pointer_type(c), pointer_type(c)}, false),
      llvm::Function::ExternalLinkage, name, m);
  made->setOnlyAccessesArgMemory();
  made->setDoesNotThrow();
  made->addFnAttr(llvm::Attribute::WillReturn);
  return made;
}

} // namespace overdub::jit
