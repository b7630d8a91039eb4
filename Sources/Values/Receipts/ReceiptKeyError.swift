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
        case .notAKeySet(let reason): "the keys for receipts are no JWK set (RFC 7517): \(reason)"
        case .noKey: "there is no key for receipts in the set"
        case .tooManyKeys: "there are more than \(ReceiptKeySet.maximumCount) keys for receipts in the set"
        case .unusableKey(let index, let reason): "the key for receipts keys[\(index)] \(reason)"
        case .duplicateKey(let index): "the key for receipts keys[\(index)] is in the set already"
        case .nextKeyIsThere: "the next key for receipts is there already, and does not sign yet"
        }
    }
}
