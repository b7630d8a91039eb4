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

    public static let none = RequestAttestation(grade: .none, environment: nil)

    public init(grade: Grade, environment: AttestationEnvironment?) {
        self.grade = grade
        self.environment = environment
    }

    public var isAttested: Bool { grade != .none }
}
