import CurlTransport
import LinuxSystem
import TransferModel
import TransferProtocols
import TransferQueue
import WireOperations

/// Exchanges with FTP servers: whom to reach, the source or sink of their bytes, and what their ends mean here.
extension TransferEngine {
    func begin(_ operation: FTPOperation, _ local: ExchangeID, _ wire: WireID, _ attempt: Attempt) {
        guard case .ftp(let address)? = attempt.place?.route else {
            return fail(attempt, .bug("an FTP exchange without a server"))
        }
        var source: FTPSource?
        if case .upload(_, let range, _) = operation {
            guard let file = self.source(of: attempt) else { return }
            settleEarlier(attempt)
            countRepeated(attempt)
            if let bytes = file.bytes {
                source = .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            } else if let unchanged = try? file.unchanged() {
                source = .file(unchanged, from: range.lowerBound)
            } else {
                return fail(attempt, sourceError(attempt, .badDescriptor))
            }
        }
        do {
            let transport =
                try transports.ftp ?? transports.maker.ftp(timeline.clock) { [self] events in take(events) }
            transports.ftp = transport
            try transport.start(
                wire, attempt.context.request(operation, at: address), source: source,
                limits: limitBook.limits(of: attempt))
            fly(FlyingExchange(local: local, wire: wire, carrier: .ftp, isPayload: source != nil), attempt)
            if case .list = operation, let listing = attempt.listing {
                listing.beginReading(.machineLines)
                transport.openGate(wire, to: listing)
            }
        } catch let error as CurlError where error.code == .outOfMemory {
            waitForRoom(attempt, .noThread)
        } catch let error as Errno where error.isShortage {
            waitForRoom(attempt, .tooManyOpenFiles)
        } catch {
            fail(attempt, .bug("FTP cannot carry the request (\(error))"))
        }
    }

    private func take(_ events: [FTPEvent]) {
        for case .ended(let id, let end) in events {
            guard let attempt = exchanges.attempt(of: id) else { continue }
            let exchange = landed(id, of: attempt)
            if exchange.isPayload {
                attempt.upload?.ended(having: end.bytesSent)
                moved(attempt, to: attempt.uploaded)
            } else if attempt.download != nil, end.bytesReceived > 0 {
                moved(attempt, to: attempt.progress.base + end.bytesReceived)
            }
            FaultPoint.answered.pass()
            let told = converted(end, attempt)
            if told.failure?.mayHaveReachedServer ?? true { attempt.exchanges.reachedServer() }
            if end.failure == nil {
                attempt.context.handshakes.succeeded(with: TransferScheme.server(of: attempt.origin))
                if !end.answer.isLoginRefused { wasLetIn(attempt) }
            }
            switch end.failure?.cause {
            case .sourceEnded where !attempt.receives: sourceChanged(attempt, stored: nil)
            case .sourceFailed(let error) where !attempt.receives: fail(attempt, sourceError(attempt, error))
            default: bodyEnded(attempt, .ftpEnded(exchange.local, told), broken: end.failure != nil)
            }
        }
    }

    private func converted(_ end: FTPTransferEnd, _ attempt: Attempt) -> FTPEnd {
        var told = FTPEnd(
            end.answer, bytesSent: end.bytesSent, bytesWritten: attempt.written,
            failure: end.failure.map { converted($0, attempt) }, at: timeline.now)
        told.listing = attempt.listing?.endReading()
        return told
    }
}
