package import CurlTransport
package import LinuxSystem
package import SSHTransport
package import WireOperations

/// Makes the engine's transports. Each is made and used on the engine's loop alone, and tells its events there.
///
/// `LinuxTransports` makes those that speak to servers; the simulated world has model servers behind its own.
package protocol TransportMaker: Sendable {
    func http(
        _ clock: any TransportClock, onEvents: @escaping ([HTTPEvent]) -> Void
    ) throws(CurlError) -> any HTTPExchanges
    func ftp(_ clock: any TransportClock, onEvents: @escaping ([FTPEvent]) -> Void) throws(Errno) -> any FTPExchanges
    func sftp(
        _ clock: any TransportClock, _ settings: SSHSettings, onEvents: @escaping ([SFTPEvent]) -> Void
    ) -> any SFTPOperations
}

/// HTTP as the engine needs it. `HTTPTransport` says what each call does.
package protocol HTTPExchanges: AnyObject {
    func start(
        _ id: WireID, _ request: HTTPRequest, source: (any TransferBodySource)?, limits: RateLimits
    ) throws(CurlError)
    func openGate(_ id: WireID, to destination: GateDestination)
    func abandon(_ id: WireID)
    func flush(_ id: WireID)
    func progress(_ id: WireID) -> CurlProgress?
    func setRate(_ rate: Int64?, of bucket: TokenBucket)
    func setLimits(_ limits: RateLimits, of id: WireID)
    func ratesChanged()
    func shutDown()
}

/// FTP as the engine needs it. `FTPTransport` says what each call does.
package protocol FTPExchanges: AnyObject {
    func start(_ id: WireID, _ request: FTPRequest, source: FTPSource?, limits: RateLimits) throws(CurlError)
    func openGate(_ id: WireID, to sink: any TransferBodySink)
    func abandon(_ id: WireID)
    func flush(_ id: WireID)
    func progress(_ id: WireID) -> CurlProgress?
    func setLimits(_ limits: RateLimits, of id: WireID)
    func ratesChanged()
    func shutDown()
}

/// SFTP as the engine needs it. `SFTPTransport` says what each call does.
package protocol SFTPOperations: AnyObject {
    func start(
        _ id: WireID, _ request: SFTPOperation, on target: SSHTarget, owner: OperationOwner,
        source: (any SFTPSource)?, limit: (any TransferThrottle)?)
    func openGate(_ id: WireID, to sink: any SFTPSink, total: Int64?)
    func abandon(_ id: WireID)
    func abandonAll(of owner: OperationOwner)
    func wentOut(_ id: WireID) -> Bool
    func progress(_ id: WireID) -> OperationProgress?
    func resumeThrottled()
    func shutDown()
}

extension HTTPTransport: HTTPExchanges {}
extension FTPTransport: FTPExchanges {}
extension SFTPTransport: SFTPOperations {}

/// Transports that speak to servers: libcurl and ssh, on the engine's loop.
struct LinuxTransports: TransportMaker {
    let loop: EventLoop

    func http(
        _ clock: any TransportClock, onEvents: @escaping ([HTTPEvent]) -> Void
    ) throws(CurlError) -> any HTTPExchanges {
        try HTTPTransport(loop: loop, clock: clock, onEvents: onEvents)
    }

    func ftp(_ clock: any TransportClock, onEvents: @escaping ([FTPEvent]) -> Void) throws(Errno) -> any FTPExchanges {
        try FTPTransport(loop: loop, clock: clock, onEvents: onEvents)
    }

    func sftp(
        _ clock: any TransportClock, _ settings: SSHSettings, onEvents: @escaping ([SFTPEvent]) -> Void
    ) -> any SFTPOperations {
        SFTPTransport(loop: loop, clock: clock, settings: settings, onEvents: onEvents)
    }
}
