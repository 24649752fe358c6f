internal import ProviderKit
internal import Session

/// The control socket: the manager accepts, the worker serves, and the manager ends what a silent worker leaves waiting.
extension SessionDriver {
    /// Listens at the place that the bundle names.
    ///
    /// Where the host alone looks after the interface, a tunnel without control socket is better than none.
    ///
    /// - Throws: ``InterfaceError`` where tools look after the interface: they need the socket.
    func openControlSocket() throws {
        guard let directory = configuration.controlSocketDirectory else { return }
        var inherited: Descriptor?
        if case .tools(_, let listener) = configuration.interfaceCare { inherited = listener }
        do {
            let socket = try ControlSocket(directory: directory, interface: interfaceName, inherited: inherited)
            controlSocket = socket
            try poller.watch(socket.listenDescriptor, token: token(for: .controlSocket))
            try poller.watch(socket.watchDescriptor, token: token(for: .controlSocketFile))
        } catch {
            closeControlSocket()
            guard case .host = configuration.interfaceCare else { throw error }
            log(.warning, "Tools such as wg(8) cannot reach this tunnel. \(TunnelFailure(error).description)")
        }
    }

    /// Removes the socket and ends every connection.
    func closeControlSocket() {
        if let socket = controlSocket {
            poller.forget(socket.listenDescriptor)
            poller.forget(socket.watchDescriptor)
            socket.remove()
            controlSocket = nil
        }
        endControlConnections()
    }

    /// Passes connections that wait on to the worker.
    func acceptControlConnections() {
        while let connection = controlSocket?.accept() {
            // Closed at once where nobody would answer: that is what the client sees first.
            guard let worker, !worker.isKilled, controlClients.hasRoom else { continue }
            let id = takeID()
            let token = token(for: .controlConnection(id))
            do {
                let copy = try connection.duplicate()
                try poller.watchEdges(connection.number, token: token)
                controlClients.add(id, connection, token: token, at: AlarmClock.now)
                send(.controlConnection(id: id), descriptors: [copy])
            } catch {
                release(token: token)
                log(.warning, "A connection to the control socket is refused: \(TunnelFailure(error).cause)")
            }
        }
    }

    /// Ends the session when tools look after it and somebody removed its socket.
    func checkControlSocket() {
        guard let socket = controlSocket, socket.isGone(), case .tools = configuration.interfaceCare else { return }
        log(.info, "The control socket \(socket.path) was removed: the tunnel stops.")
        feed(.stopRequested(.userInitiated))
    }

    /// Takes a word of the worker about a connection.
    func note(_ activity: ControlConnection.Activity, of id: UInt64) {
        if let over = controlClients.note(activity, id, at: AlarmClock.now) { end(over) }
    }

    /// Ends connections whose provider shows no sign of life.
    func endOverdueControlConnections() {
        let overdue = controlClients.takeOverdue(at: AlarmClock.now)
        guard !overdue.isEmpty else { return }
        log(.warning, "The provider did not answer on its control socket: \(overdue.count) connections are ended.")
        overdue.forEach(end)
    }

    /// Ends every connection: there is nobody any more who would answer.
    func endControlConnections() { controlClients.takeAll().forEach(end) }

    private func end(_ client: ControlClients.Client) {
        poller.forget(client.socket.number)
        release(token: client.token)
        // The worker has a descriptor of the same connection, so that closing ours would end nothing.
        ChannelSystem.shutDown(client.socket.number)
        client.socket.close()
    }
}
