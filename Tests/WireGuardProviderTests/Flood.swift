import Foundation
import PacketPath
import Synchronization

@testable import WireGuard

/// Sends initiations with a right first MAC and random contents from the addresses 127.64.0.0 to 127.64.255.255.
///
/// 30,000 a second: every address has its turn in 2.2 s, and a debug build takes them all from its socket.
final class Flood: Sendable {
    private final class State: Sendable {
        let isOver = Atomic<Bool>(false)
        let sent = Atomic<Int>(0)
    }

    private let state = State()
    private let thread: DataThread

    /// Starts at once.
    init(to port: UInt16, of key: PublicKey) throws {
        var options = UDPSocket.Options()
        // Its answers are read by nobody.
        options.receiveBuffer = 4096
        let socket = try UDPSocket(family: 4, options: options)
        var message: [UInt8] = [1, 0, 0, 0] + (4..<116).map { _ in UInt8.random(in: 0...255) }
        var keeper = CookieKeeper(key.key)
        keeper.appendMACs(to: &message, now: .zero)
        thread = try DataThread("flood") { [state, message] in
            let target = PeerAddress(address: .v4(0x7f00_0001), port: port)
            let start = ContinuousClock.now
            var number: UInt32 = 0
            while !state.isOver.load(ordering: .relaxed) {
                guard Double(number) < (ContinuousClock.now - start) / .seconds(1) * 30_000 else {
                    usleep(200)
                    continue
                }
                let source = LocalAddress(address: .v4(0x7f40_0000 | number & 0xffff), interface: 0)
                let outcome = socket.sendDatagram(message.rawBytes, to: target, from: source, trafficClass: 0)
                state.sent.add(outcome.sent, ordering: .relaxed)
                number &+= 1
            }
        }
    }

    /// Ends it and returns how many messages were sent.
    func stop() -> Int {
        state.isOver.store(true, ordering: .relaxed)
        thread.join()
        return state.sent.load(ordering: .relaxed)
    }
}
