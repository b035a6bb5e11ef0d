package import TransferModel
package import WireOperations

/// The meaning of a server's answer for a task when the protocol gives it no other: the table of the command contract.
package enum AnswerMeaning: Hashable, Sendable {
    case success
    case redirect
    case wait(WaitDemand)
    case fail(TransferError)

    /// - Parameters:
    ///   - hasAccepted: earlier bytes of this task were accepted, so a 403 means that the permission is gone.
    ///   - isPlainPut: the server may be one of WebDAV that wants its folders made first.
    package init(_ answer: HTTPAnswer, host: String, hasAccepted: Bool, isPlainPut: Bool = false, at now: Timestamp) {
        let status = answer.status
        // Nearly every answer: nothing needs to be said of it.
        if answer.isSuccess {
            self = .success
            return
        }
        let error = TransferError(.http, Self.finding(status, host: host, isPlainPut: isPlainPut), httpStatus: status)
        let retryAfter = answer.retryAfter(now: now)
        switch status {
        case 301, 302, 303, 307, 308: self = .redirect
        case 401, 407: self = .wait(WaitDemand(.auth, error))
        case 403 where hasAccepted:
            let finding = Finding(error.finding.what, .login("ask for access there, or "))
            self = .wait(WaitDemand(.auth, TransferError(.http, finding, httpStatus: status)))
        case 403:
            self = .fail(TransferError(.permissionDenied, error.finding, httpStatus: status))
        case 507: self = .wait(WaitDemand(.remoteDiskSpace, error, retryAfter: retryAfter))
        case 429, 503: self = .wait(WaitDemand(.hostBackoff, error, retryAfter: retryAfter))
        case 408, 421, 425, 500..<600:
            // Whoever says when to come back says it for all who ask.
            self = .wait(WaitDemand(retryAfter == nil ? .backoff : .hostBackoff, error, retryAfter: retryAfter))
        case 400..<500: self = .fail(error)
        default:
            self = .fail(TransferError(.badServerResponse, error.finding, httpStatus: status))
        }
    }

    /// The server's answer, and what would mend it.
    static func finding(_ status: Int, host: String, isPlainPut: Bool = false) -> Finding {
        let remedy: Remedy =
            switch status {
            case 401: .login()
            case 403: .step("ask for access there, or check the address")
            case 404: .step("check the address")
            case 405, 501: .step("it does not take files by this method; check the address or the server's settings")
            case 407:
                .thenRetry(
                    "the proxy wants a login: give one in https_proxy or http_proxy and queue it again, or see that it lets you in"
                )
            case 408, 425, 500, 502, 503, 504, 520...524: .again
            case 409 where !isPlainPut: .thenRetry("something there stands in its way; look there")
            case 409:
                .queued(
                    "a folder of the path may be missing there, or a file have its name; look there, then retry, or queue it again with "
                        + "dav:// for a WebDAV server")
            case 410: .step("the file is gone for good; check the address")
            case 411: .step("it wants a length in front; check for a proxy between")
            case 412: .thenRetry("its copy is not the one that was expected; look there")
            case 413: .step("the file is too large for it; raise its limit or send it elsewhere")
            case 414: .step("the path is too long for it; use shorter names")
            case 421:
                .again(
                    "it does not go by this name: check the host in the address, or have a martlet receive take it with --host"
                )
            case 423: .retry("it is locked there; retry when the lock is gone")
            case 429: .automatic("too many requests; Martlet slows down and tries again")
            case 507: .automatic("its disk or quota is full; make room there, Martlet tries again")
            case 300..<400: .step("check the address; it points elsewhere in a way that cannot be followed")
            case 400..<500: .thenRetry("check the address and the server's log")
            case 500..<600: .again
            default: .step("this is not an answer to a transfer; check the address")
            }
        return Finding("\(host) answered \(status)\(phrase(status))", remedy)
    }

    private static func phrase(_ status: Int) -> String {
        switch status {
        case 204: " No Content"
        case 304: " Not Modified"
        case 400: " Bad Request"
        case 401: " Unauthorized"
        case 403: " Forbidden"
        case 404: " Not Found"
        case 405: " Method Not Allowed"
        case 407: " Proxy Authentication Required"
        case 408: " Request Timeout"
        case 409: " Conflict"
        case 410: " Gone"
        case 411: " Length Required"
        case 412: " Precondition Failed"
        case 413: " Content Too Large"
        case 414: " URI Too Long"
        case 415: " Unsupported Media Type"
        case 416: " Range Not Satisfiable"
        case 421: " Misdirected Request"
        case 423: " Locked"
        case 425: " Too Early"
        case 429: " Too Many Requests"
        case 500: " Internal Server Error"
        case 501: " Not Implemented"
        case 502: " Bad Gateway"
        case 503: " Service Unavailable"
        case 504: " Gateway Timeout"
        case 507: " Insufficient Storage"
        default: ""
        }
    }
}
