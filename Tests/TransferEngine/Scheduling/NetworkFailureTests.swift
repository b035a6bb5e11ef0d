import CurlTransport
import LinuxSystem
import Testing
import TransferModel

@testable import TransferEngine

/// What a person reads where libcurl ends an exchange: each end that it can tell of, and each of ours.
@Suite struct NetworkFailureTests {
    private func message(
        _ code: Int32, _ text: String = "", cause: CurlFailureCause? = nil, osError: Errno? = nil,
        certificate: CertificateFault? = nil, handshakes: Int = 1
    ) -> String {
        let failure = CurlFailure(
            CurlCode(rawValue: code), cause: cause, osError: osError, text: text, certificate: certificate)
        return NetworkFailure.error(failure, host: "nas:443", handshakes: handshakes).message
    }

    /// A server that does not listen.
    static func refused(by host: String) -> TransferError {
        NetworkFailure.error(CurlFailure(CurlCode(rawValue: 7), text: ""), host: host, handshakes: 1)
    }

    @Test(
        "an end that we have made ourselves says why",
        arguments: [
            (CurlFailureCause.stalled, "nothing moved to or from nas:443: Martlet tries again by itself"),
            (.noAnswer, "nas:443 gave no answer after the last byte: Martlet tries again by itself"),
            (.repeatRefused, "nas:443 closed the connection without an answer: Martlet tries again by itself"),
            (.noFinalStatus, "nas:443 closed the connection without an answer: Martlet tries again by itself"),
            (
                .tooMuchProgress,
                "nas:443 told of its progress more often than libcurl takes: Martlet tries again by itself"
            ),
            (
                .foreignListener,
                "what listens at nas:443 is no program of yours, and was sent nothing: start your receiver there again; "
                    + "Martlet tries again by itself"
            ),
            (
                .addressTooPrivate,
                "the server sent us on to nas:443, which is in a more private network than the server, and nothing was sent "
                    + "there: if you trust nas:443, queue the file with that address"
            ),
            (
                .proxyRefused(407),
                "the proxy wants another user or password before it reaches nas:443: give them in https_proxy or "
                    + "all_proxy, and queue it again"
            ),
            (
                .proxyRefused(403),
                "the proxy answered 403 when it was asked for nas:443: check its settings; Martlet tries again by itself"
            ),
            (.responseTooLarge, "nas:443 sent an answer without end: check the address"),
            (.headerTooLarge, "nas:443 sent an answer without end: check the address"),
        ])
    func causes(cause: CurlFailureCause, expected: String) {
        #expect(message(42, cause: cause) == expected)
    }

    @Test("a host whose address has come closer is asked again")
    func otherZone() {
        let error = NetworkFailure.otherZone("nas:443")
        #expect(error.isRetryable)
        let told = "nas:443 has come to a more private network than before, and nothing was sent there"
        #expect(error.message == told + ": Martlet tries again by itself")
    }

    @Test(
        "an end that libcurl tells of says what mends it",
        arguments: [
            (1, "nas:443 answers in no way that is HTTP: check the address"),
            (3, "the address is malformed: check it and queue it again"),
            (4, "this libcurl cannot do that: install Debian's libcurl4"),
            (
                5,
                "the proxy for nas:443 cannot be found: check the spelling of its name, then the network; "
                    + "Martlet tries again by itself"
            ),
            (
                6,
                "nas cannot be found: check the spelling of its name, then the network; Martlet tries again by itself"
            ),
            (7, "nas:443 does not accept the connection: Martlet tries again by itself"),
            (28, "nas:443 took too long: Martlet tries again by itself"),
            (27, "nas:443 sent a line in its header that is too long: check the address"),
            (35, "no TLS with nas:443 yet: Martlet tries again by itself"),
            (42, "the exchange with nas:443 failed: retry; if it stays, report it with this text"),
            (47, "nas:443 redirects again and again: check the address"),
            (56, "the connection to nas:443 was cut: Martlet tries again by itself"),
            (59, "TLS with nas:443 cannot be set up: check --ca and the server's settings"),
            (
                60,
                "the certificate of nas:443 is not trusted: check it, or name its authority with --ca"
            ),
            (
                64,
                "nas:443 offers no TLS: ask who runs it for TLS; where none is needed, queue it again with ftp://"
            ),
            (67, "nas:443 refuses the user or password: check them, then retry"),
            (
                77,
                "the file of authorities for nas:443 cannot be used: mend that file, or name its authority with --ca"
            ),
            (
                90,
                "nas:443 has another key than the pinned one: ask who runs it, and name the new key with --pin"
            ),
            (97, "the proxy refuses to reach nas:443: check the proxy; Martlet tries again by itself"),
        ])
    func codes(code: Int32, expected: String) {
        #expect(message(code) == expected)
    }

    @Test("what libcurl adds stands behind the event, and a network that is away is no refusal")
    func details() {
        #expect(
            message(56, "Recv failure\n(10.0.0.1)")
                == "the connection to nas:443 was cut (Recv failure\\x0a(10.0.0.1)): Martlet tries again by itself")
        #expect(
            message(7, osError: .networkUnreachable)
                == "there is no network to nas:443: Martlet tries again by itself")
        #expect(
            message(35, osError: .connectionReset) == "the connection to nas:443 was cut: Martlet tries again by itself"
        )
        #expect(
            message(35, handshakes: 3)
                == "nas:443 speaks no TLS that we can: check the address and port, and whether it is one without TLS")
    }

    @Test(
        "a certificate is refused for what is wrong with it",
        arguments: [
            (
                CertificateFault.expired,
                "the certificate of nas:443 has expired: "
                    + "check the clock of this machine, or have whoever runs the server renew it, then retry"
            ),
            (
                .notYetValid,
                "the certificate of nas:443 is not valid yet: check the clock of this machine, then retry"
            ),
            (.otherName, "the certificate of nas:443 is for another name: check the address"),
            (
                .unknownAuthority,
                "the certificate of nas:443 comes from an unknown authority: check it, or name its authority with --ca"
            ),
            (.other, "the certificate of nas:443 is not trusted: check it, or name its authority with --ca"),
        ])
    func certificates(fault: CertificateFault, expected: String) {
        #expect(message(60, certificate: fault) == expected)
    }
}
