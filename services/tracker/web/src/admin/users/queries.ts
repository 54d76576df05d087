import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { AddressSearch, UsersSearch } from './search.ts'

const PAGE_SIZE = 50
/** More than a user can have sessions. */
const ALL = { limit: 100 }

/** A page of users. The old page stays until the new one has loaded. */
export const userList = (search: UsersSearch) =>
  queryOptions({
    queryKey: ['admin', 'users', 'list', search],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/users', { params: { query: { ...given(search), limit: PAGE_SIZE } }, signal })),
    placeholderData: keepPreviousData,
  })

export const oneUser = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'one', id],
    queryFn: ({ signal }) => read(api.GET('/api/admin/users/{id}', { params: { path: { id } }, signal })),
  })

export const userStats = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'stats', id],
    queryFn: ({ signal }) => read(api.GET('/api/user/{id}/stats', { params: { path: { id } }, signal })),
  })

export const userSessions = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'sessions', id],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/admin/users/{id}/sessions', { params: { path: { id }, query: ALL }, signal }))).items,
  })

export const userTokens = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'tokens', id],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/admin/users/{id}/tokens', { params: { path: { id } }, signal }))).items,
  })

export const userInvites = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'invites', id],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/admin/users/{id}/invites', { params: { path: { id }, query: ALL }, signal }))).items,
  })

/** Changes by staff, newest first. */
export const userHistory = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'log', 'of', id],
    queryFn: ({ signal }) => read(api.GET('/api/admin/log', { params: { query: { target: id, limit: 50 } }, signal })),
  })

/** The bound of addresses per user. */
const MAX_ADDRESSES = 100

/** The addresses of a user, or the users of an address. */
export const userAddresses = ({ user, address, page }: AddressSearch) => {
  const query = { ...given({ user, address, page }), limit: MAX_ADDRESSES }
  return queryOptions({
    queryKey: ['admin', 'users', 'addresses', query],
    queryFn: ({ signal }) => read(api.GET('/api/admin/addresses', { params: { query }, signal })),
  })
}
