import LinuxSystem
import Testing
import TransferModel
import WireOperations

@testable import CurlTransport

@Suite struct ResponseHeadCollectorTests {
    private func steps(_ text: String) -> [ResponseHeadCollector.Step] {
        var collector = ResponseHeadCollector()
        var lines: [[UInt8]] = [[]]
        for byte in text.utf8 {
            lines[lines.count - 1].append(byte)
            if byte == 10 { lines.append([]) }
        }
        return lines.dropLast().map { line in line.withUnsafeBytes { collector.append($0) } }.filter { $0 != .more }
    }

    @Test func `each status line starts anew`() {
        let text = "HTTP/1.1 103 Early\r\nA: 1\r\n\r\nHTTP/1.1 401 No\r\nB: 2\r\n\r\nHTTP/1.1 200 OK\r\nC: 3\r\n\r\n"
        #expect(
            steps(text) == [
                .interim(HTTPAnswer(status: 103, headers: [HeaderField("A", "1")])),
                .final(HTTPAnswer(status: 401, headers: [HeaderField("B", "2")])),
                .final(HTTPAnswer(status: 200, headers: [HeaderField("C", "3")])),
            ])
    }

    @Test func `neither a trailer nor a field starts another head`() {
        let refused = "HTTP/1.1 401 No\r\nA: 1\r\n \r\n\r\n"
        let taken = [ResponseHeadCollector.Step.final(HTTPAnswer(status: 200, headers: []))]
        #expect(steps("HTTP/1.1 200 OK\r\n\r\n" + refused) == taken)
        #expect(steps("HTTP/1.1 200 OK\r\nHTTP/1.1 401 No\r\n\r\n") == taken)
    }

    @Test func `odd lines are tolerated: folded, without a colon, empty values, bare line feeds, spaces`() {
        let text = "HTTP/2 200\r\nA:  x \r\n\ty\r\nnonsense\r\nB:\nC:1:2\r\n\r\n"
        #expect(
            steps(text) == [
                .final(
                    HTTPAnswer(
                        status: 200, headers: [HeaderField("A", "x y"), HeaderField("B", ""), HeaderField("C", "1:2")]))
            ])
    }

    @Test func `an upload is told its progress as often as it takes, and all else together has a limit`() {
        let progress = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 8388608\r\n\r\n"
        let often = 2 * ResponseHeadCollector.limit / progress.utf8.count
        let told = steps(String(repeating: progress, count: often) + "HTTP/1.1 200 OK\r\n\r\n")
        #expect(told.count == often + 1 && !told.contains(.tooLarge))
        #expect(told.last == .final(HTTPAnswer(status: 200, headers: [])))
        let hint = "HTTP/1.1 103 Early Hints\r\nX: \(String(repeating: "y", count: 1000))\r\n\r\n"
        #expect(steps(String(repeating: progress + hint, count: 300)).contains(.tooLarge))
        let lines = String(repeating: "X: \(String(repeating: "y", count: 1000))\r\n", count: 300)
        #expect(steps("HTTP/1.1 104 OK\r\n" + lines).contains(.tooLarge))
    }

    @Test func `few folded lines are taken, and a head of nothing else is refused`() {
        func head(_ folds: Int) -> String {
            "HTTP/1.1 200 OK\r\nA: x\r\n\(String(repeating: " y\r\n", count: folds))\r\n"
        }
        let most = ResponseHeadCollector.mostFolds
        let value = "x" + String(repeating: " y", count: most)
        #expect(steps(head(most)) == [.final(HTTPAnswer(status: 200, headers: [HeaderField("A", value)]))])
        #expect(steps(head(most + 1)).first == .tooLarge)
    }

    @Test func `a head has a bounded number of fields`() {
        func head(_ fields: Int) -> String { "HTTP/1.1 200 OK\r\n\(String(repeating: "A: x\r\n", count: fields))\r\n" }
        let most = ResponseHeadCollector.mostFields
        let fields = [HeaderField](repeating: HeaderField("A", "x"), count: most)
        #expect(steps(head(most)) == [.final(HTTPAnswer(status: 200, headers: fields))])
        #expect(steps(head(most + 1)).first == .tooLarge)
    }

    /// Comparing the value as it came would take seconds.
    @Test func `marks without end are cut in a field`() {
        let half = 50_000
        let marks = String(repeating: "\u{301}", count: half) + String(repeating: "\u{316}", count: half / 2)
        let kept = HeaderField("ETag", "a" + String(repeating: "\u{301}", count: 30))
        let answer = HTTPAnswer(status: 200, headers: [kept])
        #expect(steps("HTTP/1.1 200 OK\r\nETag: a\(marks)\r\n\r\n") == [.final(answer)])
    }

    @Test func `trailers behind a body change nothing`() {
        #expect(steps("HTTP/1.1 200 OK\r\n\r\nX-Digest: 1\r\n\r\n") == [.final(HTTPAnswer(status: 200, headers: []))])
    }

    @Test func `a status that is none is not believed`() {
        #expect(steps("HTTP/1.1 2x0 OK\r\n\r\n").isEmpty)
        #expect(steps("HTTP/1.1 20\r\n\r\n").isEmpty)
        #expect(steps("\r\n").isEmpty)
    }

    @Test func `a name is found whatever its case`() {
        let head = HTTPAnswer(status: 200, headers: [HeaderField("eTaG", "1"), HeaderField("etag", "2")])
        #expect(head.field("etag") == "1")
        #expect(head.field("date") == nil)
    }
}

@Suite struct CurlFailureClassTests {
    @Test func `codes are sorted as the errors' table says`() {
        let table: [(CurlFailureClass, [Int32])] = [
            (.transient, [5, 6, 7, 12, 13, 14, 15, 16, 18, 28, 30, 52, 55, 56, 65, 79, 80, 81, 89, 92, 95, 96, 97]),
            (.handshake, [35]), (.local, [23, 26, 42]), (.programming, [27, 43, 48]), (.restart, [33, 36]),
            (.remoteDiskFull, [70]),
            (.permanent, [1, 3, 4, 9, 21, 25, 47, 51, 58, 59, 60, 61, 63, 64, 67, 73, 77, 78, 82, 83, 90]),
        ]
        for (expected, codes) in table {
            for code in codes { #expect(CurlFailureClass(CurlCode(rawValue: code)) == expected, "code \(code)") }
        }
    }

    @Test("a TLS handshake that the line broke in is no refusal of TLS")
    func cutHandshake() {
        for error: Errno in [.connectionReset, .brokenPipe] {
            let cut = CurlFailure(CurlCode(rawValue: 35), osError: error, text: "Recv failure")
            #expect(cut.failureClass == .transient)
        }
        #expect(CurlFailure(CurlCode(rawValue: 35), text: "wrong version number").failureClass == .handshake)
    }
}
