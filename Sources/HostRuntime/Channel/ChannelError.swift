public import ProviderKit

/// Why a channel between manager and worker failed; every one of them ends the channel.
public enum ChannelError: TunnelError, Equatable {
    /// A frame that is shorter than its header.
    case truncatedHeader(length: Int)
    /// A frame that is none of ours.
    case wrongMagic
    /// The other end speaks another version of the protocol.
    case wrongVersion(UInt16)
    /// A kind of message that this end does not take.
    case unknownMessage(kind: UInt16)
    /// The length in the header is not that of the body.
    case wrongLength(declared: Int, actual: Int)
    /// A body over the limit.
    case bodyTooLong(Int)
    /// A body that does not decode; the text says where.
    case malformedBody(kind: UInt16, reason: String)
    /// A body in memory that is missing, or that its sender could still change.
    case unsealedBody
    /// Not the descriptors that belong to the message.
    case wrongDescriptors(expected: Int, actual: Int)
    /// The frame, or its descriptors, did not fit.
    case truncated
    /// The receiver is too slow: the queue is full.
    case queueFull
    /// The other end is gone.
    case closed
    /// A system call failed.
    case system(call: String, errno: Int32)

    public var errorDomain: String { "ProviderHostChannelErrorDomain" }

    public var errorCode: Int {
        switch self {
        case .truncatedHeader: 1
        case .wrongMagic: 2
        case .wrongVersion: 3
        case .unknownMessage: 4
        case .wrongLength: 5
        case .bodyTooLong: 6
        case .malformedBody: 7
        case .unsealedBody: 8
        case .wrongDescriptors: 9
        case .truncated: 10
        case .queueFull: 11
        case .closed: 12
        case .system: 13
        }
    }

    public var cause: String {
        switch self {
        case .truncatedHeader(let length): "A frame of \(length) bytes is shorter than its header."
        case .wrongMagic: "A frame does not begin with the mark of the channel."
        case .wrongVersion(let found): "The other end speaks version \(found) of the channel, not \(Frame.version)."
        case .unknownMessage(let kind): "There is no message of kind \(kind) in this direction."
        case .wrongLength(let declared, let actual): "A body is declared as \(declared) bytes and has \(actual)."
        case .bodyTooLong(let length): "A body of \(length) bytes is over the limit of \(Frame.bodyLimit)."
        case .malformedBody(let kind, let reason): "The body of a message of kind \(kind) is malformed: \(reason)."
        case .unsealedBody: "A body did not come in sealed memory."
        case .wrongDescriptors(let expected, let actual): "\(actual) descriptors came where \(expected) belong."
        case .truncated: "A frame or its descriptors did not fit."
        case .queueFull: "The other end does not read its messages."
        case .closed: "The other end of the channel is gone."
        case .system(let call, let number): "\(call) failed: \(ChannelSystem.text(of: number))."
        }
    }

    public var remedy: String {
        switch self {
        case .wrongVersion: "Install manager and worker from one build."
        case .closed, .queueFull: "See the last lines of the log for what ended it."
        case .system: "Check the limits of memory and open files."
        default: "The session ends; report it together with the log."
        }
    }
}
