import WireGuard

extension FuzzTarget {
    /// However the bytes are cut, the same operations come out, and their parts are the whole.
    static func runControlProtocol(_ bytes: [UInt8]) -> Bool {
        var parser = ControlRequestParser()
        let requests = parser.read(bytes)
        var other = ControlRequestParser()
        var pieces: [ControlRequest] = []
        var start = 0
        while start < bytes.count {
            let end = min(start + 1 + Int(bytes[start] & 31), bytes.count)
            pieces += other.read(bytes[start..<end])
            start = end
        }
        precondition(pieces == requests, "the operations depend on how the bytes came")
        var isAccepted = false
        for request in requests {
            switch request {
            case .get, .view, .settings: isAccepted = true
            case .set(let settings):
                isAccepted = true
                let changes = settings.parts(of: 3).flatMap(\.peers).flatMap(\.allowedIPs)
                precondition(changes == settings.peers.flatMap(\.allowedIPs), "a part is lost")
            case .refused: return false
            }
        }
        return isAccepted
    }
}
