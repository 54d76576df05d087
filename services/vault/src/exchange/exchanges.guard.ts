import type { Guard } from '@vault-and-tracker/rest'
import { addressKey, clientAddress, type TrustedProxies } from '@vault-and-tracker/service-kit/http/client-address'
import type { Request, Response } from 'express'
import type { Exchanger } from '../access/project-caller.ts'
import { wantedWrite } from '../http/input.ts'
import type { VaultSurface } from '../http/surface.ts'

/** Lets every request in: the ID token in its body is verified by the handler. */
export function createExchangeGuard(proxies: TrustedProxies): Guard<VaultSurface, Exchanger> {
  return (_endpoint, request: Request, response: Response) => {
    const address = clientAddress(request, proxies)
    return Promise.resolve({
      ...{ kind: 'exchanger' as const, address, client: addressKey(address), wanted: wantedWrite(response) },
    })
  }
}
