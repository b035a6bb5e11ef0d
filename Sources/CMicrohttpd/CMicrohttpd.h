// The door to libmicrohttpd. Shims only for what the importer refuses: variadic functions.
#pragma once
#include <stdint.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <microhttpd.h>

// MHD_start_daemon is variadic. One pointer goes to every callback; further options come as an array that ends with
// MHD_OPTION_END. The logger must be named first to see what goes wrong with the options after it.
static inline struct MHD_Daemon *CMicrohttpd_start_daemon(unsigned int flags, void *context,
                                                          MHD_AccessHandlerCallback handler,
                                                          MHD_RequestCompletedCallback completed,
                                                          size_t (*unescape)(void *, struct MHD_Connection *, char *),
                                                          void (*logger)(void *, const char *, va_list),
                                                          MHD_NotifyConnectionCallback notify,
                                                          const struct MHD_OptionItem *options) {
    return MHD_start_daemon(flags, 0, NULL, NULL, handler, context,
                            MHD_OPTION_EXTERNAL_LOGGER, logger, context,
                            MHD_OPTION_NOTIFY_COMPLETED, completed, context,
                            MHD_OPTION_NOTIFY_CONNECTION, notify, context,
                            MHD_OPTION_UNESCAPE_CALLBACK, unescape, context,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

// MHD_set_connection_option is variadic.
static inline enum MHD_Result CMicrohttpd_set_timeout(struct MHD_Connection *connection, unsigned int seconds) {
    return MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

// MHD_get_connection_info is variadic, without ever taking more arguments for these questions.
static inline const struct sockaddr *CMicrohttpd_client_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

static inline int CMicrohttpd_connection_fd(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

static inline void *CMicrohttpd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}
