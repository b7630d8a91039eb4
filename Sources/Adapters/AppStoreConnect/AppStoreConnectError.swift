/// Why App Store Connect did not do what it was asked.
public enum AppStoreConnectError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The key is not a P-256 private key in PKCS #8, or its identifiers are none.
    case unusableKey
    /// The client may only read, and was to write: nothing was sent.
    case readsOnly
    /// The key's budget could not be looked after: nothing more is sent.
    case notPaced(String)
    /// Whoever asked may not send any more, as it turned out right before it was sent: nothing was.
    case withdrawn(String)
    /// In a few words that hold neither URL nor body.
    case noResponse(String)
    /// The answer is not what the specification has, or too long.
    case unreadableResponse(status: Int, requestID: String?)
    case refused(ServiceRefusal)
    /// The parts do not make up the file, or lead where none may be sent.
    case unusableUpload
    /// What stores the parts of images refused one.
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

    /// Whether what was asked may have been done all the same: then nobody may ask again before it is looked at.
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
