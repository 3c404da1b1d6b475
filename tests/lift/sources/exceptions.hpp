// Functions that catch exceptions.
#pragma once

extern "C" {
double by_type(double x);
double with_clean_up(double x);
double element_or(double const* x, int n, int i);
double by_base(double x);
double by_value(double x);
double nested(double x);
int count_of_failures(double const* x, int n);
double through_handlers(double x);
double from_constructor(double x);
double in_destructor(double x);
double passes_others(double x);
double divides(int a, int b);
double of_library(double x);
}
