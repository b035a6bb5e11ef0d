import CCurl
import LinuxSystem

/// The multi handle on the loop: libcurl says which sockets and which moment it waits for, the loop waits, and
/// `curl_multi_socket_action` does the work.
extension HTTPTransport {
    func configureMulti(_ capacity: TransportCapacity) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        // These calls fail only for a bad handle or an unknown option, both our own bug.
        let codes = [
            CCurl_multi_setopt_socket(multi, CURLMOPT_SOCKETFUNCTION, socketCallback),
            CCurl_multi_setopt_pointer(multi, CURLMOPT_SOCKETDATA, context),
            CCurl_multi_setopt_timer(multi, CURLMOPT_TIMERFUNCTION, timerCallback),
            CCurl_multi_setopt_pointer(multi, CURLMOPT_TIMERDATA, context),
            CCurl_multi_setopt_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, capacity.connections),
            CCurl_multi_setopt_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, capacity.connectionsPerHost),
            CCurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, capacity.keptConnections),
        ]
        precondition(codes.allSatisfy { $0 == CURLM_OK }, "libcurl refuses an option of the multi handle")
    }

    /// Drops all registrations and forgets the callbacks, so that closing kept connections calls nobody.
    func releaseConnections() {
        _ = CCurl_multi_setopt_socket(multi, CURLMOPT_SOCKETFUNCTION, nil)
        _ = CCurl_multi_setopt_timer(multi, CURLMOPT_TIMERFUNCTION, nil)
        for registration in sockets.values { loop.cancel(registration) }
        sockets = [:]
        released = []
    }

    /// libcurl wants other events of a socket. Done at once and not later: the number may be closed and given out
    /// again within the same call of libcurl. Only the end of interest waits for the end of the turn: the next request
    /// mostly goes over the same connection at once, and setting the interest anew is right for another socket, too.
    fileprivate func socketChanged(_ socket: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            released.append(socket)
            return
        }
        var interest: Interest = []
        if what & CURL_POLL_IN != 0 { interest.insert(.read) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.write) }
        do {
            if let registration = sockets[socket] {
                released.removeAll { $0 == socket }
                try loop.update(registration, interest)
            } else {
                sockets[socket] = try loop.register(socket, interest) { [weak self] ready in
                    self?.socketIsReady(socket, ready)
                }
            }
        } catch {
            // The kernel has no memory for it. Answering -1 would end all transfers; this one's watchdog will end it.
        }
    }

    /// Ends the registrations of sockets that nobody has taken up again.
    func dropReleased() {
        for socket in released {
            if let registration = sockets.removeValue(forKey: socket) { loop.cancel(registration) }
        }
        released.removeAll(keepingCapacity: true)
    }

    private func socketIsReady(_ socket: Int32, _ ready: Readiness) {
        var mask: Int32 = 0
        if ready.contains(.read) { mask |= CURL_CSELECT_IN }
        if ready.contains(.write) { mask |= CURL_CSELECT_OUT }
        if ready.contains(.failed) { mask |= CURL_CSELECT_IN | CURL_CSELECT_ERR }
        act(socket, mask)
    }

    private func act(_ socket: Int32, _ mask: Int32) {
        var running: Int32 = 0
        // It fails only for a handle that is none, or when called from a callback: our own bugs, and no
        // transfer's; every transfer's own end comes as a message.
        let code = curl_multi_socket_action(multi, socket, mask, &running)
        assert(code == CURLM_OK, "curl_multi_socket_action: \(String(cString: curl_multi_strerror(code)))")
        scheduleFlush()
    }

    // MARK: Timer

    /// Calls libcurl for a time-out of 0, which it must not be called for from inside its callback. Once a turn: a
    /// download that never runs dry asks again each time, and others want the loop too.
    func runCurlTimerIfDue() {
        guard wantedTimeout == 0 else { return }
        wantedTimeout = -1
        act(CURL_SOCKET_TIMEOUT, 0)
    }

    /// Sets the loop's timer as libcurl last asked.
    func applyTimeout() {
        guard let timeout = wantedTimeout else { return }
        wantedTimeout = nil
        if let curlTimer { loop.cancel(curlTimer) }
        curlTimer = nil
        if timeout < 0 { return }
        curlTimer = loop.schedule(after: .milliseconds(timeout)) { [weak self] in
            self?.curlTimer = nil
            self?.act(CURL_SOCKET_TIMEOUT, 0)
        }
    }

    // MARK: Messages

    /// Ends the exchanges that libcurl is done with.
    func takeMessages() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
            let code = CurlCode(CCurl_message_result(message))
            if let exchange = exchange(of: handle) { end(exchange, code, reusable: code == .ok) }
        }
    }

    // MARK: Standstills

    /// Has an exchange go on when its sink, which is full, has room again.
    func waitForRoom(_ exchange: HTTPTransfer, in sink: any TransferBodySink) {
        sink.whenRoom { [weak self, id = exchange.id] in
            guard let self, let exchange = exchanges[id] else { return }
            exchange.endFull()
            exchange.movedAt = clock.awake
            applyStandstills(of: exchange)
        }
    }

    /// Makes libcurl stop or go on as the exchange says now. Going on may hand over bytes before this returns.
    func applyStandstills(of exchange: HTTPTransfer) {
        var mask: Int32 = 0
        if !exchange.standstills.isDisjoint(with: .receiving) { mask |= CURLPAUSE_RECV }
        if exchange.standstills.contains(.throttledUp) { mask |= CURLPAUSE_SEND }
        let code = CurlCode(curl_easy_pause(exchange.handle.raw, mask))
        switch code {
        // It has no connection: it waits for one, or has lost it and its end is about to be read. Then nothing is paused or can go on, and
        // its callbacks will pause it again.
        case .ok, .badArgument: break
        // libcurl has dropped the bytes that were refused here and would go on behind the gap.
        default: end(exchange, code, reusable: false)
        }
        scheduleFlush()
    }
}

// libcurl's callbacks; the context is the transport, unretained: it owns the multi handle.

private func transport(_ context: UnsafeMutableRawPointer?) -> HTTPTransport? {
    context.map { Unmanaged<HTTPTransport>.fromOpaque($0).takeUnretainedValue() }
}

/// The exchange of a handle; `nil`: the handle is one of libcurl's own. The table holds the exchange until `end` has removed the handle.
private func exchange(of handle: UnsafeMutableRawPointer?) -> HTTPTransfer? {
    var context: UnsafeMutableRawPointer?
    guard CCurl_easy_getinfo_pointer(handle, CURLINFO_PRIVATE, &context) == CURLE_OK else { return nil }
    return context.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
}

private let socketCallback: curl_socket_callback = { handle, socket, what, context, _ in
    if what != CURL_POLL_REMOVE { exchange(of: handle)?.socket = socket }
    transport(context)?.socketChanged(socket, what)
    return 0
}

private let timerCallback: curl_multi_timer_callback = { _, timeout, context in
    transport(context)?.wantedTimeout = timeout
    return 0
}
