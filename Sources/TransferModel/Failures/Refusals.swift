/// Checks for values that can never be meant, wherever they come from: the command line, a file, the service's socket, a command's output.
/// Each names the field and what it may be; `nil`: nothing is wrong. Secret values are not shown.

extension String {
    /// Holds a character that ends a line or a word in a protocol, that a terminal obeys, or that no password has: C0, DEL and C1.
    package var hasControl: Bool { unicodeScalars.contains { $0.value < 32 || (127..<160).contains($0.value) } }
}

extension TransferSecrets {
    /// FTP and proxies take a user and a password as lines of their own: a line end in them would be a command.
    package var refusal: String? {
        if user?.hasControl == true {
            return "the user has a control character in it (%0A is a line end): leave it out"
        }
        if password?.hasControl == true {
            return "the password has a control character in it (%0A is a line end): leave it out"
        }
        if passwordCommand?.utf8.contains(0) == true { return "the password command has a NUL in it: leave it out" }
        if passwordCommand?.utf8.count ?? 0 > TransferOptions.longestCommand {
            return "the password command is longer than 64 KiB: put it into a script"
        }
        if headers.contains(where: { !$0.isOneLine }) { return "a header field is not one line 'Name: value'" }
        if let refusal = s3?.refusal { return refusal }
        if let profile = s3Origin?.profile,
            profile.isEmpty || profile.hasControl || profile.utf8.count > Self.longestProfile
        {
            return "an AWS profile has a name of 1 to \(Self.longestProfile) bytes, without control characters"
        }
        if !S3Keys.isEnvironment(s3Environment) {
            return
                "the environment of a program that prints keys has a name or a NUL in it that none may have, or has more than "
                + "\(S3Keys.largestEnvironment >> 10) KiB"
        }
        if proxies.values.contains(where: { $0.hasControl || Self.hidesControl($0) }) {
            return "a proxy has a control character in its user or password: leave it out"
        }
        return nil
    }

    private static let longestProfile = 1000

    private static func hidesControl(_ url: String) -> Bool {
        let text = url.lowercased()
        return text.firstRange(of: "%7f") != nil
            || (0..<32).contains { code in
                let digits = String(code, radix: 16)
                return text.firstRange(of: "%" + (digits.count < 2 ? "0" : "") + digits) != nil
            }
    }
}

extension S3Keys {
    package var refusal: String? {
        let words = [accessKeyID, secretAccessKey, sessionToken ?? ""]
        return words.contains(where: \.hasControl) ? "a key of S3 has a control character in it: give it anew" : nil
    }
}

extension HeaderField {
    /// It cannot begin another line, and its name is one word (RFC 9110 section 5.5).
    var isOneLine: Bool {
        !name.isEmpty && !name.utf8.contains { $0 <= 32 || $0 == 127 || $0 == UInt8(ascii: ":") }
            && !value.utf8.contains { $0 < 32 && $0 != 9 || $0 == 127 }
    }
}

extension TransferOptions {
    /// Numbers that nobody means, and that arithmetic would overflow with.
    package var refusal: String? {
        if let rate = bytesPerSecond, !FileSize.isPossible(rate) { return Self.noRate }
        if !Self.spans.contains(giveUpAfterSeconds) { return Self.noGiveUp }
        if !(0...31_536_000).contains(requestTimeoutSeconds) {
            return "requestTimeoutSeconds is 0 to 31536000 (a year)"
        }
        if let chunk = chunkBytes, chunk < 1 || !FileSize.isPossible(chunk) { return "chunkBytes is 1 to 2^53" }
        if umask > 0o777 { return "umask is 0 to 0777" }
        if [s3?.endpoint, pin].contains(where: { $0?.hasControl == true }) {
            return "the endpoint or the pin has a control character in it"
        }
        if sshCommand?.utf8.count ?? 0 > Self.longestCommand {
            return "the ssh command is longer than 64 KiB: put it into a script"
        }
        // An empty one is none.
        if let region = s3?.region, !region.isEmpty, S3Region(rawValue: region) == nil {
            return "the region of S3 is 1 to 64 letters, digits, hyphens, underscores and dots"
        }
        return nil
    }

    /// Returns true of a pattern such as `*.{jpg,png}`: a shell makes several of it, and `fnmatch` takes it for one name. `\{` is the sign.
    package static func hasBraceList(_ pattern: String) -> Bool {
        var (isEscaped, isOpen, isList) = (false, false, false)
        for byte in pattern.utf8 {
            if !isEscaped {
                if byte == UInt8(ascii: "{") { (isOpen, isList) = (true, false) }
                if byte == UInt8(ascii: ","), isOpen { isList = true }
                if byte == UInt8(ascii: "}"), isList { return true }
            }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return false
    }

    /// Bytes of a command that a person has written.
    static let longestCommand = 65_536
    static let noRate = "a rate is 0 to 2^53 bytes a second"
    static let noGiveUp = "giveUpAfterSeconds is 0 to 3153600000 (100 years)"
    static let spans: ClosedRange<Int64> = 0...3_153_600_000
}

extension NodeSettings {
    package var refusal: String? {
        if let limit, !FileSize.isPossible(limit) { return TransferOptions.noRate }
        if let giveUpAfterSeconds, !TransferOptions.spans.contains(giveUpAfterSeconds) {
            return TransferOptions.noGiveUp
        }
        return nil
    }
}

extension RawPath {
    /// Only such a path means the same to a client and to its engine.
    fileprivate var isAbsolute: Bool { bytes.first == Self.slash }

    /// Absolute, and it ends in a name, not in a slash: what the path of one file is.
    package var endsInName: Bool {
        isAbsolute && bytes.last != Self.slash && RemoteEntry.isName(lastComponent.bytes)
    }
}

extension BatchRequest {
    package var refusal: String? { work.refusal ?? options.refusal ?? secrets.givenRefusal }
}

extension BatchRequest.Work {
    /// Bytes of a path: what Linux takes (PATH_MAX).
    private static let longestPath = 4096
    /// Bytes of a file's name: what S3 takes, and more than any disk does.
    package static let longestName = 1024
    /// Bytes of a URL: what servers take in a request line.
    package static let longestURL = 8192

    /// Texts come back in every row of a list: a thousand rows have to fit into one line. Paths and names are to mean one place.
    var refusal: String? {
        switch self {
        case .upload(let sources, let to):
            if let refusal = Self.tooLong("to", to.utf8.count, Self.longestURL) { return refusal }
            // A name with a # in it may have been meant, and would be cut off there.
            if to.utf8.contains(UInt8(ascii: "#")) {
                return "to has a # in it, which ends an address: write %23 for a #"
            }
            for source in sources {
                if let refusal = Self.noPath("path", source.path) { return refusal }
                guard case .named(let name) = source.placement else { continue }
                if let refusal = Self.noName("named", name) { return refusal }
            }
        case .download(let sources):
            for source in sources {
                let refusal =
                    Self.tooLong("url", source.url.utf8.count, Self.longestURL)
                    ?? Self.noPath("directory", source.directory)
                    ?? source.fileName.flatMap { Self.noName("fileName", $0) }
                if let refusal { return refusal }
            }
        }
        return nil
    }

    private static func noPath(_ field: String, _ path: RawPath) -> String? {
        if let refusal = tooLong(field, path.bytes.count, longestPath) { return refusal }
        return path.isAbsolute ? nil : "\(field) is no absolute path: begin it with a slash"
    }

    private static func noName(_ field: String, _ name: RawPath) -> String? {
        if let refusal = tooLong(field, name.bytes.count, longestName) { return refusal }
        return RemoteEntry.isName(name.bytes)
            ? nil : "\(field) is not one name: give it without a slash, and not . or .."
    }

    private static func tooLong(_ field: String, _ bytes: Int, _ most: Int) -> String? {
        bytes > most ? "\(field) is longer than \(most) bytes: give a shorter one" : nil
    }
}
