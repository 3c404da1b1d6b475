// Functions of ordinary C++ that use structs, heap memory and containers, which tests run natively and lifted.
#pragma once

#include <cstddef>

struct body {
  double x, v;
  int id;
};
struct node {
  double value;
  node* next;
};
struct grid {
  int rows, columns;
  double* cells;
};

double squares_of(int n);
double median(double* x, int n);
double sum_of_range(double const* x, int n);
long sieve(int n);
double product_of_matrices(double const* a, double const* b, int n);
double determinant(double const* a, int n);
double simulate(double const* x, int n, int steps);
double descend(double x, double rate, int steps);
double triple_product(double const* a);
double list_sum(int n);
double tree_sum(double const* x, int n);
double buffer(double const* x, int n);
double of_array(double const* x);
double pair_of_extremes(double const* x, int n);
double complex_power(double a, double b, int n);
double transformed(double const* x, int n, double a);
long histogram(unsigned char const* text, int n);
double pascal(int n, int k);
double unique_array(int n);
double tuple_of(double a, int n);
float mixed(float x, short k, long n);
double ring(int n, int steps);
double interpolated(double const* x, double const* y, int n, double at);
double checked(double x);
double rows_of_pointers(double* x, int rows, int columns);
double moved(int n);
double reversed_words(int n);
void by_value(double* out, int n);
void sorted_by_key(double* x, int* key, int n);
double heap_order(double const* x, int n);
double at_checked(int n, int k);
long strided_bytes(signed char* x, int n);
int walk_of_places(int n);
double zero_filled(int n);
double overlapping(int n, int k);

double tagged_values(double x, int n);
double maybe(double x, int n);

// Bytes as numbers of another type.
long other_member(double x, int k);
int half_of_integer(int k, int n);
double bytes_to_number(unsigned char const* x, int n);
int bytes_of_number(double const* x, int n);
unsigned long number_as_integer(double const* x, int n);
int bytes_of_struct(double x, int k);
double written_bytewise(double x, int k);
double half_copied(double x, int k);
int bytes_of_integers(int* x, int n);
double carried_as_bytes(double const* x, int n);
int filled(int n, int byte);
int reused_block(int k);
void written_as_integers(double* x, int k);
int half_of_rewritten(int k);
double zero_by_other_member(int k);
double made_by_constructor(double x);

// Copies.
void copies_range(float* a, float const* b, int n);
void copies_bytes(double* a, double const* b, int n);
void clears_bytes(double* x);

double energy(body const* all, int n);
void advance(body* all, int n, double h);
void push_front(node** list, double value);
double sum_of_list(node const* list);
void fill_grid(grid* g, double x);
grid* make_grid(int rows, int columns);
void delete_grid(grid* g);
double stages(double const* x, int n);
double rows_in_turn(double const* x, int rows, int columns);
double kept_blocks(int n);
double maybe_null(double x, int n);
double padded_by_value(double x, int k);
double large_by_value(double x, int k);
double empty_optional(int i);
double range_by_value(double const* x, int n);
int index_in_constant(double x);
unsigned sum_or_zero(unsigned a, unsigned b);
double array_of_destructed(int n);
double array_of_virtual(int n);
