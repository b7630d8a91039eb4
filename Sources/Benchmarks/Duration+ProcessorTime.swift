import Glibc

extension Duration {
    /// The processor time of this process, in user and system mode.
    static var processorTime: Duration {
        .seconds(Double(clock()) / Double(CLOCKS_PER_SEC))
    }
}
