import Invocation

@testable import Lookups

extension IndexedExperience {
    /// The experience as an index returns it.
    init(_ experience: Experience, clipIsMultiBusiness: Bool = false) {
        self.init(
            url: experience.url.canonical, kind: experience.kind, clip: experience.clip,
            clipIsMultiBusiness: clipIsMultiBusiness, binding: experience.binding,
            pathComponentCount: experience.url.pathComponents.count)
    }
}
