import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { admin, keyOf, signedSend } from '../../tests/support/client.ts'
import {
  ADMIN_TOKEN,
  type Console,
  DESKTOP,
  fillVault,
  NARROW,
  type Sent,
  signIn,
  startConsole,
  stored,
  VIEWS,
} from './support/console.ts'

let site: Console

beforeAll(async () => {
  site = await startConsole()
  await fillVault(site.vault)
})
afterAll(() => site.stop())

/** Saves the private key that the page offers, and returns the file. */
async function save(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: /^Save / }).click(),
  ])
  return readFileSync(await download.path(), 'utf8')
}

/** The private half of a saved key, in each form that it could leave the page in. */
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

test.each(VIEWS)('a project is registered with a key that is made here and never sent ($width px)', async (view) => {
  const name = `made-${String(view.width)}`
  const visit = await site.open('/projects', view, ADMIN_TOKEN)
  const { page, problems, sent } = visit
  await page.getByRole('button', { name: 'Register a project' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill('shop')
  expect(await problems('register')).toEqual([])
  await page.getByRole('button', { name: 'Register', exact: true }).click()
  await page.getByText('There is a project with this name already').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).pressSequentially('-2')
  await page.getByText('There is a project with this name already').waitFor({ state: 'detached' })
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByLabel('It may').selectOption('Only read')
  await page.getByLabel('In environments').fill('production, staging')
  await page.getByRole('button', { name: 'Register', exact: true }).click()
  await page.getByText(`${name} is registered`).waitFor()
  expect(await problems('private-key')).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByText('It is not saved.').waitFor()
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
  await page.context().close()
})

test.each(VIEWS)('a name that is too long stays as it was typed, and is told to be ($width px)', async (view) => {
  const { page, problems, context } = await site.open('/projects', view, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Register a project' }).click()
  const field = page.getByRole('textbox', { name: 'Name' })
  await field.fill('n'.repeat(63))
  expect(await field.and(page.locator(':invalid')).count()).toBe(0)
  await field.fill('')
  await page.keyboard.insertText('n'.repeat(100))
  expect(await field.inputValue()).toBe('n'.repeat(100))
  await page.getByText('This name has 100 characters; at most 63 are allowed.').waitFor()
  expect(await problems('register-long-name')).toEqual([])
  await page.getByRole('button', { name: 'Register', exact: true }).click()
  expect(await field.and(page.locator(':invalid')).count()).toBe(1)
  await field.fill('n')
  await page.getByText('at most 63 are allowed').waitFor({ state: 'detached' })
  await context.close()
})

test('where the browser knows no Ed25519, the key pair is made all the same', async () => {
  const { page, context, sent } = await site.open('/projects/newsletter', DESKTOP)
  await context.addInitScript('SubtleCrypto.prototype.generateKey = () => Promise.reject(new Error("NotSupported"))')
  await page.reload()
  await page.getByLabel("Administrator's token").fill(ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Rotate key' }).click()
  await page.getByLabel('Replaced keys stay valid').selectOption('Not at all: they end at once')
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  const jwk = await save(page)
  expect((await fetchAs('newsletter', jwk)).status).toBe(200)
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect(sent.some(({ url }) => url.includes('/assets/portable'))).toBe(true)
  await context.close()
})

test('a key is not rotated before its scope is known, which the new one keeps', async () => {
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
  expect(await visit.page.getByLabel('In environments').inputValue()).toBe('production')
  await visit.context.close()
})

test('a key is rotated, and the replaced one counts down and is revoked', async () => {
  const { page, problems, sent } = await site.open('/projects/billing-service', NARROW, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Rotate key', disabled: false }).click()
  expect(await page.getByLabel('In environments').inputValue()).toBe('production')
  expect(await problems('rotate')).toEqual([])
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  const jwk = await save(page)
  await page.getByRole('button', { name: 'Done' }).click()
  await page
    .getByText(/^ends in (10|9):\d\d$/)
    .first()
    .waitFor()
  expect(holding(sent, privateForms(jwk))).toEqual([])
  expect((await fetchAs('billing-service', jwk)).status).toBe(200)
  const before = await page.getByRole('button', { name: /^Revoke / }).count()
  await page
    .getByRole('button', { name: /^Revoke / })
    .last()
    .click()
  await page.getByText('It was never used.').waitFor()
  expect(await problems('revoke')).toEqual([])
  await page.getByRole('button', { name: 'Revoke the key' }).click()
  await page.getByText('The key is revoked.').waitFor()
  const keys = (await admin(site.vault.url, 'GET', '/projects/billing-service/keys')).body as object[]
  expect(keys).toHaveLength(before - 1)
  await page.context().close()
})

test('a public key that somebody has is taken, and one that is none is refused at its field', async () => {
  const { page, problems, context } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Rotate key', disabled: false }).click()
  await page.getByLabel('Use a public key that I have').check()
  await page.getByLabel('Public key', { exact: true }).fill('not a key')
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByText('This is not an Ed25519 public key').waitFor()
  expect(await problems('rotate-refused')).toEqual([])
  await page
    .getByLabel('Public key', { exact: true })
    .fill('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a')
  await page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await page.getByText('shop has a new key.').waitFor()
  await context.close()
})

test.each(VIEWS)('whether writes need a digest is changed once it was said what follows ($width px)', async (view) => {
  const { page, problems, context } = await site.open('/projects/shop', view, ADMIN_TOKEN)
  const required = async () => {
    const { body } = await admin(site.vault.url, 'GET', '/projects')
    return (body as { name: string; requireContentDigest?: boolean }[]).find(({ name }) => name === 'shop')
      ?.requireContentDigest
  }
  const before = await required()
  await page.getByRole('button', { name: 'Require digest' }).click()
  await page.getByText('are refused from now on').waitFor()
  expect(await problems('digest-require')).toEqual([])
  expect(await required()).toBe(before)
  await page.getByRole('dialog').getByRole('button', { name: 'Require digest' }).click()
  await page.getByText('Writes must have a signed digest.').waitFor()
  await page.getByText('must cover the body').waitFor()
  await page.getByRole('button', { name: 'Allow writes without digest' }).click()
  await page.getByText('are accepted from now on').waitFor()
  expect(await problems('digest-allow')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Allow writes without digest' }).click()
  await page.getByText('Writes may leave out the digest.').waitFor()
  await context.close()
})

test('a version is restored, and a secret deleted once it was said what goes', async () => {
  const key = 'STRIPE_API_KEY'
  const { page, problems } = await site.open('/projects/shop?tab=secrets&env=production', NARROW, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Versions of DATABASE_URL in production' }).click()
  await page.getByRole('button', { name: 'Restore version 1' }).click()
  await page.getByText(/Version 1 is current again/).waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: `Delete ${key} in production` }).click()
  await page.getByText('with its only version').waitFor()
  expect(await problems('secret-delete')).toEqual([])
  await page.getByRole('button', { name: 'Delete the secret' }).click()
  await page.getByText(`${key} is deleted.`).waitFor()
  const left = (await admin(site.vault.url, 'GET', '/projects/shop/secrets?env=production')).body as { key: string }[]
  expect(left.map((secret) => secret.key)).not.toContain(key)
  await page.context().close()
})

test('a project is deleted after its name was typed', async () => {
  const { page, problems, context } = await site.open('/projects/shop', DESKTOP, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText(/secrets? with all versions, in production, staging/).waitFor()
  expect(await problems('project-delete')).toEqual([])
  await page.getByRole('button', { name: 'Delete the project' }).click()
  expect((await admin(site.vault.url, 'GET', '/projects/shop/keys')).status).toBe(200)
  await page.getByLabel('Type “shop” to confirm').fill('shop')
  await page.getByRole('button', { name: 'Delete the project' }).click()
  await page.getByText('shop is deleted.').waitFor()
  await page.getByRole('heading', { name: 'Projects' }).waitFor()
  expect((await admin(site.vault.url, 'GET', '/projects/shop/keys')).status).toBe(404)
  await context.close()
})

test.each(VIEWS)('a token that was not copied is given up only after a warning ($width px)', async (view) => {
  const name = `Mary ${String(view.width)}`
  const { page, problems } = await site.open('/administrators', view, ADMIN_TOKEN)
  await page.getByRole('button', { name: 'Add an administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Copy token' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('It is not copied.').waitFor()
  // Chromium asks the page about the first ones only.
  for (let times = 0; times < 4; times += 1) await page.keyboard.press('Escape')
  expect(await problems('administrator-token-leaving')).toEqual([])
  await page.getByRole('button', { name: 'Copy token' }).click()
  await page.getByRole('button', { name: 'Done' }).waitFor()
  expect(await page.getByText('It is not copied.').count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Add an administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(`${name} again`)
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await page.getByRole('button', { name: 'Close without copying' }).click()
  await page.getByRole('button', { name: `Remove ${name} again` }).waitFor()
  await page.context().close()
  const all = (await admin(site.vault.url, 'GET', '/administrators')).body as { id: string }[]
  for (const { id } of all) await admin(site.vault.url, 'DELETE', `/administrators/${id}`)
})

test.each(VIEWS)('an administrator is added with a token that is shown once, and removed ($width px)', async (view) => {
  const name = `Ada ${String(view.width)}`
  const visit = await site.open('/administrators', view, ADMIN_TOKEN)
  const { page, problems } = visit
  await page.getByText(view.width === 1280 ? 'Nobody has a token of their own.' : 'Each has a token').waitFor()
  await page.getByRole('button', { name: 'Add an administrator' }).click()
  await page.getByRole('textbox', { name: 'Name' }).fill(name)
  await page.getByLabel('Projects').fill('newsletter, warehouse.api')
  await page.getByLabel('Expires').fill('2001-01-01T00:00')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('Must be in the future').waitFor()
  expect(await problems('administrator-add')).toEqual([])
  await page.getByLabel('Expires').fill('2101-01-01T00:00')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
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
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText(`The token of ${name} has ended.`).waitFor()
  expect((await projectsAs()).status).toBe(401)
  await page.context().close()
})
