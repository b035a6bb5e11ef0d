import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue

/// Exchanges with FTP servers: their transport's words in the protocols', and back.
extension TransferEngine {
    func begin(_ exchange: FTPExchange, _ local: TransferProtocols.ExchangeID, _ wire: UInt64, _ attempt: Attempt) {
        guard case .ftp(let address)? = attempt.place?.address else {
            return fail(attempt, TransferError(.internal, "an FTP exchange without a server: queue it again"))
        }
        var source: FTPSource?
        if case .upload(_, let range, _) = exchange {
            guard let file = attempt.upload?.source else { return }
            settleEarlier(attempt)
            countRepeated(attempt)
            if let bytes = file.bytes {
                source = .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            } else if let duplicate = try? file.duplicate() {
                source = .file(duplicate, from: range.lowerBound)
            } else {
                return fail(attempt, sourceError(attempt, .badDescriptor))
            }
        }
        do {
            let transport =
                try transports.ftp ?? FTPTransport(loop: loop, clock: timeline.clock) { [self] events in take(events) }
            transports.ftp = transport
            try transport.start(
                CurlTransport.ExchangeID(rawValue: wire), attempt.context.request(exchange, at: address),
                source: source,
                limits: limitBook.limits(of: attempt))
            fly(FlyingExchange(local: local, wire: wire, carrier: .ftp, isPayload: source != nil), attempt)
            if case .list = exchange, let listing = attempt.listing {
                listing.beginReading(.machineLines)
                transport.openGate(CurlTransport.ExchangeID(rawValue: wire), to: listing)
            }
        } catch {
            let text = RawPath("\(error)").displayed
            fail(attempt, TransferError(.unsupported, "the request cannot be made (\(text)): check the path and --ca"))
        }
    }

    private func take(_ events: [FTPEvent]) {
        for case .ended(let id, let end) in events {
            guard let attempt = exchanges.attempt(of: id.rawValue) else { continue }
            let exchange = landed(id.rawValue, of: attempt)
            if exchange.isPayload {
                attempt.upload?.unconfirmed += end.bytesSent
                moved(attempt, to: attempt.uploaded)
            } else if attempt.download != nil, end.bytesReceived > 0 {
                moved(attempt, to: attempt.base + end.bytesReceived)
            }
            FaultPoint.answered.pass()
            let told = converted(end, attempt)
            if told.failure?.mayHaveReachedServer ?? true { attempt.hasReachedServer = true }
            if end.failure == nil, !end.isLoginRefused { wasLetIn(attempt) }
            switch end.failure?.cause {
            case .sourceEnded where !attempt.receives: sourceChanged(attempt, stored: nil)
            case .sourceFailed(let error) where !attempt.receives: fail(attempt, sourceError(attempt, error))
            default: bodyEnded(attempt, .ftpEnded(exchange.local, told), broken: end.failure != nil)
            }
        }
    }

    private func converted(_ end: FTPExchangeEnd, _ attempt: Attempt) -> FTPEnd {
        var told = FTPEnd(
            reply: end.reply?.code ?? 0, text: RawPath(end.reply?.text ?? "").displayed, command: end.command,
            size: end.size.flatMap(FileSize.told), modified: end.modified.map { Timestamp(seconds: $0) },
            bytesSent: end.bytesSent, bytesWritten: attempt.written,
            failure: end.failure.map { converted($0, attempt) }, at: timeline.now)
        told.isLoginRefused = end.isLoginRefused
        told.listing = attempt.listing?.endReading()
        return told
    }
}

extension FTPWork {
    init(_ exchange: FTPExchange) {
        switch exchange {
        case .size(let path): self = .size(path.bytes)
        case .upload(let path, let range, let appends):
            self = .upload(path.bytes, length: range.upperBound - range.lowerBound, appends: appends)
        case .download(let path, let offset): self = .download(path.bytes, from: offset)
        case .list(let path): self = .list(path.bytes)
        case .commands(let commands): self = .commands(commands)
        }
    }
}
