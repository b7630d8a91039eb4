import Foundation
import Synchronization

/// The progress of reading a file or of a run, drawn on standard error if that is a terminal.
final class ProgressBar: Sendable {
    private let total: Int?
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let drawn = Mutex(-1)
    private let length = Mutex(0)
    private let shown = Mutex("")

    /// - Parameter total: The file's length in bytes; nil if it is unknown.
    init(total: Int?) {
        self.total = total
    }

    func advance(by count: Int) {
        guard isTerminal else { return }
        let length = length.withLock { length in
            length += count
            return length
        }
        let step = total.map { $0 == 0 ? 100 : min(100, length * 100 / $0) } ?? length >> 20
        let isNew = drawn.withLock { drawn in
            defer { drawn = step }
            return step != drawn
        }
        guard isNew else { return }
        write("\r" + (total == nil ? "\(step) MiB" : Self.bar(percent: step)))
    }

    /// Draws the progress with additional notes.
    func show(_ done: Int, of total: Int, _ note: String) {
        guard isTerminal else { return }
        let line = Self.bar(percent: total == 0 ? 100 : min(100, done * 100 / total)) + " " + note
        let isNew = shown.withLock { shown in
            defer { shown = line }
            return line != shown
        }
        if isNew { write("\r\u{1B}[K" + line) }
    }

    /// Clears the line.
    func finish() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private static func bar(percent: Int) -> String {
        let filled = percent * 40 / 100
        return "[" + String(repeating: "#", count: filled) + String(repeating: " ", count: 40 - filled)
            + "] \(percent) %"
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
