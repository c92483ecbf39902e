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

#ifdef __cplusplus
}
#endif

#endif
