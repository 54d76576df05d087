import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { admin, keyOf, signedSend } from '../../tests/support/client.ts'
import { ADMIN_TOKEN, DESKTOP, fillVault, NARROW, type Sent, stored, useConsole } from './support/console.ts'

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

type ListedKey = { name: string; state: string; until: string | null }
const keysOf = async (project: string) =>
  (await admin(site.vault.url, 'GET', `/projects/${project}/keys`)).body as ListedKey[]

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
  await page.getByRole('dialog').getByRole('button', { name: 'Register project' }).click()
  await page.getByText('name already exists').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).pressSequentially('-2')
  await page.getByText('name already exists').waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByLabel('Access').selectOption('Read only')
  await page.getByLabel('Environments').fill('production, staging')
  await page.getByRole('dialog').getByRole('button', { name: 'Register project' }).click()
  await page.getByText(`Project ${name} registered`).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('You have not saved the private key.').waitFor()
  expect(await problems('private-key-leaving')).toEqual([])
  const jwk = await save(page)
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
  await page.getByLabel('Admin token').fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Rotate default' }).click()
  await page.getByLabel('Replaced key keeps working for').selectOption('0')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  const jwk = await save(page)
  expect((await fetchAs('newsletter', jwk)).status).toBe(200)
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect(sent.some(({ url }) => url.includes('/assets/portable'))).toBe(true)
})

test('a key is rotated with its scope; the replaced one counts down and is revoked', async () => {
  const { page, problems, sent } = await site.open('/projects/billing-service', NARROW, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Rotate default' }).click()
  expect(await page.getByLabel('Environments').inputValue()).toBe('production')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  const jwk = await save(page)
  await page.getByRole('button', { name: 'Done' }).click()
  await page
    .getByText(/^expires in (10|9):\d\d$/)
    .first()
    .waitFor()
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect((await fetchAs('billing-service', jwk)).status).toBe(200)
  const revoke = page.getByRole('button', { name: /^Revoke default/ })
  expect(await revoke.count()).toBe(2)
  // A replaced key cannot be rotated.
  expect(await page.getByRole('button', { name: 'Rotate default' }).count()).toBe(1)
  await revoke.last().click()
  await page.getByText('The key has never been used.').waitFor()
  await page.getByText('1 other key named default').waitFor()
  expect(await problems('revoke')).toEqual([])
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Key revoked.').waitFor()
  expect(await keysOf('billing-service')).toMatchObject([{ name: 'default', state: 'active' }])
})

test('a key for a person is added next to the others, and revoked without affecting them', async () => {
  const name = 'dana'
  const { page, problems, sent } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Add key' }).click()
  const dialog = page.getByRole('dialog')
  await page.getByRole('textbox', { name: 'Name' }).fill('default')
  await page.getByLabel('Expires').fill('2001-01-01T00:00')
  await dialog.getByRole('button', { name: 'Add key' }).click()
  await page.getByText('already has a key with this name').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await dialog.getByRole('button', { name: 'Add key' }).click()
  await page.getByText('Must be in the future').waitFor()
  expect(await problems('add-key-refused')).toEqual([])
  await page.getByLabel('Expires').fill('')
  await page.getByLabel('Access').selectOption('Read only')
  await dialog.getByRole('button', { name: 'Add key' }).click()
  await page.getByRole('button', { name: 'Save shop-dana.jwk' }).waitFor()
  const jwk = await save(page)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('2 active keys').waitFor()
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect((await fetchAs('shop', jwk)).status).toBe(200)

  await page.getByRole('button', { name: /^Revoke dana/ }).click()
  await page.getByText('Keys with other names keep working.').waitFor()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('1 active key', { exact: true }).waitFor()
  expect((await fetchAs('shop', jwk)).status).toBe(401)
  expect(await page.getByRole('rowheader', { name }).count()).toBe(0)
  await page.getByLabel('Show expired and revoked keys').check()
  await page.getByRole('rowheader', { name: 'dana revoked' }).waitFor()
  expect(new URL(page.url()).search).toBe('?ended=yes')
  expect(await problems('ended-keys')).toEqual([])
  expect(await page.getByRole('button', { name: /dana/ }).count()).toBe(0)
  expect((await admin(site.vault.url, 'GET', '/projects/shop/keys')).body).toMatchObject([{ name: 'default' }])

  await page.goto(`${site.vault.url}/console/audit?project=shop&action=key.add`)
  await page.getByText('fingerprint').waitFor()
})

test('a rotation keeps the expiry of the key to the second, unless it is changed', async () => {
  const expiresAt = new Date(Date.now() + 100 * 86_400_000).toISOString()
  await admin(site.vault.url, 'POST', '/projects/newsletter/keys', { name: 'ci', expiresAt })
  const { page, problems } = await site.open('/projects/newsletter', DESKTOP, ADMIN_TOKEN)
  await page.getByText(/^expires in 3 mo/).waitFor()
  const rotate = async () => {
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
    await save(page)
    await page.getByRole('button', { name: 'Done' }).click()
    return (await keysOf('newsletter')).find(({ name, state }) => name === 'ci' && state === 'active')?.until
  }
  await page.getByRole('button', { name: 'Rotate ci' }).click()
  expect(await page.getByLabel('Expires').inputValue()).not.toBe('')
  expect(await problems('rotate-expiring')).toEqual([])
  expect(await rotate()).toBe(expiresAt)
  await page.getByRole('button', { name: 'Rotate ci' }).click()
  await page.getByLabel('Expires').fill('')
  expect(await rotate()).toBe(null)
})

test('the 51st key is refused with the limit', async () => {
  for (let i = 0; i < 48; i++)
    await admin(site.vault.url, 'POST', '/projects/newsletter/keys', { name: `p${String(i)}` })
  const { page, problems } = await site.open('/projects/newsletter', DESKTOP, ADMIN_TOKEN)
  await page.getByText('50 active keys, 2 replaced').waitFor()
  await page.getByRole('button', { name: 'Add key' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('late')
  await page.getByRole('dialog').getByRole('button', { name: 'Add key' }).click()
  await page.getByText('The project has 50 keys').waitFor()
  expect(await problems('too-many-keys')).toEqual([])
})

test('an existing public key is accepted, and an invalid one is refused at its field', async () => {
  const { page } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Rotate default' }).click()
  await page.getByLabel('Use an existing public key').check()
  await page.getByLabel('Public key', { exact: true }).fill('not a key')
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  await page.getByText('This is not an Ed25519 public key').waitFor()
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
  await page.getByRole('dialog').getByRole('button', { name: 'Make digest optional' }).click()
  await page.getByText('Content digest is optional.').waitFor()
})

test('a version is restored, and a secret is deleted after a confirmation', async () => {
  const key = 'STRIPE_API_KEY'
  const { page, problems } = await site.open('/projects/shop?tab=secrets&env=production', NARROW, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Versions of DATABASE_URL in production' }).click()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByRole('button', { name: 'Restore version', exact: true }).click()
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
  const { page } = await site.open('/administrators', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Add administrator' }).click()
  await page.getByRole('button', { name: 'Copy token' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('You have not copied the token.').waitFor()
  // Chromium cancels only the first ones.
  for (let times = 0; times < 4; times += 1) await page.keyboard.press('Escape')
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
