import TransferModel

/// The kinds of servers that a run can have; it has two or three of them, which keeps it short.
enum ServerKind: CaseIterable {
    case sftp, ftp, put, tus, s3, dav, nextcloud, ietf, post

    /// One of them can list its folders, so that there is something to look at in the end.
    static func choose(_ chance: inout Chance) -> [ServerKind] {
        let first = chance.pick([ServerKind.sftp, .sftp, .ftp, .ftp, .s3, .dav, .dav, .nextcloud])
        // Most downloads over HTTP come from the second.
        var left = allCases.filter { $0 != first } + [.put, .put]
        var chosen = [first]
        for _ in 0..<1 + chance.below(2) {
            let next = chance.pick(left)
            chosen.append(next)
            left.removeAll { $0 == next }
        }
        return chosen
    }
}

/// Sets the servers of a run up, each with a character that the seed chooses.
struct ServerChoice {
    let world: World
    let network: Network
    let rules: Rules
    private(set) var names: [String] = []
    private(set) var destinations: [Destination] = []

    init(_ world: World, _ network: Network, _ rules: Rules) {
        self.world = world
        self.network = network
        self.rules = rules
    }

    mutating func add(_ kind: ServerKind, _ chance: inout Chance) {
        switch kind {
        case .sftp:
            let character = chance.pick(ServerCharacter.sftp)
            let disk = ServerDisk("sftp.example", ignoresCase: character.ignoresCase, in: world)
            network.add(SFTPServer(disk, character, network))
            rules.watch(disk, publishes: character.publishes)
            names.append(character.name)
            destinations.append(Destination("sftp://sftp.example/in/", at: disk.host))
            destinations.append(Destination("sftp://sftp.example/other/place/", at: disk.host))
        case .ftp:
            let character = chance.pick(ServerCharacter.ftp)
            let disk = ServerDisk("ftp.example", ignoresCase: character.ignoresCase, in: world)
            network.add(FTPServer(disk, character, network))
            rules.watch(disk, publishes: character.publishes)
            names.append(character.name)
            destinations.append(Destination("ftp://ftp.example/in/", at: disk.host))
            destinations.append(Destination("ftp://ftp.example/other/place/", at: disk.host))
        case .put:
            let character = chance.pick(ServerCharacter.put)
            add(PutServer(ServerDisk("put.example", in: world), character, network), publishes: character.publishes)
            destinations.append(Destination("http://put.example/in/", at: "put.example", by: .put))
        case .tus:
            add(TusServer(ServerDisk("tus.example", in: world), chance.pick(TusCharacter.all), network))
            destinations.append(Destination("tus+http://tus.example/in/", at: "tus.example"))
            // The server is asked what it speaks.
            destinations.append(Destination("http://tus.example/asked/", at: "tus.example"))
        case .s3:
            // The bucket has the name of the host, so that a file's address tells its disk.
            add(S3Server(ServerDisk("s3.example", in: world), chance.pick(S3Character.all), network))
            var bucket = Destination("s3://s3.example/in/", at: "s3.example")
            bucket.s3 = S3Place(endpoint: "http://s3.example")
            bucket.takesPieces = true
            destinations.append(bucket)
        case .dav:
            let character = chance.pick(DavCharacter.plain)
            // What cannot rename shows what comes, as it comes.
            let publishes = character.moves || !character.keepsTorso
            add(DavServer(ServerDisk("dav.example", in: world), character, network), publishes: publishes)
            destinations.append(Destination("dav://dav.example/in/", at: "dav.example"))
        case .nextcloud:
            add(DavServer(ServerDisk("cloud.example", in: world), chance.pick(DavCharacter.cloud), network))
            var cloud = Destination("dav://cloud.example/remote.php/dav/files/ada/in/", at: "cloud.example")
            cloud.takesPieces = true
            destinations.append(cloud)
        case .ietf:
            add(ResumableServer(ServerDisk("ietf.example", in: world), chance.pick(ResumableCharacter.all), network))
            var chosen = Destination("ietf+http://ietf.example/in/", at: "ietf.example")
            chosen.takesPieces = true
            destinations.append(chosen)
            // The server is asked what it speaks.
            destinations.append(Destination("http://ietf.example/asked/", at: "ietf.example"))
        case .post:
            add(PostServer(ServerDisk("post.example", in: world), chance.pick(PostCharacter.all), network))
            destinations.append(Destination("http://post.example/in/", at: "post.example", by: .post))
            var form = Destination("http://post.example/form/", at: "post.example", by: .form)
            form.form = UploadForm()
            destinations.append(form)
        }
    }

    /// - Parameter publishes: it shows whole files only under their final names.
    private mutating func add(_ server: any HTTPServer, publishes: Bool = true) {
        network.add(server)
        rules.watch(server.disk, publishes: publishes)
        names.append(server.name)
    }
}
