package import Configuration

/// `martlet-receive`, which `martlet receive` runs: the other end, on any machine that has none.
package enum ReceiveProgram {
    package static let listen = Option(
        "listen", ValueSyntax<String>.text("ADDR:PORT"),
        "where to listen; default 127.0.0.1:0, for this machine alone; port 0 takes a free one, the same for DIR each time if it can"
    )
    package static let tokenFile = Option(
        "token-file", ValueSyntax<[UInt8]>.path("FILE", .files),
        "clients must send this file's first line as Authorization: Bearer; MARTLET_RECEIVE_TOKEN does the same")
    package static let noToken = Option.flag("no-token", "let anybody in who reaches another address than 127.0.0.1")
    package static let certificate = Option(
        "tls-cert", ValueSyntax<[UInt8]>.path("FILE", .files), "speak https with this certificate (PEM)")
    package static let privateKey = Option(
        "tls-key", ValueSyntax<[UInt8]>.path("FILE", .files), "the certificate's private key (PEM)")
    package static let maximumSize = Option(
        "max-size", ValueSyntax<ByteSize>.size(), "refuse files that are larger than this; without it any size is taken"
    )
    package static let keepFree = Option(
        "keep-free", ValueSyntax<ByteSize>.size(),
        "refuse files that would leave less room than this on the disk; default 64M")
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
                + "is whole, never before. Any address but this machine's own demands a token or --no-token."
        ]
        command.operands = [Operand(directory)]
        command.groups = [
            OptionGroup(
                "Options", [listen, tokenFile, noToken, certificate, privateKey, maximumSize, keepFree, keepUnfinished])
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
