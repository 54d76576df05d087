import { existsSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import { createVisits, launchChromium, type View, type Visit, visitPage } from '@vault-and-tracker/dev-env'
import type { Browser } from 'playwright-core'
import { admin, createProject, type Key, signerOf } from '../../../tests/support/client.ts'
import { ADMIN_TOKEN, startVault, type TestVault } from '../../../tests/support/vault.ts'

export { ADMIN_TOKEN }

export const DESKTOP: View = { width: 1280 }
export const NARROW: View = { width: 390 }

/** A request as it left the browser. */
export type Sent = { readonly url: string; readonly text: string }

/** A vault that serves the built console, and a browser. */
type Console = {
  readonly vault: TestVault
  /**
   * Opens an address below `/console` and signs in with a token, if one is given. A token has one context for each width;
   * without one, the context is new.
   */
  open(path: string, view: View, token?: string): Promise<Visit & { readonly sent: readonly Sent[] }>
  /** Adds a named administrator and returns the token. */
  tokenOf(administrator: object): Promise<string>
}

const BUILT = new URL('../../dist/index.html', import.meta.url)

/** One empty vault for all tests of a file. The pages of a test are left after it. */
export function useConsole(env: Readonly<Record<string, string>> = {}): Console {
  let vault: TestVault
  let browser: Browser
  const visits = createVisits<Visit & { readonly sent: readonly Sent[] }>()
  beforeAll(async () => {
    if (!existsSync(BUILT)) throw new Error('the console is not built: run pnpm build')
    ;[vault, browser] = await Promise.all([startVault(env), launchChromium()])
  })
  afterEach(async () => {
    expect(await visits.leave()).toEqual([])
  })
  afterAll(async () => {
    await browser.close()
    await vault.stop()
  })
  return {
    get vault() {
      return vault
    },
    open: (path, view, token) => {
      const key = token && [token, view.width].join()
      return visits.open(key, `${vault.url}/console${path}`, async () => {
        const sent: Sent[] = []
        const visit = await visitPage(browser, {
          ...{ origin: vault.url, path: `/console${path}`, view },
          prepare: (context) => {
            context.on('request', (request) => {
              const headers = JSON.stringify(request.headers())
              sent.push({ url: request.url(), text: `${request.url()} ${headers} ${request.postData() ?? ''}` })
            })
            return Promise.resolve()
          },
        })
        if (token !== undefined) await signIn(visit, token)
        return { ...visit, sent, leave: () => visit.leave().finally(() => sent.splice(0)) }
      })
    },
    tokenOf: async (administrator) => {
      const { body } = await admin(vault.url, 'POST', '/administrators', administrator)
      return (body as { token: string }).token
    },
  }
}

export async function signIn({ page }: Visit, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Main' }).waitFor()
}

/** Everything that the browser stores for the page, as text, except the session and whose it is. */
export async function stored({ page, context }: Visit): Promise<string> {
  const inPage = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage, account: undefined }, { ...sessionStorage }])',
  )
  const cookies = await context.cookies()
  return inPage + JSON.stringify(cookies.filter(({ name }) => name !== 'vault-session'))
}

/** Projects with secrets, keys with several scopes, and requests, some of them refused. */
export async function fillVault(vault: TestVault): Promise<{ shop: Key }> {
  const signed = signerOf(() => vault)
  const shop = await createProject(vault.url, 'shop')
  await createProject(vault.url, 'billing-service', { scope: { access: 'read', envs: ['production'] } })
  await createProject(vault.url, 'newsletter', { requireContentDigest: true })
  await createProject(vault.url, 'warehouse.api')
  for (const [env, keys] of Object.entries({
    production: ['DATABASE_URL', 'STRIPE_API_KEY', 'SMTP_PASSWORD'],
    staging: ['DATABASE_URL', 'STRIPE_API_KEY'],
  }))
    for (const key of keys) await signed('shop', shop, 'PUT', { key, value: `${VALUE}-1`, env })
  await signed('shop', shop, 'PUT', { key: 'DATABASE_URL', value: `${VALUE}-2`, env: 'production' })
  for (let i = 0; i < 55; i++) await signed('shop', shop)
  const other = await createProject(vault.url, 'ended')
  await admin(vault.url, 'PUT', '/projects/warehouse.api/rotate')
  const [key] = (await admin(vault.url, 'GET', '/projects/ended/keys')).body as { fingerprint: string }[]
  await admin(vault.url, 'DELETE', `/projects/ended/keys/${key?.fingerprint ?? ''}`)
  await signed('ended', other)
  return { shop }
}

/** A part of every secret value. */
export const VALUE = 'correct-horse-battery'

/** Activity of the last week, more by day than by night. */
export async function useVault(vault: TestVault): Promise<void> {
  await vault.sql(
    `insert into audit (id, project_id, action, env, requested_at, ip, actor, detail)
      select (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
        case when n % 3 = 0 then 'billing-service' else 'shop' end,
        case when n % 11 = 0 then 'refused' when n % 7 = 0 then 'put' else 'fetch' end,
        case when n % 11 = 0 then null else 'production' end, at, '10.0.0.7',
        case when n % 11 = 0 then 'unknown' else 'key:0123456789abcdef0123456789abcdef' end,
        case when n % 11 = 0 then jsonb_build_object('since', at, 'invalid_signature', 3) end
      from (
        select n, at, lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') as hex
        from (
          select n, to_timestamp($1::double precision / 1000) - interval '7 days' * power(n / 2000.0, 1.3) as at
          from generate_series(1, 2000) as n
        ) as times
      ) as entries
      where extract(hour from at) > 6 or n % 4 = 0`,
    [vault.now()],
  )
}
