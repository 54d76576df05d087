import { expect, test } from '@jest/globals'
import { idIn, pastedId } from './pasted-id.ts'

test.each([
  ['imdb', 'https://www.imdb.com/title/tt0111161/?ref_=nv_sr_srsg_0', 'tt0111161'],
  ['imdb', 'm.imdb.com/title/tt10872600', 'tt10872600'],
  ['imdb', ' tt0068646 ', 'tt0068646'],
  ['tmdb', 'https://www.themoviedb.org/movie/278-the-shawshank-redemption?language=de', '278'],
  ['tmdb', 'https://www.themoviedb.org/tv/1396-breaking-bad/season/2', '1396'],
  ['tvdb', 'https://thetvdb.com/dereferrer/series/121361', '121361'],
  ['tvdb', 'https://thetvdb.com/?tab=series&id=81189', '81189'],
  ['tvdb', 'https://www.thetvdb.com/?tab=season&seriesid=81189&seasonid=40719&lid=7', '81189'],
] as const)('a field for the id of %s makes an id of %s', (catalogue, text, id) => {
  expect(pastedId(catalogue, text)).toBe(id)
})

test.each([
  ['imdb', 'https://www.imdb.com/name/nm0000151/'],
  ['tmdb', 'https://www.themoviedb.org/person/504-tim-robbins'],
  ['tvdb', 'https://thetvdb.com/series/24'],
] as const)('a field for the id of %s keeps a URL without one: %s', (catalogue, text) => {
  expect(pastedId(catalogue, text)).toBe(text)
})

test.each([
  ['tt0944947', { imdb: 'tt0944947' }],
  ['https://www.imdb.com/title/tt0944947/?ref_=fn_al_tt_1', { imdb: 'tt0944947' }],
  ['https://www.themoviedb.org/movie/1399-a-title', { tmdb: 'movie/1399' }],
  ['The Harbour tt0944947', undefined],
])('the id in the searched text %s is recognized', (text, ids) => {
  expect(idIn(text)).toEqual(ids)
})
