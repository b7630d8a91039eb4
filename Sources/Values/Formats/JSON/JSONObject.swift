/// The members of a JSON object: keys are unique, and iterated in the order of their UTF-8 bytes.
///
/// Keys are the same when their bytes are: `"é"` composed and decomposed are two keys. Looking up a key takes
/// logarithmic time, setting one linear time in the number of members; adding keys in their order takes
/// constant time each.
public struct JSONObject: Sendable {
    /// In the order of their keys' bytes.
    private(set) var members: [Member]

    struct Member: Sendable {
        let key: String
        var value: JSONValue
    }

    /// An object without members.
    public init() {
        members = []
    }

    /// An object without members that has room for some.
    public init(minimumCapacity: Int) {
        members = []
        members.reserveCapacity(minimumCapacity)
    }

    /// Creates an object from members in any order; of two with one key, the later one remains.
    init(lastOfEach members: [(String, JSONValue)]) {
        self.init(minimumCapacity: members.count)
        for (key, value) in members {
            self[key] = value
        }
    }

    /// Creates an object from members in any order; refuses duplicate keys.
    init(unique members: consuming [Member]) throws(JSONError) {
        Self.sort(&members)
        for index in members.indices.dropFirst()
        where members[index].key.hasSameBytes(as: members[index - 1].key) {
            throw .duplicateKey(members[index].key)
        }
        self.members = members
    }

    /// Returns members from any order; of those with one key, the last.
    static func lastOfEach(_ members: consuming [Member]) -> (object: JSONObject, repeatedKey: String?) {
        var object = JSONObject()
        var repeated: String?
        var places: [[UInt8]: Int] = [:]
        var kept: [Member] = []
        for member in members {
            if let place = places.updateValue(kept.count, forKey: Array(member.key.utf8)) {
                repeated = repeated ?? member.key
                places[Array(member.key.utf8)] = place
                kept[place] = member
            } else {
                kept.append(member)
            }
        }
        Self.sort(&kept)
        object.members = kept
        return (object, repeated)
    }

    /// The value of a member; setting nil removes the member, setting `.null` writes a JSON null.
    public subscript(key: String) -> JSONValue? {
        get {
            index(of: key).map { members[$0].value }
        }
        set {
            guard let newValue else {
                if let index = index(of: key) { members.remove(at: index) }
                return
            }
            let member = Member(key: key, value: newValue)
            if members.isEmpty || members[members.count - 1].key.precedesInBytes(key) {
                members.append(member)
            } else if let index = index(of: key) {
                members[index] = member
            } else {
                members.insert(member, at: insertionIndex(of: key))
            }
        }
    }

    /// Returns the index of the key.
    func index(of key: String) -> Int? {
        if members.count <= Self.fewMembers {
            return members.withUnsafeBufferPointer { members in
                for index in members.indices where members[index].key.hasSameBytes(as: key) { return index }
                return nil
            }
        }
        let index = insertionIndex(of: key)
        return index < members.count && members[index].key.hasSameBytes(as: key) ? index : nil
    }

    /// Up to this size, a linear search is faster than a binary one: most keys differ in their length.
    private static let fewMembers = 16

    /// Returns the number of keys before this one.
    private func insertionIndex(of key: String) -> Int {
        var low = 0
        var high = members.count
        while low < high {
            let middle = low + (high - low) / 2
            if members[middle].key.precedesInBytes(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    /// Sorts few members by insertion, in place.
    private static func sort(_ members: inout [Member]) {
        guard members.count <= fewMembers else {
            members.sort { $0.key.precedesInBytes($1.key) }
            return
        }
        members.withUnsafeMutableBufferPointer { members in
            for sorted in members.indices.dropFirst() {
                var index = sorted
                while index > 0, members[index].key.precedesInBytes(members[index - 1].key) {
                    members.swapAt(index, index - 1)
                    index -= 1
                }
            }
        }
    }
}

extension JSONObject: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { members.count }

    public subscript(position: Int) -> (key: String, value: JSONValue) {
        (members[position].key, members[position].value)
    }
}

extension JSONObject: Hashable {
    public static func == (left: Self, right: Self) -> Bool {
        left.members.elementsEqual(right.members) {
            $0.key.hasSameBytes(as: $1.key) && $0.value == $1.value
        }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.count)
        for member in members {
            hasher.combine(member.key)
            hasher.combine(member.value)
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Of two members with one key, the later one remains.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init(lastOfEach: members)
    }
}
