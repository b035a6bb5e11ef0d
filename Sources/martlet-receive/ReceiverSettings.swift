import CommandLine
import Configuration
import LinuxSystem
import ServiceWire
import UploadReceiver

extension ReceiverConfiguration {
    /// Reads the settings that a command line asks for.
    init(_ invocation: Invocation) throws(CommandFailure) {
        // The command has exactly one operand of this kind, or it would have been refused.
        self.init(folder: invocation.operands(as: ReceiveProgram.directory)[0])
        if let text = invocation.value(ReceiveProgram.listen) {
            guard let address = ListenAddress(text) else {
                throw .usage(
                    "--listen: \"\(Argument(text).shown)\" is not allowed",
                    "give a numeric address and a port, such as 0.0.0.0:8080 or [::1]:0")
            }
            listen = address
        }
        names = invocation.values(ReceiveProgram.host)
        if let name = names.first(where: { !Self.isName($0) }) {
            throw .usage(
                "--host: \"\(Argument(name).shown)\" is not allowed",
                "give a name or an address, such as nas.example:8443")
        }
        access = try Self.access(invocation)
        tls = try Self.tls(invocation)
        limits.maximumSize = invocation.value(ReceiveProgram.maximumSize).map { UInt64(clamping: $0.bytes) }
        if let room = invocation.value(ReceiveProgram.keepFree) { limits.keepFree = UInt64(clamping: room.bytes) }
        if let span = invocation.value(ReceiveProgram.keepUnfinished) { limits.unfinishedLifetime = span.seconds }
    }

    private static func access(_ invocation: Invocation) throws(CommandFailure) -> Access {
        let file = invocation.value(ReceiveProgram.tokenFile)
        if invocation.has(ReceiveProgram.open) || invocation.has(ReceiveProgram.noToken) {
            if file != nil { throw .usage("--open and --token-file exclude each other", "leave one of them out") }
            return .open
        }
        if let file {
            let contents = try read(file, for: ReceiveProgram.tokenFile)
            return .token(try token(contents, from: "--token-file"))
        }
        if let variable = tokenInEnvironment { return .token(try token(variable, from: "MARTLET_RECEIVE_TOKEN")) }
        let places: Places
        do throws(PlacesError) { places = try Places.current() } catch {
            throw .usage("there is no place for a token: \(error.message), or give --token-file FILE, or --open", "")
        }
        do throws(Untrusted) { try System.requireOwnWay(to: places.ways) } catch {
            throw .usage("there is no place for a token: \(error), or give --token-file FILE, or --open", "")
        }
        return .kept(in: Array(places.stateDirectory.utf8))
    }

    /// The first line, which must be visible ASCII: anything else cannot stand in a header field.
    private static func token(_ contents: [UInt8], from source: String) throws(CommandFailure) -> [UInt8] {
        let line = contents.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard !line.isEmpty, line.allSatisfy({ (33...126).contains($0) }) else {
            throw .usage("\(source) holds no token", "its first line must be visible ASCII characters without spaces")
        }
        return Array(line)
    }

    private static func tls(_ invocation: Invocation) throws(CommandFailure) -> TLSMaterial? {
        switch (invocation.value(ReceiveProgram.certificate), invocation.value(ReceiveProgram.privateKey)) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            return TLSMaterial(
                certificate: try read(certificate, for: ReceiveProgram.certificate),
                key: try read(key, for: ReceiveProgram.privateKey))
        default: throw .usage("--tls-cert and --tls-key belong together", "give both")
        }
    }

    private static func read(_ path: [UInt8], for option: Option<[UInt8]>) throws(CommandFailure) -> [UInt8] {
        do {
            return try readFile(path)
        } catch {
            throw .usage("--\(option.name): \(error)", "give a file that can be read")
        }
    }
}
