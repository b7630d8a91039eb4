import Testing

@testable import Tenancy

@Suite struct IDTests {
    @Test(arguments: ["com.example.MyApp.Clip", "a.b", "com.example-inc.App1"])
    func validBundleIDIsAccepted(text: String) throws {
        #expect(try BundleID(text).text == text)
    }

    @Test(arguments: [
        "", "com", ".com.example", "com..example", "com.example.", "com.exämple.app", "com.example app",
    ])
    func invalidBundleIDIsRejected(text: String) {
        #expect(throws: TenancyError.invalidBundleID) { try BundleID(text) }
    }

    @Test func bundleIDOver155BytesIsRejected() throws {
        #expect(try BundleID("a." + String(repeating: "b", count: 153)).text.utf8.count == 155)
        #expect(throws: TenancyError.invalidBundleID) {
            try BundleID("a." + String(repeating: "b", count: 154))
        }
    }

    @Test func parentDropsLastComponent() throws {
        #expect(try BundleID("com.example.MyApp.Clip").parent == BundleID("com.example.MyApp"))
        #expect(try BundleID("a.b").parent == nil)
    }

    @Test func teamIDSyntaxIsChecked() throws {
        #expect(try TeamID("ABCDE12345").text == "ABCDE12345")
        for text in ["", "abcde12345", "ABCDE1234", "ABCDE123456", "ABCDE-1234", "ÄBCDE1234"] {
            #expect(throws: TenancyError.invalidTeamID) { try TeamID(text) }
        }
    }

    @Test func slugSyntaxIsChecked() throws {
        for text in ["a", "donut-shop", "7-eleven", String(repeating: "x", count: 63)] {
            #expect(try TenantSlug(text).text == text)
        }
        for text in ["", "-a", "a-", "Donut", "donut_shop", "dönut", String(repeating: "x", count: 64)] {
            #expect(throws: TenancyError.invalidSlug) { try TenantSlug(text) }
        }
    }
}
