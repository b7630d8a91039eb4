import Invocation

@testable import Lookups

extension IndexedExperience {
    /// What a table that holds the experience gives for it.
    init(_ experience: Experience, clipIsMultiBusiness: Bool = false) {
        self.init(
            url: experience.url.canonical, kind: experience.kind, clip: experience.clip,
            clipIsMultiBusiness: clipIsMultiBusiness, binding: experience.binding,
            pathComponentCount: experience.url.pathComponents.count)
    }
}
