import { SignatureError } from './errors.ts'
import { WINDOW_MS } from './profile.ts'
import { SignedRequest, type TimelyRequest, type VerifiedRequest } from './signed-request.ts'

/**
 * Checks that the request was signed at most five minutes before or after `now`, both ends included.
 *
 * `expires` needs no check because it is `created + 300`, which is the end of the window. A request that is dated five
 * minutes ahead is acceptable for ten minutes, so store nonces at least that long.
 *
 * @param now - Milliseconds since 1970, the verifier's clock. This package has none.
 * @throws {SignatureError} `expired`.
 */
export function checkWindow(request: VerifiedRequest, now: number): TimelyRequest {
  // This form also fails for a `now` of NaN.
  const inside = Math.abs(now - request.claims.created * 1000) <= WINDOW_MS
  if (!inside) throw new SignatureError('expired', 'created is more than 5 minutes away from now')
  return SignedRequest.advance(request, 'timely')
}
