import { describe, expect, it } from 'vitest'
import { notJson, slipOf } from './json-slip'

describe('a text that is no JSON', () => {
  it('is none where the browser reads it', () => {
    for (const text of ['1', '"a\\n"', '{}', '[]', ' {"a": [1, 2.5e3, {"b": null}], "c": "\\u00e4"} ', 'true']) expect(slipOf(text)).toBeNull()
  })

  it('says in which line it stops', () => {
    expect(slipOf('{\n  "a": 1,\n  "b" 2\n}')).toEqual({ line: 3, column: 7, kind: 'slip' })
    expect(slipOf('[1, 2,]')).toEqual({ line: 1, column: 7, kind: 'slip' })
    expect(slipOf('{"a": 1} {}')).toEqual({ line: 1, column: 10, kind: 'slip' })
  })

  it('says that it is not at its end', () => {
    for (const text of ['{"a": ', '[1, 2', '{', '']) expect(slipOf(text)?.kind).toBe('short')
  })

  it('says that text stands between double quotes', () => {
    expect(slipOf("{'a': 1}")).toEqual({ line: 1, column: 2, kind: 'quotes' })
    expect(slipOf('{"a": ann}')?.kind).toBe('quotes')
    expect(notJson('{"a": ann}')).toBe('This is no JSON yet. Text stands between double quotes: look at line 1, character 7.')
  })

  it('is found wherever the browser finds one', () => {
    for (const text of ['{"a":}', '[,]', '{"a":1,,}', '01', '"a', '{"a":1 "b":2}', ']', '{1:2}', '"\t"', 'nul']) expect([text, slipOf(text) === null]).toEqual([text, false])
  })
})
