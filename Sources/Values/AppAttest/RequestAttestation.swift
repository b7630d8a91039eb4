/// The strength of a request's attestation.
public struct RequestAttestation: Sendable, Hashable {
    /// The strongest valid proof that the request carried.
    public enum Grade: String, Sendable, CaseIterable {
        /// No proof, or the clip requires none.
        case none
        /// A token: the app was genuine within the last hour, but any holder of the token can have sent the
        /// request.
        case token
        /// The request's own signature: the app has sent this, once.
        case request
    }

    public let grade: Grade
    /// The key's environment; nil without a key.
    public let environment: AttestationEnvironment?

    /// The key's ID, 32 bytes; nil without a key. It identifies one install, for data that belongs to that
    /// install alone.
    public let keyID: [UInt8]?

    public static let none = RequestAttestation(grade: .none, environment: nil)

    public init(grade: Grade, environment: AttestationEnvironment?, keyID: [UInt8]? = nil) {
        self.grade = grade
        self.environment = environment
        self.keyID = keyID
    }

    public var isAttested: Bool { grade != .none }
}
