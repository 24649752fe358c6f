public import ProviderKit

/// Why a registry cannot be used, or a change of it is refused.
public enum RegistryErrorCode: Int, TunnelErrorCode, CaseIterable {
    case notInitialized = 1
    case alreadyInitialized = 2
    case unusableFile = 3
    case invalidName = 4
    case invalidPrefix = 5
    case invalidValue = 6
    case overlap = 7
    case duplicateName = 8
    case duplicateKey = 9
    case addressOutsidePools = 10
    case addressTaken = 11
    case poolExhausted = 12
    case poolInUse = 13
    case unknownPeer = 14
    case unknownPool = 15
    case unknownRoute = 16
    case tooMany = 17
    case clientKeyUnknown = 18

    public static var domain: String { "ProviderHostGatewayErrorDomain" }

    public var cause: String {
        switch self {
        case .notInitialized: "There is no gateway yet."
        case .alreadyInitialized: "There is a gateway already."
        case .unusableFile: "The registry of the gateway cannot be used."
        case .invalidName: "The name is not valid."
        case .invalidPrefix: "The network is not valid."
        case .invalidValue: "The value is not valid."
        case .overlap: "The network overlaps another."
        case .duplicateName: "There is a peer of that name already."
        case .duplicateKey: "Another peer has that public key."
        case .addressOutsidePools: "The address is in none of the pools."
        case .addressTaken: "The address belongs to another peer."
        case .poolExhausted: "The pools have no free address left."
        case .poolInUse: "Peers have addresses of the pool."
        case .unknownPeer: "There is no such peer."
        case .unknownPool: "There is no such pool."
        case .unknownRoute: "There is no such route."
        case .tooMany: "There are too many of them."
        case .clientKeyUnknown: "The private key of the client is not here."
        }
    }

    public var remedy: String {
        switch self {
        case .notInitialized:
            "Make one: `providerhost gateway init --listen-port 51820 --endpoint HOST:PORT --pool 10.7.0.0/24`."
        case .alreadyInitialized: "Change it with the other `gateway` verbs; to begin anew, remove its file first."
        case .unusableFile: "Check the file's owner, its permissions and the free space."
        case .invalidName: "Use 1 to 63 letters, digits, `.`, `_` and `-`, with a letter or digit first."
        case .invalidPrefix: "Write a network such as 10.0.0.0/8 or fd00::/8."
        case .invalidValue: "See `providerhost help gateway`."
        case .overlap: "Give a network of its own."
        case .duplicateName: "Choose another name, or remove that peer first."
        case .duplicateKey: "Every client has a key of its own: make a new one."
        case .addressOutsidePools: "See `providerhost gateway pool list`."
        case .addressTaken: "Choose another one."
        case .poolExhausted: "Add one: `providerhost gateway pool add PREFIX`."
        case .poolInUse: "Give --reassign to move them to other pools, or remove the peers first."
        case .unknownPeer: "See `providerhost gateway peer list`."
        case .unknownPool: "See `providerhost gateway pool list`."
        case .unknownRoute: "See `providerhost gateway route list`."
        case .tooMany: "Remove some, or join them into larger ones."
        case .clientKeyUnknown:
            "Only who made the key has it: add the gateway's key and endpoint (`providerhost gateway show`) to it."
        }
    }
}

/// A registry that cannot be used, or a change that is refused, and why.
public typealias RegistryError = CodedError<RegistryErrorCode>
