public import APNsPayload
public import Tenancy

/// One request to APNs.
public struct PushRequest: Sendable {
    /// The tenant of the notification. Several tenants may have clips of one team.
    public let tenant: TenantID
    /// The team whose key signs the provider token.
    public let team: TeamID
    public let environment: APNsEnvironment
    public let destination: Destination
    /// With an ID, which is the same for every attempt.
    public let headers: NotificationHeaders
    /// At most 4,096 bytes; 5,120 for a channel.
    public let payload: [UInt8]

    public enum Destination: Sendable, Hashable {
        case device(PushToken)
        /// Everybody who follows a broadcast channel of the app with this bundle ID.
        case channel(String, bundleID: BundleID)
    }

    public init(
        tenant: TenantID, team: TeamID, environment: APNsEnvironment, destination: Destination,
        headers: NotificationHeaders, payload: [UInt8]
    ) {
        self.tenant = tenant
        self.team = team
        self.environment = environment
        self.destination = destination
        self.headers = headers
        self.payload = payload
    }
}
