import Testing

@testable import AppAttest

@Suite struct AttestationRootTests {
    @Test func appleRootHasPublishedFingerprint() throws {
        #expect(
            try AttestationRoot.apple().fingerprint
                == "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932")
    }

    @Test(arguments: [
        "", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n",
    ])
    func invalidPEMIsRejected(_ pem: String) {
        #expect(AttestationRoot(pem: pem) == nil)
    }
}
