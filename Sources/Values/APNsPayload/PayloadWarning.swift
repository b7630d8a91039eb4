/// Something in a notification that is allowed, but does less in an App Clip than its sender may expect.
public enum PayloadWarning: String, Sendable, Hashable, CaseIterable {
    /// App Clips cannot perform background activity. [Apple]
    case contentAvailableHasNoEffect = "content_available_has_no_effect"
    /// App Clips have no notification service extension: the only extension they can include is a widget
    /// extension for Live Activities. [Apple]
    case mutableContentHasNoEffect = "mutable_content_has_no_effect"
    /// Critical alerts need an entitlement. [Apple]
    case criticalAlertNeedsEntitlement = "critical_alert_needs_entitlement"
    /// `dismissal-date` has no documented effect on an activity that does not end. [ours]
    case dismissalDateWithoutEnd = "dismissal_date_without_end"
    /// From iOS 18, a Live Activity that a notification starts gets a push token, or follows a channel,
    /// only if the start requests it: otherwise it cannot be updated or ended remotely. [observed]
    case startWithoutUpdates = "start_without_updates"

    public var code: String { rawValue }
}

extension PayloadWarning: CustomStringConvertible {
    public var description: String {
        switch self {
        case .contentAvailableHasNoEffect:
            "content-available has no effect: an App Clip cannot run in the background"
        case .mutableContentHasNoEffect:
            "mutable-content has no effect: an App Clip cannot have a notification service extension"
        case .criticalAlertNeedsEntitlement:
            "A critical alert needs the critical alerts entitlement, which Apple grants on request"
        case .startWithoutUpdates:
            "add input-push-token or input-push-channel: from iOS 18 notifications cannot update the Live Activity without it"
        case .dismissalDateWithoutEnd:
            "dismissal-date is meant for the event end; its effect on start and update is not known"
        }
    }
}
