@preconcurrency import CGetopt
import Glibc
import LinuxSystem

/// Takes a command line apart with getopt_long(3): options before, between and after operands, `--` ends them,
/// long names may be shortened while they stay unambiguous.
enum ArgumentScanner {
    /// One thing that stands on the command line, in its order. Options are indices into the list given.
    enum Found: Equatable {
        case option(Int, value: [UInt8]?)
        case operand([UInt8])
        case valueMissing(Int)
        case valueUnexpected(Int)
        /// The word as typed, without dashes and value.
        case unknown(String)
        case ambiguous(String, [String])
    }

    // getopt keeps its place in globals; two scans at once (tests) would read each other's.
    private static let turn = Mutex(())

    // Long options return their index above every character.
    private static let firstValue: Int32 = 1000

    static func scan(_ words: [[UInt8]], options: [any AnyOption]) -> [Found] {
        turn.withLock { _ in
            var owned: [UnsafeMutablePointer<CChar>] = []
            defer { owned.forEach { $0.deallocate() } }
            func copy(_ bytes: some Collection<UInt8>) -> UnsafeMutablePointer<CChar> {
                let place = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
                for (index, byte) in bytes.enumerated() { place[index] = CChar(bitPattern: byte) }
                place[bytes.count] = 0
                owned.append(place)
                return place
            }
            // getopt wants a program's name first and a null at the end.
            var argv: [UnsafeMutablePointer<CChar>?] = [copy([])] + words.map { copy($0) } + [nil]
            var table = options.enumerated().map { index, known in
                option(
                    name: copy(known.name.utf8), has_arg: known.placeholder == nil ? no_argument : required_argument,
                    flag: nil, val: firstValue + Int32(index))
            }
            table.append(option(name: nil, has_arg: 0, flag: nil, val: 0))
            return run(&argv, shorts: copy(shortOptions(options).utf8), table: table, options: options)
        }
    }

    /// "-" has operands returned in their place, whatever POSIXLY_CORRECT says; ":" has a missing value told apart.
    private static func shortOptions(_ options: [any AnyOption]) -> String {
        options.reduce(into: "-:") { text, known in
            guard let short = known.short else { return }
            text += String(short) + (known.placeholder == nil ? "" : ":")
        }
    }

    private static func run(
        _ argv: inout [UnsafeMutablePointer<CChar>?], shorts: UnsafeMutablePointer<CChar>, table: [option],
        options: [any AnyOption]
    ) -> [Found] {
        var found: [Found] = []
        let count = Int32(argv.count - 1)
        optind = 0
        opterr = 0
        while true {
            let code = getopt_long(count, &argv, shorts, table, nil)
            switch code {
            case -1:
                found += argv[Int(optind)..<Int(count)].map { .operand(bytes($0)) }
                return found
            case 1: found.append(.operand(bytes(optarg)))
            case Int32(UInt8(ascii: ":")):
                found.append(index(of: optopt, options).map(Found.valueMissing) ?? .unknown(""))
            case Int32(UInt8(ascii: "?")): found.append(refused(argv, options))
            default:
                guard let index = index(of: code, options) else { continue }
                found.append(.option(index, value: options[index].placeholder == nil ? nil : bytes(optarg)))
            }
        }
    }

    /// The finding for a word that getopt refused: `optopt` is 0 for a long name that it does not know or cannot tell from others.
    private static func refused(_ argv: [UnsafeMutablePointer<CChar>?], _ options: [any AnyOption]) -> Found {
        if optopt != 0 {
            if let index = index(of: optopt, options) { return .valueUnexpected(index) }
            return .unknown("-" + Argument([UInt8(truncatingIfNeeded: optopt)]).shown)
        }
        let word = bytes(argv[Int(optind) - 1]).prefix { $0 != UInt8(ascii: "=") }
        let shown = Argument(Array(word)).shown
        let matches = options.filter { "--\($0.name)".hasPrefix(shown) }
        return matches.count > 1 ? .ambiguous(shown, matches.map { "--\($0.name)" }) : .unknown(shown)
    }

    private static func index(of code: Int32, _ options: [any AnyOption]) -> Int? {
        if code >= firstValue { return Int(code - firstValue) }
        return options.firstIndex { $0.short?.asciiValue.map(Int32.init) == code }
    }

    private static func bytes(_ word: UnsafeMutablePointer<CChar>?) -> [UInt8] {
        guard let word else { return [] }
        return UnsafeBufferPointer(start: word, count: strlen(word)).map { UInt8(bitPattern: $0) }
    }
}
