/// Reads items one after the other, each byte once.
///
/// Lengths are definite, an item has at most four levels, an array or a map at most 16 entries and a map no key twice
/// [ours; what devices send needs no more]. Tags, floats, simple values and indefinite lengths are refused. A number may be
/// written longer than it need be: what is compared is what was read, never how it was written.
struct CBORReader {
    /// What is not read yet.
    private(set) var rest: ArraySlice<UInt8>
    /// How many bytes were looked at: bounded by the bytes there are, whatever they say.
    private(set) var steps = 0

    static let maximumDepth = 4
    static let maximumEntries = 16

    init(_ bytes: some Sequence<UInt8>) {
        rest = ArraySlice(bytes)
    }

    /// The one item that the bytes are.
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

    private mutating func item(depth: Int) throws(AttestationRefusal) -> CBORValue {
        guard depth <= Self.maximumDepth else { throw .format(.tooDeep) }
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
        // A tag, a float and "break" are no lengths, however they go on.
        guard type <= 5 else { throw .format(.unsupportedType) }
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
