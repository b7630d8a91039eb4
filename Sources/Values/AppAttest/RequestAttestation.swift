/// How well a request was attested.
public struct RequestAttestation: Sendable, Hashable {
    /// What it brought that holds.
    public enum Grade: String, Sendable, CaseIterable {
        /// Nothing, or nothing that was asked for.
        case none
        /// A token: the app was genuine within the last hour, and whoever has the token may have sent this.
        case token
        /// A signature of its own: the app has sent this, once.
        case request
    }

    public let grade: Grade
    /// Of the key; nil without one.
    public let environment: AttestationEnvironment?

    /// By which key, 32 bytes; nil without one. It stands for one installation: for what is the installation's own alone.
    public let keyID: [UInt8]?

    public static let none = RequestAttestation(grade: .none, environment: nil)

    public init(grade: Grade, environment: AttestationEnvironment?, keyID: [UInt8]? = nil) {
        self.grade = grade
        self.environment = environment
        self.keyID = keyID
    }

    public var isAttested: Bool { grade != .none }
}
