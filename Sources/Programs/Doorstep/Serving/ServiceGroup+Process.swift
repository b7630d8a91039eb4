import Logging
import ServiceLifecycle
import UnixSignals

extension Service {
    /// Does the last work of a service, and gives it up after some time.
    func finish(within time: Duration, _ work: @escaping @Sendable () async -> Void) async {
        await withTaskGroup { group in
            group.addTask { await work() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }
}

extension ServiceGroup {
    /// Runs the services of a process until SIGTERM or SIGINT, and ends them in the opposite order.
    ///
    /// The log names services by their types, because the description of a service contains its parts and could contain secrets.
    static func run(_ services: [any Service], logger: Logger) async throws {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: services.map { .init(service: $0, serviceName: "\(type(of: $0))") },
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
        try await group.run()
    }
}
