import Logging
import Lookups
import Platform
import ServiceLifecycle

/// Returns the memory of deleted rows to the system while the process runs.
struct MemoryService: Service {
    let table: LiveLookupIndex
    let logger: Logger

    /// The interval between two checks. [ours]
    private static let pause = Duration.seconds(15)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var trimming = MemoryTrimming()
            while !Task.isCancelled {
                do {
                    let (resident, index) = (try ResidentMemory.now(), table.current?.table.memory ?? 0)
                    if trimming.isDue(resident: resident, index: index) {
                        ResidentMemory.trim()
                        trimming.trimmed(before: resident, after: try ResidentMemory.now(), index: index)
                    }
                } catch {
                    // Without /proc, memory is not returned.
                    return logger.notice("cannot read the resident memory", metadata: ["error": "\(error)"])
                }
                try? await Task.sleep(for: Self.pause)
            }
        }
    }
}
