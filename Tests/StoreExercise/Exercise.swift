import Foundation
import Glibc
import ProviderKit
import SystemStore

/// Writes one line at once: what is said must be read even if the process is killed in the next moment.
func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

/// The things that the process can be told to do.
struct Exercise {
    private static let client = StoreClient(user: 1000, application: "com.example.exercise")
    private let verb: String
    private let target: String
    private let detail: String

    struct UsageError: Error {}

    /// Reads VERB TARGET [DETAIL].
    init(_ arguments: [String]) throws {
        guard arguments.count >= 3 else { throw UsageError() }
        verb = arguments[1]
        target = arguments[2]
        detail = arguments.count > 3 ? arguments[3] : "1"
    }

    func run() throws {
        switch verb {
        case "save": try save()
        case "check": try check()
        case "count": try countTogether()
        case "fill": try fill()
        case "shutdown": try shutDown()
        default: throw UsageError()
        }
    }

    private var count: Int { Int(detail) ?? 1 }

    private func open() throws -> SystemStore {
        try SystemStore(folder: StateFolder(path: target)) { say("reported \($0.code)") }
    }

    /// Saves a number as the name of the one configuration, and as the secret that it refers to, again and again.
    private func save() throws {
        let store = try open()
        for _ in 0..<count {
            let number = try store.perform { session in
                var configuration = try session.configurations(of: Self.client).first ?? Self.configuration()
                let next = (Int(configuration.localizedDescription ?? "") ?? 0) + 1
                let secret: PropertyListValue = .data(Array("\(next)".utf8))
                if let reference = configuration.protocolConfiguration?.common.passwordReference {
                    let query: KeychainQuery = [.valuePersistentReference: .data(reference.bytes)]
                    try session.updateItems(query, to: [.valueData: secret], Self.client)
                } else {
                    let query: KeychainQuery = [.itemClass: "genp", .accessible: "ck", .valueData: secret]
                    configuration.protocolConfiguration?.common.passwordReference =
                        try session.addItem(query, Self.client).reference
                }
                configuration.localizedDescription = "\(next)"
                try session.save(configuration, of: Self.client)
                return next
            }
            say("saved \(number)")
        }
    }

    /// Says which number is stored, and whether the secret has the same one.
    private func check() throws {
        let store = try open()
        let (name, secret) = try store.read { session in
            guard let configuration = try session.configurations(of: Self.client).first,
                let reference = configuration.protocolConfiguration?.common.passwordReference
            else { return ("0", "0") }
            let secret = try session.secret(for: reference, Self.client).unprotectedCopy()
            return (configuration.localizedDescription ?? "", String(decoding: secret, as: UTF8.self))
        }
        let unreadable = try store.read { try $0.unreadableConfigurations() }
        say(unreadable.isEmpty && name == secret ? "stored \(name)" : "torn \(name) \(secret)")
    }

    /// Adds to a number that other processes add to as well, by load, modify and save.
    private func countTogether() throws {
        let store = try open()
        var added = 0
        var refused = 0
        while added < count {
            let loaded = try store.read { try $0.configurations(of: Self.client).first } ?? Self.configuration()
            var configuration = loaded
            configuration.localizedDescription = "\((Int(loaded.localizedDescription ?? "") ?? 0) + 1)"
            let changed = configuration
            do {
                _ = try store.perform { try $0.save(changed, of: Self.client) }
                added += 1
            } catch let error as VPNError where error.code == .configurationStale {
                refused += 1
            }
        }
        say("added \(added) refused \(refused)")
    }

    /// Saves until the disk is full, reads while it is, and goes on when there is space again.
    private func fill() throws {
        let store = try open()
        var acknowledged = 0
        let refusal: VPNError
        while true {
            var configuration = Self.configuration(content: String(repeating: "x", count: 20_000))
            configuration.localizedDescription = "\(acknowledged)"
            let next = configuration
            do {
                _ = try store.perform { try $0.save(next, of: Self.client) }
                acknowledged += 1
            } catch let error as VPNError {
                refusal = error
                break
            }
        }
        let stored = try store.read { try $0.configurations(of: Self.client).count }
        say(
            "acknowledged \(acknowledged) stored \(stored) code \(refusal.errorCode) full \(refusal.cause.contains("full"))"
        )
        try FileManager.default.removeItem(atPath: target + "/../filler")
        let last = Self.configuration()
        _ = try store.perform { try $0.save(last, of: Self.client) }
        say("stored \(try open().read { try $0.configurations(of: Self.client).count })")
    }

    /// Makes an ext4 file system lose everything that is not on the disk yet (EXT4_IOC_SHUTDOWN, NOLOGFLUSH), and says
    /// what another process had said until then.
    ///
    /// What that process says later does not count: a sync that is under way may return 0 although its journal was aborted
    /// by the ioctl, which a machine without power cannot.
    private func shutDown() throws {
        let descriptor = unsafe Glibc.open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(.ENOENT) }
        var flags: UInt32 = 2
        let until = try String(contentsOfFile: detail, encoding: .utf8)
        guard unsafe ioctl(descriptor, 0x8004_587D, &flags) == 0 else { throw POSIXError(.EIO) }
        say("shut down after \(until.split(separator: "\n").last ?? "nothing")")
    }

    private static func configuration(content: String = "") -> VPNConfiguration {
        var configuration = VPNConfiguration()
        configuration.generation = 0
        configuration.protocolConfiguration = .tunnelProvider(
            TunnelProviderProtocol(
                providerBundleIdentifier: "com.example.tunnel", serverAddress: "s",
                providerConfiguration: ["content": .string(content)]))
        return configuration
    }
}
