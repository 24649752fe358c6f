/// One deadline per peer slot, the earliest first: a binary heap that knows where each slot stands.
struct DeadlineHeap {
    private var heap: [UInt32] = []
    private var deadlines: [Instant] = []
    private var positions: [Int] = []

    /// The earliest deadline.
    var next: Instant? { heap.first.map { deadlines[Int($0)] } }
    /// The slot whose deadline is the earliest.
    var first: UInt32? { heap.first }

    /// Sets the deadline of a slot; `.distantFuture` removes it.
    mutating func set(_ slot: UInt32, to deadline: Instant) {
        while deadlines.count <= Int(slot) {
            deadlines.append(.distantFuture)
            positions.append(-1)
        }
        guard deadlines[Int(slot)] != deadline else { return }
        deadlines[Int(slot)] = deadline
        var position = positions[Int(slot)]
        if deadline == .distantFuture {
            let last = heap.removeLast()
            positions[Int(slot)] = -1
            guard last != slot else { return }
            heap[position] = last
            positions[Int(last)] = position
        } else if position < 0 {
            position = heap.count
            heap.append(slot)
            positions[Int(slot)] = position
        }
        siftUp(position)
        siftDown(position)
    }

    private mutating func siftUp(_ start: Int) {
        var position = start
        while position > 0, isEarlier(position, (position - 1) / 2) {
            swapAt(position, (position - 1) / 2)
            position = (position - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var position = start
        while true {
            var least = position
            for child in [2 * position + 1, 2 * position + 2] where child < heap.count && isEarlier(child, least) {
                least = child
            }
            guard least != position else { return }
            swapAt(position, least)
            position = least
        }
    }

    private func isEarlier(_ left: Int, _ right: Int) -> Bool {
        deadlines[Int(heap[left])] < deadlines[Int(heap[right])]
    }

    private mutating func swapAt(_ left: Int, _ right: Int) {
        heap.swapAt(left, right)
        positions[Int(heap[left])] = left
        positions[Int(heap[right])] = right
    }
}
