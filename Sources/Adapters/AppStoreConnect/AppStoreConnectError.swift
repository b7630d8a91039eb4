/// The reason why a request to App Store Connect failed.
public enum AppStoreConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The key is not a P-256 private key in PKCS #8, or its identifiers are not valid.
    case unusableKey
    /// A read-only client was asked to write: nothing was sent.
    case readsOnly
    /// The key's rate limit could not be tracked: nothing more is sent.
    case notPaced(String)
    /// The caller may no longer send requests: nothing was sent.
    case withdrawn(String)
    /// The reason in a few words. They contain neither URL nor body.
    case noResponse(String)
    /// The response does not match the specification, or is too long.
    case unreadableResponse(status: Int, requestID: String?)
    case refused(ServiceRefusal)
    /// The parts do not cover the file, or a part has an address to which nothing may be sent.
    case unusableUpload
    /// The storage of images refused a part.
    case partRefused(status: Int)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .unusableKey: "unusable_key"
        case .readsOnly: "reads_only"
        case .notPaced: "not_paced"
        case .withdrawn: "withdrawn"
        case .noResponse: "no_answer"
        case .unreadableResponse: "unreadable_answer"
        case .refused: "refused"
        case .unusableUpload: "unusable_upload"
        case .partRefused: "part_refused"
        }
    }

    /// Whether the request may have taken effect although it failed. Then it must not be repeated before its result was
    /// checked.
    public var mayHaveHappened: Bool {
        switch self {
        case .noResponse, .unreadableResponse: true
        case .refused(let refusal): refusal.mayHaveHappened
        case .unusableKey, .readsOnly, .notPaced, .withdrawn, .unusableUpload, .partRefused: false
        }
    }

    public var description: String {
        switch self {
        case .unusableKey: "the key is not a P-256 private key in PKCS #8 with an ID"
        case .readsOnly: "this client is read-only"
        case .notPaced(let reason): "the key's rate limit could not be tracked: \(reason)"
        case .withdrawn(let reason): "no more requests are allowed: \(reason)"
        case .noResponse(let reason): "App Store Connect did not respond: \(reason)"
        case .unreadableResponse(let status, _):
            "App Store Connect answered \(status) with an unreadable body"
        case .refused(let refusal): "\(refusal)"
        case .unusableUpload: "the parts of the upload do not match the file"
        case .partRefused(let status): "a part of the image was refused with \(status)"
        }
    }
}
