import CommandLine
import Configuration
import MartletKit

/// `martlet upload`.
struct UploadCommand: QueueingCommand {
    let context: CommandContext

    private static let plainSchemes = TransferScheme.plain.map { "\($0.rawValue)://" }

    static let command = Command(
        "upload", "queue a batch of uploads; prints its id and returns at once",
        details: [
            "DEST is NAME:path of a configured destination, https://host/path or http://host/path (the host is asked once whether it speaks resumable upload or tus, else "
                + "it gets a PUT), tus+https://, ietf+https://, s3://bucket/prefix (keys from AWS_ACCESS_KEY_ID and "
                + "AWS_SECRET_ACCESS_KEY or AWS_PROFILE; AWS_ENDPOINT_URL for a service of one's own), "
                + "sftp://[user@]host[:port]/path (by your own ssh; /~/ is the home folder), "
                + "\(plainSchemes.dropLast().joined(separator: ", ")) or \(plainSchemes.last ?? ""). Missing folders are made there.",
            "A DEST that ends in / is a directory: each SOURCE arrives under its own "
                + "base name, a directory with everything below it (DIR/. means its contents alone). Without the slash a single "
                + "file arrives under exactly that name.",
            "Two files of one batch cannot have one name at the server: the first is sent, and the other fails with duplicateName. With "
                + "--if-exists fail or skip two of one size and time count as the same file.",
            "--if-exists: fail (default) overwrites nothing, and the same file already there counts as completed where its "
                + "server can show that it is the same (most FTP and WebDAV servers cannot); skip leaves what is there; "
                + "replace overwrites it. Some web servers replace a file whatever they are told, as nginx does with a plain PUT: so a server "
                + "is asked for the name before each file. What somebody else puts there between the question and the end of the "
                + "upload is replaced by such a server all the same.",
            "A GLOB of --include and --exclude means a base name in whatever folder, and one with a slash the path below its SOURCE, whose "
                + "own name, without wildcards, may stand in front: ** is any number of folders, and a slash at the end means folders "
                + "alone, with all that is in them. Braces as in *.{jpg,png} are not understood: give the option once for each pattern.",
            "A field of --header that Martlet writes itself, such as Range or Content-Length, is refused. Over s3:// a field of the object, such "
                + "as Cache-Control or x-amz-acl, is sent only with the request that makes the object. An Idempotency-Key goes with each POST "
                + "and form, with a mark of the file and its version behind the value: two files never have one key.",
        ],
        operands: [
            Operand(ValueSyntax<[UInt8]>.path("SOURCE", .files), .oneOrMore), Operand(ValueSyntax<String>.url("DEST")),
        ],
        groups: QueueOptions.upload,
        examples: [
            .init(line: "martlet upload ~/Pictures/2026 https://nas.example/photos/", effect: "Queue a directory"),
            .init(
                line: "martlet upload --wait report.pdf https://nas.example/inbox/q3.pdf",
                effect: "Send one file under another name and wait for it"),
        ])

    func run(_ invocation: Invocation) async throws(CommandFailure) -> ExitStatus {
        let request = try uploadRequest(invocation)
        return try await queue(request, invocation)
    }

    private func uploadRequest(_ invocation: Invocation) throws(CommandFailure) -> BatchRequest {
        guard let last = invocation.operands.last, let text = last.text else {
            throw .usage("upload: DEST is not UTF-8", "percent-encode it")
        }
        return try uploadRequest(invocation.operands.dropLast().map(\.bytes), to: text, invocation)
    }
}
