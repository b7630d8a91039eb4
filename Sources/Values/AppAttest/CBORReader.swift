/// Reads items one after the other, each byte once.
///
/// Lengths are definite; an item has at most four levels; an array or a map has at most 16 entries; a map's
/// keys are unique [ours; devices send no more]. Tags, floats, simple values and indefinite lengths are
/// refused. A number may be longer than its shortest form: comparisons use values, never encodings.
/// ``extensions(_:)`` skips unknown entries, for which only the rule on indefinite lengths applies.
struct CBORReader {
    /// The unread bytes.
    private(set) var rest: ArraySlice<UInt8>
    /// The number of bytes that were read: at most the number of bytes in the input, whatever their
    /// content.
    private(set) var steps = 0

    static let maximumDepth = 4
    static let maximumEntries = 16

    init(_ bytes: some Sequence<UInt8>) {
        rest = ArraySlice(bytes)
    }

    /// Reads the bytes as exactly one item.
    static func value(_ bytes: some Sequence<UInt8>) throws(AttestationRefusal) -> CBORValue {
        var reader = CBORReader(bytes)
        let item = try reader.item()
        guard reader.rest.isEmpty else { throw .format(.trailingBytes) }
        return item
    }

    /// The next item.
    mutating func item() throws(AttestationRefusal) -> CBORValue {
        try item(depth: 1)
    }

    /// Reads the bytes as exactly one map, and returns only the entries with these names.
    ///
    /// It skips all other entries, whatever their number, type and depth: a relying party ignores unknown
    /// extensions (WebAuthn §9). It refuses indefinite lengths there too, since CTAP2's canonical form has
    /// none.
    static func extensions(
        _ bytes: some Sequence<UInt8>, named names: Set<String>
    ) throws(AttestationRefusal) -> [CBORKey: CBORValue] {
        var reader = CBORReader(bytes)
        let known = try reader.extensions(named: names)
        guard reader.rest.isEmpty else { throw .format(.trailingBytes) }
        return known
    }

    /// Returns the entries of the next map that have one of these names.
    mutating func extensions(named names: Set<String>) throws(AttestationRefusal) -> [CBORKey: CBORValue] {
        let (type, count) = try head()
        guard type == 5 else { throw .format(.extensions) }
        var known: [CBORKey: CBORValue] = [:]
        var left = count
        while left > 0 {
            left -= 1
            guard let name = try name(), names.contains(name) else {
                try skip()
                continue
            }
            guard known.updateValue(try item(depth: 2), forKey: .text(name)) == nil else {
                throw .format(.duplicateKey)
            }
        }
        return known
    }

    /// Returns the next item if it is a text in UTF-8; skips any other item.
    private mutating func name() throws(AttestationRefusal) -> String? {
        guard rest.first.map({ $0 >> 5 }) == 3 else {
            try skip()
            return nil
        }
        let (_, length) = try head()
        return String(validating: try take(length), as: UTF8.self)
    }

    /// Skips the next item without recursion, so that its depth needs no limit.
    private mutating func skip() throws(AttestationRefusal) {
        var left: UInt64 = 1
        while left > 0 {
            left -= 1
            let (type, argument) = try head()
            var parts: UInt64 = 0
            switch type {
            case 2, 3: _ = try take(argument)
            case 4: parts = argument
            case 5:
                // Each entry needs two bytes.
                guard argument <= UInt64(rest.count) else { throw .format(.truncated) }
                parts = argument * 2
            case 6: parts = 1
            default: break
            }
            // Each item needs a byte, so this bounds the sum as well.
            guard parts <= UInt64(rest.count), left + parts <= UInt64(rest.count) else {
                throw .format(.truncated)
            }
            left += parts
        }
    }

    private mutating func item(depth: Int) throws(AttestationRefusal) -> CBORValue {
        guard depth <= Self.maximumDepth else { throw .format(.tooDeep) }
        // A tag, a float and "break" are not valid lengths, whatever follows.
        guard rest.first.map({ $0 >> 5 <= 5 }) != false else {
            _ = try byte()
            throw .format(.unsupportedType)
        }
        let (type, argument) = try head()
        switch type {
        case 0, 1:
            guard let number = Int64(exactly: argument) else { throw .format(.integerTooLarge) }
            return .integer(type == 0 ? number : -1 - number)
        case 2:
            return .bytes(Array(try take(argument)))
        case 3:
            guard let text = String(validating: try take(argument), as: UTF8.self) else {
                throw .format(.invalidText)
            }
            return .text(text)
        case 4:
            var elements: [CBORValue] = []
            for _ in 0..<(try entries(argument)) { elements.append(try item(depth: depth + 1)) }
            return .array(elements)
        case 5:
            var map: [CBORKey: CBORValue] = [:]
            for _ in 0..<(try entries(argument)) {
                let key = try key(depth: depth + 1)
                guard map.updateValue(try item(depth: depth + 1), forKey: key) == nil else {
                    throw .format(.duplicateKey)
                }
            }
            return .map(map)
        default:
            throw .format(.unsupportedType)
        }
    }

    private mutating func key(depth: Int) throws(AttestationRefusal) -> CBORKey {
        switch try item(depth: depth) {
        case .integer(let number): return .integer(number)
        case .text(let text): return .text(text)
        case .bytes, .array, .map: throw .format(.keyType)
        }
    }

    /// The major type and the number after it (RFC 8949 §3).
    private mutating func head() throws(AttestationRefusal) -> (type: UInt8, argument: UInt64) {
        let initial = try byte()
        let type = initial >> 5
        let argument: UInt64
        switch initial & 0x1F {
        case let small where small < 24: argument = UInt64(small)
        case 24: argument = try number(bytes: 1)
        case 25: argument = try number(bytes: 2)
        case 26: argument = try number(bytes: 4)
        case 27: argument = try number(bytes: 8)
        case 31: throw .format(.indefiniteLength)
        default: throw .format(.unsupportedType)
        }
        return (type, argument)
    }

    private func entries(_ count: UInt64) throws(AttestationRefusal) -> UInt64 {
        guard count <= Self.maximumEntries else { throw .format(.tooManyEntries) }
        return count
    }

    private mutating func number(bytes count: UInt64) throws(AttestationRefusal) -> UInt64 {
        try take(count).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func byte() throws(AttestationRefusal) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .format(.truncated) }
        steps += 1
        return byte
    }

    private mutating func take(_ count: UInt64) throws(AttestationRefusal) -> ArraySlice<UInt8> {
        guard count <= UInt64(rest.count) else { throw .format(.truncated) }
        let taken = rest.prefix(Int(count))
        rest = rest.dropFirst(taken.count)
        steps += taken.count
        return taken
    }
}
