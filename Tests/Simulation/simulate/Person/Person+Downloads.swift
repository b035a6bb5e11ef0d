import TransferEngine
import TransferModel
import TransferQueue

extension Person {
    /// Queues some downloads into the person's folder.
    func download(_ front: Front) async throws {
        guard let server = network.readable.randomElement(using: &chance) else { return try await add(front) }
        let place = Destination("", at: server.host)
        lastName += 1
        var sources: [DownloadSource] = []
        var names: [(address: String, name: String)] = []
        for number in 0..<1 + chance.below(3) {
            let address = downloads.offer(at: server)
            // Once in a while to a name that another has.
            let old = downloads.names.randomElement(using: &chance)
            let name = chance.oneIn(6) ? old ?? "d\(lastName)-\(number)" : "d\(lastName)-\(number)"
            if names.contains(where: { $0.name == name }) { continue }
            names.append((address, name))
            sources.append(
                DownloadSource(url: address, directory: RawPath(downloads.folder), fileName: RawPath(name)))
        }
        var options = TransferOptions()
        options.ifExists = chance.pick([.fail, .fail, .replace, .skip])
        options.ifChanged = chance.pick([.restart, .restart, .fail])
        options.verify = chance.pick([nil, nil, VerificationWish.none, .size])
        let secrets = network.http[server.host].map { place.secrets($0.door.key) } ?? secrets()
        let request = BatchRequest(
            uuid: uuid(), work: .download(sources), held: chance.oneIn(10),
            priority: chance.pick([.normal, .normal, .high, .low]), options: options, secrets: secrets)
        let words = names.map { "\($0.address) as \($0.name)" }.joined(separator: ", ")
        world.tell("person", "downloads \(words), \(Self.words(options))")
        rules.maySend()
        let begun = world.now
        for (address, name) in names {
            downloads.wants(address, as: name, options, at: begun)
        }
        let batch = try await front.add(request)
        rules.queued(batch, at: begun)
        world.tell("queue", "has it as \(batch)")
        batches.append(batch)
        places[batch] = place
    }
}
