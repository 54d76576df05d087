import { beforeAll, expect, test } from '@jest/globals'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { addTorrent, DESKTOP, NARROW, useSite, type Visit } from './support/site.ts'

const site = useSite()
beforeAll(async () => {
  await site.tracker.signedIn('alice')
})

async function signIn({ page }: Visit, password = PASSWORD): Promise<void> {
  await page.getByLabel('Username').fill('alice')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('a visitor signs in and continues to the requested page', async () => {
  const visit = await site.open('/torrents?search=harbour&sort=size', NARROW)
  const { page, problems } = visit
  await page.waitForURL('**/login?next=**')
  await page.getByRole('link', { name: 'Register with an invite' }).waitFor()
  await page.getByText('Forgot your password?').waitFor()

  await signIn(visit, 'not the password')
  await page.getByRole('alert').getByText('wrong').waitFor()
  expect(await problems('login-refused')).toEqual([])

  await signIn(visit)
  await page.waitForURL('**/torrents?search=harbour&sort=size')
  await page.getByRole('button', { name: 'alice' }).click()
  expect(await problems('account-menu')).toEqual([])
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/login')
})

test.each(['https://elsewhere.test/', '//elsewhere.test/', '/\\elsewhere.test/', 'javascript:alert(1)'])(
  'signing in does not redirect to %s',
  async (next) => {
    const visit = await site.open(`/login?next=${encodeURIComponent(next)}`, DESKTOP)
    await signIn(visit)
    await visit.page.waitForURL(`${site.tracker.url}/torrents`)
    expect(await visit.problems('login-next')).toEqual([])
  },
)

test('an invited visitor creates an account', async () => {
  const admin = await site.tracker.signedIn('inviting-admin', 'admin')
  const code = (await admin.post('/api/user/invites')).member('code')
  const { page, problems } = await site.open(`/register?invite=${code}`, DESKTOP)
  await page.getByLabel('Username').fill('alice')
  await page.getByLabel('Email').fill('carol@example.org')
  await page.getByLabel('Password').fill('long enough to guess')
  expect(await page.getByLabel('Invite code').inputValue()).toBe(code)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('taken').waitFor()
  expect(await problems('register-refused')).toEqual([])

  await page.getByLabel('Username').fill('carol')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/torrents')
  await page.getByRole('button', { name: 'carol' }).waitFor()
})

test('an open site with its own name lets visitors register, and shows the name in pages and in Torznab', async () => {
  const named = await site.another({ REGISTRATION: 'open', SITE_NAME: 'Films & Friends' })
  const { page } = await named.open('/login', DESKTOP)
  await page.locator('.brand', { hasText: 'Films & Friends' }).waitFor()
  expect(await page.title()).toBe('Sign in · Films & Friends')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Email').waitFor()
  expect(await page.getByLabel('Invite code').count()).toBe(0)
  const member = await named.tracker.signedIn('nora')
  const visit = await named.open('/torrents', DESKTOP, member)
  expect(await visit.page.locator('.brand').textContent()).toBe('Films & Friends')
  const key = (await member.get('/api/user/me')).member('passkey')
  const caps = await fetch(`${named.tracker.url}/api/torznab?t=caps&apikey=${key}`)
  expect(await caps.text()).toContain('title="Films &amp; Friends"')
})

test('a closed site shows that registration is closed', async () => {
  const { page } = await (await site.another({ REGISTRATION: 'closed' })).open('/register', DESKTOP)
  await page.getByText('Registration is closed.').waitFor()
})

test('a form keeps what was typed when the session ends, and can be sent after signing in again', async () => {
  const member = await site.tracker.signedIn('dora')
  const uploaded = await member.get('/api/user/me')
  const visit = await site.open('/me?tab=password', DESKTOP, member)
  const { page, context } = visit
  await page.getByRole('link', { name: 'Statistics' }).click()
  await page.getByRole('checkbox').waitFor()
  await context.clearCookies()
  await page.getByRole('checkbox').click()
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  expect(await visit.problems('session-ended')).toEqual([])
  expect(await page.getByLabel('Username').inputValue()).toBe('dora')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('checkbox').click()
  await page.getByText('Saved.').waitFor()
  expect((await member.get('/api/user/me')).json).not.toEqual(uploaded.json)
})

async function signInAgain({ page }: Visit): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('a form keeps what was typed when a background request finds that the session has ended', async () => {
  const visit = await site.open('/upload', DESKTOP, await site.tracker.signedIn('erik'))
  const { page, context, problems } = visit
  await page.getByLabel('Choose a .torrent file').setInputFiles({
    name: 'typed.torrent',
    mimeType: 'application/x-bittorrent',
    buffer: makeTorrent('Paper.Moons.2024.1080p'),
  })
  await page.getByLabel('Description').fill('Recorded at home.')
  await context.clearCookies()
  await page.getByLabel('Name').fill('Another.Harbour.2025.1080p')
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  expect(await problems('session-ended-upload')).toEqual([])
  await signInAgain(visit)
  await page.getByRole('heading', { name: 'Another Harbour' }).waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('Recorded at home.')
  expect(await page.getByText('Could not load this').count()).toBe(0)
})

test('a page that was opened after the session ended loads after signing in again', async () => {
  const member = await site.tracker.signedIn('frida')
  const name = 'Distant.Shores.2023.1080p'
  await addTorrent(member, name)
  const visit = await site.open('/torrents', DESKTOP, member)
  const { page, context } = visit
  const link = page.getByRole('link', { name, exact: true })
  await link.waitFor()
  await context.clearCookies()
  await link.click()
  await signInAgain(visit)
  await page.getByRole('heading', { name }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/torrents\/./)
})
