/// What the manual of `martlet-receive` says beyond its options.
enum ReceiverManual {
    static let sections = [requests, names, safety, output, environment, statuses]

    private static let requests = ManualSection(
        "REQUESTS",
        [
            .list([
                (
                    "PUT",
                    "Stores a whole file: 201 when the name is new, 204 when a file was replaced. Missing folders are made. "
                        + "If-None-Match: * never replaces (412), also when two clients race; If-Match replaces that version only. "
                        + "A sha-256 in Repr-Digest or Content-Digest is checked (400), kept, and told again. A file that is too "
                        + "large (413), has no room (507), or may not be stored (401, 412) is refused before it is sent when the "
                        + "client waits for 100 Continue."
                ),
                (
                    "GET, HEAD",
                    "Give a file, or one range of it, with a strong ETag; If-Range, If-None-Match and If-Modified-Since count. "
                        + "A request for several ranges gets the whole file. A folder is a list of names, one a line, "
                        + "percent-encoded, folders with a slash behind."
                ),
                ("OPTIONS", "Says what is allowed. DELETE and everything else is refused (405)."),
            ])
        ])

    private static let names = ManualSection(
        "NAMES",
        [
            .paragraph(
                "A path is percent-decoded to bytes, which need not be UTF-8. No request reaches anything outside DIR: ., .., NUL "
                    + "and encoded slashes are refused, and symbolic links are not followed, neither on the way nor at its end."
            )
        ])

    private static let safety = ManualSection(
        "WHAT IS SAFE WHEN",
        [
            .paragraph(
                "A file grows under a temporary name in DIR/.martlet-incoming and is renamed when it is whole, so a reader sees the "
                    + "old version or the new one. A cut connection, SIGTERM or SIGKILL leave nothing under the file's own name; "
                    + "what a killed run left in .martlet-incoming the next one removes, unless another receiver is still writing it."
            ),
            .paragraph(
                "A file of 1 MiB or more is on the disk, its folder too, before it is answered for. A smaller one is answered when it "
                    + "has its name; it is on its way to the disk by then, and everything is synced within a second. A power cut in "
                    + "that second can lose the last small files, or leave them empty where the file system does not write data before "
                    + "names (ext4 does); nothing else can."
            ),
        ])

    private static let output = ManualSection(
        "OUTPUT",
        [
            .paragraph(
                "After \"ready URL\" one line for each file that arrived, was sent, was refused or was cut off, with its size, the "
                    + "seconds it took and who asked. Names are made harmless: control and invalid bytes are shown as \\xNN."
            )
        ])

    private static let environment = ManualSection(
        "ENVIRONMENT", [.list([("MARTLET_RECEIVE_TOKEN", "The token, when --token-file does not name one.")])])

    private static let statuses = ManualSection(
        "EXIT STATUS",
        [
            .list([
                ("0", "SIGTERM, SIGINT or SIGHUP ended it."),
                ("1", "It could not start: no such folder, no permission, a port in use, a bad certificate."),
                ("2", "The command line cannot be meant, or would let others in without a token."),
            ])
        ])
}
