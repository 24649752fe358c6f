import ProviderTestKit
import Testing

@Suite("Datagram network")
struct DatagramNetworkTests {
    /// Sends numbered datagrams from the left, one per second, and collects what arrives in a minute more.
    private func arrivals(_ count: UInt8, _ script: DatagramScript) async -> [UInt8] {
        let clock = VirtualClock()
        let network = DatagramNetwork(clock: clock, script: script)
        for number in 0..<count {
            network.left.send([number])
            await clock.advance(by: .seconds(1))
        }
        await clock.advance(by: .seconds(60))
        network.right.close()
        var arrived: [UInt8] = []
        while let datagram = await network.right.receive() { arrived += datagram }
        return arrived
    }

    @Test("A perfect network delivers at once, both ways")
    func perfect() async {
        let network = DatagramNetwork(clock: VirtualClock())
        network.left.send([1])
        network.right.send([2])
        #expect(await network.right.receive() == [1])
        #expect(await network.left.receive() == [2])
        #expect(network.left.sentDatagrams == [[1]])
    }

    @Test("A delay is virtual time")
    func delay() async {
        let clock = VirtualClock()
        let network = DatagramNetwork(clock: clock, script: .delayed(by: .seconds(3)))
        let arrival = Task {
            let datagram = await network.right.receive()
            return (datagram, clock.now.offset)
        }
        network.left.send([1])
        await clock.advance(by: .seconds(10))
        #expect(await arrival.value.0 == [1])
    }

    @Test("Named datagrams of one end are lost")
    func loss() async {
        #expect(await arrivals(5, .losing([0, 3], from: .left)) == [1, 2, 4])
        #expect(await arrivals(3, .losing([0, 1, 2], from: .right)) == [0, 1, 2])
    }

    @Test("Copies may arrive late, twice and out of order, as the script says")
    func script() async {
        let script = DatagramScript { $0.number == 0 ? [.seconds(5), .milliseconds(1)] : [.milliseconds(1)] }
        #expect(await arrivals(3, script) == [0, 1, 2, 0])
    }

    @Test("Chance is the same for the same seed, another for another, and close to its probabilities")
    func chance() async {
        func script(_ seed: UInt64) -> DatagramScript {
            .random(seed: seed, loss: 0.3, duplication: 0.1, delay: .zero...(.seconds(4)))
        }
        let first = await arrivals(200, script(1))
        #expect(await arrivals(200, script(1)) == first)
        #expect(await arrivals(200, script(2)) != first)
        #expect((110...170).contains(Set(first).count), "\(Set(first).count) of 200 at a loss of 0.3")
        #expect(first.count > Set(first).count)
        #expect(first != first.sorted())
    }
}
