import Crypto

/// The active faults, each with its remaining number of times. The first matching fault occurs.
struct FaultBook: Sendable {
    private var entries: [(fault: Fault, chances: Int)] = []

    /// The remaining faults. A fault without remaining times is removed.
    var faults: [Fault] {
        get { entries.map(\.fault) }
        set { entries = newValue.map { ($0, 0) } }
    }

    mutating func fault(for method: String, _ path: Substring) -> Fault? {
        for index in entries.indices {
            let fault = entries[index].fault
            guard fault.method == nil || fault.method == method, path.hasPrefix(fault.path) else { continue }
            entries[index].chances += 1
            guard Self.happens(fault, chance: entries[index].chances) else { continue }
            if let times = fault.times {
                if times > 1 { entries[index].fault.times = times - 1 } else { entries.remove(at: index) }
            }
            return fault
        }
        return nil
    }

    /// The decision depends only on the seed and the number of the request.
    private static func happens(_ fault: Fault, chance: Int) -> Bool {
        guard fault.probability < 1 else { return true }
        let digest = SHA256.hash(data: Array("\(fault.seed).\(chance)".utf8))
        let number = digest.prefix(6).reduce(0.0) { $0 * 256 + Double($1) }
        return number < fault.probability * 0x1p48
    }
}
