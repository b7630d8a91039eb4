import Invocation
import Tenancy

extension Experience {
    /// Reads an experience back from its columns.
    /// - Throws: `PersistenceError.unreadable` when a row holds what no version of Doorstep writes.
    init(
        storedURL: String, kind: String, clip: String, location: String?, rule: String?
    ) throws(PersistenceError) {
        self = try PersistenceError.reading("experiences") {
            guard let kind = ExperienceKind(rawValue: kind) else {
                throw PersistenceError.unreadable("experiences")
            }
            let binding: LocationBinding =
                if let location {
                    .location(try LocationIdentifier(location))
                } else if let rule {
                    .rule(try IdentifierRule(rule))
                } else {
                    .unbound
                }
            return try Experience(
                url: URLPrefix(storedURL), kind: kind, clip: BundleID(clip), binding: binding)
        }
    }
}
