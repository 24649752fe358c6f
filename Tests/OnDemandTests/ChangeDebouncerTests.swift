import OnDemand
import Testing

@Suite("Changes that come in bursts")
struct ChangeDebouncerTests {
    private let start = ContinuousClock.now

    @Test("are looked at once, when it was quiet for a second")
    func quiet() {
        var debouncer = ChangeDebouncer()
        #expect(debouncer.deadline == nil)
        debouncer.note(at: start)
        debouncer.note(at: start + .milliseconds(900))
        let early = debouncer.takeDue(at: start + .milliseconds(1800))
        let due = debouncer.takeDue(at: start + .milliseconds(1900))
        let again = debouncer.takeDue(at: start + .seconds(9))
        #expect(!early && due && !again && debouncer.deadline == nil)
    }

    @Test("are looked at every five seconds while they do not rest")
    func limit() {
        var debouncer = ChangeDebouncer()
        var looks: [Duration] = []
        for step in 0..<150 {
            let now = start + .milliseconds(step * 100)
            if debouncer.takeDue(at: now) { looks.append(now - start) }
            debouncer.note(at: now)
        }
        #expect(looks == [.seconds(5), .seconds(10)])
    }
}
