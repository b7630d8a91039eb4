/// Something that reads bytes which others write: whatever they are, it gives a value or a refusal by name.
///
/// Tried with bytes that a fuzzer makes up (`deploy/checks/fuzz`), and with those of `Tests/FuzzTargetsTests/Seeds` in each
/// run of the tests. A target stops the process where what it read breaks a promise.
public struct FuzzTarget: Sendable {
    public enum Body: Sendable {
        case synchronous(@Sendable ([UInt8]) -> Void)
        case asynchronous(@Sendable ([UInt8]) async -> Void)
    }

    /// Its seeds are in the folder of this name.
    public let name: String
    /// In bytes: what the target reads is longer than this only as more of the same.
    public let maximumLength: Int
    public let body: Body

    init(_ name: String, upTo maximumLength: Int, _ body: @escaping @Sendable ([UInt8]) -> Void) {
        self.name = name
        self.maximumLength = maximumLength
        self.body = .synchronous(body)
    }

    init(
        awaiting name: String, upTo maximumLength: Int, _ body: @escaping @Sendable ([UInt8]) async -> Void
    ) {
        self.name = name
        self.maximumLength = maximumLength
        self.body = .asynchronous(body)
    }

    public static let all =
        [url, urlPrefix, address, json, payload, csv, jsonLines, archive, association]
        + [copy, table, image, cbor, authenticatorData, attestation, assertion, assertionField]
        + [challenge, token, receipt, receiptKeys]
}
