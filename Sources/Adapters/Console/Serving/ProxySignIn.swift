import Administration
import Formats
import Foundation
import HTTPTypes
import Invocation
import Synchronization
public import Tenancy

/// Sign-in by a proxy: header fields name the user. The console accepts them from trusted proxies and refuses them from others.
public struct ProxySignIn: Sendable {
    /// The field with the user's name for the audit log.
    private let userField: HTTPField.Name
    /// The field with the user's groups, separated by commas.
    private let groupsField: HTTPField.Name
    /// The rights of groups. The first one that the user belongs to decides.
    private let groups: [ConsoleGroup]

    /// Nil if a field name is invalid, if both are the same, or if there are no groups.
    public init?(userField: String, groupsField: String, groups: [ConsoleGroup]) {
        guard let userField = HTTPField.Name(userField), let groupsField = HTTPField.Name(groupsField),
            userField != groupsField, !groups.isEmpty
        else { return nil }
        self.userField = userField
        self.groupsField = groupsField
        self.groups = groups
    }

    /// Whether a request has one of the fields.
    func isIn(_ request: ReceivedRequest) -> Bool {
        request.fields.contains(userField) || request.fields.contains(groupsField)
    }

    /// The user and the group that decides; nil if the request names no user.
    /// - Throws: ``ConsoleRefusal``.
    func person(of request: ReceivedRequest) throws -> (name: DisplayName, group: ConsoleGroup)? {
        guard isIn(request) else { return nil }
        // A second field may come from the client if the proxy does not remove it.
        let users = request.fields[values: userField]
        guard users.count == 1, let name = try? DisplayName(users[0].trimmingCharacters(in: .whitespaces))
        else {
            throw ConsoleRefusal.forbidden(
                "The proxy must send the user field once. It sent none or several.")
        }
        // The same applies to a second list of groups, which decides the rights.
        let lists = request.fields[values: groupsField]
        guard lists.count <= 1 else {
            throw ConsoleRefusal.forbidden("The proxy must send the groups field once. It sent several.")
        }
        let own = (lists.first ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let group = groups.first(where: { own.contains($0.name) }) else {
            throw ConsoleRefusal.forbidden("None of your groups has access to the console.")
        }
        return (name, group)
    }
}

/// The rights of a group, such as `operators=change`, `auditors=read` or `acme-staff=change:acme`.
public struct ConsoleGroup: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public let isReadOnly: Bool
    /// The visible tenant; nil for all tenants.
    public let tenant: TenantSlug?

    /// Nil if the text is invalid.
    public init?(_ text: String) {
        guard let equals = text.lastIndex(of: "="), equals > text.startIndex else { return nil }
        let parts = text[text.index(after: equals)...].split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts.first {
        case "change": isReadOnly = false
        case "read": isReadOnly = true
        default: return nil
        }
        if parts.count == 2 {
            guard let tenant = try? TenantSlug(String(parts[1])) else { return nil }
            self.tenant = tenant
        } else {
            tenant = nil
        }
        name = String(text[..<equals])
    }

    public var description: String {
        "\(name)=\(isReadOnly ? "read" : "change")\(tenant.map { ":\($0)" } ?? "")"
    }
}

/// Recent sign-ins by proxies, so that the console records each once and not with every request.
final class ProxyPeople: Sendable {
    private let times = Mutex<[ConsoleAccess: Date]>([:])

    /// The maximum number of users in memory. [ours]
    private static let capacity = 4_096

    /// - Returns: Whether to record the sign-in.
    func isNew(_ access: ConsoleAccess, at now: Date) -> Bool {
        times.withLock { times in
            if let time = times[access], now < time + ConsoleSession.maximumLength { return false }
            if times.count >= Self.capacity { times.removeAll() }
            times[access] = now
            return true
        }
    }

    /// Forgets a sign-in that could not be recorded. The next request records it.
    func forget(_ access: ConsoleAccess) { times.withLock { $0[access] = nil } }
}
