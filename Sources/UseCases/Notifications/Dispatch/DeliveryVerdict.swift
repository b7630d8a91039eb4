import APNsPayload
public import Foundation

/// The consequences of an attempt, for the delivery and for its token.
///
/// Pure. Source: Apple, "Handling notification responses from APNs", for which responses are retried; times, and rules about
/// lost responses, are ours.
public struct DeliveryVerdict: Sendable, Hashable {
    public let next: Next
    /// The reported reason; nil if APNs accepted the delivery.
    public let reason: String?
    /// The sum over all attempts.
    public let lostReplies: Int
    public let token: TokenVerdict

    public enum Next: Sendable, Hashable {
        case delivered
        /// Never again by itself; an operator may have it tried again.
        case refused
        /// - Parameter after: In how many seconds.
        case retry(after: TimeInterval)
        case uncertain
        case expired

        public var state: DeliveryState {
            switch self {
            case .delivered: .delivered
            case .refused: .refused
            case .retry: .queued
            case .uncertain: .uncertain
            case .expired: .expired
            }
        }
    }

    public enum TokenVerdict: Sendable, Hashable {
        case good
        /// Since when the token is dead, if APNs reported so; a later registration remains valid.
        case dead(since: Date?)
    }

    /// The maximum number of attempts without a response; after the last, the delivery is uncertain.
    public static let maximumLostReplies = 3
    /// The number of times that APNs may ask to try again later. One more counts as a refusal.
    public static let maximumPostponements = 7
    /// The time for which the server tries to send a notification without an expiration.
    public static let lifetime: TimeInterval = 24 * 60 * 60

    private init(_ next: Next, _ reason: String?, lostReplies: Int, token: TokenVerdict = .good) {
        self.next = next
        self.reason = reason
        self.lostReplies = lostReplies
        self.token = token
    }

    /// Not delivered by this attempt, and not tried again; an earlier one may have arrived.
    private init(refusing delivery: ClaimedDelivery, _ reason: String, token: TokenVerdict = .good) {
        self.init(
            delivery.lostReplies > 0 ? .uncertain : .refused, reason, lostReplies: delivery.lostReplies,
            token: token)
    }

    /// - Parameter random: From 0 up to 1: spreads retries of deliveries that failed together.
    public init(on outcome: PushOutcome, of delivery: ClaimedDelivery, at now: Date, random: Double) {
        let attempt = Attempt(delivery, now, random)
        switch outcome {
        case .notSent(.noKey):
            self.init(refusing: delivery, PushFailure.noKey.rawValue)
        case .notSent(.shuttingDown):
            self = attempt.again(in: 0, PushFailure.shuttingDown.rawValue)
        case .notSent(let failure):
            self = attempt.again(
                in: attempt.backOff(from: 1, to: 300, doublings: delivery.attempt - 1), failure.rawValue)
        case .unanswered(let failure):
            let lost = delivery.lostReplies + 1
            guard lost < Self.maximumLostReplies else {
                self.init(.uncertain, failure.rawValue, lostReplies: lost)
                return
            }
            self = attempt.again(
                in: attempt.backOff(from: 5, to: 300, doublings: lost - 1), failure.rawValue, lost: lost)
        case .answered(let response):
            self = attempt.verdict(on: response)
        }
    }

    /// The verdict on a delivery that must not be sent; nil if it must be sent.
    public init?(before delivery: ClaimedDelivery, at now: Date) {
        let attempt = Attempt(delivery, now, 0)
        if delivery.lostReplies >= Self.maximumLostReplies {
            self.init(.uncertain, Self.serverLost, lostReplies: delivery.lostReplies)
        } else if now >= attempt.end {
            self = attempt.over(delivery.lostReplies > 0 ? Self.serverLost : nil)
        } else if case .nowhere(Self.tokenUnreadable) = delivery.destination {
            // Another server may have the secret that sealed it, and this one once it is started again.
            self = attempt.again(
                in: attempt.backOff(from: 60, to: 900, doublings: delivery.attempt - 1), Self.tokenUnreadable)
        } else if case .nowhere(let reason) = delivery.destination {
            self.init(refusing: delivery, reason)
        } else {
            return nil
        }
    }

    /// The verdict on a delivery that was taken and is given back untouched.
    static func givenBack(_ delivery: ClaimedDelivery) -> DeliveryVerdict {
        DeliveryVerdict(.retry(after: 0), nil, lostReplies: delivery.lostReplies)
    }

    /// A payload that its own headers refuse; nothing that is stored makes one.
    static func unsendable(_ delivery: ClaimedDelivery, code: String) -> DeliveryVerdict {
        DeliveryVerdict(refusing: delivery, code)
    }

    /// The reasons of deliveries whose token is dead. A retry goes to the same token, so it is never offered; a new
    /// notification goes to the token that the instance registers next. [ours]
    public static let deadTokenReasons: [String] =
        [.badDeviceToken, .deviceTokenNotForTopic, .expiredToken, .unregistered].map(\APNsReason.rawValue)
        + ["status_410", SkipReason.tokenDead.rawValue]

    /// The token was sealed with a secret that this server does not have.
    public static let tokenUnreadable = "token_unreadable"

    /// The notification was cancelled before the delivery was sent.
    public static let cancelled = "cancelled"

    /// A server leased the delivery and never reported a result.
    static let serverLost = "server_lost"

    /// The consequences of APNs' reasons.
    enum Remedy {
        /// Nothing helps.
        case none
        case newToken
        /// Soon: the next connection or provider token is another.
        case soon
        /// At least a minute: too many requests at once.
        case minutes
        /// From 15 minutes on: APNs has trouble.
        case quarterHours

        init(_ response: APNsResponse) {
            switch response.reason {
            case .badDeviceToken?, .deviceTokenNotForTopic?, .expiredToken?, .unregistered?: self = .newToken
            case .expiredProviderToken?, .unrelatedKeyIdInToken?, .idleTimeout?: self = .soon
            case .tooManyRequests?, .tooManyProviderTokenUpdates?: self = .minutes
            case .internalServerError?, .serviceUnavailable?, .shutdown?: self = .quarterHours
            default:
                switch response.status {
                case 410: self = .newToken
                case 429: self = .minutes
                case 500...599: self = .quarterHours
                default: self = .none
                }
            }
        }
    }

    /// One attempt, and the time.
    private struct Attempt {
        let delivery: ClaimedDelivery
        let now: Date
        let random: Double

        init(_ delivery: ClaimedDelivery, _ now: Date, _ random: Double) {
            self.delivery = delivery
            self.now = now
            self.random = random
        }

        /// The latest time to send it.
        var end: Date {
            delivery.expiresAt ?? delivery.notification.createdAt.addingTimeInterval(lifetime)
        }

        func verdict(on response: APNsResponse) -> DeliveryVerdict {
            if response.status == 200 {
                return DeliveryVerdict(.delivered, nil, lostReplies: delivery.lostReplies)
            }
            let reason = response.reason?.rawValue ?? "status_\(response.status)"
            let doublings = delivery.postponements
            switch Remedy(response) {
            case .none: return DeliveryVerdict(refusing: delivery, reason)
            case .newToken:
                return DeliveryVerdict(refusing: delivery, reason, token: .dead(since: response.invalidSince))
            case .soon: return postponed(backOff(from: 5, to: 300, doublings: doublings), reason)
            case .minutes: return postponed(backOff(from: 60, to: 3_600, doublings: doublings), reason)
            case .quarterHours: return postponed(backOff(from: 900, to: 14_400, doublings: doublings), reason)
            }
        }

        private func postponed(_ wait: TimeInterval, _ reason: String) -> DeliveryVerdict {
            delivery.postponements < maximumPostponements
                ? again(in: wait, reason)
                : DeliveryVerdict(refusing: delivery, reason)
        }

        /// Tried again, unless that would be too late.
        func again(in wait: TimeInterval, _ reason: String, lost: Int? = nil) -> DeliveryVerdict {
            guard now.addingTimeInterval(wait) < end else { return over(reason, lost: lost) }
            return DeliveryVerdict(.retry(after: wait), reason, lostReplies: lost ?? delivery.lostReplies)
        }

        /// Too late: not delivered, unless a reply was lost.
        func over(_ reason: String?, lost: Int? = nil) -> DeliveryVerdict {
            let lost = lost ?? delivery.lostReplies
            return DeliveryVerdict(lost > 0 ? .uncertain : .expired, reason, lostReplies: lost)
        }

        /// Doubled so many times, and up to a quarter longer; never shorter than the first wait, which may be Apple's.
        func backOff(from first: TimeInterval, to last: TimeInterval, doublings: Int) -> TimeInterval {
            min(last, first * pow(2, Double(min(doublings, 30)))) * (1 + random / 4)
        }
    }
}
