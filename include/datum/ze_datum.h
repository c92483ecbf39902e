/* Datum's extensions to Level Zero, for C and C++. Each function is found by name with
   zeDriverGetExtensionFunctionAddress, so that a program that uses them still runs, without them, on any
   other driver. */
#ifndef DATUM_ZE_DATUM_H
#define DATUM_ZE_DATUM_H

#include <stdint.h>

#include <level_zero/ze_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Listed by zeDriverGetExtensionProperties. */
#define ZEX_DATUM_BOARD_CLOCK_NAME "ZEX_datum_board_clock"
#define ZEX_DATUM_BOARD_CLOCK_VERSION ZE_MAKE_VERSION(1, 0)

/* What a board's clock has counted. */
typedef struct zex_datum_board_clock_t {
  uint64_t cycles;   /* clock cycles since reset; a simulated board's clock stands still while nothing is in
                        flight */
  uint64_t timer;    /* the board's timebase, in ticks of timer_hz */
  uint64_t clock_hz; /* nominal clock frequency, Hz */
  uint64_t timer_hz; /* frequency of timer, Hz */
} zex_datum_board_clock_t;

/* Reads the clock of the device's board. Thread safe.
   INVALID_NULL_HANDLE: hDevice is no device of this driver. INVALID_NULL_POINTER: pClock is null.
   DEVICE_LOST: the board does not answer. */
#define ZEX_DATUM_DEVICE_GET_BOARD_CLOCK "zexDatumDeviceGetBoardClock"
typedef ze_result_t(ZE_APICALL* zex_datum_pfnDeviceGetBoardClock_t)(ze_device_handle_t hDevice,
                                                                    zex_datum_board_clock_t* pClock);

/* Listed by zeDriverGetExtensionProperties. */
#define ZEX_DATUM_BOARD_REGISTERS_NAME "ZEX_datum_board_registers"
#define ZEX_DATUM_BOARD_REGISTERS_VERSION ZE_MAKE_VERSION(1, 0)

/* Reads or writes one register of the device's board while the driver uses it; docs/registers.md has the
   offsets. `bytes` is 4 or 8. For diagnosis and for registers of one's own RTL: a write to what the driver
   programs spoils this process's own work on the board, and nobody else's. Thread safe.
   INVALID_NULL_HANDLE: hDevice is no device of this driver. INVALID_NULL_POINTER: pValue is null.
   INVALID_SIZE: neither 4 nor 8 bytes. INVALID_ARGUMENT: not at a multiple of them inside BAR0, or a value
   that does not fit. A board that is gone reads all ones. */
#define ZEX_DATUM_DEVICE_READ_REGISTER "zexDatumDeviceReadRegister"
typedef ze_result_t(ZE_APICALL* zex_datum_pfnDeviceReadRegister_t)(ze_device_handle_t hDevice,
                                                                   uint64_t offset, uint32_t bytes,
                                                                   uint64_t* pValue);
#define ZEX_DATUM_DEVICE_WRITE_REGISTER "zexDatumDeviceWriteRegister"
typedef ze_result_t(ZE_APICALL* zex_datum_pfnDeviceWriteRegister_t)(ze_device_handle_t hDevice,
                                                                    uint64_t offset, uint32_t bytes,
                                                                    uint64_t value);

#ifdef __cplusplus
}
#endif

#endif
