import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { admin, keyOf, signedSend } from '../../tests/support/client.ts'
import { ADMIN_TOKEN, DESKTOP, fillVault, NARROW, type Sent, signIn, stored, useConsole } from './support/console.ts'

const site = useConsole()

beforeAll(async () => {
  await fillVault(site.vault)
})

/** Saves the offered private key and returns the file. */
async function save(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^Save / }).click(),
  ])
  return readFileSync(await download.path(), 'utf8')
}

/** The private part of a saved key, in every form in which it could leave the page. */
function privateForms(jwk: string): readonly string[] {
  const { d } = JSON.parse(jwk) as { d: string }
  const bytes = Buffer.from(d, 'base64url')
  return [d, bytes.toString('hex'), bytes.toString('base64'), encodeURIComponent(bytes.toString('base64'))]
}

function holding(sent: readonly Sent[], forms: readonly string[]): readonly Sent[] {
  return sent.filter(({ text }) => forms.some((form) => text.includes(form)))
}

const fetchAs = (project: string, jwk: string) =>
  signedSend({
    ...{ project, key: keyOf(jwk), method: 'GET', url: `${site.vault.url}/v1/secrets?env=production` },
  })

test('a project is registered with a key that is generated here and never sent', async () => {
  const name = 'generated'
  const visit = await site.open('/projects', NARROW, ADMIN_TOKEN)
  const { page, problems, sent } = visit
  await page.getByRole('button', { name: 'Register project' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('shop')
  expect(await problems('register')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Register project' }).click()
  await page.getByText('name already exists').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).pressSequentially('-2')
  await page.getByText('name already exists').waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByLabel('Access').selectOption('Read only')
  await page.getByLabel('Environments').fill('production, staging')
  await page.getByRole('dialog').getByRole('button', { name: 'Register project' }).click()
  await page.getByText(`Project ${name} registered`).waitFor()
  expect(await problems('private-key')).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByText('You have not saved the private key.').waitFor()
  expect(await problems('private-key-leaving')).toEqual([])
  const jwk = await save(page)
  expect(await problems('private-key-saved')).toEqual([])
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name, exact: true }).waitFor()
  await page.getByText('in production, staging').waitFor()
  expect((await fetchAs(name, jwk)).status).toBe(200)
  expect(sent.length).toBeGreaterThan(5)
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect(await stored(visit)).toBe('[{},{}][]')
  for (const form of privateForms(jwk)) expect(await page.content()).not.toContain(form)
})

test('a name that is too long is kept as typed and reported', async () => {
  const { page, problems } = await site.open('/projects', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Register project' }).click()
  const field = page.getByRole('textbox', { name: 'Name' })
  await field.fill('n'.repeat(63))
  expect(await field.and(page.locator(':invalid')).count()).toBe(0)
  await field.fill('')
  await page.keyboard.insertText('n'.repeat(100))
  expect(await field.inputValue()).toBe('n'.repeat(100))
  await page.getByText('The name has 100 characters.').waitFor()
  expect(await problems('register-long-name')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Register project' }).click()
  expect(await field.and(page.locator(':invalid')).count()).toBe(1)
  await field.fill('n')
  await page.getByText('The maximum is 63.').waitFor({ state: 'detached' })
})

test('a browser without Ed25519 can generate a key pair', async () => {
  const { page, context, sent } = await site.open('/projects/newsletter', DESKTOP)
  await context.addInitScript('SubtleCrypto.prototype.generateKey = () => Promise.reject(new Error("NotSupported"))')
  await page.reload()
  await page.getByLabel('Administrator token').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Rotate key' }).click()
  await page.getByLabel('Replaced keys keep working for').selectOption('0')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  const jwk = await save(page)
  expect((await fetchAs('newsletter', jwk)).status).toBe(200)
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect(sent.some(({ url }) => url.includes('/assets/portable'))).toBe(true)
})

test('a key can be rotated once its scope has loaded, which the new key inherits', async () => {
  const visit = await site.open('/projects/billing-service', DESKTOP)
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await visit.page.route('**/projects/billing-service/keys', async (route) => {
    await held
    await route.continue()
  })
  await signIn(visit, ADMIN_TOKEN)
  const rotate = visit.page.getByRole('button', { name: 'Rotate key' })
  await rotate.waitFor()
  expect(await rotate.getAttribute('aria-disabled')).toBe('true')
  answer()
  await visit.page.getByRole('button', { name: 'Rotate key', disabled: false }).click()
  expect(await visit.page.getByLabel('Environments').inputValue()).toBe('production')
})

test('a key is rotated; the replaced one counts down and is revoked', async () => {
  const { page, problems, sent } = await site.open('/projects/billing-service', NARROW, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Rotate key', disabled: false }).click()
  expect(await page.getByLabel('Environments').inputValue()).toBe('production')
  expect(await problems('rotate')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  const jwk = await save(page)
  await page.getByRole('button', { name: 'Done' }).click()
  await page
    .getByText(/^expires in (10|9):\d\d$/)
    .first()
    .waitFor()
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect((await fetchAs('billing-service', jwk)).status).toBe(200)
  const before = await page.getByRole('button', { name: /^Revoke / }).count()
  await page
    .getByRole('button', { name: /^Revoke / })
    .last()
    .click()
  await page.getByText('The key was never used.').waitFor()
  expect(await problems('revoke')).toEqual([])
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Key revoked.').waitFor()
  const keys = (await admin(site.vault.url, 'GET', '/projects/billing-service/keys')).body as object[]
  expect(keys).toHaveLength(before - 1)
})

test('an existing public key is accepted, and an invalid one is refused at its field', async () => {
  const { page, problems } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Rotate key', disabled: false }).click()
  await page.getByLabel('Use an existing public key').check()
  await page.getByLabel('Public key', { exact: true }).fill('not a key')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  await page.getByText('This is not an Ed25519 public key').waitFor()
  expect(await problems('rotate-refused')).toEqual([])
  await page
    .getByLabel('Public key', { exact: true })
    .fill('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  await page.getByText('Key rotated.').waitFor()
})

test('the content digest of writes is required and made optional after a confirmation', async () => {
  const { page, problems } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  const required = async () => {
    const { body } = await admin(site.vault.url, 'GET', '/projects')
    return (body as { name: string; requireContentDigest?: boolean }[]).find(({ name }) => name === 'shop')
      ?.requireContentDigest
  }
  const before = await required()
  await page.getByRole('button', { name: 'Require digest' }).click()
  await page.getByText('will refuse writes').waitFor()
  expect(await problems('digest-require')).toEqual([])
  expect(await required()).toBe(before)
  await page.getByRole('dialog').getByRole('button', { name: 'Require digest' }).click()
  await page.getByText('Content digest is required.').waitFor()
  await page.getByText('content digest required').waitFor()
  await page.getByRole('button', { name: 'Make digest optional' }).click()
  await page.getByText('will accept writes').waitFor()
  expect(await problems('digest-allow')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Make digest optional' }).click()
  await page.getByText('Content digest is optional.').waitFor()
})

test('a version is restored, and a secret is deleted after a confirmation', async () => {
  const key = 'STRIPE_API_KEY'
  const { page, problems } = await site.open('/projects/shop?tab=secrets&env=production', NARROW, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Versions of DATABASE_URL in production' }).click()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByText(/Version 1 restored/).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: `Delete ${key} in production` }).click()
  await page.getByText('with its only version').waitFor()
  expect(await problems('secret-delete')).toEqual([])
  await page.getByRole('button', { name: 'Delete secret' }).click()
  await page.getByText(`Secret ${key} deleted.`).waitFor()
  const left = (await admin(site.vault.url, 'GET', '/projects/shop/secrets?env=production')).body as { key: string }[]
  expect(left.map((secret) => secret.key)).not.toContain(key)
})

test('a project is deleted after its name is typed', async () => {
  const { page, problems } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Delete project' }).click()
  await page.getByText(/secrets? with all versions, in production, staging/).waitFor()
  expect(await problems('project-delete')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Delete project' }).click()
  expect((await admin(site.vault.url, 'GET', '/projects/shop/keys')).status).toBe(200)
  await page.getByLabel('Type “shop” to confirm').fill('shop')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete project' }).click()
  await page.getByText('Project shop deleted.').waitFor()
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  expect((await admin(site.vault.url, 'GET', '/projects/shop/keys')).status).toBe(404)
})

test('a token that was not copied is discarded only after a warning', async () => {
  const name = 'Mary'
  const { page, problems } = await site.open('/administrators', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('button', { name: 'Copy token' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('You have not copied the token.').waitFor()
  // Chromium cancels only the first ones.
  for (let times = 0; times < 4; times += 1) await page.keyboard.press('Escape')
  expect(await problems('administrator-token-leaving')).toEqual([])
  await page.getByRole('button', { name: 'Copy token' }).click()
  await page.getByRole('button', { name: 'Done' }).waitFor()
  expect(await page.getByText('You have not copied the token.').count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(`${name} again`)
  await page.getByRole('dialog').getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('button', { name: 'Close without copying' }).click()
  await page.getByRole('button', { name: `Remove ${name} again` }).waitFor()
  const all = (await admin(site.vault.url, 'GET', '/administrators')).body as { id: string }[]
  for (const { id } of all) await admin(site.vault.url, 'DELETE', `/administrators/${id}`)
})

test('an administrator is added with a token that is shown once, and removed', async () => {
  const name = 'Ada'
  const visit = await site.open('/administrators', DESKTOP, ADMIN_TOKEN)
  const { page, problems } = visit
  await page.getByText('No administrators yet.').waitFor()
  await page.getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByLabel('Projects').fill('newsletter, warehouse.api')
  await page.getByLabel('Expires').fill('2001-01-01T00:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Add administrator' }).click()
  await page.getByText('Must be in the future').waitFor()
  expect(await problems('administrator-add')).toEqual([])
  await page.getByLabel('Expires').fill('2101-01-01T00:00')
  await page.getByRole('dialog').getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('button', { name: 'Show token' }).click()
  const token = (await page.locator('.secret code').textContent()) ?? ''
  expect(await problems('administrator-token')).toEqual([])
  await page.getByRole('button', { name: 'Copy token' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  const headers = { Authorization: `Bearer ${token}` }
  const projectsAs = () => fetch(`${site.vault.url}/v1/admin/projects`, { headers })
  expect(await (await projectsAs()).json()).toHaveLength(2)
  expect(await page.content()).not.toContain(token)
  expect(await stored(visit)).toBe('[{},{}][]')
  expect(await problems('administrators')).toEqual([])
  await page.getByRole('button', { name: `Remove ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove administrator' }).click()
  await page.getByText(`${name} removed.`).waitFor()
  expect((await projectsAs()).status).toBe(401)
})
