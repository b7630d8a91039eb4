import Testing

/// The entry point of all tests.
///
/// With this file, SwiftPM does not search for tests of XCTest, for which it would need an index store.
@main
struct TestRunner {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
