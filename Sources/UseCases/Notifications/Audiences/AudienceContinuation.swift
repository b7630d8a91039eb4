import Tenancy

/// Adds the rest of audiences that are too large for one request, part by part, until it is stopped.
///
/// Tenants take turns. Several servers can do this at once, and each continues where another stopped, because each part stores
/// the progress.
public final class AudienceContinuation: Sendable {
    /// An event for logs and metrics.
    public enum Event: Sendable {
        case taken(AudiencePart)
        /// A part was not taken in, and is tried again.
        case failed(any Error)
        /// Unfinished audiences could not be read, and are read again. Called once per failure.
        case unavailable(any Error)
    }

    private let store: any NotificationStore
    private let pollInterval: Duration
    private let clock: any Clock<Duration>
    private let due = WakeUp()

    /// - Parameter pollInterval: The longest time until an audience of a dead server is continued.
    public init(
        _ store: any NotificationStore, pollInterval: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.store = store
        self.pollInterval = pollInterval
        self.clock = clock
    }

    /// An unfinished audience exists now.
    public func wake() { due.raise() }

    /// Runs until the task is cancelled; a running part is then added completely or not at all. Call it once.
    public func run(onEvent: @escaping @Sendable (Event) -> Void = { _ in }) async {
        await withTaskGroup { group in
            group.addTask {
                while (try? await self.clock.sleep(for: self.pollInterval)) != nil { self.due.raise() }
            }
            var isUnavailable = false
            while !Task.isCancelled {
                do {
                    let tenants = try await store.tenantsWithAudiencesToContinue()
                    isUnavailable = false
                    if await takeParts(of: tenants, onEvent) { continue }
                } catch {
                    if !isUnavailable, !Task.isCancelled { onEvent(.unavailable(error)) }
                    isUnavailable = true
                }
                await due.wait()
            }
            group.cancelAll()
        }
    }

    /// One part of each tenant.
    /// - Returns: Whether one was taken.
    private func takeParts(of tenants: [TenantID], _ onEvent: (Event) -> Void) async -> Bool {
        var hasTaken = false
        for tenant in tenants where !Task.isCancelled {
            do {
                guard let part = try await store.continueAudience(of: tenant) else { continue }
                hasTaken = true
                onEvent(.taken(part))
            } catch {
                // One tenant's does not hold up the others'.
                if !Task.isCancelled { onEvent(.failed(error)) }
            }
        }
        return hasTaken
    }
}
