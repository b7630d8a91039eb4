import Foundation

final class Shared: @unchecked Sendable {
    let lock = NSLock()
    var count = 0
    var numbers = [0, 0, 0]
    var uncounted = 0
    var appended: [Int] = []
}
final class Made: @unchecked Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}
let shared = Shared()
let threads = (0..<4).map { _ in
    Thread {
        for _ in 0..<1_000 {
            shared.lock.withLock { shared.count += 1 }
            // A copy that is let go of outside the lock: whoever is alone with the storage then changes it in place.
            let copy = shared.lock.withLock { shared.numbers }
            guard copy.allSatisfy({ $0 >= 0 }) else { return }
            usleep(10)
            shared.uncounted += 1  // wrong
            shared.appended.append(1)  // wrong
            shared.lock.withLock { shared.numbers[1] += 1 }
        }
    }
}
for thread in threads { thread.start() }
while !threads.allSatisfy(\.isFinished) { usleep(1_000) }
// Resumed before the task waits for it.
for number in 0..<20 {
    let made = await withUnsafeContinuation { continuation in
        Thread { continuation.resume(returning: Made(number)) }.start()
        usleep(1_000)
    }
    guard made.number == number else { exit(1) }
}
