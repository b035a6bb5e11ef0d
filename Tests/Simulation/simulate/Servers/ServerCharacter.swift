/// The ways of one model server. Each is one that a real server was seen to have (`Tests/Servers`, `ARCHITECTURE.md`).
struct ServerCharacter {
    var name: String
    // SFTP
    /// `posix-rename@openssh.com`, `fsync@openssh.com`, `statvfs@openssh.com`; over FTP `MFMT` and `MLSD`.
    var hasExtensions = true
    /// A plain rename replaces what is there, against the draft.
    var renameReplaces = false
    /// A full disk has room again for the next packet, so that a file may get a hole. No server of the list has it yet: an upload whose line
    /// is cut before the refusal is heard takes the file's size for what has arrived.
    var isFullForAMoment = false
    // HTTP
    /// Writes into the final name while the body comes, and leaves a torso there when it is cut.
    var truncatesAtOpen = false
    /// Passes `If-None-Match` and `If-Match` over.
    var ignoresConditions = false
    /// Tells an ETag, and the SHA-256 where it is asked for.
    var tellsTags = true
    var tellsDigests = false
    // All
    var ignoresCase = false

    /// No one sees less than whole files under their final names.
    var publishes: Bool { !truncatesAtOpen }

    static let sftp = [
        ServerCharacter(name: "OpenSSH"),
        ServerCharacter(name: "SFTP without extensions", hasExtensions: false),
        ServerCharacter(name: "SFTP whose rename replaces", hasExtensions: false, renameReplaces: true),
        ServerCharacter(name: "SFTP that ignores case", ignoresCase: true),
        // Both of its renames.
        ServerCharacter(name: "SFTP that always replaces", renameReplaces: true),
    ]

    static let ftp = [
        ServerCharacter(name: "ProFTPD", renameReplaces: true),
        // Without MFMT and MLSD.
        ServerCharacter(name: "vsftpd", hasExtensions: false, renameReplaces: true),
        ServerCharacter(name: "FTP whose rename refuses"),
        ServerCharacter(name: "FTP that ignores case", ignoresCase: true),
    ]

    static let put = [
        ServerCharacter(name: "nginx"),
        ServerCharacter(name: "PUT that truncates at open", truncatesAtOpen: true),
        ServerCharacter(name: "PUT without conditions", ignoresConditions: true, tellsTags: false),
        ServerCharacter(name: "PUT with digests", tellsDigests: true),
    ]
}

/// The faults that come to servers and lines; none from the moment on in which the world is calm.
struct Weather {
    var chance: Chance
    var isCalm = false
    /// Faults come once in so many times as often as the figures in the code say.
    let strength: Int

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        // Some runs have a storm, some hardly any wind.
        strength = chance.pick([1, 1, 2, 4, 16])
    }

    /// True once in so many times, while there are faults.
    mutating func strikes(oneIn count: Int) -> Bool { chance.oneIn(count * strength) && !isCalm }

    /// The time that a message is under way: mostly a millisecond, sometimes seconds.
    mutating func delay() -> Duration {
        if strikes(oneIn: 60) { return chance.duration(.milliseconds(100), .seconds(8)) }
        return chance.duration(.microseconds(100), .milliseconds(20))
    }
}
