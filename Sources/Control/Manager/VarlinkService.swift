/// `org.varlink.service`: what every Varlink service answers to everybody.
public enum VarlinkService {
    /// The name of the interface.
    public static let interface = "org.varlink.service"
    /// Tells what the service is.
    public static let getInfo = interface + ".GetInfo"
    /// Gives the text of an interface.
    public static let getInterfaceDescription = interface + ".GetInterfaceDescription"

    /// The reply of `GetInfo`.
    public struct Info: Codable, Sendable, Equatable {
        public var vendor: String
        public var product: String
        public var version: String
        public var url: String
        public var interfaces: [String]

        /// The information about the manager of this version.
        public init(version: String) {
            vendor = "ProviderHost"
            product = "providerhost"
            self.version = version
            url = ""
            interfaces = [VarlinkService.interface, ManagerMethod.interface]
        }
    }

    /// The parameters of `GetInterfaceDescription`, and of the error `InterfaceNotFound`.
    public struct InterfaceName: Codable, Sendable, Equatable {
        public var interface: String

        /// Names an interface.
        public init(interface: String) { self.interface = interface }
    }

    /// The reply of `GetInterfaceDescription`.
    public struct Description: Codable, Sendable, Equatable {
        public var description: String

        /// Wraps a text.
        public init(description: String) { self.description = description }
    }

    /// The errors of the interface.
    public enum Failure: Sendable, Equatable {
        case interfaceNotFound(String)
        case methodNotFound(String)
        case methodNotImplemented(String)
        case invalidParameter(String)

        /// The error as a reply.
        public func encoded() throws(WireError) -> [UInt8] {
            switch self {
            case .interfaceNotFound(let name): try error("InterfaceNotFound", ["interface": name])
            case .methodNotFound(let name): try error("MethodNotFound", ["method": name])
            case .methodNotImplemented(let name): try error("MethodNotImplemented", ["method": name])
            case .invalidParameter(let name): try error("InvalidParameter", ["parameter": name])
            }
        }

        private func error(_ name: String, _ parameters: [String: String]) throws(WireError) -> [UInt8] {
            try WireCodec.error(VarlinkService.interface + "." + name, parameters)
        }
    }
}
