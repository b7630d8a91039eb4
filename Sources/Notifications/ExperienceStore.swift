public import Invocation
public import Tenancy

/// Where tenants' experiences are kept.
public protocol ExperienceStore: Sendable {
    /// The tenant's experiences among which the most specific match of the URL is, if there is one; others
    /// may be with them.
    func experiences(near url: InvocationURL, of tenant: TenantID) async throws -> [ClipExperience]
}

/// An experience, with what matters of its clip.
public struct ClipExperience: Sendable, Hashable {
    public let experience: Experience
    public let clipIsMultiBusiness: Bool

    public init(_ experience: Experience, clipIsMultiBusiness: Bool) {
        self.experience = experience
        self.clipIsMultiBusiness = clipIsMultiBusiness
    }
}
