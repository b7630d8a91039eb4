import HTTPTypes
import Invocation
public import JSON
public import Locations
public import Notifications
public import Tenancy

/// What the API answers, apart from HTTP: the routes send it, and the commands print it.
public struct APIAnswers: Sendable {
    let directory: LocationDirectory
    let composer: NotificationComposer

    public init(directory: LocationDirectory, composer: NotificationComposer) {
        self.directory = directory
        self.composer = composer
    }

    /// `GET /v1/locations`: the business an invocation URL stands for.
    /// - Throws: A ``Problem``, or what the store throws.
    public func lookUp(_ text: String, of tenant: TenantID) async throws -> JSONValue {
        let url = try InvocationURL(requested: text)
        switch try await directory.lookUp(url, of: tenant) {
        case .found(let experience, let location):
            return [
                "url": .string(url.canonical), "experience": JSONValue(experience),
                "location": JSONValue(location),
            ]
        case .doesNotMatch:
            throw Problem(.notFound, "does_not_match", "no experience matches the URL")
        case .noIdentifier(let experience):
            throw Problem(
                .notFound, "no_identifier", "the URL names no location",
                members: ["experience": JSONValue(experience)])
        case .unknownIdentifier(let experience):
            throw Problem(
                .notFound, "unknown_identifier", "the URL names a location that is not known",
                members: ["experience": JSONValue(experience)])
        }
    }
}
