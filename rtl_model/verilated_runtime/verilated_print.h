/* Where Verilator's library prints to; included before each of its files. See verilated_failure.cpp. */
#ifndef DATUM_VERILATED_PRINT_H
#define DATUM_VERILATED_PRINT_H

int datum_verilated_print(const char* format, ...) __attribute__((format(printf, 1, 2)));
#define VL_PRINTF datum_verilated_print

#endif
