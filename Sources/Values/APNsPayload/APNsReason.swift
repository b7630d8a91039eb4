/// The reason why APNs refused a request. An unknown reason is kept unchanged.
///
/// Source: Apple, "Handling notification responses from APNs" and "Sending broadcast push notification requests to
/// APNs".
public struct APNsReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public var description: String { rawValue }

    /// The status that APNs returns with this reason; nil for an unknown reason.
    public var status: Int? { Self.statuses[self] }

    /// All known reasons, each with its status.
    public static let statuses: [APNsReason: Int] = [
        .badCollapseId: 400,
        .badDeviceToken: 400,
        .badExpirationDate: 400,
        .badMessageId: 400,
        .badPriority: 400,
        .badTopic: 400,
        .deviceTokenNotForTopic: 400,
        .duplicateHeaders: 400,
        .idleTimeout: 400,
        .invalidPushType: 400,
        .missingDeviceToken: 400,
        .missingTopic: 400,
        .payloadEmpty: 400,
        .topicDisallowed: 400,
        .badCertificate: 403,
        .badCertificateEnvironment: 403,
        .expiredProviderToken: 403,
        .forbidden: 403,
        .invalidProviderToken: 403,
        .missingProviderToken: 403,
        .unrelatedKeyIdInToken: 403,
        .badEnvironmentKeyIdInToken: 403,
        .badEnvironmentKeyInToken: 403,
        .badPath: 404,
        .methodNotAllowed: 405,
        .expiredToken: 410,
        .unregistered: 410,
        .payloadTooLarge: 413,
        .tooManyProviderTokenUpdates: 429,
        .tooManyRequests: 429,
        .internalServerError: 500,
        .serviceUnavailable: 503,
        .shutdown: 503,
        .featureNotEnabled: 400,
        .missingChannelId: 400,
        .badChannelId: 400,
        .channelNotRegistered: 400,
        .badRequestParams: 400,
        .badRequestPayload: 400,
        .missingPushType: 400,
        .cannotCreateChannelConfig: 400,
        .topicMismatch: 403,
    ]
}

extension APNsReason {
    public static let badCollapseId = APNsReason(rawValue: "BadCollapseId")
    public static let badDeviceToken = APNsReason(rawValue: "BadDeviceToken")
    public static let badExpirationDate = APNsReason(rawValue: "BadExpirationDate")
    public static let badMessageId = APNsReason(rawValue: "BadMessageId")
    public static let badPriority = APNsReason(rawValue: "BadPriority")
    public static let badTopic = APNsReason(rawValue: "BadTopic")
    public static let deviceTokenNotForTopic = APNsReason(rawValue: "DeviceTokenNotForTopic")
    public static let duplicateHeaders = APNsReason(rawValue: "DuplicateHeaders")
    public static let idleTimeout = APNsReason(rawValue: "IdleTimeout")
    public static let invalidPushType = APNsReason(rawValue: "InvalidPushType")
    public static let missingDeviceToken = APNsReason(rawValue: "MissingDeviceToken")
    public static let missingTopic = APNsReason(rawValue: "MissingTopic")
    public static let payloadEmpty = APNsReason(rawValue: "PayloadEmpty")
    public static let topicDisallowed = APNsReason(rawValue: "TopicDisallowed")
    public static let badCertificate = APNsReason(rawValue: "BadCertificate")
    public static let badCertificateEnvironment = APNsReason(rawValue: "BadCertificateEnvironment")
    public static let expiredProviderToken = APNsReason(rawValue: "ExpiredProviderToken")
    public static let forbidden = APNsReason(rawValue: "Forbidden")
    public static let invalidProviderToken = APNsReason(rawValue: "InvalidProviderToken")
    public static let missingProviderToken = APNsReason(rawValue: "MissingProviderToken")
    public static let unrelatedKeyIdInToken = APNsReason(rawValue: "UnrelatedKeyIdInToken")
    public static let badEnvironmentKeyIdInToken = APNsReason(rawValue: "BadEnvironmentKeyIdInToken")
    /// The same on the wire [observed].
    public static let badEnvironmentKeyInToken = APNsReason(rawValue: "BadEnvironmentKeyInToken")
    public static let badPath = APNsReason(rawValue: "BadPath")
    public static let methodNotAllowed = APNsReason(rawValue: "MethodNotAllowed")
    public static let expiredToken = APNsReason(rawValue: "ExpiredToken")
    public static let unregistered = APNsReason(rawValue: "Unregistered")
    public static let payloadTooLarge = APNsReason(rawValue: "PayloadTooLarge")
    public static let tooManyProviderTokenUpdates = APNsReason(rawValue: "TooManyProviderTokenUpdates")
    public static let tooManyRequests = APNsReason(rawValue: "TooManyRequests")
    public static let internalServerError = APNsReason(rawValue: "InternalServerError")
    public static let serviceUnavailable = APNsReason(rawValue: "ServiceUnavailable")
    public static let shutdown = APNsReason(rawValue: "Shutdown")
    public static let featureNotEnabled = APNsReason(rawValue: "FeatureNotEnabled")
    public static let missingChannelId = APNsReason(rawValue: "MissingChannelId")
    public static let badChannelId = APNsReason(rawValue: "BadChannelId")
    public static let channelNotRegistered = APNsReason(rawValue: "ChannelNotRegistered")
    public static let badRequestParams = APNsReason(rawValue: "BadRequestParams")
    public static let badRequestPayload = APNsReason(rawValue: "BadRequestPayload")
    public static let missingPushType = APNsReason(rawValue: "MissingPushType")
    public static let cannotCreateChannelConfig = APNsReason(rawValue: "CannotCreateChannelConfig")
    public static let topicMismatch = APNsReason(rawValue: "TopicMismatch")
}
