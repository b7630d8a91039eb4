import Foundation
import PropertyTesting
import Testing

@testable import Invocation

@Suite struct PunycodeTests {
    private static func decoded(_ text: String) -> String? {
        Punycode.decoded(Array(text.utf8).span).map { String(String.UnicodeScalarView($0)) }
    }

    private static func isRefused(_ label: String) -> Bool {
        do throws(InvocationURLError) {
            _ = try InvocationURL("https://\(label).example/a")
            return false
        } catch {
            return error == .invalidPunycode
        }
    }

    /// RFC 3492 §7.1, the samples of lower-case letters, and labels that are in use; German sharp s, final sigma and the
    /// joiners, which older rules mapped, among them.
    @Test(arguments: [
        ("egbpdaj6bu4bxfgehfvwxn", "ليهمابتكلموشعربي؟"),
        ("ihqwcrb4cv8a8dqg056pqjye", "他们为什么不说中文"),
        ("proprostnemluvesky-uyb24dma41a", "pročprostěnemluvíčesky"),
        ("4dbcagdahymbxekheh6e0a7fei0b", "למההםפשוטלאמדבריםעברית"),
        ("n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa", "なぜみんな日本語を話してくれないのか"),
        ("b1abfaaepdrnnbgefbadotcwatmq2g4l", "почемужеонинеговорятпорусски"),
        ("2-u9tlzr9756bt3uc0v", "ひとつ屋根の下2"), ("d9juau41awczczp", "そのスピードで"),
        ("bcher-kva", "bücher"), ("ls8h", "💩"), ("tda", "ü"), ("strae-oqa", "straße"),
        ("nxasmm1c", "βόλος"), ("mgba3gch31f060k", "نامه\u{200C}ای"),
    ])
    func sampleLabelsAreDecoded(text: String, label: String) throws {
        #expect(Self.decoded(text)?.unicodeScalars.elementsEqual(label.unicodeScalars) == true)
        let url = try InvocationURL("https://XN--\(text).example/a")
        #expect(url.host == "xn--\(text).example" && url.isMatchable)
        #expect(try InvocationURL(url.canonical) == url)
        #expect(try URLPrefix(url.canonical).host == url.host)
        // As people write it, it becomes the same.
        #expect(try InvocationURL("https://\(label).example/a") == url)
    }

    /// These labels decode to nothing, or to a text that has another A-label or none.
    @Test(arguments: [
        // Ends within a number, or contains a character that is not a digit.
        "xn--z", "xn--bcher-kv", "xn--bcher-k_a",
        // Grows beyond U+10FFFF, or to a surrogate or a control character.
        "xn--99999999", "xn--99999999999999999999999999999999999999999999999999999999999", "xn--ib9b",
        "xn--a", "xn--abc-d", "xn--a-b-c",
        // Grows beyond what a machine's word holds, at the very first number.
        "xn--hz767205604493046e", "xn--uv767205604493046e",
        // Enclosed, full-width and upper-case letters, and decomposed characters. UTS 46 maps them to other characters.
        "xn--pokxncvks", "XN--POKXNCVKS", "xn--8i7caa", "xn--u-ccb", "xn--cafe-yvc",
    ])
    func invalidALabelIsRejected(label: String) {
        #expect(Self.isRefused(label))
    }

    /// A label that Foundation encodes is accepted, and decodes to the original text.
    @Test func encodedLabelRoundTrips() throws {
        var random = SplitMix64(seed: 5)
        var checked = 0
        for _ in 0..<3_000 {
            let scalars = (0...random.below(8)).map { _ in
                random.oneIn(2)
                    ? Unicode.Scalar(UInt8.random(in: 0x61...0x7A, using: &random))
                    : Unicode.Scalar(UInt16.random(in: 0x4E00...0x9FA5, using: &random)) ?? "中"
            }
            let label = String(String.UnicodeScalarView(scalars))
            guard let encoded = URLComponents(string: "https://\(label)/")?.encodedHost,
                encoded.hasPrefix("xn--")
            else { continue }
            checked += 1
            guard Self.decoded(String(encoded.dropFirst(4))) == label, !Self.isRefused(encoded) else {
                Issue.record("\(label) \(encoded)")
                return
            }
        }
        #expect(checked > 1_000)
    }

    /// Any text is judged, and what passes is its own canonical form.
    @Test func acceptedRandomLabelIsCanonical() {
        var random = SplitMix64(seed: 6)
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-".utf8)
        var accepted = 0
        for _ in 0..<10_000 {
            let text =
                "xn--"
                + String(decoding: (0...random.below(40)).map { _ in random.pick(letters) }, as: UTF8.self)
            guard let url = try? InvocationURL("https://\(text).example") else { continue }
            accepted += 1
            guard url.host == text + ".example", (try? InvocationURL(url.canonical)) == url else {
                Issue.record("\(text)")
                return
            }
        }
        #expect(accepted > 10)
    }
}
