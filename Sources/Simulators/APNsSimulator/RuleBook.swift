/// The active rules, each with its remaining number of times. The first matching rule applies.
struct RuleBook: Sendable {
    private var entries: [Entry] = []

    private struct Entry: Sendable {
        var rule: Rule
        var random: SplitMix64
    }

    /// The remaining rules. A rule without remaining times is removed.
    var rules: [Rule] {
        get { entries.map(\.rule) }
        set { entries = newValue.map { Entry(rule: $0, random: SplitMix64(seed: $0.seed)) } }
    }

    mutating func append(_ rule: Rule) {
        entries.append(Entry(rule: rule, random: SplitMix64(seed: rule.seed)))
    }

    /// The rule for a request to a device; nil if none applies.
    mutating func rule(forDevice device: String?) -> Rule? {
        guard !entries.isEmpty else { return nil }
        return use { !$0.effect.isForConnections && ($0.device == nil || $0.device == device) }
    }

    /// The rule for a new connection; nil if none applies.
    mutating func ruleForConnection() -> Rule? {
        use { $0.effect.isForConnections }
    }

    private mutating func use(_ applies: (Rule) -> Bool) -> Rule? {
        for index in entries.indices where applies(entries[index].rule) {
            let probability = entries[index].rule.probability
            if probability < 1, Double.random(in: 0..<1, using: &entries[index].random) >= probability {
                continue
            }
            let rule = entries[index].rule
            if let times = rule.times {
                if times > 1 { entries[index].rule.times = times - 1 } else { entries.remove(at: index) }
            }
            return rule
        }
        return nil
    }
}

/// A sequence of pseudorandom numbers from a seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
