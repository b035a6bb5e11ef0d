// The door to libmicrohttpd. `MHD_start_daemon` and `MHD_get_connection_info` are variadic, which the importer refuses.
#pragma once
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>
