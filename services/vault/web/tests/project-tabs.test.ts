import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { admin, createProject, type Key, newKey, send, signerOf } from '../../tests/support/client.ts'
import { type OidcIssuer, startOidcIssuer } from '../../tests/support/oidc-issuer.ts'
import { type Receiver, startReceiver } from '../../tests/support/receiver.ts'
import { ADMIN_TOKEN, DESKTOP, NARROW, useConsole } from './support/console.ts'

const site = useConsole({ OIDC_ALLOW_LOOPBACK: 'true', WEBHOOK_ALLOW_PRIVATE: 'true' })
let key: Key
let auditor: string

beforeAll(async () => {
  key = await createProject(site.vault.url, 'shop')
  await createProject(site.vault.url, 'database')
  auditor = await site.tokenOf({ name: 'Audrey', role: 'auditor' })
  for (const [env, name] of [
    ['common', 'HOST'],
    ['common', 'PORT'],
    ['production', 'PORT'],
    ['production', 'TOKEN'],
  ])
    await admin(site.vault.url, 'PUT', '/projects/shop/secrets', { env, key: name, value: 'v' })
})

describe('inheritance and references', () => {
  test('a parent is set, and inherited secrets are marked and not missing', async () => {
    const { page, problems } = await site.open('/projects/shop?tab=environments', DESKTOP, ADMIN_TOKEN)
    await page.getByRole('button', { name: 'Set parent of production' }).click()
    await page.getByLabel('Inherits from').selectOption('common')
    expect(await problems('set-parent')).toEqual([])
    await page.getByRole('button', { name: 'Set parent', exact: true }).click()
    await page.getByRole('row', { name: /production.*common/ }).waitFor()
    expect(await problems('environments')).toEqual([])
    await page.getByRole('button', { name: 'Set parent of common' }).click()
    await page.getByLabel('Inherits from').selectOption('production')
    await page.getByRole('button', { name: 'Set parent', exact: true }).click()
    await page.getByText('inherit from itself').waitFor()

    const secrets = await site.open('/projects/shop?tab=secrets&env=production', DESKTOP, ADMIN_TOKEN)
    await secrets.page.getByRole('row', { name: /HOST.*inherited/ }).waitFor()
    expect(await secrets.page.getByText('inherited').count()).toBe(1)
    expect(await secrets.problems('inherited-secrets')).toEqual([])
    const compared = await site.open('/projects/shop?tab=compare&left=common&right=production', DESKTOP, ADMIN_TOKEN)
    await compared.page.getByText('1 difference, 2 keys in both').waitFor()
  })

  test('a value with references is stored and marked', async () => {
    const { page, problems } = await site.open('/projects/shop?tab=secrets', DESKTOP, ADMIN_TOKEN)
    await page.getByRole('button', { name: 'Add secret' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('URL')
    await dialog.getByLabel('Environment').fill('common')
    await dialog.getByLabel('New value').fill('https://${NONE}')
    await dialog.getByLabel(/Resolve references/).check()
    await dialog.getByRole('button', { name: 'Add secret' }).click()
    await page.getByText(/\$\{NONE\}, which does not exist/).waitFor()
    await dialog.getByLabel('New value').fill('https://${HOST}')
    expect(await problems('store-references')).toEqual([])
    await dialog.getByRole('button', { name: 'Add secret' }).click()
    await page.getByRole('row', { name: /URL references/ }).waitFor()
    await page.getByRole('button', { name: 'Add secret' }).click()
    await dialog.getByLabel('Name').fill('URL')
    await dialog.getByLabel('Environment').fill('common')
    expect(await dialog.getByLabel(/Resolve references/).isChecked()).toBe(true)
  })

  test('a reference rule is added and removed, and an auditor sees it on a phone', async () => {
    const { page, problems } = await site.open('/projects/database?tab=references', DESKTOP, ADMIN_TOKEN)
    await page.getByText('No reference rules.').waitFor()
    await page.getByRole('button', { name: 'Add reference rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Project').fill('shop')
    await dialog.getByLabel('Secrets').fill('URL, HOST')
    expect(await problems('add-reference-rule')).toEqual([])
    await dialog.getByRole('button', { name: 'Add reference rule' }).click()
    await page.getByRole('row', { name: /shop.*all.*URL, HOST/ }).waitFor()
    expect(await problems('reference-rules')).toEqual([])
    const phone = await site.open('/projects/database?tab=references', NARROW, auditor)
    await phone.page.getByText('URL, HOST').waitFor()
    expect(await phone.page.getByRole('button', { name: /^(Add|Remove)/ }).count()).toBe(0)
    await page.getByRole('button', { name: 'Remove the rule for shop' }).click()
    await page.getByRole('button', { name: 'Remove reference rule' }).click()
    await page.getByText('No reference rules.').waitFor()
  })
})

describe('trust rules', () => {
  let issuer: OidcIssuer

  beforeAll(async () => {
    issuer = await startOidcIssuer()
  })
  afterAll(() => issuer.stop())

  const rules = async () =>
    (await admin(site.vault.url, 'GET', '/projects/shop/trust-rules')).body as { name: string; audience: string }[]

  test('a rule is added, its keys are listed and marked, and it is removed with them', async () => {
    const { page, problems } = await site.open('/projects/shop?tab=trust', DESKTOP, ADMIN_TOKEN)
    await page.getByText('No trust rules.').waitFor()
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
    const { page, problems } = await site.open('/projects/shop?tab=trust', NARROW, auditor)
    await page.getByText('https://gitlab.example.org').waitFor()
    expect(await problems('trust-rules-auditor')).toEqual([])
    expect(await page.getByRole('button', { name: /trust rule|Remove/ }).count()).toBe(0)
  })
})

describe('webhooks', () => {
  const signed = signerOf(() => site.vault)
  let receiver: Receiver

  beforeAll(async () => {
    receiver = await startReceiver(site.vault)
  })
  afterAll(() => receiver.close())

  const webhooks = async () =>
    (await admin(site.vault.url, 'GET', '/projects/shop/webhooks')).body as {
      id: string
      url: string
      enabled: boolean
    }[]
  const shown = () => receiver.url.replace(/\?.*/, '')
  const put = (name: string) => signed('shop', key, 'PUT', { key: name, value: 'v', env: 'production' })

  async function deliver(): Promise<void> {
    const { webhookDeliveries } = site.vault.context.useCases
    while ((await webhookDeliveries.startDue()) > 0) await webhookDeliveries.settled()
  }

  test('a webhook is added, tested, disabled, enabled, moved and deleted', async () => {
    const { page, problems, sent } = await site.open('/projects/shop?tab=webhooks', DESKTOP, ADMIN_TOKEN)
    await page.getByText('No webhooks.').waitFor()
    const { publicKey } = (await (await fetch(`${site.vault.url}/v1/webhooks/key`)).json()) as { publicKey: string }
    await page.getByText(publicKey).waitFor()
    await page.getByRole('button', { name: 'Add webhook' }).click()
    const dialog = page.getByRole('dialog')
    await page.getByLabel('URL').fill('https://user:password@receiver.example')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByText(/^Must not contain a user/).waitFor()
    expect(await problems('add-webhook-refused')).toEqual([])
    await page.getByLabel('URL').fill(receiver.url)
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByRole('rowheader', { name: shown() }).waitFor()
    expect(await page.content()).not.toContain('of-the-receiver')
    expect(await problems('webhooks')).toEqual([])

    await page.getByRole('button', { name: `Deliveries to ${shown()}` }).click()
    await page.getByText('No deliveries.').waitFor()
    await page.getByRole('button', { name: 'Send test event' }).click()
    await page.getByRole('cell', { name: /^Waiting/ }).waitFor()
    await deliver()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByRole('cell', { name: 'Delivered' }).waitFor()
    expect(receiver.events).toMatchObject([{ event: 'webhook.test', project: 'shop' }])
    receiver.answer = () => 503
    await put('DATABASE_URL')
    await deliver()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.getByText('1 failed attempt').waitFor()
    await page.getByRole('row', { name: /secret\.put.*Waiting, next attempt in .*503/ }).waitFor()
    expect(await problems('deliveries')).toEqual([])

    await page.getByRole('link', { name: 'All webhooks' }).click()
    await page.getByRole('button', { name: `Disable ${shown()}` }).click()
    await page.getByText('Disabled', { exact: true }).waitFor()
    expect(await webhooks()).toMatchObject([{ enabled: false }])
    await page.getByRole('button', { name: `Enable ${shown()}` }).click()
    await page.getByRole('cell', { name: 'Enabled' }).waitFor()

    await page.getByRole('button', { name: `Change ${shown()}` }).click()
    await page.getByLabel('URL').fill(`${shown()}/moved`)
    expect(await problems('change-webhook')).toEqual([])
    await page.getByRole('button', { name: 'Change webhook' }).click()
    await page.getByRole('rowheader', { name: `${shown()}/moved` }).waitFor()
    await page.getByRole('button', { name: `Delete ${shown()}/moved` }).click()
    expect(await problems('delete-webhook')).toEqual([])
    await page.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByText('No webhooks.').waitFor()
    expect(await webhooks()).toEqual([])
    expect(sent.some(({ url }) => url.includes('of-the-receiver'))).toBe(false)

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Audit log' }).click()
    await page.getByLabel('Action').selectOption('webhook.delete')
    await page.getByRole('cell', { name: 'deleted a webhook' }).waitFor()
  })

  test('an auditor sees webhooks and their deliveries without actions, even on a phone', async () => {
    const url = `https://receiver.example/${'a-long-path/'.repeat(12)}`
    await admin(site.vault.url, 'POST', '/projects/shop/webhooks', { url })
    await put('A')
    const { page, problems } = await site.open('/projects/shop?tab=webhooks', NARROW, auditor)
    await page.getByRole('rowheader', { name: url }).waitFor()
    expect(await problems('webhooks-auditor')).toEqual([])
    expect(await page.getByRole('button', { name: /^(Add|Change|Enable|Disable|Delete)/ }).count()).toBe(0)
    await page.getByRole('button', { name: `Deliveries to ${url}` }).click()
    await page.getByRole('rowheader', { name: 'secret.put' }).waitFor()
    expect(await problems('deliveries-auditor')).toEqual([])
    expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(0)
  })
})
