import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, newKey, send } from '../../tests/support/client.ts'
import { type OidcIssuer, startOidcIssuer } from '../../tests/support/oidc-issuer.ts'
import { ADMIN_TOKEN, DESKTOP, fillVault, NARROW, useConsole } from './support/console.ts'

const site = useConsole({ OIDC_ALLOW_LOOPBACK: 'true' })
let issuer: OidcIssuer

beforeAll(async () => {
  issuer = await startOidcIssuer()
  await fillVault(site.vault)
})
afterAll(() => issuer.stop())

const rules = async () =>
  (await admin(site.vault.url, 'GET', '/projects/shop/trust-rules')).body as { name: string; audience: string }[]

test('a rule is added, its keys are listed and marked, and it is removed with them', async () => {
  const { page, problems } = await site.open('/projects/shop?tab=trust', DESKTOP, ADMIN_TOKEN)
  await page.getByText('No trust rules.').waitFor()
  expect(await problems('no-trust-rules')).toEqual([])
  await page.getByRole('button', { name: 'Add trust rule' }).click()
  const dialog = page.getByRole('dialog')
  const add = dialog.getByRole('button', { name: 'Add trust rule' })
  await page.getByRole('textbox', { name: 'Name' }).fill('deploy')
  await page.getByLabel('Issuer').fill(issuer.url)
  await page.getByLabel('Claims').fill('sub=repo:*\n\nref_protected = true')
  await add.click()
  await page.getByText(/^Must identify an owner/).waitFor()
  expect(await problems('add-trust-rule-refused')).toEqual([])
  await page.getByLabel('Claims').fill('sub=repo:octo-org/shop:*')
  await page.getByLabel('Environments').fill('production')
  await page.getByLabel('Minutes').fill('5')
  await add.click()
  await page.getByRole('rowheader', { name: 'deploy' }).waitFor()
  await page.getByText('sub=repo:octo-org/shop:*').waitFor()
  expect(await problems('trust-rules')).toEqual([])
  expect(await rules()).toMatchObject([
    {
      ...{ name: 'deploy', issuer: issuer.url, audience: site.vault.url, minutes: 5 },
      ...{ claims: { sub: 'repo:octo-org/shop:*' }, scope: { access: 'read', envs: ['production'] } },
    },
  ])

  const body = { idToken: await issuer.sign({ aud: site.vault.url }), publicKey: newKey().publicKeyHex }
  const exchanged = await send(`${site.vault.url}/v1/keys/exchange`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(exchanged.status).toBe(201)
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByRole('rowheader', { name: 'deploy ID token' }).waitFor()
  expect(await page.getByRole('button', { name: 'Rotate deploy' }).count()).toBe(0)
  expect(await problems('exchanged-key')).toEqual([])

  await page.getByRole('link', { name: 'Trust rules' }).click()
  await page.getByRole('button', { name: 'Remove deploy' }).click()
  expect(await problems('remove-trust-rule')).toEqual([])
  await page.getByRole('button', { name: 'Remove trust rule' }).click()
  await page.getByText('No trust rules.').waitFor()
  expect(await rules()).toEqual([])
  await page.getByRole('link', { name: 'Keys', exact: true }).click()
  await page.getByText('1 active key', { exact: true }).waitFor()
})

test('an auditor sees rules without actions, even on a phone', async () => {
  await admin(site.vault.url, 'POST', '/projects/shop/trust-rules', {
    ...{ name: 'a-rule-with-a-long-name-that-has-to-wrap-somewhere', issuer: 'https://gitlab.example.org' },
    ...{ audience: 'https://vault.example.org', claims: { project_path: 'octo-org/a-long-project-name/*' } },
  })
  const auditor = await site.tokenOf({ name: 'Audrey', role: 'auditor' })
  const { page, problems } = await site.open('/projects/shop?tab=trust', NARROW, auditor)
  await page.getByText('https://gitlab.example.org').waitFor()
  expect(await page.getByRole('button', { name: /trust rule|Remove/ }).count()).toBe(0)
  expect(await problems('trust-rules-auditor')).toEqual([])
})
