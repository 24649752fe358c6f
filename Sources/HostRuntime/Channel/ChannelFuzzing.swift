/// Drives the decoder of the channel with arbitrary bytes: the body of a libFuzzer target.
///
/// The first byte chooses the direction (bit 0), puts the rest beyond the header into sealed memory (bit 1) and adds up
/// to three descriptors that belong to nothing (bits 2 and 3); all other bytes are the frame.
///
/// - Returns: Whether the frame decoded.
@discardableResult
public func decodeChannelFrame(fuzzing input: [UInt8]) -> Bool {
    guard let choice = input.first else { return false }
    var frame = Array(input.dropFirst())
    var descriptors: [Descriptor] = []
    if choice & 2 != 0, frame.count > Frame.headerLength,
        let memory = try? ChannelSystem.sealedMemory(Array(frame[Frame.headerLength...]))
    {
        frame.removeSubrange(Frame.headerLength...)
        descriptors.append(memory)
    }
    for _ in 0..<(choice >> 2 & 3) {
        if let standIn = try? ChannelSystem.sealedMemory([]) { descriptors.append(standIn) }
    }
    do {
        if choice & 1 == 0 {
            _ = try Frame.decode(frame, descriptors: descriptors, as: WorkerMessage.self)
        } else {
            _ = try Frame.decode(frame, descriptors: descriptors, as: ManagerMessage.self)
        }
        return true
    } catch {
        return false
    }
}
