import Formats
public import Foundation

/// The keys for receipts: the one that signs, former ones that verifiers still need, and the next one.
///
/// Stored as a JWK set of private keys (RFC 7517 §5) whose members contain the time at which they begin to
/// sign. A verifier caches the published set for a while, so a key is published long before it signs. A key
/// that no longer signs remains published until its last receipt has expired. [ours]
public struct ReceiptKeySet: Sendable {
    /// In the order in which they sign; never empty.
    public let keys: [ReceiptKey]
    /// The JSON of `/.well-known/jwks.json`.
    public let published: [UInt8]

    public static let maximumCount = 16

    /// The number of seconds for which a verifier may cache the published set. [ours]
    public static let maximumAge = 300

    /// The minimum number of seconds before a new key signs: by then all verifiers and servers have read
    /// the set again. [ours]
    public static let publishedBefore = 3_600

    /// The number of seconds for which a key that no longer signs remains published: longer than receipts
    /// live and clocks differ. [ours]
    static let publishedAfter = 3_600

    /// Creates a set with one new key that signs immediately.
    public init(at now: Date) {
        self.init(ordered: [ReceiptKey(signsFrom: now)])
    }

    private init(ordered keys: [ReceiptKey]) {
        self.keys = keys
        let published: JSONValue = ["keys": .array(keys.map { .object($0.publicJWK) })]
        self.published = published.serialized()
    }

    /// The published set of a server that signs no receipts.
    public static let publishedNone = JSONValue.object(["keys": []]).serialized()

    /// The key that signs at a time.
    public func signing(at now: Date) -> ReceiptKey {
        // Before the first key's time, the clock is wrong: a receipt that can be verified is better than
        // none.
        keys.last { $0.signsFrom <= now } ?? keys[0]
    }

    // MARK: Rotation

    /// Returns the set with a new key that signs after a while, and without keys whose last receipts have
    /// expired.
    ///
    /// - Throws: `ReceiptKeyError.nextKeyIsThere` if the key that was added last does not sign yet.
    public func rotated(at now: Date) throws(ReceiptKeyError) -> ReceiptKeySet {
        guard keys.allSatisfy({ $0.signsFrom <= now }) else { throw .nextKeyIsThere }
        // A key stops signing when the next one begins.
        let needed = zip(keys, keys.dropFirst()).filter { _, next in
            next.signsFrom.addingTimeInterval(Double(Self.publishedAfter)) > now
        }.map(\.0)
        let next = ReceiptKey(signsFrom: now.addingTimeInterval(Double(Self.publishedBefore)))
        return ReceiptKeySet(ordered: needed + [keys[keys.count - 1], next])
    }

    // MARK: JSON

    /// Reads the output of ``serialized()``.
    public init(parsing text: [UInt8]) throws(ReceiptKeyError) {
        let set: JSONValue
        do throws(JSONError) {
            set = try JSONValue(parsing: text)
        } catch {
            throw .notAKeySet("\(error)")
        }
        guard let members = set.objectValue?["keys"]?.arrayValue else {
            throw .notAKeySet("it has no array 'keys'")
        }
        guard !members.isEmpty else { throw .noKey }
        guard members.count <= Self.maximumCount else { throw .tooManyKeys }
        var keys: [ReceiptKey] = []
        for (index, member) in members.enumerated() {
            let key = try ReceiptKey(jwk: member, index: index)
            guard !keys.contains(where: { $0.id == key.id }) else { throw .duplicateKey(index: index) }
            keys.append(key)
        }
        // Swift's sort is stable: if two keys begin at the same time, the later one in the file signs.
        self.init(ordered: keys.sorted { $0.signsFrom < $1.signsFrom })
    }

    /// Returns the private keys, for a file that no other user can read.
    public func serialized() -> [UInt8] {
        let set: JSONValue = ["keys": .array(keys.map { .object($0.privateJWK) })]
        return Array((set.prettyPrinted() + "\n").utf8)
    }
}
