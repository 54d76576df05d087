// The group of RFC 8032 section 5.1, as much of it as it takes to judge a public key. BigInt is neither fast nor
// constant-time; public keys are public, and each is judged once, when it is registered.

const P = 2n ** 255n - 19n
/** The order of the base point. */
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const D = mod(-121665n * power(121666n, P - 2n))
const SQRT_MINUS_ONE = power(2n, (P - 1n) / 4n)

/** Extended homogeneous coordinates: x = X/Z, y = Y/Z, xy = T/Z. */
export type Point = { readonly X: bigint; readonly Y: bigint; readonly Z: bigint; readonly T: bigint }

const IDENTITY: Point = { X: 0n, Y: 1n, Z: 1n, T: 0n }

/**
 * Decodes 32 bytes (RFC 8032 section 5.1.3), up to the sign of x: a point and its negative have the same order, so the
 * judgement is the same. Undefined when the encoding is not canonical or no point of the curve has this y.
 */
export function decodeUpToSign(bytes: Uint8Array): Point | undefined {
  const encoded = bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const sign = encoded >> 255n
  const y = encoded & (2n ** 255n - 1n)
  if (y >= P) return undefined

  const u = mod(y * y - 1n)
  const v = mod(D * y * y + 1n)
  const root = mod(u * v ** 3n * power(mod(u * v ** 7n), (P - 5n) / 8n))
  const square = mod(v * root * root)
  if (square !== u && square !== mod(-u)) return undefined
  const x = square === u ? root : mod(root * SQRT_MINUS_ONE)
  if (x === 0n && sign === 1n) return undefined
  return { X: x, Y: y, Z: 1n, T: mod(x * y) }
}

/**
 * Whether a point lies in the prime-order subgroup without being the identity.
 *
 * False for points of small order, under which one signature fits almost every message, and for points with a torsion
 * part, on which verifiers disagree.
 */
export function isOfPrimeOrder(point: Point): boolean {
  return !isIdentity(point) && isIdentity(multiply(point, L))
}

/** RFC 8032 section 5.1.4. The formula is complete: it doubles as well. */
function add(p: Point, q: Point): Point {
  const a = mod((p.Y - p.X) * (q.Y - q.X))
  const b = mod((p.Y + p.X) * (q.Y + q.X))
  const c = mod(2n * D * p.T * q.T)
  const d = mod(2n * p.Z * q.Z)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return { X: mod(e * f), Y: mod(g * h), T: mod(e * h), Z: mod(f * g) }
}

function multiply(point: Point, scalar: bigint): Point {
  let product = IDENTITY
  for (const bit of scalar.toString(2)) {
    product = add(product, product)
    if (bit === '1') product = add(product, point)
  }
  return product
}

function isIdentity(point: Point): boolean {
  return point.X === 0n && point.Y === point.Z
}

function mod(value: bigint): bigint {
  const rest = value % P
  return rest < 0n ? rest + P : rest
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n
  for (const bit of exponent.toString(2)) {
    result = mod(result * result)
    if (bit === '1') result = mod(result * base)
  }
  return result
}
