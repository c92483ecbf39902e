// A library that is no design.

extern "C" __attribute__((visibility("default"))) int datum_test_nothing() { return 0; }
