#if canImport(AppClip) && canImport(CoreLocation)
    public import AppClip
    import Foundation

    extension APActivationPayload {
        /// Asks the system whether the person is in a location's region, without a coordinate. The App Clip
        /// needs `NSAppClipRequestLocationConfirmation` in its Info.plist [Apple].
        ///
        /// It stays on the caller's actor, because the payload must not leave it.
        ///
        /// - Returns: The verdict, or the code of the error instead.
        public func deviceResult(
            in region: ClipLocation.Region, isolation: isolated (any Actor)? = #isolation
        ) async -> DeviceResult {
            await withCheckedContinuation { continuation in
                confirmAcquired(in: region.circularRegion) { inRegion, error in
                    continuation.resume(
                        returning: error.map { .failed(code: ($0 as NSError).code) } ?? .inRegion(inRegion))
                }
            }
        }
    }
#endif
