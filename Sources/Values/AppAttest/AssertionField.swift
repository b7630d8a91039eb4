/// The field `Doorstep-Assertion` of a signed request: `key=:…:, challenge=:…:, assertion=:…:`.
///
/// A dictionary (RFC 9651 §3.2): unknown members and parameters are ignored, and of two members with one
/// name the last counts.
public struct AssertionField: Sendable, Hashable {
    /// 32 bytes.
    public let keyID: [UInt8]
    /// The challenge's text, as the server sent it.
    public let challenge: [UInt8]
    public let assertion: [UInt8]

    /// The maximum length in bytes: twice that of a field with the longest assertion. [ours]
    public static let maximumLength = 8_192

    /// Reads the field's value; join several fields by commas first (RFC 9110 §5.2).
    ///
    /// - Throws: `AttestationRefusal.format(.field)` if the value is no dictionary, lacks a member, or has
    ///   a member that is no byte sequence.
    public init(_ value: String) throws(AttestationRefusal) {
        guard value.utf8.count <= Self.maximumLength,
            let members = StructuredDictionary.byteSequences(in: value),
            let keyID = members["key"] ?? nil, keyID.count == 32,
            let challenge = members["challenge"] ?? nil, let assertion = members["assertion"] ?? nil
        else { throw .format(.field) }
        self.keyID = keyID
        self.challenge = challenge
        self.assertion = assertion
    }
}
