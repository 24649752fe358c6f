import Foundation
import WireGuard

/// Many peers of one gateway: each completes a handshake over UDP, confirms it, and is silent from then on.
struct Crowd {
    /// The number of peers.
    let count: Int

    static let verb = "crowd"

    /// The peers as sections of the gateway's configuration, each with an address of 10.16.0.0/12.
    var sections: String {
        (0..<count).map { number in
            let address = WireGuard.IPAddress.v4(0x0a10_0000 + UInt32(number))
            return "[Peer]\nPublicKey = \(CrowdMember.secret(number).publicKey)\nAllowedIPs = \(address)/32\n"
        }.joined(separator: "\n")
    }

    /// Brings all sessions up from a machine; `gateway` is a file whose first peer is the gateway.
    func connect(from machine: Machine, gateway: String) throws {
        try machine.run(executable.path, Self.verb, gateway, "\(count)", seconds: 60 + Double(count) / 50)
    }

    /// The hidden verb `crowd CONFIG COUNT`, which is the crowd.
    static func run(_ arguments: [String]) throws -> Int32 {
        guard arguments.count == 2, let count = Int(arguments[1]), count > 0 else {
            throw BenchmarkError.usage("crowd has other arguments", advice: "crowd CONFIG COUNT")
        }
        Interruption.install()
        _ = try CrowdLine(toGatewayOf: arguments[0]).connect(count)
        return 0
    }
}
