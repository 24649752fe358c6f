internal import NetworkSettings
internal import PacketPath
internal import ProviderKit

/// The making of the device, and what is set beside it.
extension LinuxInterface {
    /// Offloads are the worker's choice: the batch face takes packet by packet.
    static var deviceOptions: PathOptions {
        var options = PathOptions()
        options.tunTSO = false
        options.tunUSO = false
        return options
    }

    /// The packet filter and the tables of ours in it; nil where none works and nothing asks for it.
    static func findFilter(isNeeded: Bool) throws(FilterError) -> (NftablesProgram, [FilterTableName])? {
        do throws(FilterError) {
            let program = try NftablesProgram()
            return (program, try program.tables())
        } catch {
            if isNeeded { throw error }
            return nil
        }
    }

    /// Creates a TUN device whose name nothing else has.
    static func makeDevice(name: String) throws(InterfaceError) -> TUNDevice {
        do {
            return try TUNDevice(name: name, existing: .refuse, options: deviceOptions)
        } catch {
            throw refusal(name, error)
        }
    }

    private static func refusal(_ name: String, _ error: PathError) -> InterfaceError {
        switch error.errno {
        case 16: InterfaceError(.exists, cause: "The interface \(name) exists already.")
        case 1: InterfaceError(.capabilityMissing)
        case 2, 6, 13, 19: InterfaceError(.deviceMissing)
        default: InterfaceError(.notCreated, cause: "The interface \(name) could not be created: \(error.message).")
        }
    }
}
