import Formats
import Foundation
import Testing

@Suite struct UUIDTextTests {
    @Test func uuidIsParsedInEitherCase() {
        let uuid = UUID()
        #expect(UUID(text: uuid.uuidString) == uuid)
        #expect(UUID(text: uuid.uuidString.lowercased()) == uuid)
    }

    /// Foundation accepts most of these texts.
    @Test(arguments: [
        "", "7d3c2f9a", "7d3c2f9a8b1e4c559e0f2a6d1b7c4e10", "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e1",
        "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e1g", "{7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10}",
        "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10\0", "7d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10\0\r\nx: y",
        " 1 1 1 1- 1 1- 1 1- 1 1- 1 1 1 1 1 1", "+1+1+1+1-+1+1-+1+1-+1+1-+1+1+1+1+1+1",
        "\n1\n1\n1\n1-\n1\n1-\n1\n1-\n1\n1-\n1\n1\n1\n1\n1\n1", "７d3c2f9a-8b1e-4c55-9e0f-2a6d1b7c4e10",
    ])
    func malformedUUIDIsRejected(text: String) {
        #expect(UUID(text: text) == nil)
    }
}
