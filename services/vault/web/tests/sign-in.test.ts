import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort, type Visit } from '@vault-and-tracker/dev-env'
import { admin } from '../../tests/support/client.ts'
import { type OidcProvider, startOidcProvider } from '../../tests/support/oidc-provider.ts'
import { ADMIN_TOKEN, DESKTOP, fillVault, NARROW, stored, useConsole } from './support/console.ts'

const PEOPLE = { ada: ['vault-admins'], grace: ['shop-team', 'security'], eve: ['sales'] }

const env: Record<string, string> = {}
let provider: OidcProvider

beforeAll(async () => {
  const port = String(await freePort())
  const origin = `http://127.0.0.1:${port}`
  provider = await startOidcProvider([origin], PEOPLE)
  Object.assign(env, provider.env, {
    ...{ PUBLIC_URL: origin, PORT: port, OIDC_LABEL: 'Example ID' },
    OIDC_ROLES: 'vault-admins=administrator; shop-team=editor:shop; security=auditor',
  })
})
afterAll(() => provider.stop())
const site = useConsole(env)
beforeAll(async () => {
  await fillVault(site.vault)
})

async function open(path: string, view = DESKTOP) {
  const visit = await site.open(path, view)
  // The pages of the provider load a font.
  await visit.page.route(
    (url) => url.hostname !== '127.0.0.1',
    (route) => route.abort(),
  )
  return visit
}

/** The problems of the console, without the requests to the provider. */
async function problemsOf(visit: Visit, name: string): Promise<readonly string[]> {
  return (await visit.problems(name)).filter((problem) => !problem.startsWith('request to '))
}

async function signIn({ page }: Visit, person: string): Promise<void> {
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await page.getByPlaceholder('Enter any login').fill(person)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

test('a person signs in with the provider, works, and signs out', async () => {
  const visit = await open('/projects/shop?tab=secrets')
  const { page, sent } = visit
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await problemsOf(visit, 'oidc-sign-in')).toEqual([])
  await signIn(visit, 'grace')
  await page.getByRole('cell', { name: 'staging' }).first().waitFor()
  expect(page.url()).toBe(`${site.vault.url}/console/projects/shop?tab=secrets`)
  const cookies = await visit.context.cookies(site.vault.url)
  expect(cookies.find(({ name }) => name === 'vault-session')).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
  expect(await page.evaluate<string>('document.cookie')).toBe('')
  expect((await stored(visit)).startsWith('[{},{}]')).toBe(true)
  // The code is in no referrer.
  expect(sent.filter(({ text }) => text.includes(`"referer":"${site.vault.url}`))).toEqual([])

  await page.getByRole('button', { name: 'grace@example.org' }).click()
  await page.getByText(/^Session ends/).waitFor()
  expect(await problemsOf(visit, 'oidc-account')).toEqual([])
  await page.keyboard.press('Escape')

  // She may edit secrets of this project only, and the browser proves the origin of the request.
  await page.getByRole('button', { name: 'Add secret' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('SIGNED_IN')
  await dialog.getByLabel('New value').fill('v')
  await dialog.getByRole('button', { name: 'Add secret' }).click()
  await page.getByText('SIGNED_IN', { exact: true }).waitFor()
  const [put] = (await admin(site.vault.url, 'GET', '/audit?action=put&actor=oidc:grace')).body as object[]
  expect(put).toMatchObject({ projectId: 'shop', actor: 'oidc:grace' })
  await page.goto(`${site.vault.url}/console/projects/newsletter?tab=secrets`)
  await page.getByRole('heading', { name: 'newsletter' }).waitFor()
  expect(await page.getByRole('button', { name: 'Add secret' }).count()).toBe(0)

  await page.getByRole('button', { name: 'grace@example.org' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('button', { name: 'Yes, sign me out' }).click()
  await page.getByRole('link', { name: 'Sign in with Example ID' }).waitFor()
  expect(page.url()).toBe(`${site.vault.url}/console/`)
  expect((await admin(site.vault.url, 'GET', '/sessions')).body).toEqual([])
})

test('a session that ends returns to the sign-in and keeps the page', async () => {
  const visit = await open('/audit?action=put', NARROW)
  const { page } = visit
  await signIn(visit, 'ada')
  await page.getByRole('heading', { name: 'Audit log' }).waitFor()
  // Otherwise a request of this page may already find that the session has ended.
  await page.waitForLoadState('networkidle')
  await admin(site.vault.url, 'DELETE', '/sessions')
  // Without the pointer above it, which already reads the projects.
  await page.getByRole('link', { name: 'Projects', exact: true }).dispatchEvent('click')
  await page.getByText('Your session has ended. Sign in again to continue.').waitFor()
  await page.getByRole('link', { name: 'Sign in with Example ID' }).click()
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/projects')
  await page.getByRole('button', { name: 'ada@example.org' }).click()
})

test('typed text is kept hidden when the session ends, and continues with the same administrator', async () => {
  const visit = await open('/projects/shop?tab=secrets')
  const { page, context } = visit
  await signIn(visit, 'ada')
  await page.getByRole('button', { name: 'Add secret' }).click()
  const adding = page.getByRole('dialog', { name: 'Add secret' })
  await adding.getByLabel('Name').fill('UNSENT')
  await adding.getByLabel('New value').fill('typed before the end')
  await admin(site.vault.url, 'DELETE', '/sessions')
  await adding.getByRole('button', { name: 'Add secret' }).click()
  const again = page.getByRole('dialog', { name: 'Sign in again' })
  await again.waitFor()
  // What was read is out of sight.
  expect(await page.locator('.console :visible').count()).toBe(0)
  expect(await problemsOf(visit, 'sign-in-again')).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Keep editing' }).press('Enter')

  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    again.getByRole('link', { name: 'Sign in with Example ID' }).click(),
  ])
  await tab.getByRole('heading', { name: 'shop' }).waitFor()
  await page.evaluate("dispatchEvent(new Event('focus'))")
  await again.waitFor({ state: 'detached' })
  expect(await adding.getByLabel('New value').inputValue()).toBe('typed before the end')
  await adding.getByRole('button', { name: 'Add secret' }).click()
  await page.getByText('UNSENT stored in production as version 1.').waitFor()

  await page.getByRole('button', { name: 'Add secret' }).click()
  await adding.getByLabel('New value').fill('not for others')
  await admin(site.vault.url, 'DELETE', '/sessions')
  await adding.getByLabel('Name').fill('OTHER')
  await adding.getByRole('button', { name: 'Add secret' }).click()
  await again.getByLabel('Admin token').fill(ADMIN_TOKEN)
  await again.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Admin token' }).waitFor()
  await page.getByText('UNSENT', { exact: true }).waitFor()
  expect(await page.locator('dialog').count()).toBe(0)
})

test('an administrator lists and revokes sessions', async () => {
  const grace = await open('/administrators')
  await signIn(grace, 'grace')
  await grace.page.getByRole('cell', { name: 'oidc:grace' }).waitFor()
  expect(await grace.page.getByRole('button', { name: 'Revoke' }).count()).toBe(0)
  const visit = await open('/administrators')
  const { page } = visit
  await signIn(visit, 'ada')
  await page.getByRole('button', { name: 'Revoke session of grace@example.org' }).click()
  expect(await problemsOf(visit, 'sessions-revoke')).toEqual([])
  await page.getByRole('button', { name: 'Revoke session', exact: true }).click()
  await page.getByText('Session of grace@example.org revoked.').waitFor()
  await page.getByRole('cell', { name: 'oidc:grace' }).waitFor({ state: 'detached' })
  expect(await problemsOf(visit, 'sessions')).toEqual([])
  const { body } = await admin(site.vault.url, 'GET', '/sessions')
  expect(body).not.toContainEqual(expect.objectContaining({ actor: 'oidc:grace' }))
})

test('a person without a role sees the reason', async () => {
  const visit = await open('/projects')
  const { page } = visit
  await signIn(visit, 'eve')
  await page.getByText(/^None of your groups/).waitFor()
  expect(page.url()).toBe(`${site.vault.url}/console/projects`)
  expect(await problemsOf(visit, 'oidc-forbidden')).toEqual([])
})
