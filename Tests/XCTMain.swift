import Testing
import XCTest

/// The entry point of all tests.
///
/// Without this file, SwiftPM would search for tests of XCTest, and would need an index store for that. There are none.
@main
struct TestRunner {
    static func main() async {
        // `swift test` runs the program once for each of the two libraries.
        guard CommandLine.arguments.contains("swift-testing") else { XCTMain([]) }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
