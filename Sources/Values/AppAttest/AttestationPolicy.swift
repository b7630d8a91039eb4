public import AppSiteAssociation

/// Which apps, and which builds of them, are taken.
public struct AttestationPolicy: Sendable, Hashable {
    /// Those of full apps: an attestation that was made in an App Clip carries its app's [documented].
    public var appIDs: [AppID]
    public var environments: Set<AttestationEnvironment>
    public var categories: Set<ValidationCategory>
    /// Nil: all of them.
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
