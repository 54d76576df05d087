import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

type Options = { readonly challenge: string }

/** What an attacker may change in what an authenticator or a browser returns. */
type Changes = { readonly origin?: string; readonly rpId?: string; readonly type?: string; readonly flags?: number }

/** An authenticator in software, with one security key. It counts its uses. */
export function createAuthenticator(site: { readonly origin: string; readonly rpId: string }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let uses = 0

  const clientData = (type: string, { challenge }: Options, changes: Changes): Buffer =>
    Buffer.from(JSON.stringify({ type: changes.type ?? type, challenge, origin: changes.origin ?? site.origin }))

  function authData({ rpId = site.rpId, flags = 0x05 }: Changes, credential?: Buffer): Buffer {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(uses)
    const hash = createHash('sha256').update(rpId).digest()
    const present = credential === undefined ? flags : flags | 0x40
    return Buffer.concat([hash, Buffer.of(present), counter, credential ?? Buffer.alloc(0)])
  }

  return {
    id: id.toString('base64url'),

    /** Answers the options for a new security key. @param statement of an attestation that nobody has asked for */
    create(options: Options, changes: Changes = {}, statement?: ReadonlyMap<string, Uint8Array[]>) {
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      const key = new Map<number, number | Uint8Array>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Uint8Array.from(Buffer.from(x, 'base64url'))],
        [-3, Uint8Array.from(Buffer.from(y, 'base64url'))],
      ])
      const length = Buffer.of(0, id.length)
      const credential = Buffer.concat([Buffer.alloc(16), length, id, isoCBOR.encode(key)])
      const attestation = new Map<string, string | Uint8Array | Map<string, Uint8Array[]>>([
        ['fmt', statement === undefined ? 'none' : 'packed'],
        ['attStmt', new Map(statement)],
        ['authData', Uint8Array.from(authData(changes, credential))],
      ])
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: clientData('webauthn.create', options, changes).toString('base64url'),
          attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
          transports: ['internal'],
        },
      }
    },

    /** Answers the options for a sign-in. */
    get(options: Options, changes: Changes = {}) {
      uses += 1
      const [client, authenticator] = [clientData('webauthn.get', options, changes), authData(changes)]
      const signed = Buffer.concat([authenticator, createHash('sha256').update(client).digest()])
      return {
        id: id.toString('base64url'),
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: authenticator.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
        },
      }
    },
  }
}
