import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { addTorrent, DESKTOP, type Site, startSite, VIEWS, type Visit } from './support/site.ts'

let site: Site

beforeAll(async () => {
  site = await startSite()
  await site.tracker.signedIn('alice')
})
afterAll(() => site.stop())

async function signIn({ page }: Visit, password = PASSWORD): Promise<void> {
  await page.getByLabel('Username').fill('alice')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test.each(VIEWS)('a visitor signs in and is where they wanted to go ($width px)', async (view) => {
  const visit = await site.open('/torrents?search=harbour&sort=size', view)
  const { page, problems } = visit
  await page.waitForURL('**/login?next=**')
  await page.getByRole('link', { name: 'Use an invite' }).waitFor()
  await page.getByText('Ask an administrator for a new one.').waitFor()
  expect(await problems('login')).toEqual([])

  await signIn(visit, 'not the password')
  await page.getByRole('alert').getByText('wrong').waitFor()
  expect(await problems('login-refused')).toEqual([])

  await signIn(visit)
  await page.waitForURL('**/torrents?search=harbour&sort=size')
  await page.getByRole('button', { name: 'alice' }).click()
  expect(await problems('account-menu')).toEqual([])
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/login')
  await page.context().close()
})

test.each(['https://elsewhere.test/', '//elsewhere.test/', '/\\elsewhere.test/', 'javascript:alert(1)'])(
  'nobody is led to %s after signing in',
  async (next) => {
    const visit = await site.open(`/login?next=${encodeURIComponent(next)}`, DESKTOP)
    await signIn(visit)
    await visit.page.waitForURL(`${site.tracker.url}/torrents`)
    expect(await visit.problems('login-next')).toEqual([])
    await visit.page.context().close()
  },
)

test.each(VIEWS)('an invited visitor creates an account ($width px)', async (view) => {
  const admin = await site.tracker.signedIn(`admin-${view.width}`, 'admin')
  const code = (await admin.post('/api/user/invites')).member('code')
  const { page, problems } = await site.open(`/register?invite=${code}`, view)
  await page.getByLabel('Username').fill('alice')
  await page.getByLabel('Email').fill(`carol-${view.width}@example.org`)
  await page.getByLabel('Password').fill('long enough to guess')
  expect(await page.getByLabel('Invite code').inputValue()).toBe(code)
  expect(await problems('register')).toEqual([])
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('taken').waitFor()
  expect(await problems('register-refused')).toEqual([])

  await page.getByLabel('Username').fill(`carol-${view.width}`)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/torrents')
  await page.getByRole('button', { name: 'carol' }).waitFor()
  await page.context().close()
})

test.each([
  ['open', 'Create an account', 'Email'],
  ['closed', undefined, undefined],
] as const)('where registration is %s, the pages say so', async (registration, link, field) => {
  const other = await startSite({ REGISTRATION: registration })
  const { page } = await other.open('/login', DESKTOP)
  if (link === undefined) await page.goto(`${other.tracker.url}/register`)
  else await page.getByRole('link', { name: link }).click()
  if (field === undefined) await page.getByText('Registration is closed.').waitFor()
  else {
    await page.getByLabel(field).waitFor()
    expect(await page.getByLabel('Invite code').count()).toBe(0)
  }
  await other.stop()
})

test('the site has the name that its operator gives it, in its pages and in Torznab', async () => {
  const named = await startSite({ SITE_NAME: 'Films & Friends' })
  const { page } = await named.open('/login', DESKTOP)
  await page.locator('.brand', { hasText: 'Films & Friends' }).waitFor()
  expect(await page.title()).toBe('Sign in · Films & Friends')
  const member = await named.tracker.signedIn('nora')
  const visit = await named.open('/torrents', DESKTOP, member)
  expect(await visit.page.locator('.brand').textContent()).toBe('Films & Friends')
  const key = (await member.get('/api/user/me')).member('passkey')
  const caps = await fetch(`${named.tracker.url}/api/torznab?t=caps&apikey=${key}`)
  expect(await caps.text()).toContain('title="Films &amp; Friends"')
  await named.stop()
})

test('what was typed stays when the session ends, and is sent after signing in again', async () => {
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

test('what was typed stays when the page finds out by itself that the session has ended', async () => {
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
  expect(await page.getByText('This could not be loaded.').count()).toBe(0)
  await context.close()
})

test('a page that was opened after the session had ended is there after signing in again', async () => {
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
  await context.close()
})
