/// The manual of `martlet-receive`, beyond its options.
enum ReceiverManual {
    static let sections = [
        requests, uploads, existing, door, limits, names, safety, output, environment, files, statuses,
    ]

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
                        + "percent-encoded, folders with a slash behind. With Want-Repr-Digest the SHA-256 comes with the file, unless it "
                        + "has to be computed and 128 requests wait for that, or more than 64 GiB stand in line."
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

    private static let door = ManualSection(
        "WHO IS LET IN",
        [
            .paragraph(
                "Every request needs Authorization: Bearer TOKEN (401), on this machine's own address, too: other users of the machine "
                    + "reach that as well. The token is the first line of --token-file, or MARTLET_RECEIVE_TOKEN, or one that the receiver "
                    + "makes for its port and keeps; a receiver that comes back on its port asks for the same. martlet upload and download "
                    + "of the same user take it from the file for a URL of this machine (localhost, 127.0.0.1, ::1), and show it only "
                    + "while the kernel says that the program that listens there is this user's. --open asks for no token."
            ),
            .paragraph(
                "Host must name the receiver as it can be reached: the address and port of the connection, localhost on this machine, "
                    + "this machine's name where others can reach it, and what --host adds; anything else is 421, so that no web page can make "
                    + "its own name lead here. An Origin, which a browser sends for a page, must be one of these, too (403). No page of "
                    + "another origin may read an answer (there is no CORS). Header fields with control characters, a Host or a length that is there twice, and "
                    + "Content-Length beside Transfer-Encoding are 400."
            ),
        ])

    private static let limits = ManualSection(
        "LIMITS",
        [
            .list([
                (
                    "Connections",
                    "512, of one address 256, and 64 on which no request was let in yet; beyond that the oldest of these is closed, then "
                        + "the one that has been idle for longest, and when all are busy a new one is told to come again (503). Silent ones "
                        + "are closed after 15 seconds before a request is let in, after 300 later."
                ),
                (
                    "Header",
                    "64 KiB with the request line (431, 414). It reserves nothing on the disk; only bytes that have come take room."
                ),
                (
                    "Room",
                    "--keep-free is left on the disk: looked at before a file is taken, while its bytes arrive, and while pieces are joined "
                        + "(507). What a resumable upload has by then stays."
                ),
                ("Folders", "A path has at most 100 names (414), so no request makes more folders."),
                (
                    "Uploads",
                    "10,000 unfinished ones (507 to who begins another), two files each; 10,000 complete ones are remembered, for a day at most. A "
                        + "join names each piece once (400)."
                ),
                ("TLS", "1.2 and 1.3."),
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
                    + "seconds it took and who asked; a resumed one says where. A terminal shows below them one line for each upload that is under way, redrawn as it grows: name, share, bytes, rate. A terminal that shows UTF-8 gets a URL that others can reach as a QR code. The second line says in which file the token is that the receiver made; a terminal shows the token, too. Names are made harmless: control and invalid bytes are shown as \\xNN, characters that change the direction of writing as \\u{NNNN}."
            )
        ])

    private static let environment = ManualSection(
        "ENVIRONMENT",
        [
            .list([
                ("MARTLET_RECEIVE_TOKEN", "The token, when --token-file does not name one."),
                ("MARTLET_HOME, XDG_STATE_HOME", "Where a token is kept, as for martlet(1)."),
            ])
        ])

    private static let files = ManualSection(
        "FILES",
        [
            .list([
                (
                    "$XDG_STATE_HOME/martlet/receive/PORT.token",
                    "The token of the receiver on this port, 0600; below MARTLET_HOME/state when that is set. The state directory and this "
                        + "folder must belong to the user, without any permission for others, or the receiver does not start. Removing "
                        + "the file makes the next start make another token."
                ),
                (
                    "DIR/.martlet-incoming, DIR/.martlet-uploads",
                    "Files that are not whole yet. Ones that another user made, or can write to, are refused."
                ),
            ])
        ])

    private static let statuses = ManualSection(
        "EXIT STATUS",
        [
            .list([
                ("0", "SIGTERM, SIGINT or SIGHUP ended it."),
                (
                    "1",
                    "It could not start: no such folder, no permission, a port in use, a bad certificate, no place for a token."
                ),
                ("2", "The command line cannot be meant."),
            ])
        ])
}
