@testable import MartletKit
import Terminal
import Testing

@testable import TerminalUI

@Suite("Every page, also one that is added")
struct EveryPageTests {
    /// Things that come by themselves.
    enum News: CaseIterable, Sendable { case answers, sums, engine }

    private static let views = KeyMap.View.allCases.filter { $0.page != nil && $0 != .help }

    @Test("whatever comes while help lies over a page is on it when help is closed", arguments: views, News.allCases)
    func news(view: KeyMap.View, news: News) throws {
        let page = try #require(view.page)
        var (plain, helped) = (opened(page), opened(page))
        let before = plain.picture
        helped.press("?")
        #expect(helped.model.page is HelpPage)
        come(news, &plain)
        come(news, &helped)
        // Both have had the same keys: a message goes with the next one.
        plain.press("?", "Esc")
        helped.press("Esc")
        #expect(helped.picture == plain.picture)
        #expect(helped.model.requests.outstanding.count == plain.model.requests.outstanding.count)
        #expect(helped.requestedNodes == plain.requestedNodes)
        if news == .answers, view != .transfers { #expect(plain.picture != before, "the answers show on the page") }
    }

    @Test(
        "opened while the engine is away it asks nothing of it, and all it wants when the engine is back",
        arguments: views)
    func lost(view: KeyMap.View) throws {
        let page = try #require(view.page)
        func asked(_ screen: ScreenHarness) -> Set<String> {
            Set(
                screen.model.requests.outstanding.values.compactMap { asked in
                    switch (asked.purpose, asked.request) {
                    case (.batches(let view), _): view.rawValue
                    case (_, .page(let asked, _)): "\(type(of: asked.request))"
                    default: nil
                    }
                })
        }
        let wanted = asked(opened(page))
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
        screen.model.requests.outstanding = [:]
        open(page, &screen)
        #expect(asked(screen) == [])
        #expect(!screen.picture.contains("Asking the engine"))
        screen.connect()
        #expect(asked(screen).isSuperset(of: wanted))
        #expect(!screen.picture.contains("nobody knows now"))
    }

    /// A screen with this page, which waits for its answers.
    private func opened(_ page: any Page.Type) -> ScreenHarness {
        var screen = ScreenHarness(80, 24, Rows.example, totals: Rows.exampleTotals)
        open(page, &screen)
        return screen
    }

    private func open(_ page: any Page.Type, _ screen: inout ScreenHarness) {
        screen.press(page.openingKeys.first ?? "i")
        #expect(type(of: screen.model.page) == page)
    }

    private func come(_ news: News, _ screen: inout ScreenHarness) {
        switch news {
        case .answers:
            screen.send(.local(.places(Adding.places, Adding.recent, Adding.configured)))
            for (number, asked) in screen.model.requests.outstanding.sorted(by: { $0.key < $1.key }) {
                switch asked.request {
                case .batches: screen.send(.answer(.batches(.success([Self.batch]), number: number)))
                case .page(let asked, _): screen.send(.answer(.page(answer(asked.request), number: number)))
                default: break
                }
            }
        case .sums:
            var totals = Rows.exampleTotals
            (totals.counts.completed, totals.problems) = (totals.counts.completed + 1, totals.problems + 1)
            screen.wait(.seconds(3))
            screen.news([], totals: totals)
        case .engine:
            screen.send(.link(.lost(since: screen.moment.wall, nextTry: nil)))
            screen.connect()
        }
    }

    private static let batch = Rows.snapshot(
        7, "old-scans", .failed, { $0.failed = 4 }, finished: ScreenHarness.morning,
        causes: [CauseCount(code: .http, count: 4, finding: Finding("the server answered 403", .step("ask")))])

    /// A refusal, which every request can have, where the page has nothing to show of one.
    private func answer(_ request: any PageRequest) -> PageAnswer {
        func refused(_ request: some PageRequest) -> PageAnswer {
            PageAnswer(request, .failure(RequestError(.internal, "the disk is full")))
        }
        switch request {
        case let request as LogRequest:
            let line = LogLine(at: ScreenHarness.morning, level: .info, batch: nil, task: nil, message: "hello")
            return PageAnswer(request, .success((lines: [line], next: 1)))
        case let request as ThroughputRequest:
            var report = ThroughputReport(series: [SpeedSeries(seconds: 1, up: [1 << 20], down: [0])])
            report.sentToday = 5 << 30
            return PageAnswer(request, .success(report))
        default: return refused(request)
        }
    }
}

extension ScreenHarness {
    /// The nodes that the engine was asked to tell of by the last message, if it was.
    fileprivate var requestedNodes: [NodeID]? {
        requests.compactMap { if case .show(_, let nodes, _) = $0 { nodes } else { nil } }.last
    }
}
