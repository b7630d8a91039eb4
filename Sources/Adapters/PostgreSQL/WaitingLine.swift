import Foundation

/// Tasks that wait for a connection: in turns between the parties that they wait for, and in order among one party's own.
struct WaitingLine {
    typealias WaiterID = PoolStateMachine.WaiterID

    private var lines: [UUID?: [WaiterID]] = [:]
    /// The parties with waiting tasks, the next first.
    private var turns: [UUID?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ waiter: WaiterID, for party: UUID?) {
        if lines[party] == nil { turns.append(party) }
        lines[party, default: []].append(waiter)
        count += 1
    }

    /// Removes the task whose turn it is.
    mutating func popFirst() -> WaiterID? {
        guard let party = turns.first, let waiter = lines[party]?.first else { return nil }
        turns.append(turns.removeFirst())
        remove(at: 0, of: party)
        return waiter
    }

    /// - Returns: Whether the task was waiting.
    mutating func remove(_ waiter: WaiterID) -> Bool {
        for (party, line) in lines {
            guard let index = line.firstIndex(of: waiter) else { continue }
            remove(at: index, of: party)
            return true
        }
        return false
    }

    /// Removes the last task of the party with the most waiting tasks, unless the party would then have fewer than the other one.
    mutating func popLast(toMakeRoomFor other: UUID?) -> WaiterID? {
        guard let (party, line) = lines.max(by: { $0.value.count < $1.value.count }), let waiter = line.last,
            line.count > (lines[other]?.count ?? 0) + 1
        else { return nil }
        remove(at: line.count - 1, of: party)
        return waiter
    }

    mutating func removeAll() -> [WaiterID] {
        var all: [WaiterID] = []
        while let waiter = popFirst() { all.append(waiter) }
        return all
    }

    private mutating func remove(at index: Int, of party: UUID?) {
        lines[party]?.remove(at: index)
        if lines[party]?.isEmpty == true {
            lines[party] = nil
            turns.removeAll { $0 == party }
        }
        count -= 1
    }
}
