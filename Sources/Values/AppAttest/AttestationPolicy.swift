public import Invocation

/// The accepted apps and builds.
public struct AttestationPolicy: Sendable, Hashable {
    /// The App IDs of full apps: an attestation from an App Clip contains its app's ID [Apple].
    public var appIDs: [AppID]
    public var environments: Set<AttestationEnvironment>
    public var categories: Set<ValidationCategory>
    /// The accepted bundle versions; nil for all.
    public var bundleVersions: Set<String>?
    /// Whether to reject a device that states neither category nor bundle version. No device before iOS 27
    /// states them.
    public var requiresStatements: Bool

    public init(
        appIDs: [AppID], environments: Set<AttestationEnvironment> = [.production],
        categories: Set<ValidationCategory> = Set(ValidationCategory.allCases),
        bundleVersions: Set<String>? = nil, requiresStatements: Bool = false
    ) {
        self.appIDs = appIDs
        self.environments = environments
        self.categories = categories
        self.bundleVersions = bundleVersions
        self.requiresStatements = requiresStatements
    }
}
