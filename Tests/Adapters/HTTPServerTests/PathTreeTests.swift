import Testing

@testable import HTTPServer

@Suite struct PathTreeTests {
    @Test(
        arguments: [
            ("/", "/", [:]), ("//", "/", [:]), ("/a/1", "/a/{id}", ["id": "1"]), ("/a/b", "/a/b", [:]),
            ("/a//1/", "/a/{id}", ["id": "1"]), ("/a/b/c", "/a/{id}/c", ["id": "b"]),
            ("/a/%2F", "/a/{id}", ["id": "%2F"]), ("/a", nil, [:]), ("/a/1/d", nil, [:]), ("/A/b", nil, [:]),
        ] as [(String, String?, [Substring: Substring])])
    func pathFindsItsElement(_ path: String, found: String?, parameters: [Substring: Substring]) {
        let tree = PathTree(["/", "/a/b", "/a/{id}", "/a/{id}/c"], path: \.self)
        let match = tree.match(path[...])
        #expect(match?.elements.first == found)
        #expect(match?.parameters(in: found ?? "") ?? [:] == parameters)
    }
}
