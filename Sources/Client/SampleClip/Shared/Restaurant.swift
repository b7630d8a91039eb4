import CoreLocation
import DoorstepClient
import Foundation
import Observation
import UIKit
import UserNotifications

/// The restaurant that is on the screen, for App Clip and full app alike.
@MainActor @Observable
final class Restaurant {
    /// The order's state on the screen.
    enum Order: Equatable {
        case none
        case confirming
        /// With the receipt for the ordering system, where the server signs them.
        case placed(receipt: String?)
        case elsewhere
        case failed
    }

    private(set) var place: ClipLocation?
    /// To choose from, after a launch by a URL that names no restaurant.
    private(set) var nearby: [NearbyLocation] = []
    private(set) var order = Order.none
    /// The reason why there is nothing to show.
    private(set) var trouble: String?

    private let session: ClipSession
    private var url: URL?
    private var deviceToken: Data?
    private var following: Task<Void, Never>?

    init(_ app: ClipConfiguration.RunningApp) {
        let container =
            SharedDirectory(appGroup: Settings.appGroup)
            // Without the entitlement each app is alone.
            ?? SharedDirectory(URL.applicationSupportDirectory.appending(path: "Doorstep"))
        session = ClipSession(Settings.configuration(app), container: container, attester: DeviceAttester())
    }

    /// A launch, or a return. Without a URL the latest one is shown, which may be the App Clip's.
    func show(_ invocation: ClipInvocation) {
        following?.cancel()
        following = Task {
            let last = try? await session.lastURL()
            url = invocation.url ?? last
            if let url { await follow(url) }
            // The screen does not wait for these.
            _ = try? await session.attest()
            _ = try? await session.registerLaunch(invocation.url, await reachability())
        }
    }

    /// The restaurant that the person has chosen from those nearby.
    func choose(_ chosen: NearbyLocation) {
        nearby = []
        show(ClipInvocation(url: URL(string: chosen.url)))
    }

    /// Shows the stored result immediately; the server's response replaces it.
    private func follow(_ url: URL) async {
        (trouble, order) = (nil, .none)
        do {
            for try await lookup in session.lookups(of: url) { place = lookup.location }
        } catch ClipError.refused(let problem) where problem.code == .noIdentifier {
            await offerNearby(url)
        } catch ClipError.cancelled {
        } catch {
            if place == nil { trouble = "This restaurant cannot be shown at the moment." }
        }
    }

    private func offerNearby(_ url: URL) async {
        place = nil
        guard let here = await Fix.current() else {
            trouble = "Choose a restaurant by its code on the table."
            return
        }
        do {
            nearby = try await session.nearby(url, coordinate: here)
        } catch {
            trouble = "The restaurants nearby cannot be shown at the moment."
        }
    }

    /// Orders, if the person is there.
    func placeOrder(evidence: @MainActor (ClipLocation.Region) async -> PresenceEvidence) async {
        guard let url, let place else { return }
        order = .confirming
        do {
            let response = try await session.confirm(url, evidence: await evidence(place.region))
            guard response.outcome == .inRegion else {
                order = .elsewhere
                return
            }
            order = .placed(receipt: response.receipt)
            // The receipt records that this install confirmed its presence.
            _ = try? await session.update(await reachability(), receipt: response.receipt)
        } catch {
            order = .failed
        }
    }

    /// The token that the system gave, or a new one.
    func receive(deviceToken: Data) async {
        self.deviceToken = deviceToken
        _ = try? await session.update(await reachability())
    }

    private func reachability() async -> Reachability {
        let status = await UNUserNotificationCenter.current().notificationSettings().authorizationStatus
        let permission: Reachability.Permission =
            switch status {
            case .notDetermined: .notDetermined
            case .denied: .denied
            case .authorized: .authorized
            case .provisional: .provisional
            case .ephemeral: .ephemeral
            @unknown default: .notDetermined
            }
        return Reachability(permission: permission, deviceToken: deviceToken)
    }
}

/// A single fix, if the person allows it. Needs iOS 18: before that, `liveUpdates()` shows no permission
/// prompt and reports no denial.
enum Fix {
    static func current() async -> ClipLocation.Coordinate? {
        do {
            for try await update in CLLocationUpdate.liveUpdates() {
                if let location = update.location { return ClipLocation.Coordinate(location) }
                if update.authorizationDenied { return nil }
            }
        } catch {
            return nil
        }
        return nil
    }
}
