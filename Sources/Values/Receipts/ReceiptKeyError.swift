/// The reason why receipt keys cannot be used; contains nothing of the keys themselves.
public enum ReceiptKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    case notAKeySet(String)
    case noKey
    case tooManyKeys
    case unusableKey(index: Int, reason: String)
    case duplicateKey(index: Int)
    case nextKeyIsThere

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .notAKeySet: "not_a_key_set"
        case .noKey: "no_key"
        case .tooManyKeys: "too_many_keys"
        case .unusableKey: "unusable_key"
        case .duplicateKey: "duplicate_key"
        case .nextKeyIsThere: "next_key_is_there"
        }
    }

    public var description: String {
        switch self {
        case .notAKeySet(let reason): "the keys for receipts are not a JWK set (RFC 7517): \(reason)"
        case .noKey: "the set has no key for receipts"
        case .tooManyKeys: "the set has more than \(ReceiptKeySet.maximumCount) keys for receipts"
        case .unusableKey(let index, let reason): "the key for receipts keys[\(index)] \(reason)"
        case .duplicateKey(let index): "the key for receipts keys[\(index)] is in the set already"
        case .nextKeyIsThere: "the set already has a next key for receipts that does not sign yet"
        }
    }
}
