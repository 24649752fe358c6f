/// What a crowd got from a gateway that it asked for settings; the hidden verb `hellos` prints it as JSON.
struct HelloReport: Codable, Equatable {
    /// Peers that got a snapshot of their own.
    var answered = 0
    /// HELLOs that were sent a second time or more, because no answer came within half a second.
    var repeated = 0
    /// From the first HELLO to the last answer.
    var seconds: Double = 0
    /// CPU seconds of the gateway's processes meanwhile, and until it had written down what it heard.
    var processorSeconds: Double = 0
}
