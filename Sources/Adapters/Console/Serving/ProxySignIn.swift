import Administration
import Foundation
import HTTPTypes
import Hummingbird
import IPAddresses
import Synchronization
public import Tenancy

/// Has a proxy say who somebody is: by header fields that are believed of trusted proxies, and refused of everybody else.
public struct ProxySignIn: Sendable {
    /// Whom the audit log names.
    private let userField: HTTPField.Name
    /// The groups that they are of, separated by commas.
    private let groupsField: HTTPField.Name
    /// What the groups may do: of those that somebody is of, the first one here decides.
    private let groups: [ConsoleGroup]

    /// Nil for fields that cannot have their names, or that are one, and without groups: nobody would be let in.
    public init?(userField: String, groupsField: String, groups: [ConsoleGroup]) {
        guard let userField = HTTPField.Name(userField), let groupsField = HTTPField.Name(groupsField),
            userField != groupsField, !groups.isEmpty
        else { return nil }
        self.userField = userField
        self.groupsField = groupsField
        self.groups = groups
    }

    /// Whether a request says who somebody is.
    func isIn(_ request: Request) -> Bool {
        request.headers.contains(userField) || request.headers.contains(groupsField)
    }

    /// Who a proxy says it is, and the group that decides; nil where it says nobody.
    /// - Throws: ``ConsoleRefusal``.
    func person(of request: Request) throws -> (name: DisplayName, group: ConsoleGroup)? {
        guard isIn(request) else { return nil }
        // A second one may be the client's own, which the proxy has let through.
        let users = request.headers[values: userField]
        guard users.count == 1, let name = try? DisplayName(users[0].trimmingCharacters(in: .whitespaces))
        else {
            throw ConsoleRefusal.forbidden(
                "The proxy must send the user field once. It sent none or several.")
        }
        // And so may a second list of groups, which is what decides.
        let lists = request.headers[values: groupsField]
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

/// What the people of a group may do, as `operators=change`, `auditors=read` or `acme-staff=change:acme`.
public struct ConsoleGroup: Sendable, Hashable, CustomStringConvertible {
    public let name: String
    public let isReadOnly: Bool
    /// The one tenant that is seen; nil for all.
    public let tenant: TenantSlug?

    /// Nil for what is none.
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

/// Whom proxies have signed in of late, so that each is written down once and not with every request.
final class ProxyPeople: Sendable {
    private let times = Mutex<[ConsoleAccess: Date]>([:])

    /// So many are remembered, at most. [ours]
    private static let capacity = 4_096

    /// - Returns: Whether they are to be written down.
    func isNew(_ access: ConsoleAccess, at now: Date) -> Bool {
        times.withLock { times in
            if let time = times[access], now < time + ConsoleSession.maximumLength { return false }
            if times.count >= Self.capacity { times.removeAll() }
            times[access] = now
            return true
        }
    }

    /// They could not be written down: they are to be with the next request.
    func forget(_ access: ConsoleAccess) { times.withLock { $0[access] = nil } }
}
