import Formats
public import Foundation
public import Tenancy

/// The reason why no plan can be made or nothing can be registered.
public enum SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Two desired experiences have one URL.
    case desiredTwice(url: String)
    /// Two records of the applied state have one URL.
    case appliedTwice(url: String)
    /// Two records of the applied state have one experience at App Store Connect, or it is also among the removed ones.
    case contradictoryID(String)
    case notConnected(BundleID)
    /// A key that none of the server's secrets opens.
    case unreadableKey(BundleID)
    /// Another run applies to the clip.
    case busy(BundleID, by: String, since: Date)
    /// Another run changed the clip during the check, so that the check saw a mixed state.
    case appliedMeanwhile(BundleID)
    /// Another run has begun: this one had lost its lock.
    case superseded(BundleID)
    /// App Store Connect repeatedly refused requests as too many.
    case tooManyRefusals
    /// The target is neither a registered URL nor the identifier of an experience's location.
    case unknownTarget(String)
    /// The reviewed plan differs from the current one: the number of URLs, and the first difference.
    case stalePlan(url: String, String, count: Int)
    /// The file is not a plan, for the given reason.
    case notAPlan(String)

    /// A name that stays the same across versions.
    public var code: String {
        switch self {
        case .desiredTwice: "desired_twice"
        case .appliedTwice: "applied_twice"
        case .contradictoryID: "contradictory_id"
        case .notConnected: "not_connected"
        case .unreadableKey: "unreadable_key"
        case .busy: "busy"
        case .appliedMeanwhile: "applied_meanwhile"
        case .superseded: "superseded"
        case .tooManyRefusals: "too_many_refusals"
        case .unknownTarget: "unknown_target"
        case .stalePlan: "stale_plan"
        case .notAPlan: "not_a_plan"
        }
    }

    public var description: String {
        switch self {
        case .desiredTwice(let url): "the catalogue has two experiences for \(url)"
        case .appliedTwice(let url): "\(url) has two records of its applied state"
        case .contradictoryID(let id):
            "the records of the applied state contradict each other for experience \(id)"
        case .notConnected(let clip): "the clip \(clip) is not connected to App Store Connect"
        case .unreadableKey(let clip):
            "the key of the clip \(clip) cannot be decrypted with the configured secrets: connect the clip again"
        case .busy(let clip, let actor, let start):
            "\(actor) has been applying to the clip \(clip) since \(start.rfc3339)"
        case .appliedMeanwhile(let clip):
            "another run changed the clip \(clip) during this check: run the command again"
        case .superseded(let clip): "another run applies to the clip \(clip): this one has stopped"
        case .tooManyRefusals:
            "App Store Connect refused twenty requests in a row as too many"
        case .unknownTarget(let target): "no experience of the clip has the URL or the location \(target)"
        case .stalePlan(let url, let difference, let count):
            "the plan is stale (stale_plan); nothing was changed. \(url): \(difference)"
                + (count > 1 ? " (and \(count - 1) more)" : "")
        case .notAPlan(let reason): "this is not a plan of 'doorstep appstore plan': \(reason)"
        }
    }
}
