import Invocation
import Tenancy

extension Experience {
    static func advanced(_ url: String, clip: String = "com.example.MyApp.Clip") throws -> Experience {
        try Experience(url: URLPrefix(url), kind: .advanced, clip: BundleID(clip))
    }

    static func `default`(_ url: String, clip: String = "com.example.MyApp.Clip") throws -> Experience {
        try Experience(url: URLPrefix(url), kind: .default, clip: BundleID(clip))
    }

    static func demo(_ url: String, clip: String = "com.example.MyApp.Clip") throws -> Experience {
        try Experience(url: URLPrefix(url), kind: .demo, clip: BundleID(clip))
    }
}
