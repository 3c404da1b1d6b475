// Functions of complex numbers, and of structs of floats, which the ABI passes in pairs. The arrays have the real and the imaginary part of
// each number, one after the other.
#pragma once

extern "C" {
void products(double const* z, int n, double* out); // of n pairs of complex numbers
void quotients(double const* z, int n, double* out);
void float_products(float const* z, int n, float* out);
void float_quotients(float const* z, int n, float* out);
void sizes(double const* z, int n, double* out); // abs, arg and norm
void float_sizes(float const* z, int n, float* out);
void complex_polynomial(double const* c, int n, double const* z, double* out);
int escape_time(double x, double y);
void fourier(double* z); // of 16 complex numbers
void of_c(double const* z, double* out);
double size_of_quotient(double a, double b, double c, double d);
void cross_products(float const* x, int n, float* out);
float selected_pairs(float const* x, int n);
float called_with_pair(float const* x, int k);
}
