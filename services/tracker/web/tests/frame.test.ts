import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { addTorrent, DESKTOP, NARROW, useSite } from './support/site.ts'

const site = useSite()
let member: Client

beforeAll(async () => {
  member = await site.tracker.signedIn('alice')
})

test('keyboard shortcuts work and are listed by ?', async () => {
  const { page, problems } = await site.open('/torrents', DESKTOP, member)
  await page.getByText('No torrents yet.').waitFor()
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await problems('keys')).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await page.waitForURL('**/upload')
  await page.keyboard.press('/')
  await page.keyboard.type('nothing?')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/torrents?search=nothing%3F')
})

test('an unknown address shows a page with links', async () => {
  const { page, problems } = await site.open('/nowhere', DESKTOP, member)
  await page.getByText('Page not found').waitFor()
  expect(await problems('not-found')).toEqual([])
  for (const path of ['/nowhere/at/all', '/torrents/0198c0de-0000-7000-8000-000000000000', '/torrents/x']) {
    await page.goto(site.tracker.url + path)
    await page.getByText('Page not found').waitFor()
    await page.getByRole('link', { name: 'All torrents' }).click()
    await page.waitForURL('**/torrents')
  }
})

test('while a page loads, the bar and a skeleton are shown', async () => {
  const { page, problems } = await site.open('/torrents', DESKTOP, member)
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/api/**', async (route) => {
    await answered
    await route.continue()
  })
  for (const path of ['/me', '/admin/users', '/torrents/x']) {
    await page.goto(site.tracker.url + path)
    await page.getByText('Loading the page…').waitFor({ state: 'attached' })
    await page.getByLabel('Search torrents').waitFor()
  }
  expect(await problems('loading')).toEqual([])
  answer()
  await page.getByText('Loading the page…').waitFor({ state: 'detached' })
})

test('a new page gets the focus, except while typing; a dialog returns it', async () => {
  const { page } = await site.open('/torrents', DESKTOP, member)
  const focused = (): Promise<string> =>
    page.evaluate('document.activeElement.id || document.activeElement.textContent')
  await page.getByRole('link', { name: 'Upload', exact: true }).click()
  await page.getByRole('heading', { name: 'Upload torrent' }).waitFor()
  expect(await focused()).toBe('content')
  await page.getByLabel('Search torrents').fill('harbour')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/torrents?search=harbour')
  expect(await focused()).toBe('search')
  await page.goto(`${site.tracker.url}/me?tab=keys`)
  await page.getByRole('button', { name: 'Reset passkey' }).click()
  await page.getByRole('dialog').waitFor()
  // Enter must not confirm by accident.
  expect(await focused()).toBe('Cancel')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await focused()).toBe('Reset passkey')
})

test('each tab is an entry of the browser history', async () => {
  const { page } = await site.open('/me', DESKTOP, member)
  const tabs = page.getByRole('navigation', { name: 'Your account' })
  await tabs.getByRole('link', { name: 'Sessions' }).click()
  await page.getByText('This session').waitFor()
  expect(await page.title()).toBe('Sessions · Your account · Tracker')
  expect(await tabs.locator('[aria-current]').allTextContents()).toEqual(['Sessions'])
  await tabs.getByRole('link', { name: 'Invites' }).click()
  await page.getByText('No invites yet.').waitFor()
  await page.goBack()
  await page.getByText('This session').waitFor()
  await page.goBack()
  await page.getByText('nothing downloaded').waitFor()
  await page.goForward()
  await page.waitForURL('**/me?tab=sessions')
})

test('the theme and a compact density are switched and remembered, and apply before the application loads', async () => {
  await addTorrent(member, 'Paper.Moons.2024.1080p')
  const { page, problems } = await site.open('/torrents', DESKTOP, await site.tracker.signedIn('choosing'))
  const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  const height = (): Promise<number> =>
    page.evaluate(`document.querySelector('tbody tr').getBoundingClientRect().height`)
  await page.getByRole('row', { name: 'Paper.Moons' }).waitFor()
  const [light, comfortable] = [await ground(), await height()]
  await page.getByRole('button', { name: 'choosing' }).click()
  await page.getByRole('button', { name: 'Theme: system' }).click()
  expect(await ground()).toBe(light)
  await page.getByRole('button', { name: 'Theme: light' }).click()
  expect(await ground()).not.toBe(light)
  await page.getByRole('button', { name: 'Density: comfortable' }).click()
  expect(await height()).toBeLessThan(comfortable)
  const compact = await height()
  await page.reload()
  await page.getByRole('row', { name: 'Paper.Moons' }).waitFor()
  expect(await ground()).not.toBe(light)
  expect(await height()).toBe(compact)
  expect(await problems('torrents-compact')).toEqual([])

  await page.route('**/assets/index-*.js', (route) => route.abort())
  await page.reload()
  expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
})

test('on a phone, the bar is two rows, nothing of it lies on the page, and all tabs are visible', async () => {
  const moderator = await site.tracker.signedIn('bar-moderator', 'moderator')
  const { page } = await site.open('/me?tab=sessions', NARROW, moderator)
  await page.getByRole('link', { name: 'Staff' }).waitFor()
  const below = await page.evaluate<string[]>(`[...document.querySelectorAll('.bar :is(a, button, input)')]
    .filter((each) => each.getBoundingClientRect().bottom > document.querySelector('main').getBoundingClientRect().top)
    .map(({ outerHTML }) => outerHTML)`)
  expect(below).toEqual([])
  const tabs = page.getByRole('navigation', { name: 'Your account' }).getByRole('link')
  await page.getByText('This session').waitFor()
  for (const tab of await tabs.all()) {
    const { x, width } = (await tab.boundingBox()) ?? { x: -1, width: 0 }
    expect(x).toBeGreaterThanOrEqual(0)
    expect(x + width).toBeLessThanOrEqual(NARROW.width)
  }
})

test('links and buttons are readable in both themes, whatever the accent colour is', async () => {
  const { page } = await site.open('/nowhere', DESKTOP, member)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const worst = await page.evaluate<Record<string, number>>(WORST_CONTRASTS)
    for (const [ground, contrast] of Object.entries(worst))
      expect({ colorScheme, ground, isReadable: contrast >= 4.5 }).toEqual({ colorScheme, ground, isReadable: true })
    expect(Object.keys(worst)).toHaveLength(7)
  }
})

/** The lowest contrast (WCAG 2.2) of the accent with everything that it is next to, over colours of the whole cube. */
const WORST_CONTRASTS = `(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const probe = document.body.appendChild(document.createElement('span'))
  const luminance = (token) => {
    probe.style.color = 'var(--' + token + ')'
    canvas.fillStyle = getComputedStyle(probe).color
    canvas.fillRect(0, 0, 1, 1)
    const [red, green, blue] = [...canvas.getImageData(0, 0, 1, 1).data].map((byte) =>
      byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const worst = {}
  const steps = [0, 51, 102, 153, 204, 255]
  for (const red of steps) for (const green of steps) for (const blue of steps) {
    document.documentElement.style.setProperty('--brand', 'rgb(' + red + ' ' + green + ' ' + blue + ')')
    const accent = luminance('accent')
    for (const token of ['ground', 'panel', 'surface', 'raised', 'hover', 'accent-soft', 'on-accent']) {
      const other = luminance(token)
      const contrast = (Math.max(accent, other) + 0.05) / (Math.min(accent, other) + 0.05)
      worst[token] = Math.min(worst[token] ?? Infinity, contrast)
    }
  }
  return worst
})()`

test('a page stays, with what was typed, if the code of another cannot be loaded', async () => {
  const { page } = await site.open('/me?tab=security', DESKTOP, member)
  const field = page.getByLabel('Current password')
  await field.fill('typed')
  await page.route('**/assets/**', (route) => route.abort())
  const failed = page.waitForEvent('requestfailed')
  await page.getByRole('link', { name: 'Upload', exact: true }).hover()
  await failed
  await page.locator('h1').click()
  await page.keyboard.press('?')
  await page.getByText('Could not load this.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(1)
  expect(await field.inputValue()).toBe('typed')
})

test('a page whose code is missing shows an error instead of reloading again and again', async () => {
  const { page, problems, provoke } = await site.open('/torrents', DESKTOP, await site.tracker.signedIn('unlucky'))
  provoke(/^console: TypeError/)
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  await page.route('**/assets/upload-page*', (route) => route.fulfill({ status: 404 }))
  await page.getByRole('link', { name: 'Upload', exact: true }).click()
  await page.getByText('Could not load this').waitFor()
  expect(loads).toBeLessThanOrEqual(1)
  expect(await problems('page-missing')).toEqual([])
  await page.unroute('**/assets/upload-page*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Upload torrent' }).waitFor()
})

test('typed text is kept unless the member discards it', async () => {
  const { page, problems } = await site.open('/me?tab=security', DESKTOP, member)
  const field = page.getByLabel('Current password')
  const tabs = page.getByRole('navigation', { name: 'Your account' })
  const asked = page.getByRole('dialog', { name: 'Discard changes?' })
  await field.fill('typed')
  for (const leave of [
    () => page.getByRole('link', { name: 'Torrents', exact: true }).click(),
    () => tabs.getByRole('link', { name: 'Sessions' }).click(),
  ]) {
    await leave()
    await asked.getByRole('button', { name: 'Keep editing' }).click()
    await asked.waitFor({ state: 'detached' })
    expect(await field.inputValue()).toBe('typed')
    expect(new URL(page.url()).search).toBe('?tab=security')
  }
  await tabs.getByRole('link', { name: 'Sessions' }).click()
  await asked.waitFor()
  expect(await problems('discard')).toEqual([])
  await asked.getByRole('button', { name: 'Discard changes' }).click()
  await page.getByText('This session').waitFor()
  // Nothing was typed here, so nothing is asked.
  await tabs.getByRole('link', { name: 'Security' }).click()
  await tabs.getByRole('link', { name: 'Sessions' }).click()
  await page.getByText('This session').waitFor()
})

test('a tab does not act as the account that signed in in another tab', async () => {
  const visit = await site.open('/login', DESKTOP)
  const { page, context, problems } = visit
  const signIn = async (on: typeof page, username: string): Promise<void> => {
    const dialog = on.getByRole('form', { name: 'Sign in' })
    await dialog.getByLabel('Username').fill(username)
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
  }
  const bob = await site.tracker.signedIn('bob')
  await signIn(page, 'alice')
  await page.getByRole('button', { name: 'alice' }).waitFor()
  await page.getByRole('link', { name: 'Upload', exact: true }).hover()
  await page.goto(`${site.tracker.url}/me`)
  await page.getByRole('checkbox').waitFor()
  const other = await context.newPage()
  await other.goto(`${site.tracker.url}/login`)
  await signIn(other, 'bob')
  await other.getByRole('button', { name: 'bob' }).waitFor()

  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByText('Another account').waitFor()
  expect(await problems('other-account')).toEqual([])
  await page.keyboard.press('Escape')
  const sent: string[] = []
  page.on('request', (request) => sent.push(`${request.method()} ${request.url()}`))
  await page.getByRole('checkbox').click()
  await dialog.waitFor()
  expect(sent.filter((each) => each.includes('/api/user'))).toEqual([])
  expect((await bob.get('/api/user/me')).json).toMatchObject({ statsPublic: true })
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('checkbox').click()
  await page.getByText('Saved.').waitFor()
  expect((await member.get('/api/user/me')).json).toMatchObject({ statsPublic: false })
  await other.getByText('Another account').waitFor()
})

test('on plain http, where browsers have no clipboard, Copy works', async () => {
  const copying = await site.tracker.signedIn('copying')
  const { page, context } = await site.open('/upload', DESKTOP, copying)
  await context.addInitScript('delete Navigator.prototype.clipboard')
  await page.goto(`${site.tracker.url}/me?tab=keys`)
  await page.getByRole('button', { name: 'Copy passkey' }).click()
  await page.getByText('Copied.').waitFor()
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Copy passkey')
  await page.getByLabel('Search torrents').focus()
  await page.keyboard.press('Control+V')
  expect(await page.getByLabel('Search torrents').inputValue()).toBe(
    (await copying.get('/api/user/me')).member('passkey'),
  )
})
