package import Configuration

/// `martlet-receive`, which `martlet receive` runs: the other end, on any machine that has none.
package enum ReceiveProgram {
    package static let listen = Option(
        "listen", ValueSyntax<String>.text("ADDR:PORT"),
        "where to listen; default 127.0.0.1:0, for this machine alone; port 0 takes a free one, the same for DIR each time if it can"
    )
    package static let tokenFile = Option(
        "token-file", ValueSyntax<[UInt8]>.path("FILE", .files),
        "clients must send this file's first line as Authorization: Bearer; MARTLET_RECEIVE_TOKEN does the same; with neither a token is made and kept, which martlet upload of the same user finds by itself"
    )
    package static let open = Option.flag(
        "open", "ask for no token: anybody who reaches the address may read and write")
    package static let noToken = Option.flag("no-token", "the old name of --open")
    package static let host = Option(
        "host", ValueSyntax<String>.text("NAME[:PORT]"), repeats: true,
        "answer to this name, too: of a proxy in front, or of a forwarded port")
    package static let certificate = Option(
        "tls-cert", ValueSyntax<[UInt8]>.path("FILE", .files), "speak https with this certificate (PEM)")
    package static let privateKey = Option(
        "tls-key", ValueSyntax<[UInt8]>.path("FILE", .files), "the certificate's private key (PEM)")
    package static let maximumSize = Option(
        "max-size", ValueSyntax<ByteSize>.size(), "refuse files that are larger than this; without it any size is taken"
    )
    package static let keepFree = Option(
        "keep-free", ValueSyntax<ByteSize>.size(),
        "leave this much room on the disk, also while bytes arrive; default 64M")
    package static let keepUnfinished = Option(
        "keep-unfinished", ValueSyntax<TimeSpan>.duration,
        "forget an interrupted upload that nobody went on with for so long; default 7d")
    package static let version = Option.flag("version", "print the version and exit")

    /// The directory that takes what arrives.
    package static let directory = ValueSyntax<[UInt8]>.path("DIR", .directories)

    /// The command `martlet receive`.
    package static let command: Command = {
        var command = Command("receive", "receive uploads into DIR over http, resumable ones too, and serve them again")
        command.details = [
            "The first line printed is \"ready URL\"; give that URL to martlet upload; a terminal gets one that others can reach as a QR code, too. A file is seen under its name when it "
                + "is whole, never before. It asks for a token: without --token-file it makes one for each port and keeps it, and martlet upload on this machine finds it."
        ]
        command.operands = [Operand(directory)]
        command.groups = [
            OptionGroup(
                "Options",
                [
                    listen, tokenFile, open, noToken, host, certificate, privateKey, maximumSize, keepFree,
                    keepUnfinished,
                ])
        ]
        return command
    }()

    /// The program `martlet-receive`.
    package static let program: Program = {
        var root = command
        root.name = "martlet-receive"
        root.groups = [OptionGroup("Options", command.groups.flatMap(\.options) + [version])]
        var program = Program(root)
        program.sections = ReceiverManual.sections
        program.seeAlso = ["martlet", "martletd"]
        return program
    }()
}

extension ValueSyntax where Value == [UInt8] {
    /// The path of something that exists or will: any bytes but none at all.
    package static func path(_ placeholder: String, _ completion: ValueCompletion) -> ValueSyntax {
        ValueSyntax(placeholder, allowed: "a path", completion: completion, read: { $0.isEmpty ? nil : $0 })
    }
}
