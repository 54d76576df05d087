import { beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { DESKTOP, useSite } from './support/site.ts'

const site = useSite()
let member: Client

beforeAll(async () => {
  member = await site.tracker.signedIn('alice')
})

test('keyboard shortcuts work and are listed by ?', async () => {
  const { page, problems } = await site.open('/torrents', DESKTOP, member)
  await page.getByText('No torrents yet.').waitFor()
  expect(await problems('torrents-empty')).toEqual([])
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

test('the theme is switched and remembered', async () => {
  const { page } = await site.open('/torrents', DESKTOP, member)
  const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
  const light = await ground()
  await page.getByRole('button', { name: 'alice' }).click()
  await page.getByRole('button', { name: 'Theme: system' }).click()
  expect(await ground()).toBe(light)
  await page.getByRole('button', { name: 'Theme: light' }).click()
  expect(await ground()).not.toBe(light)
  await page.reload()
  await page.getByRole('button', { name: 'alice' }).waitFor()
  expect(await ground()).not.toBe(light)
})

test('the remembered theme applies before the application loads', async () => {
  const { page } = await site.open('/torrents', DESKTOP, member)
  await page.evaluate(`localStorage.setItem('theme', 'dark')`)
  await page.route('**/assets/index-*.js', (route) => route.abort())
  await page.reload()
  expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
})
