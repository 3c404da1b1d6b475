// A shared object with one function, whose name is given when it is compiled.
extern "C" int NAME(int x) { return x + 1; }
