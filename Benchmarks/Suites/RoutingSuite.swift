import WireGuard

extension Suite {
    /// Cryptokey routing: a bulk of allowed IPs, and look-ups in few and in many.
    static let routing = Suite(
        "routing", "130,560 allowed IPs: time to read and install; look-up at 100 and at 130,560", options: []
    ) { _, report in
        report.notes = [
            "one thread; half of the prefixes IPv4 /24, half IPv6 /64; look-ups inside them:",
            "random addresses, which also miss the caches, and one address again and again as a flow does",
        ]
        for count in [100, 130_560] {
            let subject = "\(figure(Double(count))) prefixes"
            let texts = prefixTexts(count)
            var start = now()
            let prefixes = texts.compactMap { IPPrefix($0) }
            report.add(Double(now() - start) / 1e6, "parse", unit: "ms", subject: subject)
            let file = configuration(texts)
            start = now()
            let read = try Configuration(wgQuick: file)
            report.add(Double(now() - start) / 1e6, "read as a file", unit: "ms", subject: subject)
            guard prefixes.count == count, read.peers.first?.allowedIPs == prefixes else {
                throw BenchmarkError("a prefix was refused", advice: "This is a fault of the core or the suite.")
            }
            var half = Half(secret: PrivateKey(CountingRandom().first(1)))
            for peer in 2...17 { half.add(PublicKey(CountingRandom().first(peer)), prefixes: [], at: nil) }
            // Neighbours of a family belong to different peers, so that no two share an entry of the table.
            let shares = half.peers.indices.map { share in
                prefixes.enumerated().filter { $0.offset / 2 % half.peers.count == share }.map(\.element)
            }
            start = now()
            for (peer, share) in zip(half.peers, shares) { half.transport.insertAllowedIPs(share, for: peer) }
            report.add(Double(now() - start) / 1e6, "install", unit: "ms", subject: subject)
            for (family, isV4) in [("IPv4", true), ("IPv6", false)] {
                try Interruption.check()
                let addresses = insideAddresses(prefixes.filter { $0.address.bitWidth == (isV4 ? 32 : 128) })
                var found = 0
                let time = bestNanoseconds(rounds: 10) {
                    for address in addresses where half.transport.peer(for: address) != nil { found += 1 }
                }
                // From memory, or the compiler would look the address up once for all.
                let flow = Array(repeating: addresses[0], count: addresses.count)
                let hot = bestNanoseconds(rounds: 10) {
                    for address in flow where half.transport.peer(for: address) != nil { found += 1 }
                }
                guard found > 0, found % addresses.count == 0 else {
                    throw BenchmarkError("an address found no peer", advice: "This is a fault of the core.")
                }
                report.add(time / Double(addresses.count), "look up \(family), random", unit: "ns", subject: subject)
                report.add(hot / Double(flow.count), "look up \(family), one flow", unit: "ns", subject: subject)
            }
        }
    }

    private static func prefixTexts(_ count: Int) -> [String] {
        (0..<count / 2).flatMap { index in
            let (high, low) = (index / 256 % 255 + 1, index % 256)
            return ["\(high).\(low).7.0/24", "fd00:\(String(high, radix: 16)):\(String(low, radix: 16))::/64"]
        }
    }

    /// A wg-quick file of one peer with these allowed IPs, a few hundred a line.
    private static func configuration(_ prefixes: [String]) -> String {
        var lines = ["[Interface]", "PrivateKey = \(CountingRandom().first(1).base64)", "[Peer]"]
        lines.append("PublicKey = \(PrivateKey(CountingRandom().first(2)).publicKey)")
        for start in stride(from: 0, to: prefixes.count, by: 500) {
            lines.append("AllowedIPs = " + prefixes[start..<min(start + 500, prefixes.count)].joined(separator: ", "))
        }
        return lines.joined(separator: "\n")
    }

    private static func insideAddresses(_ prefixes: [IPPrefix]) -> [IPAddress] {
        var random = SystemRandomNumberGenerator()
        return (0..<16_384).compactMap { _ in
            switch prefixes.randomElement(using: &random)?.address {
            case .v4(let address): .v4(address | UInt32.random(in: 1...254, using: &random))
            case .v6(let address): .v6(address | UInt128(UInt64.random(in: 1 ... .max, using: &random)))
            case nil: nil
            }
        }
    }
}

extension CountingRandom {
    /// The key number `index` of the sequence.
    func first(_ index: Int) -> Key256 {
        var copy = self
        for _ in 1..<index { _ = copy.nextKey() }
        return copy.nextKey()
    }
}
