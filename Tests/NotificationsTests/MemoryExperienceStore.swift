import Invocation
import Notifications
import Tenancy

/// Every experience is near every URL.
struct MemoryExperienceStore: ExperienceStore {
    struct Failure: Error {}

    var experiences: [TenantID: [ClipExperience]] = [:]
    var isFailing = false

    func experiences(near url: InvocationURL, of tenant: TenantID) async throws -> [ClipExperience] {
        if isFailing { throw Failure() }
        return experiences[tenant] ?? []
    }
}
