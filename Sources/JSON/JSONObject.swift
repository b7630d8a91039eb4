/// The members of a JSON object: keys are unique, and iterated in the order of their UTF-8 bytes.
///
/// Keys are the same when their bytes are: `"é"` composed and decomposed are two keys. Looking up a key takes
/// logarithmic time, setting one linear time in the number of members.
public struct JSONObject: Sendable {
    private var members: [Member]

    struct Member: Sendable {
        let key: String
        var value: JSONValue
    }

    /// An object without members.
    public init() {
        members = []
    }

    /// Takes members in any order; of two with one key, the later one stays.
    init(lastOfEach members: [(String, JSONValue)]) {
        self.init()
        for (key, value) in members {
            self[key] = value
        }
    }

    /// Takes members in any order and refuses a key that comes twice.
    init(unique members: [Member]) throws(JSONError) {
        let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        for (member, next) in zip(sorted, sorted.dropFirst())
        where member.key.utf8.elementsEqual(next.key.utf8) {
            throw .duplicateKey(member.key)
        }
        self.members = sorted
    }

    /// The value of a member; setting nil removes the member, setting `.null` writes a JSON null.
    public subscript(key: String) -> JSONValue? {
        get {
            let (index, found) = position(of: key)
            return found ? members[index].value : nil
        }
        set {
            let (index, found) = position(of: key)
            switch (found, newValue) {
            case (true, .some(let value)): members[index].value = value
            case (false, .some(let value)): members.insert(Member(key: key, value: value), at: index)
            case (true, .none): members.remove(at: index)
            case (false, .none): break
            }
        }
    }

    /// Where the key is, or would be inserted.
    private func position(of key: String) -> (index: Int, found: Bool) {
        var low = 0
        var high = members.count
        while low < high {
            let middle = low + (high - low) / 2
            if members[middle].key.utf8.lexicographicallyPrecedes(key.utf8) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return (low, low < members.count && members[low].key.utf8.elementsEqual(key.utf8))
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
            $0.key.utf8.elementsEqual($1.key.utf8) && $0.value == $1.value
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
    /// Of two members with one key, the later one stays.
    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self.init(lastOfEach: members)
    }
}
