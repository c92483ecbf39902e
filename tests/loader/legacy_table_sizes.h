/* The sizes of tables in the system's own headers, which may be of an API much older than the one the driver
 * is built for. */
#ifndef DATUM_TESTS_LOADER_LEGACY_TABLE_SIZES_H
#define DATUM_TESTS_LOADER_LEGACY_TABLE_SIZES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct datum_legacy_table {
  const char* getter; /* the function that fills it */
  size_t bytes;
};

/* The minor version of those headers' API. */
unsigned datum_legacy_minor_version(void);

/* Their tables; the number of them in *count. */
const struct datum_legacy_table* datum_legacy_tables(size_t* count);

#ifdef __cplusplus
}
#endif

#endif
