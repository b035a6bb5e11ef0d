/// What the manual of `martlet-receive` says beyond its options.
enum ReceiverManual {
    static let sections = [requests, uploads, existing, names, safety, output, environment, statuses]

    private static let requests = ManualSection(
        "REQUESTS",
        [
            .list([
                (
                    "PUT",
                    "Stores a whole file: 201 when the name is new, 204 when a file was replaced. Missing folders are made. "
                        + "If-None-Match: * never replaces (412), also when two clients race; If-Match replaces that version only. "
                        + "A sha-256 in Repr-Digest or Content-Digest is checked (400), kept, and told again; Want-Repr-Digest "
                        + "asks for it, also when a resumable upload begins. A file that is too large (413), has no room (507), or may not be stored (401, 412) is refused before it is sent when the "
                        + "client waits for 100 Continue."
                ),
                (
                    "GET, HEAD",
                    "Give a file, or one range of it, with a strong ETag; If-Range, If-None-Match and If-Modified-Since count. "
                        + "A request for several ranges gets the whole file. A folder is a list of names, one a line, "
                        + "percent-encoded, folders with a slash behind."
                ),
                (
                    "OPTIONS",
                    "Says what is allowed, what resumable uploads can do, and with Want-Repr-Digest that digests are checked and "
                        + "told."
                ),
                (
                    "POST",
                    "Begins a resumable upload, or is one in one request. A POST of no protocol named below is refused (405)."
                ),
            ])
        ])

    private static let uploads = ManualSection(
        "RESUMABLE UPLOADS",
        [
            .list([
                (
                    "tus 1.0.0",
                    "POST to the URL of a folder begins an upload; filename in Upload-Metadata names it, relativePath names folders "
                        + "below. Without filename a URL without a slash at its end is the file. Extensions: creation, "
                        + "creation-with-upload, creation-defer-length, expiration, checksum (sha1, sha256, md5), termination, "
                        + "concatenation."
                ),
                (
                    "IETF",
                    "\"Resumable Uploads for HTTP\", interop versions 3, 5, 6 and 8. PUT to the file's URL, or POST to a folder's with "
                        + "Content-Disposition, with Upload-Complete: ?0 begins an upload (201, Location); with Upload-Complete: ?1 it is "
                        + "an ordinary PUT that is told its upload's URL by 104 as soon as it has begun, and its progress. Over https "
                        + "there is no 104. OPTIONS shows Upload-Limit. Repr-Digest is checked against the whole, Content-Digest "
                        + "against an append."
                ),
            ]),
            .paragraph(
                "An upload's URL, below /.martlet-uploads/, cannot be guessed and outlives the receiver. Whoever asks for the offset "
                    + "or goes on takes the upload over from a connection that may be dead. Every byte that came before a cut is kept, "
                    + "except of a piece with a checksum, which counts whole or not at all. A complete upload still tells that it is."
            ),
        ])

    private static let existing = ManualSection(
        "FILES THAT EXIST",
        [
            .paragraph(
                "PUT replaces, as HTTP says, unless If-None-Match or If-Match forbids it (412). POST replaces nothing (409) unless it has "
                    + "Overwrite: T, or tus metadata has overwrite with the value true; If-None-Match: * (412) and If-Match mean the "
                    + "same as for PUT. The conditions are those of the beginning and are checked there and again when the file gets its "
                    + "name. An upload whose name was taken meanwhile is kept; it is published when it is asked for after the name "
                    + "has become free."
            )
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
                    + "what a killed run left in .martlet-incoming the next one removes, unless another receiver is still writing it. "
                    + "Unfinished resumable uploads stay in DIR/.martlet-uploads, ID.data and ID.info, for --keep-unfinished; records "
                    + "of complete ones a day at most."
            ),
            .paragraph(
                "No offset of a resumable upload is told before its bytes and its record are on the disk, and none is answered for as "
                    + "complete before the file and its folder are."
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
                    + "seconds it took and who asked; a resumed one says where. A terminal shows below them one line for each upload that is under way, redrawn as it grows: name, share, bytes, rate. A terminal that shows UTF-8 gets a URL that others can reach as a QR code. Names are made harmless: control and invalid bytes are shown as \\xNN."
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
