import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { admin, type Key, signedSend } from '../../tests/support/client.ts'
import { DESKTOP, fillVault, NARROW, stored, useConsole } from './support/console.ts'

const site = useConsole()
let shop: Key
let editor: string

beforeAll(async () => {
  shop = (await fillVault(site.vault)).shop
  editor = await site.tokenOf({ name: 'Ed', role: 'editor' })
})

const DAY_MS = 86_400_000

async function valuesOf(env: string): Promise<Record<string, string>> {
  const url = `${site.vault.url}/v1/secrets?env=${env}`
  return (await signedSend({ project: 'shop', key: shop, method: 'GET', url })).body as Record<string, string>
}

async function listed(key: string, env: string): Promise<Record<string, string>> {
  const { body } = await admin(site.vault.url, 'GET', `/projects/shop/secrets?env=${env}`)
  return (body as Record<string, string>[]).find((each) => each['key'] === key) ?? {}
}

const submit = (page: Page, name: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name, exact: true }).click()

test('an editor adds a secret whose value the page forgets', async () => {
  const value = 'line one\nline "two" ✓ correct-horse'
  const visit = await site.open('/projects/shop?tab=secrets&env=production', NARROW, editor)
  const { page, problems, sent } = visit
  await page.getByRole('button', { name: 'Add secret' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('TLS_KEY')
  expect(await page.getByLabel('Environment', { exact: true }).last().inputValue()).toBe('production')
  const field = page.getByLabel('New value')
  await field.fill(value)
  expect(await field.getAttribute('autocomplete')).toBe('off')
  expect(await field.getAttribute('spellcheck')).toBe('false')
  const isMasked = () =>
    page.evaluate<boolean>("getComputedStyle(document.querySelector('textarea')).webkitTextSecurity === 'disc'")
  expect(await isMasked()).toBe(true)
  await page.getByLabel('Show the value while typing').check()
  expect(await isMasked()).toBe(false)
  await page.getByLabel('Show the value while typing').uncheck()
  await page.getByLabel('Owner').fill('team-payments')
  await page.getByLabel('Note').fill('Renewed by hand each spring.')
  await page.getByLabel('Expires').fill('2101-01-01T00:00')
  expect(await problems('secret-add')).toEqual([])
  await submit(page, 'Add secret')
  await page.getByText('TLS_KEY stored in production as version 1.').waitFor()
  await page.getByRole('button', { name: 'Replace TLS_KEY in production' }).waitFor()
  expect(await valuesOf('production')).toMatchObject({ TLS_KEY: value })
  expect(await listed('TLS_KEY', 'production')).toMatchObject({
    ...{ owner: 'team-payments', note: 'Renewed by hand each spring.' },
    expiresAt: expect.stringMatching(/^(2100-12-31|2101-01-01)T/),
  })
  expect(await page.content()).not.toContain('correct-horse')
  expect(await stored(visit)).toBe('[{},{}][]')
  expect(sent.filter(({ text }) => text.includes('correct-horse'))).toHaveLength(1)
  await page.getByRole('button', { name: 'Replace TLS_KEY in production' }).click()
  expect(await page.getByLabel('New value').inputValue()).toBe('')
  expect(await problems('secrets-with-details')).toEqual([])
})

test('a name that exists is overwritten only with a warning', async () => {
  const { page, problems } = await site.open('/projects/shop?tab=secrets&env=staging', DESKTOP, editor)
  await page.getByRole('button', { name: 'Add secret' }).click()
  const name = page.getByRole('textbox', { name: 'Name' })
  await name.fill('STRIPE_API_KEY')
  await page.getByText('This overwrites').waitFor()
  await page.getByLabel('New value').fill('replaced')
  expect(await problems('secret-overwrite')).toEqual([])
  await name.fill('STRIPE_API_KEY_2')
  await page.getByText('This overwrites').waitFor({ state: 'detached' })
  await name.fill('STRIPE_API_KEY')
  await submit(page, 'Replace value')
  await page.getByText('STRIPE_API_KEY stored in staging as version 2.').waitFor()
  expect(await valuesOf('staging')).toMatchObject({ STRIPE_API_KEY: 'replaced' })
  await page.getByRole('button', { name: 'Versions of STRIPE_API_KEY in staging' }).click()
  const versions = page.getByRole('dialog', { name: 'Versions of STRIPE_API_KEY' })
  await versions.getByText('Version 2').getByText('by Ed').waitFor()
  await versions
    .getByText('Version 1')
    .getByText(/by key default/)
    .waitFor()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByText('Applications that use staging of shop').waitFor()
  expect(await problems('restore')).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect(await valuesOf('staging')).toMatchObject({ STRIPE_API_KEY: 'replaced' })
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('button', { name: 'Restore version', exact: true }).click()
  await page.getByText('Version 1 restored as version 3.').waitFor()
  expect((await valuesOf('staging'))['STRIPE_API_KEY']).not.toBe('replaced')
})

test('an empty value is not stored', async () => {
  const { page } = await site.open('/projects/shop?tab=secrets', DESKTOP, editor)
  const before = await valuesOf('production')
  await page.getByRole('button', { name: 'Replace SMTP_PASSWORD in production' }).click()
  await page.getByLabel('New value').press('Tab')
  await submit(page, 'Replace value')
  expect(await page.locator('textarea:invalid').count()).toBe(1)
  expect(await valuesOf('production')).toEqual(before)
})

test('a generated value reaches neither the page nor its requests', async () => {
  const { page, problems, sent } = await site.open('/projects/shop?tab=secrets', DESKTOP, editor)
  const answers: string[] = []
  page.on(
    'response',
    (response) =>
      void response.text().then(
        (text) => answers.push(text),
        () => undefined,
      ),
  )
  await page.getByRole('button', { name: 'Replace SMTP_PASSWORD in production' }).click()
  await page.getByLabel('Generate a value, which is never shown').check()
  await page.getByLabel('Characters', { exact: true }).fill('48')
  await page.getByLabel('Character set').selectOption('Letters, digits and symbols')
  expect(await problems('secret-generate')).toEqual([])
  await submit(page, 'Replace value')
  await page.getByText('SMTP_PASSWORD generated in production as version 2.').waitFor()
  const value = (await valuesOf('production'))['SMTP_PASSWORD'] ?? ''
  expect(value).toMatch(/^[!-~]{48}$/)
  const json = JSON.stringify(value).slice(1, -1)
  expect([...answers, ...sent.map(({ text }) => text)].filter((text) => text.includes(json))).toEqual([])
  expect(await page.content()).not.toContain(value)
})

test('a refused value is explained and stays in its field', async () => {
  const { page } = await site.open('/projects/shop?tab=secrets', NARROW, editor)
  await page.getByRole('button', { name: 'Add secret' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('LARGE')
  const value = `${'x'.repeat(63)}\n`.repeat(1_025)
  await page.getByLabel('New value').fill(value)
  await submit(page, 'Add secret')
  await page.getByText('Must be at most 64 KiB').waitFor()
  expect(await page.getByLabel('New value').inputValue()).toBe(value)
})

test('details are changed and removed, and unchanged ones are not sent', async () => {
  const { id = '' } = await listed('DATABASE_URL', 'production')
  const expiresAt = '2101-02-03T04:05:06.789Z'
  await admin(site.vault.url, 'PATCH', `/secrets/${id}`, { note: 'old note', owner: 'ada', expiresAt })
  const { page, problems, sent } = await site.open('/projects/shop?tab=secrets', DESKTOP, editor)
  await page.getByRole('button', { name: 'Details of DATABASE_URL in production' }).click()
  expect(await page.getByLabel('Owner').inputValue()).toBe('ada')
  await page.getByLabel('Owner').fill('grace')
  await page.getByLabel('Note').fill('')
  expect(await problems('secret-details')).toEqual([])
  await submit(page, 'Save details')
  await page.getByText('Saved.').waitFor()
  const after = await listed('DATABASE_URL', 'production')
  expect(after).toMatchObject({ owner: 'grace', expiresAt })
  expect(after).not.toHaveProperty('note')
  await page.getByRole('button', { name: 'Details of DATABASE_URL in production' }).click()
  await submit(page, 'Save details')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(sent.filter(({ url }) => url.endsWith(`/v1/admin/secrets/${id}`))).toHaveLength(1)
})

test('two environments are compared, and what is missing is copied after a confirmation', async () => {
  const put = (env: string, key: string) =>
    admin(site.vault.url, 'PUT', '/projects/newsletter/secrets', { key, env, value: `${env} ${key}` })
  for (const key of ['BOTH', 'LEFT_1', 'LEFT_2']) await put('a-left', key)
  for (const key of ['BOTH', 'RIGHT_ONLY']) await put('b-right', key)
  const { page, problems } = await site.open('/projects/newsletter?tab=compare', DESKTOP, editor)
  await page.getByText('3 differences, 1 key in both').waitFor()
  expect(await problems('compare')).toEqual([])
  await page.getByRole('button', { name: 'Copy 2 missing to b-right' }).click()
  await page.getByText('without showing their values').waitFor()
  expect(await problems('copy')).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Copy RIGHT_ONLY from b-right to a-left' }).click()
  await submit(page, 'Copy secret')
  await page.getByText('Copied 1 secret to a-left.').waitFor()
  await page.getByText('2 differences, 2 keys in both').waitFor()
  await page.getByRole('button', { name: 'Copy 2 missing to b-right' }).click()
  await submit(page, 'Copy secrets')
  await page.getByText('No differences.').waitFor()
  await page.getByLabel('Left environment').selectOption('b-right')
  await page.waitForURL(/left=b-right&right=a-left/)
})

test('expiring secrets of all projects are listed, and a new value with a new expiry settles one', async () => {
  const put = (project: string, key: string, days: number) => {
    const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString()
    const details = { owner: 'team-mail', note: 'Ask the provider for a new key, then store it here.', expiresAt }
    return admin(site.vault.url, 'PUT', `/projects/${project}/secrets`, {
      key,
      env: 'production',
      value: 'v',
      references: true,
      ...details,
    })
  }
  const empty = await site.open('/expiring', DESKTOP, editor)
  await empty.page.getByText('No secrets expire soon.').waitFor()
  await put('warehouse.api', 'OVERDUE', -2)
  await put('billing-service', 'SOON', 3)
  await put('billing-service', 'LATER', 60)
  const { page, problems } = await site.open('/projects', DESKTOP, editor)
  await page.getByRole('link', { name: 'Expiring' }).click()
  await page.getByText('overdue', { exact: true }).waitFor()
  await page.getByText('in 3 days').waitFor()
  expect(await page.getByText('LATER').count()).toBe(0)
  expect(await problems('expiring')).toEqual([])
  await page.getByLabel('Expires').selectOption('Within 90 days')
  await page.getByText('LATER').waitFor()
  await page.getByRole('button', { name: /^Replace OVERDUE/ }).click()
  await page.getByLabel('New value').fill('new')
  await page.getByRole('dialog').getByLabel('Expires').fill('2101-01-01T00:00')
  await submit(page, 'Replace value')
  await page.getByText('OVERDUE stored in production as version 2.').waitFor()
  await page.getByText('OVERDUE', { exact: true }).waitFor({ state: 'detached' })
  const { body } = await admin(site.vault.url, 'GET', '/projects/warehouse.api/secrets')
  expect((body as object[]).filter((each) => 'references' in each)).toMatchObject([{ key: 'OVERDUE' }])
})

test('an editor sees no actions on projects, keys and administrators; an auditor none at all', async () => {
  const buttons = async (path: string, token: string): Promise<readonly string[]> => {
    const { page } = await site.open(path, DESKTOP, token)
    await page.getByRole('table').first().waitFor()
    return (await page.getByRole('main').getByRole('button').allTextContents()).toSorted()
  }
  const auditor = await site.tokenOf({ name: 'Audrey', role: 'auditor' })
  expect(await buttons('/projects', editor)).toEqual([])
  expect(await buttons('/projects/shop', editor)).toEqual([])
  expect(await buttons('/administrators', editor)).toEqual([])
  expect(new Set(await buttons('/projects/shop?tab=secrets', editor))).toEqual(
    new Set(['Add secret', 'Replace', 'Details', 'Versions', 'Delete']),
  )
  expect(new Set(await buttons('/projects/shop?tab=secrets', auditor))).toEqual(new Set(['Versions']))
  expect(await buttons('/projects/shop?tab=compare', auditor)).toEqual([])
  expect(await buttons('/expiring?days=90', auditor)).toEqual([])
})
