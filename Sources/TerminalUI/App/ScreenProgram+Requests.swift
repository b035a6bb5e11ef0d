import MartletKit

/// Requests that are answered: the engine's, and those about local files.
extension ScreenProgram {
    /// Does what the model wants and says what came of it; `nil` when there is nothing to say.
    func ask(_ request: Request) async -> RequestResult? {
        switch request {
        case .act(let deed, let nodes, let number):
            .acted(
                await result { engine throws(RequestError) in try await engine.change(nodes, deed) }, number: number)
        case .clearFinished(let number):
            .acted(await result { engine throws(RequestError) in try await engine.clearFinished() }, number: number)
        case .undo(let choice, let number):
            .acted(
                await result { engine throws(RequestError) in try await engine.takeBack(choice) }, number: number)
        case .undoable(let number):
            .undoable(await result { engine throws(RequestError) in try await engine.undoable() }, number: number)
        case .limits(let batch, let number):
            .limits(
                await result { engine throws(RequestError) in try await engine.limits() },
                session: await session(of: batch), number: number)
        case .setLimits(let wish, let number):
            .limitsSet(
                await result { engine throws(RequestError) in try await engine.setLimits(wish) }, number: number)
        case .why(let node, let number):
            .why(await result { engine throws(RequestError) in try await engine.why(node) }, number: number)
        case .verify(let nodes, let readsBack, let number):
            .verified(await verify(nodes, readsBack: readsBack, number), number: number)
        case .find(let question, let number):
            .found(
                await result { engine throws(RequestError) in
                    try await engine.find(
                        question.text, after: question.after, here: question.here, backwards: question.backwards,
                        order: question.order, flat: question.flat, filter: question.filter)
                }, number: number)
        case .page(let request, let number):
            .page(
                await request.answered(
                    at: RequestDesk(engine: engine, files: files.files, environment: ClientEnvironment.ofThisProcess)),
                number: number
            )
        case .batches(let number):
            .batches(await result { engine throws(RequestError) in try await engine.batches() }, number: number)
        case .status(let number):
            .status(await result { engine throws(RequestError) in try await engine.status() }, number: number)
        case .order(let batch, let number):
            .ordered(await result { engine throws(RequestError) in try await engine.order(of: batch) }, number: number)
        case .queue(let order, let number): .queued(await queue(order), number: number)
        case .changeFilter(let name, let text):
            await engine.changeFilters { SavedFilter.file($0, changing: name, to: text) }.map { .notSaved($0) }
        case .reconnect: await connect(launching: false)
        case .startEngine: await connect(launching: true)
        case .show, .count, .watchBatches, .local, .theme, .redraw, .suspend, .bell, .copy, .write, .showPlain, .notify,
            .leave,
            .stopEngine:
            nil
        }
    }

    /// `nil`: nobody asked, or it is gone.
    private func session(of batch: BatchID?) async -> SessionName? {
        guard let batch else { return nil }
        return try? await engine.batch(batch).session
    }

    private func result<Value: Sendable>(
        _ question: (EngineConnection) async throws(RequestError) -> Value
    ) async -> Result<Value, RequestError> {
        do { return .success(try await question(engine)) } catch { return .failure(error) }
    }

    /// The first time as the options say; after a loss only when the person wants an engine started.
    private func connect(launching: Bool) async -> RequestResult? {
        do throws(RequestError) {
            if launching {
                try await engine.startEngine()
            } else {
                try await engine.connectAgain()
            }
            return nil
        } catch {
            return .notConnected(error)
        }
    }

    private func queue(_ order: AddOrder) async -> Result<BatchSnapshot, RequestError> {
        let surroundings = AddSurroundings(
            environment: ClientEnvironment.ofThisProcess, umask: TerminalUI.umask, now: TerminalUI.wallTime.milliseconds
        )
        switch await files.plan(order, surroundings) {
        case .success(let request):
            let added = await result { engine throws(RequestError) in try await engine.add(request).batch }
            if order.isFirst, case .success(let batch) = added { await moveToTop(batch.id) }
            return added
        case .failure(let error): return .failure(error)
        }
    }

    /// It is queued whatever comes of this.
    private func moveToTop(_ batch: BatchID) async {
        let moved = await result { engine throws(RequestError) in
            try await engine.change(.ids([.batch(batch)]), .move(.top))
        }
        let refusal: String? =
            switch moved {
            case .success(let changed): changed.results.first { $0.result == .refused }.map { $0.message ?? "refused" }
            case .failure(let error): error.message
            }
        if let refusal { take(.answer(.notSaved("\(batch) is queued, but not before the others: \(refusal)"))) }
    }
}
