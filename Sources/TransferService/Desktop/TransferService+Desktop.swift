import LinuxSystem
package import SessionBus
import TransferModel
import TransferQueue

/// News for the user's desktop, and the way there.
struct DesktopTeller {
    var notices = DesktopNotices()
    var timer: LoopTimer?
    var worker: BlockingWorker?
    /// The bus of the front that came last and has one.
    var bus: SessionBus
}

/// The user's desktop is told what happened, whether a screen is open or not. Without a session bus nothing is.
extension TransferService {
    /// A function that shows a notification; blocks for as long as the desktop takes.
    package typealias ShowOnDesktop = @Sendable (DesktopNotification, SessionBus) throws(SessionBus.Failure) -> Void

    /// An event was stored.
    func noteForDesktop(_ event: TransferEvent) {
        guard settings.showsOnDesktop != nil else { return }
        desktop.notices.take(event, at: .now)
    }

    /// Plans the next notification.
    func planDesktop() {
        guard desktop.timer == nil, let due = desktop.notices.due else { return }
        desktop.timer = loop.schedule(after: max(.zero, MonotonicInstant.now.duration(to: due))) { [weak self] in
            self?.assumeIsolated { $0.desktopTimerFired() }
        }
    }

    private func desktopTimerFired() {
        desktop.timer = nil
        let news = desktop.notices.take(at: .now)
        Task {
            await show(news)
            planDesktop()
        }
    }

    private func show(_ news: [(batch: BatchID, news: DesktopNotices.News)]) async {
        guard let show = settings.showsOnDesktop, !news.isEmpty else { return }
        var known: [(batch: BatchSnapshot, news: DesktopNotices.News)] = []
        for (batch, what) in news {
            if let snapshot = try? await queue.reader.batch(batch) { known.append((snapshot, what)) }
        }
        guard let notification = DesktopNotices.notification(known) else { return }
        desktop.notices.shown(at: .now)
        let bus = desktop.bus
        do {
            let worker = try desktop.worker ?? BlockingWorker(name: "desktop")
            desktop.worker = worker
            try await worker.run { () throws(SessionBus.Failure) in try show(notification, bus) }
        } catch SessionBus.Failure.noBus {
            // Nobody is there to be told.
        } catch {
            log.write(.debug, "the desktop was not told: \(error)")
        }
    }
}
