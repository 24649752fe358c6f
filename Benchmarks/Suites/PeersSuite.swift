import Foundation
import Glibc
import WireGuard

extension Suite {
    /// Many peers, each with a session: what they take in memory and what they cost the data path.
    static let peers = Suite(
        "peers", "10,000 peers with sessions: memory of the protocol core, and the cost of a batch beside them",
        options: [Option("--peers", "N", help: "number of peers (default 10000)")]
    ) { options, report in
        let count = try options.number("--peers", standard: 10_000, in: 2...60_000)
        report.notes = [
            "the protocol core in memory, a real handshake with each peer; a batch is route, counters, receiver index and",
            "replay window for 44 packets, without the cipher; \"spread\" goes to another peer each time",
        ]
        for number in [1, count] {
            let subject = number == 1 ? "1 peer" : "\(figure(Double(number))) peers"
            let before = MemoryUsage.of(getpid())
            var gateway = try Gateway(peers: number)
            if number > 1, let before, let after = MemoryUsage.of(getpid()) {
                report.add(after.anonymous - before.anonymous, "memory of all peers", unit: "MB", subject: subject)
                let each = (after.anonymous - before.anonymous) * 1e6 / Double(number)
                report.add(each, "memory of a peer", unit: "bytes", subject: subject)
            }
            let one = bestNanoseconds { gateway.sendBatch(to: 0) }
            report.add(one, "send a batch, one peer", unit: "ns", subject: subject)
            var next = 0
            let spread = bestNanoseconds {
                gateway.sendBatch(to: next)
                next = (next + 7919) % number
            }
            report.add(spread, "send a batch, spread", unit: "ns", subject: subject)
            guard gateway.refusals == 0 else {
                throw BenchmarkError(
                    "\(gateway.refusals) batches were refused", advice: "This is a fault of the core or the suite.")
            }
        }
    }
}

/// A machine that has a session with each of its peers, all brought up by handshakes that the peers began.
private struct Gateway: ~Copyable {
    private var half: Half
    private var addresses: [IPAddress] = []
    private let time = Moment(
        instant: Instant(nanoseconds: 1_000_000_000_000), wallClock: TAI64N(unixSeconds: 1_700_000_000, nanoseconds: 0))
    private(set) var refusals = 0

    init(peers: Int) throws {
        var keys = CountingRandom()
        let secret = PrivateKey(keys.nextKey())
        half = Half(secret: secret)
        for number in 0..<peers {
            try Interruption.check()
            let peerSecret = PrivateKey(keys.nextKey())
            let address = IPAddress.v4(0x0a00_0000 | UInt32(number))
            addresses.append(address)
            half.add(
                peerSecret.publicKey, prefixes: [IPPrefix(address, length: 32)].compactMap(\.self), at: nil)
            var peer = Half(secret: peerSecret, peer: secret.publicKey, port: 1)
            peer.random = CountingRandom(offset: UInt64(number + 1) << 32)
            guard let response = half.take(try peer.initiate(time), from: Half.endpoint(2), at: time) else {
                throw BenchmarkError("the gateway did not answer", advice: "This is a fault of the core or the suite.")
            }
            _ = peer.take(response, from: Half.endpoint(1), at: time)
            guard let keepalive = peer.firstGrant(at: time) else {
                throw BenchmarkError(
                    "a handshake did not complete", advice: "This is a fault of the core or the suite.")
            }
            // The first packet of the peer confirms the session; its tag is taken for checked.
            confirm(keepalive)
        }
    }

    private mutating func confirm(_ grant: SealGrant) {
        guard case .open(let open) = half.transport.beginOpen(receiverIndex: grant.receiverIndex, now: time.instant),
            half.transport.accept(open.session, counter: grant.firstCounter) == nil
        else {
            refusals += 1
            return
        }
        var totals = OpenTotals()
        totals.add(datagram: 32)
        _ = half.transport.finishOpen(open.session, totals, from: Half.endpoint(2), now: time.instant)
        half.service(at: time)
    }

    /// What a super-packet of 44 packets to a peer asks of the core.
    mutating func sendBatch(to number: Int) {
        guard let peer = half.transport.peer(for: addresses[number]),
            case .seal = half.transport.beginSeal(
                to: peer, packets: 44, bytes: 44 * 1452, kind: .data, now: time.instant)
        else {
            refusals += 1
            return
        }
    }
}
