import Control

extension FuzzTarget {
    /// Bytes of a client on the control socket: cut into frames, read as calls, and their parameters by the method.
    static func runManagerCall(_ bytes: [UInt8]) -> Bool {
        let whole = frames(bytes, pieceLength: max(1, bytes.count))
        precondition(whole == frames(bytes, pieceLength: 7), "frames depend on how they arrive")
        var accepted = false
        for frame in whole {
            guard let call = try? IncomingCall(frame: frame) else { continue }
            accepted = readParameters(of: call) || accepted
        }
        return accepted
    }

    private static func frames(_ bytes: [UInt8], pieceLength: Int) -> [[UInt8]] {
        var buffer = FrameBuffer(limit: 4096)
        var frames: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            buffer.append(rest.prefix(pieceLength))
            rest = rest.dropFirst(pieceLength)
            do {
                while let frame = try buffer.next() { frames.append(frame) }
            } catch {
                return frames
            }
        }
        return frames
    }

    private static func readParameters(of call: IncomingCall) -> Bool {
        let prefix = ManagerMethod.interface + "."
        guard call.method.hasPrefix(prefix),
            let method = ManagerMethod(rawValue: String(call.method.dropFirst(prefix.count)))
        else { return false }
        do {
            switch method {
            case .list, .watch: _ = try call.parameters(as: ManagerMessages.Application.self)
            case .evaluateConnection: _ = try call.parameters(as: ManagerMessages.Destination.self)
            case .get, .stop, .fetchLastDisconnectError, .counters, .log, .explain:
                _ = try call.parameters(as: ManagerMessages.Identifier.self)
            case .save:
                let save = try call.parameters(as: ManagerMessages.Save.self)
                let again = try WireCodec.call(method.qualifiedName, save)
                let read = try IncomingCall(frame: again.dropLast()).parameters(as: ManagerMessages.Save.self)
                precondition(read == save, "a configuration does not survive being written")
            case .remove: _ = try call.parameters(as: ManagerMessages.Remove.self)
            case .start: _ = try call.parameters(as: ManagerMessages.Start.self)
            case .sendMessage: _ = try call.parameters(as: ManagerMessages.Message.self)
            case .addItem, .copyMatching, .deleteItems: _ = try call.parameters(as: KeychainMessages.Query.self)
            case .updateItems: _ = try call.parameters(as: KeychainMessages.Update.self)
            case .unlockKeychain: _ = try call.parameters(as: KeychainMessages.Passphrase.self)
            case .lockKeychain: _ = try call.parameters(as: NoParameters.self)
            case .changeKeychainPassphrase: _ = try call.parameters(as: KeychainMessages.PassphraseChange.self)
            }
            return true
        } catch let error as InvalidParameter {
            precondition(error.parameter.utf8.count <= 480, "an error is longer than a line")
            return false
        } catch {
            return false
        }
    }
}
