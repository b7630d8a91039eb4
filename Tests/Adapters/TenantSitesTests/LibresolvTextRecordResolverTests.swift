import Administration
import LocalServers
import Testing

@testable import TenantSites

@Suite(.timeLimit(.minutes(30))) struct LibresolvTextRecordResolverTests {
    private static func ask(
        _ response: LocalNameServer.Answer, timeout: Duration = .seconds(60)
    ) async throws -> Result<[String], NoResponse> {
        let name = "_doorstep-challenge.example.com"
        return try await LocalNameServer.lend({ $0 == name ? response : nil }) { server in
            let nameServer = try #require(NameServer("127.0.0.1:\(server.port)"))
            let resolver = LibresolvTextRecordResolver(server: nameServer, timeout: timeout)
            do throws(NoResponse) {
                return .success(try await resolver.textRecords(of: name))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func recordStringsAreConcatenated() async throws {
        let long = String(repeating: "x", count: 255)
        #expect(
            try await Self.ask(.texts([["one"], ["t", "wo"], [long, "y"], [""]])).get()
                == ["one", "two", long + "y", ""])
    }

    @Test func aliasResolvesToItsRecords() async throws {
        #expect(
            try await Self.ask(.texts([["one"]], alias: "proofs.example.net")).get() == ["one"])
        #expect(try await Self.ask(.texts([], alias: "proofs.example.net")).get() == [])
    }

    @Test func responseTooLargeForUDPIsReadOverTCP() async throws {
        let texts = (0..<20).map { number in ["\(number)" + String(repeating: "x", count: 200)] }
        #expect(try await Self.ask(.tooLargeForUDP(texts)).get() == texts.map { $0[0] })
    }

    @Test func missingNameHasNoRecords() async throws {
        #expect(try await Self.ask(.code(0)).get() == [])
        #expect(try await Self.ask(.code(3)).get() == [])
    }

    @Test func serverFailureOrInvalidResponseIsAnError() async throws {
        for code in [2, 5] as [UInt8] {
            await #expect(throws: NoResponse.self) { try await Self.ask(.code(code)).get() }
        }
        for response in [LocalNameServer.Answer.cutOff, .noMessage] {
            await #expect(throws: NoResponse.self) {
                try await Self.ask(response, timeout: .seconds(1)).get()
            }
        }
    }

    @Test func silentServerTimesOut() async throws {
        for response in [LocalNameServer.Answer.silence, .silenceOverTCP] {
            await #expect(throws: NoResponse.self) {
                try await Self.ask(response, timeout: .milliseconds(200)).get()
            }
        }
    }

    @Test func nameServerIsAnAddressWithOptionalPort() {
        #expect(NameServer("127.0.0.1:5353")?.port == 5_353)
        #expect(NameServer("9.9.9.9")?.port == 53)
        for text in [
            "", "localhost", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:1:2", "::1", "1.2.3",
        ] {
            #expect(NameServer(text) == nil, "\(text)")
        }
    }
}
