import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Client } from '../../tests/support/client.ts'
import { DESKTOP, type Site, startSite, VIEWS } from './support/site.ts'

let site: Site
let member: Client

beforeAll(async () => {
  site = await startSite()
  member = await site.tracker.signedIn('alice')
})
afterAll(() => site.stop())

test.each(VIEWS)('the keys are listed by ? and work ($theme, $width)', async (view) => {
  const { page, problems } = await site.open('/torrents', view, member)
  await page.getByText('There are no torrents yet.').waitFor()
  expect(await problems('torrents-empty')).toEqual([])
  await page.keyboard.press('?')
  await page.getByRole('heading', { name: 'Keys' }).waitFor()
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
  await page.context().close()
})

test.each(VIEWS)('an unknown address helps ($theme, $width)', async (view) => {
  for (const path of ['/nowhere/at/all', '/torrents/0198c0de-0000-7000-8000-000000000000', '/torrents/x']) {
    const { page, problems } = await site.open(path, view, member)
    await page.getByText('There is nothing at this address.').waitFor()
    expect(await problems('not-found')).toEqual([])
    await page.getByRole('link', { name: 'All torrents' }).click()
    await page.waitForURL('**/torrents')
    await page.context().close()
  }
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

test('the remembered theme is there before the application is', async () => {
  const { page, context } = await site.open('/torrents', DESKTOP, member)
  await page.evaluate(`localStorage.setItem('theme', 'dark')`)
  await context.route('**/assets/index-*.js', (route) => route.abort())
  await page.reload()
  expect(await page.getAttribute('html', 'data-theme')).toBe('dark')
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('dark')
})
