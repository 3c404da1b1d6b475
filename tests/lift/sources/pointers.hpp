// Functions that call through pointers, natively.
#pragma once

double by_table(int k, double x);
double by_parameter(int k, double x);
double of_the_library(int k, double x);
void sorted_by(double* x, int n, bool descending);
double recursive_by_pointer(double x, int n);
double of_pairs(int k, double a, double b);
double of_large_structs(int k, double a);
int compared(int k);
double of_none(int k, double x);

double areas(int n, double x);
double on_the_stack(double x);
double of_both_bases(double x);
double of_virtual_bases(double x);
double in_constructors(double x);
double overridden_twice(int k, double x);
double visited(int n, double x);

double by_function_object(int k, double x);
double integral(double w, int n);
double captured_by_reference(int n, double x);
double large_capture(double x);
double functions_in_vector(int n, double x);
double empty_function(int k, double x);

double calls_refused(int k, double x);
double calls_pure(double x);
