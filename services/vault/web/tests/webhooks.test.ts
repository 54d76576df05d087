import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { admin, createProject, type Key, signerOf } from '../../tests/support/client.ts'
import { type Receiver, startReceiver } from '../../tests/support/receiver.ts'
import { ADMIN_TOKEN, DESKTOP, NARROW, useConsole } from './support/console.ts'

const site = useConsole({ WEBHOOK_ALLOW_PRIVATE: 'true' })
const signed = signerOf(() => site.vault)
let receiver: Receiver
let key: Key

beforeAll(async () => {
  receiver = await startReceiver(site.vault)
  key = await createProject(site.vault.url, 'shop')
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
  expect(await problems('no-webhooks')).toEqual([])
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
  const auditor = await site.tokenOf({ name: 'Audrey', role: 'auditor' })
  const { page, problems } = await site.open('/projects/shop?tab=webhooks', NARROW, auditor)
  await page.getByRole('rowheader', { name: url }).waitFor()
  expect(await page.getByRole('button', { name: /^(Add|Change|Enable|Disable|Delete)/ }).count()).toBe(0)
  expect(await problems('webhooks-auditor')).toEqual([])
  await page.getByRole('button', { name: `Deliveries to ${url}` }).click()
  await page.getByRole('rowheader', { name: 'secret.put' }).waitFor()
  expect(await page.getByRole('button', { name: 'Send test event' }).count()).toBe(0)
  expect(await problems('deliveries-auditor')).toEqual([])
})
