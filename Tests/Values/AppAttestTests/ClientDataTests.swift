import Crypto
import Tenancy
import Testing

@testable import AppAttest

@Suite struct ClientDataTests {
    @Test func clientDataHasOneLinePerMember() throws {
        let token = try #require(ClientData.token(clip: BundleID("com.example.App.Clip"), challenge: "abc"))
        #expect(token.bytes == Array("doorstep.token.v1\ncom.example.App.Clip\nabc".utf8))
        let request = try #require(
            ClientData.request(method: "POST", target: "/v1/confirmations", challenge: "abc", body: []))
        // The SHA-256 of nothing.
        #expect(
            request.bytes
                == Array(
                    """
                    doorstep.request.v1
                    POST
                    /v1/confirmations
                    abc
                    47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU
                    """.utf8))
        #expect(request.hash == Array(SHA256.hash(data: request.bytes)))
        #expect(ClientData.attestation(challenge: "abc").bytes == Array("abc".utf8))
    }

    @Test(arguments: ["/a\nb", "/a\rb", "/a b", "/\0", "/\u{7F}"])
    func clientDataWithWhitespaceOrControlCharacterIsRejected(
        _ target: String
    ) {
        #expect(ClientData.request(method: "GET", target: target, challenge: "abc", body: []) == nil)
        #expect(ClientData.request(method: "GET", target: "/", challenge: target, body: []) == nil)
        #expect(ClientData.request(method: target, target: "/", challenge: "abc", body: []) == nil)
    }
}
