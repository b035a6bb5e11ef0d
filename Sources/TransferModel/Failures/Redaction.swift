import FoundationEssentials

/// The secrets that a request shows to a server, which takes them out of what is kept or told of the answer: servers and libraries repeat
/// requests in their messages. Holds secrets; never printed.
package struct Redaction: Sendable {
    /// Bytes of a password below which it is not looked for: it would be found in any text.
    private static let shortestPassword = 4
    /// The same for a word that may be something else than a secret: a field's value, a part of an address.
    private static let shortestWord = 8
    /// Bytes of a word that must be the same at once; behind them it is a secret as far as it goes on.
    private static let comparedAtOnce = 64

    /// By their first four bytes, the longest first.
    private var words: [[UInt8]: [[UInt8]]] = [:]
    /// True of the bytes that a word begins with.
    private var begins = [Bool](repeating: false, count: 256)

    package init() {}

    package var isEmpty: Bool { words.isEmpty }

    // MARK: Secrets

    /// A password, key or token.
    package mutating func add(password: String) { add(Array(password.utf8), shortest: Self.shortestPassword) }

    /// A login, whose password is also shown as `Basic` shows it.
    package mutating func add(user: String, password: String) {
        if password.isEmpty { return }
        add(password: password)
        add(password: Data("\(user):\(password)".utf8).base64EncodedString())
    }

    /// A value that may be a secret: whole, and without a word such as `Bearer` before it.
    package mutating func add(value: String) {
        add(Array(value.utf8), shortest: Self.shortestWord)
        if let last = value.utf8.split(separator: UInt8(ascii: " ")).last {
            add(Array(last), shortest: Self.shortestWord)
        }
    }

    /// The query of a URL, and the values in it.
    /// - Parameter most: so many values, the longest ones.
    package mutating func add(query: String, most: Int = .max) {
        add(Array(query.utf8), shortest: Self.shortestWord)
        let values = query.utf8.split(separator: UInt8(ascii: "&")).map { part in
            part.firstIndex(of: UInt8(ascii: "=")).map { part[part.index(after: $0)...] } ?? part
        }
        for value in values.sorted(by: { $0.count > $1.count }).prefix(most) {
            add(Array(value), shortest: Self.shortestWord)
        }
    }

    /// An address that is a secret as a whole: its path, the last name of that, and its query.
    package mutating func add(secretTarget target: String) {
        let parts = target.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1).map { Array($0) }
        let path = parts.first ?? []
        // `/` alone is in any text.
        add(path, shortest: 2)
        add(Array(path[((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)...]), shortest: Self.shortestWord)
        if parts.count > 1 { add(query: String(decoding: parts[1], as: UTF8.self)) }
    }

    /// As it is, and with its own escapes undone.
    private mutating func add(_ word: [UInt8], shortest: Int) {
        guard word.count >= shortest else { return }
        let plain = PercentEncoding.decode(word)
        // As a form writes it.
        let field = plain.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 }
        for form in Set([word, plain, field]) where form.count >= shortest { insert(form) }
    }

    private mutating func insert(_ form: [UInt8]) {
        begins[Int(form[0])] = true
        let start = Array(form.prefix(4))
        guard words[start]?.contains(form) != true else { return }
        words[start, default: []].append(form)
        words[start]?.sort { $0.count > $1.count }
    }

    // MARK: Texts

    /// The text with `...` in the place of each secret, however it is escaped. Its cost grows as the text, and with the secrets that begin
    /// alike.
    /// - Parameter isCut: the text goes on behind its end. What may be the beginning of a secret there is left out.
    package func redacted(_ text: [UInt8], isCut: Bool = false) -> [UInt8] {
        if words.isEmpty { return text }
        var text = text
        // An escape that the cut may have gone through says nothing any more.
        if isCut,
            let opener = text.suffix(2 * EscapedText.longestEscape).firstIndex(where: EscapedText.opensEscape)
        {
            text.removeSubrange(opener...)
        }
        let readings = EscapedText.readings(of: text)
        let found = readings.flatMap(places).sorted { $0.lowerBound < $1.lowerBound }
        let longest = isCut ? words.values.joined().map(\.count).max() ?? 1 : 1
        let end = readings.map { $0.places[max(0, $0.bytes.count - (longest - 1))] }.min() ?? text.count
        return Self.blanked(text, found, end: end)
    }

    /// The text up to its end, with `...` for each run of places that overlap.
    private static func blanked(_ text: [UInt8], _ places: [Range<Int>], end: Int) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(end)
        var done = 0
        for place in places where place.lowerBound < end {
            if place.lowerBound < done {
                done = max(done, place.upperBound)
                continue
            }
            kept += text[done..<place.lowerBound] + Array("...".utf8)
            done = place.upperBound
        }
        if done < end { kept += text[done..<end] }
        return kept
    }

    /// The places of secrets in the text as it is written, found in one reading of it.
    private func places(in reading: EscapedText) -> [Range<Int>] {
        let lengths = Set(words.keys.map(\.count)).sorted(by: >)
        var found: [Range<Int>] = []
        var place = 0
        while place < reading.bytes.count {
            let rest = reading.bytes[place...]
            let length = begins[Int(rest[place])] ? length(in: rest, starting: lengths) : nil
            if let length { found.append(reading.places[place]..<reading.places[place + length]) }
            place += length ?? 1
        }
        return found
    }

    /// Bytes of the longest secret that a text begins with.
    private func length(in text: ArraySlice<UInt8>, starting lengths: [Int]) -> Int? {
        for length in lengths where length <= text.count {
            let alike = words[Array(text.prefix(length))]?.filter { text.starts(with: $0.prefix(Self.comparedAtOnce)) }
            let longest = alike?.map { zip($0, text).prefix { $0 == $1 }.count }.max()
            if let longest { return longest }
        }
        return nil
    }

    package func redacted(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let kept = redacted(bytes)
        return kept == bytes ? text : String(decoding: kept, as: UTF8.self)
    }
}

extension TransferSecrets {
    /// Adds all that a server, or a proxy, is shown of them.
    package func add(to redaction: inout Redaction) {
        redaction.add(user: user ?? "", password: password ?? "")
        for key in s3?.secretWords ?? [] { redaction.add(password: key) }
        for field in headers where field.name.lowercased() != "content-type" { redaction.add(value: field.value) }
        for field in formFields { redaction.add(value: field.value) }
        for url in proxies.values {
            guard let at = url.utf8.lastIndex(of: UInt8(ascii: "@")) else { continue }
            let before = url.utf8[..<at]
            let login = before.firstRange(of: Array("://".utf8)).map { before[$0.upperBound...] } ?? before
            let parts = login.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(decoding: PercentEncoding.decode($0), as: UTF8.self) }
            guard parts.count == 2 else {
                // A user alone may be a token.
                redaction.add(value: parts[0])
                continue
            }
            redaction.add(user: parts[0], password: parts[1])
        }
    }
}

extension S3Keys {
    /// The ID of the key is none: it stands in each request.
    package var secretWords: [String] { [secretAccessKey, sessionToken].compactMap(\.self) }
}

extension TransferError {
    /// The same without secrets that a server or a library has repeated.
    package func redacted(by redaction: Redaction) -> TransferError {
        if redaction.isEmpty { return self }
        var error = self
        error.finding.what = redaction.redacted(finding.what)
        error.finding.aside = finding.aside.map { redaction.redacted($0) }
        error.said = said.map { redaction.redacted($0) }
        error.detail = detail.map { redaction.redacted($0) }
        return error
    }
}

extension TransferResponse {
    /// The same without secrets that the server has repeated.
    package func redacted(by redaction: Redaction) -> TransferResponse {
        if redaction.isEmpty { return self }
        return TransferResponse(
            status: status, headers: headers.map { HeaderField($0.name, redaction.redacted($0.value)) },
            body: body.map { redaction.redacted($0) })
    }
}
