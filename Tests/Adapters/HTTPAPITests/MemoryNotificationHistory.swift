import APNsPayload
import Invocation
import Notifications
import Synchronization
import Tenancy

/// A history with the notifications, instances and channels of a test.
final class MemoryNotificationHistory: NotificationHistory {
    private struct State {
        var notifications: [TenantID: [RecordedNotification]] = [:]
        var instances: [TenantID: [(summary: InstanceSummary, location: LocationIdentifier?)]] = [:]
    }

    private let state = Mutex(State())
    private let channels: MemoryChannels

    init(_ channels: MemoryChannels) {
        self.channels = channels
    }

    func add(_ notification: RecordedNotification, of tenant: TenantID) {
        state.withLock { $0.notifications[tenant, default: []].append(notification) }
    }

    /// - Parameter location: The location where the instance was launched.
    func add(_ instance: InstanceSummary, of tenant: TenantID, at location: LocationIdentifier? = nil) {
        state.withLock { $0.instances[tenant, default: []].append((instance, location)) }
    }

    func notifications(
        _ selection: NotificationSelection, of tenant: TenantID, before last: NotificationID?, limit: Int
    ) async throws -> [RecordedNotification] {
        state.withLock { state in
            (state.notifications[tenant] ?? []).filter { notification in
                last.map { notification.id.description < $0.description } != false
                    && selection.clip.map { notification.clip == $0 } != false
                    && selection.location.map { notification.location == $0 } != false
                    && selection.locations.map { locations in
                        notification.audience.isOfLocation
                            && notification.location.map(locations.contains) == true
                    } != false
            }.sorted { $0.id.description > $1.id.description }.prefix(limit).map(\.self)
        }
    }

    func instances(
        _ selection: InstanceSelection, of tenant: TenantID, after last: InstanceID?, limit: Int
    ) async throws -> [InstanceSummary] {
        state.withLock { state in
            (state.instances[tenant] ?? []).filter { instance, location in
                last.map { instance.id.description > $0.description } != false
                    && selection.clip.map { instance.clip == $0 } != false
                    && selection.location.map { location == $0 } != false
                    && selection.locations.map { location.map($0.contains) == true } != false
            }.map(\.summary).sorted { $0.id.description < $1.id.description }.prefix(limit).map(\.self)
        }
    }

    func latestInstances(
        _ selection: InstanceSelection, of tenant: TenantID, after last: LaunchLocation?, limit: Int
    ) async throws -> [InstanceSummary] {
        let all = try await instances(selection, of: tenant, after: nil, limit: .max)
        return all.sorted { $0.launchedAt > $1.launchedAt }.drop { instance in
            last.map { (instance.launchedAt, $0.id.description) >= ($0.launchedAt, instance.id.description) }
                == true
        }.prefix(limit).map(\.self)
    }

    func channels(
        _ selection: ChannelSelection, of tenant: TenantID, after last: ChannelCursor?, limit: Int
    ) async throws -> [BroadcastChannel] {
        func order(_ place: ChannelCursor) -> (String, String, String) {
            (place.clip.text, place.environment.rawValue, place.id.text)
        }
        return try await channels.channels(of: tenant).filter { channel in
            last.map { order(channel.place) > order($0) } != false
                && selection.clip.map { channel.clip == $0 } != false
                && selection.environment.map { channel.environment == $0 } != false
        }.sorted { order($0.place) < order($1.place) }.prefix(limit).map(\.self)
    }
}
