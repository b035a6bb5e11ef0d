import TestSupport
import Testing
import TransferModel

@testable import TransferEngine

@Suite struct SpeedTests {
    private let slots = 4

    private func place(_ batch: Int64, folder: Int64 = 1, _ direction: TransferDirection = .upload) -> LinePlace {
        LinePlace(batch: BatchID(rawValue: batch), folder: FolderID(rawValue: folder), direction: direction)
    }

    private func time(_ seconds: Double) -> Int64 { Int64(seconds * 1e9) }

    /// A line that carries 8,000,000 bytes a second whatever is sent through it, shared by its files.
    private struct Line {
        var left = LeftSpeeds()
        var files: [(place: LinePlace, meter: SpeedMeter, bytes: Int64)] = []
        var tick: Int64 = 0
        var now: Int64 { tick * 100_000_000 }

        mutating func begin(_ place: LinePlace, bytes: Int64) {
            files.append((place, left.take(for: place, at: now), bytes))
        }

        /// A tenth of a second passes. - Returns: where the files lay that are over.
        mutating func pass(slots: Int) -> [LinePlace] {
            tick += 1
            let share = 800_000 / Int64(max(1, files.count))
            var over: [LinePlace] = []
            for index in files.indices {
                files[index].meter.add(min(share, files[index].bytes), at: now)
                files[index].bytes -= share
            }
            for file in files where file.bytes <= 0 {
                left.leave(file.meter, of: file.place, most: slots, at: now)
                over.append(file.place)
            }
            files.removeAll { $0.bytes <= 0 }
            return over
        }

        /// Bytes a second that all of it shows.
        mutating func shown() -> Int64 {
            let moving = files.reduce(0) { $0 + $1.meter.bytesPerSecond(at: now) }
            return left.speeds(at: now).reduce(moving) { $0 + $1.bytesPerSecond }
        }
    }

    @Test(
        "the sum stays what the line carries while one file follows another", arguments: [80_000, 400_000, 30_000_000])
    func following(_ size: Int64) {
        var line = Line()
        for _ in 0..<slots { line.begin(place(1), bytes: size) }
        for tick in 1...300 {
            let over = line.pass(slots: slots)
            for place in over { line.begin(place, bytes: size) }
            guard tick >= 5 else { continue }
            let carried = min(8_000_000, size * 10 * Int64(slots))
            #expect(abs(line.shown() - carried) <= carried / 5, "after \(tick) tenths")
        }
    }

    @Test(
        "a file that follows another shows from its beginning what the line carries, not what it carries itself so far")
    func beginning() {
        var line = Line()
        line.begin(place(1), bytes: 40_000_000)
        while line.pass(slots: 1).isEmpty {}
        line.begin(place(1, folder: 2), bytes: 40_000_000)
        #expect(line.files[0].meter.bytesPerSecond(at: line.now) > 7_500_000)
        #expect(line.left.speeds(at: line.now).isEmpty, "nothing counts twice")
    }

    @Test("another batch's file begins anew, and what was left by the first counts no more")
    func otherBatch() {
        var line = Line()
        line.begin(place(1), bytes: 40_000_000)
        while line.pass(slots: 1).isEmpty {}
        #expect(line.left.speeds(at: line.now).map(\.batch) == [BatchID(rawValue: 1)])
        line.begin(place(2, .download), bytes: 40_000_000)
        #expect(line.left.speeds(at: line.now).count == 1, "the other direction is another line")
        line.begin(place(2), bytes: 40_000_000)
        #expect(line.left.speeds(at: line.now).isEmpty)
        #expect(line.files[1].meter.bytesPerSecond(at: line.now) == 0)
    }

    @Test("after a pause a file begins anew instead of creeping up")
    func afterPause() {
        var line = Line()
        line.begin(place(1), bytes: 8_000_000)
        while line.pass(slots: 1).isEmpty {}
        line.tick += 20
        line.begin(place(1), bytes: 40_000_000)
        #expect(line.files[0].meter.bytesPerSecond(at: line.now) == 0)
        for _ in 1...5 { _ = line.pass(slots: 1) }
        #expect(abs(line.shown() - 8_000_000) < 800_000)
    }

    @Test("what is left falls to nothing, ends with its batch, and is never more than there are slots")
    func bounds() {
        var left = LeftSpeeds()
        var meter = SpeedMeter(at: 0)
        meter.add(1_000_000, at: time(1))
        for batch in 1...9 { left.leave(meter, of: place(Int64(batch)), most: slots, at: time(1)) }
        #expect(left.speeds(at: time(1)).map(\.batch.rawValue) == [6, 7, 8, 9])
        left.forget([BatchID(rawValue: 7)])
        #expect(left.speeds(at: time(2)).map(\.batch.rawValue) == [6, 8, 9])
        #expect(left.speeds(at: time(12)).isEmpty)
        left.leave(SpeedMeter(at: time(12)), of: place(1), most: slots, at: time(12))
        #expect(left.speeds(at: time(12)).isEmpty, "a file of no bytes leaves nothing")
    }
}

@Suite(.timeLimit(.minutes(2))) struct RefusedSpeedTests {
    @Test("what was sent of a file that the server refused counts for its place in the line, as of one that it took")
    func refused() async throws {
        let harness = try await EngineHarness { request, _ in
            // For so long that no other try takes the place before it was looked at.
            request.method == "PUT" ? .answer("503 Service Unavailable", fields: ["Retry-After: 3600"]) : .ordinary
        }
        try harness.sandbox.write("f", [UInt8](repeating: 7, count: 300_000))
        let batch = try await harness.add(harness.request(upload: ["f"]))
        try await harness.batch(batch) { !$0.waitReasons.isEmpty }
        // Else the next file would begin with a meter that knows nothing of the pause, and show more than the line carries.
        #expect(await harness.engine.speedsLeft.map(\.batch) == [batch])
        await harness.stop()
    }
}

extension TransferEngine {
    /// However long ago they were left.
    fileprivate var speedsLeft: [LeftSpeed] {
        var left = accounting.left
        return left.speeds(at: 0)
    }
}
