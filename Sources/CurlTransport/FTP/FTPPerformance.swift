import CCurl
import DisplayText
import Glibc
import LinuxSystem
import TransferModel
import WireOperations

/// The thread's side of one FTP exchange: what libcurl's callbacks need and what they found out. On one thread.
final class FTPPerformance {
    let job: FTPJob
    private let connections: FTPConnections
    private var handle: FTPHandle
    var request: FTPRequest { job.request }

    /// Bytes of the source that libcurl has fetched.
    private var fetched: Int64 = 0
    private var cause: CurlFailureCause?
    /// Verbs that were sent and have no final reply yet, and the one that the last reply answers. libcurl itself may take the refusal of a
    /// STOR for the answer to the PASV that it sends when the server closes the data connection before TLS is up.
    private var unanswered: [String] = []
    private var command = ""
    private var reply: Reply?
    /// Replies to commands of this exchange: none yet means that the server has not noticed us.
    private var replies = 0
    private var sizeReply: Reply?
    /// As far as `REST` was asked for here: libcurl asks for `REST 0` after each `SIZE`, and does not care for the answer.
    private var restReply: Reply?
    /// The length that the answer to RETR announces.
    private var announced: Int64?
    /// A reply with its text as it came.
    private typealias Reply = (code: Int, text: String)

    /// Performs a job from beginning to end; on a thread that may block.
    static func perform(_ job: FTPJob, _ connections: FTPConnections) {
        do throws(CurlError) {
            let handle = try connections.take(job.request.server)
            guard job.begin(handle) else { return connections.give(handle) }
            FTPPerformance(job, handle, connections).run()
        } catch {
            var end = FTPTransferEnd()
            end.failure = CurlFailure(error.code, text: error.description)
            job.finish(end)
        }
    }

    private init(_ job: FTPJob, _ handle: FTPHandle, _ connections: FTPConnections) {
        self.job = job
        self.handle = handle
        self.connections = connections
    }

    private func run() {
        do throws(CurlError) {
            var code = try transfer()
            if isStale(code) {
                handle = try FTPHandle(request.server)
                guard job.begin(handle) else { return job.finish(FTPTransferEnd()) }
                code = try transfer()
            }
            if case .upload(let path, _, _) = request.operation, lacksFolder(code) {
                if !isInStep(code) { handle = try FTPHandle(request.server) }
                guard job.begin(handle) else { return job.finish(FTPTransferEnd()) }
                if let made = try makeFolders(of: path.bytes) { code = made == .ok ? try transfer() : made }
            }
            let end = ending(code)
            // A refusal leaves a connection that can be used again; anything else that failed may have left it in any state.
            if isInStep(code), !job.isStopped, !leavesHome { connections.give(handle) }
            job.finish(end)
        } catch {
            var end = FTPTransferEnd()
            end.failure = CurlFailure(error.code, text: error.description)
            job.finish(end)
        }
    }

    /// The session stands in another folder than the one after the login.
    private var leavesHome: Bool { if case .enter = request.operation { true } else { false } }

    private func transfer() throws(CurlError) -> CurlCode {
        var (commands, place) = ([[UInt8]](), CURLOPT_QUOTE)
        switch request.operation {
        case .commands(let given): commands = given
        case .enter(let path): commands = [Array("CWD ".utf8) + path.bytes]
        case .download(_, let offset, false) where offset > 0:
            (commands, place) = ([Array("REST \(offset)".utf8)], CURLOPT_PREQUOTE)
        case .size, .upload, .download, .list: break
        }
        if case .upload(_, let range, _) = request.operation { sockets.set(range.isEmpty ? .whole : .isCut) }
        defer { sockets.set(.arrives) }
        let code = try perform(options(for: request.operation), commands, at: place)
        return isRestRefused ? CurlCode(CURLE_FTP_COULDNT_USE_REST) : code
    }

    /// The bytes begin at another place than was asked for.
    private var isRestRefused: Bool { restReply.map { $0.code != 350 } ?? false }

    private func perform(
        _ options: [CurlOption], _ commands: [[UInt8]], at place: CURLoption = CURLOPT_QUOTE
    ) throws(CurlError) -> CurlCode {
        (fetched, cause, command, reply, replies, unanswered) = (0, nil, "", nil, 0, [])
        (sizeReply, restReply, announced) = (nil, nil, nil)
        try handle.easy.configure(options, fields: [], commands: commands, at: place)
        isReused = handle.isUsed
        // The handle's callbacks hold this object unretained: it lives until the transfer is over.
        let code = withExtendedLifetime(self) { handle.perform() }
        sockets.endListening()
        return code
    }

    private var isReused = false

    /// A kept connection that the server had closed meanwhile: it answered nothing but that, so nothing was done.
    private func isStale(_ code: CurlCode) -> Bool {
        guard isReused, fetched == 0, !job.isStopped else { return false }
        if reply?.code == 421, replies == 1 { return true }
        return replies == 0
            && [CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING].map { CurlCode($0) }.contains(code)
    }

    // MARK: Folders

    private func lacksFolder(_ code: CurlCode) -> Bool {
        guard command == "STOR" || command == "APPE", fetched == 0, code != .ok, let reply else { return false }
        return [450, 550, 551, 553].contains(reply.code)
    }

    /// Makes every folder above a path that is missing; those that are there refuse, which is no matter. `nil`: there is none above it.
    private func makeFolders(of path: [UInt8]) throws(CurlError) -> CurlCode? {
        let slash = UInt8(ascii: "/")
        let ends = path.indices.filter { $0 > 0 && path[$0] == slash && path[$0 - 1] != slash }
        if ends.isEmpty { return nil }
        return try perform(options(for: .commands([])), ends.map { Array("*MKD ".utf8) + path[..<$0] })
    }

    // MARK: The end

    private func ending(_ code: CurlCode) -> FTPTransferEnd {
        let easy = handle.easy
        var end = FTPTransferEnd()
        end.address = easy.string(CURLINFO_PRIMARY_IP).flatMap { $0.isEmpty ? nil : $0 }
        end.bytesReceived = job.state.withLock { $0.received }
        if case .upload(_, let range, _) = request.operation {
            end.bytesSent = min(max(0, easy.offset(CURLINFO_SIZE_UPLOAD_T)), Int64(range.count))
        }
        let modified = easy.offset(CURLINFO_FILETIME_T)
        end.answer.modified = modified > 0 ? Timestamp(seconds: modified) : nil
        end.answer.size = sizeReply.flatMap { $0.code == 213 ? Self.lastNumber(in: $0.text) : nil }
        if case .download(_, _, false) = request.operation { end.answer.size = announced }
        end.answer.command = isRestRefused ? "REST" : command
        if case .size = request.operation, code == .ok || code == CurlCode(CURLE_REMOTE_FILE_NOT_FOUND), let sizeReply {
            end.answer.reply = FTPReply(code: sizeReply.code, text: sizeReply.text)
            end.answer.command = "SIZE"
            return end
        }
        let lastWords = sockets.takeLastWords()
        var decisive: Reply?
        if code == CurlCode(CURLE_SEND_ERROR), fetched > 0, let said = Self.reply(in: lastWords), said.code >= 400 {
            decisive = said
        }
        if isRestRefused { decisive = restReply }
        end.answer.isLoginRefused = code == CurlCode(CURLE_LOGIN_DENIED)
        let isMistaken = code == CurlCode(CURLE_FTP_WEIRD_PASV_REPLY) && Self.transferVerbs.contains(command)
        if code == .ok || Self.refusals.contains(code) || reply?.code == 421 || isMistaken {
            decisive = decisive ?? reply
        }
        end.answer.reply = decisive.map { FTPReply(code: $0.code, text: $0.text) }
        if code != .ok || cause != nil {
            end.failure = easy.failure(
                code, or: .aborted, cause: cause ?? easy.proxyRefusal.map { .proxyRefused($0) }, address: end.address)
        }
        return end
    }

    /// Every command has its answer, so that the connection can be used for the next exchange.
    private func isInStep(_ code: CurlCode) -> Bool {
        code == .ok || (Self.refusals.contains(code) && unanswered.isEmpty)
    }

    private static let transferVerbs = ["STOR", "APPE", "RETR"]

    /// The codes with which libcurl ends when the last reply is the reason, and not the connection.
    private static let refusals = Set(
        [
            CURLE_WEIRD_SERVER_REPLY, CURLE_REMOTE_ACCESS_DENIED, CURLE_FTP_WEIRD_PASS_REPLY,
            CURLE_FTP_COULDNT_SET_TYPE,
            CURLE_PARTIAL_FILE, CURLE_FTP_COULDNT_RETR_FILE, CURLE_QUOTE_ERROR, CURLE_UPLOAD_FAILED,
            CURLE_FTP_PORT_FAILED, CURLE_FTP_COULDNT_USE_REST, CURLE_USE_SSL_FAILED, CURLE_LOGIN_DENIED,
            CURLE_REMOTE_DISK_FULL, CURLE_REMOTE_FILE_NOT_FOUND,
        ].map { CurlCode($0) })

    /// Servers write words before it.
    private static func lastNumber(in text: String) -> Int64? {
        // More digits than fit are a number all the same, and no size of a file.
        text.split { !$0.isASCII || !$0.isNumber }.last.map { Int64($0) ?? .max }
    }

    /// As in `150 Opening BINARY mode data connection for f (2241 bytes).`: behind the last parenthesis, for a name may have some, too.
    private static func announcedLength(in text: String) -> Int64? {
        let text = Array(text.utf8)
        for start in text.indices.reversed() where text[start] == UInt8(ascii: "(") {
            let rest = text[(start + 1)...]
            let digits = rest.prefix { (48...57).contains($0) }
            if !digits.isEmpty, rest.dropFirst(digits.count).starts(with: " bytes".utf8) {
                return Int64(String(peer: digits)) ?? .max
            }
        }
        return nil
    }

    // MARK: What libcurl calls

    /// Fetches the next bytes of the source. Returns a count or `CURL_READFUNC_ABORT`.
    func fetch(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard case .upload(_, let range, _) = request.operation else { return 0 }
        let length = Int64(range.count)
        let left = length - fetched
        if left <= 0 { return 0 }
        // Encrypted last words cannot be read without libcurl.
        if fetched == 0, request.server.security == .none { sockets.beginListening() }
        guard let allowed = job.allowance(for: Int(min(Int64(buffer.count), left))) else {
            return Int(CURL_READFUNC_ABORT)
        }
        do throws(Errno) {
            let count = try read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<allowed]))
            if count <= 0 {
                // Returning 0 would end the upload well.
                cause = .sourceEnded(at: fetched)
                return Int(CURL_READFUNC_ABORT)
            }
            fetched += Int64(count)
            if fetched == length { sockets.set(.whole) }
            job.showLife(waitsForAnswer: fetched == length)
            return count
        } catch {
            cause = .sourceFailed(error)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        switch job.source {
        case .file(let file, let start): return try file.read(into: buffer, at: start + fetched)
        case .bytes(let bytes):
            let rest = bytes.dropFirst(Int(fetched)).prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return rest.count
        case nil: return 0
        }
    }

    /// Takes bytes that came; false gives up.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // With no body wanted libcurl writes a header in the manner of HTTP.
        guard request.operation.brings else { return true }
        if isRestRefused { return false }
        var allowed = 0
        while allowed < bytes.count {
            guard let granted = job.allowance(for: bytes.count - allowed) else { return false }
            allowed += granted
        }
        return job.append(bytes)
    }

    /// Looks at a line of the control connection.
    func see(_ type: curl_infotype, _ bytes: UnsafeRawBufferPointer) {
        if type == CURLINFO_HEADER_OUT {
            unanswered.append(String(peer: bytes.prefix { $0 > 32 }))
            return
        }
        guard type == CURLINFO_HEADER_IN else { return }
        if let said = Self.reply(in: bytes) {
            reply = said
            replies += 1
            command = unanswered.first ?? ""
            // 1xx says that the transfer begins; the final reply follows.
            if said.code >= 200, !unanswered.isEmpty { unanswered.removeFirst() }
            if command == "SIZE" { sizeReply = said }
            if command == "REST", case .download(_, 1..., false) = request.operation { restReply = said }
            if command == "RETR", said.code < 200 { announced = Self.announcedLength(in: said.text) }
        }
        job.showLife()
    }

    /// The last whole reply; its last line has a space after the digits.
    private static func reply(in bytes: some Collection<UInt8>) -> Reply? {
        var found: Reply?
        for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
            let text = String(peer: line)
            guard line.count >= 3, let code = Int(text.prefix(3)), (100...599).contains(code),
                line.count == 3 || line[line.index(line.startIndex, offsetBy: 3)] == 32
            else { continue }
            found = (code, String(text.dropFirst(4)))
        }
        return found
    }

    /// Notes how many bytes the server has; false gives up.
    func progress(sent: Int64) -> Bool { job.moved(sent: max(0, sent - sockets.unacknowledged)) }

    var sockets: SocketList { handle.sockets }
}
