extension UDPSocket {
    /// Sends one datagram, such as a handshake message, from any thread; `trafficClass` is the outer ToS.
    ///
    /// Waits a few milliseconds at most for room in the socket. A source that is gone is left out.
    public func sendDatagram(
        _ bytes: RawSpan, to destination: PeerAddress, from source: LocalAddress?, trafficClass: UInt8
    ) -> SendOutcome {
        let result = ByteView.withReadable(of: bytes) { view in
            transmit(
                view, 0, view.count, segment: 0, to: destination, from: source, trafficClass: trafficClass)
        }
        var outcome = SendOutcome()
        outcome.sourceCleared = result.sourceCleared
        if result.count >= 0 {
            outcome.sent = 1
        } else {
            outcome.dropped = 1
            outcome.error = Int32(truncatingIfNeeded: -result.count)
        }
        return outcome
    }

    /// One send call with what can be mended mended: a full buffer is waited for, a vanished source address left out.
    ///
    /// The count is that of sendmsg or a negative errno. Nothing was sent when it is negative.
    func transmit(
        _ view: ByteView, _ offset: Int, _ count: Int, segment: Int, to destination: PeerAddress,
        from source: LocalAddress?, trafficClass: UInt8
    ) -> (count: Int, sourceCleared: Bool) {
        var source = source
        var cleared = false
        var waits = 0
        while true {
            let result = System.send(
                descriptor, view, offset, count, segment: segment, to: destination, from: source, tos: trafficClass)
            if result >= 0 { return (result, cleared) }
            switch -result {
            case 11 where waits < 5:  // EAGAIN
                System.waitWritable(descriptor, nanoseconds: 2_000_000)
                waits += 1
            case 105 where waits < 5, 12 where waits < 5:
                // ENOBUFS, ENOMEM: a device queue is full, and poll does not tell.
                System.pause(nanoseconds: 100_000)
                waits += 1
            case 22 where source != nil, 99 where source != nil, 101 where source != nil, 19 where source != nil,
                113 where source != nil:
                // EINVAL, EADDRNOTAVAIL, ENETUNREACH, ENODEV, EHOSTUNREACH: the sticky address is gone.
                source = nil
                cleared = true
            default:
                // The source was not the reason, so it stays.
                return (result, false)
            }
        }
    }
}
