import CCurl

/// The kinds of failure that a ``CurlCode`` can mean, so that one table decides about trying again.
package enum CurlFailureClass: Sendable, Equatable {
    /// The line or the server: wait, ask where the transfer stands, go on.
    case transient
    /// A handshake that failed: transient, but permanent after three with a server that none has succeeded with.
    case handshake
    /// Our side refused: the exchange's cause says what (a file that shrank, a full disk, a limit).
    case local
    /// The server's disk is full: transient with long delays.
    case remoteDiskFull
    /// The answer does not fit the range that was asked for: start over.
    case restart
    /// Stays until a person changes something: an address, a certificate, credentials.
    case permanent
    /// A bug of ours or no memory.
    case programming

    /// The class of a code (facts of libcurl 7.88.1, `libcurl-errors(3)`); codes without a row are permanent.
    package init(_ code: CurlCode) {
        self = Self.table[code] ?? .permanent
    }

    private static let table: [CurlCode: CurlFailureClass] = {
        var table: [CurlCode: CurlFailureClass] = [:]
        for (failureClass, codes) in rows {
            for code in codes { table[CurlCode(code)] = failureClass }
        }
        return table
    }()

    private static let rows: [(CurlFailureClass, [CURLcode])] = [
        (
            .transient,
            [
                CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT,
                CURLE_WEIRD_SERVER_REPLY,
                CURLE_FTP_ACCEPT_FAILED, CURLE_FTP_WEIRD_PASS_REPLY, CURLE_FTP_ACCEPT_TIMEOUT,
                CURLE_FTP_WEIRD_PASV_REPLY, CURLE_FTP_WEIRD_227_FORMAT, CURLE_FTP_CANT_GET_HOST, CURLE_HTTP2,
                CURLE_PARTIAL_FILE, CURLE_OPERATION_TIMEDOUT, CURLE_FTP_PORT_FAILED, CURLE_GOT_NOTHING,
                CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_SEND_FAIL_REWIND, CURLE_SSH, CURLE_SSL_SHUTDOWN_FAILED,
                CURLE_AGAIN, CURLE_NO_CONNECTION_AVAILABLE, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR,
                CURLE_PROXY,
            ]
        ),
        (.handshake, [CURLE_SSL_CONNECT_ERROR]),
        (.local, [CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR, CURLE_READ_ERROR]),
        (.remoteDiskFull, [CURLE_REMOTE_DISK_FULL]),
        (.restart, [CURLE_RANGE_ERROR, CURLE_BAD_DOWNLOAD_RESUME]),
        (
            .permanent,
            [
                CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_REMOTE_ACCESS_DENIED,
                CURLE_LOGIN_DENIED, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
                CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED,
                CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_TOO_MANY_REDIRECTS, CURLE_FILESIZE_EXCEEDED,
                CURLE_REMOTE_FILE_EXISTS, CURLE_REMOTE_FILE_NOT_FOUND, CURLE_QUOTE_ERROR, CURLE_UPLOAD_FAILED,
                CURLE_BAD_CONTENT_ENCODING,
            ]
        ),
        (
            .programming,
            [CURLE_OUT_OF_MEMORY, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_UNKNOWN_OPTION, CURLE_FAILED_INIT]
        ),
    ]
}
