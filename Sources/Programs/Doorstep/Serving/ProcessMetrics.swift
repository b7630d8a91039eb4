import Foundation
import Metrics
import Platform
import Synchronization

/// Metrics of the process, with the names of Prometheus' client libraries.
final class ProcessMetrics: Sendable {
    private let processorTime = FloatingPointCounter(label: "process_cpu_seconds")
    private let countedTime = Mutex(Duration.zero)
    private let memory = Meter(label: "process_resident_memory_bytes")
    private let files = Meter(label: "process_open_fds")
    private let maximumFiles = Meter(label: "process_max_fds")
    private let threads = Meter(label: "process_threads")

    init() {
        Meter(label: "process_start_time_seconds").set(Date().timeIntervalSince1970)
    }

    func update() {
        countedTime.withLock { counted in
            let all = ProcessorTime.ofProcess
            processorTime.increment(by: (all - counted) / .seconds(1))
            counted = all
        }
        if let resident = try? ResidentMemory.now() { memory.set(resident) }
        if let open = ProcessStatistics.openFiles { files.set(open) }
        maximumFiles.set(ProcessStatistics.maximumFiles)
        if let count = ProcessStatistics.threads { threads.set(count) }
    }
}
