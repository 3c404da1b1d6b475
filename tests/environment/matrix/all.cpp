// A unity build: all layers in one unit.
#include "compiled.cpp"
#include "direct.cpp"
#include "incremental.cpp"
#include "main.cpp"
#include "model.cpp"
#include "staged.cpp"
