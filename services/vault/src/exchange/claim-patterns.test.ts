import { expect, test } from '@jest/globals'
import { matchesClaims, matchesPattern, patternsProblem } from './claim-patterns.ts'

test('a pattern covers the whole text', () => {
  const cases: readonly [pattern: string, text: string, matches: boolean][] = [
    ['repo:octo-org/shop:*', 'repo:octo-org/shop:ref:refs/heads/main', true],
    ['repo:octo-org/shop:*', 'repo:octo-org/shop', false],
    ['repo:octo-org/shop:*', 'xrepo:octo-org/shop:ref', false],
    ['repo:octo-org/*:environment:production', 'repo:octo-org/shop:environment:production', true],
    ['repo:octo-org/*:environment:production', 'repo:octo-org/shop:environment:production-2', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a*b*c', 'a-c-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['ab*bc', 'abc', false],
    ['Exact', 'exact', false],
    ['a.c', 'abc', false],
    ['*', '', true],
    ['', '', true],
  ]
  for (const [pattern, text, matches] of cases)
    expect([pattern, text, matchesPattern(pattern, text)]).toEqual([pattern, text, matches])
})

test('many wildcards cost linear time', () => {
  expect(matchesPattern(`${'*a'.repeat(250)}b`, 'a'.repeat(16_000))).toBe(false)
})

test('a nested claim is found by its pointer, whose names may contain dots and slashes', () => {
  const claims = {
    sub: 'system:serviceaccount:shop:api',
    'kubernetes.io': { namespace: 'shop', 'a/b~c': { deep: 7 }, list: ['shop'] },
    'https://example.org/team': 'blue',
  }
  expect(matchesClaims({ '/kubernetes.io/namespace': 'shop', '/kubernetes.io/a~1b~0c/deep': '7' }, claims)).toBe(true)
  expect(matchesClaims({ 'https://example.org/team': 'blue' }, claims)).toBe(true)
  for (const name of ['kubernetes.io', '/kubernetes.io', '/kubernetes.io/list', '/kubernetes.io/list/0', '/missing'])
    expect(matchesClaims({ [name]: '*' }, claims)).toBe(false)
})

test('only own members are claims', () => {
  for (const name of ['constructor', '/constructor/name', '/sub/length', '__proto__', 'toString'])
    expect(matchesClaims({ [name]: '*' }, { sub: 'x' })).toBe(false)
})

test('numbers and booleans are compared as text', () => {
  expect(matchesClaims({ repository_id: '42', private: 'true' }, { repository_id: 42, private: true })).toBe(true)
  expect(matchesClaims({ repository_id: '42' }, { repository_id: [42] })).toBe(false)
  expect(matchesClaims({ repository_id: '*' }, { repository_id: null })).toBe(false)
})

test('a rule has to name an owner', () => {
  for (const accepted of [
    { sub: 'repo:octo-org/shop:*' },
    { sub: 'repo:octo-org@123456/shop@456789:ref:refs/heads/main' },
    { sub: 'repo:octo-org/*' },
    { sub: 'project_path:group/project:ref_type:branch:ref:*' },
    { sub: 'system:serviceaccount:shop:*' },
    { sub: 'spiffe://example.org/*' },
    { sub: 'repository_owner:octo-org:repository_visibility:*' },
    { sub: 'repository_id:456789:*' },
    { sub: 'environment:production:repository_owner:octo-org' },
    { sub: 'enterprise:acme:repo:octo-org/*' },
    { sub: 'project_path:group/*' },
    { sub: 'system:serviceaccount:shop:api' },
    { sub: 'organization:acme:pipeline:web:*' },
    { sub: 'org/8b5f/project/*' },
    { sub: '{3d1c36bc-4b4f-4b0c-8d4e-0a8f0d5b6a11}:*' },
    { sub: '0f9d1c2e' },
    { sub: 'auth0|5f7c8ec7c33c6c004bbafe82' },
    { repository: 'octo-org/shop', environment: '*' },
    { repository_id: '456789' },
    { '/kubernetes.io/namespace': 'shop' },
  ])
    expect([accepted, patternsProblem(accepted)]).toEqual([accepted, undefined])
  for (const refused of [
    {},
    { sub: '*' },
    { sub: '**' },
    { sub: '' },
    { sub: 'repo:*' },
    { sub: 'repo:octo*' },
    { sub: 'repo:*/shop:ref:refs/heads/main' },
    { sub: '*:ref:refs/heads/main' },
    { sub: 'system:serviceaccount:*' },
    { sub: 'spiffe://*' },
    { sub: '12*' },
    { sub: 'ref:refs/heads/*' },
    { sub: 'ref:refs/heads/main' },
    { sub: 'environment:production' },
    { sub: 'environment:production:*' },
    { sub: 'environment:repo:ref:refs/heads/main' },
    { sub: 'environment:*:repository_owner:octo-org' },
    { sub: 'runner_environment:github-hosted:*' },
    { sub: 'job_workflow_ref:octo-org/shared/.github/workflows/deploy.yml@refs/heads/main' },
    { sub: 'event_name:*' },
    { sub: 'pull_request' },
    { sub: 'x:*' },
    { sub: 'repository_owner:octo*' },
    { sub: 'repository_id:4*' },
    { sub: 'project_path:*' },
    { sub: 'project_path:/*' },
    { sub: 'system:*' },
    { sub: 'organization:*' },
    { sub: 'google-oauth2|*' },
    { sub: ':::' },
    { repository: '/*' },
    { environment: 'production' },
    { actor: 'octocat' },
    { repository: 'octo*' },
    { repository_id: '4*' },
    { sub: '*', repository: 'octo-org/shop' },
    { sub: 'repo:octo-org/shop:*', aud: 'x' },
    { repository: 'octo-org/shop', '/sub': '*' },
    { repository: 'octo-org/shop', '/aud': '*' },
  ])
    expect([refused, typeof patternsProblem(refused)]).toEqual([refused, 'string'])
})
