import TestSupport
import Testing

@testable import TransferModel

@Suite("Filters: read, written, and what they say of a file") struct FilterTests {
    private func place(
        _ folder: String = "raw/2024", batch: String = "holiday-2024", to: String = "s3://photos/in/",
        priority: TransferPriority = .normal
    ) -> FilterPlace {
        FilterPlace(
            batch: BatchID(rawValue: 7), name: batch, chain: [FolderID(rawValue: 3), FolderID(rawValue: 1)],
            folder: RawPath(folder), destination: to, direction: .upload, priority: priority,
            createdAt: Timestamp(milliseconds: 0))
    }

    private func file(
        _ name: String, _ state: TransferState = .queued, in place: FilterPlace? = nil,
        _ change: (inout FilterSubject) -> Void = { _ in }
    ) -> FilterSubject {
        var file = FilterSubject(
            place: place ?? self.place(), id: TaskID(rawValue: 31), state: state,
            now: Timestamp(milliseconds: 7_200_000))
        file.name = Array(name.utf8)
        change(&file)
        return file
    }

    private func matches(_ text: String, _ file: FilterSubject) throws -> Bool {
        try TransferFilter(text).matches(file)
    }

    @Test("words are looked for in the path; case matters only with capitals")
    func words() throws {
        let file = file("IMG_0412.CR3")
        for text in ["img", "IMG", "img_0412.cr3", "raw", "2024/img", "raw/2024/IMG", "holiday", "raw img", "\"raw\""] {
            #expect(try matches(text, file), "\(text)")
        }
        for text in ["Img", "Raw", "rawimg", "raw/img", "docs", "raw docs", "\"raw img\"", "!img"] {
            #expect(try !matches(text, file), "\(text)")
        }
    }

    @Test("wildcards mean the whole name, expressions stay inside one")
    func patterns() throws {
        let file = file("IMG_0412.CR3")
        for text in [
            "*.cr3", "img_????.cr3", "*04*", #"/IMG_04\d\d/"#, "/^raw$/", "/cr3$/", "/img|docs/", "/[0-9]{4}/",
            "/0+4?1/",
            "name:*.cr3", "name=img_0412.cr3", "path:raw/*", "folder=raw/2024", #"name:/\.cr3$/"#,
        ] {
            #expect(try matches(text, file), "\(text)")
        }
        for text in [
            "*.jpg", "cr3*", "/raw.2024/", #"/^\d\d$/"#, "name=img", "folder=raw", "name!=img_0412.cr3", "/[^i]mg/ !*",
        ] {
            #expect(try !matches(text, file), "\(text)")
        }
        // The capital of a kind of character is none, that of a letter is one.
        for text in [#"/img\D\d/"#, #"/g[\W_]0/"#, #"/\Simg|g\D0/"#] { #expect(try matches(text, file), "\(text)") }
        for text in [#"/Img\D/"#, #"/\Img/"#, #"/\\D|Img/"#] { #expect(try !matches(text, file), "\(text)") }
        // Nothing a person types can take for ever.
        let evil = try TransferFilter("/(a*)*(a|aa)+$/")
        #expect(!evil.matches(self.file(String(repeating: "a", count: 250) + "!")))
        #expect(try matches("/^.é.$/", self.file("xéy")))
        #expect(try !matches("/^..$/", self.file("é")))
    }

    @Test("numbers, times and shares")
    func numbers() throws {
        let file = file("a", .running) {
            ($0.size, $0.sent, $0.bytesPerSecond, $0.secondsLeft, $0.tries) = (2 << 30, 1 << 30, 90 << 10, 90, 3)
        }
        for text in [
            "size>1G", "size>=2G", "size=2G", "size:2Gi", "size<2.5G", "done>=50%", "done<51%", "done=1G", "speed<100K",
            "speed>80K/s", "eta>1m", "eta<=1m30s", "tries=3", "tries>2", "age=2h", "age<1d", "tries!=1",
        ] {
            #expect(try matches(text, file), "\(text)")
        }
        for text in ["size>2G", "done>50%", "speed>100K", "eta>2m", "tries<3", "age>2h"] {
            #expect(try !matches(text, file), "\(text)")
        }
        // Longer than all times together, and still a number; then none.
        let long = String(repeating: "9999999999w", count: 1524)
        #expect(try matches("age<\(long)", file))
        #expect(throws: FilterFault.self) { try TransferFilter("age>\(long)\(long)") }
        // Of what is unknown nothing holds.
        #expect(try !matches("size>0", self.file("a")))
        #expect(try !matches("size<1G", self.file("a")))
        #expect(try !matches("eta<1h", self.file("a")))
    }

    @Test(
        "states by the words of the screen",
        arguments: [
            ("@run", TransferState.running), ("@check", .finishing), ("@run", .finishing), ("@pause", .paused),
            ("@err", .failed), ("@done", .completed), ("@wait", .queued), ("@new", .queued), ("@held", .created),
            ("@cancel", .cancelled), ("state:failed", .failed), ("state=ERR", .failed), ("state!=done", .failed),
            ("@wait", .waiting),
        ])
    func states(text: String, state: TransferState) throws {
        #expect(try matches(text, file("a", state)))
        if text.hasPrefix("@") { #expect(try !matches("!" + text, file("a", state))) }
    }

    @Test("what waits for a person, or for its next try, is not simply waiting")
    func waiting() throws {
        let auth = file("a", .waiting) { $0.waitReasons = WaitReasons(.auth) }
        let retry = file("a", .waiting) { $0.waitReasons = WaitReasons(.backoff) }
        #expect(try matches("@auth !@wait !@retry", auth))
        #expect(try matches("@retry !@wait !@auth", retry))
        #expect(try matches("@auth why=auth !why=hostKey why!=hostKey", auth))
    }

    @Test("the rest: batch, destination, kind, errors, priority, identity")
    func others() throws {
        let file = file("a", .failed, in: place(priority: .high)) {
            $0.error = ["the server refused it: quota exceeded", "http", "403"].map { Array($0.utf8) }
        }
        for text in [
            "batch:holiday*", "batch:b7", "batch:holi", "dest:photos", "dest!=nas", "kind:upload", "kind=s3", "err:403",
            "err:quota", "err=http", "prio>normal", "prio=high", "id:b7", "id:b7/f3", "id:b7/t31", "id:b7/f3/failed",
            "@err quota | err:quota", "(@pause | @err) dest:s3", "a or b", "!(b | @done)",
        ] {
            #expect(try matches(text, file), "\(text)")
        }
        for text in ["batch:b", "kind:download", "err:404", "prio<high", "id:b8", "id:b7/t3", "@err quota"] {
            #expect(try !matches(text, file) || text == "batch:b", "\(text)")
        }
    }

    @Test(
        "what is wrong is named with its place",
        arguments: [
            ("size>", 5, "a number is missing"), ("size> 3", 5, "a number is missing"),
            ("size>x", 5, "\"x\" is not a size such as 512K or 2G"), ("(a", 0, "the ) is missing"),
            ("a)", 1, "this ) opens nowhere"), ("a |", 3, "a word or a test is missing"),
            ("", 0, "a word or a test is missing"),
            ("\"a", 0, "the quote is not closed"), ("/a", 0, "the / at its end is missing"),
            ("/a[/", 2, "the ] is missing"),
            ("!", 1, "what must not be is missing"), ("name>a", 5, "name takes : = or !="),
            ("name:", 5, "a value is missing"), ("/(a/", 1, "the ) is missing"), ("/*/", 1, "nothing stands before *"),
        ])
    func faults(text: String, place: Int, message: String) {
        #expect(throws: FilterFault(place, message)) { try TransferFilter(text) }
    }

    @Test("unknown words are words, unknown comparisons are faults")
    func unknown() throws {
        #expect(try matches("http://x", file("http://x")))
        #expect(try matches("a=b", file("a=b.txt")))
        #expect(try matches("/home/ana", file("x", in: place("home/ana"))))
        #expect(try matches("/home /ana/x", file("x", in: place("home/ana"))))
        #expect(throws: FilterFault.self) { try matches("/home/ana /x", file("x", in: place("home/ana"))) }
        #expect(throws: FilterFault.self) { try TransferFilter("sise>1G") }
        #expect(throws: FilterFault.self) { try TransferFilter("@flying") }
        #expect(throws: FilterFault.self) { try TransferFilter("prio>blue") }
    }

    @Test("whose batch it is")
    func sessions() throws {
        let backup = FilterPlace(
            batch: BatchID(rawValue: 7), name: "b", session: try #require(SessionName(rawValue: "nightly backup")),
            chain: [FolderID(rawValue: 3)], folder: RawPath("raw"), destination: "s3://b/", direction: .upload,
            priority: .normal, createdAt: Timestamp(milliseconds: 0))
        #expect(try matches("session:backup", file("x", in: backup)))
        #expect(try matches("session=\"nightly backup\"", file("x", in: backup)))
        #expect(try !matches("session:backup", file("x")))
        #expect(try matches("session=default", file("x")))
        #expect(try matches("session!=default", file("x", in: backup)))
    }

    @Test("what stalls, what is still being listed, and what is marked")
    func screenStates() throws {
        let listed = FilterPlace(
            batch: BatchID(rawValue: 7), name: "b", chain: [FolderID(rawValue: 3)], folder: RawPath("raw"),
            destination: "s3://b/", direction: .upload, priority: .normal, createdAt: Timestamp(milliseconds: 0),
            isScanning: true)
        #expect(try matches("@scan", file("x", in: listed)))
        #expect(try !matches("@scan", file("x")))
        #expect(try matches("@stall", file("x", .running) { $0.isStalled = true }))
        #expect(try !matches("@stall", file("x", .running)))
        #expect(try !matches("@stall", file("x", .failed) { $0.isStalled = true }))
        #expect(try TransferFilter("@stall").needs == .live)

        let marked = try TransferFilter("@marked size>1K | state!=marked raw")
        #expect(marked.asksForMarks)
        let rows: [RowID] = [
            .task(BatchID(rawValue: 7), TaskID(rawValue: 31)), .folder(BatchID(rawValue: 7), FolderID(rawValue: 9)),
        ]
        for some in [[], [rows[0]], rows] {
            let named = marked.naming(some)
            #expect(!named.asksForMarks)
            #expect(try TransferFilter(named.description) == named)
            #expect(named.matches(file("x") { $0.size = 4096 }))
        }
        #expect(!(try TransferFilter("@marked").naming([]).matches(file("x"))))
        #expect(try TransferFilter("@marked").naming(rows).matches(file("x")))
        #expect(try !TransferFilter("!@marked").naming(rows).matches(file("x")))
        #expect(try TransferFilter("a b").and(TransferFilter("c")).description == "a b c")
    }

    // MARK: Properties

    private func test(_ dice: inout SeededGenerator) -> FilterNode {
        let words = [
            "a", "IMG", "b c", "*.cr3", "x\"y", "or", "@run", "!a", "size:1", "/x", "a/b", "é", "(", "|", "\\",
        ]
        let word = words.randomElement(using: &dice) ?? "a"
        let text = FilterText(word, isQuoted: word != "*.cr3")
        switch Int.random(in: 0..<8, using: &dice) {
        case 0: return .test(.text(FilterTest.TextKey.allCases.randomElement(using: &dice) ?? .name, .differs, text))
        case 1: return .test(.number(.size, .more, .random(in: 0...5000, using: &dice)))
        case 2: return .test(.number(.age, .atMost, .random(in: 0...5000, using: &dice)))
        case 3: return .test(.percent(.less, .random(in: 0...100, using: &dice)))
        case 4:
            return .test(
                .state(FilterState.allCases.randomElement(using: &dice) ?? .run, isNegated: Bool.random(using: &dice)))
        case 5: return .test(.priority(.equal, .low))
        case 6: return (try? LinearRegex("a/b|[x/]+")).map { .test(.word(FilterText(regex: $0))) } ?? .test(.word(text))
        default: return .test(.word(text))
        }
    }

    private func node(_ depth: Int, _ dice: inout SeededGenerator) -> FilterNode {
        guard depth > 0 else { return test(&dice) }
        let parts = (0..<Int.random(in: 2...3, using: &dice)).map { _ in node(depth - 1, &dice) }
        switch Int.random(in: 0..<4, using: &dice) {
        case 0: return .all(parts.flatMap { if case .all(let inner) = $0 { inner } else { [$0] } })
        case 1: return .any(parts.flatMap { if case .any(let inner) = $0 { inner } else { [$0] } })
        case 2: return .not(parts[0])
        default: return parts[0]
        }
    }

    @Test("what is written reads as what it was")
    func written() throws {
        for seed in 0..<2000 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            let filter = TransferFilter(node(3, &dice))
            #expect(try TransferFilter(filter.description) == filter, "seed \(seed): \(filter)")
        }
    }

    @Test("no text at all makes it fall over")
    func anything() {
        let pieces = [
            "a", "(", ")", "|", "!", "\"", "/", "\\", "[", "]", "{", "}", "2", ",", "size", ">", "=", "@", "run", " ",
            "*", "?", "é", "or", "^", "$", "-", "%", "err:",
        ]
        for seed in 0..<5000 as Range<UInt64> {
            var dice = SeededGenerator(seed: seed)
            let text = (0..<Int.random(in: 0...14, using: &dice)).map { _ in pieces.randomElement(using: &dice) ?? "" }
                .joined()
            do throws(FilterFault) {
                let filter = try TransferFilter(text)
                _ = filter.matches(file("IMG_0412.CR3"))
                #expect(try! TransferFilter(filter.description) == filter, "\(text)")
            } catch {
                #expect((0...text.count).contains(error.position), "\(text)")
            }
        }
    }

    @Test("many rows by their names are one test, read and written back, however many they are")
    func manyRows() throws {
        let rows = (1...20_000).map { RowID.task(BatchID(rawValue: 7), TaskID(rawValue: $0)) }
        let text = rows.map { "id:\($0)" }.joined(separator: " | ")
        let filter = try TransferFilter("size>=0 (\(text))")
        #expect(filter.effort == 2)
        #expect(try TransferFilter(filter.description) == filter)
        #expect(filter.matches(file("a") { $0.size = 1 }))
        #expect(
            try !TransferFilter(text).matches(
                file("a", in: nil) {
                    $0 = FilterSubject(place: $0.place, id: TaskID(rawValue: 20_001), state: .queued, now: $0.now)
                }))
    }

    @Test("what a filter compares is counted, and too much is refused with its place")
    func effort() throws {
        #expect(try TransferFilter("a b | !c").effort == 3)
        #expect(try TransferFilter("/a|b/").effort > 3)
        // A word costs its letters, as it is and with wildcards.
        #expect(try TransferFilter("abcd a*cd name:abc").effort == 11)
        #expect(throws: FilterFault.self) { try TransferFilter(String(repeating: "*", count: 4001)) }
        #expect(throws: FilterFault.self) { try TransferFilter(String(repeating: "a ", count: 4001)) }
        #expect(throws: FilterFault.self) { try TransferFilter("/" + String(repeating: "a|", count: 300_000) + "a/") }
        #expect(throws: FilterFault.self) { try TransferFilter(String(repeating: "a", count: 3 << 20)) }
        // Each of them is small as text and large as an expression: nothing is built of most of them.
        #expect(throws: FilterFault.self) { try TransferFilter(String(repeating: "/a{100}/ ", count: 100_000)) }
    }

    @Test("the work of reading an expression is counted, and not only what is left of it")
    func work() throws {
        #expect(throws: FilterFault(5, "what is there 0 times can be left out")) { try TransferFilter("/abcd{0}/") }
        #expect(throws: FilterFault.self) { try TransferFilter("/a{0,0}/") }
        #expect(try matches("/^ab{0,2}c$/", file("abbc")))
        let large = "a{100}{39}"
        #expect(try TransferFilter("/\(large)/").effort == 3901)
        #expect(throws: FilterFault.self) { try TransferFilter("/\(large)\(String(repeating: "{1}", count: 50))/") }
        #expect(throws: FilterFault.self) { try TransferFilter("/[\(String(repeating: "a", count: 5000))]/") }
        #expect(try TransferFilter("/[\(String(repeating: "a", count: 4000))]/").effort == 2)
    }

    @Test("one of many alternatives is found, the first, one between and the last")
    func alternatives() throws {
        for name in ["one", "two", "three", "four"] { #expect(try matches("/^(one|two|(three|four))$/", file(name))) }
        #expect(try !matches("/^(one|two|(three|four))$/", file("five")))
    }

    @Test("brackets around rows that are named change nothing")
    func bracketedRows() throws {
        let rows = (1...40).map { "id:b7/t\($0)" }
        let plain = try TransferFilter(rows.joined(separator: " | "))
        #expect(plain.effort == 1)
        let nested = rows.dropFirst(3).reduce("(\(rows[..<3].joined(separator: " | ")))") { text, row in
            text.count < 420 ? "(\(text) | \(row))" : "\(text) | \(row)"
        }
        #expect(try TransferFilter(nested) == plain)
        #expect(try TransferFilter("((\(nested)) a)") == TransferFilter("(\(nested)) a"))
    }
}
