/// An app's statement about its build, as far as a clip's policy depends on it.
public struct AttestedBuild: Sendable, Hashable {
    public let environment: AttestationEnvironment
    /// Nil if the device states none. No device before iOS 27 does.
    public let category: ValidationCategory?

    public init(environment: AttestationEnvironment, category: ValidationCategory?) {
        self.environment = environment
        self.category = category
    }
}

extension AttestedKey {
    public var build: AttestedBuild { AttestedBuild(environment: environment, category: category) }
}

extension ClipAttestation {
    /// Returns the reason why a clip does not accept a build; nil if it accepts it.
    public func refusal(of build: AttestedBuild) -> AttestationRefusal? {
        guard environments.contains(build.environment) else { return .environment(.notAllowed) }
        guard let category = build.category else { return requiresStatements ? .category(.missing) : nil }
        return categories.contains(category) ? nil : .category(.notAllowed)
    }
}
