#include <sqlite3.h>

// sqlite3_config is variadic, which the importer refuses.
static inline int CSQLite_config_memstatus(int on) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, on); }
