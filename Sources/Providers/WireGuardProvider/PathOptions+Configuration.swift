import PacketPath
import ProviderKit
import WireGuard

extension PathOptions {
    /// What neither the environment, nor the file, nor the provider's own values switch off, and the number of threads.
    ///
    /// - Parameters:
    ///   - environment: Looks a variable up, such as PROVIDERHOST_NO_UDP_GSO.
    ///   - configuration: The file with its `# switch_off = …`, where there is one.
    ///   - values: The provider's configuration; `switch_off` in it is such a list as text, or an array of names, and
    ///     `threads` goes before the file's.
    /// - Throws: ``EngineError`` when the values name no feature or no number of threads.
    init(
        environment: (String) -> String?, _ configuration: Configuration?, _ values: [String: PropertyListValue]
    ) throws(EngineError) {
        self.init(environment: environment)
        let features = try PathFeature.switchedOff(by: values[CommentKey.switchOff.rawValue])
        for feature in features.union(configuration?.interface.switchedOff ?? []) {
            self[keyPath: feature.option] = false
        }
        if let threads = configuration?.interface.threads { self.threads = threads }
        if let value = values[CommentKey.threads.rawValue] {
            guard let threads = value.integerValue, Configuration.threadCounts.contains(threads) else {
                throw EngineError.configuration(
                    "threads of the provider's configuration is no such number; expected "
                        + "\(CommentKey.threads.expectation).")
            }
            self.threads = threads
        }
    }

    /// The names of what is switched off, for the log.
    var switchedOff: [String] { PathFeature.allCases.filter { !self[keyPath: $0.option] }.map(\.rawValue) }
}

extension PathFeature {
    fileprivate var option: WritableKeyPath<PathOptions, Bool> {
        switch self {
        case .tunTSO: \.tunTSO
        case .tunUSO: \.tunUSO
        case .udpGSO: \.udpGSO
        case .udpGRO: \.udpGRO
        case .wideAEAD: \.wideAEAD
        }
    }

    fileprivate static func switchedOff(by value: PropertyListValue?) throws(EngineError) -> Set<PathFeature> {
        let list: String
        switch value {
        case nil: return []
        case .string(let text): list = text
        case .array(let items) where items.allSatisfy({ $0.stringValue != nil }):
            list = items.compactMap(\.stringValue).joined(separator: ",")
        default: throw refusal("a value that is no list of names")
        }
        do throws(PathFeature.Unknown) {
            return try PathFeature.parse(list)
        } catch {
            throw refusal("'\(error.item.prefix(40))'")
        }
    }

    private static func refusal(_ what: String) -> EngineError {
        let key = CommentKey.switchOff
        return .configuration(
            "\(key.rawValue) of the provider's configuration has \(what); expected \(key.expectation).")
    }
}
