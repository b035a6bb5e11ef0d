import LinuxSystem
import Testing

@testable import SSHTransport

@Suite struct WindowTests {
    @Test("only an unbroken beginning counts as acknowledged")
    func prefix() {
        var window = WriteWindow(100..<400)
        let pieces = (0..<3).map { _ in window.take(100) }
        #expect(pieces == [100..<200, 200..<300, 300..<400] && window.isSent)
        window.acknowledge(pieces[2])
        #expect(window.through == 100)
        window.acknowledge(pieces[0])
        #expect(window.through == 200 && !window.isAcknowledged)
        window.acknowledge(pieces[1])
        #expect(window.through == 400 && window.isAcknowledged)
    }

    @Test("acknowledgements in any order end with all of it, and never count more than a model does")
    func shuffled() {
        for _ in 0..<200 {
            let length = Int64.random(in: 1...5000)
            var window = WriteWindow(7..<7 + length)
            var pieces: [Range<Int64>] = []
            while !window.isSent { pieces.append(window.take(Int.random(in: 1...700))) }
            var known = Set<Int64>()
            for piece in pieces.shuffled() {
                window.acknowledge(piece)
                known.formUnion(piece)
                var through: Int64 = 7
                while known.contains(through) { through += 1 }
                #expect(window.through == through)
            }
            #expect(window.isAcknowledged)
        }
    }

    /// Plays a server with that file, which answers in any order, as short as it likes.
    private func read(_ file: [UInt8], from: Int64, total: Int64?, limit: Int) -> (bytes: [UInt8], asked: Int)? {
        var window = ReadWindow(from: from, total: total)
        var got: [UInt8] = []
        var questions: [Range<Int64>] = []
        var asked = 0
        while !window.isDone {
            while let wish = window.wanted(limit), Bool.random() || questions.isEmpty {
                let piece =
                    wish.lowerBound..<(wish.lowerBound + Int64.random(in: 1...wish.upperBound - wish.lowerBound))
                window.ask(piece)
                questions.append(piece)
                asked += 1
            }
            guard let question = questions.randomElement() else { return nil }
            questions.removeAll { $0 == question }
            if question.lowerBound >= file.count {
                window.reachedEnd(at: question)
            } else {
                let longest = min(Int64(file.count), question.upperBound)
                let end = Int64.random(in: question.lowerBound + 1...longest)
                let data = Array(file[Int(question.lowerBound)..<Int(end)])
                let isAnswer = data.withUnsafeBytes { window.arrived($0, for: question) { got += $0 } }
                if !isAnswer { return nil }
            }
        }
        return (got, asked)
    }

    @Test("a file comes whole and in order, however the server cuts and mixes its answers")
    func reading() throws {
        for _ in 0..<300 {
            let file = (0..<Int.random(in: 0...3000)).map { _ in UInt8.random(in: 0...255) }
            let from = Int64.random(in: 0...Int64(file.count))
            let total = Bool.random() ? Int64(file.count) : nil
            let result = try #require(read(file, from: from, total: total, limit: Int.random(in: 1...900)))
            #expect(result.bytes == Array(file[Int(from)...]))
        }
    }

    @Test("a file of known length costs no question for its end, an unknown one few")
    func questions() {
        var known = ReadWindow(from: 0, total: 100)
        #expect(known.wanted(64) == 0..<64)
        known.ask(0..<64)
        #expect(known.wanted(64) == 64..<100)
        known.ask(64..<100)
        #expect(known.wanted(64) == nil && !known.isDone)
        #expect(ReadWindow(from: 100, total: 100).isDone && ReadWindow(from: 200, total: 100).isDone)
        var unknown = ReadWindow(from: 0, total: nil)
        var asked = 0
        while let piece = unknown.wanted(64) {
            unknown.ask(piece)
            asked += 1
        }
        #expect(asked == 4)
        #expect(ReadWindow(from: Int64.max - 10, total: nil).wanted(64) == Int64.max - 10..<Int64.max)
    }

    @Test(
        "a server that leaves the first piece out is asked for no more than is held for it", arguments: [100_000, nil])
    func missingPiece(total: Int64?) {
        var window = ReadWindow(from: 0, total: total, reach: 1000)
        window.ask(0..<100)
        let data = [UInt8](repeating: 1, count: 100)
        var asked = 0
        while let piece = window.wanted(100), asked < 5000 {
            window.ask(piece)
            asked += 1
            #expect(data.withUnsafeBytes { window.arrived($0, for: piece) { _ in } })
        }
        #expect(asked == 9)
        // It comes at last, and all goes on.
        var told = 0
        #expect(data.withUnsafeBytes { window.arrived($0, for: 0..<100) { told += $0.count } })
        #expect(told == 1000 && window.wanted(100) == 1000..<1100)
    }

    @Test(
        "a first piece that never comes, and one byte for every other question, fill the memory to its bound and no more"
    )
    func oneByteEach() {
        var window = ReadWindow(from: 0, total: nil, reach: 20_000)
        window.ask(0..<1000)
        var questions: [Range<Int64>] = []
        var (answers, most) = (0, 0)
        repeat {
            while questions.count < 256, let piece = window.wanted(1000) {
                window.ask(piece)
                questions.append(piece)
            }
            if questions.isEmpty { break }
            let question = questions.removeFirst()
            #expect([UInt8](repeating: 1, count: 1).withUnsafeBytes { window.arrived($0, for: question) { _ in } })
            answers += 1
            most = max(most, window.held)
        } while answers <= 20_000
        #expect(answers == 19_000 && window.through == 0 && window.asked == 1)
        // What touches is one chunk.
        #expect(most <= 256)
    }

    @Test(
        "a server that answers a byte or two at a time, the oldest last, stays within the bound; the file comes whole")
    func shortAndLate() {
        for round in 0..<10 {
            let file = PatternSource.bytes(0..<20_000)
            var window = ReadWindow(from: 0, total: round % 2 == 0 ? 20_000 : nil)
            var (got, questions): ([UInt8], [Range<Int64>]) = ([], [])
            var most = 0
            while !window.isDone {
                while let piece = window.wanted(Int.random(in: 3...40)) {
                    window.ask(piece)
                    let isOldest = questions.first.map { piece.lowerBound < $0.lowerBound } ?? true
                    questions.insert(piece, at: isOldest ? 0 : questions.endIndex)
                }
                // The oldest stands first, and is answered when no other waits.
                if questions.isEmpty { break }
                let question = questions.remove(at: questions.count > 1 ? Int.random(in: 1..<questions.count) : 0)
                if question.lowerBound >= file.count {
                    window.reachedEnd(at: question)
                } else {
                    let end = min(Int64(file.count), question.lowerBound + Int64.random(in: 1...2), question.upperBound)
                    let data = Array(file[Int(question.lowerBound)..<Int(end)])
                    #expect(data.withUnsafeBytes { window.arrived($0, for: question) { got += $0 } })
                }
                most = max(most, window.held)
            }
            #expect(window.isDone && got == file)
            #expect(most <= ReadWindow.mostHeld)
        }
    }

    @Test("a server that never acknowledges the first piece is sent no more than are held for it")
    func unacknowledged() {
        var window = WriteWindow(0..<Int64.max)
        let first = window.take(1)
        var sent = 0
        while !window.isFull, sent < 5000 {
            window.acknowledge(window.take(1))
            sent += 1
        }
        #expect(sent == WriteWindow.mostHeld)
        window.acknowledge(first)
        #expect(!window.isFull && window.through == Int64(sent) + 1)
    }

    @Test("the oldest request has its patience, whatever else is answered, and ten times of it on a slow line")
    func oldest() {
        func at(_ seconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }
        var oldest = OldestRequest()
        func look(_ number: UInt32, _ answers: UInt64, _ seconds: Int64) -> Bool {
            oldest.isOverdue(
                number, answers: answers, patience: .seconds(60), longest: .seconds(600), at: at(seconds))
        }
        // On a slow line each has its turn.
        for number in 1...20 { #expect(!look(UInt32(number), UInt64(number), Int64(number) * 50)) }
        // Nobody was answered before it: its bytes may still be on their way.
        #expect(!look(20, 20, 1500) && look(20, 20, 1600))
        // Others were.
        #expect(!look(21, 21, 2000) && !look(21, 22, 2059) && look(21, 23, 2060))
    }

    @Test("more than was asked for is no answer; a file that shrank ends where it ends")
    func oddAnswers() {
        var window = ReadWindow(from: 0, total: 100)
        window.ask(0..<50)
        window.ask(50..<100)
        let more = [UInt8](repeating: 1, count: 51)
        #expect(more.withUnsafeBytes { window.arrived($0, for: 0..<50) { _ in } } == false)
        window.reachedEnd(at: 50..<100)
        let some = [UInt8](repeating: 1, count: 30)
        #expect(some.withUnsafeBytes { window.arrived($0, for: 0..<50) { _ in } })
        #expect(!window.isDone && window.wanted(64) == 30..<50)
        window.ask(30..<50)
        window.reachedEnd(at: 30..<50)
        #expect(window.isDone && window.through == 30)
    }
}
