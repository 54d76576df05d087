import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { given } from '@vault-and-tracker/web-kit/address'
import { read } from '@vault-and-tracker/web-kit/api'
import { api } from '../../api/client.ts'
import type { UsersSearch } from './search.ts'

const PAGE_SIZE = 50
/** All sessions there can be, and the invites of a while. */
const ALL = { limit: 100 }

/** A page of users. The old one stays until the new one is there. */
export const userList = (search: UsersSearch) =>
  queryOptions({
    queryKey: ['admin', 'users', 'list', search],
    queryFn: ({ signal }) =>
      read(api.GET('/api/admin/users', { params: { query: { ...given(search), limit: PAGE_SIZE } }, signal })),
    placeholderData: keepPreviousData,
  })

/** One user. */
export const oneUser = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'one', id],
    queryFn: ({ signal }) => read(api.GET('/api/admin/users/{id}', { params: { path: { id } }, signal })),
  })

/** What a user transferred and has. */
export const userStats = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'stats', id],
    queryFn: ({ signal }) => read(api.GET('/api/user/{id}/stats', { params: { path: { id } }, signal })),
  })

/** Where a user is signed in. */
export const userSessions = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'sessions', id],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/admin/users/{id}/sessions', { params: { path: { id }, query: ALL }, signal }))).items,
  })

/** The invites that a user made. */
export const userInvites = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'users', 'invites', id],
    queryFn: async ({ signal }) =>
      (await read(api.GET('/api/admin/users/{id}/invites', { params: { path: { id }, query: ALL }, signal }))).items,
  })

/** What the staff did with a user, the newest first. */
export const userHistory = (id: string) =>
  queryOptions({
    queryKey: ['admin', 'log', 'of', id],
    queryFn: ({ signal }) => read(api.GET('/api/admin/log', { params: { query: { target: id, limit: 50 } }, signal })),
  })
